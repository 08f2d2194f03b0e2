//! What can happen next in a state. Consecutive steps of one actor are one move where no other order of them with the steps of
//! others can show a fault that this order hides; the conditions are those of docs/analyses.md.

use super::automaton::{Action, OWNED};
use super::ledger::Ledger;
use super::machine::{ACTOR, BARRIER, Machine, State, decision, units};
use super::normal::normalise;
use super::places::CopyKind;
use super::step::{Done, Stop, Work};
use super::verdict::{Event, Fault, Reason};

/// Who moves: an actor, a copy that lands, or all those of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Actor(usize),
    Land(usize),
    LandAll(usize),
}

/// What comes of a move.
pub(super) enum Outcome {
    /// It cannot happen yet.
    Blocked,
    /// The states after it, one for each way to decide, each with what happened.
    States(Vec<(State, Vec<Event>)>),
    Fault(Box<Fault>, Vec<Event>),
}

/// How moves are formed.
#[derive(Clone, Copy)]
pub(super) struct Mode {
    /// Whether steps are joined, and copies land late.
    pub(super) reduced: bool,
    /// Whether events are recorded.
    pub(super) logged: bool,
}

/// The decisions in a window.
const WINDOW: u16 = 60;
/// The steps that are joined, and the decisions that are taken in one move.
const JOINED: u8 = 16;
const TURNS: u8 = 4;

/// Returns the moves to try in a state: first those that come before all others, then the rest, for the case that none of them
/// can happen.
pub(super) fn moves(machine: &Machine, state: &[u16], reduced: bool) -> (Vec<Move>, Vec<Move>) {
    let (mut first, mut rest, mut awaited) = (Vec::new(), Vec::new(), Vec::new());
    let mut actor = 0;
    while actor < machine.actors.len() {
        if let Action::Wait { barrier, .. } | Action::WaitToken { barrier } = machine.node(state, actor).action {
            awaited.push(barrier);
        }
        if !is_blocked(machine, state, actor) {
            first.push(Move::Actor(actor));
        }
        actor += 1;
    }
    let mut kind = 0;
    while kind < machine.places.copies.len() {
        if state[machine.copies_at + kind] > 0 {
            let barrier = machine.places.copies[kind].barrier;
            let awaited = awaited.contains(&barrier);
            match if reduced { landing(machine, state, barrier) } else { Landing::Each } {
                Landing::Together if awaited => first.push(Move::LandAll(barrier)),
                Landing::Each if !reduced || awaited => first.push(Move::Land(kind)),
                Landing::Each | Landing::Together | Landing::Later => rest.push(Move::Land(kind)),
            }
        }
        kind += 1;
    }
    first.dedup();
    (first, rest)
}

/// Returns whether an actor has exited, or waits for a phase that is not over.
pub(super) fn is_blocked(machine: &Machine, state: &[u16], actor: usize) -> bool {
    match machine.node(state, actor).action {
        Action::End => true,
        Action::Wait { barrier, parity } => (state[machine.barriers_at + BARRIER * barrier] % 2 == 1) == parity,
        // The first of those who meet goes on with the others.
        Action::Sync { meeting, ref among } => !machine.meets(state, actor, meeting, among),
        _ => false,
    }
}

/// Which copies for a barrier have to land before the rest can happen.
enum Landing {
    /// The phase lacks arrivals, so that no landing completes it.
    Later,
    /// The phase lacks what is in flight, and nothing else.
    Together,
    Each,
}

fn landing(machine: &Machine, state: &[u16], barrier: usize) -> Landing {
    let fields = &state[machine.barriers_at + BARRIER * barrier..][..BARRIER];
    if fields[0] >> 1 != 0 {
        return Landing::Later;
    }
    let copies =
        machine.places.copies.iter().zip(&state[machine.copies_at..]).filter(|(copy, _)| copy.barrier == barrier);
    let in_flight: i64 = copies.map(|(copy, count)| i64::from(copy.units) * i64::from(*count)).sum();
    if i64::from(units(fields)) == in_flight { Landing::Together } else { Landing::Each }
}

/// Tries a move.
pub(super) fn attempt(
    machine: &Machine,
    ledger: &mut Ledger,
    state: &[u16],
    chosen: Move,
    mode: Mode,
) -> (Outcome, Option<Reason>) {
    let log = mode.logged.then(Vec::new);
    let mut work = Work { machine, ledger, state: state.to_vec(), log };
    let begun = match chosen {
        Move::Actor(actor) => {
            let mut block = Block { began: false, released: false, copied: None, room: JOINED };
            block.step(&mut work, actor).map(|done| match done {
                Done::Blocked => None,
                Done::Alone => Some((vec![actor], Some(block).filter(|_| mode.reduced))),
                Done::Together(group) => Some((group, None)),
            })
        }
        Move::Land(kind) => work.land(kind).map(|()| Some((Vec::new(), None))),
        Move::LandAll(barrier) => {
            let kinds = machine.places.copies.iter().enumerate().filter(|(_, copy)| copy.barrier == barrier);
            let mut landed = Ok(());
            for (kind, _) in kinds {
                while landed.is_ok() && work.state[machine.copies_at + kind] > 0 {
                    landed = work.land_some(kind);
                }
            }
            landed.map(|()| Some((Vec::new(), None)))
        }
    };
    let log = work.log.take();
    let state = std::mem::take(&mut work.state);
    match begun {
        Ok(None) => (Outcome::Blocked, None),
        Ok(Some((group, block))) => settle(machine, ledger, Fork { state, log, at: 0, block, turns: TURNS }, &group),
        Err(stop) => stopped(stop, log),
    }
}

/// Takes the decisions that actors stand at before anything happens.
pub(super) fn begin(machine: &Machine, ledger: &mut Ledger, mode: Mode) -> (Outcome, Option<Reason>) {
    let group: Vec<usize> = (0..machine.actors.len()).collect();
    let log = mode.logged.then(Vec::new);
    settle(machine, ledger, Fork { state: machine.start(), log, at: 0, block: None, turns: TURNS }, &group)
}

fn stopped(stop: Stop, log: Option<Vec<Event>>) -> (Outcome, Option<Reason>) {
    match stop {
        Stop::Fault(fault) => (Outcome::Fault(fault, log.unwrap_or_default()), None),
        Stop::Cut(reason) => (Outcome::States(Vec::new()), Some(reason)),
    }
}

/// What a move has done so far, as far as it decides which steps may be joined to it.
#[derive(Clone, Copy)]
struct Block {
    /// Whether an access has begun.
    began: bool,
    /// Whether an arrival may have let others go on: it completed a phase, or it followed a copy.
    released: bool,
    /// The barrier of the copies that have begun, or none of several.
    copied: Option<Option<usize>>,
    /// The number of steps that may still be joined.
    room: u8,
}

impl Block {
    /// Executes the step of an actor.
    fn step(&mut self, work: &mut Work<'_>, actor: usize) -> Result<Done, Stop> {
        let machine = work.machine;
        let node = machine.node(&work.state, actor);
        let parity = |work: &Work<'_>, barrier: usize| work.state[machine.barriers_at + BARRIER * barrier] % 2;
        self.room = self.room.saturating_sub(1);
        match node.action {
            Action::BeginRead { .. } | Action::BeginFill { .. } | Action::Store { .. } => self.began = true,
            Action::Copy { kind, .. } | Action::Share { one: kind, .. } => {
                let CopyKind { barrier, from, .. } = machine.places.copies[kind];
                self.began |= from.is_some();
                let one = self.copied.is_none_or(|known| known == Some(barrier));
                self.copied = Some(one.then_some(barrier));
            }
            Action::Arrive { barrier, .. } => {
                let before = parity(work, barrier);
                let done = work.step(actor)?;
                self.released |= self.copied.is_some() || parity(work, barrier) != before;
                return Ok(done);
            }
            _ => {}
        }
        work.step(actor)
    }

    /// Returns whether the step of an actor may be joined: it is always enabled, and it hides no fault of a step of others that
    /// comes before it and after the move's beginning.
    fn may_join(&self, machine: &Machine, state: &[u16], actor: usize) -> bool {
        let node = machine.node(state, actor);
        let own = |barrier: usize| !self.released && self.copied.is_none_or(|copied| copied == Some(barrier));
        self.room > 0
            && match node.action {
                Action::BeginRead { .. } | Action::BeginFill { .. } | Action::Store { .. } | Action::Copy { .. } => {
                    true
                }
                Action::EndRead { .. } | Action::EndFill { .. } | Action::WaitStores { .. } => {
                    !self.began && !self.released && self.copied.is_none()
                }
                Action::Expect { barrier, .. } => node.owned && own(barrier) && self.room > OWNED,
                Action::Share { one, .. } => node.owned && own(machine.places.copies[one].barrier) && self.room > OWNED,
                Action::Arrive { barrier, .. } => own(barrier),
                _ => false,
            }
    }
}

/// A state after a part of a move.
struct Fork {
    state: State,
    log: Option<Vec<Event>>,
    /// The position in the group of the actor that goes on.
    at: usize,
    /// What may be joined, if anything.
    block: Option<Block>,
    turns: u8,
}

/// Takes the decisions that the actors of a group stand at, and joins steps.
fn settle(machine: &Machine, ledger: &mut Ledger, fork: Fork, group: &[usize]) -> (Outcome, Option<Reason>) {
    let (mut open, mut states, mut cut) = (vec![fork], Vec::new(), None);
    while let Some(Fork { state, log, mut at, mut block, mut turns }) = open.pop() {
        let mut work = Work { machine, ledger, state, log };
        let end = loop {
            let Some(actor) = group.get(at).copied() else { break Ok(()) };
            let node = machine.node(&work.state, actor);
            match &node.action {
                decision @ (Action::Shared
                | Action::Ahead(_)
                | Action::Constant(_)
                | Action::Free
                | Action::Over { .. }
                | Action::Past { .. }) => {
                    if let Some(taken) = next_decision(machine, &work.state, actor, decision) {
                        work.state[ACTOR * actor + 1] += u16::from(*decision == Action::Shared);
                        if let Err(stop) = work.go_on(actor, taken) {
                            break Err(stop);
                        }
                    } else if turns == 0 {
                        at += 1;
                    } else {
                        turns -= 1;
                        let (state, log) = (work.state.clone(), work.log.clone());
                        let mut other = Work { machine, ledger: &mut *work.ledger, state, log };
                        let decided = decide(&mut other, actor, decision, false);
                        match decided {
                            Ok(()) => open.push(Fork { state: other.state, log: other.log, at, block, turns }),
                            Err(Stop::Cut(reason)) => cut = Some(reason),
                            Err(stop) => break Err(stop),
                        }
                        if let Err(stop) = decide(&mut work, actor, decision, true) {
                            break Err(stop);
                        }
                    }
                }
                Action::End => match work.leave(actor) {
                    Ok(()) => at += 1,
                    Err(stop) => break Err(stop),
                },
                _ => match &mut block {
                    Some(block) if block.may_join(machine, &work.state, actor) => {
                        if let Err(stop) = block.step(&mut work, actor) {
                            break Err(stop);
                        }
                    }
                    _ => at += 1,
                },
            }
        };
        match end {
            Ok(()) => {
                normalise(machine, &mut work.state);
                states.push((work.state, work.log.unwrap_or_default()));
            }
            Err(Stop::Cut(reason)) => cut = Some(reason),
            Err(stop @ Stop::Fault(_)) => return stopped(stop, work.log),
        }
    }
    (Outcome::States(states), cut)
}

/// Returns the decision that an actor meets if others have taken it before.
fn next_decision(machine: &Machine, state: &[u16], actor: usize, action: &Action) -> Option<bool> {
    let at = machine.stream_at(machine.actors[actor].stream);
    let position = state[ACTOR * actor + 1];
    let known = |position: u16| (position < state[at]).then(|| decision(&state[at..], position));
    match action {
        Action::Shared => known(position),
        // What comes after a decision to end is about something else.
        Action::Ahead(number) => {
            (0..*number).map(|more| known(position + more)).find(|known| *known != Some(true)).unwrap_or(Some(true))
        }
        Action::Constant(number) => machine.constant(state, *number),
        Action::Past { barrier } => {
            let token = machine.actors[actor].tokens.iter().find(|(known, _)| known == barrier);
            Some(token.is_none_or(|(_, at)| state[*at] != 1))
        }
        Action::Over { barrier, parity } => Some((state[machine.barriers_at + BARRIER * barrier] % 2 == 1) != *parity),
        _ => None,
    }
}

fn decide(work: &mut Work<'_>, actor: usize, action: &Action, taken: bool) -> Result<(), Stop> {
    let own = &work.machine.actors[actor];
    if let Action::Constant(number) = action {
        work.state[work.machine.constants_at + *number as usize] = if taken { 1 } else { 2 };
    }
    // Whoever looks ahead takes no decision, but chooses the first that nobody has chosen.
    if matches!(action, Action::Shared | Action::Ahead(_)) {
        let at = work.machine.stream_at(own.stream);
        let position = work.state[at];
        if position >= WINDOW {
            return Err(Stop::Cut(Reason::Lead { role: own.threads.role }));
        }
        work.state[at] += 1;
        work.state[at + 1 + usize::from(position / 16)] |= u16::from(taken) << (position % 16);
        if matches!(action, Action::Ahead(_)) {
            return Ok(());
        }
        work.state[ACTOR * actor + 1] += 1;
    }
    work.go_on(actor, taken)
}
