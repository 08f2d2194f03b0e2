//! The failures of launches that nobody has been told of yet, by the number of the launch in its stream. Both devices keep them so: each is
//! returned once, to the one who waits for this launch if there is one, otherwise to who next waits for the stream.

use std::collections::{BTreeMap, BTreeSet};

/// The failures of a stream.
#[derive(Debug)]
pub(crate) struct Unreported<F> {
    failures: BTreeMap<u64, F>,
    /// The launches whose failures are kept for the one who waits for them.
    awaited: BTreeSet<u64>,
}

impl<F> Default for Unreported<F> {
    fn default() -> Self {
        Unreported { failures: BTreeMap::new(), awaited: BTreeSet::new() }
    }
}

impl<F> Unreported<F> {
    /// Keeps the failure of this launch, if it has one, for [`Unreported::own`].
    pub(crate) fn keep(&mut self, launch: u64) {
        self.awaited.insert(launch);
    }

    /// Gives the failure of this launch, if it has one, to who next waits for the stream.
    pub(crate) fn release(&mut self, launch: u64) {
        self.awaited.remove(&launch);
    }

    /// Adds the failure of a launch.
    pub(crate) fn add(&mut self, launch: u64, failure: F) {
        self.failures.insert(launch, failure);
    }

    /// Returns the failure of this launch, which nobody waits for any longer.
    pub(crate) fn own(&mut self, launch: u64) -> Option<F> {
        self.awaited.remove(&launch);
        self.failures.remove(&launch)
    }

    /// Returns the failure of the earliest launch that nobody waits for.
    pub(crate) fn first(&mut self) -> Option<F> {
        let launch = self.failures.keys().find(|launch| !self.awaited.contains(launch)).copied()?;
        self.failures.remove(&launch)
    }

    /// Returns whether there is no failure.
    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_is_returned_once_and_to_its_own_launch_first() {
        let mut failures = Unreported::default();
        failures.keep(2);
        (1..=3).for_each(|launch| failures.add(launch, launch * 10));
        assert_eq!((failures.first(), failures.first(), failures.first()), (Some(10), Some(30), None));
        assert_eq!((failures.own(1), failures.own(2), failures.own(2)), (None, Some(20), None));
        failures.keep(5);
        failures.add(5, 50);
        failures.release(5);
        assert_eq!(failures.first(), Some(50));
        assert!(failures.is_empty());
    }
}
