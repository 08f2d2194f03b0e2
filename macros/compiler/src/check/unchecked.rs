//! `unchecked(rule, ...)`: removes the faults of those rules from what the checks reported, in the whole function or in a block. A
//! rule without a fault is a fault itself, so that no rule stays switched off by mistake.

use std::collections::BTreeMap;

use super::dsm::{self, protocol::Protocol};
use super::forgotten::ForgottenAtCalls;
use super::rings::Rings;
use super::tokens::PendingAtCalls;
use super::uniform::summary::Summary;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::model::expr::Expr;
use crate::model::walk::walk_block;
use crate::rules::Rule;
use crate::span::SpanRange;

/// Calls that may break `collective_while_pending`, where it is `unchecked`. Only rustc knows what the called functions do. If
/// none of the calls breaks the rule, it was switched off in vain.
#[derive(Debug)]
pub(crate) struct BrokenAt {
    pub(crate) calls: PendingAtCalls,
    /// The place of the waiver.
    pub(crate) waiver: SpanRange,
}

/// What rustc is asked.
pub(super) struct LeftToRustc<'c> {
    pub(super) pending: &'c mut PendingAtCalls,
    pub(super) forgotten: &'c mut ForgottenAtCalls,
    pub(super) summary: &'c mut Summary,
    pub(super) protocol: &'c mut Protocol,
    pub(super) rings: &'c mut Rings,
}

/// Removes the waived faults from what the checks reported, and the waived questions from what rustc is asked. `parsed` says that
/// the parser reported nothing, so that a fault that the checks did not find does not exist.
pub(super) fn apply(
    function: &Function,
    LeftToRustc { pending, forgotten, summary, protocol, rings }: LeftToRustc<'_>,
    parsed: bool,
    diags: &mut Diags,
) -> Vec<BrokenAt> {
    if function.waivers().next().is_none() {
        return Vec::new();
    }
    let places = places_of_calls(function);
    let mut broken = Vec::new();
    let mut idle = Vec::new();
    for waiver in function.waivers() {
        let covers = |rule, at| waiver.covers(rule, at);
        let is_here = |at| waiver.covers(waiver.rule, at);
        let covers_call = |slot: &u16| places.get(slot).is_some_and(|at| is_here(*at));
        let mut needed = diags.waive(covers) | protocol.waive(covers) | rings.waive(covers);
        if waiver.rule == Rule::CollectiveWhilePending {
            let calls = take(pending, covers_call);
            if !needed && !calls.is_empty() {
                broken.push(BrokenAt { calls, waiver: waiver.at });
                needed = true;
            }
        }
        if waiver.rule == Rule::TokenForgotten {
            // What only rustc finds is not asked; nor can it be known whether it was needed.
            needed |= !take(forgotten, covers_call).is_empty();
        }
        if waiver.rule == Rule::RankOutOfRange {
            needed |= !dsm::ranks::left_to_rustc(function, is_here).is_empty();
        }
        if waiver.rule == Rule::DivergentCollective {
            // rustc is not asked, so that it stays unknown whether the waiver was needed for a call.
            needed |= summary.waive(is_here);
        }
        // Which instances a kernel has, and so whether one needs the waiver, is not known here.
        needed |= function.is_generic_over_constants() && Rule::OF_INSTANCES.contains(&waiver.rule);
        if !needed && parsed {
            idle.push(waiver);
        }
    }
    idle.into_iter().for_each(|waiver| diags.push(messages::not_needed(waiver.at, waiver.rule, waiver.summary)));
    broken
}

/// The places of the calls of device functions, by slot.
fn places_of_calls(function: &Function) -> BTreeMap<u16, SpanRange> {
    let mut places = BTreeMap::new();
    walk_block(&function.body, &mut |expr: &Expr| {
        places.extend(expr.called().map(|slot| (slot.0, expr.span)));
    });
    places
}

/// Removes such calls, and returns them.
fn take<T>(calls: &mut BTreeMap<u16, T>, taken: impl Fn(&u16) -> bool) -> BTreeMap<u16, T> {
    let (taken, left) = std::mem::take(calls).into_iter().partition(|(slot, _)| taken(slot));
    *calls = left;
    taken
}
