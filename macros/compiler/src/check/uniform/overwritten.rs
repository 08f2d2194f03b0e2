//! Reads of one fixed element of shared memory that some thread may overwrite before the other threads have read it, too:
//! `let done = best[0] == 0; if i == k { best[0] = 0; } if done { block.sync(); }`. A barrier before the read does not make such a value
//! uniform. Only what is certainly the same element counts: `unsynchronized_access` compares the others.

use std::collections::BTreeSet;

use super::own_elements::is_warp;
use super::rewritten::reaches;
use crate::check::cfg::{
    Access, AccessKind, BlockId, Cfg, Covers, GroupStep, MemoryStep, NodeId, Region, Root, Select, Source, Step,
    StepKind, ValueStep,
};

/// The values of the reads.
#[derive(Debug, Default)]
pub(super) struct Overwritten {
    /// The values that another warp may overwrite while a thread reads them.
    by_block: BTreeSet<NodeId>,
    /// The values that a lane of the same warp may overwrite while a thread reads them.
    by_warp: BTreeSet<NodeId>,
}

impl Overwritten {
    pub(super) fn of(cfg: &Cfg<'_>) -> Overwritten {
        let mut overwritten = Overwritten::default();
        for (number, block) in cfg.blocks.iter().enumerate() {
            for (index, pair) in block.steps.windows(2).enumerate() {
                let Some((read, value)) = read(cfg, &pair[0], &pair[1]) else { continue };
                let after = || vec![(BlockId(number), index + 2)];
                let writes = |step: &Step| access(cfg, step).is_some_and(|write| is_same_written(cfg, read, write));
                if reaches(cfg, after(), writes, |step| meets(cfg, step, false)) {
                    overwritten.by_block.insert(value);
                    if reaches(cfg, after(), writes, |step| meets(cfg, step, true)) {
                        overwritten.by_warp.insert(value);
                    }
                }
            }
        }
        overwritten
    }

    /// Whether threads of the block, or of the warp (`warp`), may read different values.
    pub(super) fn contains(&self, value: NodeId, warp: bool) -> bool {
        if warp { self.by_warp.contains(&value) } else { self.by_block.contains(&value) }
    }
}

/// The plain read of the block's own memory that a step makes, with its value, which the next step gives.
pub(super) fn read<'a>(cfg: &'a Cfg<'_>, step: &Step, next: &Step) -> Option<(&'a Access, NodeId)> {
    let read = access(cfg, step).filter(|access| access.kind == AccessKind::Read)?;
    let StepKind::Value(ValueStep::Evaluate(value)) = next.kind else { return None };
    let Source::Load(root @ Root::Shared(_)) = cfg.nodes[value.0].source else { return None };
    (root == read.region.root).then_some((read, value))
}

fn access<'a>(cfg: &'a Cfg<'_>, step: &Step) -> Option<&'a Access> {
    let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return None };
    Some(&cfg.accesses[id.0]).filter(|access| access.given_to.is_none())
}

/// Whether an access changes what the read reads.
fn is_same_written(cfg: &Cfg<'_>, read: &Access, write: &Access) -> bool {
    let is_write = match write.kind {
        AccessKind::Write | AccessKind::Atomic => true,
        AccessKind::Read
        | AccessKind::AtomicRead
        | AccessKind::Lent
        | AccessKind::AsyncWrite
        | AccessKind::Opaque
        | AccessKind::ByClosure => false,
    };
    let overlaps = match (read.covers, write.covers) {
        (Covers::Field(Some(read)), Covers::Field(Some(write))) => read == write,
        (read, write) => {
            let is_known = |covers| matches!(covers, Covers::Whole | Covers::Field(_));
            is_known(read) && is_known(write) && (read == Covers::Whole || write == Covers::Whole)
        }
    };
    is_write
        && overlaps
        && read.region.root == write.region.root
        && fixed(cfg, &read.region).is_some_and(|read| fixed(cfg, &write.region) == Some(read))
}

/// The numbers that select one element, if all of them are in the text.
fn fixed(cfg: &Cfg<'_>, region: &Region) -> Option<Vec<u64>> {
    let is_element = region.via.is_none() && !region.open && !region.part && !region.path.is_empty();
    let index = |select: &Select| match select {
        Select::At(index) => cfg.nodes[cfg.origin(*index).0].source.integer(),
        Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown => None,
    };
    region.path.iter().map(index).collect::<Option<_>>().filter(|_| is_element)
}

/// Whether other threads may have told the thread here that they have read: those of the block, or of the warp alone (`warp`).
fn meets(cfg: &Cfg<'_>, step: &Step, warp: bool) -> bool {
    match &step.kind {
        StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => {
            !team.group.is_of_a_warp() || warp && is_warp(team)
        }
        StepKind::Group(GroupStep::Wait { .. } | GroupStep::WaitElected { .. }) => true,
        StepKind::BarrierCall(call) => cfg.barrier_calls[call.0].method.action.observation().is_some(),
        StepKind::Call(call) => !cfg.calls[call.0].is_of_values(),
        StepKind::Memory(MemoryStep::Access(id)) => cfg.accesses[id.0].kind == AccessKind::AtomicRead,
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Arrive { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_),
        )
        | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Value(_)
        | StepKind::Copy(_)
        | StepKind::Token(_) => false,
    }
}
