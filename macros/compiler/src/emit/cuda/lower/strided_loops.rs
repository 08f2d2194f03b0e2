//! Loops in which the threads of a block share a constant number of elements: `for k in (i..1296).step_by(256)`, where `i` is the thread's
//! rank. Their rounds are few, but differ by one between threads, so that the compiler of CUDA C++ takes some at a time and the others one by
//! one, each with its own wait for what it loads. Unrolled, all loads are in flight.

use std::collections::BTreeSet;

use super::Lower;
use super::access::Access;
use super::constant_loops::size;
use super::nest::parts;
use crate::model::expr::{Expr, ExprKind, StmtKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::query::Answer;
use crate::model::range::Adaptor;
use crate::model::walk::{Node, block_nodes, walk};
use crate::model::{Function, LocalId};

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

/// Whether a loop is such a one.
pub(super) fn is_strided(function: &Function, whole: &Expr) -> bool {
    let ExprKind::For { range, body, .. } = &whole.kind else { return false };
    let [Adaptor::StepBy(step, _)] = &range.adaptors[..] else { return false };
    let (Some(end), Some(step), false) = (range.end.integer(), step.integer(), range.inclusive) else { return false };
    let rounds = end.checked_div(step).map_or(0, |rounds| rounds + u64::from(end % step != 0));
    let is_small = || size(body).is_some_and(|size| size.saturating_mul(rounds) <= LARGEST);
    (2..=MOST_ROUNDS).contains(&rounds) && is_small() && is_of_rank(&range.start, &ranks(function))
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

/// Whether an expression is computed of the thread's rank and literals, so that the compiler knows how large it is.
fn is_of_rank(expr: &Expr, ranks: &BTreeSet<LocalId>) -> bool {
    match &expr.kind {
        ExprKind::Local(local) => ranks.contains(local),
        ExprKind::Op { op: Op::Query(Group::ThreadBlock | Group::Tile, query), .. } => {
            query.answer == Answer::ThreadRank
        }
        ExprKind::Binary { op, left, right, .. } => {
            op.is_arithmetic() && right.integer().is_some() && is_of_rank(left, ranks)
        }
        ExprKind::Cast(inner, _) | ExprKind::Typed(inner, _) => is_of_rank(inner, ranks),
        _ => false,
    }
}
