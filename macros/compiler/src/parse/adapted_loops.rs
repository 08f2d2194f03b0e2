//! `for` loops over iterators with closures: `for x in a.iter().take_while(|x| **x > 0)`. They become loops over the iterator's source, into
//! which the closures' bodies are inlined.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprForLoop, Pat};

use super::Parser;
use super::item_names::Names;
use super::item_references::gives_references;
use super::iter_steps::{Steps, adaptors, leaving};
use crate::messages;
use crate::model::expr::Expr;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a loop over an iterator with closures, if it is one.
    pub(super) fn adapted_loop(&mut self, repeat: &ExprForLoop, span: SpanRange) -> Option<Expr> {
        let (source, adaptors) = adaptors(&repeat.expr);
        if adaptors.is_empty() {
            return None;
        }
        if let Some(body) = adaptors.iter().find_map(|adaptor| leaving(adaptor.function)) {
            return Some(self.error(messages::jump_out_of_closure(body)));
        }
        let at = SpanRange::of(&repeat.expr).lo;
        let item = Ident::new("item", at.resolved_at(Span::mixed_site()));
        let of_source = Names::of(source, item.span());
        let by_names = of_source.is_pair() || gives_references(source);
        // The names of the loop's own pattern are those of the items where no closure makes others.
        let all_keep = adaptors.iter().all(|adaptor| adaptor.keeps);
        let mut bindings = TokenStream::new();
        let names = match by_names && all_keep {
            true => of_source.renamed(&repeat.pat, &mut bindings),
            false if by_names => Some(of_source),
            false => Some(Names::One(item.clone())),
        };
        let steps = names.and_then(|names| Steps::of(names, by_names, item, &adaptors));
        let Some(steps) = steps else {
            return Some(self.error(messages::adapted_loop(SpanRange::of(&repeat.expr))));
        };
        let (pat, statements) = (&repeat.pat, &repeat.body.stmts);
        let body = |value: &TokenStream| match by_names && all_keep {
            true => quote!(#bindings #(#statements)*),
            false if matches!(&**pat, Pat::Ident(name) if name.to_token_stream().to_string() == value.to_string()) => {
                quote!(#(#statements)*)
            }
            false => quote_spanned!(at=> let #pat = #value; #(#statements)*),
        };
        let (attrs, label) = (&repeat.attrs, &repeat.label);
        let repeat = steps.repeat_with(&quote!(#(#attrs)* #label), &source.to_token_stream(), &body, at);
        Some(self.in_place(quote_spanned!(at=> { #repeat }), span))
    }
}
