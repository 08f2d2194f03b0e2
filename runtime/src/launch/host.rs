//! A simulator as a device: its memory, and what its launches leave for the program, by stream. A launch runs when it is enqueued, so that streams
//! differ only in who is told of a failure.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::gpu::caps::Caps;
use crate::report::error::Result;
use crate::report::failure::Failure;
use crate::report::output::Output;
use crate::report::unreported::Unreported;
use crate::report::warning::Warnings;
use crate::sim::Simulator;

/// The state of a simulator device.
pub(crate) struct Host {
    pub(crate) simulator: Simulator,
    pub(crate) caps: Caps,
    /// The reason why [`Device::auto`](crate::Device::auto) selected no GPU.
    pub(super) reason: Option<String>,
    pub(crate) output: Output,
    /// The deadline of launches that wait and name none.
    pub(super) deadline: Mutex<Option<Duration>>,
    pub(crate) warnings: Warnings,
    pub(super) default: Arc<HostQueue>,
    /// The other streams. One that the program has dropped stays while it has failures to report.
    others: Mutex<Vec<Arc<HostQueue>>>,
    /// The bytes of all buffers.
    reserved: AtomicUsize,
}

/// A part of a simulator's memory that is in use.
pub(super) struct Reserved {
    host: Arc<Host>,
    bytes: usize,
}

/// A stream of a simulator.
#[derive(Default)]
pub(crate) struct HostQueue {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The number of the last launch, counted from 1.
    issued: u64,
    failures: Unreported<Failure>,
}

/// Who is told of the failure of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Who next waits for the stream.
    Anyone,
    /// Who holds the launch's handle.
    Handle,
    /// The caller.
    Caller,
}

impl Host {
    pub(super) fn new(simulator: Simulator, reason: Option<String>) -> Host {
        Host {
            simulator,
            caps: Caps::h100(),
            reason,
            output: Output::default(),
            deadline: Mutex::default(),
            warnings: Warnings::default(),
            default: Arc::default(),
            others: Mutex::default(),
            reserved: AtomicUsize::new(0),
        }
    }

    /// Takes so many bytes of the device's memory, if it has them.
    pub(super) fn reserve(host: &Arc<Host>, bytes: usize) -> Option<Reserved> {
        let more = |reserved: usize| reserved.checked_add(bytes).filter(|all| *all <= host.caps.memory_bytes);
        host.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Reserved { host: host.clone(), bytes })
    }

    /// Creates a stream.
    pub(super) fn new_queue(&self) -> Arc<HostQueue> {
        let queue = Arc::<HostQueue>::default();
        let mut others = self.others();
        others.retain(|other| Arc::strong_count(other) > 1 || !other.state().failures.is_empty());
        others.push(queue.clone());
        queue
    }

    /// Returns the first failure that nobody has been told of, of the default stream and then of the others.
    pub(super) fn synchronize(&self) -> Result<()> {
        let others = self.others().clone();
        [&self.default].into_iter().chain(&others).try_for_each(|queue| queue.synchronize())
    }

    fn others(&self) -> MutexGuard<'_, Vec<Arc<HostQueue>>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.host.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl HostQueue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the result of a launch, and returns the launch's number. If the caller is told, it returns the launch's failure, or else the
    /// first that nobody waits for.
    pub(super) fn record(&self, failure: Option<Failure>, told: Told) -> Result<u64> {
        let mut state = self.state();
        state.issued += 1;
        let number = state.issued;
        if let Some(failure) = failure {
            if told == Told::Handle {
                state.failures.keep(number);
            }
            state.failures.add(number, failure);
        }
        let reported = match told {
            Told::Caller => state.failures.own(number).or_else(|| state.failures.first()),
            Told::Anyone | Told::Handle => None,
        };
        reported.map_or(Ok(number), |failure| Err(failure.into()))
    }

    /// Returns the first failure that nobody waits for.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.state().failures.first().map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Returns the failure of a launch.
    pub(super) fn wait(&self, launch: u64) -> Result<()> {
        self.state().failures.own(launch).map_or(Ok(()), |failure| Err(failure.into()))
    }

    /// Gives the failure of a launch to who next waits for the stream.
    pub(super) fn release(&self, launch: u64) {
        self.state().failures.release(launch);
    }
}
