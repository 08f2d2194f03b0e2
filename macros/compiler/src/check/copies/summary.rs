//! What a device function's callers must know of copies: for which it may wait, which parameters it accesses before it has waited
//! for any, and which copies it leaves in flight.

use phalanx_contract::protocol::{BarrierUses, Behavior, CopyUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::flight::{Begin, Ending, flag_of};
use super::products::is_left_to_callers;
use super::state::{InFlight, State};
use crate::check::cfg::{
    Access, AccessKind, BlockId, CallId, Completion, CopyStep, MemoryStep, Region, Root, Shared, Step, StepKind,
};
use crate::check::completion::Begun;
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::check::uniform::values::Values;
use crate::model::kind::Kind;
use crate::model::{Role, ValueId};

type Effects = Vec<(Effect, Guard)>;

/// Waits of which nothing is known.
const ANY_WAIT: Behavior = Behavior::WAITS.union(Behavior::WAITS_FOR_LAST_PRODUCT);

/// The parameter that a region is a part of.
fn parameter(region: &Region) -> Option<usize> {
    match region.root {
        Root::Shared(Shared::Param(param)) => Some(param),
        Root::ReadOnly | Root::Global => region.param,
        Root::Shared(_) | Root::Remote(_) => None,
    }
}

impl InFlight<'_, '_> {
    /// Adds what a step does for the callers of a device function.
    pub(super) fn summarize(&self, state: &State, step: &Step, effects: &mut Effects) {
        if self.function.role != Role::Device {
            return;
        }
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(access)) => {
                let Access { region, kind, .. } = &self.cfg.accesses[access.0];
                let uses = match kind {
                    AccessKind::Read | AccessKind::AtomicRead => CopyUses::READS_FIRST,
                    AccessKind::Write | AccessKind::Atomic => CopyUses::WRITES_FIRST,
                    AccessKind::Opaque => return self.may_wait(effects),
                    AccessKind::Lent | AccessKind::ByClosure | AccessKind::AsyncWrite => return,
                };
                if let (Some(guard), Some(param)) = (self.first(state), parameter(region)) {
                    effects.push((Effect::Uses(param, ParameterUses::of_copies(uses)), guard));
                }
            }
            StepKind::Copy(copy) => {
                if let CopyStep::Wait { completion, of_reads, but, .. } = self.cfg.copies[copy.0] {
                    let waits = match (completion, of_reads) {
                        (Completion::Group, _) => Behavior::WAITS_FOR_GROUP_COPIES,
                        (Completion::BulkGroup, true) => Behavior::WAITS_FOR_BULK_READS,
                        (Completion::BulkGroup, false) => {
                            Behavior::WAITS_FOR_BULK_READS | Behavior::WAITS_FOR_BULK_WRITES
                        }
                        (Completion::Product, _) if self.keeps_last_of_callers(state, but) => {
                            Behavior::WAITS_FOR_PRODUCTS
                        }
                        (Completion::Product, _) => Behavior::WAITS_FOR_PRODUCTS | Behavior::WAITS_FOR_LAST_PRODUCT,
                        (Completion::Barrier(_), _) => return,
                    };
                    effects.push((Effect::Does(waits), Guard::default()));
                }
            }
            StepKind::BarrierCall(call) => {
                let call = &self.cfg.barrier_calls[call.0];
                if let (Some(_), Root::Shared(shared)) = (call.method.action.observation(), call.region.root) {
                    self.observes(shared, &Guard::default(), effects);
                }
            }
            StepKind::Call(call) => self.summarize_call(state, *call, effects),
            StepKind::Value(_)
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(_)
            | StepKind::Token(_) => {}
        }
    }

    /// Whether a wait for all products but the last ones certainly leaves the last one of the callers in flight.
    fn keeps_last_of_callers(&self, state: &State, but: Option<ValueId>) -> bool {
        let literal = but.and_then(|but| self.function.values[usize::from(but.0)].literal);
        let is_last = self.of_callers().is_some_and(|callers| state.is_certainly_last(callers));
        literal.is_some_and(|left| left > 0) && is_last
    }

    /// The guard under which the function has not waited for anything on some path to a point.
    fn first(&self, state: &State) -> Option<Guard> {
        let calls = state.first.as_ref()?;
        Some(calls.iter().fold(Guard::default(), |guard, call| self.unless_waited(guard, *call, None)))
    }

    /// Inline CUDA may wait for anything.
    fn may_wait(&self, effects: &mut Effects) {
        effects.push((Effect::Does(ANY_WAIT), Guard::default()));
        self.observes(Shared::Any, &Guard::default(), effects);
    }

    /// The function may wait at a barrier that is a parameter, or at any of them.
    fn observes(&self, shared: Shared, guard: &Guard, effects: &mut Effects) {
        let is_barrier =
            |param: &usize| matches!(self.function.kind(self.function.params[*param].local), Kind::Barrier(_));
        let params: Vec<usize> = match shared {
            Shared::Param(param) => vec![param],
            Shared::Any => (0..self.function.params.len()).filter(is_barrier).collect(),
            Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) => Vec::new(),
        };
        let uses = ParameterUses::of_barrier(BarrierUses::MAY_OBSERVE);
        effects.extend(params.into_iter().map(|param| (Effect::Uses(param, uses), guard.clone())));
    }

    fn summarize_call(&self, state: &State, id: CallId, effects: &mut Effects) {
        let call = &self.cfg.calls[id.0];
        let barriers = call.barriers.iter().filter_map(|(argument, region)| match region.root {
            Root::Shared(shared) => Some((*argument, shared)),
            Root::ReadOnly | Root::Global | Root::Remote(_) => None,
        });
        if call.passes_closure || !call.is_of_function() {
            if call.passes_closure {
                effects.push((Effect::Does(ANY_WAIT), Guard::default()));
            }
            barriers.for_each(|(_, shared)| self.observes(shared, &Guard::default(), effects));
            return;
        }
        let slot = self.slot(id);
        for waits in Behavior::WAITS.iter() {
            effects.push((Effect::Does(waits), Guard::default().when(Predicate::Does(slot, waits))));
        }
        // What it leaves in flight is the last product of this function's callers only if none has begun since.
        let of_last = if self.of_callers().is_some_and(|callers| state.is_certainly_last(callers)) {
            Behavior::WAITS_FOR_LAST_PRODUCT
        } else {
            Behavior::WAITS_FOR_PRODUCTS
        };
        let waits = Guard::default().when(Predicate::Does(slot, of_last));
        effects.push((Effect::Does(Behavior::WAITS_FOR_LAST_PRODUCT), waits));
        for (argument, shared) in barriers {
            let uses = ParameterUses::of_barrier(BarrierUses::MAY_OBSERVE);
            self.observes(shared, &Guard::default().when(Predicate::Uses(slot, argument, uses)), effects);
        }
        let Some(first) = self.first(state) else { return };
        for (argument, region) in call.regions.iter().enumerate() {
            let Some(param) = region.as_ref().and_then(parameter) else { continue };
            for what in [CopyUses::READS_FIRST, CopyUses::WRITES_FIRST] {
                let uses = ParameterUses::of_copies(what);
                effects.push((Effect::Uses(param, uses), first.clone().when(Predicate::Uses(slot, argument, uses))));
            }
        }
    }

    /// The copies of whole parameters that a device function leaves in flight, whatever it is given: only conditions that differ within
    /// the block, as that which elects a thread, decide whether a thread begins them.
    pub(super) fn left_to_callers(&self, values: &Values<'_, '_>, ends: &[State]) -> Effects {
        let mut effects = Effects::new();
        for (id, guard) in ends.iter().flat_map(|end| self.surely_in_flight(end)) {
            let flight = &self.flights.all[id];
            let is_given = |shared: &Shared| matches!(shared, Shared::Param(_));
            let is_known = match &flight.ending {
                Ending::Barriers(barriers) | Ending::Receiver(barriers) => barriers.iter().all(is_given),
                Ending::Group | Ending::BulkReads | Ending::BulkWrites => true,
                Ending::Product => is_left_to_callers(self.function),
            };
            let is_whole = flight.region.path.is_empty() && flight.region.via.is_none();
            if let (true, true, Some(param)) = (is_known, is_whole, parameter(&flight.region))
                && self.begins_always(values, flight.begin)
            {
                effects.push((Effect::Uses(param, ParameterUses::of_copies(flag_of(flight))), guard));
            }
        }
        effects
    }

    fn begins_always(&self, values: &Values<'_, '_>, begin: Begin) -> bool {
        let is_it = |step: &Step| begin.step().is_some() && Begun::of(self.cfg, step) == begin.step();
        let at = self.cfg.blocks.iter().position(|block| block.steps.iter().any(is_it));
        let differs = |branch: BlockId| {
            let tested = values.tested(branch);
            !tested.is_uniform(Uniformity::Block) && tested.unknown.is_empty()
        };
        at.is_some_and(|block| values.control.deciders(BlockId(block)).all(differs))
    }
}
