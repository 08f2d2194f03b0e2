//! Split barriers with nothing to overlap between arrival and wait, which are fused into one `sync`. A split barrier
//! lets a warp run behind the others by the work between the two; where that is arithmetic alone, the block's own
//! barrier at the wait is as good and costs a fifth (docs/performance.md). A `sync` promises more than the split
//! barrier, so nothing else changes.

use std::collections::BTreeSet;

use super::effect::effect;
use super::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use super::facts::Effect;
use super::group::Group;
use super::op::Op;
use super::walk::{each_block, walk};
use super::{Function, LocalId};
use crate::rules::Rule;

/// Returns the tokens of the arrivals that are fused with their wait.
pub(crate) fn fused_tokens(function: &Function) -> BTreeSet<LocalId> {
    let mut tokens = BTreeSet::new();
    // A timeline shows the arrival and the wait. And where a convergence rule is `unchecked`, threads may arrive at
    // different barriers.
    if function.options.profile || Rule::CONVERGENCE.into_iter().any(|rule| function.waives(rule)) {
        return tokens;
    }
    each_block(&function.body, &mut |block| of_block(function, block, &mut tokens));
    tokens
}

fn of_block(function: &Function, block: &Block, tokens: &mut BTreeSet<LocalId>) {
    // The last arrival so far that only arithmetic follows.
    let mut last = None;
    for statement in &block.statements {
        last = match &statement.kind {
            StmtKind::Let { local, init: Some(Expr { kind: ExprKind::Op { op, .. }, .. }), .. }
                if matches!(op, Op::Arrive(Group::ThreadBlock, _)) && function.local(*local).mutable.is_none() =>
            {
                Some(*local)
            }
            StmtKind::Expr(expr) if awaited(expr).is_some() => {
                tokens.extend(last.filter(|token| awaited(expr) == Some(*token)));
                None
            }
            _ if is_arithmetic(function, statement) => last,
            _ => None,
        };
    }
    let tail = block.tail.as_deref().and_then(awaited);
    tokens.extend(last.filter(|token| tail == Some(*token)));
}

/// Returns the token that the expression waits with, if it is a wait of the block's barrier.
pub(crate) fn awaited(expr: &Expr) -> Option<LocalId> {
    match &expr.kind {
        ExprKind::Op { op: Op::Wait(Group::ThreadBlock, _), operands, .. } => match operands.last()?.kind {
            ExprKind::Local(token) => Some(token),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the statement takes each warp about as long: it works on registers, and its only branches select a value.
fn is_arithmetic(function: &Function, statement: &Stmt) -> bool {
    let plain = |expr: &Expr| effect(function, expr) < Effect::Changes && !touches_memory(expr);
    match &statement.kind {
        StmtKind::Let { init, .. } => init.as_ref().is_none_or(plain),
        StmtKind::Discard(expr) => plain(expr),
        StmtKind::Item(_) => true,
        StmtKind::Split { .. } | StmtKind::LetPattern { .. } => false,
        StmtKind::Expr(expr) => match &expr.kind {
            ExprKind::Assign(place, value) | ExprKind::AssignOp { place, value, function: None, .. } => {
                matches!(place.kind, ExprKind::Local(_)) && plain(value)
            }
            _ => false,
        },
    }
}

fn touches_memory(expr: &Expr) -> bool {
    let mut touches = false;
    walk(expr, &mut |expr| {
        touches |= match &expr.kind {
            ExprKind::Op { op, .. } => !matches!(op, Op::This(_) | Op::Query(..)),
            kind => matches!(kind, ExprKind::Index { .. } | ExprKind::UncheckedPlace { .. } | ExprKind::Deref(_)),
        };
    });
    touches
}
