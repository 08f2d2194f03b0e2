//! Shared arrays whose writers tell the block by a phase barrier: `if t == 0 { tile[0] = next; full.arrive(); } full.wait_parity(p);`. What
//! the threads that have waited read of one element is one value, as after a barrier of the block.
//!
//! This rests on the absence of races, which other rules report. An array that a thread may write after it has read it, with
//! neither a barrier of the block nor a wait at a phase barrier in between, is none of these: the others may not have read yet.

use std::collections::{BTreeMap, BTreeSet};

use super::rewritten::is_rewritten_early;
use crate::check::cfg::{
    Access, AccessKind, BarrierCall, BarrierCallId, BlockId, Cfg, Completion, End, GroupStep, MemoryStep, Region, Root,
    Shared, Step, StepKind,
};

/// The arrays, and the waits that show what their writers tell.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Each array with the phase barrier, or the array of them, by which its writers tell of all writes.
    arrays: BTreeMap<Shared, Shared>,
    /// The blocks of the graph in which waits at phase barriers stand.
    waits: BTreeMap<BarrierCallId, BlockId>,
}

impl Told {
    pub(super) fn of(cfg: &Cfg<'_>) -> Told {
        let arrays = arrays(cfg);
        if arrays.is_empty() {
            return Told::default();
        }
        let wait = |step: &Step| match step.kind {
            StepKind::BarrierCall(call) => waited(&cfg.barrier_calls[call.0]).map(|_| call),
            StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Copy(_)
            | StepKind::Call(_)
            | StepKind::Token(_) => None,
        };
        let blocks = cfg.blocks.iter().enumerate();
        let waits = blocks
            .flat_map(|(number, block)| block.steps.iter().filter_map(wait).map(move |call| (call, BlockId(number))));
        Told { arrays, waits: waits.collect() }
    }

    /// Whether a wait can tell of all writes to an array.
    pub(super) fn tells_of(&self, shared: Shared) -> bool {
        self.arrays.contains_key(&shared)
    }

    /// The arrays of whose writes a wait tells, with the block of the graph in which it stands.
    pub(super) fn by_wait(&self, cfg: &Cfg<'_>, call: BarrierCallId) -> impl Iterator<Item = (Shared, BlockId)> {
        let at = self.waits.get(&call).copied();
        let by = waited(&cfg.barrier_calls[call.0]);
        let arrays = self.arrays.iter().filter(move |(_, told_by)| Some(**told_by) == by);
        at.into_iter().flat_map(move |at| arrays.clone().map(move |(shared, _)| (*shared, at)))
    }
}

fn arrays(cfg: &Cfg<'_>) -> BTreeMap<Shared, Shared> {
    let mut told: BTreeMap<Shared, Option<Shared>> = BTreeMap::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        for (at, step) in block.steps.iter().enumerate() {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some((_, shared)) = access.region.root.party().filter(|_| access.kind.changes()) else { continue };
            // It may be any array.
            if !matches!(shared, Shared::Array(_)) {
                return BTreeMap::new();
            }
            let by = told_by(cfg, access, (BlockId(number), at + 1));
            let known = told.entry(shared).or_insert(by);
            *known = known.filter(|known| by == Some(*known));
        }
    }
    let lent = |region: &Region| region.root.party().map(|(_, shared)| shared);
    for shared in cfg.calls.iter().flat_map(|call| call.regions.iter().flatten()).filter_map(lent) {
        told.remove(&shared);
    }
    let told = told.into_iter().filter_map(|(shared, by)| Some((shared, by?)));
    told.filter(|(shared, _)| !is_rewritten_before_others_tell(cfg, *shared)).collect()
}

/// The phase barrier of the own block at which a call waits.
fn waited(call: &BarrierCall) -> Option<Shared> {
    match call.region.root {
        Root::Shared(shared @ Shared::Array(_)) if call.method.action.waits() => Some(shared),
        Root::Shared(_) | Root::Remote(_) | Root::ReadOnly | Root::Global => None,
    }
}

/// The phase barrier that tells of a write: that of an asynchronous copy, or the one at which the writer arrives on all paths before it
/// does anything by which others could learn of more.
fn told_by(cfg: &Cfg<'_>, access: &Access, after: (BlockId, usize)) -> Option<Shared> {
    match (access.kind, access.completion, access.region.root) {
        (AccessKind::AsyncWrite, Some(Completion::Barrier(by @ Shared::Array(_))), _) => return Some(by),
        (AccessKind::Write, None, Root::Shared(_)) if access.given_to.is_none() => {}
        _ => return None,
    }
    let (mut by, mut work, mut seen) = (None, vec![after], BTreeSet::new());
    while let Some((block, from)) = work.pop() {
        let content = &cfg.blocks[block.0];
        match content.steps[from..].iter().find_map(|step| next(cfg, step)) {
            Some(Next::Arrival(at)) if by.is_none_or(|by| by == at) => by = Some(at),
            Some(Next::Arrival(_) | Next::Other) => return None,
            None if matches!(content.end, End::Leave) => return None,
            None => {
                let successors = content.end.successors();
                work.extend(successors.filter(|block| seen.insert(*block)).map(|block| (block, 0)));
            }
        }
    }
    by
}

/// The next thing that a thread does by which others learn of it, or that is none.
enum Next {
    /// An arrival at a phase barrier of its block.
    Arrival(Shared),
    Other,
}

fn next(cfg: &Cfg<'_>, step: &Step) -> Option<Next> {
    match &step.kind {
        StepKind::BarrierCall(call) => {
            let call = &cfg.barrier_calls[call.0];
            match call.region.root {
                Root::Shared(at @ Shared::Array(_)) if call.method.action.arrives() => Some(Next::Arrival(at)),
                _ if call.method.action.arrives() || call.method.action.waits() => Some(Next::Other),
                Root::ReadOnly | Root::Global | Root::Shared(_) | Root::Remote(_) => None,
            }
        }
        StepKind::Group(GroupStep::Collective { barrier: true, team, .. }) => {
            (!team.group.is_of_a_warp()).then_some(Next::Other)
        }
        StepKind::Group(
            GroupStep::Arrive { .. }
            | GroupStep::Wait { .. }
            | GroupStep::ArriveForgotten { .. }
            | GroupStep::WaitElected { .. },
        ) => Some(Next::Other),
        StepKind::Call(call) if !cfg.calls[call.0].is_of_values() => Some(Next::Other),
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_),
        )
        | StepKind::Call(_)
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Copy(_)
        | StepKind::Token(_) => None,
    }
}

/// Whether a thread may come from a read of an array to a write with nothing in between by which it could know that others have read.
fn is_rewritten_before_others_tell(cfg: &Cfg<'_>, shared: Shared) -> bool {
    let learns = |step: &Step| match &step.kind {
        StepKind::BarrierCall(call) => cfg.barrier_calls[call.0].method.action.waits(),
        StepKind::Group(GroupStep::Collective { team, barrier: true, .. }) => !team.group.is_of_a_warp(),
        StepKind::Group(GroupStep::Wait { .. }) => true,
        StepKind::Group(_)
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Copy(_)
        | StepKind::Call(_)
        | StepKind::Token(_) => false,
    };
    is_rewritten_early(cfg, |access| access.region.root.party().is_some_and(|(_, of)| of == shared), learns)
}
