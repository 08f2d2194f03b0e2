//! Counters that no thread reads: of a position at which a sum is stored, say, which only a test behind the rings compares. Threads that
//! differ in nothing else take the same steps.

use std::collections::BTreeSet;

use super::counters::{Counter, Counters};
use super::walk::Program;
use crate::rings::{Op, Step};

/// Leaves out what the programs set variables to that none of them reads.
pub(super) fn leave_out_unread(programs: &mut [(Program, Vec<u32>)], counters: &Counters) {
    let read = read(programs);
    let all = counters.all();
    // Other threads' programs ask for those that are not a variable's.
    let is_kept = |counter: u32| {
        let of_variable = all.get(counter as usize).copied().and_then(Counter::variable);
        of_variable.is_none() || read.contains(&counter)
    };
    for step in programs.iter_mut().flat_map(|(program, _)| &mut program.steps) {
        if let Op::Set(values) = &mut step.op {
            values.retain(|(counter, _)| is_kept(*counter));
        }
    }
}

/// The counters that are read: by a step that acts or branches, or in what is handed out or set to a counter that is read.
fn read(programs: &[(Program, Vec<u32>)]) -> BTreeSet<u32> {
    let programs = || programs.iter().map(|(program, _)| program);
    let handed_out = programs().flat_map(|program| program.handed_out.values().flatten());
    let handed_out = handed_out.flat_map(|out| out.number.counters().chain(out.block.counters()));
    let steps = || programs().flat_map(|program| &program.steps);
    let acting = steps().filter(|step| !matches!(step.op, Op::Set(_))).flat_map(|step| step.op.counters());
    let mut read: BTreeSet<u32> = handed_out.chain(acting).collect();
    loop {
        let before = read.len();
        for Step { op, .. } in steps() {
            if let Op::Set(values) = op {
                let needed = values.iter().filter(|(counter, _)| read.contains(counter));
                let needed: Vec<u32> = needed.flat_map(|(_, value)| value.counters()).collect();
                read.extend(needed);
            }
        }
        if read.len() == before {
            return read;
        }
    }
}
