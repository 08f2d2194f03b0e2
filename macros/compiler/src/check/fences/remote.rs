//! The effects that an arrival at a peer's phase barrier must publish: those of its thread before it, and those of other threads that
//! had told this one by then, by a barrier or a copy.
//!
//! An arrival at the cluster's barrier covers its own thread alone, because every other thread arrives as well. Here one
//! thread may arrive for all, so that the effects are followed from thread to thread: each barrier collects what was done before
//! somebody arrived at it, and hands it to those that wait. All threads of all blocks run the same graph.

use std::collections::BTreeMap;

use super::effects::{EffectSet, Effects, StepEffects};
use super::{Position, position};
use crate::check::cfg::{BarrierCall, BarrierCallId, BlockId, Cfg, CopyId, GroupStep, Shared, Step, StepKind};
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::model::group::Group;

/// The barriers by which threads tell each other how far they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Teller {
    /// The phase barriers of one declaration, of all blocks.
    Phase(Shared),
    /// The split barrier of a group.
    Split(Group),
}

/// The part that a step takes in the exchange by a barrier.
enum Exchange {
    Arrives(Teller),
    Waits(Teller),
    Both(Teller),
}

/// Returns the effects that may precede each arrival at a peer's barrier, by its place.
pub(super) fn needs(cfg: &Cfg<'_>, effects: &StepEffects) -> BTreeMap<Position, Effects> {
    let at = cfg.blocks.iter().map(|_| effects.none()).collect();
    let mut known = Known { cfg, effects, at, told: BTreeMap::new(), found: BTreeMap::new() };
    while known.walk() {}
    known.found.into_iter().map(|(place, set)| (place, effects.named(&set))).collect()
}

struct Known<'a, 'f> {
    cfg: &'a Cfg<'f>,
    effects: &'a StepEffects,
    /// The effects that a thread may know of before each block.
    at: Vec<EffectSet>,
    /// The effects that some thread may have known of when it arrived, by barrier.
    told: BTreeMap<Teller, EffectSet>,
    found: BTreeMap<Position, EffectSet>,
}

impl Known<'_, '_> {
    // bottom = nothing; join = union; forward
    /// Walks once through all blocks, and returns whether that showed anything new.
    fn walk(&mut self) -> bool {
        let mut changed = false;
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            let mut known = self.at[number].clone();
            for step in &block.steps {
                known.extend(self.effects.number(step));
                if let Some(place) = arrives_at_peer(self.cfg, step) {
                    self.found.entry(place).or_insert_with(|| self.effects.none()).insert_all(&known);
                }
                let Some(exchange) = exchange(self.cfg, step) else { continue };
                let (Exchange::Arrives(teller) | Exchange::Waits(teller) | Exchange::Both(teller)) = exchange;
                let told = self.told.entry(teller).or_insert_with(|| self.effects.none());
                if matches!(exchange, Exchange::Arrives(_) | Exchange::Both(_)) {
                    changed |= told.insert_all(&known);
                }
                if matches!(exchange, Exchange::Waits(_) | Exchange::Both(_)) {
                    known.insert_all(told);
                }
            }
            for BlockId(next) in block.end.successors() {
                changed |= self.at[next].insert_all(&known);
            }
        }
        changed
    }
}

/// The place of the step, if it arrives at a peer's barrier.
fn arrives_at_peer(cfg: &Cfg<'_>, step: &Step) -> Option<Position> {
    let StepKind::BarrierCall(BarrierCallId(call)) = step.kind else { return None };
    let BarrierCall { barrier, method, .. } = &cfg.barrier_calls[call];
    let arrives = matches!(method.action, PhaseAction::Arrive | PhaseAction::ArriveN);
    (barrier.form == BarrierForm::Remote && arrives).then(|| position(step.at))
}

/// The phase barriers of a call, all elements of an array and those of all blocks alike.
fn of_call(call: &BarrierCall) -> Teller {
    let shared = call.region.root.party().map_or(Shared::Any, |(_, shared)| shared.whole());
    Teller::Phase(shared)
}

/// Whether it is not known which barriers some call or copy is about.
pub(super) fn has_unknown_barriers(cfg: &Cfg<'_>) -> bool {
    let is_unknown = |call| of_call(call) == Teller::Phase(Shared::Any);
    cfg.barrier_calls.iter().any(is_unknown) || cfg.calls.iter().any(|call| !call.barriers.is_empty())
}

/// Returns the part that the step takes in the exchange by a barrier. A barrier at which all threads of a group arrive and wait by one statement needs no entry:
/// whoever comes behind it has passed it, and so have the effects before it.
fn exchange(cfg: &Cfg<'_>, step: &Step) -> Option<Exchange> {
    match &step.kind {
        StepKind::BarrierCall(BarrierCallId(call)) => {
            let call = &cfg.barrier_calls[*call];
            let teller = of_call(call);
            match call.method.action {
                PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::ExpectTx
                | PhaseAction::Copy => Some(Exchange::Arrives(teller)),
                PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::TryWait => Some(Exchange::Waits(teller)),
                PhaseAction::ArriveAndWait => Some(Exchange::Both(teller)),
                PhaseAction::Init | PhaseAction::InitCollective | PhaseAction::Invalidate => None,
            }
        }
        StepKind::Group(GroupStep::Arrive { group, .. } | GroupStep::ArriveForgotten { group, .. }) => {
            Some(Exchange::Arrives(Teller::Split(*group)))
        }
        StepKind::Group(GroupStep::Wait { group, .. } | GroupStep::WaitElected { group, .. }) => {
            Some(Exchange::Waits(Teller::Split(*group)))
        }
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_),
        )
        | StepKind::Copy(CopyId(_))
        | StepKind::Memory(_)
        | StepKind::Value(_)
        | StepKind::Token(_)
        | StepKind::Call(_) => None,
    }
}
