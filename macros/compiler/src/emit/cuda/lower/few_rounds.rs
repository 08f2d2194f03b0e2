//! Loops of a few rounds that the compiler of CUDA C++ does not unroll by itself, so that the loads of a round wait for those of the one before:
//!
//! - Loops in which the threads of a block share a constant number of elements: `for k in (i..1296).step_by(256)`, where `i` is the thread's
//!   rank. Their rounds differ by one between threads, so that the compiler takes some at a time and the others one by one.
//! - Loops in which a thread takes a constant number of elements, `for row in top..top + 8`, loads and stores, if the body is too large for
//!   the compiler.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::quote;

use super::Lower;
use super::access::Access;
use super::ahead::is_memory;
use super::constant_loops::{is_constant, size};
use super::nest::parts;
use super::numbers::{count, number};
use crate::emit::cuda::ast::Unrolling;
use crate::model::expr::{BinaryOp, Block, Expr, ExprKind, StmtKind};
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::query::Answer;
use crate::model::range::{Adaptor, Range};
use crate::model::walk::{Node, block_nodes, walk, walk_block};
use crate::model::{Function, LocalId};

/// The most rounds, and the most expressions that all of them evaluate.
const MOST_ROUNDS: u64 = 8;
const LARGEST: u64 = 1200;

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
pub(super) fn few_rounds(lower: &mut Lower<'_>, whole: &Expr) -> Option<Unrolling> {
    let function = lower.function;
    let ExprKind::For { range, body, .. } = &whole.kind else { return None };
    let most = LARGEST.checked_div(size(body)?)?.min(MOST_ROUNDS);
    match &range.adaptors[..] {
        [] => of_thread(lower, range, body, most),
        [Adaptor::StepBy(step, _)] if !range.inclusive && is_of_rank(&range.start, &ranks(function)) => {
            let literals = range.end.integer().zip(step.integer());
            let shown = literals
                .map(|(end, step)| end.checked_div(step).map_or(0, |rounds| rounds + u64::from(end % step != 0)));
            let named = || {
                let (end, step) = (number(function, &range.end)?, number(function, step)?);
                Some(quote!(#end.wrapping_add(#step).wrapping_sub(1).checked_div(#step).unwrap_or(0)))
            };
            lower.unrolled_if_few(shown, named, most)
        }
        _ => None,
    }
}

/// Returns how far a loop is unrolled in which a thread takes some elements: it has a constant number of rounds, and stores what it computes of what it loads.
fn of_thread(lower: &mut Lower<'_>, range: &Range, body: &Block, most: u64) -> Option<Unrolling> {
    if !loads_and_stores(body) {
        return None;
    }
    let function = lower.function;
    lower.unrolled_if_few(range.count(), || count(function, range).or_else(|| length_from_start(function, range)), most)
}

/// Returns the length of `start..start + length`.
fn length_from_start(function: &Function, range: &Range) -> Option<TokenStream> {
    let ExprKind::Binary { op: BinaryOp::Add, left, right, .. } = &range.end.kind else { return None };
    let (ExprKind::Local(start), ExprKind::Local(from)) = (&range.start.kind, &left.kind) else { return None };
    let length = number(function, right).filter(|_| start == from)?;
    let beyond = i128::from(range.inclusive);
    Some(quote!(#length.wrapping_add(#beyond)))
}

/// Whether a body stores an element of memory, and loads another one.
fn loads_and_stores(body: &Block) -> bool {
    let (mut stores, mut elements) = (0, 0);
    walk_block(body, &mut |expr| match &expr.kind {
        ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => stores += usize::from(is_memory(place)),
        // An element of a row is one access.
        ExprKind::Index { base, .. } => {
            elements += usize::from(is_memory(expr) && !matches!(base.kind, ExprKind::Index { .. }));
        }
        _ => {}
    });
    // What is stored to is an element, too.
    stores > 0 && elements > stores
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
