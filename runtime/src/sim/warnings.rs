//! Collects the warnings of a launch: one for each pair of places in the source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::site::Site;
use crate::report::race::Race;

/// Collects the races of equal writes of all runs that it is given to.
#[derive(Debug, Clone, Default)]
pub(crate) struct WarningCollector(Arc<Mutex<BTreeMap<Pair, Found>>>);

/// The sites of two accesses, in the order of the source.
type Pair = (Site, Site);

/// A race with the rank of the cluster that found it.
type Found = (u64, Race);

impl WarningCollector {
    /// Adds a race between accesses at these sites unless a cluster of this rank, or of a lower one, has found one
    /// there, so that the order in which clusters run makes no difference.
    pub(super) fn add(&self, a: Site, b: Site, cluster: u64, race: impl FnOnce() -> Race) {
        let pair = (a.min(b), a.max(b));
        let mut found = self.lock();
        if found.get(&pair).is_none_or(|(known, _)| cluster < *known) {
            found.insert(pair, (cluster, race()));
        }
    }

    /// Takes the races, in the order of the source.
    pub(crate) fn take(&self) -> impl Iterator<Item = Race> + use<> {
        std::mem::take(&mut *self.lock()).into_values().map(|(_, race)| race)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Pair, Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
