//! A point in the work of a stream that a future waits for: whether it has come can be asked, and who asks waits for nothing.

use std::sync::Arc;

use super::super::print::Records;
use super::{Ended, GpuEvent, Queue};
use crate::report::error::Result;

/// The end of the work that a stream had so far.
pub(crate) struct Mark {
    queue: Arc<Queue>,
    event: GpuEvent,
    /// The number of the last launch before it.
    upto: u64,
}

impl Queue {
    /// Marks the end of the work so far.
    pub(crate) fn mark(self: &Arc<Self>) -> Result<Arc<Mark>> {
        let upto = self.state().slots.issued();
        Ok(Arc::new(Mark { event: self.record()?, upto, queue: self.clone() }))
    }
}

impl Mark {
    pub(in crate::gpu) fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Returns whether it has come, or nobody can tell any longer.
    pub(crate) fn has_come(&self) -> bool {
        self.event.is_complete().unwrap_or(true) || (!self.queue.has_watches() && self.queue.is_lost())
    }

    /// Returns whether it has come.
    pub(in crate::gpu) fn is_complete(&self) -> Result<bool> {
        self.event.is_complete()
    }

    /// Waits for it.
    pub(in crate::gpu) fn synchronize(&self) -> Result<()> {
        self.event.synchronize()
    }

    /// Waits for it, and returns what has ended before it, as [`Queue::finish`] does of the whole stream, but for what kernels printed.
    pub(in crate::gpu) fn finish(&self, own: Option<u64>, any: bool) -> Ended {
        let ended = self.synchronize();
        self.queue.collect(self.upto, own, any, ended.map(|()| Records::default()))
    }
}
