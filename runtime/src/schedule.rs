//! The schedules of simulated threads, as values and as texts. A user chooses one, and a failure names the one that
//! replays it. `sim::schedule` implements them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The order in which simulated threads run. All schedules but [`Schedule::RoundRobin`] use one core and are
/// deterministic, even if clusters communicate through global memory.
///
/// ```
/// # use phalanx::Schedule;
/// let schedule: Schedule = "priority:7:2".parse().unwrap();
/// assert_eq!(schedule, Schedule::Priority { seed: 7, changes: 2 });
/// assert_eq!(schedule.to_string(), "priority:7:2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Schedule {
    /// Runs the threads of a cluster in turn, with long turns, and distributes clusters over all cores, which is the
    /// fastest. It is deterministic unless clusters communicate through global memory.
    RoundRobin,
    /// Chooses threads uniformly at random, with short turns.
    Random {
        /// The seed; the same seed gives the same order.
        seed: u64,
    },
    /// Runs the thread of the highest priority. Each thread has a random priority, or each block under odd seeds, so
    /// that blocks start late and exit early. At `changes` random points the running thread's priority drops below all
    /// others. The probability of finding a fault that needs that many switches has a lower bound ("PCT").
    Priority {
        /// The seed; the same seed gives the same order.
        seed: u64,
        /// The number of times that the running thread's priority drops below all others.
        changes: u32,
    },
    /// Runs the threads of a warp in lockstep, and chooses warps uniformly at random. Each thread that can run takes
    /// one step, to its next access, arrival or loop iteration, before any of them takes another or another warp runs.
    /// The other schedules run threads independently, as GPUs since Volta may.
    Lockstep {
        /// The seed; the same seed gives the same order.
        seed: u64,
    },
    /// Runs these threads, given by their numbers in the grid, one after another among those that are about to execute
    /// atomics, and then round robin. [`Simulator::explore_all`](crate::Simulator::explore_all) returns such an order.
    Choices(Arc<[usize]>),
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::RoundRobin => f.write_str("round-robin"),
            Schedule::Random { seed } => write!(f, "random:{seed}"),
            Schedule::Priority { seed, changes } => write!(f, "priority:{seed}:{changes}"),
            Schedule::Lockstep { seed } => write!(f, "lockstep:{seed}"),
            Schedule::Choices(choices) => {
                let choices: Vec<String> = choices.iter().map(usize::to_string).collect();
                write!(f, "choices:{}", choices.join("."))
            }
        }
    }
}

/// A schedule is serialized as its text.
#[cfg(feature = "serde")]
impl serde::Serialize for Schedule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The error of parsing a [`Schedule`] from a text that does not name one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no schedule; write `round-robin`, `random:7`, `priority:7:2`, `lockstep:7` or `choices:0.2.1`")]
pub struct ParseScheduleError(String);

impl FromStr for Schedule {
    type Err = ParseScheduleError;

    fn from_str(text: &str) -> Result<Self, ParseScheduleError> {
        let parts: Vec<&str> = text.split(':').collect();
        let schedule = match *parts {
            ["round-robin"] => Some(Schedule::RoundRobin),
            ["random", seed] => seed.parse().ok().map(|seed| Schedule::Random { seed }),
            ["priority", seed, changes] => match (seed.parse(), changes.parse()) {
                (Ok(seed), Ok(changes)) => Some(Schedule::Priority { seed, changes }),
                _ => None,
            },
            ["lockstep", seed] => seed.parse().ok().map(|seed| Schedule::Lockstep { seed }),
            ["choices", ""] => Some(Schedule::Choices(Arc::default())),
            ["choices", list] => {
                list.split('.').map(|choice| choice.parse().ok()).collect::<Option<_>>().map(Schedule::Choices)
            }
            _ => None,
        };
        schedule.ok_or_else(|| ParseScheduleError(text.into()))
    }
}
