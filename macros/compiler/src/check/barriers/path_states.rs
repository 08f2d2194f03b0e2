//! Path-sensitive states of one barrier: its lifecycle on each set of paths, the threads that observe it, and the branch
//! conditions that were assumed. Data and its order, no analysis.

use std::collections::BTreeSet;

use crate::model::group::Group;

/// The point of its lifetime that a barrier has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lifecycle {
    /// No thread has initialized it.
    New,
    /// It is initialized.
    Live,
    /// It was invalidated.
    Invalid,
    /// It is as the function's caller left it.
    Given,
    /// The text does not show its state.
    Unknown,
}

/// A condition on a call of a device function, by its slot: that the function initializes the barrier which is an argument, by its position; or that a
/// thread may learn in it what others have done, which has the position [`LEARNED`](BarrierArgument::LEARNED).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BarrierArgument {
    pub(super) slot: u16,
    pub(super) argument: usize,
}

impl BarrierArgument {
    /// The position that marks the condition that a thread may learn in the callee what others have done.
    const LEARNED: usize = 0xff;

    /// The condition that a thread may learn in a call what others have done.
    pub(super) fn learned(slot: u16) -> BarrierArgument {
        BarrierArgument { slot, argument: BarrierArgument::LEARNED }
    }

    /// Whether the condition is that a thread may learn in the call what others have done.
    pub(super) fn is_learned(self) -> bool {
        self.argument == BarrierArgument::LEARNED
    }

    /// The number of the condition. Those of branch conditions are lower.
    fn number(self) -> usize {
        1 << 32 | usize::from(self.slot) << 8 | self.argument & 0xff
    }

    /// The inverse of [`number`](Self::number); `None` for the number of a branch condition.
    pub(super) fn of(number: usize) -> Option<BarrierArgument> {
        (number >> 32 != 0).then_some(BarrierArgument { slot: (number >> 8) as u16, argument: number & 0xff })
    }
}

/// The threads that observe a barrier's lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Observers {
    /// All threads of the group that have reached this point.
    All,
    /// The thread that changed it, which has not synchronized with the others since.
    Own,
    /// The thread that changed it, which has since arrived at the barrier of this group.
    Arrived(Group),
    /// A thread on another arm of a branch, which may be changing it.
    OtherThread,
    /// A thread of another warp on another arm, which may be changing it; this warp has synchronized since.
    OtherWarp,
}

/// The state of a barrier on the paths on which some conditions hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathState {
    pub(super) life: Lifecycle,
    pub(super) observers: Observers,
    /// Whether the thread that changed it has executed a fence since, which a relaxed arrival then publishes.
    pub(super) fenced: bool,
    /// The conditions that the paths assume, by number, each with its outcome.
    pub(super) assumed: BTreeSet<(usize, bool)>,
}

/// The largest number of path states: a barrier with more is not followed.
const MOST_PATHS: usize = 32;

/// The states of a barrier at a point, which together cover all paths to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PathStates(pub(super) BTreeSet<PathState>);

impl PathState {
    /// Whether the thread itself has ended the barrier's life, and nobody has begun another since.
    pub(super) fn has_ended_it(&self) -> bool {
        self.life == Lifecycle::Invalid && matches!(self.observers, Observers::Own | Observers::Arrived(_))
    }

    pub(super) fn new(life: Lifecycle, observers: Observers) -> PathState {
        PathState { life, observers, fenced: false, assumed: BTreeSet::new() }
    }

    /// Whether this state stands for the other one too: it is the same under fewer assumptions.
    pub(super) fn covers(&self, other: &PathState) -> bool {
        (self.life, self.observers, self.fenced) == (other.life, other.observers, other.fenced)
            && self.assumed.is_subset(&other.assumed)
    }

    /// Returns the state of the same paths in which the barrier has this lifecycle and these observers.
    pub(super) fn with(self, life: Lifecycle, observers: Observers) -> PathState {
        PathState { life, observers, fenced: false, ..self }
    }

    /// The paths on which a condition has this outcome too.
    pub(super) fn assuming(mut self, number: usize, holds: bool) -> PathState {
        self.assumed.insert((number, holds));
        self
    }

    /// Splits the paths into those on which all of these conditions have their outcomes, and those on which one has not.
    pub(super) fn split(self, conditions: &BTreeSet<(usize, bool)>) -> (Option<PathState>, Vec<PathState>) {
        if conditions.iter().any(|(number, holds)| self.assumed.contains(&(*number, !holds))) {
            return (None, vec![self]);
        }
        let (mut yes, mut no) = (self, Vec::new());
        for (number, holds) in conditions {
            if !yes.assumed.contains(&(*number, *holds)) {
                no.push(yes.clone().assuming(*number, !holds));
                yes = yes.assuming(*number, *holds);
            }
        }
        (Some(yes), no)
    }

    /// The paths on which a thread learns in a call what others have done, and those on which it does not.
    pub(super) fn learning(self, call: BarrierArgument) -> Vec<PathState> {
        let unlearned = self.clone().assuming(call.number(), false);
        match [false, true].iter().any(|outcome| self.assumed.contains(&(call.number(), *outcome))) {
            true => vec![self],
            false => vec![unlearned, self.with(Lifecycle::Unknown, Observers::All).assuming(call.number(), true)],
        }
    }

    /// The calls of device functions that the paths assume not to initialize the barrier, or to let the thread learn nothing.
    pub(super) fn unless(&self) -> impl Iterator<Item = BarrierArgument> + '_ {
        self.assumed.iter().filter(|(_, holds)| !holds).filter_map(|(number, _)| BarrierArgument::of(*number))
    }
}

impl PathStates {
    pub(super) fn one(path: PathState) -> PathStates {
        PathStates(BTreeSet::from([path]))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &PathState> {
        self.0.iter()
    }

    /// Collects states in the fewest: two that differ in the outcome of one condition alone become one without it.
    pub(super) fn of(paths: impl IntoIterator<Item = PathState>) -> PathStates {
        let mut paths: BTreeSet<PathState> = paths.into_iter().collect();
        let halves = |paths: &BTreeSet<PathState>| {
            paths.iter().find_map(|path| {
                path.assumed.iter().find_map(|(number, holds)| {
                    let mut whole = path.clone();
                    whole.assumed.remove(&(*number, *holds));
                    let mut other = whole.clone();
                    other.assumed.insert((*number, !holds));
                    paths.contains(&other).then_some((path.clone(), other, whole))
                })
            })
        };
        while let Some((first, second, whole)) = halves(&paths) {
            paths.remove(&first);
            paths.remove(&second);
            paths.insert(whole);
        }
        let all: Vec<PathState> = paths.iter().cloned().collect();
        paths.retain(|path| !all.iter().any(|other| other != path && other.covers(path)));
        match paths.len() > MOST_PATHS {
            true => PathStates::one(PathState::new(Lifecycle::Unknown, Observers::All)),
            false => PathStates(paths),
        }
    }

    /// Applies a change to each state.
    pub(super) fn each(&mut self, change: impl Fn(PathState) -> PathState) {
        *self = PathStates::of(std::mem::take(&mut self.0).into_iter().map(change));
    }
}

/// The states of a barrier after it was passed to a device function, whose summary rustc knows.
pub(super) fn after(path: &PathState, argument: BarrierArgument) -> Vec<PathState> {
    match path.life {
        Lifecycle::New | Lifecycle::Invalid | Lifecycle::Given => {
            let begun = path.clone().with(Lifecycle::Unknown, Observers::Own).assuming(argument.number(), true);
            vec![path.clone().assuming(argument.number(), false), begun]
        }
        Lifecycle::Live | Lifecycle::Unknown => vec![path.clone().with(Lifecycle::Unknown, Observers::Own)],
    }
}
