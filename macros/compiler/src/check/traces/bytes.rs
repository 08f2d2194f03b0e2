//! The bytes that phase barriers expect, and those that copies bring to them, by all threads in the whole launch.

use std::collections::BTreeMap;

use super::{Check, Launch};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessKind, BarrierCallId, BlockId, CopyBy, CopyStep, MemoryStep, Region, Root, Shared, Step, StepKind,
};
use crate::check::runs::{Observer, Thread, ThreadId};
use crate::diag::Diag;
use crate::messages;
use crate::model::barrier::PhaseAction;
use crate::span::SpanRange;

/// The largest number of steps that are followed in the runs of all threads.
const STEPS: usize = 20_000;

/// A barrier: its block, its array and its index there.
type BarrierAt = (u64, Shared, u64);

/// The bytes of one barrier in a launch: those that it is told to expect, and those that copies bring.
#[derive(Debug, Default)]
struct Balance {
    expected: u64,
    copied: u64,
    /// Those of them that a thread expects when it has waited there for the last time: it makes ready for a round that does not come.
    late: u64,
    /// Whether a thread waits at it. Nobody notices the bytes of another.
    is_waited: bool,
    /// Where it is told to expect bytes, or where a copy to it begins.
    at: Option<SpanRange>,
}

/// Counts the bytes of one thread after another.
struct Counter<'a, 'f> {
    check: &'a Check<'a, 'f>,
    balances: BTreeMap<BarrierAt, Balance>,
    /// The bytes that the current thread has expected since it waited at a barrier.
    since_wait: BTreeMap<BarrierAt, u64>,
    is_unknown: bool,
}

/// `ring_count`: as many bytes are expected at a barrier as copies bring there.
///
/// ```text
/// if t == 0 { bar.expect_tx(64); let _ = bar.arrive(); } next.store_async(t, x, &next_bar);     // 64 threads send 4 bytes each
/// ```
pub(super) fn check(check: &Check<'_, '_>, launch: Launch) -> Option<Diag> {
    let is = |action: PhaseAction| check.cfg.barrier_calls.iter().any(|call| call.method.action == action);
    if !is(PhaseAction::ExpectTx) || !is(PhaseAction::Copy) {
        return None;
    }
    let mut counter = Counter { check, balances: BTreeMap::new(), since_wait: BTreeMap::new(), is_unknown: false };
    let mut left = STEPS;
    for block in 0..check.blocks {
        for rank in 0..check.threads {
            let id = ThreadId { block: Some(block), rank };
            let ends = check.runs.run(launch, id, &mut left, &mut counter).ok()?;
            if !ends || counter.is_unknown {
                return None;
            }
            for (barrier, late) in std::mem::take(&mut counter.since_wait) {
                counter.balances.entry(barrier).or_default().late += late;
            }
        }
    }
    let is_wrong = |of: &Balance| !(of.expected - of.late..=of.expected).contains(&of.copied);
    let wrong = counter.balances.iter().find(|(_, balance)| balance.is_waited && is_wrong(balance));
    let ((block, shared, _), Balance { expected, copied, at, .. }) = wrong?;
    let name = check.cfg.name_of(check.function, *shared)?.to_string();
    Some(messages::rings::bytes_of_launch((*at)?, &name, *block, (*expected, *copied)))
}

impl Counter<'_, '_> {
    /// The barrier that a region is for a thread.
    fn barrier(&self, thread: &Thread<'_, '_, '_>, region: &Region) -> Option<BarrierAt> {
        let place = thread.place(region)?;
        let (owner, shared) = match place.root {
            Root::Shared(shared) => (thread.id.block?, shared),
            Root::Remote(shared) => (place.owner?.natural()?, shared),
            Root::ReadOnly | Root::Global => return None,
        };
        let index = match place.ranges[..] {
            [] => 0,
            [Some((index, _))] => index.natural()?,
            _ => return None,
        };
        Some((owner, shared, index))
    }

    fn call(&mut self, thread: &Thread<'_, '_, '_>, id: BarrierCallId, (block, number): (BlockId, usize)) {
        let call = &self.check.cfg.barrier_calls[id.0];
        let steps = &self.check.cfg.blocks[block.0].steps;
        let (expected, copied) = match call.method.action {
            PhaseAction::ExpectTx => {
                let bytes = call.operands.last().and_then(|bytes| thread.known(*bytes)).filter(|bytes| !bytes.is_given);
                (bytes.and_then(|bytes| bytes.natural()), Some(0))
            }
            PhaseAction::Copy => match steps.get(number + 1).map(|step| &step.kind) {
                Some(StepKind::Copy(id)) => (Some(0), self.copied(thread, &self.check.cfg.copies[id.0])),
                // It is `store_async`, whose access comes before.
                _ => (Some(0), number.checked_sub(1).and_then(|access| self.sent(&steps[..=access]))),
            },
            PhaseAction::Wait | PhaseAction::WaitParity | PhaseAction::ArriveAndWait | PhaseAction::TryWait => {
                if let Some(barrier) = self.barrier(thread, &call.region) {
                    self.since_wait.insert(barrier, 0);
                    self.balances.entry(barrier).or_default().is_waited = true;
                }
                return;
            }
            PhaseAction::Init
            | PhaseAction::InitCollective
            | PhaseAction::Arrive
            | PhaseAction::ArriveN
            | PhaseAction::ArriveAndDrop
            | PhaseAction::Invalidate => return,
        };
        let (Some(expected), Some(copied), Some(barrier)) = (expected, copied, self.barrier(thread, &call.region))
        else {
            self.is_unknown = true;
            return;
        };
        let balance = self.balances.entry(barrier).or_default();
        balance.expected += expected;
        balance.copied += copied;
        // Of a thread that never waits, others wait for what it expects.
        self.since_wait.entry(barrier).and_modify(|since| *since += expected);
        if expected > 0 || balance.at.is_none() {
            balance.at = Some(call.at);
        }
    }

    /// The bytes of a copy that one thread makes. Other copies tell the barrier themselves how many they bring.
    fn copied(&self, thread: &Thread<'_, '_, '_>, copy: &CopyStep) -> Option<u64> {
        let CopyStep::Begin { reads, writes, by: CopyBy::Thread, .. } = copy else { return Some(0) };
        let is_shared = |region: &&Region| matches!(region.root, Root::Shared(_));
        let region = reads.iter().chain(writes).find(is_shared)?;
        let place = thread.place(region).filter(|place| !place.part)?;
        let (_, shared) = place.root.party()?;
        let elements = match place.ranges[..] {
            [] => self.check.runs.length(shared)?,
            [Some((start, end))] if !start.is_given && !end.is_given => end.natural()?.checked_sub(start.natural()?)?,
            _ => return None,
        };
        elements.checked_mul(self.check.elements.size(shared)?)
    }

    /// The bytes of the element that the last asynchronous write before a step sends.
    fn sent(&self, steps: &[Step]) -> Option<u64> {
        let access = steps.iter().rev().find_map(|step| {
            let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return None };
            let access = &self.check.cfg.accesses[id.0];
            (access.kind == AccessKind::AsyncWrite).then_some(access)
        });
        self.check.elements.size(access?.region.root.party()?.1)
    }

    /// What threads may do to barriers at a step that is not followed.
    fn hides(&self, step: &Step) -> bool {
        match step.kind {
            StepKind::BarrierCall(id) => match self.check.cfg.barrier_calls[id.0].method.action {
                PhaseAction::ExpectTx | PhaseAction::Copy => true,
                PhaseAction::Init
                | PhaseAction::InitCollective
                | PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::Wait
                | PhaseAction::WaitParity
                | PhaseAction::ArriveAndWait
                | PhaseAction::TryWait
                | PhaseAction::Invalidate => false,
            },
            StepKind::Call(_) => true,
            StepKind::Memory(MemoryStep::Access(id)) => matches!(
                self.check.cfg.accesses[id.0].kind,
                AccessKind::Opaque | AccessKind::Lent | AccessKind::ByClosure
            ),
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::Copy(_) => false,
        }
    }
}

impl Observer for Counter<'_, '_> {
    fn step(&mut self, thread: &Thread<'_, '_, '_>, at: (BlockId, usize), step: &Step) {
        match step.kind {
            StepKind::BarrierCall(call) => self.call(thread, call, at),
            StepKind::Call(_) | StepKind::Memory(_) => self.is_unknown |= self.hides(step),
            StepKind::Value(_) | StepKind::Group(_) | StepKind::Token(_) | StepKind::Copy(_) => {}
        }
    }

    fn iterates(&mut self) -> bool {
        false
    }

    fn shortens(&self) -> bool {
        false
    }

    fn sees_values(&self) -> bool {
        false
    }

    fn pass_over(&mut self, _branch: BlockId, blocks: &BlockSet) {
        let mut steps = blocks.iter().flat_map(|block| &self.check.cfg.blocks[block.0].steps);
        self.is_unknown |= steps.any(|step| self.hides(step));
    }
}
