//! Which counters of a role matter at a step: those whose values a thread may still ask for. The others need not be told apart.

use super::skeleton::{Op, Role};

/// A set of counters, as bits.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Live(Vec<u64>);

impl Live {
    pub(super) fn contains(&self, counter: usize) -> bool {
        self.0.get(counter / 64).is_some_and(|word| word >> (counter % 64) & 1 == 1)
    }

    fn insert(&mut self, counter: u32) {
        let (word, bit) = (counter as usize / 64, counter % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    fn remove(&mut self, counter: u32) {
        if let Some(word) = self.0.get_mut(counter as usize / 64) {
            *word &= !(1 << (counter % 64));
        }
    }

    /// Adds the counters of another set; returns whether one of them is new.
    fn insert_all(&mut self, other: &Live) -> bool {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        let mut new = 0;
        for (at, word) in other.0.iter().enumerate() {
            new |= word & !self.0[at];
            self.0[at] |= word;
        }
        new != 0
    }
}

/// Returns the counters that matter at each step, and at the end.
pub(super) fn live(role: &Role) -> Vec<Live> {
    let end = role.steps.len();
    let mut live = vec![Live::default(); end + 1];
    // What a step asks for itself, unless it sets counters.
    for (at, step) in role.steps.iter().enumerate() {
        if !matches!(step.op, Op::Set(_)) {
            step.op.counters().into_iter().for_each(|counter| live[at].insert(counter));
        }
    }
    loop {
        let mut changed = false;
        for step in (0..end).rev() {
            let mut here = Live::default();
            let op = &role.steps[step].op;
            let followers: [Option<usize>; 2] = match op {
                Op::Branch { otherwise, .. } => [Some(step + 1), Some(*otherwise)],
                Op::Jump(target) => [Some(*target), None],
                Op::Leave => [None; 2],
                _ => [Some(step + 1), None],
            };
            for follower in followers.into_iter().flatten() {
                here.insert_all(&live[follower.min(end)]);
            }
            // A value that does not matter is asked for nothing.
            if let Op::Set(values) = op {
                let matter = values.iter().filter(|(counter, _)| here.contains(*counter as usize));
                let asked: Vec<u32> = matter.flat_map(|(_, value)| value.counters()).collect();
                values.iter().for_each(|(counter, _)| here.remove(*counter));
                asked.into_iter().for_each(|counter| here.insert(counter));
            }
            changed |= live[step].insert_all(&here);
        }
        if !changed {
            return live;
        }
    }
}
