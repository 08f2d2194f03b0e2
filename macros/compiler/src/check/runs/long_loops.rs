//! Long loops that only compute and access memory: a run may pass over what is left of one, so that it comes further.

use super::Thread;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, Cfg, Step, StepKind};

/// The number of iterations of a loop that are followed at least before the rest may be passed over.
const FOLLOWED: u64 = 8;

/// Whether a loop with these blocks only computes and accesses memory.
pub(super) fn is_plain(cfg: &Cfg<'_>, blocks: &BlockSet) -> bool {
    let is_plain = |step: &Step| match step.kind {
        StepKind::Value(_) | StepKind::Memory(_) => true,
        StepKind::Call(call) => cfg.calls[call.0].is_of_values(),
        StepKind::Group(_) | StepKind::Token(_) | StepKind::BarrierCall(_) | StepKind::Copy(_) => false,
    };
    blocks.iter().all(|block| cfg.blocks[block.0].steps.iter().all(is_plain))
}

impl Thread<'_, '_, '_> {
    /// Whether a block is the head of a loop that has had some iterations, and that only computes and accesses memory.
    pub(super) fn is_in_long_loop(&self, head: BlockId) -> bool {
        self.runs.plan.blocks[head.0].heads_plain_loop && self.iterations[head.0] >= FOLLOWED
    }
}
