//! A few runs of a skeleton that has too many states for a search: each puts one actor before the others or behind them, and lets
//! copies land as soon or as late as they can. What goes wrong in one of them is a fault, as one that a search finds.

use super::automaton::Action;
use super::ledger::Ledger;
use super::machine::Machine;
use super::moves::{Mode, Move, Outcome, attempt, begin, is_blocked};
use super::search::deadlock;
use super::skeleton::Skeleton;
use super::splits::splits;
use super::verdict::{CountFault, Event, Fault};

/// The largest number of moves of all runs of a launch, so that a run may be long where there are few.
const MOVES: usize = 60_000;

/// The largest number of runs.
const RUNS: usize = 48;

/// Which moves come first in a run.
#[derive(Clone, Copy)]
struct Order {
    /// The actor that differs from the others.
    actor: usize,
    /// Whether it comes before them.
    before: bool,
    /// Whether copies land late.
    late: bool,
}

impl Order {
    /// The moves of a state in this order. The first that can happen is made, so that the others are not looked for.
    fn moves<'a>(self, machine: &'a Machine, state: &'a [u16]) -> impl Iterator<Item = Move> + 'a {
        // Those that are in flight for one barrier land one after the other: hundreds of single elements would use up the run.
        let lands = move |kind: usize| {
            (state[machine.copies_at + kind] > 0).then(|| Move::LandAll(machine.places.copies[kind].barrier))
        };
        let landings = move |is_now: bool| (0..if is_now { machine.places.copies.len() } else { 0 }).filter_map(lands);
        let alone = move |is_now: bool| is_now.then_some(self.actor);
        let actors = move |actors: std::ops::Range<usize>| actors.filter(move |actor| *actor != self.actor);
        let moves = move |actor: usize| (!is_blocked(machine, state, actor)).then_some(Move::Actor(actor));
        let first = alone(self.before).into_iter().chain(actors(0..machine.actors.len())).filter_map(moves);
        let last = alone(!self.before).into_iter().filter_map(moves);
        landings(!self.late).chain(first).chain(landings(self.late)).chain(last)
    }
}

/// Looks for a fault in some runs of a skeleton, where threads that arrive as one complete a phase and go on in the next one.
pub(super) fn sample_in_turn(skeleton: &Skeleton) -> Option<(Fault, Vec<Event>)> {
    let Sampled { fault, surplus } = sampled(skeleton, &mut in_turn(skeleton)?);
    // One by one, too, they have more than there is room for.
    fault.or(surplus)
}

fn in_turn(skeleton: &Skeleton) -> Option<Machine> {
    Some(Machine { carries: true, ..Machine::new(skeleton).ok()? })
}

/// Looks for a fault in some runs of a skeleton; returns it with what happens before.
pub(super) fn sample(skeleton: &Skeleton, mut machine: Machine) -> Option<(Fault, Vec<Event>)> {
    let Sampled { fault, surplus } = sampled(skeleton, &mut machine);
    // Threads that arrive as one may have too many arrivals for a phase where one by one they have not.
    fault.or_else(|| surplus.filter(|_| sample_in_turn(skeleton).is_some()))
}

/// What some runs of a skeleton show, with what happens before.
#[derive(Default)]
struct Sampled {
    fault: Option<(Fault, Vec<Event>)>,
    /// Arrivals of several threads as one, for which a phase has no room.
    surplus: Option<(Fault, Vec<Event>)>,
}

fn sampled(skeleton: &Skeleton, machine: &mut Machine) -> Sampled {
    let mut found = Sampled::default();
    let splits = splits(machine);
    let whole = vec![1; machine.units.len()];
    let mut left = RUNS;
    let mut moves_left = MOVES;
    for split in splits.searches.iter().take(1).chain([&splits.all, &whole]) {
        // Runs of many actors are long, and leave nothing to those of few.
        if *split == whole {
            (left, moves_left) = (RUNS, MOVES);
        }
        if machine.split(skeleton, split).is_err() {
            continue;
        }
        // Where there are many actors, it is not known who has arrived, which shares of copies depend on.
        let mut nodes = machine.automata.iter().flat_map(|automaton| &automaton.nodes);
        if machine.crowded && nodes.any(|node| matches!(node.action, Action::Share { .. })) {
            return found;
        }
        for actor in 0..machine.actors.len() {
            for (before, late) in [(true, false), (false, false), (true, true), (false, true)] {
                let Some(fewer) = left.checked_sub(1) else { return found };
                left = fewer;
                let order = Order { actor, before, late };
                // What happens before a fault is recorded in a second run, which is the same.
                let again = || run(machine, order, &mut MOVES.clone(), true);
                match run(machine, order, &mut moves_left, false) {
                    Some((fault, _)) if is_surplus(&fault) => {
                        if found.surplus.is_none() {
                            found.surplus = again();
                        }
                    }
                    Some((Fault::Count(_), _)) | None => {}
                    Some(_) => {
                        found.fault = again();
                        return found;
                    }
                }
            }
        }
    }
    found
}

/// Whether several threads that arrive as one have more arrivals than a phase lacks.
fn is_surplus(fault: &Fault) -> bool {
    matches!(fault, Fault::Count(CountFault::Arrivals { threads, .. }) if threads.number > 1)
}

/// Follows a run, for as many moves as are left.
fn run(machine: &Machine, order: Order, left: &mut usize, logged: bool) -> Option<(Fault, Vec<Event>)> {
    let mut ledger = Ledger::new(machine.places.barriers.len());
    let mode = Mode { reduced: false, logged };
    let mut events = Vec::new();
    let Outcome::States(begun) = begin(machine, &mut ledger, mode).0 else { return None };
    let (mut state, log) = begun.into_iter().next()?;
    events.extend(log);
    while *left > 0 {
        *left -= 1;
        let mut next = None;
        for chosen in order.moves(machine, &state) {
            match attempt(machine, &mut ledger, &state, chosen, mode) {
                (_, Some(_)) => return None,
                (Outcome::Blocked, None) => {}
                (Outcome::Fault(fault, log), None) => {
                    events.extend(log);
                    return Some((*fault, events));
                }
                (Outcome::States(states), None) => {
                    next = states.into_iter().next();
                    break;
                }
            }
        }
        let Some((after, log)) = next else { return deadlock(machine, &state).map(|fault| (fault, events)) };
        state = after;
        events.extend(log);
    }
    None
}
