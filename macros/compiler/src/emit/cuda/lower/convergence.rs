//! Tests that whole warps make together. A thread that fails leaves, and what remains of its warp is, for the assembler, a warp whose
//! threads may be anywhere: it keeps what all of them share in the registers of each, and waits for them before every barrier. So in a
//! kernel whose threads do something together, where all threads of a warp come to a test (`check::uniform`), the warp leaves as a
//! whole if one of its threads fails, and all of it runs the same copy of a loop. Nothing else shows that: the launch has failed.
//!
//! Threads that did not wait for each other do so at such a test. That is no matter unless one of them waits, before it, for what another
//! one does after it: there are no such tests in kernels with phase barriers, with loops that may wait for an atomic, or with text of which
//! nothing is known, nor in those that call a function in which threads do anything together.

use super::Lower;
use super::access::Access;
use super::closures::named_closure;
use super::collectives::{is_collective, may_spin};
use super::computed::is_pure_closure;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::model::array_functions::makes_array;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::walk::{walk, walk_block};
use crate::model::{Function, SlotId};
use crate::span::SpanRange;

/// Where the threads of a function meet.
pub(super) struct Meetings {
    /// The last place where they do, or the last loop in which they do, if threads of a warp may wait for each other at tests before it.
    last: Option<SpanRange>,
    /// The slots of the functions that are called. If threads do anything together in one of them, which the runtime knows, no test is
    /// one of a whole warp.
    callees: Vec<SlotId>,
}

impl Meetings {
    pub(super) fn of(function: &Function) -> Meetings {
        let (mut last, mut may_wait, mut callees) = (None, false, Vec::new());
        walk_block(&function.body, &mut |expr| {
            if is_meeting(expr) {
                last = later(last, expr.span);
            }
            match &expr.kind {
                ExprKind::Op { op, .. } => may_wait |= matches!(op, Op::Barrier(..) | Op::MmaAsync { .. }),
                ExprKind::Call { callee, slot, arguments } => {
                    // A closure stands here, and may fail where the function calls it: a thread that does leaves its warp there.
                    let may_fail = |argument: &Expr| match argument.kind {
                        ExprKind::Closure { .. } => !is_pure_closure(function, argument),
                        _ => named_closure(argument).is_some(),
                    };
                    may_wait |= arguments.iter().any(may_fail);
                    if !makes_array(callee) {
                        callees.push(*slot);
                    }
                }
                ExprKind::Closure { .. } => may_wait |= may_spin(expr),
                ExprKind::AssignOp { function: Some(function), .. } => callees.push(function.1),
                ExprKind::Cuda(_) => may_wait = true,
                ExprKind::For { .. } | ExprKind::Loop { .. } | ExprKind::While { .. } => {
                    let mut meets = false;
                    walk(expr, &mut |inner| meets |= is_meeting(inner));
                    last = if meets { later(last, expr.span) } else { last };
                    may_wait |= may_spin(expr);
                }
                _ => {}
            }
        });
        Meetings { last: last.filter(|_| !may_wait), callees }
    }

    pub(super) fn callees(&self) -> &[SlotId] {
        &self.callees
    }

    /// Returns a name that only a test of a whole warp has.
    pub(super) fn name_of_warp(&self, name: &'static str) -> Vec<Fragment> {
        match self.callees.is_empty() {
            true => vec![name.into()],
            false => vec![Fragment::Alone { callees: self.callees.clone(), text: vec![name.into()] }],
        }
    }
}

/// Returns the one that ends later.
fn later(one: Option<SpanRange>, other: SpanRange) -> Option<SpanRange> {
    Some(one.filter(|one| one.hi.end() >= other.hi.end()).unwrap_or(other))
}

/// Whether threads meet in an operation, apart from its operands.
fn is_meeting(expr: &Expr) -> bool {
    let ExprKind::Op { op, .. } = expr.kind else { return false };
    let makes = matches!(
        op,
        Op::SharedArray(_) | Op::SharedBarrier(..) | Op::Forget(_) | Op::Partition(..) | Op::TiledPartition(..)
    );
    is_collective(op) && !makes && !matches!(op, Op::Nanosleep | Op::LaunchDependents | Op::WaitPrevious)
}

impl Lower<'_> {
    /// Whether all threads of a warp come to an access, or to a barrier of their block, together, and to the tests before it.
    pub(super) fn is_of_warp(&self, access: &Expr) -> bool {
        let is_before = |last: SpanRange| access.span.lo.start() < last.hi.end();
        !self.is_apart && self.meetings.last.is_some_and(is_before) && self.whole_warps.access(access.span)
    }

    /// Whether all threads of a warp come to a loop together, because they do so to an access inside of it.
    pub(super) fn is_loop_of_warp(&self, whole: &Expr) -> bool {
        let mut found = false;
        walk(whole, &mut |inner| {
            found |= Access::of(inner).is_some_and(|access| access.memory.memory().is_some()) && self.is_of_warp(inner);
        });
        found
    }

    /// Lowers what only some threads of a warp may come to.
    pub(super) fn apart<R>(&mut self, is_apart: bool, lower: impl FnOnce(&mut Self) -> R) -> R {
        let outer = self.is_apart;
        self.is_apart |= is_apart;
        let result = lower(self);
        self.is_apart = outer;
        result
    }

    /// Returns whether a test holds for all threads of a warp, if they come to it together.
    pub(super) fn agreed(&self, test: CuExpr, is_of_warp: bool) -> CuExpr {
        if !is_of_warp {
            return test;
        }
        CuExpr::Call { callee: self.meetings.name_of_warp("all_of_warp"), arguments: vec![test], site: None }
    }
}
