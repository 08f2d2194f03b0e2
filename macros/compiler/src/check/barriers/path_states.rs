//! The ways on which control may come to a point, as far as they matter for one barrier: what it is on each, who knows, and
//! what branches have tested. Data and its order, no analysis.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use crate::model::group::Group;

/// What a barrier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lifecycle {
    /// Nobody has initialised it.
    New,
    Live,
    Invalid,
    /// What the function's caller has made of it.
    Given,
    /// The text does not show it.
    Open,
}

/// A device function that a barrier is given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Taker {
    pub(super) slot: u16,
    pub(super) argument: usize,
}

impl Taker {
    /// Of the condition that it initialises the barrier. Those of branches are less.
    fn number(self) -> usize {
        1 << 32 | usize::from(self.slot) << 8 | self.argument & 0xff
    }

    pub(super) fn of(number: usize) -> Option<Taker> {
        (number >> 32 != 0).then_some(Taker { slot: (number >> 8) as u16, argument: number & 0xff })
    }
}

/// Who knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Observers {
    /// All of the group, as far as they have come here.
    All,
    /// The thread itself has made it so, and not met the others since.
    Own,
    /// And has arrived at a barrier of this group since.
    Sent(Group),
    /// Others, on another side of a branch, may be changing it.
    Aside,
    /// The same, and the thread's warp has met since.
    Near,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathState {
    pub(super) life: Lifecycle,
    pub(super) known: Observers,
    /// PhaseAction branches have tested, by the conditions' numbers.
    pub(super) given: BTreeSet<(usize, bool)>,
}

/// More than that, and a barrier is not followed.
const MOST_PATHS: usize = 32;

/// How control may have come here, as far as it matters for one barrier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PathStates(pub(super) BTreeSet<PathState>);

impl PathState {
    pub(super) fn new(life: Lifecycle, known: Observers) -> PathState {
        PathState { life, known, given: BTreeSet::new() }
    }

    /// Whether the other is one of those that this one stands for.
    pub(super) fn covers(&self, other: &PathState) -> bool {
        (self.life, self.known) == (other.life, other.known) && self.given.is_subset(&other.given)
    }

    pub(super) fn is(self, life: Lifecycle, known: Observers) -> PathState {
        PathState { life, known, ..self }
    }

    pub(super) fn given(mut self, number: usize, holds: bool) -> PathState {
        self.given.insert((number, holds));
        self
    }

    /// The part of it for which these conditions hold, and the parts for which one does not.
    pub(super) fn split(self, given: &BTreeSet<(usize, bool)>) -> (Option<PathState>, Vec<PathState>) {
        if given.iter().any(|(number, holds)| self.given.contains(&(*number, !holds))) {
            return (None, vec![self]);
        }
        let (mut yes, mut no) = (self, Vec::new());
        for (number, holds) in given {
            if !yes.given.contains(&(*number, *holds)) {
                no.push(yes.clone().given(*number, !holds));
                yes = yes.given(*number, *holds);
            }
        }
        (Some(yes), no)
    }

    /// It is so if none of these initialises the barrier.
    pub(super) fn unless(&self) -> impl Iterator<Item = Taker> + '_ {
        self.given.iter().filter(|(_, holds)| !holds).filter_map(|(number, _)| Taker::of(*number))
    }
}

impl PathStates {
    pub(super) fn one(way: PathState) -> PathStates {
        PathStates(BTreeSet::from([way]))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &PathState> {
        self.0.iter()
    }

    /// Two that differ in whether one condition holds are one, whatever it is.
    pub(super) fn of(ways: impl IntoIterator<Item = PathState>) -> PathStates {
        let mut ways: BTreeSet<PathState> = ways.into_iter().collect();
        let halves = |ways: &BTreeSet<PathState>| {
            ways.iter().find_map(|way| {
                way.given.iter().find_map(|(number, holds)| {
                    let mut whole = way.clone();
                    whole.given.remove(&(*number, *holds));
                    let mut other = whole.clone();
                    other.given.insert((*number, !holds));
                    ways.contains(&other).then_some((way.clone(), other, whole))
                })
            })
        };
        while let Some((first, second, whole)) = halves(&ways) {
            ways.remove(&first);
            ways.remove(&second);
            ways.insert(whole);
        }
        let all: Vec<PathState> = ways.iter().cloned().collect();
        ways.retain(|way| !all.iter().any(|other| other != way && other.covers(way)));
        match ways.len() > MOST_PATHS {
            true => PathStates::one(PathState::new(Lifecycle::Open, Observers::All)),
            false => PathStates(ways),
        }
    }

    pub(super) fn each(&mut self, change: impl Fn(PathState) -> PathState) {
        *self = PathStates::of(std::mem::take(&mut self.0).into_iter().map(change));
    }
}

/// What a barrier may be after a device function had it.
pub(super) fn after(way: &PathState, taker: Taker) -> Vec<PathState> {
    match way.life {
        Lifecycle::New | Lifecycle::Invalid | Lifecycle::Given => {
            let begun = way.clone().is(Lifecycle::Open, Observers::Own).given(taker.number(), true);
            vec![way.clone().given(taker.number(), false), begun]
        }
        Lifecycle::Live | Lifecycle::Open => vec![way.clone().is(Lifecycle::Open, Observers::Own)],
    }
}
