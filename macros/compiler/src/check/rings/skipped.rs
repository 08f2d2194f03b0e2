//! Branches and loops that are passed over as a whole, because nothing on their arms concerns barriers: what they access, where the lanes of a warp
//! meet in them, and which loops may wait for what other threads write, so that they are not passed over.

use super::kernel::{Kernel, Refusal, is_within_warp};
use super::steps::meets;
use super::value::{Value, reached_from};
use super::walk::Walker;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessId, AccessKind, BlockId, End, Extent, GroupStep, MemoryStep, NodeId, Root, Source, Step as GraphStep,
    StepKind, ValueStep,
};

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
        // A loop that waits for another thread's store orders what follows. One that only adds to something, as to sums in global memory, waits
        // for nothing.
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
        let may_wait = on.is_some_and(|on| on.repeats) && steps.any(|(_, step)| is_atomic(step));
        self.program.allows_more |= may_wait && kernel.asks_others(block, arms);
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

impl Kernel<'_, '_> {
    /// Whether a value that may be what another thread has written decides about a branch, or on its arms.
    fn asks_others(&self, block: BlockId, arms: &BlockSet) -> bool {
        let learned = self.learned.get_or_init(|| reached_from(self, |node| self.is_learned(node)));
        arms.iter().chain([block]).any(|block| match &self.cfg.blocks[block.0].end {
            End::Branch { on, .. } => learned.contains(on),
            End::Option { .. } => true,
            End::Goto(_) | End::Leave | End::Never => false,
        })
    }

    /// Whether a value comes out of memory that threads write.
    fn is_learned(&self, node: NodeId) -> bool {
        let source = &self.cfg.nodes[node.0].source;
        if matches!(source, Source::Call { .. }) || matches!(source, Source::Load(root) if *root != Root::ReadOnly) {
            return true;
        }
        let Some((block, index)) = self.evaluated(node) else { return false };
        let before = self.cfg.blocks[block.0].steps[..index].iter().rev();
        let mut before = before.take_while(|step| !matches!(step.kind, StepKind::Value(ValueStep::Evaluate(_))));
        let is_write = |access: &AccessId| self.cfg.accesses[access.0].kind == AccessKind::Write;
        before.any(|step| matches!(&step.kind, StepKind::Memory(MemoryStep::Access(access)) if !is_write(access)))
    }
}
