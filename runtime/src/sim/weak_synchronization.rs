//! Finds the synchronization between two racing accesses that was too weak to order them, for the report: an arrival with
//! a weak fence, or an atomic or a fence of too narrow a scope.

use phalanx_contract::fence::Fence;

use super::context::Context;
use super::race::{Actor, EarlierAccess, NarrowScope, WeakArrival};
use super::site::location;
use crate::report::race::WeakSynchronization;
use crate::scope::Scope;

impl Context<'_> {
    /// Returns what stands between the earlier access and the current one by `actor` and did not order them.
    pub(super) fn weak_synchronization(&self, earlier: EarlierAccess, actor: &Actor) -> Option<WeakSynchronization> {
        let layout = &self.cluster.launch.races.as_ref()?.layout;
        let scope = || {
            let NarrowScope { scope, site } = actor.too_narrow(layout, earlier.id, earlier.epoch)?;
            let wide = if earlier.id.cluster() == actor.id.cluster() { Scope::Cluster } else { Scope::Device };
            Some(WeakSynchronization {
                location: location(site),
                what: format!("`Scope::{scope:?}` does not include both threads"),
                help: format!("widen the scope at {site} to `Scope::{wide:?}`, which includes both threads"),
            })
        };
        self.weak_arrival(earlier).or_else(scope)
    }

    fn weak_arrival(&self, earlier: EarlierAccess) -> Option<WeakSynchronization> {
        let arrivals = self.thread.weak_arrivals.borrow();
        let after = |arrival: &&WeakArrival| arrival.id == earlier.id && earlier.epoch <= arrival.epoch;
        let WeakArrival { fence, site, .. } = *arrivals.iter().find(after)?;
        let (what, help) = match fence {
            Fence::Relaxed => (
                "this arrival orders no memory",
                format!(
                    "the arrival at {site} orders no memory: write `barrier_arrive()` in place of `barrier_arrive_relaxed()`, or `fence(Release, Scope::Cluster)` before it"
                ),
            ),
            Fence::Shared | Fence::Full => (
                "this arrival orders only accesses to the block's own shared memory and reads of its peers'",
                format!(
                    "the arrival at {site} has a fence for shared memory: `#[cluster_kernel(fence = \"full\")]` orders all memory"
                ),
            ),
        };
        Some(WeakSynchronization { location: location(site), what: what.to_owned(), help })
    }
}
