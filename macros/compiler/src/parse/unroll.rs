//! `#[unroll]` and `#[unroll(4)]`, the attributes of loops.

use quote::ToTokens;
use syn::{Attribute, Expr, Meta, parse2};

use super::Parser;
use super::syntax::is_zero;
use crate::messages;
use crate::model::{LoopId, Unroll};
use crate::span::SpanRange;

pub(super) fn is_unroll(attribute: &Attribute) -> bool {
    attribute.path().is_ident("unroll")
}

impl Parser<'_> {
    /// Begins a loop with these attributes.
    pub(super) fn begin_loop(&mut self, attributes: &[Attribute]) -> LoopId {
        let id = self.new_loop();
        for attribute in attributes.iter().filter(|attribute| is_unroll(attribute)) {
            let unroll = match &attribute.meta {
                Meta::Path(_) => Some(Unroll::Fully),
                Meta::List(list) => match parse2::<Expr>(list.tokens.clone()) {
                    Ok(factor) if !is_zero(&factor) => Some(Unroll::By(self.length_hole(factor.to_token_stream()))),
                    Ok(_) | Err(_) => None,
                },
                Meta::NameValue(_) => None,
            };
            let fault = match unroll {
                None => messages::unroll_factor(SpanRange::of(attribute)),
                Some(unroll) => match self.function.unrolled.insert(id, unroll) {
                    None => continue,
                    Some(_) => messages::unrolled_twice(SpanRange::of(attribute)),
                },
            };
            self.diags.push(fault);
        }
        id
    }
}
