//! Loops in which the threads of a block share a constant number of elements: `for k in (i..1296).step_by(256)`, where `i` is the thread's
//! rank. Their rounds are few, but differ by one between threads, so that the compiler of CUDA C++ takes some at a time and the others one by
//! one, each with its own wait for what it loads. Unrolled, all loads are in flight.

use std::collections::BTreeSet;

use quote::quote;

use super::Lower;
use super::access::Access;
use super::constant_loops::{is_constant, size};
use super::nest::parts;
use super::numbers::number;
use crate::emit::cuda::ast::Unrolling;
use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::query::Answer;
use crate::model::range::Adaptor;
use crate::model::walk::{Node, block_nodes, walk};
use crate::model::{Function, LocalId, Unroll};

/// The most rounds, and the most expressions that all of them evaluate.
const MOST_ROUNDS: u64 = 8;
const LARGEST: u64 = 600;

impl Lower<'_> {
    /// Whether the numbers of a loop are a literal apart, and a test before a loop around it is about accesses in it: the compiler of
    /// CUDA C++ knows how many they are where the range cannot come near its type's limits.
    pub(super) fn is_tested(&self, whole: &Expr) -> bool {
        let ExprKind::For { range, .. } = &whole.kind else { return false };
        let [Adaptor::StepBy(step, _)] = &range.adaptors[..] else { return false };
        let mut is_tested = false;
        walk(whole, &mut |inner| {
            is_tested |= Access::of(inner).is_some_and(|access| self.unchecked.contains(&access.site));
        });
        is_tested && !range.inclusive && step.integer().is_some_and(|step| step > 0)
    }
}

/// Returns how far a loop is unrolled, if it is such a one.
pub(super) fn strided(lower: &mut Lower<'_>, whole: &Expr) -> Option<Unrolling> {
    let function = lower.function;
    let ExprKind::For { range, body, .. } = &whole.kind else { return None };
    let [Adaptor::StepBy(step, _)] = &range.adaptors[..] else { return None };
    if range.inclusive || !is_of_rank(&range.start, &ranks(function)) {
        return None;
    }
    let most = LARGEST.checked_div(size(body)?)?.min(MOST_ROUNDS);
    if let (Some(end), Some(step)) = (range.end.integer(), step.integer()) {
        let rounds = end.checked_div(step).map_or(0, |rounds| rounds + u64::from(end % step != 0));
        return (2..=most).contains(&rounds).then(|| Unroll::Fully.into());
    }
    let (end, step) = (number(function, &range.end)?, number(function, step)?);
    let rounds = quote!(#end.wrapping_add(#step).wrapping_sub(1).checked_div(#step).unwrap_or(0));
    let only_if = (most >= 2).then(|| lower.number_within(rounds, [2, most]))?;
    Some(Unrolling { unroll: Unroll::Fully, only_if: Some(only_if) })
}

/// The variables that are the thread's rank in its block or tile.
fn ranks(function: &Function) -> BTreeSet<LocalId> {
    let mut ranks = BTreeSet::new();
    let mut add = |local: LocalId, init: &Expr| {
        if function.local(local).mutable.is_none() && is_of_rank(init, &ranks) {
            ranks.insert(local);
        }
    };
    block_nodes(&function.body, &mut |node| {
        let Node::Statement(statement) = node else { return };
        match &statement.kind {
            StmtKind::Let { local, init: Some(init), .. } => add(*local, init),
            StmtKind::LetPattern { pattern, init, .. } => {
                parts(pattern, init).for_each(|(local, init)| add(local, init))
            }
            _ => {}
        }
    });
    ranks
}

/// Whether an expression is computed of the thread's rank and constants, so that the compiler knows how large it is.
fn is_of_rank(expr: &Expr, ranks: &BTreeSet<LocalId>) -> bool {
    match &expr.kind {
        ExprKind::Local(local) => ranks.contains(local),
        ExprKind::Op { op: Op::Query(Group::ThreadBlock | Group::Tile, query), .. } => {
            query.answer == Answer::ThreadRank
        }
        ExprKind::Binary { op, left, right, .. } => {
            op.is_arithmetic() && is_constant(right, &BTreeSet::new()) && is_of_rank(left, ranks)
        }
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => is_of_rank(inner, ranks),
        _ => false,
    }
}
