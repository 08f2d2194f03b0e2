//! Barriers that device functions initialize: which calls have been given a barrier on the way to a point, ever and since the threads
//! last synchronized. What the functions do with it rustc knows (`BarrierUses`), so that each fault is a question.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::{BarrierUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::lifecycle::{Id, Lifecycles, State as Life, id_of, is_exact};
use super::path_states::{BarrierArgument, Lifecycle, Observers};
use super::summary::Summary;
use crate::check::cfg::{AccessKind, BlockId, Cfg, GroupStep, MemoryStep, Shared, Step, StepKind};
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::check::engine::{self, Analysis, Join};
use crate::messages;
use crate::model::Role;
use crate::model::barrier::PhaseAction;
use crate::span::SpanRange;

/// The calls that were given each barrier on some path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    ever: BTreeMap<Id, BTreeSet<BarrierArgument>>,
    /// The calls since the last point where the threads of the block may have synchronized.
    unsynchronized: BTreeMap<Id, BTreeSet<BarrierArgument>>,
}

impl Join for State {
    // bottom = no calls; join = union
    fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (known, other) in [(&mut self.ever, &other.ever), (&mut self.unsynchronized, &other.unsynchronized)] {
            other.iter().for_each(|(id, calls)| known.entry(*id).or_default().extend(calls));
        }
        *self != before
    }
}

struct Given<'a, 'f> {
    cfg: &'a Cfg<'f>,
    lives: &'a Lifecycles<'a, 'f>,
}

impl Given<'_, '_> {
    /// The barriers that a step passes to device functions, each exactly known.
    fn arguments(&self, step: &Step) -> Vec<(BarrierArgument, Id)> {
        let StepKind::Call(call) = step.kind else { return Vec::new() };
        let arguments = self.lives.barrier_arguments(call).into_iter();
        arguments.filter_map(|(argument, id, exact)| Some((argument.filter(|_| exact)?, id))).collect()
    }
}

impl Analysis for Given<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State::default()
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match &step.kind {
            StepKind::Call(_) => {
                // The function may have barriers of its own.
                state.unsynchronized.clear();
                for (argument, id) in self.arguments(step) {
                    state.ever.entry(id).or_default().insert(argument);
                    state.unsynchronized.entry(id).or_default().insert(argument);
                }
            }
            StepKind::BarrierCall(call) => {
                let call = &self.cfg.barrier_calls[call.0];
                if call.method.action.observation().is_some() {
                    state.unsynchronized.clear();
                }
            }
            StepKind::Group(
                GroupStep::Collective { barrier: true, .. } | GroupStep::Wait { .. } | GroupStep::WaitElected { .. },
            ) => state.unsynchronized.clear(),
            // Threads may tell each other by flags.
            StepKind::Memory(MemoryStep::Access(id)) => match self.cfg.accesses[id.0].kind {
                AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::Opaque | AccessKind::ByClosure => {
                    state.unsynchronized.clear();
                }
                AccessKind::Read | AccessKind::Write | AccessKind::AsyncWrite | AccessKind::Lent => {}
            },
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(
                GroupStep::Collective { barrier: false, .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. },
            )
            | StepKind::Copy(_)
            | StepKind::Value(_)
            | StepKind::Token(_) => {}
        }
    }

    fn edge(&self, _: &mut State, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}

fn does(call: BarrierArgument, what: BarrierUses) -> Predicate {
    Predicate::Uses(call.slot, call.argument, ParameterUses::of_barrier(what))
}

/// `barrier_reinit`, `barrier_unpublished`: a barrier that a function has initialized is not initialized again, and is used after the
/// threads have synchronized.
///
/// ```text
/// fn setup(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() == 0 { bar.init(64); } }
/// setup(&block, &bar); bar.arrive_and_wait();                                    // thread 0 may not have reached `init` yet
/// setup(&block, &bar); block.sync(); setup(&block, &bar); block.sync();          // in use since the first call
/// ```
pub(super) fn check(cx: &Context<'_, '_>, lives: &Lifecycles<'_, '_>, summary: &mut Summary) {
    if lives.within != Uniformity::Block || cx.cfg.calls.iter().all(|call| call.barriers.is_empty()) {
        return;
    }
    let given = Given { cfg: cx.cfg, lives };
    let states = engine::solve(&given, cx.cfg);
    // The calls that were asked about, each with whether it was about an `init` that comes later.
    let mut asked: BTreeSet<(Id, BarrierArgument, bool)> = BTreeSet::new();
    engine::visit(&given, cx.cfg, &states, |state, step| {
        let calls = |of: &BTreeMap<Id, BTreeSet<BarrierArgument>>, id| {
            of.get(&id).into_iter().flatten().copied().collect::<Vec<_>>()
        };
        let place =
            |call: BarrierArgument| cx.cfg.calls.iter().find(|other| other.slot.0 == call.slot).map(|call| call.at);
        let reinit = |id: Id, at: SpanRange, earlier: BarrierArgument| {
            messages::barrier_reinit(at, &cx.name(id), place(earlier))
        };
        // A thread that ends the barrier's life does so for all of them, whatever path they take.
        let is_ended = |id| cx.calls(id).any(|call| call.method.action == PhaseAction::Invalidate);
        for (argument, id) in given.arguments(step).into_iter().filter(|(_, id)| !is_ended(*id)) {
            for earlier in calls(&state.ever, id) {
                if asked.insert((id, earlier, true)) {
                    let both = [earlier, argument].map(|call| does(call, BarrierUses::LEAVES_IN_USE));
                    // One that invalidates the barrier first does not initialize it as it is given.
                    let begins = Guard::default().when(does(argument, BarrierUses::BEGINS));
                    let guard = both.into_iter().fold(begins, Guard::when);
                    summary.asked.push((guard, reinit(id, step.at, earlier)));
                }
            }
        }
        let StepKind::BarrierCall(call) = step.kind else { return };
        let call = &cx.cfg.barrier_calls[call.0];
        let Some(id) = id_of(cx.cfg, &call.region).filter(|id| is_exact(call, *id)) else { return };
        let (of, what) = match call.method.action.begins() {
            true if is_ended(id) => return,
            true => (&state.ever, BarrierUses::LEAVES_IN_USE),
            false => (&state.unsynchronized, BarrierUses::LEAVES_UNPUBLISHED),
        };
        for earlier in calls(of, id) {
            if asked.insert((id, earlier, call.method.action.begins())) {
                let fault = match call.method.action.begins() {
                    true => reinit(id, call.at, earlier),
                    false => messages::barrier_unpublished(call.at, &cx.name(id), place(earlier), None),
                };
                summary.asked.push((Guard::default().when(does(earlier, what)), fault));
            }
        }
    });
}

/// Adds to the summary how the function leaves the barriers that it is given, by the states at its ends.
pub(super) fn add_ends(cx: &Context<'_, '_>, lives: &Lifecycles<'_, '_>, ends: &[Life], summary: &mut Summary) {
    if lives.within != Uniformity::Block || cx.function.role != Role::Device || ends.is_empty() {
        return;
    }
    for id in lives.ids.iter().filter(|id| id.index.is_none() && lives.is_one(id)) {
        let Shared::Param(param) = id.shared else { continue };
        let paths =
            |end: &Life| end.paths.get(id).into_iter().flat_map(|paths| paths.iter()).cloned().collect::<Vec<_>>();
        let in_use = |end: &Life| {
            let mut end = end.clone();
            lives.publish(&mut end);
            let paths = paths(&end);
            !paths.is_empty() && paths.iter().all(|path| path.life == Lifecycle::Live)
        };
        let is_own = |end: &Life| {
            let mut paths = paths(end).into_iter();
            paths.any(|path| path.life == Lifecycle::Live && path.observers == Observers::Own)
        };
        let mut add = |what| {
            summary.effects.push((Effect::Uses(param, ParameterUses::of_barrier(what)), Guard::default()));
        };
        if ends.iter().all(in_use) {
            add(BarrierUses::LEAVES_IN_USE);
        }
        if ends.iter().any(is_own) {
            add(BarrierUses::LEAVES_UNPUBLISHED);
        }
    }
}
