//! Binary searches: `while low < high { let middle = (low + high) / 2; .. memory[middle] .. high = middle; .. }`. The middle is below
//! `high`, also where the sum wraps, and `high` only falls. So one test before the loop, that `high` is at most the length, shows that all
//! elements in the middle are within bounds. Those of `partition_point` (`parse/array_methods.rs`) are in a range that is halved,
//! `while size > 0 { let half = (size + 1) / 2; let middle = base + (half - 1); .. base = middle + 1; .. size -= half; }`: it is never larger
//! than what is left of the range before the loop.
//!
//! The loop is printed twice, as the loops of `hoist`, unless threads may do something together in it.

use std::collections::BTreeSet;

use super::Lower;
use super::induction::local as variable;
use crate::emit::cuda::ast::{CuExpr, CuStmt, Unrolling};
use crate::model::expr::{BinaryOp, Condition, Expr, ExprKind, StmtKind};
use crate::model::facts::Effect;
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::place::writes;
use crate::model::walk::walk;
use crate::model::{Function, LocalId, SiteId};

/// The largest search that is printed twice, in expressions.
const LARGEST_SEARCH: usize = 100;

/// The range in which a loop searches.
#[derive(Clone, Copy)]
enum Range {
    Ends { low: LocalId, high: LocalId },
    Size { base: LocalId, size: LocalId },
}

/// A loop that halves a range until it is empty.
pub(super) struct Search {
    range: Range,
    middle: LocalId,
    /// The accesses in the middle, and the memory that they are of.
    accesses: Vec<SiteId>,
    memory: BTreeSet<LocalId>,
}

impl Search {
    fn of(function: &Function, whole: &Expr) -> Option<Search> {
        let (range, middle) = ends(function, whole).or_else(|| size(whole))?;
        if function.local(middle).mutable.is_some() || !only_computes(whole) {
            return None;
        }
        let mut search = Search { range, middle, accesses: Vec::new(), memory: BTreeSet::new() };
        walk(whole, &mut |expr| {
            if let ExprKind::Index { base, index, site } = &expr.kind
                && variable(index) == Some(middle)
                && let Some(memory) = variable(base)
                && matches!(base.result_kind, Kind::Memory(_))
                && writes(whole, memory) == 0
            {
                search.accesses.push(*site);
                search.memory.insert(memory);
            }
        });
        (!search.accesses.is_empty()).then_some(search)
    }
}

/// Returns the range between two ends that a loop halves, and its middle.
fn ends(function: &Function, whole: &Expr) -> Option<(Range, LocalId)> {
    let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
    let Condition::Value(condition) = &**condition else { return None };
    let (low, high) = match &condition.kind {
        ExprKind::Binary { op: BinaryOp::Lt, left, right, .. } => (variable(left)?, variable(right)?),
        ExprKind::Binary { op: BinaryOp::Gt, left, right, .. } => (variable(right)?, variable(left)?),
        _ => return None,
    };
    // Before it, nothing has changed what the condition says.
    let StmtKind::Let { local: middle, init: Some(init), .. } = &body.statements.first()?.kind else { return None };
    let is_value = |local| function.kind(local) == Kind::Value;
    let halves = is_middle(init, low, high) && is_value(low) && is_value(high) && falls_to(whole, high, *middle);
    halves.then_some((Range::Ends { low, high }, *middle))
}

/// Returns the range of a size that a loop halves, and its middle.
fn size(whole: &Expr) -> Option<(Range, LocalId)> {
    let ExprKind::While { condition, body, .. } = &whole.kind else { return None };
    let Condition::Value(condition) = &**condition else { return None };
    let [first, second, .., last] = &body.statements[..] else { return None };
    let StmtKind::Let { local: half, init: Some(first), .. } = &first.kind else { return None };
    let StmtKind::Let { local: middle, init: Some(second), .. } = &second.kind else { return None };
    let StmtKind::Expr(Expr { kind: ExprKind::AssignOp { op: BinaryOp::Sub, place, value, .. }, .. }) = &last.kind
    else {
        return None;
    };
    let (size, of_size) = (variable(place)?, binary(half_of(first)?, BinaryOp::Add)?);
    let (base, below_half) = binary(second, BinaryOp::Add)?;
    let (base, below_half) = (variable(base)?, binary(below_half, BinaryOp::Sub)?);
    let is = |expr: &Expr, local| variable(expr) == Some(local);
    let is_halved = binary(condition, BinaryOp::Gt).is_some_and(|(of, zero)| is(of, size) && zero.integer() == Some(0))
        && is(of_size.0, size)
        && of_size.1.integer() == Some(1)
        && is(below_half.0, *half)
        && below_half.1.integer() == Some(1)
        && is(value, *half)
        && body.tail.is_none();
    let mut follows = 0;
    walk(whole, &mut |expr| {
        if let ExprKind::Assign(place, value) = &expr.kind
            && is(place, base)
        {
            let next = binary(value, BinaryOp::Add);
            follows += usize::from(next.is_some_and(|(of, one)| is(of, *middle) && one.integer() == Some(1)));
        }
    });
    let changes_once =
        writes(whole, size) == 1 && follows == 1 && writes(whole, base) == 1 && writes(whole, *half) == 0;
    (is_halved && changes_once).then_some((Range::Size { base, size }, *middle))
}

/// Returns the operands of an operation.
fn binary(expr: &Expr, of: BinaryOp) -> Option<(&Expr, &Expr)> {
    match &expr.kind {
        ExprKind::Binary { op, left, right, .. } if *op == of => Some((left, right)),
        _ => None,
    }
}

impl Lower<'_> {
    /// Lowers a binary search without checks of the elements in the middle, if the test before it holds, and with them, if not. Returns
    /// whether it is one.
    pub(super) fn searching_while(&mut self, whole: &Expr, unroll: Option<Unrolling>) -> bool {
        let ExprKind::While { condition, body, .. } = &whole.kind else { return false };
        let Condition::Value(condition) = &**condition else { return false };
        if self.checks_all {
            return false;
        }
        let Some(Search { range, middle, accesses, memory }) = Search::of(self.function, whole) else {
            return false;
        };
        let name = |local| CuExpr::name(self.names.local(local));
        let below = memory.iter().map(|memory| match range {
            Range::Ends { high, .. } => CuExpr::call("covers_below", vec![name(*memory), name(high)]),
            Range::Size { base, size } => CuExpr::call("covers_next", vec![name(*memory), name(base), name(size)]),
        });
        let Some(test) = below.reduce(CuExpr::and) else { return false };
        let found: Vec<CuStmt> = match range {
            Range::Ends { .. } => Vec::new(),
            Range::Size { base, .. } => {
                let found = |memory: &LocalId| CuExpr::call("found_in", vec![name(*memory), name(base)]);
                memory.iter().map(found).map(CuStmt::Expr).collect()
            }
        };
        if let Range::Ends { low, high } = range {
            self.middles.insert(middle, (low, high));
        }
        let condition = self.loop_condition(condition);
        let unchecked = self.without_checks(&accesses, false, |lower| lower.loop_body(Vec::new(), body));
        self.middles.remove(&middle);
        let unchecked = CuStmt::While { unroll, condition: condition.clone(), body: unchecked };
        let checked = self.with_checks(false, |lower| lower.loop_body(Vec::new(), body));
        let checked = CuStmt::While { unroll, condition, body: checked };
        self.out.push(CuStmt::Hoisted {
            test,
            callees: Vec::new(),
            unchecked: [unchecked].into_iter().chain(found).collect(),
            checked: vec![checked],
        });
        true
    }

    /// Returns the middle of a search, of which it is known that both ends are indexes of memory, or the length.
    pub(super) fn middle(&self, local: LocalId, value: CuExpr) -> CuExpr {
        match self.middles.get(&local) {
            Some((low, high)) => {
                let name = |local| CuExpr::name(self.names.local(local));
                CuExpr::call("middle_of", vec![name(*low), name(*high), value])
            }
            None => value,
        }
    }
}

/// Whether an expression is `(low + high) / 2` or `low + (high - low) / 2`, which is below `high` if `low` is.
fn is_middle(expr: &Expr, low: LocalId, high: LocalId) -> bool {
    let is = |expr: &Expr, local| variable(expr) == Some(local);
    let difference = |of: &Expr| match &of.kind {
        ExprKind::Binary { op: BinaryOp::Sub, left, right, .. } => is(left, high) && is(right, low),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
            (is(left, low) && half_of(right).is_some_and(difference))
                || (is(right, low) && half_of(left).is_some_and(difference))
        }
        _ => half_of(expr).is_some_and(|sum| match &sum.kind {
            ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
                (is(left, low) && is(right, high)) || (is(left, high) && is(right, low))
            }
            _ => false,
        }),
    }
}

/// Returns what an expression is the half of.
fn half_of(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Binary { op: BinaryOp::Div, left, right, .. } if right.integer() == Some(2) => Some(left),
        ExprKind::Binary { op: BinaryOp::Shr, left, right, .. } if right.integer() == Some(1) => Some(left),
        _ => None,
    }
}

/// Whether the loop sets a variable to the middle alone.
fn falls_to(whole: &Expr, local: LocalId, middle: LocalId) -> bool {
    let mut falls = 0;
    walk(whole, &mut |expr| {
        if let ExprKind::Assign(place, value) = &expr.kind
            && variable(place) == Some(local)
        {
            falls += usize::from(variable(value) == Some(middle));
        }
    });
    falls == writes(whole, local)
}

/// Whether a loop is small, only computes and reads, and is left by its condition or a `return`.
fn only_computes(whole: &Expr) -> bool {
    let (mut nodes, mut computes) = (0, true);
    walk(whole, &mut |expr| {
        nodes += 1;
        computes &= match &expr.kind {
            ExprKind::While { .. } => std::ptr::eq(expr, whole),
            ExprKind::Op { op, .. } => op.facts().effect == Effect::Pure || matches!(op, Op::LoadVec(_)),
            ExprKind::Error
            | ExprKind::Call { .. }
            | ExprKind::CallClosure { .. }
            | ExprKind::Closure { .. }
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_)
            | ExprKind::Cuda(_)
            | ExprKind::Labelled { .. }
            | ExprKind::Loop { .. }
            | ExprKind::For { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. } => false,
            _ => true,
        };
    });
    computes && nodes <= LARGEST_SEARCH
}
