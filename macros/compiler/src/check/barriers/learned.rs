//! Steps at which a thread may learn, in a way that is not followed, what other threads have done to a barrier: waits, atomics, and calls of
//! functions that have such. Of a device function, rustc says whether it has.

use phalanx_contract::protocol::Behavior;
use phalanx_contract::uniformity::Uniformity;

use super::lifecycle::{Lifecycles, State};
use super::path_states::{BarrierArgument, Lifecycle, Observers, PathState, PathStates};
use crate::check::cfg::{AccessKind, Call, Cfg, GroupStep, MemoryStep, StepKind};
use crate::check::dsm::protocol::{Effect, Guard, Predicate};

impl Lifecycles<'_, '_> {
    /// Threads may have learned here, in a way that is not followed, what others did before.
    pub(super) fn may_learn(&self, state: &mut State) {
        for paths in state.paths.values_mut() {
            paths.each(|path| match self.is_of_others(&path) {
                true => path.with(Lifecycle::Unknown, Observers::All),
                false => path,
            });
        }
    }

    /// Whether a path state is about changes that not all threads of the scope know.
    fn is_of_others(&self, path: &PathState) -> bool {
        match path.observers {
            Observers::OtherThread | Observers::OtherWarp => true,
            Observers::Own | Observers::Arrived(_) => self.within == Uniformity::Cluster,
            Observers::All => false,
        }
    }

    /// Threads may have learned in a call what others did before: rustc says of a function whether they may.
    pub(super) fn may_learn_in(&self, state: &mut State, call: &Call<'_>) {
        if !call.is_of_function() {
            if !call.is_of_values() {
                self.may_learn(state);
            }
            return;
        }
        let learned = BarrierArgument::learned(call.slot.0);
        for paths in state.paths.values_mut() {
            let split = |path: &PathState| match self.is_of_others(path) && path.life != Lifecycle::Unknown {
                true => path.clone().learning(learned),
                false => vec![path.clone()],
            };
            *paths = PathStates::of(paths.iter().flat_map(split));
        }
    }
}

/// Whether a thread may learn in a device function what others have done, for its callers.
pub(super) fn learns(cfg: &Cfg<'_>) -> Vec<(Effect, Guard)> {
    let steps = cfg.blocks.iter().flat_map(|block| &block.steps);
    let guards = steps.filter_map(|step| match &step.kind {
        StepKind::Group(GroupStep::Collective { barrier, .. }) => barrier.then(Guard::default),
        StepKind::Group(GroupStep::Wait { .. } | GroupStep::WaitElected { .. }) => Some(Guard::default()),
        StepKind::BarrierCall(call) => cfg.barrier_calls[call.0].method.action.observation().map(|_| Guard::default()),
        StepKind::Memory(MemoryStep::Access(access)) => match cfg.accesses[access.0].kind {
            AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::Opaque | AccessKind::ByClosure => {
                Some(Guard::default())
            }
            AccessKind::Read | AccessKind::Write | AccessKind::AsyncWrite | AccessKind::Lent => None,
        },
        StepKind::Call(call) => {
            let call = &cfg.calls[call.0];
            match call.is_of_function() {
                true => Some(Guard::default().when(Predicate::Does(call.slot.0, Behavior::MAY_LEARN))),
                false => (!call.is_of_values()).then(Guard::default),
            }
        }
        StepKind::Group(
            GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_)
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. },
        )
        | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Copy(_)
        | StepKind::Value(_)
        | StepKind::Token(_) => None,
    });
    let mut effects = Vec::new();
    for effect in guards.map(|guard| (Effect::Does(Behavior::MAY_LEARN), guard)) {
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    effects
}
