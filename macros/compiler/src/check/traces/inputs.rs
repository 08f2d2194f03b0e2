//! Threads whose data decide where they access memory, or whether: one thread is followed with data that are all the same number, and what it
//! does then is compared with what others do whatever their data are.
//!
//! ```text
//! bins[i] = 0;                            // and no `block.sync()`
//! let x = bins[digits[i] % 16];           // an element of another thread, for most digits
//! ```

use super::recorder::{Assumed, Recorder};
use super::trace::Trace;
use super::{Check, elements, races};
use crate::check::cfg::Select;
use crate::check::runs::{Launch, ThreadId};
use crate::diag::Diag;

/// The numbers that are tried. They are larger than any array, so that they are indexes only where the text makes one of any number (`% 16`, a
/// digit): what the host passes as an index may be the thread's own. Their digits to the bases of usual sizes are small, or all alike.
const NUMBERS: [u64; 6] = [0x0100_0001, 0x0100_0002, 0x0100_00ff, 0x0100_0000, 0x1111_1111, 0x2222_2222];

/// The largest number of steps of a thread whose data are known.
const STEPS: usize = 800;

impl Check<'_, '_> {
    /// Whether an access that may meet others depends on data, or some branch.
    pub(super) fn has_inputs(&self) -> bool {
        let accesses = self.cfg.accesses.iter().filter(|access| elements::is_followed(access));
        let mut indexes = accesses.flat_map(|access| access.region.path.iter().flat_map(Select::nodes));
        let conditions = || self.cfg.blocks.iter().filter_map(|block| block.end.condition());
        indexes.any(|index| self.runs.is_on_data(index)) || conditions().any(|on| self.runs.is_on_data(on))
    }

    /// The faults of one thread for whatever data of others.
    pub(super) fn run_on_data(&self, launch: Launch) -> Option<Vec<Diag>> {
        let mut others = Vec::new();
        self.trace(launch, None, &mut others, &mut Vec::new())?;
        let ranks: Vec<ThreadId> = others.iter().map(|trace| trace.id).collect();
        let some = [0, 1, ranks.len() / 2, ranks.len() - 1].map(|number| ranks[number.min(ranks.len() - 1)]);
        for number in NUMBERS {
            let launch = Launch { data: Some(number), ..launch };
            let of_number = some.iter().filter_map(|id| self.trace_on_data(launch, *id));
            let traces: Vec<Trace> = others.drain(..).chain(of_number).collect();
            let faults = [false, true].into_iter().filter_map(|waived| races::within_block(self, &traces, waived));
            let faults: Vec<Diag> = faults.collect();
            others.extend(traces.into_iter().filter(|trace| !trace.is_assumed));
            if !faults.is_empty() {
                return Some(faults);
            }
        }
        None
    }

    /// What a thread does if its data are known; `None` if it fails then.
    fn trace_on_data(&self, launch: Launch, id: ThreadId) -> Option<Trace> {
        let mut recorder = Recorder::new(self, launch, id, Assumed::Data);
        let mut left = STEPS;
        let ends = self.runs.run(launch, id, &mut left, &mut recorder).ok()?;
        Some(recorder.end(ends).0)
    }
}
