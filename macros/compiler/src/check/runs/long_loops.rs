//! Long loops that only compute and access memory: a run may pass over what is left of one, so that it comes further.

use super::Thread;
use crate::check::cfg::{BlockId, Step, StepKind};

/// The number of iterations of a loop that are followed at least before the rest may be passed over.
const FOLLOWED: u64 = 8;

impl Thread<'_, '_, '_> {
    /// Whether a block is the head of a loop that has had some iterations, and that only computes and accesses memory.
    pub(super) fn is_in_long_loop(&self, head: BlockId) -> bool {
        let cfg = self.runs.cfg;
        let is_plain = |step: &Step| match step.kind {
            StepKind::Value(_) | StepKind::Memory(_) => true,
            StepKind::Call(call) => cfg.calls[call.0].is_of_values(),
            StepKind::Group(_) | StepKind::Token(_) | StepKind::BarrierCall(_) | StepKind::Copy(_) => false,
        };
        cfg.counted.contains_key(&head)
            && self.iterations.get(&head).is_some_and(|begun| *begun >= FOLLOWED)
            && self.runs.regions.get(&head).is_some_and(|(arms, end)| {
                end.is_some() && arms.iter().all(|block| cfg.blocks[block.0].steps.iter().all(is_plain))
            })
    }
}
