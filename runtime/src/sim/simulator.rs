//! The user's configuration of the simulator.

use std::sync::Arc;
use std::time::Duration;

use super::named_memory::NamedBuffer;
use super::race::EqualWrites;
use super::recorder::Recorder;
use super::schedule::OrderSearch;
use super::warnings::WarningCollector;
use crate::report::barrier_fence::FencesByPlace;
use crate::schedule::Schedule;

/// Configures how kernels run in the simulator.
///
/// ```
/// # use phalanx::{Schedule, Simulator};
/// let simulator = Simulator::new().schedule(Schedule::Random { seed: 7 }).step_limit(1 << 20);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Simulator {
    pub(super) schedule: Schedule,
    pub(super) step_limit: u64,
    /// The longest time in which no thread of a launch has an effect.
    pub(super) spin_limit: Duration,
    /// Whether a long run shows its progress.
    pub(super) shows_progress: bool,
    pub(super) races: bool,
    pub(super) equal_writes: EqualWrites,
    /// The fences of the program's barriers.
    pub(super) fences: Arc<FencesByPlace>,
    /// Whether every inferred fence is one step weaker than it was chosen.
    pub(super) weaker_fences: bool,
    /// The search of all orders of atomics, which replaces the schedule.
    pub(super) exploration: Option<OrderSearch>,
    /// The bytes that the values of a thread take in the kernel's frames.
    pub(super) local_bytes: usize,
    /// The recorder of a timeline, if one was asked for.
    pub(super) recorder: Option<Recorder>,
    /// The buffers that reports name.
    pub(super) buffers: Vec<NamedBuffer>,
    /// Whether the kernel waits for the launches before it.
    pub(super) waits_for_previous: bool,
    /// The collector of warnings.
    pub(super) warnings: WarningCollector,
}

impl Simulator {
    /// Returns a simulator that schedules threads round robin, detects data races, and allows 2^28 loop iterations per
    /// thread, and a minute in which no thread changes memory or exits.
    pub fn new() -> Self {
        Simulator {
            schedule: Schedule::RoundRobin,
            step_limit: 1 << 28,
            spin_limit: Duration::from_secs(60),
            shows_progress: true,
            races: true,
            equal_writes: EqualWrites::Warn,
            fences: Arc::default(),
            weaker_fences: false,
            exploration: None,
            local_bytes: 0,
            recorder: None,
            buffers: Vec::new(),
            waits_for_previous: false,
            warnings: WarningCollector::default(),
        }
    }

    /// Sets the order in which threads run.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Sets whether data races are detected, that is, whether each access is checked for being ordered with the earlier
    /// accesses that it conflicts with. That costs time, and memory in proportion to what the kernel accesses.
    pub fn races(mut self, detect: bool) -> Self {
        self.races = detect;
        self
    }

    /// Sets whether two plain writes that store equal bytes end the launch as a data race if happens-before does not
    /// order them, as when many threads set the same flag. By default, the launch goes on, and a warning on standard
    /// error names both places once; [`Device::on_warning`](crate::Device::on_warning) receives it as data. By the
    /// memory model of PTX such writes race, but hardware leaves the value that both store. With `false` they pass
    /// without a warning. The environment variable `PHALANX_EQUAL_WRITES` with the value `race` or `allow` sets it for a
    /// program that does not.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 32)]
    /// fn raise(flag: &mut [u32]) {
    ///     flag[0] = 1;
    /// }
    ///
    /// # fn main() -> phalanx::Result<()> {
    /// let device = Device::simulator_with(Simulator::new().equal_writes_race(false));
    /// raise(&mut device.zeros(1)?).grid(1).launch(&device)?;
    /// let strict = Device::simulator_with(Simulator::new().equal_writes_race(true));
    /// let error = raise(&mut strict.zeros(1)?).grid(1).launch(&strict).unwrap_err();
    /// assert!(error.to_string().contains("data race"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn equal_writes_race(mut self, report: bool) -> Self {
        self.equal_writes = if report { EqualWrites::Race } else { EqualWrites::Allow };
        self
    }

    /// Sets whether every inferred fence of a cluster's barrier is one step weaker than it was chosen, so that tests can ask whether
    /// the simulator reports a fence that is too weak.
    #[doc(hidden)]
    pub fn weaker_fences(mut self, weaker: bool) -> Self {
        self.weaker_fences = weaker;
        self
    }

    /// Replaces the schedule by the next order of atomics in this search.
    pub(crate) fn under(mut self, exploration: &OrderSearch) -> Self {
        self.exploration = Some(exploration.clone());
        self
    }

    /// Gives the program's barriers their fences.
    pub(crate) fn with_fences(mut self, fences: &Arc<FencesByPlace>) -> Self {
        self.fences = fences.clone();
        self
    }

    /// Makes the stacks of threads large enough for frames with these bytes of values.
    pub(crate) fn with_local_bytes(mut self, bytes: usize) -> Self {
        self.local_bytes = bytes;
        self
    }

    /// Records the events of runs in `recorder`.
    pub(crate) fn recording(mut self, recorder: &Recorder) -> Self {
        self.recorder = Some(recorder.clone());
        self
    }

    /// Has reports name these buffers.
    pub(crate) fn with_buffers(mut self, buffers: Vec<NamedBuffer>) -> Self {
        self.buffers = buffers;
        self
    }

    /// Sets whether the kernel waits for the launches before it, so that its threads must before they access global memory and exit.
    pub(crate) fn with_previous(mut self, waits: bool) -> Self {
        self.waits_for_previous = waits;
        self
    }

    /// Collects the warnings of runs in `warnings`.
    pub(crate) fn warning(mut self, warnings: &WarningCollector) -> Self {
        self.warnings = warnings.clone();
        self
    }

    /// Returns the schedule that replays the current run.
    pub(super) fn current_schedule(&self) -> Schedule {
        let choices = self.exploration.as_ref().map(|exploration| Schedule::Choices(exploration.choices().into()));
        choices.unwrap_or_else(|| self.schedule.clone())
    }

    /// Sets how long the threads of a launch may run without any of them changing memory or exiting. After that time, a
    /// minute by default, the launch fails: its threads spin. The failure names them, what they last read, and who could
    /// have written it. Threads that poll with atomics are found much sooner.
    pub fn spin_limit(mut self, limit: Duration) -> Self {
        self.spin_limit = limit;
        self
    }

    /// Has runs show no progress, because they are part of something longer that does.
    pub(crate) fn without_progress(mut self) -> Self {
        self.shows_progress = false;
        self
    }

    /// Sets how many loop iterations a thread may execute in total before the kernel fails.
    pub fn step_limit(mut self, iterations: u64) -> Self {
        self.step_limit = iterations;
        self
    }
}

impl Default for Simulator {
    fn default() -> Self {
        Simulator::new()
    }
}
