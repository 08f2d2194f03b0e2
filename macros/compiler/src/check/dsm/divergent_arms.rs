//! Branches at which blocks of a cluster may part: what some do on one side happens while others are on the other. No
//! barrier of the cluster is between such a branch and where its ways meet (`divergent_collective`), so that it is
//! enough to let what was done on each side be seen on both.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::index_analysis::IndexAnalysis;
use crate::check::cfg::{BlockId, Cfg, End, GroupStep, Step, StepKind, Variable, spans_cluster};
use crate::check::uniform::values::Values;

#[derive(Debug, Default)]
pub(super) struct DivergentArms {
    /// From where the arms end to where they begin.
    edges: Vec<Vec<BlockId>>,
    /// PhaseAction may be set differently on them, of what numbers are counted from, edge by edge.
    forgotten: Vec<Vec<BTreeSet<Variable>>>,
}

/// Whether all threads of the cluster come to a step together.
pub(super) fn is_barrier(step: &Step) -> bool {
    match &step.kind {
        StepKind::Group(GroupStep::Arrive { group, .. }) | StepKind::Group(GroupStep::Wait { group, .. }) => {
            spans_cluster(*group)
        }
        StepKind::Group(GroupStep::Collective { team, .. }) => spans_cluster(team.group),
        StepKind::Value(_)
        | StepKind::Memory(_)
        // Some threads wait while others have gone on.
        | StepKind::Group(GroupStep::ArriveForgotten { .. } | GroupStep::WaitElected { .. })
        | StepKind::Group(GroupStep::FormGroup(_) | GroupStep::Convergent { .. } | GroupStep::Aligned { .. })
        | StepKind::Copy(_)
        | StepKind::BarrierCall(_)
        | StepKind::Call { .. }
        | StepKind::Token(_) => false,
    }
}

impl DivergentArms {
    pub(super) fn of_cfg(cfg: &Cfg<'_>, values: &Values<'_, '_>, indexes: &IndexAnalysis<'_, '_>) -> DivergentArms {
        let count = cfg.blocks.len();
        let mut arms = DivergentArms { edges: vec![Vec::new(); count], forgotten: vec![Vec::new(); count] };
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
                    let edges = &mut arms.edges[last.0];
                    let edge = edges.iter().position(|known| *known == side).unwrap_or_else(|| {
                        edges.push(side);
                        arms.forgotten[last.0].push(BTreeSet::new());
                        edges.len() - 1
                    });
                    let assigned = values.control.assigned.get(&branch).into_iter().flatten();
                    let counted = assigned.filter(|variable| indexes.counts_from(**variable));
                    arms.forgotten[last.0][edge].extend(counted);
                }
            }
        }
        arms
    }

    pub(super) fn of(&self, block: BlockId) -> &[BlockId] {
        &self.edges[block.0]
    }

    /// Of the edge from one block to another, if there is one.
    pub(super) fn forgotten(&self, from: BlockId, to: BlockId) -> Option<&BTreeSet<Variable>> {
        let edge = self.edges[from.0].iter().position(|side| *side == to)?;
        Some(&self.forgotten[from.0][edge])
    }
}
