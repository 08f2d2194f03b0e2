//! What the host does at the end of a GPU's work: it waits for streams and launches, writes what kernels printed, and reports failures.

use std::sync::Arc;

use super::super::queue::{Ended, Mark, Queue};
use super::super::record::Record;
use super::Gpu;
use crate::program::Program;
use crate::report::error::{Error, Result};
use crate::report::graph::GraphError;

impl Gpu {
    /// Waits for all streams, forwards what their kernels printed, and reports the first kernel that failed.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.queues().iter().try_for_each(|queue| self.finish(queue, None, true))
    }

    /// Waits for all work on the GPU, also that of others, and leaves failures to those who wait for them. Returns whether all has ended.
    pub(crate) fn has_been_left(&self) -> bool {
        self.queues().iter().all(|queue| queue.wait_for_deadlines().is_ok() && !queue.is_lost())
            && self.context().synchronize().is_ok()
    }

    /// Waits for a stream, forwards what its kernels printed, and reports the first that failed and that nobody waits for.
    pub(crate) fn synchronize_queue(&self, queue: &Arc<Queue>) -> Result<()> {
        check_may_wait(queue)?;
        self.finish(queue, None, true)
    }

    /// Marks the end of the work of a stream so far.
    pub(crate) fn mark(&self, queue: &Arc<Queue>) -> Result<Arc<Mark>> {
        check_may_wait(queue)?;
        queue.mark()
    }

    /// Waits for a launch, and reports its failure.
    pub(crate) fn wait(&self, queue: &Arc<Queue>, launch: u64) -> Result<()> {
        check_may_wait(queue)?;
        self.finish(queue, Some(launch), false)
    }

    /// Reports what has ended at a mark that has come: the failure of the launch `own`, or the first that nobody waits for. Nobody waits, unless
    /// kernels of the stream print: their texts are read when it has nothing to do.
    pub(crate) fn finish_at(&self, mark: &Mark, own: Option<u64>) -> Result<()> {
        match mark.queue().prints() || mark.queue().is_lost() {
            true => self.finish(mark.queue(), own, own.is_none()),
            false => self.end(mark.queue(), mark.finish(own, own.is_none()), own.is_none()),
        }
    }

    pub(super) fn finish(&self, queue: &Queue, own: Option<u64>, any: bool) -> Result<()> {
        self.end(queue, queue.finish(own, any), any)
    }

    /// Reports what has ended on a stream.
    fn end(&self, queue: &Queue, mut ended: Ended, any: bool) -> Result<()> {
        ended.failure = ended.failure.or_else(|| any.then(|| self.captured.take()).flatten());
        if queue.is_lost() {
            self.keep_forever(queue);
        }
        self.report(ended)
    }

    /// Writes what kernels printed, and returns a failure as an error.
    pub(in crate::gpu) fn report(&self, ended: Ended) -> Result<()> {
        // Formatting the values runs user code, and so does the sink that takes the text, so that no lock is held.
        let printed = ended.printed.map(|records| match records.is_empty() {
            true => {}
            false => self.output.write(records.printed(&self.programs())),
        });
        // The kernel's failure comes first, because it may have caused an error of the driver.
        match ended.failure {
            Some(record) => Err(self.failure(&record)),
            None => printed,
        }
    }

    /// Keeps what a kernel that never ends may use: its stream with the records, and all loaded kernels, which cannot be unloaded meanwhile.
    fn keep_forever(&self, queue: &Queue) {
        let same = self.queues().into_iter().find(|other| std::ptr::eq(&raw const **other, queue));
        std::mem::forget(same);
        self.kernels().loaded.iter().for_each(|loaded| std::mem::forget(loaded.function.clone()));
    }

    /// Returns the failure that a record describes.
    pub(in crate::gpu) fn failure(&self, record: &Record) -> Error {
        let program = self.kernels().loaded[record.kernel as usize].program.clone();
        record.failure(&program).into()
    }

    /// Returns the programs by their numbers.
    fn programs(&self) -> Vec<Arc<Program>> {
        self.kernels().loaded.iter().map(|loaded| loaded.program.clone()).collect()
    }
}

/// Returns an error if the host must not wait for the stream, because another library captures it.
fn check_may_wait(queue: &Queue) -> Result<()> {
    if queue.is_capturing()? { Err(GraphError::Waits.into()) } else { Ok(()) }
}
