//! Operators that may be functions: of operands whose type the text does not show to be a number's. In both texts they are calls, of
//! which rustc says the function, or that there is none.

use proc_macro2::Ident;

use super::Parser;
use super::operand_types::Operand;
use crate::messages;
use crate::model::effect::effect;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, LiteralType, Operator, Overload, UnaryOp};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::place::{local_of, may_write};
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId, SlotId, SlotUse};
use crate::span::SpanRange;

/// Returns the name of the method of an operator, in the trait of the standard library.
pub(super) fn method_name(op: Overload) -> Option<&'static str> {
    let (op, assigns) = match op {
        Overload::Unary(UnaryOp::Neg) => return Some("neg"),
        Overload::Unary(UnaryOp::Not) => return Some("not"),
        Overload::Binary(op) => (op, false),
        Overload::Assign(op) => (op, true),
    };
    let names = match op {
        BinaryOp::Add => ["add", "add_assign"],
        BinaryOp::Sub => ["sub", "sub_assign"],
        BinaryOp::Mul => ["mul", "mul_assign"],
        BinaryOp::Div => ["div", "div_assign"],
        BinaryOp::Rem => ["rem", "rem_assign"],
        BinaryOp::BitAnd => ["bitand", "bitand_assign"],
        BinaryOp::BitOr => ["bitor", "bitor_assign"],
        BinaryOp::BitXor => ["bitxor", "bitxor_assign"],
        BinaryOp::Shl => ["shl", "shl_assign"],
        BinaryOp::Shr => ["shr", "shr_assign"],
        BinaryOp::Eq
        | BinaryOp::Ne
        | BinaryOp::Lt
        | BinaryOp::Le
        | BinaryOp::Gt
        | BinaryOp::Ge
        | BinaryOp::And
        | BinaryOp::Or => return None,
    };
    Some(names[usize::from(assigns)])
}

impl Parser<'_> {
    /// Makes an operator of two values.
    pub(super) fn binary_operation(&mut self, op: BinaryOp, left: Expr, right: Expr, span: SpanRange) -> Expr {
        let site = self.division_site(op, span);
        let overload = Overload::Binary(op);
        let is_overloaded = self.is_overloaded(&left, &right) || self.shifts_own(op, &left);
        match method_name(overload).filter(|_| is_overloaded) {
            Some(name) => self.overloaded((overload, name, site), vec![left, right], span),
            None => {
                let kind = ExprKind::Binary { op, left: Box::new(left), right: Box::new(right), site };
                Expr { kind, result_kind: Kind::Value, span }
            }
        }
    }

    /// Whether a shift may be one of a type of the file: unlike another operator's, its right side says nothing of the left one.
    fn shifts_own(&self, op: BinaryOp, left: &Expr) -> bool {
        let of_trait = match op {
            BinaryOp::Shl => "Shl<",
            BinaryOp::Shr => "Shr<",
            _ => return false,
        };
        self.operand(left) == Operand::Unknown
            && !self.diags.session().numbers
            && self.file().is_some_and(|file| file.contains(of_trait))
    }

    /// Makes an operator before a value.
    pub(super) fn unary_operation(&mut self, op: UnaryOp, value: Expr, span: SpanRange) -> Expr {
        let overload = Overload::Unary(op);
        match method_name(overload).filter(|_| self.is_overloaded_alone(&value)) {
            Some(name) => self.overloaded((overload, name, None), vec![value], span),
            None => Expr { kind: ExprKind::Unary(op, Box::new(value)), result_kind: Kind::Value, span },
        }
    }

    fn overloaded(
        &mut self,
        (op, name, site): (Overload, &str, Option<SiteId>),
        mut arguments: Vec<Expr>,
        span: SpanRange,
    ) -> Expr {
        self.note_open(&arguments.iter().collect::<Vec<_>>());
        arguments.iter_mut().for_each(|argument| self.give_type(argument));
        let callee = Callee::Operator(Operator { op, name: Ident::new(name, span.lo), site });
        let slot = self.slot(SlotUse::Callee);
        Expr { kind: ExprKind::Call { callee, slot, arguments }, result_kind: Kind::Value, span }
    }

    /// Makes `place op= value`.
    pub(super) fn assigning(&mut self, op: BinaryOp, place: Expr, mut value: Expr, span: SpanRange) -> Expr {
        let site = self.division_site(op, span);
        let overload = Overload::Assign(op);
        let is_user = [&place, &value].iter().any(|side| self.operand(side) == Operand::User);
        // Rust evaluates the place of a number after the value, and any other before it.
        let is_ordered = self.is_ordered(&place, &value);
        if is_user && is_ordered {
            return self.error(messages::place_of_operator(value.span, op.assigning()));
        }
        let name = method_name(overload);
        let name = name.filter(|_| !is_ordered && self.assigns_by_function(&place, &value));
        let function = name.map(|name| {
            self.note_open(&[&place, &value]);
            self.give_type(&mut value);
            let callee = Callee::Operator(Operator { op: overload, name: Ident::new(name, span.lo), site });
            Box::new((callee, self.slot(SlotUse::Callee)))
        });
        let kind = ExprKind::AssignOp { op, place: Box::new(place), value: Box::new(value), site, function };
        Expr { kind, result_kind: Kind::Unit, span }
    }

    fn note_open(&mut self, operands: &[&Expr]) {
        self.function.has_open_operators |= operands.iter().all(|operand| self.operand(operand) != Operand::User);
    }

    /// Whether the operator is a call: nobody adds values of other types to a number in place.
    fn assigns_by_function(&self, place: &Expr, value: &Expr) -> bool {
        match self.operand(place) {
            Operand::Integer | Operand::Number => self.operand(value) == Operand::User,
            Operand::User | Operand::Unknown => self.is_overloaded(place, value),
        }
    }

    /// Whether it can be observed which of a place and a value is evaluated first.
    fn is_ordered(&self, place: &Expr, value: &Expr) -> bool {
        let mut matters = false;
        walk(place, &mut |inner| {
            let (ExprKind::Index { index, .. } | ExprKind::UncheckedPlace { index, .. }) = &inner.kind else { return };
            let (own, other) = (effect(&self.function, index), effect(&self.function, value));
            matters |= own == Effect::Changes && other != Effect::Pure;
            walk(index, &mut |part| match &part.kind {
                ExprKind::Local(local) => matters |= may_write(value, *local) || calls_on(value, *local),
                ExprKind::Index { base, .. } if base.memory().is_some() => matters |= other == Effect::Changes,
                ExprKind::Deref(_) => matters |= other == Effect::Changes,
                _ => {}
            });
        });
        matters
    }

    /// Has rustc say the type of a literal that has no neighbour of its type.
    fn give_type(&mut self, value: &mut Expr) {
        match &mut value.kind {
            ExprKind::Int { ty: ty @ LiteralType::Beside, .. } => *ty = LiteralType::Slot(self.slot(SlotUse::Type)),
            ExprKind::Unary(_, inner) => self.give_type(inner),
            _ => {}
        }
    }

    /// Makes operators of numbers of those that stand where a number must be, such as an index.
    pub(super) fn as_number(&mut self, value: Expr) -> Expr {
        let Expr { kind, result_kind, span } = value;
        let kind = match kind {
            ExprKind::Call { callee: Callee::Operator(Operator { op, site, .. }), slot, arguments }
                if !arguments.iter().any(|argument| self.operand(argument) == Operand::User) =>
            {
                self.unuse(slot);
                let mut arguments = arguments.into_iter().map(|argument| Box::new(self.as_number(argument)));
                match (op, arguments.next(), arguments.next()) {
                    (Overload::Binary(op), Some(left), Some(right)) => ExprKind::Binary { op, left, right, site },
                    (Overload::Unary(op), Some(value), None) => ExprKind::Unary(op, value),
                    _ => ExprKind::Error,
                }
            }
            ExprKind::Binary { op, left, right, site } if op.is_arithmetic() => {
                let [left, right] = [left, right].map(|side| Box::new(self.as_number(*side)));
                ExprKind::Binary { op, left, right, site }
            }
            kind => kind,
        };
        Expr { kind, result_kind, span }
    }

    fn unuse(&mut self, slot: SlotId) {
        self.function.slots[usize::from(slot.0)] = SlotUse::Unused;
    }
}

/// Whether an expression calls a method on a variable, which the method may change.
fn calls_on(expr: &Expr, local: LocalId) -> bool {
    let mut calls = false;
    walk(expr, &mut |inner| {
        if let ExprKind::Call { callee: Callee::Method(..), arguments, .. } = &inner.kind {
            calls |= arguments.first().and_then(local_of) == Some(local);
        }
    });
    calls
}
