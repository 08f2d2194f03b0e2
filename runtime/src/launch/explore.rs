//! Explores a program under many schedules, and finds the first failure and the simplest schedule that shows it.
//! `sim::schedule` implements the schedules; because `sim::race` detects races under any of them, orders of plain
//! accesses need not be tried.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::device::Device;
use crate::report::error::{Error, Result};
use crate::report::failure::Cause;
use crate::report::progress::Progress;
use crate::schedule::Schedule;
use crate::sim::{OrderSearch, Simulator};

/// The number of runs that look for a simpler schedule of a failure.
const SIMPLER: u64 = 64;

/// The result of an exploration that found no failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exploration {
    /// The number of runs.
    pub runs: u64,
    /// Whether every order that can make a difference was run, which [`Simulator::explore`] never claims.
    pub exhaustive: bool,
}

/// A failure that an exploration found, with a schedule that shows it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finding {
    /// The failure.
    pub error: Error,
    /// A schedule that shows the failure; [`Simulator::schedule`] replays it.
    pub schedule: Schedule,
    /// The number of runs until the failure.
    pub runs: u64,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nfound by run {}", self.error, self.runs)
    }
}

impl std::error::Error for Finding {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl Simulator {
    /// Runs a program `runs` times, each time under another schedule, and returns the first failure with the simplest
    /// schedule that was found to show it. The program allocates its own buffers on the device that it is given, so
    /// that all runs begin alike. Runs are parallel. An error that the program returns is a failure.
    ///
    /// The first run is round robin; the others are random, by priority, and with warps in lockstep. The limits and
    /// switches are this simulator's.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 64)]
    /// fn count(total: &mut [u32]) {
    ///     total.atomic(0).fetch_add(1, Relaxed);
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let exploration = Simulator::new().explore(100, |device| {
    ///     let mut total = device.zeros(1)?;
    ///     count(&mut total).grid(4).launch(device)?;
    ///     assert_eq!(total.read()?, [256]);
    ///     Ok(())
    /// })?;
    /// assert_eq!(exploration.runs, 100);
    /// # Ok(())
    /// # }
    /// ```
    pub fn explore(
        &self,
        runs: u64,
        program: impl Fn(&Device) -> Result<()> + Sync,
    ) -> std::result::Result<Exploration, Box<Finding>> {
        let progress = Progress::new("exploring", runs, "runs");
        let first = AtomicU64::new(u64::MAX);
        let under = |schedule| program(&Device::simulator_with(self.clone().without_progress().schedule(schedule)));
        let found = (0..runs).into_par_iter().find_map_first(|run| {
            // Runs after one that failed are skipped.
            if run > first.load(Ordering::Relaxed) {
                return None;
            }
            let error = under(nth(run)).err();
            progress.step();
            error.map(|error| {
                first.fetch_min(run, Ordering::Relaxed);
                (run, error)
            })
        });
        match found {
            None => Ok(Exploration { runs, exhaustive: false }),
            Some((run, error)) => Err(Box::new(simplest(run, error, under))),
        }
    }

    /// Runs a program under every order of its atomics that can make a difference, at most `most` times. It is meant
    /// for small kernels, of a few threads with a few atomics each. The order of plain accesses makes no difference: if
    /// it did, they would race, and a race is found in any order. [`Exploration::exhaustive`] says whether all orders
    /// were run.
    ///
    /// The program must do the same each time except for the order, and launch one kernel. A waiting loop is not
    /// iterated while nothing changes and other threads can run.
    ///
    /// ```
    /// use phalanx::prelude::*;
    ///
    /// #[cluster_kernel(block = 2)]
    /// fn count(total: &mut [u32]) {
    ///     let old = total.atomic(0).load(Relaxed);
    ///     total.atomic(0).store(old + 1, Relaxed); // loses an update if the other thread comes between
    ///     let last = total.atomic(1).fetch_add(1, AcqRel) == 1;
    ///     assert!(!last || total.atomic(0).load(Relaxed) == 2);
    /// }
    ///
    /// let finding = Simulator::new().explore_all(1000, |device| {
    ///     let mut total = device.zeros(2)?;
    ///     count(&mut total).grid(1).launch(device)
    /// });
    /// assert!(finding.unwrap_err().to_string().contains("assertion failed"));
    /// ```
    pub fn explore_all(
        &self,
        most: u64,
        program: impl Fn(&Device) -> Result<()>,
    ) -> std::result::Result<Exploration, Box<Finding>> {
        let progress = Progress::new("exploring", most, "runs");
        let search = OrderSearch::default();
        for run in 0..most {
            let error = program(&Device::simulator_with(self.clone().without_progress().under(&search))).err();
            progress.step();
            if let Some(error) = error {
                let choices = search.choices();
                let under =
                    |schedule| program(&Device::simulator_with(self.clone().without_progress().schedule(schedule)));
                let (error, schedule) = shortest(choices, error, under);
                return Err(Box::new(Finding { error, schedule, runs: run + 1 }));
            }
            if !search.advance() {
                return Ok(Exploration { runs: run + 1, exhaustive: search.is_whole() });
            }
        }
        Ok(Exploration { runs: most, exhaustive: false })
    }
}

/// Returns the schedule of the run of this number.
fn nth(run: u64) -> Schedule {
    match (run, run % 3) {
        (0, _) => Schedule::RoundRobin,
        (_, 0) => Schedule::Lockstep { seed: run },
        (_, 1) => Schedule::Priority { seed: run, changes: (run / 3 % 5) as u32 },
        _ => Schedule::Random { seed: run },
    }
}

/// Returns the same failure under a schedule with fewer thread switches, if one of a few shows it, and in any case under
/// one that replays it, if the schedule that found it does not.
fn simplest(run: u64, error: Error, under: impl Fn(Schedule) -> Result<()>) -> Finding {
    let found = nth(run);
    let exact = replays(&error);
    let simpler = (0..SIMPLER).map(|seed| match seed {
        0 if exact => Schedule::RoundRobin,
        // Round robin in one order, with no choice.
        0 => Schedule::Choices(Arc::default()),
        seed => Schedule::Priority { seed, changes: (seed / 8) as u32 },
    });
    let switches = |schedule: &Schedule| match schedule {
        Schedule::RoundRobin => 0,
        Schedule::Priority { changes, .. } => 1 + u64::from(*changes),
        Schedule::Random { .. } | Schedule::Lockstep { .. } | Schedule::Choices(_) => u64::MAX,
    };
    for schedule in simpler.take_while(|schedule| !exact || switches(schedule) < switches(&found)) {
        if let Err(other) = under(schedule.clone())
            && is_same(&error, &other)
            && replays(&other)
        {
            return Finding { error: other, schedule, runs: run + 1 };
        }
    }
    Finding { error, schedule: found, runs: run + 1 }
}

/// Returns the shortest prefix of the choices that still shows the failure, by bisection.
fn shortest(choices: Vec<usize>, error: Error, under: impl Fn(Schedule) -> Result<()>) -> (Error, Schedule) {
    let (mut error, mut good) = (error, choices.len());
    let mut low = 0;
    while low < good {
        let middle = (low + good) / 2;
        match under(Schedule::Choices(Arc::from(&choices[..middle]))) {
            Err(other) if is_same(&error, &other) => (error, good) = (other, middle),
            Ok(()) | Err(_) => low = middle + 1,
        }
    }
    (error, Schedule::Choices(Arc::from(&choices[..good])))
}

/// Returns whether the schedule that led to the error leads to the same error again. Round robin may not, where clusters
/// depend on each other.
fn replays(error: &Error) -> bool {
    !matches!(error, Error::Kernel(failure) if failure.schedule.is_none())
}

/// Returns whether both errors are the same failure at the same place.
fn is_same(a: &Error, b: &Error) -> bool {
    let (Error::Kernel(a), Error::Kernel(b)) = (a, b) else { return false };
    match (&a.cause, &b.cause) {
        (Cause::Race(a), Cause::Race(b)) => {
            let places = |race: &crate::report::race::Race| {
                let mut places = [race.first.location.clone(), race.second.location.clone()];
                places.sort();
                places
            };
            places(a) == places(b)
        }
        _ => a.location == b.location && std::mem::discriminant(&a.cause) == std::mem::discriminant(&b.cause),
    }
}

#[cfg(test)]
mod tests;
