//! Patterns of the host body. A name that is bound is printed as `name @ _`, which cannot be a constant, so that rustc
//! and the macro agree on which names are bound; the values of the text make sure that the others are constants.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};

use super::place::host_member;
use super::{Host, parentheses};
use crate::model::kind::Kind;
use crate::model::op::Variant;
use crate::model::pattern::{Pattern, PatternKind};

impl Host<'_> {
    pub(super) fn pattern(&self, pattern: &Pattern) -> TokenStream {
        let lo = pattern.span.lo;
        let all = |patterns: &[Pattern]| patterns.iter().map(|pattern| self.pattern(pattern)).collect::<Vec<_>>();
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wild => quote_spanned!(lo=> _),
            PatternKind::Bind { local, sub } => {
                let info = self.function.local(*local);
                let (name, mutable) = (&info.name, info.mutable.map(|at| quote_spanned!(at=> mut)));
                let sub = match sub {
                    Some(sub) => parentheses(sub.span, self.pattern(sub)),
                    None => quote_spanned!(lo=> _),
                };
                let by_reference = matches!(info.kind, Kind::Reference { .. }).then(|| quote_spanned!(lo=> ref));
                quote_spanned!(lo=> #by_reference #mutable #name @ #sub)
            }
            PatternKind::Bool(value) => quote_spanned!(lo=> #value),
            PatternKind::Int { digits, negative, suffix } => {
                // The digits come from a literal that rustc has parsed.
                let literal = format!("{digits}{suffix}").parse();
                let mut literal: Literal = literal.unwrap_or_else(|_| Literal::u8_unsuffixed(0));
                literal.set_span(lo);
                let minus = negative.then(|| quote_spanned!(lo=> -));
                quote!(#minus #literal)
            }
            PatternKind::Constant(value) => self.function.values[usize::from(value.0)].tokens.clone(),
            PatternKind::Range { low, high, inclusive } => {
                let end = |end: &Option<Box<Pattern>>| end.as_ref().map(|end| self.pattern(end));
                let (low, high) = (end(low), end(high));
                let range =
                    if *inclusive { quote_spanned!(lo=> #low ..= #high) } else { quote_spanned!(lo=> #low .. #high) };
                parentheses(pattern.span, range)
            }
            PatternKind::Tuple { elements, rest } => {
                let (elements, rest) = (all(elements), rest.then(|| quote_spanned!(lo=> ..)));
                quote_spanned!(lo=> (#(#elements,)* #rest))
            }
            PatternKind::Array { elements, rest, others } => {
                let mut elements = all(elements);
                let others = match others.as_ref().map(|others| &others.kind) {
                    Some(PatternKind::Bind { local, .. }) => {
                        let info = self.function.local(*local);
                        let (name, mutable) = (&info.name, info.mutable.map(|at| quote_spanned!(at=> mut)));
                        quote_spanned!(lo=> #mutable #name @ ..)
                    }
                    _ => quote_spanned!(lo=> ..),
                };
                rest.iter().for_each(|rest| elements.insert(*rest, others.clone()));
                quote_spanned!(lo=> [#(#elements),*])
            }
            PatternKind::Struct { path, fields, rest, .. } => {
                let fields = fields.iter().map(|(member, field)| {
                    let (member, field) = (host_member(member, pattern.span), self.pattern(field));
                    quote_spanned!(lo=> #member: #field)
                });
                let rest = rest.then(|| quote_spanned!(lo=> ..));
                quote_spanned!(lo=> #path { #(#fields,)* #rest })
            }
            PatternKind::Variant { variant, field } => {
                let field = field.as_ref().map(|field| parentheses(field.span, self.pattern(field)));
                match variant {
                    Variant::Some => quote_spanned!(lo=> ::core::option::Option::Some #field),
                    Variant::None => quote_spanned!(lo=> ::core::option::Option::None),
                    Variant::Ok => quote_spanned!(lo=> ::core::result::Result::Ok #field),
                    Variant::Err => quote_spanned!(lo=> ::core::result::Result::Err #field),
                }
            }
            PatternKind::Or(alternatives) => {
                let alternatives = all(alternatives);
                parentheses(pattern.span, quote_spanned!(lo=> #(#alternatives)|*))
            }
        }
    }
}
