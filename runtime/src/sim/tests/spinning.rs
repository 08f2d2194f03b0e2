//! Threads that spin on memory that no thread will write, under every kind of schedule, and threads that spin for long
//! and go on.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};

use super::shape;
use crate::kernel::group::{this_grid, this_thread_block, tiled_partition};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{GlobalMemory, GlobalMut, atomic, load};
use crate::report::failure::{Cause, Failure, WaitingThreads};
use crate::schedule::Schedule;
use crate::shape::Shape;
use crate::sim::{Simulator, run};

type Words<'a> = GlobalMut<'a, u32>;

const SCHEDULES: [Schedule; 5] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 2 },
    Schedule::Priority { seed: 1, changes: 1 },
    Schedule::Priority { seed: 2, changes: 1 },
    Schedule::Lockstep { seed: 3 },
];

fn under(schedule: Schedule, shape: Shape, body: impl Fn(&Words<'_>, usize) + Send + Sync) -> Result<(), Box<Failure>> {
    let memory = GlobalMemory::zeros(64);
    let words = Words::new(&memory);
    let simulator = Simulator::new().schedule(schedule);
    run("test", &shape, &simulator, &|| body(&words, this_grid().thread_rank())).1
}

/// Returns the threads that the deadlock names, under each schedule.
fn deadlocks(shape: Shape, body: impl Fn(&Words<'_>, usize) + Send + Sync) -> Vec<Vec<WaitingThreads>> {
    let choices = Schedule::Choices([].into());
    let found = SCHEDULES.into_iter().chain([choices]).map(|schedule| {
        let failure = under(schedule.clone(), shape, &body).expect_err("it spins for ever");
        match failure.cause {
            Cause::Deadlock(waiting) => waiting,
            other => panic!("{schedule}: {other}"),
        }
    });
    found.collect()
}

#[test]
fn a_flag_that_no_thread_sets() {
    let body = |words: &Words<'_>, rank: usize| {
        while rank == 3 && atomic(words, 2).load(Acquire) == 0 {
            tick();
        }
        this_thread_block().sync();
    };
    for waiting in deadlocks(shape(1, 1, 32), body) {
        let spinning: Vec<_> = waiting.iter().filter(|group| group.spins).collect();
        assert_eq!(spinning.len(), 1);
        assert_eq!((spinning[0].threads, spinning[0].first.1.x), (1, 3));
        assert_eq!(spinning[0].what, "spin on bytes 8..12 of a buffer in global memory");
        assert_eq!(spinning[0].missing.iter().map(|missing| missing.threads).sum::<usize>(), 31);
    }
}

#[test]
fn clusters_that_wait_for_each_other() {
    deadlocks(shape(4, 2, 1), |words, _| {
        let own = this_grid().cluster_rank();
        while atomic(words, 1 - own).compare_exchange(1, 2, Acquire, Relaxed).is_err() {
            tick();
        }
        atomic(words, own).store(1, Release);
    });
}

#[test]
fn a_lock_that_is_never_released() {
    deadlocks(shape(1, 1, 4), |words, _| {
        while atomic(words, 0).swap(1, Acquire) == 1 {
            tick();
        }
    });
}

#[test]
fn lanes_that_spin_through_a_vote() {
    let vote = |words: &Words<'_>| {
        let warp = tiled_partition::<32>(&this_thread_block());
        while !warp.any(atomic(words, 0).load(Acquire) != 0) {
            tick();
        }
    };
    deadlocks(shape(1, 1, 32), |words, _| vote(words));
    // The other warp must get a turn, although the first never uses up one of its own.
    for schedule in SCHEDULES.into_iter().chain((0..16).map(|seed| Schedule::Priority { seed, changes: 0 })) {
        let ends = under(schedule.clone(), shape(1, 1, 64), |words, rank| match rank {
            0..32 => vote(words),
            _ => atomic(words, 0).store(1, Release),
        });
        assert!(ends.is_ok(), "{schedule}: {ends:?}");
    }
}

#[test]
fn a_long_wait_ends() {
    for schedule in SCHEDULES {
        let ends = under(schedule.clone(), shape(2, 1, 2), |words, rank| {
            if rank == 0 {
                // Longer than the others' polls suffice to count as spinning.
                for _ in 0..1_000_000 {
                    tick();
                }
                atomic(words, 0).store(1, Release);
            }
            while atomic(words, 0).load(Acquire) == 0 {
                tick();
            }
        });
        assert!(ends.is_ok(), "{schedule}: {ends:?}");
    }
}

/// They are found in far less time than each of them needs to poll as often as a single thread must.
#[test]
fn a_thousand_threads_that_poll_one_flag() {
    for schedule in SCHEDULES {
        let start = Instant::now();
        let failure = under(schedule.clone(), shape(1, 1, 1024), |words, _| {
            while atomic(words, 0).load(Acquire) == 0 {
                tick();
            }
        });
        let Cause::Deadlock(waiting) = failure.unwrap_err().cause else { panic!("{schedule}: no deadlock") };
        assert_eq!((waiting.len(), waiting[0].threads, waiting[0].spins), (1, 1024, true), "{schedule}");
        assert!(start.elapsed() < Duration::from_secs(10), "{schedule}: {:?}", start.elapsed());
    }
}

/// One warp after the other must get its turns, although no lane of the others ever uses up one of its own.
#[test]
fn warps_that_vote_for_each_other() {
    for seed in 0..12 {
        let schedule = Schedule::Priority { seed, changes: seed as u32 % 3 };
        let ends = under(schedule.clone(), shape(1, 1, 128), |words, rank| {
            let warp = tiled_partition::<32>(&this_thread_block());
            let number = (rank / 32) as u32;
            // All warps but the last wait for the next one.
            while number < 3 && !warp.any(atomic(words, 0).load(Acquire) == 3 - number) {
                tick();
            }
            if rank % 32 == 0 {
                atomic(words, 0).fetch_add(1, Release);
            }
        });
        assert!(ends.is_ok(), "{schedule}: {ends:?}");
    }
}

#[test]
fn plain_reads_that_never_change() {
    for schedule in SCHEDULES {
        let memory = GlobalMemory::zeros(64);
        let words = Words::new(&memory);
        let simulator = Simulator::new().schedule(schedule.clone()).spin_limit(Duration::from_millis(50));
        let failure = run("test", &shape(2, 1, 64), &simulator, &|| {
            while this_grid().thread_rank() % 64 < 40 && load(&words, 3) == 0 {
                tick();
            }
        });
        let Cause::SpinLimit { waiting, .. } = failure.1.unwrap_err().cause else { panic!("{schedule}: no limit") };
        assert_eq!(waiting[0].what, "spin on bytes 12..16 of a buffer in global memory", "{schedule}");
        assert_eq!(waiting[0].missing.first().map(|missing| &*missing.what), Some("exited"), "{schedule}");
    }
}
