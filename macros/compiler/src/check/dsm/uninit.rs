//! `uninit_shared_read`: shared memory is not read where no thread can have written to it.
//!
//! A write may come before a read if a path leads from it to the read, or if another thread may execute it first: on the other
//! arm of a divergent branch, or after the read with no barrier in between. Memory that is lent, or that inline CUDA or a method
//! accesses, counts as written.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::conflict::may_overlap;
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

/// An access and its point in the graph.
struct AccessPoint {
    id: AccessId,
    shared: Shared,
    block: BlockId,
    step: usize,
}

/// `uninit_shared_read`: some write to shared memory may come before each read.
///
/// ```text
/// let sums = shared_array::<f32, 32>();
/// block.sync();
/// let first = sums[0];                    // no thread has written to it
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
            let point = AccessPoint { id, shared, block, step };
            match access.kind {
                AccessKind::Read | AccessKind::AtomicRead => reads.push(point),
                AccessKind::Write | AccessKind::AsyncWrite | AccessKind::Lent | AccessKind::Opaque => {
                    writes.push(point)
                }
                // Not checked as a read: `store` and `swap` may be the first to write.
                AccessKind::Atomic => writes.push(point),
            }
        }
    }
    let mut reachable_after: BTreeMap<BlockId, BlockSet> = BTreeMap::new();
    let mut reaches = |from: &AccessPoint, to: &AccessPoint| {
        if from.block == to.block && from.step < to.step {
            return true;
        }
        let after = reachable_after.entry(from.block).or_insert_with(|| {
            let next = cfg.blocks[from.block.0].end.successors().map(|next| reachable(cfg, next, None));
            next.fold(BlockSet::none(cfg.blocks.len()), |all, blocks| all.or(&blocks))
        });
        after.contains(to.block)
    };
    let mut reported: Vec<Shared> = Vec::new();
    for read in reads.iter().filter(|read| read.shared != Shared::Any) {
        // Slices of the dynamic memory may overlap, so it is one object here.
        let same_object = |write: &&AccessPoint| may_overlap(write.shared.whole(), read.shared.whole());
        let may_be_written = writes.iter().filter(same_object).any(|write| {
            reaches(write, read)
                || reaches_without_barrier(cfg, read, write)
                || !reaches(read, write) && are_on_divergent_arms(cfg, values, write.block, read.block)
        });
        if !may_be_written && !reported.contains(&read.shared) {
            reported.push(read.shared);
            let at = cfg.accesses[read.id.0].at;
            diags.push(messages::uninit_shared_read(at, &name_of(function, cfg, read.shared)));
        }
    }
}

/// Whether a path leads from the read to the write without a barrier of the block, or of the cluster if a peer writes.
fn reaches_without_barrier(cfg: &Cfg<'_>, read: &AccessPoint, write: &AccessPoint) -> bool {
    let by_peer = matches!(cfg.accesses[write.id.0].region.root, Root::Remote(_));
    let is_barrier = |step: &Step| match &step.kind {
        StepKind::Group(GroupStep::Wait { group, .. }) => !by_peer || spans_cluster(*group),
        StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
            team.group == Group::ThreadBlock && !by_peer || spans_cluster(team.group)
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
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    let mut seen = BlockSet::none(cfg.blocks.len());
    let mut work = vec![(read.block, read.step + 1)];
    while let Some((block, from)) = work.pop() {
        let steps = &cfg.blocks[block.0].steps;
        let to = steps.iter().skip(from).position(is_barrier).map_or(steps.len(), |barrier| from + barrier);
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

/// Whether a branch that may diverge within the cluster leads to one block on one arm and to the other block on the other arm.
fn are_on_divergent_arms(cfg: &Cfg<'_>, values: &Values<'_, '_>, one: BlockId, other: BlockId) -> bool {
    values.control.regions(cfg).any(|(branch, ..)| {
        let tested = values.tested(branch);
        let arms: Vec<BlockSet> =
            cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, None)).collect();
        let separates = |a: &BlockSet, b: &BlockSet| a.contains(one) && b.contains(other);
        !tested.is_uniform(Uniformity::Cluster) && matches!(&arms[..], [a, b] if separates(a, b) || separates(b, a))
    })
}
