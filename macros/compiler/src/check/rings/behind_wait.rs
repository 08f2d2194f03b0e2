//! Lanes of a warp that do not wait while another one does it for them: they may be ahead of it until the warp meets. For a fault, the
//! warp is then an actor that does what all lanes do before the one lane's wait, a run of the kernel as far as the others are concerned.

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
        let is_access = matches!(
            program.steps.get(next).map(|step| &step.op),
            Some(Op::BeginRead { .. } | Op::EndRead { .. } | Op::BeginFill { .. } | Op::EndFill { .. })
        );
        let is_known = is_of_all.get(&next) == Some(&true) && !program.meetings.contains(&next);
        if !is_access || !is_known || program.handed_out.contains_key(&next) || comes_to(program, next) != 1 {
            break;
        }
        path.push(next);
        last = next;
    }
    path
}

/// The number of steps from which a thread comes to one.
fn comes_to(program: &Program, step: usize) -> usize {
    let leads = |(at, of): (usize, &Step)| {
        let to = |target: usize| usize::from(program.behind_jumps(target) == Some(step));
        if matches!(of.op, Op::Jump(_) | Op::Leave) {
            return 0;
        }
        to(at + 1) + if let Op::Branch { otherwise, .. } = of.op { to(otherwise) } else { 0 }
    };
    program.steps.iter().enumerate().map(leads).sum()
}
