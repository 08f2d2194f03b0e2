//! The wait of a kernel for the launches before it, which have ended when the simulator runs it. In a kernel that has such a wait, each thread
//! must come to it before it accesses global memory and before it exits, as if they still ran. Memory that is declared to be read
//! early is left out: who writes it is known to the launch.
//!
//! Not detected: that a thread has learned from another one that the launches before have ended.

use super::context::Context;
use super::memory::{Access, MemoryId, MemoryOp};
use super::state::{Cluster, Thread};
use crate::report::failure::Cause;

/// What is wrong with a thread that exits without a wait.
const AT_EXIT: &str = "`wait_previous()` must come before a thread exits: the next launch assumes that all earlier launches have ended when this one has";

impl Context<'_> {
    /// Waits for the launches before this one.
    pub(crate) fn wait_previous(&self) {
        self.thread.has_waited_for_previous.set(true);
        self.suspend();
    }

    /// Checks an access of the running thread, or of a copy that it begins.
    #[inline]
    pub(super) fn check_previous(&self, access: Access<'_>) {
        if self.cluster.launch.simulator.waits_for_previous && !self.thread.has_waited_for_previous.get() {
            self.check_early(access);
        }
    }

    #[cold]
    fn check_early(&self, access: Access<'_>) {
        let base = match access.memory {
            MemoryId::Own(base) | MemoryId::Constant(base) | MemoryId::Global(base) => base,
            MemoryId::Shared(_) => return,
        };
        let buffer = self.cluster.buffer(base);
        let reads = matches!(access.op, MemoryOp::Read | MemoryOp::AtomicLoad | MemoryOp::StaleLoad);
        if !(reads && buffer.is_some_and(|buffer| buffer.is_early)) {
            let memory = buffer.map_or_else(|| "global memory".to_owned(), |buffer| format!("`{}`", buffer.name));
            let fault = format!(
                "`wait_previous()` must come before the first access to global memory: launches before this one may still use {memory}"
            );
            self.fail(Cause::Protocol(fault), access.site);
        }
    }
}

impl Cluster<'_> {
    /// Checks that a thread may exit.
    pub(super) fn check_previous_at_exit(&self, thread: &Thread) {
        if self.launch.simulator.waits_for_previous && !thread.has_waited_for_previous.get() {
            *self.failure.borrow_mut() = Some(self.failure(thread, Cause::Protocol(AT_EXIT.into()), None));
        }
    }
}
