//! Which threads of a block come to which parts of a function, rank by rank: a thread takes only one side of a branch whose condition is
//! calculated from literals, the sizes of the block and its own rank. All other branches have two sides for it. The same of the blocks
//! of a cluster.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::bit_set::BlockSet;
use super::cfg::{BlockId, Cfg, NodeId, Offset, Source};
use super::constant_propagation::operate;
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::{Answer, UniformAt};

/// No block has more threads.
const MOST_THREADS: u64 = 1024;

/// The number of operators and variables through which a condition is followed.
const DEPTH: u8 = 16;

/// Threads that take the same sides of all branches.
struct Alike {
    /// The sides that they take, by branch; `None` for a side that their ranks do not decide.
    outcomes: Vec<Option<bool>>,
    /// The blocks of the graph that they come to.
    set: BlockSet,
    ranks: Vec<u64>,
}

/// The sets of blocks of the graph that threads come to, each with the ranks of those threads. Several may be equal.
pub(super) struct Reached {
    branches: Vec<BlockId>,
    sets: Vec<Alike>,
}

impl Reached {
    pub(super) fn of(function: &Function, cfg: &Cfg<'_>) -> Reached {
        let size = function.options.block.as_ref().and_then(|block| block.count());
        let branches: Vec<(BlockId, NodeId)> =
            (0..cfg.blocks.len()).filter_map(|at| Some((BlockId(at), cfg.blocks[at].end.condition()?))).collect();
        let mut sets: BTreeMap<Vec<Option<bool>>, Alike> = BTreeMap::new();
        // The outcomes of the first thread; then, of each thread, those for which its rank is asked.
        let mut outcomes: Vec<Option<bool>> = vec![None; branches.len()];
        let mut by_rank: Vec<usize> = (0..branches.len()).collect();
        for rank in 0..size.unwrap_or(MOST_THREADS).min(MOST_THREADS) {
            by_rank.retain(|number| {
                let thread = Thread { cfg, size, rank: Some(rank), block: None, asked: Cell::new(false) };
                outcomes[*number] = thread.value(branches[*number].1, DEPTH).map(|value| value != 0);
                thread.asked.get()
            });
            let alike = || {
                let known = branches.iter().zip(&outcomes).filter_map(|((block, _), holds)| Some((*block, (*holds)?)));
                Alike { outcomes: outcomes.clone(), set: reached(cfg, &known.collect()), ranks: Vec::new() }
            };
            sets.entry(outcomes.clone()).or_insert_with(alike).ranks.push(rank);
        }
        let branches = branches.into_iter().map(|(block, _)| block).collect();
        Reached { branches, sets: sets.into_values().collect() }
    }

    /// Whether one thread may come to both blocks of the graph.
    pub(super) fn by_one_thread(&self, first: BlockId, second: BlockId) -> bool {
        self.sets.iter().any(|alike| alike.set.contains(first) && alike.set.contains(second))
    }

    /// Whether there is a warp of which a thread may come to one block of the graph, and none to the others.
    pub(super) fn by_another_warp(&self, block: BlockId, others: &BTreeSet<BlockId>) -> bool {
        let warps = |comes: &dyn Fn(&BlockSet) -> bool| -> BTreeSet<u64> {
            let sets = self.sets.iter().filter(|alike| comes(&alike.set));
            sets.flat_map(|alike| &alike.ranks).map(|rank| rank / 32).collect()
        };
        let to_others = warps(&|set| others.iter().any(|other| set.contains(*other)));
        warps(&|set| set.contains(block)).difference(&to_others).next().is_some()
    }

    /// The sets, each with the ranks of the threads that come to its blocks.
    pub(super) fn sets(&self) -> impl Iterator<Item = (&BlockSet, &[u64])> {
        self.sets.iter().map(|alike| (&alike.set, &alike.ranks[..]))
    }

    /// Whether the ranks of threads keep each aligned group of so many together at a branch, among those groups of which a thread may come
    /// to a block of the graph: all of its threads take one side.
    pub(super) fn keeps_together(&self, branch: BlockId, block: BlockId, size: u64) -> bool {
        let Some(number) = self.branches.iter().position(|other| *other == branch) else { return false };
        let group = |rank: &u64| rank / size;
        let coming = self.sets.iter().filter(|alike| alike.set.contains(block)).flat_map(|alike| &alike.ranks);
        let coming: BTreeSet<u64> = coming.map(group).collect();
        let mut sides: BTreeMap<u64, bool> = BTreeMap::new();
        self.sets.iter().all(|alike| {
            let mut groups = alike.ranks.iter().map(group).filter(|group| coming.contains(group));
            match alike.outcomes[number] {
                Some(side) => groups.all(|group| *sides.entry(group).or_insert(side) == side),
                None => groups.next().is_none(),
            }
        })
    }
}

/// A block of the cluster, by its rank, as any of its threads.
pub(super) struct OfBlock<'a, 'f>(Thread<'a, 'f>);

impl<'a, 'f> OfBlock<'a, 'f> {
    pub(super) fn new(function: &'f Function, cfg: &'a Cfg<'f>, rank: u64) -> OfBlock<'a, 'f> {
        let size = function.options.block.as_ref().and_then(Extents::count);
        let block = Some((rank, function.options.cluster.as_ref()));
        OfBlock(Thread { cfg, size, rank: None, block, asked: Cell::new(false) })
    }

    /// The blocks of the graph to which a thread of the block may come.
    pub(super) fn reached(&self) -> BlockSet {
        let cfg = self.0.cfg;
        let outcome = |block: usize| Some((BlockId(block), self.value(cfg.blocks[block].end.condition()?)? != 0));
        reached(cfg, &(0..cfg.blocks.len()).filter_map(outcome).collect())
    }

    /// Whether a thread of the block may go from one block of the graph to the next.
    pub(super) fn takes(&self, from: BlockId, to: BlockId) -> bool {
        let end = &self.0.cfg.blocks[from.0].end;
        let Some(on_edge) = end.holds_on_edge(to) else { return true };
        end.condition().and_then(|on| self.value(on)).is_none_or(|value| (value != 0) == on_edge)
    }

    /// The value of a node, if it is the same for all threads of the block, wherever they compute it.
    pub(super) fn value(&self, node: NodeId) -> Option<u64> {
        self.0.value(node, DEPTH)
    }
}

fn reached(cfg: &Cfg<'_>, known: &BTreeMap<BlockId, bool>) -> BlockSet {
    let mut seen = BlockSet::none(cfg.blocks.len());
    let mut work = vec![cfg.entry];
    seen.insert(cfg.entry);
    while let Some(block) = work.pop() {
        let end = &cfg.blocks[block.0].end;
        let is_taken = |next: &BlockId| match (known.get(&block), end.holds_on_edge(*next)) {
            (Some(holds), Some(on_edge)) => *holds == on_edge,
            (None, _) | (_, None) => true,
        };
        work.extend(end.successors().filter(is_taken).filter(|next| seen.insert(*next)));
    }
    seen
}

/// A thread of the block.
struct Thread<'a, 'f> {
    cfg: &'a Cfg<'f>,
    size: Option<u64>,
    /// The thread's rank in its block; `None` for any thread.
    rank: Option<u64>,
    /// The rank of its block in the cluster, and the cluster's shape, if the attribute has it; `None` for any block.
    block: Option<(u64, Option<&'f Extents>)>,
    /// Whether the thread's rank was asked for.
    asked: Cell<bool>,
}

impl Thread<'_, '_> {
    fn rank(&self) -> Option<u64> {
        self.asked.set(true);
        self.rank
    }

    /// The index of its block in the cluster on one axis, if this is what an extent has there.
    fn block_index(&self, extent: NodeId, axis: usize) -> Option<u64> {
        let (group, query) = self.cfg.queries.get(&self.cfg.origin(extent))?;
        let is_index = (*group, query.answer, query.uniform_at) == (Group::Cluster, Answer::Extent, UniformAt::Block);
        let (rank, cluster) = self.block.filter(|_| is_index)?;
        cluster?.index_on(axis, rank)
    }

    /// The value of a node for the thread, if it is the same wherever the thread computes it.
    fn value(&self, node: NodeId, depth: u8) -> Option<u64> {
        let (cfg, depth) = (self.cfg, depth.checked_sub(1)?);
        let whole = &cfg.nodes[node.0];
        if let Some(position) = cfg.positions.get(&node) {
            let is_exact = position.offset == Offset::Zero && position.rank_in.is_none();
            return position.digit.of_rank(self.rank()?).filter(|_| is_exact);
        }
        if let Some((extent, axis)) = cfg.axes.get(&node) {
            return self.block_index(*extent, *axis);
        }
        let value = match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number), _) => Some(*number),
            (Source::ThreadRank, _) => self.rank(),
            (Source::Known { .. }, []) => match cfg.queries.get(&node)? {
                (Group::ThreadBlock, query) if query.answer == Answer::ThreadCount => self.size,
                (Group::Cluster, query) if query.answer == Answer::BlockRank => self.block.map(|(rank, _)| rank),
                (Group::Cluster, query) if query.answer == Answer::BlockCount => {
                    self.block.and_then(|(_, cluster)| cluster?.count())
                }
                _ => None,
            },
            (Source::Read(variable), _) => self.value(cfg.only_value(*variable)?, depth),
            (Source::Operands, [operand]) if cfg.cuts.contains_key(&node) => self.value(*operand, depth),
            (Source::Binary(op) | Source::Round(_, op), [a, b]) => match (self.value(*a, depth), self.value(*b, depth))
            {
                (Some(0), _) | (_, Some(0)) if *op == BinaryOp::And => Some(0),
                (Some(a), Some(b)) => operate(*op, a, b),
                (Some(_) | None, _) => None,
            },
            (
                Source::Operands
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Param(_)
                | Source::Known { .. }
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => None,
        }?;
        // A value that its type would cut is not followed.
        cfg.cuts.get(&node).is_none_or(|bits| *bits >= 64 || value >> bits == 0).then_some(value)
    }
}
