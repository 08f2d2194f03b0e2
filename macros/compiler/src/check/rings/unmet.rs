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
            let path = accesses_behind(program, at, is_of_all);
            for next in path.windows(2) {
                program.steps.swap(next[0], next[1]);
            }
        }
    }
}

/// The step, and the accesses of slots by all lanes that follow it one by one: nobody comes to them otherwise.
fn accesses_behind(program: &Program, wait: usize, is_of_all: &BTreeMap<usize, bool>) -> Vec<usize> {
    let mut path = vec![wait];
    let mut last = wait;
    while let Some(next) = program.behind_jumps(last + 1) {
        if !is_access_of_all(program, next, is_of_all) || comes_from(program, next) != [Some(last)] {
            break;
        }
        path.push(next);
        last = next;
    }
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
        while let [Some(before)] = comes_from(program, at)[..]
            && is_access_of_all(program, before, &is_of_all)
        {
            program.early.insert(program.steps[at].id);
            program.steps.swap(before, at);
            is_of_all.insert(before, false);
            is_of_all.insert(at, true);
            at = before;
        }
    }
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
