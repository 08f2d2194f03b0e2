//! Branches at which blocks of a cluster may part: what some do on one side happens while others are on the other. No
//! barrier of the cluster is between such a branch and where its ways meet (`divergent_collective`), so that it is
//! enough to let what was done on each side be seen on both.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::numbers::Numbers;
use super::phases::is_for_cluster;
use crate::check::cfg::{BlockId, Cfg, End, Place, Step, StepKind};
use crate::check::uniform::values::Values;

#[derive(Debug, Default)]
pub(super) struct Sides {
    /// From where the sides end to where they begin.
    edges: Vec<Vec<BlockId>>,
    /// What may be set differently on them, of what numbers are counted from, edge by edge.
    forgotten: Vec<Vec<BTreeSet<Place>>>,
}

/// Whether all threads of the cluster come to a step together.
pub(super) fn is_barrier(step: &Step) -> bool {
    match &step.kind {
        StepKind::Arrive { group, .. } | StepKind::Wait { group, .. } => is_for_cluster(*group),
        StepKind::Collective { team, .. } => is_for_cluster(team.group),
        StepKind::Evaluate(_)
        | StepKind::Set { .. }
        | StepKind::Access(_)
        | StepKind::Renew(_)
        | StepKind::Together { .. }
        | StepKind::Aligned { .. }
        | StepKind::Copy(_)
        | StepKind::Fence
        | StepKind::Phase(_)
        | StepKind::Call { .. }
        | StepKind::Move { .. }
        | StepKind::Return(_)
        | StepKind::HandOver { .. }
        | StepKind::Clear { .. }
        | StepKind::Drop { .. } => false,
    }
}

impl Sides {
    pub(super) fn of_cfg(cfg: &Cfg<'_>, values: &Values<'_, '_>, numbers: &Numbers<'_, '_>) -> Sides {
        let count = cfg.blocks.len();
        let mut sides = Sides { edges: vec![Vec::new(); count], forgotten: vec![Vec::new(); count] };
        for (branch, region, end) in values.control.regions(cfg) {
            let tested = values.tested(branch);
            let mut steps = region.iter().flat_map(|block| &cfg.blocks[block.0].steps);
            // Where a barrier is between, all go one way: that is asked elsewhere.
            if tested.at_most.covers(Uniformity::Cluster) && tested.unknown.is_empty() || steps.any(is_barrier) {
                continue;
            }
            for last in region.iter() {
                let way = &cfg.blocks[last.0].end;
                let leaves = matches!(way, End::Leave) || way.successors().any(|next| Some(next) == end);
                if !leaves || last == branch {
                    continue;
                }
                for side in cfg.blocks[branch.0].end.successors() {
                    let edges = &mut sides.edges[last.0];
                    let edge = edges.iter().position(|known| *known == side).unwrap_or_else(|| {
                        edges.push(side);
                        sides.forgotten[last.0].push(BTreeSet::new());
                        edges.len() - 1
                    });
                    let assigned = values.control.assigned.get(&branch).into_iter().flatten();
                    let counted = assigned.filter(|place| numbers.counts_from(**place));
                    sides.forgotten[last.0][edge].extend(counted);
                }
            }
        }
        sides
    }

    pub(super) fn of(&self, block: BlockId) -> &[BlockId] {
        &self.edges[block.0]
    }

    /// Of the edge from one block to another, if there is one.
    pub(super) fn forgotten(&self, from: BlockId, to: BlockId) -> Option<&BTreeSet<Place>> {
        let edge = self.edges[from.0].iter().position(|side| *side == to)?;
        Some(&self.forgotten[from.0][edge])
    }
}
