//! `uninit_shared_read`: shared memory that is read, and that no thread can have written to by then.
//!
//! A write counts that may come before the read on some way, or that another thread may make before: on another way, or
//! further on where no barrier keeps it back. Memory that leaves the function's sight is taken to be written to.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::conflict::overlap;
use super::name_of;
use crate::check::block_set::BlockSet;
use crate::check::cfg::{
    AccessId, AccessKind, BlockId, Cfg, GroupStep, MemoryStep, Root, Shared, Step, StepKind, spans_cluster,
};
use crate::check::uniform::control::reachable;
use crate::check::uniform::values::Values;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::model::group::Group;

/// An access, and where it is.
struct AccessFacts {
    id: AccessId,
    shared: Shared,
    block: BlockId,
    step: usize,
}

/// ```text
/// let sums = shared_array::<f32, 32>();
/// block.sync();
/// let first = sums[0];                    // nobody has written to it
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, values: &Values<'_, '_>, diags: &mut Diags) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for block in (0..cfg.blocks.len()).map(BlockId).filter(|block| values.is_reached(*block)) {
        for (step, kind) in cfg.blocks[block.0].steps.iter().map(|step| &step.kind).enumerate() {
            let StepKind::Memory(MemoryStep::Access(id)) = *kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some((_, shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any))) =
                access.region.root.party()
            else {
                continue;
            };
            let point = AccessFacts { id, shared, block, step };
            match access.kind {
                AccessKind::Read | AccessKind::AtomicRead => reads.push(point),
                AccessKind::Write | AccessKind::Sent | AccessKind::Lent | AccessKind::ByHand => writes.push(point),
                // What it adds to must have been there: `store` and `swap` begin.
                AccessKind::Atomic => writes.push(point),
            }
        }
    }
    let mut ways: BTreeMap<BlockId, BlockSet> = BTreeMap::new();
    let mut leads = |from: &AccessFacts, to: &AccessFacts| {
        if from.block == to.block && from.step < to.step {
            return true;
        }
        let after = ways.entry(from.block).or_insert_with(|| {
            let next = cfg.blocks[from.block.0].end.successors().map(|next| reachable(cfg, next, None));
            next.fold(BlockSet::none(cfg.blocks.len()), |all, way| all.or(&way))
        });
        after.contains(to.block)
    };
    let mut told: Vec<Shared> = Vec::new();
    for read in reads.iter().filter(|read| read.shared != Shared::Any) {
        // Dynamic memory is one: its parts may overlap.
        let of = |write: &&AccessFacts| overlap(write.shared.whole(), read.shared.whole());
        let may = writes.iter().filter(of).any(|write| {
            leads(write, read)
                || is_free(cfg, read, write)
                || !leads(read, write) && may_part(cfg, values, write.block, read.block)
        });
        if !may && !told.contains(&read.shared) {
            told.push(read.shared);
            let at = cfg.accesses[read.id.0].at;
            diags.push(messages::uninit_shared_read(at, &name_of(function, cfg, read.shared)));
        }
    }
}

/// Whether a way leads from the read to the write with no barrier on it of those that site the memory.
fn is_free(cfg: &Cfg<'_>, read: &AccessFacts, write: &AccessFacts) -> bool {
    let of_peers = matches!(cfg.accesses[write.id.0].region.root, Root::Remote(_));
    let keeps = |step: &Step| match &step.kind {
        StepKind::Group(GroupStep::Wait { group, .. }) => !of_peers || spans_cluster(*group),
        StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
            team.group == Group::ThreadBlock && !of_peers || spans_cluster(team.group)
        }
        StepKind::Group(GroupStep::Collective { barrier: false, .. })
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Copy(_)
        | StepKind::Group(
            GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_)
            | GroupStep::Convergent { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::WaitElected { .. },
        )
        | StepKind::BarrierCall(_)
        | StepKind::Call { .. }
        | StepKind::Token(_) => false,
    };
    let mut seen = BlockSet::none(cfg.blocks.len());
    let mut work = vec![(read.block, read.step + 1)];
    while let Some((block, from)) = work.pop() {
        let steps = &cfg.blocks[block.0].steps;
        let to = steps.iter().skip(from).position(keeps).map_or(steps.len(), |kept| from + kept);
        if block == write.block && (from..to).contains(&write.step) {
            return true;
        }
        if to == steps.len() {
            let next = cfg.blocks[block.0].end.successors().filter(|next| seen.insert(*next));
            work.extend(next.map(|next| (next, 0)));
        }
    }
    false
}

/// Whether some threads of a cluster may come to the one block, and others to the other at the same time.
fn may_part(cfg: &Cfg<'_>, values: &Values<'_, '_>, one: BlockId, other: BlockId) -> bool {
    values.control.regions(cfg).any(|(branch, ..)| {
        let tested = values.tested(branch);
        let ways: Vec<BlockSet> =
            cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, None)).collect();
        let parts = |a: &BlockSet, b: &BlockSet| a.contains(one) && b.contains(other);
        !(tested.at_most.covers(Uniformity::Cluster) && tested.unknown.is_empty())
            && matches!(&ways[..], [a, b] if parts(a, b) || parts(b, a))
    })
}
