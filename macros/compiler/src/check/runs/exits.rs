//! The ways out of the loops that have barriers of the block or a larger group. All threads of the block leave such a loop together
//! (`divergent_collective`), so that one number of iterations may stand for all threads.

use std::collections::BTreeMap;

use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, Cfg, End, GroupStep, StepKind};
use crate::check::uniform::control::{following, reachable};

/// Returns the branches of which one arm leaves a loop with a barrier for good, each with the block where the other goes on.
pub(super) fn of(cfg: &Cfg<'_>) -> BTreeMap<BlockId, BlockId> {
    let has_barrier = |block: BlockId| {
        cfg.blocks[block.0].steps.iter().any(|step| match &step.kind {
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => !team.group.is_of_a_warp(),
            StepKind::Group(_)
            | StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => false,
        })
    };
    let with_barriers: Vec<BlockId> = (0..cfg.blocks.len()).map(BlockId).filter(|block| has_barrier(*block)).collect();
    if with_barriers.is_empty() {
        return BTreeMap::new();
    }
    let after_barriers: Vec<(BlockId, BlockSet)> =
        with_barriers.into_iter().map(|block| (block, following(cfg, block))).collect();
    let mut exits = BTreeMap::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        let End::Branch { then, otherwise, .. } = block.end else { continue };
        let branch = BlockId(number);
        let from = [then, otherwise].map(|arm| (arm, reachable(cfg, arm, None)));
        let [(inside, stays)] = from.iter().filter(|(_, from)| from.contains(branch)).collect::<Vec<_>>()[..] else {
            continue;
        };
        if after_barriers.iter().any(|(barrier, after)| stays.contains(*barrier) && after.contains(branch)) {
            exits.insert(branch, *inside);
        }
    }
    exits
}
