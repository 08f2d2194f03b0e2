//! What mends a fault of a ring, as far as its interleaving shows: which arrivals a phase lacks, and which lane arrives for others.

use super::assemble::Assembled;
use super::kernel::WARP;
use super::warps::Unit;
use crate::rings::{BarrierState, Event, EventAction, Object, Op, Step, Threads, Waiting};

/// Why a phase does not get all of its arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// All threads that arrive in the phase have done so, and so many arrivals have come.
    Fewer { came: u32, expected: u32 },
    /// No thread ever arrives.
    All,
}

/// The wait in the end of an interleaving whose phase lacks arrivals that nobody has left to make.
pub(super) fn lacking<'w>(
    assembled: &Assembled,
    waiting: &'w [Waiting],
    trace: &[Event],
) -> Option<(&'w Waiting, BarrierState, Lack)> {
    let arrives = |role: u32, array: u32| arrivals(assembled, role, array).next().is_some();
    waiting.iter().find_map(|wait| {
        let state = wait.barrier?;
        let array = state.barrier.array;
        let expected = assembled.skeleton.barriers[array as usize].counts[state.barrier.index as usize];
        let roles = || 0..u32::try_from(assembled.skeleton.roles.len()).unwrap_or(u32::MAX);
        if !roles().any(|role| arrives(role, array)) && state.arrivals > 0 {
            return Some((wait, state, Lack::All));
        }
        let drops = roles().flat_map(|role| arrivals(assembled, role, array)).any(|drops| drops);
        let came = expected.checked_sub(state.arrivals).filter(|came| *came > 0 && state.arrivals > 0 && !drops)?;
        let mut owed = waiting.iter().filter(|other| arrives(other.threads.role, array));
        let all_came = owed.all(|other| has_arrived(assembled, other.threads, state, expected, trace));
        all_came.then_some((wait, state, Lack::Fewer { came, expected }))
    })
}

/// For each arrival of a role at an array of barriers, whether it drops out.
fn arrivals(assembled: &Assembled, role: u32, array: u32) -> impl Iterator<Item = bool> {
    assembled.skeleton.roles[role as usize].steps.iter().filter_map(move |step| {
        let Op::Arrive { barrier, drops, .. } = &step.op else { return None };
        (barrier.array == array).then_some(*drops)
    })
}

/// Whether threads have arrived in a barrier's current phase.
fn has_arrived(assembled: &Assembled, threads: Threads, now: BarrierState, expected: u32, trace: &[Event]) -> bool {
    let of_barrier = trace.iter().rev().filter_map(|event| {
        let state = event.barrier.filter(|state| state.barrier == now.barrier)?;
        Some((event, state))
    });
    // What completes a phase finds all arrivals of the next one to be lacking.
    let of_phase = of_barrier.take_while(|(_, state)| state.parity == now.parity && state.arrivals < expected);
    of_phase.into_iter().any(|(event, _)| match event.action {
        EventAction::Step { threads: other, index, .. } => {
            other == threads && matches!(assembled.skeleton.op(other, index), Some(Op::Arrive { .. }))
        }
        EventAction::Lands { .. } | EventAction::Stored { .. } => false,
    })
}

/// Whether one lane has arrived somewhere for threads of its warp, which read a slot meanwhile and arrive nowhere themselves.
pub(super) fn reads_behind_a_lane(assembled: &Assembled, slot: Object, trace: &[Event]) -> bool {
    let mut reading: Vec<Threads> = Vec::new();
    for event in trace.iter().filter(|event| event.slot == Some(slot)) {
        let EventAction::Step { threads, index, .. } = event.action else { continue };
        match assembled.skeleton.op(threads, index) {
            Some(Op::BeginRead { .. } | Op::Store { .. }) => reading.push(threads),
            Some(Op::EndRead { .. }) => reading.retain(|other| *other != threads),
            _ => {}
        }
    }
    reading.into_iter().any(|threads| is_led(assembled, threads, trace))
}

/// Whether a lane has arrived somewhere for these threads of its warp, which arrive nowhere themselves.
pub(super) fn is_led(assembled: &Assembled, threads: Threads, trace: &[Event]) -> bool {
    let arrives = |role: u32| {
        assembled.skeleton.roles[role as usize].steps.iter().any(|step| matches!(step.op, Op::Arrive { .. }))
    };
    let (ranks, unit) = &assembled.threads[threads.role as usize];
    let shares_a_warp = |rank: &u32| ranks.iter().any(|other| other / WARP == rank / WARP);
    *unit == Unit::Thread
        && !arrives(threads.role)
        && trace.iter().any(|event| match event.action {
            EventAction::Step { threads: lane, index, .. } => {
                lane.block == threads.block
                    && matches!(assembled.skeleton.op(lane, index), Some(Op::Arrive { .. }))
                    && assembled.threads[lane.role as usize].0.iter().any(shares_a_warp)
            }
            EventAction::Lands { .. } | EventAction::Stored { .. } => false,
        })
}

/// Whether a lane has arrived somewhere before its warp had come so far.
pub(super) fn arrives_early(assembled: &Assembled, trace: &[Event]) -> bool {
    trace.iter().any(|event| match event.action {
        EventAction::Step { threads, step, index } => {
            assembled.early.contains(&step) && matches!(assembled.skeleton.op(threads, index), Some(Op::Arrive { .. }))
        }
        EventAction::Lands { .. } | EventAction::Stored { .. } => false,
    })
}

/// Whether a warp has a wait somewhere, which may be that of a lane.
pub(super) fn may_wait_by_a_lane(assembled: &Assembled, threads: Threads) -> bool {
    let role = threads.role as usize;
    let waits = |steps: &[Step]| steps.iter().any(|step| matches!(step.op, Op::Wait { .. }));
    assembled.threads[role].1 == Unit::Warp && waits(&assembled.skeleton.roles[role].steps)
}
