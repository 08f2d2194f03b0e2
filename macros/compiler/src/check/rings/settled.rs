//! The decisions that come next to a thread, and whether those that a branch looks at are its loop's.

use std::collections::{BTreeMap, BTreeSet};

use super::decision::Looked;
use super::kernel::Refusal;
use super::walk::Program;
use crate::rings::{Condition, Op, Step};

/// Takes branches for decisions of their own where the decisions that come next need not be those of their loop.
pub(super) fn settle(program: &mut Program) -> Result<(), Refusal> {
    loop {
        let is_wrong = |(step, looked): &(&usize, &Looked)| {
            let next = [**step + 1, target(program, **step)];
            let constants = looked.any.map(|any| (any, true)).into_iter().collect();
            let mut seen: BTreeSet<usize> = BTreeSet::new();
            let mut work: Vec<usize> = next.into();
            while let Some(from) = work.pop() {
                for decision in decisions(program, from, &constants) {
                    if program.decided_at.get(&decision) != Some(&looked.head) {
                        return true;
                    }
                    if seen.insert(decision) {
                        work.push(decision + 1);
                    }
                }
            }
            seen.is_empty()
        };
        let Some((step, Looked { at, .. })) =
            program.looked.iter().find(is_wrong).map(|(step, looked)| (*step, looked.clone()))
        else {
            return Ok(());
        };
        program.looked.remove(&step);
        if program.keys.get(&step).is_none_or(Vec::is_empty) {
            return Err(Refusal::new(at, "a branch depends on data that threads need not share"));
        }
        if let Op::Branch { condition, .. } = &mut program.steps[step].op {
            *condition = Condition::Shared;
        }
    }
}

/// The constant that a step asks for.
pub(super) fn constant_of(step: &Step) -> Option<u32> {
    if let Op::Branch { condition: Condition::Constant(number), .. } = step.op { Some(number) } else { None }
}

/// The shared decisions that come next after a step.
pub(super) fn decisions(program: &Program, from: usize, constants: &BTreeMap<u32, bool>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let Some(step) = program.steps.get(at).filter(|_| seen.insert(at)) else { continue };
        if let Op::Branch { condition: Condition::Shared, .. } = step.op {
            found.insert(at);
        } else if let Op::Branch { otherwise, .. } = step.op {
            match constant_of(step).and_then(|constant| constants.get(&constant)) {
                Some(known) => work.push(if *known { at + 1 } else { otherwise }),
                None => work.extend([at + 1, otherwise]),
            }
        } else if let Op::Jump(to) = step.op {
            work.push(to);
        } else if !matches!(step.op, Op::Leave) {
            work.push(at + 1);
        }
    }
    found
}

/// The step to which a branch leads if its condition does not hold.
pub(super) fn target(program: &Program, branch: usize) -> usize {
    if let Op::Branch { otherwise, .. } = program.steps[branch].op { otherwise } else { branch + 1 }
}
