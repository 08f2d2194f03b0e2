//! What a stream does whose work is captured: it records each operation for the graph, and runs none.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::host::HostQueue;
use super::simulated::Simulated;
use crate::gpu::{GpuEvent, Recording};
use crate::report::error::Result;
use crate::report::graph::GraphError;

/// The recording of a graph, until it is finished.
pub(super) struct Capture {
    recorded: Mutex<Option<Recorded>>,
}

/// The operations so far, of the same kind as the device.
pub(super) enum Recorded {
    Gpu(Recording),
    Simulator(Vec<Operation>),
}

/// An operation that a launch of a graph repeats in the simulator.
pub(super) enum Operation {
    /// A kernel, and the memory that it uses, which lives as long as the graph.
    Launch(Simulated<'static>),
    /// A copy, as work of the stream on which the graph is launched.
    Copy(Box<Copying>),
    Record(HostEvent),
}

/// What copies as work of a stream.
pub(super) type Copying = dyn Fn(&Arc<HostQueue>) + Send + Sync;

/// An event of a graph in the simulator: the time at which the graph's last launch came to it.
pub(super) type HostEvent = Arc<Mutex<Option<Instant>>>;

impl Recorded {
    /// Returns the recording of a GPU's graph.
    pub(super) fn gpu(&mut self) -> &mut Recording {
        match self {
            Recorded::Gpu(recording) => recording,
            Recorded::Simulator(_) => unreachable!("what is captured is of the device's kind"),
        }
    }

    /// Returns the operations of a graph in the simulator.
    pub(super) fn simulator(&mut self) -> &mut Vec<Operation> {
        match self {
            Recorded::Simulator(operations) => operations,
            Recorded::Gpu(_) => unreachable!("what is captured is of the device's kind"),
        }
    }
}

impl Capture {
    pub(super) fn new(recorded: Recorded) -> Capture {
        Capture { recorded: Mutex::new(Some(recorded)) }
    }

    /// Adds to what has been recorded, unless the capture has ended.
    pub(super) fn add<R>(&self, add: impl FnOnce(&mut Recorded) -> Result<R>) -> Result<R> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.as_mut().map_or(Err(GraphError::Ended.into()), add)
    }

    /// Ends the capture.
    pub(super) fn finish(&self) -> Result<Recorded> {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        recorded.take().ok_or_else(|| GraphError::Ended.into())
    }

    /// Records an event, of the GPU's or of the simulator's kind.
    pub(super) fn record<P>(&self, gpu: fn(Arc<GpuEvent>) -> P, simulator: fn(HostEvent) -> P) -> Result<P> {
        self.add(|recorded| match recorded {
            Recorded::Gpu(recording) => recording.record().map(gpu),
            Recorded::Simulator(operations) => {
                let event = HostEvent::default();
                operations.push(Operation::Record(event.clone()));
                Ok(simulator(event))
            }
        })
    }
}
