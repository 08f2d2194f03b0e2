//! `barrier_unpublished` at the end of a barrier's life: one thread invalidates it, and the others are done with it. A thread is between two
//! synchronizations together with all that the others do between the same two, on other arms, and with what they have still to do of
//! what it has done itself.

use std::collections::BTreeSet;

use phalanx_contract::protocol::{BarrierUses, ParameterUses};
use phalanx_contract::uniformity::Uniformity;

use super::lifecycle::{Id, id_of, is_exact};
use super::{Check, Context, same_step};
use crate::check::cfg::{AccessKind, BarrierCall, BarrierCallId, BlockId, GroupStep, MemoryStep, Step, StepKind};
use crate::check::dsm::protocol::{Guard, Predicate};
use crate::check::election::MaxThreads;
use crate::messages;
use crate::model::barrier::{BarrierForm, PhaseAction};
use crate::span::SpanRange;

/// The steps at which a walk to the uses of other threads ends, besides a synchronization of the block: those at which the thread may learn
/// that the others are done.
#[derive(Clone, Copy)]
struct Bounds {
    /// Whether a wait at the barrier itself is one: the arrivals of the others are behind it, but not their waits.
    waits: bool,
    /// Whether a barrier of a warp is one.
    warps: bool,
}

/// A step at which other threads may be.
struct Beside<'a> {
    block: BlockId,
    step: &'a Step,
    /// Whether it is on the thread's own way.
    is_before: bool,
}

impl<'a> Context<'a, '_> {
    /// Whether a step ends the walks from an `invalidate` of this barrier.
    fn bounds(&self, step: &Step, id: Id, bounds: Bounds) -> bool {
        match &step.kind {
            StepKind::BarrierCall(BarrierCallId(call)) => {
                let call = &self.cfg.barrier_calls[*call];
                let is_own = id_of(self.cfg, &call.region).is_some_and(|other| other.shared == id.shared);
                let begins = call.method.action == PhaseAction::InitCollective;
                begins || call.method.action.observation().is_some() && (bounds.waits || !is_own)
            }
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
                bounds.warps || !team.group.is_of_a_warp()
            }
            StepKind::Group(GroupStep::Wait { .. }) | StepKind::Call(_) => true,
            StepKind::Memory(MemoryStep::Access(access)) => matches!(
                self.cfg.accesses[access.0].kind,
                AccessKind::AtomicRead | AccessKind::Atomic | AccessKind::Opaque | AccessKind::ByClosure
            ),
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Group(
                GroupStep::Collective { .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::WaitElected { .. },
            )
            | StepKind::Value(_)
            | StepKind::Copy(_)
            | StepKind::Token(_) => false,
        }
    }

    /// The steps at which other threads may be while one is at `step`. What bounds the walks is among them.
    fn beside(&self, block: BlockId, step: &Step, id: Id, bounds: Bounds) -> Vec<Beside<'a>> {
        let cfg = self.cfg;
        let (mut found, ends) = (Vec::new(), |step: &Step| self.bounds(step, id, bounds));
        let before = |block: BlockId| {
            let leads = move |from: &BlockId| cfg.blocks[from.0].end.successors().any(|next| next == block);
            (0..cfg.blocks.len()).map(BlockId).filter(leads)
        };
        let own = &cfg.blocks[block.0].steps;
        let position = own.iter().position(same_step(step)).unwrap_or_default();
        let mut work: Vec<BlockId> = Vec::new();
        if scan(&mut found, block, own[..position].iter().rev(), true, &ends) {
            work.extend(before(block));
        }
        let mut passed = BTreeSet::new();
        while let Some(block) = work.pop() {
            if passed.insert(block) && scan(&mut found, block, cfg.blocks[block.0].steps.iter().rev(), true, &ends) {
                work.extend(before(block));
            }
        }
        // Those that have taken another way than the thread.
        let is_divergent = |block: &&BlockId| {
            cfg.blocks[block.0].end.condition().is_some() && !self.values.tested(**block).is_uniform(Uniformity::Block)
        };
        let mut work: Vec<BlockId> =
            passed.iter().filter(is_divergent).flat_map(|block| cfg.blocks[block.0].end.successors()).collect();
        let mut passed = BTreeSet::new();
        while let Some(block) = work.pop() {
            if passed.insert(block) && scan(&mut found, block, cfg.blocks[block.0].steps.iter(), false, &ends) {
                work.extend(cfg.blocks[block.0].end.successors());
            }
        }
        found
    }
}

/// Adds the steps until one that ends the walk; returns whether there is none.
fn scan<'a>(
    found: &mut Vec<Beside<'a>>,
    block: BlockId,
    mut steps: impl Iterator<Item = &'a Step>,
    is_before: bool,
    ends: &impl Fn(&Step) -> bool,
) -> bool {
    steps.all(|step| {
        found.push(Beside { block, step, is_before });
        !ends(step)
    })
}

impl Check<'_, '_, '_> {
    /// Applies the rule to each `invalidate`.
    pub(super) fn ends(&mut self) {
        let cfg = self.cx.cfg;
        for (block, steps) in cfg.blocks.iter().enumerate() {
            for step in &steps.steps {
                if let StepKind::BarrierCall(BarrierCallId(call)) = step.kind
                    && cfg.barrier_calls[call].method.action == PhaseAction::Invalidate
                {
                    self.check_in_use(&cfg.barrier_calls[call], BlockId(block), step);
                }
            }
        }
    }

    /// Reports a use of the barrier by other threads than the one that invalidates it, if nothing orders the two. What comes after is
    /// reported where it is.
    ///
    /// ```text
    /// bar.arrive_and_wait(); if rank == 0 { bar.invalidate(); }       // others may not have left the wait yet
    /// if rank == 0 { bar.invalidate(); } else { bar.wait(token); }    // nor here
    /// ```
    fn check_in_use(&mut self, call: &BarrierCall, block: BlockId, step: &Step) {
        let Some(id) = id_of(self.cx.cfg, &call.region).filter(|id| is_exact(call, *id)) else { return };
        let is_followed = self.lives.ids.contains(&id) && self.cx.threads() != Some(1) && self.is_of_whole_block(id);
        let is_reported = self.reported.iter().any(|(_, shared, certain)| *shared == id.shared && *certain);
        if !is_followed || is_reported {
            return;
        }
        let all = |waits: bool, warps| self.cx.beside(block, step, id, Bounds { waits: !waits, warps });
        for waits in [false, true] {
            let in_warp = all(waits, true);
            let is_in_warp = |other: &Step| in_warp.iter().any(|known| std::ptr::eq(known.step, other));
            for Beside { block: at, step: other, is_before } in all(waits, false) {
                if !is_in_warp(other) && !self.cx.comes_from_another_warp(at, id) {
                    continue;
                }
                match &other.kind {
                    StepKind::BarrierCall(BarrierCallId(used)) => {
                        let used = &self.cx.cfg.barrier_calls[*used];
                        let is_same = id_of(self.cx.cfg, &used.region) == Some(id) && is_exact(used, id);
                        let is_own = used.barrier.form != BarrierForm::Remote;
                        if is_same
                            && is_own
                            && is_use(used.method.action, waits)
                            && self.are_others((block, step, call), (at, other))
                        {
                            return self.report_in_use(id, call.at, used.at, waits, Guard::default());
                        }
                    }
                    // What a function does on the thread's own way may end with a synchronization.
                    StepKind::Call(given) if !is_before => {
                        let arguments = self.lives.barrier_arguments(*given).into_iter();
                        for (argument, other_id, exact) in arguments {
                            if let Some(argument) = argument.filter(|_| exact && other_id == id)
                                && self.are_others((block, step, call), (at, other))
                            {
                                let uses = ParameterUses::of_barrier(BarrierUses::NEEDS);
                                let needs = Predicate::Uses(argument.slot, argument.argument, uses);
                                self.report_in_use(id, call.at, other.at, true, Guard::default().when(needs));
                            }
                        }
                    }
                    StepKind::Call(_)
                    | StepKind::Value(_)
                    | StepKind::Memory(_)
                    | StepKind::Copy(_)
                    | StepKind::Group(_)
                    | StepKind::Token(_) => {}
                }
            }
        }
    }

    fn report_in_use(&mut self, id: Id, at: SpanRange, used: SpanRange, waits: bool, guard: Guard) {
        self.report_if(id, guard, messages::barrier_invalidated_in_use(at, &self.cx.name(id), used, waits));
    }

    /// Whether several threads come to the two steps.
    fn are_others(&self, (block, step, call): (BlockId, &Step, &BarrierCall), (at, other): (BlockId, &Step)) -> bool {
        let one = self.threads_at(block, step, &call.region);
        let both = one.zip(self.election.at(at, same_step(other))).map(|(one, others)| others.or(&one));
        both.is_some_and(|both| both.max_threads() != MaxThreads::One)
    }
}

/// Whether a method uses the barrier as a wait does, or else as an arrival.
fn is_use(action: PhaseAction, waits: bool) -> bool {
    match action {
        PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => waits,
        PhaseAction::Arrive
        | PhaseAction::ArriveN
        | PhaseAction::ArriveAndDrop
        | PhaseAction::ExpectTx
        | PhaseAction::Copy => !waits,
        PhaseAction::Init | PhaseAction::InitCollective | PhaseAction::Invalidate => false,
    }
}
