//! Accesses at an index that depends on the kernel's one integer: if threads meet there for as many elements as there are threads, and for an
//! odd number of fewer, no promise of the caller's keeps them apart.
//!
//! ```text
//! s[t] = data[t];                         // and no `block.sync()`
//! data[t] = s[n - 1 - t];
//! ```
//!
//! Blocks that write to a third one, which an argument names, are at fault in the same way, if they meet there for the first block and for the second one.

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
        type Races = fn(&Check<'_, '_>, &[Trace], bool) -> Option<Diag>;
        let found = |arguments: [u64; 2], races: Races| -> Option<Vec<Diag>> {
            let of_both = [follow(arguments[0])?, follow(arguments[1])?];
            let faults = [false, true].into_iter().filter_map(|waived| {
                let [one, other] = of_both.each_ref().map(|traces| races(self, traces, waived));
                let place = |fault: &Diag| (fault.at.line(), fault.at.column());
                other.filter(|other| one.is_some_and(|one| place(&one) == place(other)))
            });
            Some(faults.collect())
        };
        let all = self.threads * self.blocks;
        let mut faults = found([all / 2 + 5, all], races::within_block).unwrap_or_default();
        // The argument may be the rank of a block.
        if self.questions.writes_peers {
            faults.extend(found([0, 1], races::across_blocks).unwrap_or_default());
        }
        Some(faults)
    }
}
