//! A point in the work of a stream, for the host and other streams to wait for and to measure times between.

use std::sync::Arc;
use std::time::Duration;

use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;

use super::super::ffi::driver;
use super::Queue;
use crate::report::error::Result;

/// An event with the time at which it came.
pub(crate) struct GpuEvent {
    event: CudaEvent,
    queue: Arc<Queue>,
    /// The work of the stream up to this number comes before it.
    tick: u64,
}

impl Queue {
    /// Records an event after the work so far.
    pub(crate) fn record(self: &Arc<Self>) -> Result<GpuEvent> {
        let tick = self.ticks();
        let event = self.stream().record_event(Some(CU_EVENT_DEFAULT)).map_err(driver("cuEventRecord"))?;
        Ok(GpuEvent { event, queue: self.clone(), tick })
    }

    /// Lets later work wait for an event.
    pub(crate) fn wait(&self, GpuEvent { event, queue, tick }: &GpuEvent) -> Result<()> {
        let mut state = self.state();
        self.stream().wait(event).map_err(driver("cuStreamWaitEvent"))?;
        Queue::has_followed(&mut state, queue, *tick);
        Ok(())
    }
}

impl GpuEvent {
    /// Waits for the work before it.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.event.synchronize().map_err(driver("cuEventSynchronize"))
    }

    /// Returns whether the work before it has ended.
    pub(crate) fn is_complete(&self) -> Result<bool> {
        self.event.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        self.event.try_is_complete().map_err(driver("cuEventQuery"))
    }

    /// Waits for both and returns the time from this event to `later`, or zero if that was first.
    pub(crate) fn elapsed(&self, later: &GpuEvent) -> Result<Duration> {
        let milliseconds = self.event.elapsed_ms(&later.event).map_err(driver("cuEventElapsedTime"))?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}
