//! The effects of expressions, which decide whether the order of operands can be observed. Rust evaluates operands from
//! left to right and C++ leaves the order open, so the printer stores operands in variables if one of them has side
//! effects.

#![warn(clippy::wildcard_enum_match_arm)]

use proc_macro2::Ident;

use super::expr::{Arm, Block, Condition, Expr, ExprKind};
use super::facts::Effect;
use super::words::words;
use super::{Function, GenericParam, Role};

pub(crate) fn effect(function: &Function, expr: &Expr) -> Effect {
    let of = |expr: &Expr| effect(function, expr);
    let all = |exprs: &[Expr]| exprs.iter().map(of).max().unwrap_or(Effect::Pure);
    match &expr.kind {
        ExprKind::Error
        | ExprKind::Int { .. }
        | ExprKind::Float { .. }
        | ExprKind::Bool(_)
        | ExprKind::Constant(_)
        | ExprKind::Operator(..)
        | ExprKind::None(_) => Effect::Pure,
        ExprKind::Local(local) if function.local(*local).mutable.is_some() => Effect::Reads,
        ExprKind::Local(_) => Effect::Pure,
        // A reference refers to a variable of the caller.
        ExprKind::Deref(target) => of(target).max(Effect::Reads),
        ExprKind::Unary(_, value)
        | ExprKind::Cast(value, _)
        | ExprKind::Typed(value, _)
        | ExprKind::Axis(value, _)
        | ExprKind::Some(value) => of(value),
        ExprKind::Borrow { target, .. } | ExprKind::Field { base: target, .. } => of(target),
        ExprKind::Binary { op, left, right, .. } => {
            let may_fail = op.divides() && !is_never_zero(function, right);
            let own = if may_fail { Effect::Reads } else { Effect::Pure };
            own.max(of(left)).max(of(right))
        }
        ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
            Effect::Reads.max(of(base)).max(of(index))
        }
        ExprKind::Array { elements, .. } | ExprKind::Tuple { elements, .. } => all(elements),
        ExprKind::Repeat { element, .. } | ExprKind::Vector { argument: element, .. } => of(element),
        ExprKind::Struct { fields, base, .. } => {
            let fields = fields.iter().map(|(_, field)| field).chain(base.as_deref());
            fields.map(of).max().unwrap_or(Effect::Pure)
        }
        ExprKind::Op { op, operands, .. } => op.facts().effect.max(all(operands)),
        ExprKind::Method { method, operands, .. } => {
            let own = if method.fails.is_some() { Effect::Reads } else { Effect::Pure };
            own.max(all(operands))
        }
        ExprKind::ScalarCall { operands, site, .. } => {
            let own = if site.is_some() { Effect::Reads } else { Effect::Pure };
            own.max(all(operands))
        }
        // Reads of a timer are neither moved nor repeated.
        ExprKind::Intrinsic { function, .. } if !function.is_pure() => Effect::Changes,
        ExprKind::Intrinsic { operands, .. } => all(operands),
        ExprKind::Block(block) => block_effect(function, block),
        ExprKind::Unsafe(block) => block_effect(function, block),
        ExprKind::If { condition, then, otherwise, .. } => {
            let condition = match &**condition {
                Condition::Value(condition) => of(condition),
                Condition::Let { .. } | Condition::All(_) => Effect::Changes,
            };
            let otherwise = otherwise.as_ref().map_or(Effect::Pure, |otherwise| of(otherwise));
            condition.max(block_effect(function, then)).max(otherwise)
        }
        ExprKind::Match { scrutinee, arms, .. } => match selects(scrutinee, arms) {
            true => arms.iter().map(|arm| of(&arm.body)).max().unwrap_or(Effect::Pure).max(of(scrutinee)),
            false => Effect::Changes,
        },
        ExprKind::Closure { .. } => Effect::Pure,
        ExprKind::Call { .. }
        | ExprKind::CallClosure { .. }
        | ExprKind::Labelled { .. }
        | ExprKind::Loop { .. }
        | ExprKind::While { .. }
        | ExprKind::For { .. }
        | ExprKind::Assign(..)
        | ExprKind::AssignOp { .. }
        | ExprKind::Break { .. }
        | ExprKind::Continue { .. }
        | ExprKind::Return { .. }
        | ExprKind::Assert(..)
        | ExprKind::Panic(_)
        | ExprKind::Print(_)
        // The effects of the user's text are unknown.
        | ExprKind::Cuda(_) => Effect::Changes,
    }
}

/// Whether a `match` only selects one of several values by what a variable holds.
pub(crate) fn selects(scrutinee: &Expr, arms: &[Arm]) -> bool {
    let plain = |arm: &Arm| arm.guard.is_none() && arm.pattern.locals().is_empty();
    matches!(scrutinee.kind, ExprKind::Local(_)) && arms.iter().all(plain)
}

fn block_effect(function: &Function, block: &Block) -> Effect {
    match (&block.statements[..], &block.tail) {
        ([], Some(tail)) => effect(function, tail),
        ([], None) => Effect::Pure,
        _ => Effect::Changes,
    }
}

/// Whether a divisor is not 0: a literal, or a constant, by which rustc refuses a division if it is 0, unless it is generic.
fn is_never_zero(function: &Function, divisor: &Expr) -> bool {
    let ExprKind::Constant(value) = divisor.kind else { return divisor.integer().is_some_and(|divisor| divisor != 0) };
    let is_generic = |word: &Ident| {
        let is_param = |param: &GenericParam| match param {
            GenericParam::Type(name) | GenericParam::Const(name, _) => name == word,
        };
        word == "Self" || function.generics.params.iter().any(is_param)
    };
    function.role != Role::Method && !words(&function.values[usize::from(value.0)].tokens).any(|word| is_generic(&word))
}
