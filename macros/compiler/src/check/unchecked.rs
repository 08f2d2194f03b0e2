//! `unchecked(rule, ...)`: removes the faults of those rules from what the checks reported. A rule without a fault is a fault
//! itself, so that no rule stays switched off by mistake.

use super::dsm::{self, protocol::Protocol};
use super::forgotten::ForgottenAtCalls;
use super::rings::Rings;
use super::tokens::PendingAtCalls;
use super::uniform::summary::Summary;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
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

/// Removes the waived faults from what the checks reported, and the waived questions from what rustc is asked. `parsed` says
/// that the parser reported nothing, so that a fault that the checks did not find does not exist.
pub(super) fn apply(
    function: &Function,
    LeftToRustc { pending, forgotten, summary, protocol, rings }: LeftToRustc<'_>,
    parsed: bool,
    diags: &mut Diags,
) -> Option<BrokenAt> {
    let mut broken_at = None;
    let mut idle = Vec::new();
    for waiver in function.options.unchecked.iter().flatten() {
        let mut needed = diags.waive(waiver.rule) | protocol.waive(waiver.rule) | rings.waive(waiver.rule);
        if waiver.rule == Rule::CollectiveWhilePending {
            let calls = std::mem::take(pending);
            if !needed && !calls.is_empty() {
                broken_at = Some(BrokenAt { calls, waiver: waiver.at });
                needed = true;
            }
        }
        if waiver.rule == Rule::TokenForgotten {
            // What only rustc finds is not asked; nor can it be known whether it was needed.
            needed |= !std::mem::take(forgotten).is_empty();
        }
        if waiver.rule == Rule::RankOutOfRange {
            needed |= !dsm::ranks::left_to_rustc(function).is_empty();
        }
        if waiver.rule == Rule::DivergentCollective {
            // rustc is not asked, so that it stays unknown whether the waiver was needed for a call.
            needed |= !summary.obligations.is_empty();
            summary.waived = true;
        }
        if !needed && parsed {
            idle.push(waiver);
        }
    }
    idle.into_iter().for_each(|waiver| diags.push(messages::not_needed(waiver.at, waiver.rule, waiver.summary)));
    broken_at
}
