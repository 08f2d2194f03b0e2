//! A point in the work of a stream, for the host and other streams to wait for and to measure times between.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cudarc::driver::sys::CUevent_flags::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaEvent};

use super::super::ffi::driver;
use super::Queue;
use crate::report::error::Result;
use crate::report::graph::GraphError;

/// An event with the time at which it came.
pub(crate) struct GpuEvent {
    event: CudaEvent,
    /// The stream, and the number up to which the stream's work comes before the event; `None` for one that graphs record.
    before: Option<(Arc<Queue>, u64)>,
    /// Whether it has been recorded, which an event of a graph has not before the graph's first launch.
    recorded: AtomicBool,
}

impl Queue {
    /// Records an event after the work so far.
    pub(crate) fn record(self: &Arc<Self>) -> Result<GpuEvent> {
        self.check_not_capturing()?;
        let tick = self.ticks();
        let event = self.stream().record_event(Some(CU_EVENT_DEFAULT)).map_err(driver("cuEventRecord"))?;
        Ok(GpuEvent { event, before: Some((self.clone(), tick)), recorded: AtomicBool::new(true) })
    }

    /// Lets later work wait for an event.
    pub(crate) fn wait(&self, event: &GpuEvent) -> Result<()> {
        event.check_recorded()?;
        self.check_not_capturing()?;
        if let Some((queue, _)) = &event.before {
            queue.check_not_lost()?;
        }
        let mut state = self.state();
        self.stream().wait(&event.event).map_err(driver("cuStreamWaitEvent"))?;
        // No launch behind it begins beside those in front of it.
        state.unfinished().clear();
        if let Some((queue, tick)) = &event.before {
            Queue::has_followed(&mut state, queue, *tick);
        }
        Ok(())
    }
}

impl GpuEvent {
    /// Creates an event that the launches of a graph record.
    pub(in crate::gpu) fn captured(context: &Arc<CudaContext>) -> Result<GpuEvent> {
        let event = context.new_event(Some(CU_EVENT_DEFAULT)).map_err(driver("cuEventCreate"))?;
        Ok(GpuEvent { event, before: None, recorded: AtomicBool::new(false) })
    }

    pub(in crate::gpu) fn event(&self) -> &CudaEvent {
        &self.event
    }

    /// Notes a launch of the graph that records it.
    pub(in crate::gpu) fn has_launched(&self) {
        self.recorded.store(true, Ordering::Release);
    }

    fn check_recorded(&self) -> Result<()> {
        match self.recorded.load(Ordering::Acquire) {
            true => Ok(()),
            false => Err(GraphError::NotLaunched.into()),
        }
    }

    /// Waits for the work before it.
    pub(crate) fn synchronize(&self) -> Result<()> {
        self.check_recorded()?;
        if let Some((queue, _)) = &self.before {
            queue.wait_until(|| self.is_complete())?;
            if !self.is_complete()? {
                queue.check_not_lost()?;
            }
        }
        self.event.synchronize().map_err(driver("cuEventSynchronize"))
    }

    /// Returns whether the work before it has ended.
    pub(crate) fn is_complete(&self) -> Result<bool> {
        self.check_recorded()?;
        self.event.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        self.event.try_is_complete().map_err(driver("cuEventQuery"))
    }

    /// Waits for both and returns the time from this event to `later`, or zero if that was first.
    pub(crate) fn elapsed(&self, later: &GpuEvent) -> Result<Duration> {
        self.synchronize()?;
        later.synchronize()?;
        let milliseconds = self.event.elapsed_ms(&later.event).map_err(driver("cuEventElapsedTime"))?;
        Ok(Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).unwrap_or_default())
    }
}
