//! The breadth-first search over the states of a machine, so that the first fault that is found has a shortest trace.

use super::automaton::Action;
use super::ledger::Ledger;
use super::machine::{Machine, State};
use super::moves::{Mode, Move, Outcome, attempt, begin, moves};
use super::rotation::Rotation;
use super::table::Table;
use super::verdict::{Event, Fault, Reason, Waiting};

/// How a search ended.
pub(super) struct Search {
    pub(super) states: usize,
    pub(super) fault: Option<(Fault, Vec<Event>)>,
    /// Why there is no proof, if there is no fault.
    pub(super) reason: Option<Reason>,
}

/// How a state was found first.
struct Found {
    parent: usize,
    /// The move from the parent, none for a state before the first move.
    by: Option<Move>,
    /// The number of the state among those after the move.
    fork: usize,
    /// The turns that brought it to its representative.
    turns: usize,
}

struct Searcher<'a> {
    machine: &'a Machine,
    rotation: Option<&'a Rotation>,
    reduced: bool,
    table: Table<u16>,
    found: Vec<Found>,
}

/// Visits the states that can be reached.
pub(super) fn search(
    machine: &Machine,
    rotation: Option<&Rotation>,
    ledger: &mut Ledger,
    reduced: bool,
    limit: usize,
) -> Search {
    let mode = Mode { reduced, logged: false };
    let mut searcher = Searcher { machine, rotation, reduced, table: Table::new(machine.size), found: Vec::new() };
    let (outcome, mut reason) = begin(machine, ledger, mode);
    match outcome {
        Outcome::States(states) => searcher.add(states, 0, None),
        Outcome::Blocked => {}
        Outcome::Fault(fault, log) => return Search { states: 0, fault: Some((*fault, log)), reason: None },
    }
    let mut number = 0;
    while number < searcher.table.len() {
        let state = searcher.table.state(number).to_vec();
        let (first, rest) = moves(machine, &state, reduced);
        let mut moved = false;
        for (at, chosen) in first.iter().chain(&rest).enumerate() {
            if at >= first.len() && moved {
                break;
            }
            let (outcome, cut) = attempt(machine, ledger, &state, *chosen, mode);
            reason = reason.or(cut);
            match outcome {
                Outcome::Blocked => {}
                Outcome::States(states) => {
                    moved = true;
                    searcher.add(states, number, Some(*chosen));
                }
                Outcome::Fault(fault, log) => {
                    let traced = searcher.trace(number, Some(*chosen)).unwrap_or((*fault, log));
                    return Search { states: searcher.table.len(), fault: Some(traced), reason: None };
                }
            }
        }
        if !moved && let Some(fault) = deadlock(machine, &state) {
            let traced = searcher.trace(number, None).unwrap_or((fault, Vec::new()));
            return Search { states: searcher.table.len(), fault: Some(traced), reason: None };
        }
        if searcher.table.len() > limit {
            reason = Some(Reason::States);
            break;
        }
        number += 1;
    }
    Search { states: searcher.table.len(), fault: None, reason }
}

/// Returns the fault of a state in which nothing can happen, unless all threads have exited.
pub(super) fn deadlock(machine: &Machine, state: &[u16]) -> Option<Fault> {
    let waiting = (0..machine.actors.len()).filter(|actor| !machine.ended(state, *actor));
    let waiting = waiting.map(|actor| {
        let node = machine.node(state, actor);
        let barrier = match node.action {
            Action::Wait { barrier, .. } | Action::WaitToken { barrier } => Some(machine.barrier_state(state, barrier)),
            _ => None,
        };
        Waiting { threads: machine.actors[actor].threads, step: node.id, index: node.index(), barrier }
    });
    let waiting: Vec<_> = waiting.collect();
    (!waiting.is_empty()).then_some(Fault::Deadlock { waiting })
}

impl Searcher<'_> {
    fn add(&mut self, states: Vec<(State, Vec<Event>)>, parent: usize, by: Option<Move>) {
        for (fork, (mut state, _)) in states.into_iter().enumerate() {
            let turns = self.rotation.map_or(0, |rotation| rotation.apply(self.machine, &mut state));
            if self.table.insert(&state) {
                self.found.push(Found { parent, by, fork, turns });
            }
        }
    }

    /// Repeats the moves that lead to a state, and then one that has a fault or none, without turning the states; returns the
    /// fault and what happens before it.
    fn trace(&self, last: usize, fatal: Option<Move>) -> Option<(Fault, Vec<Event>)> {
        let mut path = vec![&self.found[last]];
        while path[path.len() - 1].by.is_some() {
            path.push(&self.found[path[path.len() - 1].parent]);
        }
        let mode = Mode { reduced: self.reduced, logged: true };
        let mut ledger = Ledger::new(self.machine.places.barriers.len());
        let (mut state, mut events, mut turns) = (Vec::new(), Vec::new(), 0);
        for found in path.iter().rev() {
            let (outcome, _) = match found.by {
                Some(by) => attempt(self.machine, &mut ledger, &state, self.before(by, turns), mode),
                None => begin(self.machine, &mut ledger, mode),
            };
            let Outcome::States(states) = outcome else { return None };
            let (next, log) = states.into_iter().nth(found.fork)?;
            state = next;
            events.extend(log);
            turns += found.turns;
        }
        let Some(fatal) = fatal else { return Some((deadlock(self.machine, &state)?, events)) };
        match attempt(self.machine, &mut ledger, &state, self.before(fatal, turns), mode).0 {
            Outcome::Fault(fault, log) => {
                events.extend(log);
                Some((*fault, events))
            }
            Outcome::Blocked | Outcome::States(_) => None,
        }
    }

    fn before(&self, chosen: Move, turns: usize) -> Move {
        self.rotation.map_or(chosen, |rotation| rotation.before(chosen, turns))
    }
}
