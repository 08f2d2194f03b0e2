//! `unordered_remote_write`, between peers: all blocks of a cluster write the same element of one block.
//!
//! Only what the text makes certain: the owner and the index are the same for the threads of equal rank in all blocks, and so is what
//! decides whether a thread comes there. The simulator finds the rest.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::access_site::name_of;
use super::position;
use super::ranks::blocks_of_cluster;
use super::step_facts::StepFacts;
use crate::check::cfg::{
    AccessKind, BlockId, Cfg, MemoryStep, NodeId, Offset, Position, Region, Root, Select, Source, StepKind,
};
use crate::check::uniform::values::Values;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::model::query::Answer;

/// Reports an element of one block's shared memory that every block of the cluster writes.
///
/// ```text
/// let first = cluster.map_shared_rank(&array, 0);
/// first[0] = x;                                           // so does every other block
/// cluster.map_shared_rank(&array, t % 4)[t] = x;          // so does the thread of this rank in every other block
/// ```
pub(super) fn check<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    values: &Values<'_, 'f>,
    facts: &StepFacts,
    diags: &mut Diags,
) {
    if blocks_of_cluster(function).is_none_or(|blocks| blocks < 2) {
        return;
    }
    let by_rank = UniformByRank { cfg, values };
    // In a graph that was split, one access stands at several places.
    let mut reported = BTreeSet::new();
    for (here, block) in (0..).map(BlockId).zip(&cfg.blocks) {
        for step in &block.steps {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { continue };
            let access = &cfg.accesses[id.0];
            let Root::Remote(shared) = access.region.root else { continue };
            let is_plain = access.kind == AccessKind::Write;
            let writes = is_plain || access.kind == AccessKind::AsyncWrite;
            let path = &facts.access(id).path;
            if writes
                && values.is_reached(here)
                && (path.is_same_in_all_blocks() || is_plain && by_rank.selects_alike(&access.region))
                && values.control.deciders(here).all(|decider| by_rank.is_decided_alike(decider))
                && reported.insert(position(access.at))
            {
                diags.push(messages::same_element_written(access.at, &name_of(function, cfg, shared)));
            }
        }
    }
}

/// The question which values are the same for the threads of equal rank in all blocks of the cluster.
struct UniformByRank<'a, 'f> {
    cfg: &'a Cfg<'f>,
    values: &'a Values<'a, 'f>,
}

impl UniformByRank<'_, '_> {
    /// Whether the threads of equal rank in all blocks select the same element of the same block, which each thread chooses.
    fn selects_alike(&self, region: &Region) -> bool {
        let is_alike = |node: NodeId| self.is_alike(node, &mut BTreeSet::new());
        let index = |select: &Select| match select {
            Select::At(index) => is_alike(*index),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => false,
        };
        let varies = |rank: NodeId| !self.values.level(rank).is_uniform(Uniformity::Block);
        region.via.is_none()
            && region.rank.is_some_and(|rank| varies(rank) && is_alike(rank))
            && !region.path.is_empty()
            && region.path.iter().all(index)
    }

    fn is_decided_alike(&self, block: BlockId) -> bool {
        self.cfg.blocks[block.0].end.condition().is_none_or(|on| self.is_alike(on, &mut BTreeSet::new()))
    }

    fn is_alike(&self, node: NodeId, seen: &mut BTreeSet<NodeId>) -> bool {
        let node = self.cfg.origin(node);
        // A value that depends on itself is one that a loop computes.
        if self.values.level(node).is_uniform(Uniformity::Cluster) {
            return true;
        }
        if !seen.insert(node) {
            return false;
        }
        let of_block = |answer: Answer| match answer {
            Answer::ThreadIndex => true,
            Answer::ThreadRank
            | Answer::GroupRank
            | Answer::GroupCount
            | Answer::ThreadCount
            | Answer::BlockRank
            | Answer::BlockCount
            | Answer::Number
            | Answer::Extent => false,
        };
        let operands = |seen: &mut BTreeSet<NodeId>| {
            self.cfg.nodes[node.0].operands.iter().all(|operand| self.is_alike(*operand, seen))
        };
        match &self.cfg.nodes[node.0].source {
            Source::ThreadRank | Source::Integer(_) | Source::Constant(_) => true,
            Source::Operands | Source::Binary(_) | Source::Not | Source::Round(..) => operands(seen),
            Source::Known { .. } => {
                let of_rank = |position: &Position| position.rank_in.is_none() && position.offset == Offset::Zero;
                self.cfg.positions.get(&node).is_some_and(of_rank)
                    || self.cfg.queries.get(&node).is_some_and(|(_, query)| of_block(query.answer))
            }
            Source::Counter { .. }
            | Source::Read(_)
            | Source::Param(_)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        }
    }
}
