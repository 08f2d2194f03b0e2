//! Device functions that a barrier is passed to: the rules by what they do with it first, and which of the threads that call
//! initialize it. rustc knows both by the callee's summary.

use phalanx_contract::protocol::{BarrierUses, ParameterUses};

use super::Check;
use super::lifecycle::{Id, State};
use super::path_states::{BarrierArgument, Lifecycle, Observers, PathState};
use super::summary::unless;
use crate::check::cfg::{BlockId, CallId, Shared, Step, StepKind};
use crate::check::dsm::protocol::{Guard, Predicate};
use crate::check::election::{MaxThreads, Threads};
use crate::messages;
use crate::model::barrier::PhaseAction;

impl<'a, 'f> Check<'a, 'f, '_> {
    /// Adds to the summary which of the threads that call the function initialize a parameter, if these are.
    pub(super) fn add_callers(&mut self, id: Id, threads: &Threads<'_, '_, '_>, guard: Guard) {
        match (threads.max_threads(), threads.same_parameter()) {
            (MaxThreads::One, _) => {}
            (MaxThreads::OneOfEachWarp, _) => self.add_effect(id, BarrierUses::ONE_OF_EACH_WARP, guard),
            (MaxThreads::Several, None) => self.add_effect(id, BarrierUses::ALONE, guard),
            (MaxThreads::Several, Some((param, is_true))) => {
                let what = if is_true { BarrierUses::WHERE_TRUE } else { BarrierUses::AT_ONE_VALUE };
                self.add_effect(Id { shared: Shared::Param(param), index: None }, what, guard);
            }
        }
    }

    /// Applies the rules to a device function that takes the barrier, by what it does with the barrier first.
    pub(super) fn check_argument(
        &mut self,
        state: &State,
        argument: BarrierArgument,
        id: Id,
        block: BlockId,
        step: &Step,
    ) {
        let BarrierArgument { slot, argument } = argument;
        let at = step.at;
        let name = self.cx.name(id);
        let does = |what: BarrierUses| Predicate::Uses(slot, argument, ParameterUses::of_barrier(what));
        self.summary.asked.extend(super::dropped::before(
            self.cx,
            state,
            id,
            at,
            Some(BarrierArgument { slot, argument }),
        ));
        let paths: Vec<PathState> = state.paths.get(&id).into_iter().flat_map(|paths| paths.iter()).cloned().collect();
        for path in &paths {
            let guard = |what| unless(path).when(does(what));
            match (path.life, path.observers) {
                (Lifecycle::Given, _) => {
                    for what in [BarrierUses::NEEDS, BarrierUses::BEGINS] {
                        self.add_effect(id, what, guard(what));
                    }
                    for (predicate, threads) in self.initializers(argument, block, step) {
                        self.add_callers(id, &threads, unless(path).when(predicate));
                    }
                }
                (Lifecycle::New | Lifecycle::Invalid, Observers::All) => {
                    let later = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
                    let ended =
                        (path.life == Lifecycle::Invalid).then(|| self.place(id, &[PhaseAction::Invalidate])).flatten();
                    self.report_if(
                        id,
                        guard(BarrierUses::NEEDS),
                        messages::barrier_uninitialized(at, &name, ended, later, self.in_one_block(id)),
                    );
                }
                (Lifecycle::New | Lifecycle::Invalid, Observers::OtherThread) if self.cx.threads() != Some(1) => {
                    let init = self.place(id, &[PhaseAction::Init]);
                    self.report_if(id, guard(BarrierUses::NEEDS), messages::barrier_unpublished(at, &name, init, None));
                }
                (Lifecycle::Live, Observers::All | Observers::Own | Observers::Arrived(_)) => {
                    let earlier = self.place(id, &[PhaseAction::Init, PhaseAction::InitCollective]);
                    self.report_if(id, guard(BarrierUses::BEGINS), messages::barrier_reinit(at, &name, earlier));
                }
                (Lifecycle::New | Lifecycle::Invalid | Lifecycle::Live | Lifecycle::Unknown, _) => {}
            }
        }
        if self.is_kernel() && self.cx.threads() != Some(1) && !paths.is_empty() {
            for (predicate, threads) in self.initializers(argument, block, step) {
                if threads.max_threads() != MaxThreads::One {
                    let guard = Guard::default().when(predicate);
                    // The callee chooses its threads in one of these ways.
                    let diag = messages::barrier_init_not_elected(at, &name, self.condition(block));
                    self.summary.asked.push((guard, diag));
                }
            }
        }
    }

    /// The threads of a call that initialize the barrier which is this argument, for each way in which the callee may choose
    /// them.
    fn initializers(&self, argument: usize, block: BlockId, step: &Step) -> Vec<(Predicate, Threads<'a, 'a, 'f>)> {
        let StepKind::Call(CallId(call)) = step.kind else { return Vec::new() };
        let call = &self.cx.cfg.calls[call];
        let Some((_, region)) = call.barriers.iter().find(|(at, _)| *at == argument) else { return Vec::new() };
        let uses = |at: usize, what| Predicate::Uses(call.slot.0, at, ParameterUses::of_barrier(what));
        let threads = || self.threads_at(block, step, region);
        let all = threads().map(|threads| (uses(argument, BarrierUses::ALONE), threads));
        let of_warps = threads().map(|threads| (uses(argument, BarrierUses::ONE_OF_EACH_WARP), threads.of_each_warp()));
        let values = self.cx.cfg.nodes[call.node.0].operands.iter().enumerate();
        let values = values.filter(|(at, _)| {
            call.teams[*at].is_none()
                && call.regions[*at].is_none()
                && !call.barriers.iter().any(|(barrier, _)| barrier == at)
        });
        let chosen = values.flat_map(|(at, value)| {
            let is_true = threads().map(|threads| (uses(at, BarrierUses::WHERE_TRUE), threads.with_true(*value)));
            let same = threads().map(|threads| (uses(at, BarrierUses::AT_ONE_VALUE), threads.with_same(*value)));
            is_true.into_iter().chain(same)
        });
        all.into_iter().chain(of_warps).chain(chosen).collect()
    }
}
