//! Accesses at an index that depends on the kernel's one integer: if threads meet there for as many elements as there are threads, and for an
//! odd number of fewer, no promise of the caller's keeps them apart.
//!
//! ```text
//! s[t] = data[t];                         // and no `block.sync()`
//! data[t] = s[n - 1 - t];
//! ```

use super::trace::Trace;
use super::{Check, races};
use crate::check::runs::Launch;
use crate::diag::Diag;

impl Check<'_, '_> {
    /// The faults that two launches have at one place: one with as many elements as threads, and one with fewer.
    pub(super) fn run_for_arguments(&self, launch: Launch) -> Option<Vec<Diag>> {
        let follow = |argument: u64| {
            let launch = Launch { argument: Some(argument), element: None, length: None, ..launch };
            let mut traces: Vec<Trace> = Vec::new();
            self.trace(launch, None, &mut traces, &mut Vec::new()).map(|()| traces)
        };
        let all = self.threads * self.blocks;
        let of_both = [follow(all / 2 + 5)?, follow(all)?];
        let faults = [false, true].into_iter().filter_map(|waived| {
            let [fewer, all] = of_both.each_ref().map(|traces| races::within_block(self, traces, waived));
            let place = |fault: &Diag| (fault.at.line(), fault.at.column());
            all.filter(|all| fewer.is_some_and(|fewer| place(&fewer) == place(all)))
        });
        Some(faults.collect())
    }
}
