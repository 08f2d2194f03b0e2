//! How kernels run in the simulator, as the user says it.

use super::recorder::Recorder;
use super::schedule::OrderSearch;
use crate::schedule::Schedule;

/// How kernels run in the simulator.
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
    pub(super) races: bool,
    /// All orders of atomics, one after another, in place of the schedule.
    pub(super) exploration: Option<OrderSearch>,
    /// For a timeline.
    pub(super) recorder: Option<Recorder>,
}

impl Simulator {
    /// Round robin, 2^32 loop iterations a thread, and data races are looked for.
    pub fn new() -> Self {
        Simulator {
            schedule: Schedule::RoundRobin,
            step_limit: 1 << 32,
            races: true,
            exploration: None,
            recorder: None,
        }
    }

    /// The order of threads.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.schedule = schedule;
        self
    }

    /// Whether to look for data races: of every access, whether something orders it with those that it conflicts with. It
    /// costs time, and memory beside that of what the kernel touches.
    pub fn races(mut self, look: bool) -> Self {
        self.races = look;
        self
    }

    /// All orders of atomics, a run each, in place of the schedule.
    pub(crate) fn under(mut self, exploration: &OrderSearch) -> Self {
        self.exploration = Some(exploration.clone());
        self
    }

    /// Runs leave there what happens.
    pub(crate) fn recording(mut self, recorder: &Recorder) -> Self {
        self.recorder = Some(recorder.clone());
        self
    }

    /// The schedule that replays the current run.
    pub(super) fn current_schedule(&self) -> Schedule {
        let choices = self.exploration.as_ref().map(|exploration| Schedule::Choices(exploration.choices().into()));
        choices.unwrap_or_else(|| self.schedule.clone())
    }

    /// How often a thread may go round its loops, all of them together, before the kernel fails.
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
