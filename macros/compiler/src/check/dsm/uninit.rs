//! `uninit_shared_read`: shared memory is not read where no thread can have written to it.
//!
//! A write may come before a read if a path leads from it to the read, or if another thread may execute it first: on the other
//! arm of a divergent branch, or after the read with no barrier in between. An atomic that updates an element reads it. Memory that is lent, or that inline CUDA or a method
//! accesses, counts as written. Nor can a thread have written in a launch that skips all writes (`skipped`).

use std::collections::BTreeSet;

use phalanx_contract::protocol::Behavior;
use phalanx_contract::uniformity::Uniformity;

use super::access_site::name_of;
use super::conflict::may_overlap;
use super::protocol::{Guard, Predicate};
use super::skipped::ways;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessId, AccessKind, BlockId, CallId, Cfg, GroupStep, MemoryStep, Root, Shared, Step, StepKind, spans_cluster,
};
use crate::check::uniform::control::reachable;
use crate::check::uniform::values::Values;
use crate::diag::{Diag, Diags};
use crate::messages;
use crate::model::atomic::AtomicAccess;
use crate::model::group::Group;
use crate::model::{Function, Role};

/// What accesses the memory: the function itself, or one that it calls.
#[derive(Clone, Copy)]
enum Writer {
    Access(AccessId),
    Call(CallId),
}

/// An access and its point in the graph.
struct AccessPoint {
    by: Writer,
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
///
/// Returns the faults that depend on whether called functions write to the dynamic memory.
pub(super) fn check(
    function: &Function,
    cfg: &Cfg<'_>,
    values: &Values<'_, '_>,
    diags: &mut Diags,
) -> Vec<(Guard, Diag)> {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for block in (0..cfg.blocks.len()).map(BlockId).filter(|block| values.is_reached(*block)) {
        for (step, kind) in cfg.blocks[block.0].steps.iter().map(|step| &step.kind).enumerate() {
            let id = match *kind {
                StepKind::Call(id) => {
                    writes.push(AccessPoint { by: Writer::Call(id), shared: Shared::Dynamic, block, step });
                    continue;
                }
                StepKind::Memory(MemoryStep::Access(id)) => id,
                StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Value(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Copy(_) => continue,
            };
            let access = &cfg.accesses[id.0];
            let Some((_, shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any))) =
                access.region.root.party()
            else {
                continue;
            };
            let point = AccessPoint { by: Writer::Access(id), shared, block, step };
            match access.kind {
                // What it writes depends on what was there.
                _ if access.atomic == Some(AtomicAccess::Update) => reads.push((access.at, point)),
                AccessKind::Read | AccessKind::AtomicRead => reads.push((access.at, point)),
                // The caller has no other shared memory of this function.
                AccessKind::ByClosure => writes.push(AccessPoint { shared: Shared::Dynamic, ..point }),
                AccessKind::Write | AccessKind::AsyncWrite | AccessKind::Lent | AccessKind::Opaque => {
                    writes.push(point)
                }
                // `store` and `swap` may be the first to write.
                AccessKind::Atomic => writes.push(point),
            }
        }
    }
    let reaches = |from: &AccessPoint, to: &AccessPoint| {
        from.block == to.block && from.step < to.step || values.control.following(from.block).contains(to.block)
    };
    let ways = if function.role == Role::Kernel { ways(cfg, values) } else { Vec::new() };
    // Of which object a reference is a part may depend on the way.
    let is_certain = |read: &AccessPoint| matches!(read.shared, Shared::Array(_) | Shared::Dynamic);
    let mut reported: Vec<Shared> = Vec::new();
    let mut asked = Vec::new();
    // The caller may have written to the dynamic memory.
    let is_own =
        |shared: Shared| shared != Shared::Any && (function.role == Role::Kernel || shared.whole() != Shared::Dynamic);
    for (at, read) in reads.iter().filter(|(_, read)| is_own(read.shared)) {
        // Slices of the dynamic memory may overlap, so it is one object here.
        let same_object = |write: &&AccessPoint| may_overlap(write.shared.whole(), read.shared.whole());
        let may_write = |write: &&AccessPoint| {
            reaches(write, read)
                || reaches_without_barrier(cfg, read, write)
                || !reaches(read, write) && are_on_divergent_arms(cfg, values, write.block, read.block)
        };
        if reported.contains(&read.shared) {
            continue;
        }
        // A call writes to the dynamic memory if the callee does; what a method does is unknown.
        let callee = |write: &AccessPoint| match write.by {
            Writer::Call(id) if cfg.calls[id.0].is_of_function() => Some(cfg.calls[id.0].slot.0),
            Writer::Call(_) | Writer::Access(_) => None,
        };
        let (calls, others): (Vec<_>, Vec<_>) =
            writes.iter().filter(same_object).partition(|write| callee(write).is_some());
        let others: Vec<&AccessPoint> = others.into_iter().filter(|write| may_write(write)).collect();
        if !others.is_empty() {
            // In a launch that skips all writes, none comes before.
            let all = || others.iter().chain(&calls).map(|write| write.block);
            if let Some(way) = ways.iter().find(|way| is_certain(read) && way.skips(values, read.block, all())) {
                reported.push(read.shared);
                let name = name_of(function, cfg, read.shared);
                diags.push(messages::skipped_by_launch(messages::uninit_shared_read(*at, &name), way.condition));
            }
            continue;
        }
        reported.push(read.shared);
        let calls: BTreeSet<u16> = calls.into_iter().filter(|write| may_write(write)).filter_map(callee).collect();
        let diag = messages::uninit_shared_read(*at, &name_of(function, cfg, read.shared));
        if calls.is_empty() {
            diags.push(diag);
        } else {
            let never = |guard: Guard, slot| guard.when(Predicate::Never(slot, Behavior::WRITES_DYNAMIC));
            asked.push((calls.into_iter().fold(Guard::default(), never), diag));
        }
    }
    asked
}

/// Whether a path leads from the read to the write without a barrier of the block, or of the cluster if a peer writes.
fn reaches_without_barrier(cfg: &Cfg<'_>, read: &AccessPoint, write: &AccessPoint) -> bool {
    let by_peer = match write.by {
        Writer::Access(id) => matches!(cfg.accesses[id.0].region.root, Root::Remote(_)),
        Writer::Call(_) => true,
    };
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
