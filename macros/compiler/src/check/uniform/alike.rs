//! Shared arrays that have the same elements in all blocks of the cluster, so that what a thread reads of its own block's is uniform in the
//! cluster:
//!
//! ```text
//! if i == 0 { next[0] = t + stride; } block.sync(); t = next[0];                     // each block writes the same (by each)
//! if i == 0 && rank == 0 { let t = take(); for b in 0..cluster.num_blocks() { cluster.map_shared_rank(&next, b)[0] = t; } }
//! cluster.sync(); t = next[0];                                                       // one thread tells all blocks (by one)
//! ```
//!
//! By each: all blocks come to the writes alike, and the elements and the numbers are uniform in the cluster. By one: each write is in a loop
//! over all blocks, and nothing but the block is another one in each iteration. Both rest on the absence of races, and hold of elements that
//! certainly have been written: what is in the others differs from block to block.

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::control::{Control, reachable};
use super::overwritten;
use super::rewritten::is_rewritten_early;
use crate::check::cfg::{
    Access, AccessKind, BlockId, Cfg, CountedLoop, GroupStep, MemoryStep, NodeId, Region, Root, Select, Shared, Source,
    Step, StepKind, Team, spans_cluster,
};
use crate::model::group::Group;
use crate::model::options::Extents;
use crate::model::query::Answer;
use crate::model::{Function, Role};

/// The arrays that may be alike.
#[derive(Debug, Default)]
pub(super) struct Alike {
    /// The arrays that each block writes itself, with the writes.
    by_each: BTreeMap<Shared, Vec<Write>>,
    /// The arrays that one thread writes in all blocks.
    by_one: BTreeSet<Shared>,
    /// The values of reads of elements that certainly have been written.
    written: BTreeSet<NodeId>,
}

/// A write of the block's own array.
#[derive(Debug)]
struct Write {
    block: BlockId,
    indexes: Vec<NodeId>,
    stored: NodeId,
}

impl Alike {
    pub(super) fn of(function: &Function, cfg: &Cfg<'_>, control: &Control) -> Alike {
        // The arguments of a device function may be those of a block.
        if function.role != Role::Kernel {
            return Alike::default();
        }
        let mut written: BTreeMap<Shared, Vec<(Place, &Access)>> = BTreeMap::new();
        for (place, step) in places(cfg) {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some((_, shared)) = access.region.root.party().filter(|_| access.kind.changes()) else { continue };
            // It may be any array.
            if !matches!(shared, Shared::Array(_)) {
                return Alike::default();
            }
            written.entry(shared).or_default().push((place, access));
        }
        let lent = |region: &Region| region.root.party().map(|(_, shared)| shared);
        for shared in cfg.calls.iter().flat_map(|call| call.regions.iter().flatten()).filter_map(lent) {
            written.remove(&shared);
        }
        let mut alike = Alike::default();
        for (shared, writes) in written {
            let own: Option<Vec<Write>> = writes.iter().map(|(place, access)| own_write(place.0, access)).collect();
            if let Some(own) = own {
                alike.add_written(cfg, control, &writes, None);
                alike.by_each.insert(shared, own);
                continue;
            }
            let tell = |(place, access): &(Place, &Access)| tells_all(function, cfg, control, place.0, access);
            let loops: Option<BTreeSet<BlockId>> = writes.iter().map(tell).collect();
            if let Some(loops) = loops
                && !is_rewritten_early(cfg, |access| lent(&access.region) == Some(shared), meets_cluster)
            {
                alike.add_written(cfg, control, &writes, Some(&loops));
                alike.by_one.insert(shared);
            }
        }
        alike
    }

    /// Notes the reads of elements that one of the writes has certainly written, which may stand in loops that have an iteration.
    fn add_written(
        &mut self,
        cfg: &Cfg<'_>,
        control: &Control,
        writes: &[(Place, &Access)],
        loops: Option<&BTreeSet<BlockId>>,
    ) {
        for ((block, index), step) in places(cfg) {
            let next = cfg.blocks[block.0].steps.get(index + 1);
            let Some((read, value)) = next.and_then(|next| overwritten::read(cfg, step, next)) else { continue };
            let shared = |access: &Access| access.region.root.party().map(|(_, shared)| shared);
            let is_written = writes.iter().any(|(place, write)| {
                let comes_first = || precedes(cfg, control, (*place, loops), (block, index));
                shared(write) == shared(read) && is_same(cfg, &write.region, &read.region) && comes_first()
            });
            if is_written {
                self.written.insert(value);
            }
        }
    }

    /// How far the value of a read of an array of the own block is uniform, if the block has seen all writes of its own, and perhaps those of its
    /// peers (`sees_peers`). `is_uniform` says which values are uniform in the cluster.
    pub(super) fn of_own(
        &self,
        cfg: &Cfg<'_>,
        control: &Control,
        (shared, value, sees_peers): (Shared, NodeId, bool),
        is_uniform: impl Fn(NodeId) -> bool,
    ) -> Uniformity {
        let is_by_each = || {
            let mut writes = self.by_each.get(&shared).map(|writes| writes.iter());
            writes.as_mut().is_some_and(|writes| writes.all(|write| write.is_alike(cfg, control, &is_uniform)))
        };
        let is_by_one = sees_peers && self.by_one.contains(&shared);
        match self.written.contains(&value) && (is_by_one || is_by_each()) {
            true => Uniformity::Cluster,
            false => Uniformity::Block,
        }
    }
}

/// A step, by its block and its index there.
type Place = (BlockId, usize);

fn places<'c>(cfg: &'c Cfg<'_>) -> impl Iterator<Item = (Place, &'c Step)> {
    cfg.blocks.iter().enumerate().flat_map(|(number, block)| {
        block.steps.iter().enumerate().map(move |(index, step)| ((BlockId(number), index), step))
    })
}

/// Whether two regions are the same element: the indexes are the same numbers, or the same values.
fn is_same(cfg: &Cfg<'_>, one: &Region, other: &Region) -> bool {
    let integer = |node: NodeId| cfg.nodes[node.0].source.integer();
    let same = |(one, other): (&Select, &Select)| {
        let (Select::At(one), Select::At(other)) = (one, other) else { return false };
        let (one, other) = (cfg.first_origin(*one), cfg.first_origin(*other));
        one == other || integer(one).is_some() && integer(one) == integer(other)
    };
    one.path.len() == other.path.len() && one.path.iter().zip(&other.path).all(same)
}

/// Whether some thread has certainly made a write where another thread has come to a read: control comes to the read by a place where nothing
/// but the threads' ranks decides about the write. `loops` have an iteration.
fn precedes(
    cfg: &Cfg<'_>,
    control: &Control,
    ((write, at), loops): (Place, Option<&BTreeSet<BlockId>>),
    (read, read_at): Place,
) -> bool {
    let is_of_ranks = |branch: &BlockId| {
        let is_rank = |source: &Source<'_>| match source {
            Source::Operands | Source::Binary(_) | Source::Not | Source::Round(..) => true,
            Source::Integer(_) | Source::Constant(_) | Source::ThreadRank | Source::Known { .. } => true,
            Source::Param(_)
            | Source::Read(_)
            | Source::Counter { .. }
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => false,
        };
        let condition = cfg.blocks[branch.0].end.condition();
        loops.is_some_and(|loops| loops.contains(branch))
            || condition.is_some_and(|on| cfg.is_computed_from(on, is_rank))
    };
    let (of_ranks, others): (Vec<BlockId>, Vec<BlockId>) = control.deciders(write).partition(is_of_ranks);
    let comes_by = |head: BlockId| match read == head {
        true => head == write && at < read_at,
        false => !reachable(cfg, cfg.entry, Some(head)).contains(read),
    };
    let is_decided = |head: BlockId| others.iter().all(|branch| control.decides(*branch, head));
    of_ranks.into_iter().chain([write]).any(|head| is_decided(head) && comes_by(head))
}

impl Write {
    /// Whether each block makes it, and the same one.
    fn is_alike(&self, cfg: &Cfg<'_>, control: &Control, is_uniform: &impl Fn(NodeId) -> bool) -> bool {
        let of_ranks = |on: NodeId| {
            cfg.is_computed_from(on, |source| match source {
                Source::Operands | Source::Binary(_) | Source::Not | Source::Round(..) => true,
                Source::Integer(_) | Source::Constant(_) | Source::Param(_) | Source::ThreadRank => true,
                // The rank in the cluster or the grid is that of another thread in each block.
                Source::Known { uniformity, .. } => uniformity.covers(Uniformity::Cluster),
                Source::Read(_)
                | Source::Counter { .. }
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. } => false,
            })
        };
        let decides_alike =
            |branch: BlockId| cfg.blocks[branch.0].end.condition().is_none_or(|on| is_uniform(on) || of_ranks(on));
        self.indexes.iter().chain([&self.stored]).all(|node| is_uniform(*node))
            && control.deciders(self.block).all(decides_alike)
    }
}

/// A plain write of one element of the block's own array.
fn own_write(block: BlockId, access: &Access) -> Option<Write> {
    let indexes = indexes(access)?;
    let is_own = matches!(access.region.root, Root::Shared(_));
    Some(Write { block, indexes, stored: access.stored? }).filter(|_| is_own)
}

/// The indexes of the element that an access writes, if it is a plain write of one that the text shows.
fn indexes(access: &Access) -> Option<Vec<NodeId>> {
    let region = &access.region;
    let is_plain = access.kind == AccessKind::Write
        && access.given_to.is_none()
        && access.completion.is_none()
        && access.atomic.is_none();
    let is_element = region.via.is_none() && region.inner.is_none() && !region.open && !region.part;
    let index = |select: &Select| if let Select::At(index) = select { Some(*index) } else { None };
    region.path.iter().map(index).collect::<Option<Vec<_>>>().filter(|_| is_plain && is_element)
}

/// Returns the loop over the blocks of the cluster in which a write stands, if each of them gets the same.
fn tells_all(
    function: &Function,
    cfg: &Cfg<'_>,
    control: &Control,
    block: BlockId,
    access: &Access,
) -> Option<BlockId> {
    let (indexes, rank, stored) = (indexes(access)?, access.region.rank?, access.stored?);
    let Source::Read(counted) = cfg.nodes[cfg.first_origin(rank).0].source else { return None };
    let counts = |inside: BlockId| {
        cfg.blocks[inside.0].steps.iter().any(|step| step.kind.set().is_some_and(|(of, ..)| of == counted))
    };
    let mut loops = cfg.counted.iter();
    let is_it = |of: &CountedLoop| !of.inclusive && of.by == Some(1) && counts(of.inside);
    let (head, of) = loops.find(|(_, of)| is_it(of)).map(|(head, of)| (*head, of))?;
    let body = reachable(cfg, of.inside, Some(head));
    // Each iteration gets there, and nothing but the test ends the loop.
    let is_whole = body.contains(block)
        && control.deciders(block).all(|branch| branch == head || !body.contains(branch))
        && control.deciders(head).all(|branch| branch == head || !body.contains(branch));
    let integer = |node: NodeId| cfg.nodes[cfg.first_origin(node).0].source.integer();
    let is_count = |node: NodeId| {
        let query = cfg.queries.get(&cfg.first_origin(node));
        let blocks = function.options.cluster.as_ref().and_then(Extents::count);
        query.is_some_and(|(group, query)| *group == Group::Cluster && query.answer == Answer::BlockCount)
            || blocks.is_some() && integer(node) == blocks
    };
    let sets = |variable| {
        let steps = body.iter().flat_map(|block| &cfg.blocks[block.0].steps);
        steps.filter_map(|step| step.kind.set()).filter(|(of, ..)| *of == variable).count()
    };
    let is_kept = |node: NodeId| match cfg.nodes[node.0].source {
        Source::Read(variable) => {
            variable != counted && sets(variable) == 0 && variable.whole().is_none_or(|whole| sets(whole) == 0)
        }
        Source::Integer(_) | Source::Constant(_) | Source::Param(_) => true,
        Source::Operands
        | Source::Binary(_)
        | Source::Not
        | Source::Counter { .. }
        | Source::Known { .. }
        | Source::ThreadRank
        | Source::Round(..)
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    };
    let tells = matches!(access.region.root, Root::Remote(_))
        && is_whole
        && sets(counted) == 1
        && integer(of.start) == Some(0)
        && is_count(of.end)
        && indexes.into_iter().chain([stored]).all(is_kept);
    tells.then_some(head)
}

/// Whether all threads of the cluster meet at a step.
fn meets_cluster(step: &Step) -> bool {
    match step.kind {
        StepKind::Group(
            GroupStep::Collective { team: Team { group, .. }, barrier: true, .. } | GroupStep::Wait { group, .. },
        ) => spans_cluster(group),
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::WaitElected { .. }
            | GroupStep::FormGroup(_)
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. },
        )
        | StepKind::Memory(_)
        | StepKind::Value(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    }
}
