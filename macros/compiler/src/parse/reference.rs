//! References, `&place` and `&mut place`: as an argument, as the value of a `let`, and as any other value.

use syn::ExprReference;

use super::Parser;
use super::syntax::strip;
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::{Op, Part};
use crate::model::place::{is_place, local_of};
use crate::model::{LocalId, SlotUse};
use crate::span::SpanRange;

/// Methods of Rust's that compare with a reference. An element of memory is copied for them, and is no row.
const COMPARISONS: [&str; 11] =
    ["cmp", "partial_cmp", "total_cmp", "eq", "ne", "lt", "le", "gt", "ge", "contains", "eq_ignore_ascii_case"];

impl Parser<'_> {
    /// Parses an argument of a method with this name.
    pub(super) fn argument_of(&mut self, name: &str, argument: &syn::Expr) -> Expr {
        match argument {
            syn::Expr::Reference(reference)
                if COMPARISONS.contains(&name)
                    && reference.mutability.is_none()
                    && matches!(strip(&reference.expr), syn::Expr::Index(_)) =>
            {
                let (target, span) = (self.expr(&reference.expr), SpanRange::of(argument));
                match target.result_kind {
                    Kind::Value if is_in_memory(&target) => self.lent_copy(target, span),
                    Kind::Value if local_of(&target).is_some() => {
                        let kind = ExprKind::Borrow { mutable: false, target: Box::new(target) };
                        Expr { kind, result_kind: Kind::Value, span }
                    }
                    Kind::Unknown => Expr::error(span),
                    _ => self.error(messages::borrow_target(target.span)),
                }
            }
            argument => self.argument(argument),
        }
    }

    /// Where a `move` closure changes what it has copied, if that is what an expression names.
    fn changing_closure(&self, argument: &syn::Expr) -> Option<SpanRange> {
        self.named_local(argument).and_then(|local| self.changing_closures.get(&local)).copied()
    }

    /// Makes a reference to a copy of a value.
    pub(super) fn lent_copy(&mut self, value: Expr, span: SpanRange) -> Expr {
        let (at, slot) = (value.span, self.slot(SlotUse::Type));
        let copy = Expr { kind: ExprKind::Typed(Box::new(value), slot), result_kind: Kind::Value, span: at };
        let kind = ExprKind::Borrow { mutable: false, target: Box::new(copy) };
        Expr { kind, result_kind: Kind::Value, span }
    }

    /// Parses an argument of a device function: a value, or a reference to a value or to something that has a name.
    pub(super) fn argument(&mut self, argument: &syn::Expr) -> Expr {
        if let Some(part) = self.lent_part(argument) {
            return part;
        }
        match argument {
            syn::Expr::Closure(closure) => {
                let passed = self.closure(closure, SpanRange::of(argument));
                match (closure.capture, self.changed_by_closure) {
                    (Some(_), Some(at)) => self.error(messages::changing_closure(at)),
                    _ => passed,
                }
            }
            syn::Expr::Path(_) if self.changing_closure(argument).is_some() => {
                let at = self.changing_closure(argument).unwrap_or_else(|| SpanRange::of(argument));
                self.error(messages::changing_closure(at))
            }
            syn::Expr::Path(path) => match self.function_as_closure(path) {
                Some(closure) => self.closure(&closure, SpanRange::of(argument)),
                None => self.beside(argument),
            },
            syn::Expr::Reference(reference) if reference.mutability.is_none() && is_computed(&reference.expr) => {
                let (target, span) = (self.beside(&reference.expr), SpanRange::of(argument));
                match target.result_kind {
                    Kind::Value if !is_place(&target) => {
                        let kind = ExprKind::Borrow { mutable: false, target: Box::new(target) };
                        Expr { kind, result_kind: Kind::Value, span }
                    }
                    Kind::Unknown => Expr::error(span),
                    _ => self.error(messages::borrow_target(target.span)),
                }
            }
            syn::Expr::Reference(reference) => self.borrow(reference, false),
            _ => self.beside(argument),
        }
    }

    /// Parses a reference as the value of `let name = &place;`. Memory that has an address and a length is borrowed as a
    /// slice, and so are arrays if `name` is `mut`, because an array's reference cannot be assigned.
    pub(super) fn bound_reference(&mut self, reference: &ExprReference, reassignable: bool) -> Expr {
        let value = self.borrow(reference, true);
        let ExprKind::Borrow { mutable, target } = value.kind else { return self.element_or_row(value, reassignable) };
        match value.result_kind {
            Kind::Memory(memory) if reassignable || memory.is_slice() => self.whole_slice(*target, memory, mutable),
            Kind::Memory(_) | Kind::Barrier(_) | Kind::Group(_) if !reassignable => {
                Expr { kind: ExprKind::Borrow { mutable, target }, ..value }
            }
            Kind::Unknown => Expr::error(value.span),
            Kind::Value if !reassignable => Expr {
                kind: ExprKind::Borrow { mutable, target },
                result_kind: Kind::Reference { mutable },
                span: value.span,
            },
            kind => self.error(messages::reference_local(value.span, kind)),
        }
    }

    /// Parses the name of memory as the value of `let mut name = memory;`: an array is borrowed as a slice, as it would be copied otherwise.
    pub(super) fn slice_of_name(&mut self, name: &syn::Expr) -> Expr {
        let value = self.beside(name);
        match value.result_kind {
            Kind::Memory(memory) if !memory.is_slice() => self.whole_slice(value, memory, false),
            _ => value,
        }
    }

    /// Whether an expression is a name that is a reference to an array.
    pub(super) fn is_reference_to_array(&self, expr: &Expr) -> bool {
        matches!(expr.result_kind, Kind::Memory(memory) if !memory.is_slice()) && self.is_reference(expr)
    }

    /// Parses a reference that is neither an argument nor the value of a `let`.
    pub(super) fn reference(&mut self, reference: &ExprReference) -> Expr {
        let value = self.borrow(reference, false);
        match (value.kind, value.result_kind) {
            (ExprKind::Borrow { mutable, target }, Kind::Memory(memory)) => self.whole_slice(*target, memory, mutable),
            (ExprKind::Borrow { .. }, _) => self.error(messages::borrow(value.span)),
            (kind, result_kind) => Expr { kind, result_kind, span: value.span },
        }
    }

    /// Makes a slice of an array, or of a reference to one, that is assigned to a slice, as it is where the slice is declared.
    pub(super) fn slice_for(&mut self, place: Kind, value: Expr) -> Expr {
        match (place, value.result_kind) {
            (Kind::Memory(slice), Kind::Memory(array))
                if slice.is_slice() && !array.is_slice() && matches!(value.kind, ExprKind::Local(_)) =>
            {
                self.whole_slice(value, array, false)
            }
            _ => value,
        }
    }

    /// Whether an expression is a name of memory.
    pub(super) fn names_memory(&self, expr: &syn::Expr) -> bool {
        self.named_local(expr).is_some_and(|local| matches!(self.function.kind(local), Kind::Memory(_)))
    }

    /// Whether an expression is a name that is a reference to memory, a barrier or a group.
    pub(super) fn names_shared(&self, expr: &syn::Expr) -> bool {
        self.named_local(expr).is_some_and(|local| {
            matches!(self.function.kind(local), Kind::Memory(_) | Kind::Barrier(_) | Kind::Group(_))
                && self.is_reference_name(local)
        })
    }

    /// Whether an expression is a name that is a reference already.
    pub(super) fn is_reference(&self, expr: &Expr) -> bool {
        matches!(expr.kind, ExprKind::Local(local) if self.is_reference_name(local))
    }

    fn is_reference_name(&self, local: LocalId) -> bool {
        self.function.local(local).by_reference || self.function.params.iter().any(|param| param.local == local)
    }

    /// Makes a reference to an element of what was parsed as a row, if the uses of the local that is declared next show
    /// that: both are `&memory[i]`, and only the element's type tells them apart.
    fn element_or_row(&mut self, value: Expr, reassignable: bool) -> Expr {
        let next = LocalId(self.function.locals.len());
        let (result_kind, is_known) = match self.known.get(next.0) {
            Some(kind @ Kind::Reference { .. }) => (*kind, true),
            _ => (value.result_kind, false),
        };
        match value.kind {
            ExprKind::Op {
                op: Op::Part { form: Part::Row, mutable: false, .. }, operands, site: Some(site), ..
            } if is_known => {
                let Ok([base, index]) = <[Expr; 2]>::try_from(operands) else { return Expr::error(value.span) };
                let (base, index) = (Box::new(base), Box::new(index));
                let kind = ExprKind::Index { base, index, site };
                let target = Box::new(Expr { kind, result_kind: Kind::Value, span: value.span });
                Expr { kind: ExprKind::Borrow { mutable: false, target }, result_kind, span: value.span }
            }
            ExprKind::Op { op: Op::Part { form: Part::Row, mutable: false, .. }, .. } if !reassignable => {
                self.rows.insert(next);
                value
            }
            _ => value,
        }
    }

    /// Learns from the use of a name as a value that it refers to an element of memory, if it may.
    pub(super) fn learn_element(&mut self, used: &Expr) {
        if let ExprKind::Local(local) = used.kind
            && self.rows.contains(&local)
        {
            self.function.locals[local.0].kind = Kind::Reference { mutable: false };
            self.learned = true;
        }
    }

    /// Parses a reference to a place of the thread's own, to memory, a barrier or a group; if `is_bound`, to a part of an
    /// element of memory too, which is read where the reference is bound.
    fn borrow(&mut self, reference: &ExprReference, is_bound: bool) -> Expr {
        let span = SpanRange::of(reference);
        let mutable = reference.mutability.is_some();
        let target = self.borrowed_place(reference);
        match target.kind {
            // A part is a reference itself.
            ExprKind::Op { op: Op::Part { .. }, .. } => return target,
            // `&mut *x` reborrows `x`.
            ExprKind::Deref(inner) if !is_bound => {
                return Expr { kind: inner.kind, result_kind: inner.result_kind, span };
            }
            ExprKind::Error => {}
            // An element of an array of barriers.
            ExprKind::Index { .. } if matches!(target.result_kind, Kind::Barrier(_)) => {}
            ExprKind::Constant(_) if !mutable => {}
            _ if local_of(&target).is_some() => {}
            ExprKind::Field { .. } if is_bound && !mutable && is_in_memory(&target) => {}
            // What a call is lent of memory is a copy: the callee may write to the memory.
            ExprKind::Field { .. } if !mutable && is_in_memory(&target) => {
                return self.lent_copy(target, span);
            }
            _ => return self.error(messages::borrow_target(target.span)),
        }
        if matches!(target.result_kind, Kind::Token(_) | Kind::OptionalToken(_)) {
            return self.escape(Expr { span, ..target }, "a reference");
        }
        let result_kind = target.result_kind;
        Expr { kind: ExprKind::Borrow { mutable, target: Box::new(target) }, result_kind, span }
    }
}

/// Whether an expression is written as a value that is computed, which has no place but one for as long as the call.
pub(super) fn is_computed(expr: &syn::Expr) -> bool {
    match strip(expr) {
        syn::Expr::Lit(_)
        | syn::Expr::Binary(_)
        | syn::Expr::Cast(_)
        | syn::Expr::Call(_)
        | syn::Expr::MethodCall(_) => true,
        syn::Expr::If(_) | syn::Expr::Match(_) | syn::Expr::Block(_) => true,
        syn::Expr::Array(_) | syn::Expr::Repeat(_) | syn::Expr::Tuple(_) | syn::Expr::Struct(_) => true,
        syn::Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}

/// Whether a place is an element of memory, or a part of one.
pub(super) fn is_in_memory(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Index { base, .. } => matches!(base.result_kind, Kind::Memory(_)) || is_in_memory(base),
        ExprKind::Field { base, .. } => is_in_memory(base),
        _ => false,
    }
}
