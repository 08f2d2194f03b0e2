//! Branches at which blocks of a cluster may part: what some do on one side happens while others are on the other. No
//! barrier of the cluster is between such a branch and where its ways meet (`divergent_collective`), so that it is
//! enough to let what was done on each side be seen on both.

use std::collections::BTreeMap;

use crate::check::cfg::{BlockId, Cfg, End, Place};
use crate::check::scope::Scope;
use crate::check::uniform::values::Values;

#[derive(Debug, Default)]
pub(super) struct Sides {
    /// From where the sides end to where they begin.
    edges: Vec<Vec<BlockId>>,
    /// What may be set differently on them.
    forgotten: BTreeMap<(BlockId, BlockId), Vec<Place>>,
}

impl Sides {
    pub(super) fn of_cfg(cfg: &Cfg<'_>, values: &Values<'_, '_>) -> Sides {
        let mut sides = Sides { edges: vec![Vec::new(); cfg.blocks.len()], forgotten: BTreeMap::new() };
        for (branch, region, end) in values.control.regions(cfg) {
            let tested = values.tested(branch);
            if tested.scope.covers(Scope::Cluster) && tested.unknown.is_empty() {
                continue;
            }
            let set: Vec<Place> = values.control.assigned.get(&branch).into_iter().flatten().copied().collect();
            for last in region.iter() {
                let way = &cfg.blocks[last.0].end;
                let leaves = matches!(way, End::Leave) || way.successors().any(|next| Some(next) == end);
                if !leaves || last == branch {
                    continue;
                }
                for side in cfg.blocks[branch.0].end.successors() {
                    if !sides.edges[last.0].contains(&side) {
                        sides.edges[last.0].push(side);
                    }
                    sides.forgotten.entry((last, side)).or_default().extend(&set);
                }
            }
        }
        sides
    }

    pub(super) fn of(&self, block: BlockId) -> &[BlockId] {
        &self.edges[block.0]
    }

    pub(super) fn forgotten(&self, from: BlockId, to: BlockId) -> &[Place] {
        self.forgotten.get(&(from, to)).map_or(&[], Vec::as_slice)
    }
}
