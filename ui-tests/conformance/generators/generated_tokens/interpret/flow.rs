//! The states in which a thread can reach a point of a kernel, and where it continues from there.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{Group, Jump, Site, Var};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Var(Var),
    Temporary(usize),
}

/// The contents of the variables. A missing one is moved out of or not yet assigned; one that holds `None` is an
/// `Option` without a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) places: BTreeMap<Place, Option<Site>>,
    /// The groups whose token was forgotten, until one is used again.
    pub(super) forgotten: BTreeSet<Group>,
    /// The value that was just evaluated.
    pub(super) value: Option<Site>,
}

impl State {
    pub(super) fn hold(&mut self, place: Place, held: Option<Site>) {
        self.places.insert(place, held);
    }
}

pub(super) type States = BTreeSet<State>;

/// Where control continues, and in which states.
#[derive(Debug, Default)]
pub(super) struct Flow {
    pub(super) next: States,
    pub(super) jumps: BTreeMap<Jump, States>,
}

impl Flow {
    pub(super) fn to(next: States) -> Flow {
        Flow { next, jumps: BTreeMap::new() }
    }

    /// Returns the states that left by `jump`, which ends here.
    pub(super) fn catch(&mut self, jump: Jump) -> States {
        self.jumps.remove(&jump).unwrap_or_default()
    }

    pub(super) fn merge_jumps(&mut self, jumps: BTreeMap<Jump, States>) {
        for (jump, states) in jumps {
            self.jumps.entry(jump).or_default().extend(states);
        }
    }

    /// Merges both paths.
    pub(super) fn merge(&mut self, other: Flow) {
        self.next.extend(other.next);
        self.merge_jumps(other.jumps);
    }

    /// Continues from here: `f` maps the states so far to those after it.
    pub(super) fn then(&mut self, f: impl FnOnce(States) -> Flow) {
        let after = f(std::mem::take(&mut self.next));
        self.next = after.next;
        self.merge_jumps(after.jumps);
    }

    pub(super) fn each(&mut self, mut f: impl FnMut(&mut State)) {
        let mut change = |states: &mut States| {
            *states = std::mem::take(states)
                .into_iter()
                .map(|mut state| {
                    f(&mut state);
                    state
                })
                .collect();
        };
        change(&mut self.next);
        self.jumps.values_mut().for_each(change);
    }
}
