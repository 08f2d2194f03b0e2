//! Visits every expression of a body, outer before inner, in source order.

#![warn(clippy::wildcard_enum_match_arm)]

use super::expr::{Block, Condition, Expr, ExprKind, StmtKind};
use super::range::Adaptor;

pub(crate) fn walk_block<'e>(block: &'e Block, visit: &mut impl FnMut(&'e Expr)) {
    for statement in &block.statements {
        match &statement.kind {
            StmtKind::Let { init: Some(expr), .. }
            | StmtKind::Split { init: expr, .. }
            | StmtKind::Discard(expr)
            | StmtKind::Expr(expr) => walk(expr, visit),
            StmtKind::LetPattern { init, otherwise, .. } => {
                walk(init, visit);
                otherwise.iter().for_each(|block| walk_block(block, visit));
            }
            StmtKind::Let { init: None, .. } | StmtKind::Item(_) => {}
        }
    }
    if let Some(tail) = &block.tail {
        walk(tail, visit);
    }
}

fn walk_condition<'e>(condition: &'e Condition, visit: &mut impl FnMut(&'e Expr)) {
    match condition {
        Condition::Value(expr) | Condition::Let { scrutinee: expr, .. } => walk(expr, visit),
        Condition::All(parts) => parts.iter().for_each(|part| walk_condition(part, visit)),
    }
}

pub(crate) fn walk<'e>(expr: &'e Expr, visit: &mut impl FnMut(&'e Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Error
        | ExprKind::Int { .. }
        | ExprKind::Float { .. }
        | ExprKind::Bool(_)
        | ExprKind::Local(_)
        | ExprKind::Constant(_)
        | ExprKind::Operator(..)
        | ExprKind::None(_)
        | ExprKind::Continue { .. } => {}
        ExprKind::Unary(_, inner)
        | ExprKind::Cast(inner, _)
        | ExprKind::Typed(inner, _)
        | ExprKind::Deref(inner)
        | ExprKind::Axis(inner, _)
        | ExprKind::Field { base: inner, .. }
        | ExprKind::Some(inner)
        | ExprKind::Borrow { target: inner, .. }
        | ExprKind::Closure { body: inner, .. }
        | ExprKind::Repeat { element: inner, .. }
        | ExprKind::Vector { argument: inner, .. } => walk(inner, visit),
        ExprKind::Binary { left, right, .. }
        | ExprKind::Index { base: left, index: right, .. }
        | ExprKind::UncheckedPlace { base: left, index: right }
        | ExprKind::Assign(left, right)
        | ExprKind::AssignOp { place: left, value: right, .. } => {
            walk(left, visit);
            walk(right, visit);
        }
        ExprKind::Array { elements: list, .. }
        | ExprKind::Tuple { elements: list, .. }
        | ExprKind::Op { operands: list, .. }
        | ExprKind::Method { operands: list, .. }
        | ExprKind::ScalarCall { operands: list, .. }
        | ExprKind::FastCall { operands: list, .. }
        | ExprKind::Call { arguments: list, .. }
        | ExprKind::CallClosure { arguments: list, .. } => list.iter().for_each(|inner| walk(inner, visit)),
        ExprKind::Struct { fields, base, .. } => {
            fields.iter().for_each(|(_, field)| walk(field, visit));
            base.iter().for_each(|base| walk(base, visit));
        }
        ExprKind::Block(block) | ExprKind::Unsafe(block) | ExprKind::Labelled { block, .. } => walk_block(block, visit),
        ExprKind::If { condition, then, otherwise, .. } => {
            walk_condition(condition, visit);
            walk_block(then, visit);
            otherwise.iter().for_each(|inner| walk(inner, visit));
        }
        ExprKind::Match { scrutinee, arms, .. } => {
            walk(scrutinee, visit);
            for arm in arms {
                arm.guard.iter().for_each(|guard| walk_condition(guard, visit));
                walk(&arm.body, visit);
            }
        }
        ExprKind::Loop { body, .. } => walk_block(body, visit),
        ExprKind::While { condition, body, .. } => {
            walk_condition(condition, visit);
            walk_block(body, visit);
        }
        ExprKind::For { range, body, .. } => {
            walk(&range.start, visit);
            walk(&range.end, visit);
            range.adaptors.iter().filter_map(Adaptor::step).for_each(|step| walk(step, visit));
            walk_block(body, visit);
        }
        ExprKind::Break { value, .. } | ExprKind::Return { value, .. } => {
            value.iter().for_each(|inner| walk(inner, visit))
        }
        ExprKind::Cuda(inline_cuda) => inline_cuda.operands.iter().for_each(|operand| walk(&operand.value, visit)),
        ExprKind::Assert(test, message) => {
            test.operands().into_iter().chain(&message.values).for_each(|inner| walk(inner, visit));
        }
        ExprKind::Panic(message) | ExprKind::Print(message) => {
            message.values.iter().for_each(|inner| walk(inner, visit));
        }
    }
}
