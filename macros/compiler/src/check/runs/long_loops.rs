//! Long loops that only compute and access memory: a run may pass over what is left of one, so that it comes further.
//!
//! A loop is long by its number of iterations, or by the steps that it takes: a product of tiles has few iterations of many steps each.

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
    /// Notes the number of steps that are left before the loops that the thread comes to after a block.
    pub(super) fn enter_loops(&mut self, before: BlockId, left: usize) {
        for head in &self.runs.plan.blocks[before.0].enters {
            self.left_before[head.0] = left;
        }
    }

    /// Whether a block is the head of a loop that only computes and accesses memory, and that has had enough iterations, of the steps that
    /// there were at first (`all`) and are `left` now.
    pub(super) fn is_in_long_loop(&self, head: BlockId, all: usize, left: usize) -> bool {
        let has_taken_most = || self.iterations[head.0] > 0 && self.left_before[head.0].saturating_sub(left) > left;
        self.runs.plan.blocks[head.0].heads_plain_loop
            && (left < all / 2 && self.iterations[head.0] >= FOLLOWED || has_taken_most())
    }
}
