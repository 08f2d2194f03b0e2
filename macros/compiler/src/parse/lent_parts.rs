//! Parts of local arrays and of constants, and arrays that are computed there, as arguments of device functions that take a `&[T]`:
//! `dot(&own[..4], &WEIGHTS[4..])`, `sum(&[a, b])`, `crc(&x.to_le_bytes())`. To the function they are memory that nobody writes meanwhile.

use syn::ExprIndex;

use super::Parser;
use super::expr::dereferenced;
use super::local_parts::Elements;
use super::reference::is_computed;
use super::syntax::strip;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses `&array[a..b]` of a local array, or the name of such a part, as the argument of a function; `None` for anything else, and for
    /// what can be changed.
    pub(super) fn lent_part(&mut self, argument: &syn::Expr) -> Option<Expr> {
        match strip(argument) {
            syn::Expr::Path(_) => self.named_part(argument).and_then(|_| self.whole_part(argument)),
            syn::Expr::Reference(reference) if reference.mutability.is_none() => match strip(&reference.expr) {
                place @ syn::Expr::Index(ExprIndex { expr: base, index, .. }) => {
                    let syn::Expr::Range(range) = strip(index) else { return None };
                    let whole = self.whole_part(base)?;
                    let (form, bounds) = self.bounds(range);
                    let operands = std::iter::once(whole).chain(bounds).collect();
                    let op = Op::Part { form, of: Memory::Global, mutable: false };
                    Some(self.op(op, operands, SpanRange::of(place)))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Parses `&array` as the argument at this position of a function that takes a slice there, as the file shows; `None` for anything else.
    pub(super) fn lent_array(&mut self, function: &str, position: usize, argument: &syn::Expr) -> Option<Expr> {
        if let Some(changed) = self.lent_to_change(function, position, argument) {
            return Some(changed);
        }
        let array = match strip(argument) {
            syn::Expr::Reference(reference) if reference.mutability.is_none() => strip(&reference.expr),
            // A parameter that is a reference already.
            syn::Expr::Path(_) => {
                let local = self.named_local(argument)?;
                matches!(self.function.kind(local), Kind::Reference { .. }).then_some(argument)?
            }
            _ => return None,
        };
        let is_array = !matches!(array, syn::Expr::Index(index) if matches!(strip(&index.index), syn::Expr::Range(_)));
        let is_lent = is_array
            && self.named_part(array).is_none()
            && (is_computed(array) || self.is_local_array(array) || self.is_own_variable(array));
        (is_lent && self.takes_slice(function, position, false))
            .then(|| self.array_as_memory(array, SpanRange::of(argument)))
    }

    /// Parses `&mut array`, `&mut array[a..b]` or the name of such a part as the argument at this position of a function that takes a
    /// `&mut [T]` there, as the file shows of what is no part of an array; `None` for anything else.
    fn lent_to_change(&mut self, function: &str, position: usize, argument: &syn::Expr) -> Option<Expr> {
        let place = match strip(argument) {
            syn::Expr::Reference(reference) if reference.mutability.is_some() => strip(&reference.expr),
            path @ syn::Expr::Path(_) => path,
            _ => return None,
        };
        let (base, range) = match place {
            syn::Expr::Index(ExprIndex { expr: base, index, .. }) => match strip(index) {
                syn::Expr::Range(range) => (strip(base), Some(range)),
                _ => (place, None),
            },
            place => (place, None),
        };
        // A part is a slice, whatever the file shows.
        if range.is_none() && !self.takes_slice(function, position, true) {
            return None;
        }
        let span = SpanRange::of(argument);
        let whole = match self.named_part(base) {
            Some(Elements { whole, start, length }) => {
                let whole = self.changed_as_memory(&syn::parse2(whole).ok()?, span);
                let end = syn::parse2(quote::quote!(#start + #length)).ok()?;
                let (start, end) = (self.value(&syn::parse2(start).ok()?), self.value(&end));
                self.op(
                    Op::Part { form: Part::Range, of: Memory::Global, mutable: true },
                    vec![whole, start, end],
                    span,
                )
            }
            None if self.is_local_place(base) || self.is_own_variable(base) => self.changed_as_memory(base, span),
            None => return None,
        };
        let Some(range) = range else { return Some(whole) };
        let (form, bounds) = self.bounds(range);
        let operands = std::iter::once(whole).chain(bounds).collect();
        Some(self.op(Op::Part { form, of: Memory::Global, mutable: true }, operands, span))
    }

    /// Parses a local array as memory that a function changes. The reference to it says so to whatever looks for changes.
    fn changed_as_memory(&mut self, array: &syn::Expr, span: SpanRange) -> Expr {
        let array = self.expr(array);
        let target = match array.result_kind {
            Kind::Reference { .. } => dereferenced(array),
            _ => array,
        };
        let kind = ExprKind::Borrow { mutable: true, target: Box::new(target) };
        let lent = Expr { kind, result_kind: Kind::Value, span };
        self.op(Op::Part { form: Part::Array, of: Memory::Global, mutable: true }, vec![lent], span)
    }

    /// Parses all of a local array, or all of a part of one, as memory.
    fn whole_part(&mut self, array: &syn::Expr) -> Option<Expr> {
        let span = SpanRange::of(array);
        let Some(Elements { whole, start, length }) = self.named_part(array) else {
            let is_place = matches!(strip(array), syn::Expr::Index(_) | syn::Expr::Field(_) | syn::Expr::Path(_));
            return (is_place && self.is_local_array(array)).then(|| self.array_as_memory(array, span));
        };
        let whole = self.array_as_memory(&syn::parse2(whole).ok()?, span);
        let end = syn::parse2(quote::quote!(#start + #length)).ok()?;
        let (start, end) = (self.value(&syn::parse2(start).ok()?), self.value(&end));
        let op = Op::Part { form: Part::Range, of: Memory::Global, mutable: false };
        Some(self.op(op, vec![whole, start, end], span))
    }

    fn array_as_memory(&mut self, array: &syn::Expr, span: SpanRange) -> Expr {
        let array = self.expr(array);
        let array = match array.result_kind {
            Kind::Reference { .. } => dereferenced(array),
            _ => array,
        };
        self.op(Op::Part { form: Part::Array, of: Memory::Global, mutable: false }, vec![array], span)
    }
}
