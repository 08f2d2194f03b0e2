//! Visits every statement and every expression of a body, outer before inner, in source order.

#![warn(clippy::wildcard_enum_match_arm)]

use super::expr::{Block, Condition, Expr, ExprKind, Stmt, StmtKind};
use super::range::Adaptor;

/// A statement or an expression.
pub(crate) enum Node<'e> {
    Statement(&'e Stmt),
    Expr(&'e Expr),
}

/// Visits the expressions of a block.
pub(crate) fn walk_block<'e>(block: &'e Block, visit: &mut impl FnMut(&'e Expr)) {
    block_nodes(block, &mut expressions(visit));
}

/// Visits an expression and those inside of it.
pub(crate) fn walk<'e>(expr: &'e Expr, visit: &mut impl FnMut(&'e Expr)) {
    nodes(expr, &mut expressions(visit));
}

fn expressions<'e>(visit: &mut impl FnMut(&'e Expr)) -> impl FnMut(Node<'e>) {
    |node| {
        if let Node::Expr(expr) = node {
            visit(expr);
        }
    }
}

/// Visits the statements and expressions of a block.
pub(crate) fn block_nodes<'e>(block: &'e Block, visit: &mut impl FnMut(Node<'e>)) {
    for statement in &block.statements {
        statement_nodes(statement, visit);
    }
    if let Some(tail) = &block.tail {
        nodes(tail, visit);
    }
}

/// Visits a block and all blocks inside of it.
pub(crate) fn each_block<'e>(block: &'e Block, visit: &mut impl FnMut(&'e Block)) {
    visit(block);
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other expression has a block of its own")]
    walk_block(block, &mut |expr| match &expr.kind {
        ExprKind::Block(block)
        | ExprKind::Unsafe(block)
        | ExprKind::Labelled { block, .. }
        | ExprKind::If { then: block, .. }
        | ExprKind::Loop { body: block, .. }
        | ExprKind::While { body: block, .. }
        | ExprKind::For { body: block, .. } => visit(block),
        _ => {}
    });
}

/// Visits a statement and all nodes inside of it, in source order.
pub(crate) fn statement_nodes<'e>(statement: &'e Stmt, visit: &mut impl FnMut(Node<'e>)) {
    visit(Node::Statement(statement));
    match &statement.kind {
        StmtKind::Let { init: Some(expr), .. }
        | StmtKind::Split { init: expr, .. }
        | StmtKind::Discard(expr)
        | StmtKind::Expr(expr) => nodes(expr, visit),
        StmtKind::LetPattern { init, otherwise, .. } => {
            nodes(init, visit);
            otherwise.iter().for_each(|block| block_nodes(block, visit));
        }
        StmtKind::Let { init: None, .. } | StmtKind::Item(_) => {}
    }
}

fn condition_nodes<'e>(condition: &'e Condition, visit: &mut impl FnMut(Node<'e>)) {
    match condition {
        Condition::Value(expr) | Condition::Let { scrutinee: expr, .. } => nodes(expr, visit),
        Condition::All(parts) => parts.iter().for_each(|part| condition_nodes(part, visit)),
    }
}

/// Visits an expression and all nodes inside of it, in source order.
pub(crate) fn nodes<'e>(expr: &'e Expr, visit: &mut impl FnMut(Node<'e>)) {
    visit(Node::Expr(expr));
    children(expr, &mut |child| match child {
        Child::Expr(inner) => nodes(inner, visit),
        Child::Block(block) => block_nodes(block, visit),
        Child::Condition(condition) => condition_nodes(condition, visit),
    });
}

/// A part of an expression.
pub(crate) enum Child<'e> {
    Expr(&'e Expr),
    Block(&'e Block),
    Condition(&'e Condition),
}

/// Visits the parts of an expression, but not what is inside of them, in source order.
pub(crate) fn children<'e>(expr: &'e Expr, visit: &mut impl FnMut(Child<'e>)) {
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
        | ExprKind::Vector { argument: inner, .. } => visit(Child::Expr(inner)),
        ExprKind::Binary { left, right, .. }
        | ExprKind::Index { base: left, index: right, .. }
        | ExprKind::UncheckedPlace { base: left, index: right }
        | ExprKind::Assign(left, right)
        | ExprKind::AssignOp { place: left, value: right, .. } => {
            visit(Child::Expr(left));
            visit(Child::Expr(right));
        }
        ExprKind::Array { elements: list, .. }
        | ExprKind::Tuple { elements: list, .. }
        | ExprKind::Op { operands: list, .. }
        | ExprKind::Method { operands: list, .. }
        | ExprKind::ScalarCall { operands: list, .. }
        | ExprKind::Intrinsic { operands: list, .. }
        | ExprKind::Call { arguments: list, .. }
        | ExprKind::CallClosure { arguments: list, .. } => list.iter().for_each(|inner| visit(Child::Expr(inner))),
        ExprKind::Struct { fields, base, .. } => {
            fields.iter().for_each(|(_, field)| visit(Child::Expr(field)));
            base.iter().for_each(|base| visit(Child::Expr(base)));
        }
        ExprKind::Block(block) | ExprKind::Unsafe(block) | ExprKind::Labelled { block, .. } => {
            visit(Child::Block(block))
        }
        ExprKind::If { condition, then, otherwise, .. } => {
            visit(Child::Condition(condition));
            visit(Child::Block(then));
            otherwise.iter().for_each(|inner| visit(Child::Expr(inner)));
        }
        ExprKind::Match { scrutinee, arms, .. } => {
            visit(Child::Expr(scrutinee));
            for arm in arms {
                arm.guard.iter().for_each(|guard| visit(Child::Condition(guard)));
                visit(Child::Expr(&arm.body));
            }
        }
        ExprKind::Loop { body, .. } => visit(Child::Block(body)),
        ExprKind::While { condition, body, .. } => {
            visit(Child::Condition(condition));
            visit(Child::Block(body));
        }
        ExprKind::For { range, body, .. } => {
            visit(Child::Expr(&range.start));
            visit(Child::Expr(&range.end));
            range.adaptors.iter().filter_map(Adaptor::step).for_each(|step| visit(Child::Expr(step)));
            visit(Child::Block(body));
        }
        ExprKind::Break { value, .. } | ExprKind::Return { value, .. } => {
            value.iter().for_each(|inner| visit(Child::Expr(inner)))
        }
        ExprKind::Cuda(inline_cuda) => {
            inline_cuda.operands.iter().for_each(|operand| visit(Child::Expr(&operand.value)))
        }
        ExprKind::Assert(test, message) => {
            test.operands().into_iter().chain(&message.values).for_each(|inner| visit(Child::Expr(inner)));
        }
        ExprKind::Panic(message) | ExprKind::Print(message) => {
            message.values.iter().for_each(|inner| visit(Child::Expr(inner)));
        }
    }
}
