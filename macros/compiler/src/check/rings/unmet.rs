//! Lanes of a warp that have not met the one that waits or arrives for them: they may be ahead of its wait, and behind its arrival. For a
//! fault, the warp is then an actor that does what all lanes do before the one lane's wait, or after its arrival, a run of the kernel as
//! far as the others are concerned.

use std::collections::BTreeMap;

use super::walk::Program;
use crate::rings::{Op, Step};

/// Moves each wait of one lane behind what all lanes then do with slots.
pub(super) fn others_go_ahead(program: &mut Program, is_of_all: &BTreeMap<usize, bool>) {
    for at in 0..program.steps.len() {
        let Op::Wait { .. } = &program.steps[at].op else { continue };
        if is_of_all.get(&at) == Some(&false) {
            for next in accesses_behind(program, at, is_of_all).windows(2) {
                exchange(program, next[0], next[1]);
            }
        }
    }
}

/// The step, and the accesses of slots by all lanes that follow it one by one, with collectives that order nothing between them: nobody comes
/// to them otherwise.
fn accesses_behind(program: &Program, wait: usize, is_of_all: &BTreeMap<usize, bool>) -> Vec<usize> {
    let mut path = vec![wait];
    let mut last = wait;
    let mut until = 1;
    while let Some(next) = program.behind_jumps(last + 1) {
        let is_access = is_access_of_all(program, next, is_of_all);
        if !(is_access || orders_nothing(program, next)) || comes_from(program, next) != [Some(last)] {
            break;
        }
        path.push(next);
        if is_access {
            until = path.len();
        }
        last = next;
    }
    path.truncate(until);
    path
}

/// Moves what one lane tells others before what all lanes have done with slots since they met: those that lag behind do it later.
pub(super) fn others_lag_behind(program: &mut Program, mut is_of_all: BTreeMap<usize, bool>) {
    for first in 0..program.steps.len() {
        let tells = matches!(
            program.steps[first].op,
            Op::Arrive { .. } | Op::Expect { .. } | Op::Copy { .. } | Op::Store { .. }
        );
        if !tells || is_of_all.get(&first) != Some(&false) {
            continue;
        }
        let mut at = first;
        while let Some(path) = to_access_before(program, at, &is_of_all) {
            program.early.insert(program.steps[at].id);
            for before in path {
                exchange(program, before, at);
                is_of_all.insert(before, false);
                is_of_all.insert(at, true);
                at = before;
            }
        }
    }
}

/// The steps from the one before a step back to an access of a slot by all lanes, with nothing between them but collectives that order nothing.
fn to_access_before(program: &Program, step: usize, is_of_all: &BTreeMap<usize, bool>) -> Option<Vec<usize>> {
    let mut path = Vec::new();
    let mut at = step;
    while let [Some(before)] = comes_from(program, at)[..] {
        path.push(before);
        if is_access_of_all(program, before, is_of_all) {
            return Some(path);
        }
        if path.len() > program.steps.len() || !orders_nothing(program, before) {
            break;
        }
        at = before;
    }
    None
}

/// Exchanges two steps that follow each other, of which one may be a meeting.
fn exchange(program: &mut Program, first: usize, second: usize) {
    program.steps.swap(first, second);
    for (from, to) in [(first, second), (second, first)] {
        let met = program.meetings.contains(&from);
        if met && !program.meetings.contains(&to) {
            program.meetings.remove(&from);
            program.meetings.insert(to);
            return;
        }
    }
}

/// Whether the lanes come to a step together, and what they did before may be under way.
fn orders_nothing(program: &Program, step: usize) -> bool {
    let number = program.steps.get(step).map(|step| step.id);
    program.meetings.contains(&step) && number.is_some_and(|number| program.unordered.contains(&number))
}

/// Whether all lanes access a slot in a step, and nobody else needs to know which one.
fn is_access_of_all(program: &Program, step: usize, is_of_all: &BTreeMap<usize, bool>) -> bool {
    let is_access = matches!(
        program.steps.get(step).map(|step| &step.op),
        Some(Op::BeginRead { .. } | Op::EndRead { .. } | Op::BeginFill { .. } | Op::EndFill { .. })
    );
    let is_known = is_of_all.get(&step) == Some(&true) && !program.meetings.contains(&step);
    is_access && is_known && !program.handed_out.contains_key(&step)
}

/// The steps from which a thread comes to one; none where it begins there.
fn comes_from(program: &Program, step: usize) -> Vec<Option<usize>> {
    let comes = |target: usize| program.behind_jumps(target) == Some(step);
    let leads = |(at, of): (usize, &Step)| {
        let is_jump = matches!(of.op, Op::Jump(_));
        (!is_jump && of.op.targets(at).into_iter().any(comes)).then_some(Some(at))
    };
    comes(0).then_some(None).into_iter().chain(program.steps.iter().enumerate().filter_map(leads)).collect()
}
