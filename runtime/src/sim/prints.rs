//! Collects what the threads of a launch print. `state::prints` puts it into thread order when the launch has ended.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use super::context::{Context, outside};
use super::state::PrintRecord;
use crate::report::output::{PRINT_BYTES, RECORD_BYTES};

impl Context<'_> {
    /// Executes `print!` by the running thread. `bytes` is the size of the values in the buffer of a GPU.
    pub(crate) fn print(&self, bytes: usize, text: impl FnOnce() -> String) {
        let launch = self.cluster.launch;
        let bytes = RECORD_BYTES + bytes as u64;
        if launch.prints.used.fetch_add(bytes, Ordering::Relaxed) + bytes > PRINT_BYTES {
            launch.prints.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let block = self.cluster.blocks[self.thread.block_rank as usize].index;
        let thread = (launch.shape.grid.rank(block), self.thread.rank_in_block);
        // Formatted before the lock is taken, because formatting runs user code.
        let record = PrintRecord { cluster: self.cluster.rank, thread, text: outside(text) };
        launch.prints.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }
}
