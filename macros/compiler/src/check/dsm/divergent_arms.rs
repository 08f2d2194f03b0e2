//! Branches at which blocks of a cluster may diverge: the accesses of some in one arm are concurrent with those of others in the
//! other arm. No barrier of the cluster comes between such a branch and the merge of its arms (`divergent_collective`), so it is
//! enough that the analysis of each arm also starts from the accesses of both.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::index_analysis::IndexAnalysis;
use crate::check::cfg::{BlockId, Cfg, End, GroupStep, Step, StepKind, Variable, spans_cluster};
use crate::check::uniform::values::Values;

/// The edges that an analysis adds to the graph for divergent branches.
#[derive(Debug, Default)]
pub(super) struct DivergentArms {
    /// The blocks that begin an arm, for each block that ends one.
    edges: Vec<Vec<BlockId>>,
    /// The variables that the arms may set differently and that indexes depend on, for each block and edge.
    forgotten: Vec<Vec<BTreeSet<Variable>>>,
}

/// Whether all threads of the cluster execute a step together.
pub(super) fn is_cluster_collective(step: &Step) -> bool {
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
        | StepKind::Call(_)
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
            // If a barrier comes between, `divergent_collective` requires that all threads take the same arm.
            if tested.is_uniform(Uniformity::Cluster) || steps.any(is_cluster_collective) {
                continue;
            }
            for last in region.iter() {
                let exit = &cfg.blocks[last.0].end;
                let ends_arm = matches!(exit, End::Leave) || exit.successors().any(|next| Some(next) == end);
                if !ends_arm || last == branch {
                    continue;
                }
                for arm in cfg.blocks[branch.0].end.successors() {
                    let edges = &mut arms.edges[last.0];
                    let edge = edges.iter().position(|known| *known == arm).unwrap_or_else(|| {
                        edges.push(arm);
                        arms.forgotten[last.0].push(BTreeSet::new());
                        edges.len() - 1
                    });
                    let assigned = values.control.assigned.get(&branch).into_iter().flatten();
                    let relevant = assigned.filter(|variable| indexes.is_relevant(**variable));
                    arms.forgotten[last.0][edge].extend(relevant);
                }
            }
        }
        arms
    }

    /// The blocks that the edges from this one lead to.
    pub(super) fn edges_from(&self, block: BlockId) -> &[BlockId] {
        &self.edges[block.0]
    }

    /// The variables whose relation to indexes is lost on the edge between two blocks, if there is such an edge.
    pub(super) fn forgotten(&self, from: BlockId, to: BlockId) -> Option<&BTreeSet<Variable>> {
        let edge = self.edges[from.0].iter().position(|arm| *arm == to)?;
        Some(&self.forgotten[from.0][edge])
    }
}
