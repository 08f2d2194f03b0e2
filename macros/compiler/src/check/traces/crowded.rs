//! More threads than elements: if each thread of a block, or of a cluster, changes an element of an array that has fewer, two threads
//! change the same one, whatever the indexes are.

use phalanx_contract::uniformity::Uniformity;

use super::Check;
use crate::check::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, MemoryStep, NodeId, Root, Select, Source, StepKind, ValueStep,
};
use crate::diag::Diag;
use crate::messages::{self, Crowd};
use crate::rules::Rule;

/// The longest chain of operands that is compared.
const DEPTH: u32 = 16;

/// An element that a thread reads and then writes, in one block of the graph.
struct Change<'a> {
    access: &'a Access,
    /// The number of elements of the array.
    length: u64,
}

/// `unsynchronized_access`, and `unordered_remote_write` between blocks: what threads read and write without an order between them
/// are different elements.
///
/// ```text
/// let bins = shared_array::<u32, 64>();                   // of a block of 256 threads
/// bins[input[i]] += 1;                                    // each thread has an element, so that some have the same one
/// ```
pub(super) fn check(check: &Check<'_, '_>) -> Option<Diag> {
    // One thread at a time may be let in by an atomic.
    if check.function.options.block.is_none() || check.has_signals() {
        return None;
    }
    (0..check.cfg.blocks.len()).map(BlockId).filter(|block| check.values.is_reached(*block)).find_map(|block| {
        changes(check, block).into_iter().find_map(|change| {
            let (crowd, rule) = change.crowd(check, block)?;
            let at = change.access.at;
            let (_, shared) = change.access.region.root.party()?;
            let name = check.cfg.name_of(check.function, shared)?;
            let is_of_cluster = rule == Rule::UnorderedRemoteWrite;
            Some(messages::crowded(at, rule, &name.to_string(), crowd, is_of_cluster))
        })
    })
}

/// What a thread reads and writes at one index in a block of the graph, with no barrier in between.
fn changes<'a>(check: &'a Check<'_, '_>, block: BlockId) -> Vec<Change<'a>> {
    let cfg = check.cfg;
    let mut read: Vec<(&Access, NodeId)> = Vec::new();
    let mut changes = Vec::new();
    for step in &cfg.blocks[block.0].steps {
        match &step.kind {
            StepKind::Memory(MemoryStep::Access(AccessId(id))) => {
                let access = &cfg.accesses[*id];
                let Some((index, length)) = element(check, access) else { continue };
                match access.kind {
                    AccessKind::Read => read.push((access, index)),
                    AccessKind::Write => {
                        let is_same = |(before, of): &(&Access, NodeId)| {
                            let is_of_one = match (before.region.rank, access.region.rank) {
                                (Some(before), Some(owner)) => is_equal(cfg, before, owner, DEPTH),
                                (before, owner) => before == owner,
                            };
                            before.region.root == access.region.root && is_of_one && is_equal(cfg, *of, index, DEPTH)
                        };
                        changes.extend(read.iter().any(is_same).then_some(Change { access, length }));
                    }
                    AccessKind::AtomicRead
                    | AccessKind::Atomic
                    | AccessKind::Lent
                    | AccessKind::AsyncWrite
                    | AccessKind::Opaque
                    | AccessKind::ByClosure => {}
                }
            }
            // No index was computed from a variable that has its only value from here on.
            StepKind::Value(ValueStep::Set { variable, .. }) if cfg.only_value(*variable).is_some() => {}
            // An index may be another one then.
            StepKind::Value(ValueStep::Set { .. } | ValueStep::Name { .. }) | StepKind::Group(_) => read.clear(),
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => {}
        }
    }
    changes
}

/// Whether two nodes between which no variable is set have the same value, by their expressions.
fn is_equal(cfg: &Cfg<'_>, one: NodeId, other: NodeId, depth: u32) -> bool {
    let (one, other) = (cfg.origin(one), cfg.origin(other));
    let Some(depth) = depth.checked_sub(1) else { return false };
    if one == other {
        return true;
    }
    let (a, b) = (&cfg.nodes[one.0], &cfg.nodes[other.0]);
    let is_function = match (&a.source, &b.source) {
        (Source::Integer(a), Source::Integer(b)) => a == b,
        (Source::Binary(a), Source::Binary(b)) => a == b,
        (Source::Operands, Source::Operands) => cfg.formulas.get(&one) == cfg.formulas.get(&other),
        (Source::Param(a), Source::Param(b)) => a == b,
        (Source::Read(a), Source::Read(b)) => a == b,
        (Source::Known { .. }, Source::Known { .. }) => {
            cfg.queries.contains_key(&one) && cfg.queries.get(&one) == cfg.queries.get(&other)
        }
        (Source::Load(Root::ReadOnly), Source::Load(Root::ReadOnly)) | (Source::ThreadRank, Source::ThreadRank) => true,
        (
            Source::Integer(_)
            | Source::Binary(_)
            | Source::Operands
            | Source::Param(_)
            | Source::Load(_)
            | Source::ThreadRank
            | Source::Constant(_)
            | Source::Not
            | Source::Round(..)
            | Source::Counter { .. }
            | Source::Read(_)
            | Source::Known { .. }
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. },
            _,
        ) => false,
    };
    let has_operands = !a.operands.is_empty() || !matches!(a.source, Source::Operands);
    is_function
        && has_operands
        && a.operands.len() == b.operands.len()
        && a.operands.iter().zip(&b.operands).all(|(a, b)| is_equal(cfg, *a, *b, depth))
}

/// The index of an element of a shared array, and the number of elements.
fn element(check: &Check<'_, '_>, access: &Access) -> Option<(NodeId, u64)> {
    let region = &access.region;
    let (_, shared) = region.root.party()?;
    let [Select::At(index)] = region.path[..] else { return None };
    let is_followed = super::elements::is_followed(access) && region.via.is_none() && !region.part && !region.open;
    let is_element = is_followed && check.elements.size(shared).is_some();
    Some((check.cfg.origin(index), check.runs.length(shared).filter(|_| is_element)?))
}

impl Change<'_> {
    /// The numbers of threads that make the change with no order between them, of elements, and of blocks that these are in, if there are
    /// fewer elements than threads; and the rule that excludes it.
    fn crowd(&self, check: &Check<'_, '_>, block: BlockId) -> Option<(Crowd, Rule)> {
        // The blocks in whose memory the threads of a group change an element.
        let owners = |group: Uniformity| match (self.access.region.root, self.access.region.rank) {
            (Root::Shared(_), _) => (group == Uniformity::Block).then_some(1),
            (_, Some(rank)) if check.values.level(rank).is_uniform(group) => Some(1),
            // Each thread has a rank of its own.
            (_, Some(_)) => Some(check.blocks),
            (_, None) => None,
        };
        let crowd = |group, threads| {
            let blocks = owners(group).filter(|_| check.values.is_reached_uniformly(block, group))?;
            (threads > self.length * blocks).then_some(Crowd { threads, elements: self.length, blocks })
        };
        let of_block = crowd(Uniformity::Block, check.threads).map(|crowd| (crowd, Rule::UnsynchronizedAccess));
        of_block.or_else(|| {
            let of_cluster = crowd(Uniformity::Cluster, check.threads * check.blocks);
            of_cluster.map(|crowd| (crowd, Rule::UnorderedRemoteWrite))
        })
    }
}
