//! The ways out of the loops that have barriers of the block or a larger group. All threads of the block leave such a loop together
//! (`divergent_collective`), so that one number of iterations may stand for all threads.

use std::collections::BTreeMap;

use crate::check::cfg::{BlockId, Cfg, End, GroupStep, StepKind};
use crate::check::uniform::control::Control;

/// Returns the branches of which one arm leaves a loop with a barrier for good, each with the block where the other goes on.
pub(super) fn of(cfg: &Cfg<'_>, control: &Control) -> BTreeMap<BlockId, BlockId> {
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
    let mut exits = BTreeMap::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        let End::Branch { then, otherwise, .. } = block.end else { continue };
        let branch = BlockId(number);
        let comes_back = |arm: BlockId| arm == branch || control.following(arm).contains(branch);
        let inside = match (comes_back(then), comes_back(otherwise)) {
            (true, false) => then,
            (false, true) => otherwise,
            (true, true) | (false, false) => continue,
        };
        let is_around = |barrier: &BlockId| {
            (*barrier == inside || control.following(inside).contains(*barrier))
                && control.following(*barrier).contains(branch)
        };
        if with_barriers.iter().any(is_around) {
            exits.insert(branch, inside);
        }
    }
    exits
}
