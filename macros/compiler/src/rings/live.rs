//! Which counters of a role matter at a step: those whose values a thread may still ask for. The others need not be told apart.

use std::collections::BTreeSet;

use super::skeleton::{Op, Role};

/// Returns the counters that matter at each step, and at the end.
pub(super) fn live(role: &Role) -> Vec<BTreeSet<u32>> {
    let end = role.steps.len();
    let mut live = vec![BTreeSet::new(); end + 1];
    loop {
        let mut changed = false;
        for step in (0..end).rev() {
            let mut here = BTreeSet::new();
            let op = &role.steps[step].op;
            let followers: [Option<usize>; 2] = match op {
                Op::Branch { otherwise, .. } => [Some(step + 1), Some(*otherwise)],
                Op::Jump(target) => [Some(*target), None],
                Op::Leave => [None; 2],
                _ => [Some(step + 1), None],
            };
            for follower in followers.into_iter().flatten() {
                here.extend(&live[follower.min(end)]);
            }
            match op {
                // A value that does not matter is asked for nothing.
                Op::Set(values) => {
                    let matter: Vec<_> = values.iter().filter(|(counter, _)| here.contains(counter)).collect();
                    here.retain(|live| matter.iter().all(|(counter, _)| counter != live));
                    here.extend(matter.iter().flat_map(|(_, value)| value.counters()));
                }
                _ => here.extend(op.counters()),
            }
            changed |= here != live[step];
            live[step] = here;
        }
        if !changed {
            return live;
        }
    }
}
