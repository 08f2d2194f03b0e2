//! Whether a thread that sends a tile again has learned since the last time that the receivers have read it: every path back to a
//! multicast passes a barrier of the cluster, or a wait at a phase barrier that tells of them. One tells of the receivers if each of them
//! arrives at that of the sender, or if a thread arrives there that has waited at such a barrier.
//!
//! A loop over tiles, whose number is the loop's own, sends each once: the path has to leave the loop and come back.

use std::collections::BTreeSet;

use super::rounds::Rounds;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    BlockId, Call, Cfg, GroupStep, NodeId, Region, Root, Select, Shared, Source, Step, StepKind, Variable,
    spans_cluster,
};
use crate::check::completion::{barrier_of, may_be_same, waits_of};
use crate::check::reached::OfBlock;
use crate::check::uniform::control::following;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;

/// A place in the graph: a block, and the index of a step.
type Point = (BlockId, usize);

/// The waits of a kernel that tell of peers.
pub(super) struct Released<'a, 'f> {
    cfg: &'a Cfg<'f>,
    /// The barriers at which a wait tells of peers.
    told: BTreeSet<Shared>,
    /// Whether some thread has such a wait, so that a barrier of the block may pass on what it learned.
    by_some: bool,
}

impl<'a, 'f> Released<'a, 'f> {
    /// `pairs` are the ranks of a sender and of a receiver, and `blocks` the threads of each block, with what they reach.
    pub(super) fn of(
        cfg: &'a Cfg<'f>,
        pairs: &BTreeSet<(usize, usize)>,
        of_rank: &[(OfBlock<'_, '_>, BlockSet)],
    ) -> Released<'a, 'f> {
        let arrivals = |block: BlockId| {
            let calls = cfg.blocks[block.0].steps.iter().enumerate();
            calls.filter_map(|(index, step)| match step.kind {
                StepKind::BarrierCall(call) => {
                    let call = &cfg.barrier_calls[call.0];
                    call.method.action.arrives().then_some((index, &call.region))
                }
                StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => None,
            })
        };
        let blocks = || (0..cfg.blocks.len()).map(BlockId);
        let remote = |block: BlockId| {
            let calls = arrivals(block).filter(|(_, region)| matches!(region.root, Root::Remote(_)));
            calls.filter_map(|(_, region)| Some((block, barrier_of(region)?, region.rank))).collect::<Vec<_>>()
        };
        let remote: Vec<(BlockId, Shared, Option<NodeId>)> = blocks().flat_map(remote).collect();
        let is_told_of_all = |barrier: Shared| {
            pairs.iter().all(|(sender, receiver)| {
                let Some((thread, reached)) = of_rank.get(*receiver) else { return true };
                remote.iter().any(|(block, at, rank)| {
                    let to = rank.and_then(|rank| thread.value(rank));
                    may_be_same(*at, barrier) && reached.contains(*block) && to.is_none_or(|to| to == *sender as u64)
                })
            })
        };
        let told = remote.iter().map(|(_, barrier, _)| *barrier).filter(|barrier| is_told_of_all(*barrier)).collect();
        let mut released = Released { cfg, told, by_some: false };
        loop {
            let before = released.told.len();
            for block in blocks() {
                for (index, step) in cfg.blocks[block.0].steps.iter().enumerate() {
                    if !waits_of(cfg, step).iter().any(|barrier| released.tells(*barrier)) {
                        continue;
                    }
                    released.by_some = true;
                    let after = arrivals(block).filter(|(other, _)| *other > index).map(|(_, region)| region);
                    let later = following(cfg, block);
                    let later = blocks()
                        .filter(|block| later.contains(*block))
                        .flat_map(|block| arrivals(block).map(|(_, region)| region).collect::<Vec<_>>());
                    let own = after.chain(later).filter_map(barrier_of).collect::<Vec<_>>();
                    released.told.extend(own);
                }
            }
            if released.told.len() == before {
                return released;
            }
        }
    }

    /// Whether a thread of the sender may come back to a multicast of this tile without a wait that tells of peers.
    pub(super) fn may_be_missing(&self, sent: Point, tile: &Region, sender: &OfBlock<'_, '_>) -> bool {
        let index = tile.path.first().and_then(|first| match first {
            Select::At(index) => self.counter(*index, DEPTH),
            Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
        });
        match index.and_then(|counter| self.start_of(counter)) {
            Some(start) => {
                let end = (start, self.cfg.blocks[start.0].steps.len());
                let any = Rounds::default();
                self.is_reached((sent.0, sent.1 + 1), end, &any, sender) && self.is_reached(end, sent, &any, sender)
            }
            None => self.is_reached((sent.0, sent.1 + 1), sent, &Rounds::of(self.cfg, tile), sender),
        }
    }

    /// Whether a thread of the sender may come from one point to another without a wait that tells of peers.
    fn is_reached(&self, from: Point, to: Point, rounds: &Rounds, sender: &OfBlock<'_, '_>) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![(from, false)];
        while let Some(((block, first), is_anew)) = work.pop() {
            let is_anew = is_anew || rounds.before == Some(block);
            let content = &self.cfg.blocks[block.0];
            let mut steps = content.steps.iter().enumerate().skip(first);
            let stops = steps.find_map(|(index, step)| match () {
                () if (block, index) == to => Some(true),
                () if self.is_told_at(step) => Some(false),
                () => None,
            });
            match stops {
                Some(true) => return true,
                Some(false) => continue,
                None if (block, content.steps.len()) == to => return true,
                None => {
                    let is_taken = |next: &BlockId| {
                        sender.takes(block, *next) && (is_anew || !rounds.first_rounds.contains(&(block, *next)))
                    };
                    let next = content.end.successors().filter(is_taken).filter(|next| seen.insert((*next, is_anew)));
                    work.extend(next.map(|next| ((next, 0), is_anew)));
                }
            }
        }
        false
    }

    /// Whether a wait at a barrier tells of peers.
    fn tells(&self, barrier: Shared) -> bool {
        self.told.iter().any(|told| may_be_same(*told, barrier))
    }

    fn is_told_at(&self, step: &Step) -> bool {
        match &step.kind {
            StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
                spans_cluster(team.group) || team.group == Group::ThreadBlock && self.by_some
            }
            StepKind::Group(GroupStep::Wait { group, .. } | GroupStep::WaitElected { group, .. }) => {
                spans_cluster(*group) || *group == Group::ThreadBlock && self.by_some
            }
            StepKind::Group(
                GroupStep::Collective { barrier: false, .. }
                | GroupStep::Convergent { .. }
                | GroupStep::Aligned { .. }
                | GroupStep::FormGroup(_)
                | GroupStep::Arrive { .. }
                | GroupStep::ArriveForgotten { .. },
            )
            | StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Token(_)
            | StepKind::Copy(_) => false,
            StepKind::BarrierCall(_) => waits_of(self.cfg, step).iter().any(|barrier| self.tells(*barrier)),
            StepKind::Call(call) => {
                let call: &Call<'_> = &self.cfg.calls[call.0];
                let is_given_cluster = call.teams.iter().flatten().any(|team| spans_cluster(team.group));
                is_given_cluster || waits_of(self.cfg, step).iter().any(|barrier| self.tells(*barrier))
            }
        }
    }

    /// The variable that counts a value: it is a sum or a product of the variable and of what does not change.
    fn counter(&self, node: NodeId, depth: u8) -> Option<Variable> {
        let (cfg, depth) = (self.cfg, depth.checked_sub(1)?);
        match &cfg.nodes[node.0].source {
            Source::Read(variable) => match cfg.only_value(*variable) {
                Some(value) => self.counter(value, depth),
                None => Some(*variable),
            },
            Source::Binary(BinaryOp::Add | BinaryOp::Mul) => {
                cfg.nodes[node.0].operands.iter().find_map(|operand| self.counter(*operand, depth))
            }
            Source::Counter { of, .. } => Some(*of),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// The block before the loop over a range that a variable counts.
    fn start_of(&self, counter: Variable) -> Option<BlockId> {
        let counts = |first: BlockId| {
            self.cfg.blocks[first.0].steps.iter().find_map(|step| step.kind.set()).map(|(variable, ..)| variable)
        };
        self.cfg.counted.values().find(|counted| counts(counted.inside) == Some(counter)).map(|counted| counted.before)
    }
}

/// The number of operators and variables through which an index is followed.
const DEPTH: u8 = 16;
