//! `unchecked(rule, ...)`: takes the faults of those rules out of what the checks reported. A rule of which there was
//! none is a fault itself, so that nothing stays switched off by mistake.

use super::dsm::{self, protocol::Protocol};
use super::forgotten::ForgottenAtCalls;
use super::tokens::PendingAtCalls;
use super::uniform::summary::Summary;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::rules::Rule;
use crate::span::SpanRange;

/// PhaseAction device functions do is known where they are defined, so that only rustc sees whether one of these calls breaks
/// `collective_while_pending`. Nothing else breaks it: if none does, it was switched off in vain, at this place.
#[derive(Debug)]
pub(crate) struct BrokenAt {
    pub(crate) calls: PendingAtCalls,
    pub(crate) waiver: SpanRange,
}

/// `pending` and `forgotten` are what is asked of calls: nothing, where their rules are off. `parsed`: nothing was reported before the
/// checks, so that what they did not find is not there.
pub(super) fn apply(
    function: &Function,
    (pending, forgotten): (&mut PendingAtCalls, &mut ForgottenAtCalls),
    summary: &mut Summary,
    protocol: &mut Protocol,
    parsed: bool,
    diags: &mut Diags,
) -> Option<BrokenAt> {
    let mut broken_at = None;
    let mut idle = Vec::new();
    for waiver in function.options.unchecked.iter().flatten() {
        let mut needed = diags.waive(waiver.rule) | protocol.waive(waiver.rule);
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
            // PhaseAction only rustc finds is not asked; nor can it be known whether it was needed.
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
