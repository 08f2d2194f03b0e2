//! Which threads are actors of their own. A role of many threads is one actor, the rest; in each search some roles are split
//! into single threads and the rest, so that every pair of threads that a fault can be about is single in some search.

use super::automaton::Action;
use super::machine::Machine;
use super::skeleton::{Condition, Op, Role, Skeleton, Step};
use super::verdict::Reason;

/// The numbers of actors of all units, for each search.
pub(super) struct Splits {
    pub(super) searches: Vec<Vec<u32>>,
    /// The search in which all units are split at once.
    pub(super) all: Vec<u32>,
    /// Whether each thread is an actor of its own.
    pub(super) exact: bool,
}

/// Chooses the searches.
pub(super) fn splits(machine: &Machine) -> Splits {
    let units = &machine.units;
    let whole = vec![1; units.len()];
    let fills = |unit: usize| slots(machine, unit, true);
    let mut all = whole.clone();
    let mut searches: Vec<Vec<u32>> = Vec::new();
    // Threads that only meet others are together in all that anybody can see.
    let concerned = |unit: &usize| units[*unit].threads > 1 && !only_meets(machine, *unit);
    let many: Vec<usize> = (0..units.len()).filter(concerned).collect();
    for (at, unit) in many.iter().enumerate() {
        // Two threads of a unit can be in conflict only where they fill.
        let own = units[*unit].threads.min(if fills(*unit).is_empty() { 2 } else { 3 });
        all[*unit] = own;
        let mut search = whole.clone();
        search[*unit] = own;
        searches.push(search);
        for other in &many[at + 1..] {
            let (one, two) =
                ((fills(*unit), slots(machine, *unit, false)), (fills(*other), slots(machine, *other, false)));
            let meet = |filled: &[usize], used: &[usize]| filled.iter().any(|slot| used.contains(slot));
            if meet(&one.0, &two.1) || meet(&two.0, &one.1) || meet(&one.0, &two.0) {
                let mut search = whole.clone();
                (search[*unit], search[*other]) = (2, 2);
                searches.push(search);
            }
        }
    }
    let is_exact = |search: &Vec<u32>| many.iter().all(|unit| units[*unit].threads <= search[*unit]);
    if many.is_empty() || searches.iter().any(is_exact) {
        let mut exact = whole;
        many.iter().for_each(|unit| exact[*unit] = units[*unit].threads);
        let searches = vec![exact];
        return Splits { searches, all, exact: true };
    }
    let within = |one: &[u32], other: &[u32]| one != other && one.iter().zip(other).all(|(one, other)| one <= other);
    let needed = searches.iter().filter(|one| !searches.iter().any(|other| within(one, other))).cloned();
    Splits { searches: needed.collect(), all, exact: false }
}

/// Returns whether the threads of a unit meet others and exit, and do nothing else.
fn only_meets(machine: &Machine, unit: usize) -> bool {
    let mut nodes = machine.automata[unit].nodes.iter();
    nodes.all(|node| {
        let decides = matches!(node.action, Action::Shared | Action::Ahead(_) | Action::Constant(_));
        decides || matches!(node.action, Action::Sync { .. } | Action::End)
    })
}

/// Returns the slots that the threads of a unit fill, or read.
fn slots(machine: &Machine, unit: usize, fill: bool) -> Vec<usize> {
    let nodes = machine.automata[unit].nodes.iter();
    let slots = nodes.filter_map(|node| match node.action {
        Action::BeginFill { slot, .. } if fill => Some(slot),
        Action::Share { one, .. } if fill => Some(machine.places.copies[one].slot),
        Action::BeginRead { slot, .. } | Action::Store { slot, .. } if !fill => Some(slot),
        Action::Copy { kind, .. } if !fill => machine.places.copies[kind].from,
        _ => None,
    });
    slots.collect()
}

/// Returns why a role of several threads may not be represented by fewer.
pub(super) fn not_represented(skeleton: &Skeleton) -> Option<Reason> {
    skeleton.roles.iter().filter(|role| role.threads > 1).find_map(|role| {
        (0..role.steps.len()).find_map(|at| {
            let step = role.steps[at].id;
            match &role.steps[at].op {
                Op::Expect { .. } | Op::Copy { .. } => Some(Reason::ManyThreads { step }),
                Op::Branch { condition: Condition::Free, .. } if !drops_out(role, at + 1) => {
                    Some(Reason::FreeDecision { step })
                }
                _ => None,
            }
        })
    })
}

/// Returns a step that tests whether a phase is over: it is taken right after the step before, so that some runs are left out.
pub(super) fn tests(skeleton: &Skeleton) -> Option<Reason> {
    let mut steps = skeleton.roles.iter().flat_map(|role| &role.steps);
    let is_test =
        |step: &&Step| matches!(step.op, Op::Branch { condition: Condition::Over { .. } | Condition::Past { .. }, .. });
    steps.find(is_test).map(|step| Reason::FreeDecision { step: step.id })
}

/// Returns why the shares of a copy need not belong to one phase: a thread of several begins one and does not arrive right afterwards.
pub(super) fn not_owned(machine: &Machine) -> Option<Reason> {
    let many = machine.units.iter().zip(&machine.automata).filter(|(unit, _)| unit.threads > 1);
    let mut nodes = many.flat_map(|(_, automaton)| &automaton.nodes);
    let shared = nodes.find(|node| matches!(node.action, Action::Share { .. }) && !node.owned);
    shared.map(|node| Reason::ManyThreads { step: node.id })
}

/// Returns whether the steps from one on are arrivals that drop out, and then the exit.
fn drops_out(role: &Role, at: usize) -> bool {
    let mut rest = role.steps.iter().skip(at).skip_while(|step| matches!(step.op, Op::Arrive { drops: true, .. }));
    rest.next().is_none_or(|step| matches!(step.op, Op::Leave))
}
