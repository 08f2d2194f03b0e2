//! Place expressions of the host body: indexed, dereferenced, or a field. Those in memory are read and written through
//! the host API, which accesses only the innermost field; those in locals are Rust's own.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

use super::{Host, internal, private};
use crate::model::LocalId;
use crate::model::effect::effect;
use crate::model::expr::{Expr, ExprKind, Member};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::place::{local_of, reads};
use crate::span::SpanRange;

/// A place expression in memory.
pub(super) enum MemoryPlace {
    /// An element: the function that performs the access, with its first arguments.
    Element { function: String, base: TokenStream, index: TokenStream },
    /// A part of an element, as a `MemoryPlace` of the runtime.
    Inside(TokenStream),
}

impl Host<'_> {
    /// Returns the place in memory that `expr` is, if it is one, for the function `verb`.
    pub(super) fn memory_place(&self, expr: &Expr, verb: &str) -> Option<MemoryPlace> {
        let (base, index, suffix) = match &expr.kind {
            ExprKind::Index { base, index, .. } if matches!(base.result_kind, Kind::Memory(_)) => (base, index, ""),
            ExprKind::UncheckedPlace { base, index } => (base, index, "_unchecked"),
            _ => return self.inside_memory(expr).map(MemoryPlace::Inside),
        };
        let (base, index) = (self.borrowed(base), self.expr(index));
        Some(MemoryPlace::Element { function: format!("{verb}{suffix}"), base, index })
    }

    /// Returns a place in memory as a `MemoryPlace` of the runtime, from the element inwards.
    fn inside_memory(&self, expr: &Expr) -> Option<TokenStream> {
        let at = expr.span;
        match &expr.kind {
            ExprKind::Index { base, index, .. } => match base.result_kind {
                Kind::Memory(_) => Some(self.element("place", base, index, at)),
                _ => {
                    let (base, index) = (self.inside_memory(base)?, self.expr(index));
                    Some(private(at, "nth", quote!(#base, #index)))
                }
            },
            ExprKind::UncheckedPlace { base, index } => Some(self.element("place_unchecked", base, index, at)),
            ExprKind::Op { op: Op::LoadUnchecked, operands, .. } => {
                Some(self.element("place_unchecked", operands.first()?, operands.get(1)?, at))
            }
            ExprKind::Field { base, member } => {
                let (base, value, member) =
                    (self.inside_memory(base)?, internal("__phalanx_value", at), host_member(member, at));
                let project = quote_spanned!(at.lo=> |#value| &#value.#member);
                Some(private(at, "field", quote!(#base, #project)))
            }
            _ => None,
        }
    }

    /// Calls a function of the private API with an element of memory.
    fn element(&self, function: &str, base: &Expr, index: &Expr, at: SpanRange) -> TokenStream {
        let (base, index) = (self.borrowed(base), self.expr(index));
        private(at, function, quote!(#base, #index))
    }

    /// Prints a place that is not in memory: a local, a reference's target, or a part of them.
    pub(super) fn place(&self, place: &Expr, mutable: bool) -> TokenStream {
        let lo = place.span.lo;
        match &place.kind {
            // The index may read the variable, which is not borrowed before it.
            ExprKind::Index { base, index, .. } if mutable && is_in_variable(base) => {
                let (base, index) = (self.place(base, true), self.expr(index));
                let borrow = quote_spanned!(lo=> &mut);
                let element = private(place.span, "element_at_mut", quote!(#index, #borrow #base));
                quote_spanned!(lo=> *#element)
            }
            ExprKind::Index { base, index, .. } => {
                let (function, borrow) = match mutable {
                    true => ("element_mut", quote_spanned!(base.span.lo=> &mut)),
                    false => ("element", quote_spanned!(base.span.lo=> &)),
                };
                let (base, index) = (self.place(base, mutable), self.expr(index));
                let element = private(place.span, function, quote!(#borrow #base, #index));
                quote_spanned!(lo=> *#element)
            }
            ExprKind::Field { base, member } => {
                let (base, member) =
                    (super::parentheses(base.span, self.place(base, mutable)), host_member(member, place.span));
                quote_spanned!(lo=> #base.#member)
            }
            _ => self.expr(place),
        }
    }

    /// Prints a place of a variable on which a method is called: rustc decides by the method whether an element is borrowed mutably. Its
    /// indexes that read the variable are bound first, as Rust's own are read before the element is borrowed.
    pub(super) fn receiver(&self, place: &Expr, of: LocalId, lets: &mut Vec<TokenStream>) -> TokenStream {
        let lo = place.span.lo;
        match &place.kind {
            ExprKind::Index { base, index, .. } if self.memory_place(place, "load").is_none() => {
                let base = super::parentheses(base.span, self.receiver(base, of, lets));
                let mut at = private(place.span, "At", self.expr(index));
                if reads(index, of) && self.place_effect(place) != Effect::Changes {
                    let name = internal(&format!("__phalanx_index_{}", lets.len()), place.span);
                    lets.push(quote_spanned!(lo=> let #name = #at;));
                    at = name.into_token_stream();
                }
                quote_spanned!(lo=> #base[#at])
            }
            ExprKind::Field { base, member } if self.memory_place(place, "load").is_none() => {
                let (base, member) =
                    (super::parentheses(base.span, self.receiver(base, of, lets)), host_member(member, place.span));
                quote_spanned!(lo=> #base.#member)
            }
            _ => self.expr(place),
        }
    }

    /// Binds a method's arguments before its receiver is borrowed, where the receiver is an element and an argument reads the
    /// same variable: Rust's own elements are borrowed after the arguments have been evaluated. Returns the bindings and what
    /// is passed.
    pub(super) fn before_receiver(
        &self,
        arguments: &[Expr],
        given: Vec<TokenStream>,
        at: SpanRange,
    ) -> (TokenStream, Vec<TokenStream>) {
        let Some((receiver, rest)) = arguments.split_first() else { return (TokenStream::new(), given) };
        let reads = local_of(receiver).is_some_and(|local| rest.iter().any(|argument| reads(argument, local)));
        // A closure's parameters get their types from what it is passed to, and what refers to a value lives as long as the call.
        let is_plain = rest.iter().all(|argument| match &argument.kind {
            ExprKind::Closure { .. } => false,
            ExprKind::Borrow { target, .. } => local_of(target).is_some(),
            _ => argument.result_kind == Kind::Value,
        });
        let is_unordered = self.place_effect(receiver) != Effect::Changes
            && rest.iter().all(|argument| effect(self.function, argument) != Effect::Changes);
        if !is_in_element(receiver) || !reads || !is_plain || !is_unordered {
            return (TokenStream::new(), given);
        }
        let names: Vec<_> =
            (0..given.len()).map(|index| internal(&format!("__phalanx_argument_{index}"), at)).collect();
        let names_given = names.iter().map(ToTokens::to_token_stream).collect();
        (quote!(#(let #names = #given;)*), names_given)
    }

    /// Whether it can be observed that the place is evaluated before the value.
    pub(super) fn order_matters(&self, place: &Expr, value: &Expr) -> bool {
        let place = self.place_effect(place);
        let value = effect(self.function, value);
        place == Effect::Changes || (value == Effect::Changes && place != Effect::Pure)
    }

    /// Returns the effect of evaluating a place, without the access itself.
    fn place_effect(&self, place: &Expr) -> Effect {
        match &place.kind {
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                self.place_effect(base).max(effect(self.function, index))
            }
            ExprKind::Field { base, .. } => self.place_effect(base),
            _ if matches!(place.result_kind, Kind::Memory(_)) => match &place.kind {
                ExprKind::Local(_) => Effect::Pure,
                // A part has bounds of its own.
                _ => effect(self.function, place),
            },
            _ => Effect::Reads,
        }
    }
}

/// Whether a place is a variable or a field of one, whose evaluation does nothing.
fn is_in_variable(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Local(_) => true,
        ExprKind::Field { base, .. } => is_in_variable(base),
        _ => false,
    }
}

/// Whether a place is an element or a part of one.
fn is_in_element(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Index { .. } => true,
        ExprKind::Field { base, .. } => is_in_element(base),
        _ => false,
    }
}

/// Returns a field's name, as the user wrote it.
pub(super) fn host_member(member: &Member, at: SpanRange) -> TokenStream {
    match member {
        Member::Named(name) => name.to_token_stream(),
        Member::Unnamed(index) => {
            let mut index = Literal::u32_unsuffixed(*index);
            index.set_span(at.hi);
            index.to_token_stream()
        }
    }
}
