//! `uninit_shared_read`: shared memory that is read, and that no thread can have written to by then.
//!
//! A write counts that may come before the read on some way, or that another thread may make before: on another way, or
//! further on where no barrier keeps it back. Memory that leaves the function's sight is taken to be written to.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::conflict::overlap;
use super::name_of;
use super::phases::{is_for_cluster, party_of};
use crate::check::bits::Blocks;
use crate::check::cfg::{AccessId, BlockId, Cfg, How, Root, Shared, Step, StepKind};
use crate::check::uniform::control::reachable;
use crate::check::uniform::values::Values;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;
use crate::model::group::Group;

/// An access, and where it is.
struct Point {
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
            let StepKind::Access(id) = *kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some((_, shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any))) =
                party_of(access.piece.root)
            else {
                continue;
            };
            let point = Point { id, shared, block, step };
            match access.how {
                How::Read | How::AtomicRead => reads.push(point),
                How::Write | How::Sent | How::Lent | How::ByHand => writes.push(point),
                // What it adds to must have been there: `store` and `swap` begin.
                How::Atomic => writes.push(point),
            }
        }
    }
    let mut ways: BTreeMap<BlockId, Blocks> = BTreeMap::new();
    let mut leads = |from: &Point, to: &Point| {
        if from.block == to.block && from.step < to.step {
            return true;
        }
        let after = ways.entry(from.block).or_insert_with(|| {
            let next = cfg.blocks[from.block.0].end.successors().map(|next| reachable(cfg, next, None));
            next.fold(Blocks::none(cfg.blocks.len()), |all, way| all.or(&way))
        });
        after.contains(to.block)
    };
    let mut told: Vec<Shared> = Vec::new();
    for read in reads.iter().filter(|read| read.shared != Shared::Any) {
        // Dynamic memory is one: its parts may overlap.
        let of = |write: &&Point| overlap(write.shared.whole(), read.shared.whole());
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

/// Whether a way leads from the read to the write with no barrier on it of those that touch the memory.
fn is_free(cfg: &Cfg<'_>, read: &Point, write: &Point) -> bool {
    let of_peers = matches!(cfg.accesses[write.id.0].piece.root, Root::Remote(_));
    let keeps = |step: &Step| match &step.kind {
        StepKind::Wait { group, .. } => !of_peers || is_for_cluster(*group),
        StepKind::Collective { team, barrier: true, .. } => {
            team.group == Group::ThreadBlock && !of_peers || is_for_cluster(team.group)
        }
        StepKind::Collective { barrier: false, .. }
        | StepKind::Evaluate(_)
        | StepKind::Set { .. }
        | StepKind::Access(_)
        | StepKind::Copy(_)
        | StepKind::Aligned { .. }
        | StepKind::Fence
        | StepKind::Renew(_)
        | StepKind::Together { .. }
        | StepKind::Arrive { .. }
        | StepKind::Phase(_)
        | StepKind::Call { .. }
        | StepKind::Move { .. }
        | StepKind::Return(_)
        | StepKind::HandOver { .. }
        | StepKind::Clear { .. }
        | StepKind::Drop { .. } => false,
    };
    let mut seen = Blocks::none(cfg.blocks.len());
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
        let ways: Vec<Blocks> = cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, None)).collect();
        let parts = |a: &Blocks, b: &Blocks| a.contains(one) && b.contains(other);
        !(tested.at_most.covers(Uniformity::Cluster) && tested.unknown.is_empty())
            && matches!(&ways[..], [a, b] if parts(a, b) || parts(b, a))
    })
}
