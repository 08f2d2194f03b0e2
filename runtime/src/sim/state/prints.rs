//! The output that the threads of a launch have printed so far.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use crate::report::output::Printed;

/// The prints of one launch.
#[derive(Debug, Default)]
pub(crate) struct Prints {
    pub(in crate::sim) records: Mutex<Vec<PrintRecord>>,
    pub(in crate::sim) used: AtomicU64,
    pub(in crate::sim) lost: AtomicU64,
}

/// The text of one `print!`.
#[derive(Debug)]
pub(in crate::sim) struct PrintRecord {
    /// The cluster's rank in the grid.
    pub(in crate::sim) cluster: u64,
    /// The block's rank in the grid, and the thread's rank in the block.
    pub(in crate::sim) thread: (u64, u32),
    pub(in crate::sim) text: String,
}

impl Prints {
    /// Returns what the clusters up to this rank printed. The output of the clusters above a failed one is dropped,
    /// because it ends at an arbitrary point.
    pub(in crate::sim) fn printed(self, last: u64) -> Printed {
        let mut records = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        records.retain(|record| record.cluster <= last);
        // A stable sort keeps each thread's own lines in order.
        records.sort_by_key(|record| record.thread);
        Printed { texts: records.into_iter().map(|record| record.text).collect(), lost: self.lost.into_inner() }
    }
}
