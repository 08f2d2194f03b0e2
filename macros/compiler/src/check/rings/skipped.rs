//! Branches and loops that are passed over as a whole, because nothing on their arms concerns barriers: what they access, and where the
//! lanes of a warp meet in them.

use super::kernel::{Refusal, is_within_warp};
use super::steps::meets;
use super::value::Value;
use super::walk::Walker;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{AccessKind, BlockId, Extent, GroupStep, MemoryStep, Step as GraphStep, StepKind};

impl Walker<'_, '_, '_, '_> {
    /// Loses what the arms of a branch set to what is not counted.
    pub(super) fn lose_on_arms(&self, block: BlockId) {
        let Some((arms, _)) = self.kernel().regions.get(&block) else { return };
        for arm in arms.iter() {
            for (index, step) in self.kernel().acting(arm) {
                if let Some((variable, value, Extent::Whole)) = step.kind.set()
                    && self.evaluator.counter(variable).is_some()
                    && self.evaluator.set(variable, value, (arm, index)) == Value::Unknown
                {
                    self.evaluator.lose(variable);
                }
            }
        }
    }

    /// Returns the block where the arms of a branch have merged if nothing on them concerns barriers. What they access is taken to be
    /// accessed.
    pub(super) fn skip(&mut self, block: BlockId) -> Result<Option<BlockId>, Refusal> {
        let kernel = self.evaluator.kernel;
        let counts = |variable| self.evaluator.counter(variable).is_some();
        let Some((arms, Some(end))) = kernel.regions.get(&block).filter(|_| kernel.is_skipped(block, &counts)) else {
            return Ok(None);
        };
        let end = *end;
        let on = kernel.on_arms(block);
        let certain = self.evaluator.arguments.map(|_| self.certain(block)).unwrap_or_default();
        // A loop that waits for another thread's store orders what follows.
        let is_atomic = |step: &GraphStep| match step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                matches!(kernel.cfg.accesses[id.0].kind, AccessKind::Atomic | AccessKind::AtomicRead)
            }
            StepKind::Memory(MemoryStep::Fence) => true,
            StepKind::Memory(MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => false,
        };
        let mut steps = arms.iter().flat_map(|arm| kernel.acting(arm));
        self.program.allows_more |= on.is_some_and(|on| on.repeats) && steps.any(|(_, step)| is_atomic(step));
        let met = self.evaluator.arguments.and_then(|_| on?.meeting);
        // Where each access comes after the collectives of its iteration, so does the last one. Once is enough: nothing between the collectives
        // concerns others.
        let follows = met.is_some() && self.accesses_follow(arms);
        if let Some((point, at)) = met.filter(|_| follows) {
            self.meet_warp(point, at, true);
        }
        // What has been accessed is accessed again, or it is not: the first time is certain.
        let again = |walker: &Self, arm: BlockId| {
            walker.evaluator.arguments.is_some() && !certain.contains(&arm) && walker.has_come_to(arm)
        };
        for arm in arms.iter() {
            for (index, step) in kernel.acting(arm) {
                if let StepKind::Memory(MemoryStep::Access(_)) = step.kind
                    && !again(self, arm)
                {
                    self.access((arm, index), step, certain.contains(&arm))?;
                }
                if let StepKind::Call(call) = step.kind {
                    self.program.allows_more |= !kernel.is_taken_for_quiet(call.0);
                }
                if let StepKind::Group(GroupStep::Collective { team, .. }) = &step.kind {
                    self.program.allows_more |= !is_within_warp(team) || self.evaluator.arguments.is_none();
                }
            }
        }
        self.passed_over.extend(&certain);
        self.flush();
        if let Some((point, at)) = met.filter(|_| !follows) {
            self.program.meets_aside |= self.accesses_slots(block);
            self.meet_warp(point, at, true);
        }
        Ok(Some(end))
    }

    /// Whether the collectives on the arms of a branch are all in one block, with the accesses of slots after them.
    fn accesses_follow(&self, arms: &BlockSet) -> bool {
        let steps = |arm: BlockId| &self.kernel().cfg.blocks[arm.0].steps[..];
        let mut meeting = arms.iter().filter(|arm| steps(*arm).iter().any(meets));
        let (Some(block), None) = (meeting.next(), meeting.next()) else { return false };
        let last = steps(block).iter().rposition(meets);
        arms.iter().all(|arm| {
            let first = steps(arm).iter().position(|step| self.is_access(step));
            first.is_none_or(|first| arm == block && last.is_some_and(|last| last < first))
        })
    }
}
