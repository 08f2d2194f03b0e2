//! Whether a barrier of a warp publishes an `init`: not to the threads of another warp.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::Context;
use super::lifecycle::Id;
use crate::check::cfg::{BlockId, StepKind};
use crate::check::reached::Reached;

impl Context<'_, '_> {
    /// Whether a thread of a warp may come to a block of the graph that is not the warp of the thread that initializes the barrier.
    pub(super) fn comes_from_another_warp(&self, block: BlockId, id: Id) -> bool {
        let begins = |block: &BlockId| {
            self.cfg.blocks[block.0].steps.iter().any(|step| match step.kind {
                StepKind::BarrierCall(call) => {
                    self.cfg.barrier_calls[call.0].method.action.begins() && self.is_of(call, id.shared)
                }
                StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => false,
            })
        };
        let inits = || -> BTreeSet<BlockId> { (0..self.cfg.blocks.len()).map(BlockId).filter(begins).collect() };
        self.threads().is_none_or(|threads| threads > 32)
            && (self.values.is_reached_uniformly(block, Uniformity::Block)
                || Reached::of(self.function, self.cfg).by_another_warp(block, &inits()))
    }
}
