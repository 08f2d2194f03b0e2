//! The paths on which something is still so, by the calls that they pass. Data, no analysis.

use std::collections::BTreeSet;

use phalanx_contract::protocol::Behavior;

use crate::check::cfg::CallId;

/// A call that a path passes, and what it must do there so that nothing changes.
pub(super) type Passed = (CallId, Behavior);

/// The paths on which something is still so, by the calls that they pass. No path's calls are all on another one, which would add nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Paths(BTreeSet<BTreeSet<Passed>>);

/// The most paths that are kept apart.
const MOST: usize = 16;

impl Paths {
    /// The path that passes no call.
    pub(super) fn begun() -> Paths {
        Paths(BTreeSet::from([BTreeSet::new()]))
    }

    /// Whether there is no such path.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them passes no call.
    pub(super) fn has_certain(&self) -> bool {
        self.0.iter().any(BTreeSet::is_empty)
    }

    /// Adds a call to each path, which passes it.
    pub(super) fn pass(&mut self, call: CallId, behavior: Behavior) {
        let passed = std::mem::take(&mut self.0).into_iter().map(|mut path| {
            path.insert((call, behavior));
            path
        });
        self.0 = passed.collect();
        self.reduce();
    }

    /// Adds other paths; says whether any was new.
    pub(super) fn unite(&mut self, other: &Paths) -> bool {
        let before = self.0.clone();
        self.0.extend(other.0.iter().cloned());
        self.reduce();
        self.0 != before
    }

    /// The paths that are both one of these and one of those.
    pub(super) fn and(&self, other: &Paths) -> Paths {
        let both = |a: &BTreeSet<Passed>| other.0.iter().map(|b| a | b).collect::<Vec<_>>();
        let mut all = Paths(self.0.iter().flat_map(both).collect());
        all.reduce();
        all
    }

    /// The calls of each path.
    pub(super) fn iter(&self) -> impl Iterator<Item = &BTreeSet<Passed>> {
        self.0.iter()
    }

    /// Leaves out what says no more than another path. Of too many paths, what they have in common is kept: with fewer calls, more is reported.
    fn reduce(&mut self) {
        let all = self.0.clone();
        self.0.retain(|path| !all.iter().any(|other| other != path && other.is_subset(path)));
        if self.0.len() > MOST {
            let common = self.0.iter().cloned().reduce(|a, b| &a & &b);
            self.0 = common.into_iter().collect();
        }
    }
}
