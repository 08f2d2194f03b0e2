//! Explorations: the failures that they find, the orders that they run, and the schedules that replay.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::*;
use crate::kernel::group::this_grid;
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{GlobalMemory, GlobalMut, atomic, load, store};
use crate::launch::device::Target;
use crate::shape::{Dim3, Shape};
use crate::sim::{fail_at, run};

type Words<'a> = GlobalMut<'a, u32>;

/// Runs one block of `threads` with a few words of memory.
fn launch(
    device: &Device,
    threads: u32,
    words: &Words<'_>,
    body: impl Fn(usize, &Words<'_>) + Send + Sync,
) -> Result<()> {
    let Target::Simulator(host) = &device.target else { panic!("a simulator") };
    let shape = Shape { grid: 1.into(), cluster: 1.into(), block: threads.into(), dynamic_shared_bytes: 0 };
    let body = || body(this_grid().thread_rank(), words);
    run("test", &shape, &host.simulator, &body).1.map_err(Error::Kernel)
}

fn with_words(f: impl FnOnce(&Words<'_>)) -> Vec<u32> {
    let memory = GlobalMemory::zeros(64);
    f(&Words::new(&memory));
    memory.read()
}

#[test]
fn all_orders_of_atomics() {
    // Threads that append their numbers to one: as many orders as permutations.
    for (threads, orders) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let seen = Mutex::new(BTreeSet::new());
        let explored = Simulator::new().explore_all(1000, |device| {
            let words = with_words(|words| {
                launch(device, threads, words, |rank, words| {
                    let (mut old, digit) = (0, rank as u32 + 1);
                    while let Err(found) = atomic(words, 0).compare_exchange(old, old * 10 + digit, Relaxed, Relaxed) {
                        old = found;
                        tick();
                    }
                })
                .unwrap();
            });
            seen.lock().unwrap().insert(words[0]);
            Ok(())
        });
        assert!(explored.as_ref().is_ok_and(|explored| explored.exhaustive), "{explored:?}");
        assert_eq!(seen.into_inner().unwrap().len(), orders, "{threads} threads");
    }
}

#[test]
fn what_commutes_is_run_once() {
    let explored = Simulator::new().explore_all(1000, |device| {
        with_words(|words| {
            launch(device, 8, words, |rank, words| {
                atomic(words, rank).fetch_add(1, Relaxed);
                atomic(words, 9).load(Relaxed);
                this_grid().thread_rank();
            })
            .unwrap();
        });
        Ok(())
    });
    assert_eq!(explored.unwrap(), Exploration { runs: 1, exhaustive: true });
}

#[test]
fn waiting_ends() {
    let explored = Simulator::new().explore_all(1000, |device| {
        let mut result = Ok(());
        with_words(|words| {
            result = launch(device, 3, words, |rank, words| match rank {
                0 => {
                    store(words, 1, 7);
                    atomic(words, 0).store(1, Release);
                }
                _ => {
                    while atomic(words, 0).load(Acquire) == 0 {
                        tick();
                    }
                    assert_eq!(load(words, 1), 7);
                }
            });
        });
        result
    });
    assert!(explored.as_ref().is_ok_and(|explored| explored.exhaustive && explored.runs < 50), "{explored:?}");
}

/// Loses an addition if another thread comes between a load and a store.
fn lost_update(device: &Device) -> Result<()> {
    let mut result = Ok(());
    with_words(|words| {
        result = launch(device, 3, words, |_, words| {
            let old = atomic(words, 0).load(Relaxed);
            atomic(words, 0).store(old + 1, Relaxed);
            if atomic(words, 1).fetch_add(1, AcqRel) == 2 && atomic(words, 0).load(Relaxed) != 3 {
                fail_at(Cause::Assertion("lost".into()), std::panic::Location::caller());
            }
        });
    });
    result
}

fn replays(found: &Finding) {
    let again = lost_update(&Device::simulator_with(Simulator::new().schedule(found.schedule.clone()))).unwrap_err();
    assert_eq!(again.to_string(), found.error.to_string());
    let Error::Kernel(failure) = &found.error else { panic!("{found}") };
    assert_eq!(failure.schedule, Some(found.schedule.clone()));
}

#[test]
fn a_lost_update() {
    let simulator = Simulator::new();
    let found = simulator.explore_all(1000, lost_update).unwrap_err();
    assert!(matches!(&found.schedule, Schedule::Choices(choices) if choices.len() <= 3), "{:?}", found.schedule);
    replays(&found);
    let found = simulator.explore(1000, lost_update).unwrap_err();
    replays(&found);
    let Error::Kernel(failure) = &found.error else { panic!("{found}") };
    assert_eq!((failure.cause.to_string(), failure.block), ("lost".into(), Dim3::new(0, 0, 0)));
}

#[test]
fn a_race_needs_one_run() {
    let found = Simulator::new().explore(100, |device| {
        let mut result = Ok(());
        with_words(|words| result = launch(device, 8, words, |rank, words| store(words, 0, rank as u32)));
        result
    });
    let found = found.unwrap_err();
    assert_eq!((found.runs, &found.schedule), (1, &Schedule::RoundRobin));
}

/// Round robin runs clusters in parallel, so that a race between them is found with other threads each time; what the
/// exploration returns replays nevertheless.
#[test]
fn a_race_between_clusters_replays() {
    let program = |device: &Device| {
        let Target::Simulator(host) = &device.target else { panic!("a simulator") };
        let shape = Shape { grid: 64.into(), cluster: 1.into(), block: 16.into(), dynamic_shared_bytes: 0 };
        let mut result = Ok(());
        with_words(|words| {
            let body = || store(words, this_grid().thread_rank() % 16, this_grid().thread_rank() as u32);
            result = run("test", &shape, &host.simulator, &body).1.map_err(Error::Kernel);
        });
        result
    };
    let found = Simulator::new().explore(100, program).unwrap_err();
    for _ in 0..20 {
        let again = program(&Device::simulator_with(Simulator::new().schedule(found.schedule.clone()))).unwrap_err();
        assert_eq!(again.to_string(), found.error.to_string());
    }
}
