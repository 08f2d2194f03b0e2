//! Stale parities: a thread waits at a barrier again, although it has answered at the partner barrier since, and passes by the phase
//! that it waited for before. Nobody hangs and nothing races, but the thread takes old data for new. One run is followed, not all.

use std::collections::{BTreeMap, BTreeSet};

use super::ledger::Ledger;
use super::machine::Machine;
use super::moves::{Mode, Outcome, attempt, begin, moves};
use super::skeleton::{Op, Role, Skeleton};
use super::verdict::{Event, EventAction, Object, Reason, Threads};

/// The largest number of moves of a run.
const LONGEST: usize = 4000;

/// A wait that passes by a phase that the thread has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The threads that wait.
    pub threads: Threads,
    /// The barrier at which they wait.
    pub barrier: Object,
    /// The caller's number of the first wait for the phase.
    pub first: u32,
    /// The barrier at which they arrive in between.
    pub partner: Object,
    /// The caller's number of the arrival.
    pub answer: u32,
    /// The caller's number of the second wait for the phase.
    pub again: u32,
}

/// Looks for a stale parity in one run of a skeleton, whose runs are all alike in this.
pub(super) fn stale(skeleton: &Skeleton, machine: Machine) -> Option<Stale> {
    let events = run(skeleton, machine).ok()?;
    let mut seen = Seen::of(skeleton);
    events.iter().for_each(|event| seen.note(event));
    seen.found.iter().find(|(stale, phase)| seen.is_ring(stale, *phase)).map(|(stale, _)| *stale)
}

/// Returns whether the text allows a stale parity: after a wait, a counter that names a wait's barrier or parity may begin anew, or
/// the thread may come to a wait again whose parity is always the same.
pub fn may_be_stale(skeleton: &Skeleton) -> bool {
    skeleton.roles.iter().any(|role| {
        let waits = || {
            role.steps.iter().enumerate().filter_map(|(at, step)| match &step.op {
                Op::Wait { barrier, parity } => Some((at, barrier, parity)),
                _ => None,
            })
        };
        let named: BTreeSet<u32> =
            waits().flat_map(|(_, barrier, parity)| barrier.index.counters().chain(parity.counters())).collect();
        let after = following(role, waits().map(|(at, ..)| at).collect());
        let begins_anew = |at: &usize| match role.steps.get(*at).map(|step| &step.op) {
            Some(Op::Set(values)) => {
                values.iter().any(|(counter, value)| named.contains(counter) && !value.has_counters())
            }
            _ => false,
        };
        after.iter().any(begins_anew) || waits().any(|(at, _, parity)| !parity.has_counters() && after.contains(&at))
    })
}

/// Returns the steps that may come after some steps.
fn following(role: &Role, mut work: Vec<usize>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    while let Some(at) = work.pop() {
        let Some(step) = role.steps.get(at) else { continue };
        work.extend(step.op.targets(at).into_iter().filter(|next| seen.insert(*next)));
    }
    seen
}

/// Follows one run of a skeleton, with as few actors as it has.
fn run(skeleton: &Skeleton, mut machine: Machine) -> Result<Vec<Event>, Reason> {
    let whole = vec![1; machine.units.len()];
    machine.split(skeleton, &whole)?;
    let mut ledger = Ledger::new(machine.places.barriers.len());
    let mode = Mode { reduced: false, logged: true };
    let mut events = Vec::new();
    let Outcome::States(begun) = begin(&machine, &mut ledger, mode).0 else { return Ok(events) };
    let Some((mut state, log)) = begun.into_iter().next() else { return Ok(events) };
    events.extend(log);
    for _ in 0..LONGEST {
        let (first, rest) = moves(&machine, &state, mode.reduced);
        let next = first.iter().chain(&rest).find_map(|chosen| {
            match attempt(&machine, &mut ledger, &state, *chosen, mode).0 {
                Outcome::States(states) => states.into_iter().next(),
                Outcome::Blocked | Outcome::Fault(..) => None,
            }
        });
        let Some((after, log)) = next else { return Ok(events) };
        state = after;
        events.extend(log);
    }
    Err(Reason::States)
}

/// What a thread has done at a barrier since it waited there.
#[derive(Clone, Copy)]
struct Waited {
    phase: u32,
    step: u32,
    answered: Option<(Object, u32)>,
}

/// What has happened in a run.
struct Seen<'a> {
    skeleton: &'a Skeleton,
    /// The number of phases of each barrier that are complete, with the parity of the next one.
    phases: BTreeMap<Object, (u32, bool)>,
    waited: BTreeMap<(Threads, Object), Waited>,
    /// The barrier at which a thread has waited, if it has arrived nowhere since.
    last: BTreeMap<Threads, Object>,
    /// The barriers for whose phases some thread has waited, each with the one at which it arrived next.
    partners: BTreeSet<(Object, Object)>,
    found: Vec<(Stale, u32)>,
}

impl<'a> Seen<'a> {
    fn of(skeleton: &'a Skeleton) -> Seen<'a> {
        Seen {
            skeleton,
            phases: BTreeMap::new(),
            waited: BTreeMap::new(),
            last: BTreeMap::new(),
            partners: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    fn note(&mut self, event: &Event) {
        let Some(state) = event.barrier else { return };
        let barrier = state.barrier;
        let phase = self.phases.entry(barrier).or_insert((0, false));
        if phase.1 != state.parity {
            *phase = (phase.0 + 1, state.parity);
        }
        let phase = phase.0;
        let EventAction::Step { threads, step, index } = event.action else { return };
        let op = self.skeleton.op(threads, index);
        if let Some(Op::Wait { .. }) = op {
            self.wait(threads, step, barrier, phase);
        } else if let Some(Op::Arrive { .. }) = op {
            let Some(from) = self.last.remove(&threads) else { return };
            self.partners.insert((from, barrier));
            if let Some(waited) = self.waited.get_mut(&(threads, from)) {
                waited.answered = Some((barrier, step));
            }
        }
    }

    fn wait(&mut self, threads: Threads, step: u32, barrier: Object, phase: u32) {
        self.last.insert(threads, barrier);
        let before = self.waited.get(&(threads, barrier));
        if let Some(Waited { phase: known, step: first, answered: Some((partner, answer)) }) = before.copied()
            && known == phase
            && phase > 0
        {
            self.found.push((Stale { threads, barrier, first, partner, answer, again: step }, phase));
        }
        self.waited.insert((threads, barrier), Waited { phase, step, answered: None });
    }

    /// Whether the two barriers are a stage's: others answer each phase of one in the next phase of the other, and have done so again.
    fn is_ring(&self, stale: &Stale, phase: u32) -> bool {
        let stages = |of: Object| self.skeleton.barriers[of.array as usize].stages();
        let (barrier, partner) = (stale.barrier, stale.partner);
        let goes_on = self.phases.get(&barrier).is_some_and(|(phases, _)| *phases > phase);
        let alike = barrier.index == partner.index && stages(barrier) == stages(partner);
        goes_on && alike && barrier != partner && self.partners.contains(&(partner, barrier))
    }
}
