//! What the threads of a launch print: kept until its end, when it is put in the order of the threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Context;
use crate::report::output::{PRINT_BYTES, Printed, RECORD_BYTES};

/// Of one launch.
#[derive(Debug, Default)]
pub(crate) struct Prints {
    records: Mutex<Vec<Record>>,
    used: AtomicU64,
    lost: AtomicU64,
}

/// One `print!`.
#[derive(Debug)]
struct Record {
    /// The cluster's rank in the grid.
    cluster: u64,
    /// The block's rank in the grid, and the thread's in the block.
    thread: (u64, u32),
    text: String,
}

impl Prints {
    /// What was printed by the clusters up to this rank: those above a cluster that failed are cut off anywhere.
    pub(super) fn printed(self, last: u64) -> Printed {
        let mut records = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        records.retain(|record| record.cluster <= last);
        // Stable: a thread's own stay in their order.
        records.sort_by_key(|record| record.thread);
        Printed { texts: records.into_iter().map(|record| record.text).collect(), lost: self.lost.into_inner() }
    }
}

impl Context<'_> {
    /// `print!` by the running thread. `bytes` are what the values take on a GPU.
    pub(crate) fn print(&self, bytes: usize, text: impl FnOnce() -> String) {
        let launch = self.cluster.launch;
        let bytes = RECORD_BYTES + bytes as u64;
        if launch.prints.used.fetch_add(bytes, Ordering::Relaxed) + bytes > PRINT_BYTES {
            launch.prints.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let block = self.cluster.blocks[self.thread.block_rank as usize].index;
        let thread = (launch.shape.grid.rank(block), self.thread.rank_in_block);
        // First, because it is the user's code.
        let record = Record { cluster: self.cluster.rank, thread, text: text() };
        launch.prints.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
