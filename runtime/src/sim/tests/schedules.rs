//! Schedules: progress, reproducibility, many threads, the state after a failure.

use std::panic::Location;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{at, failure, shape, simulate};
use crate::kernel::group::{this_cluster, this_grid, this_thread_block};
use crate::kernel::intrinsics::{fail_assertion, fail_panic, tick};
use crate::kernel::memory::{GlobalMemory, GlobalMut, atomic, load, shared_array, store};
use crate::location::Location as Place;
use crate::program::message::MessageSlot;
use crate::report::failure::Cause;
use crate::schedule::Schedule;
use crate::sim::{Simulator, run};

const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 0 },
    Schedule::Random { seed: 0xfeed },
    Schedule::Lockstep { seed: 0 },
];

#[test]
fn loops_that_wait_for_a_flag_end() {
    for schedule in SCHEDULES {
        let memory = GlobalMemory::zeros(4);
        let flag = GlobalMut::<u32>::new(&memory);
        // Thread n waits for thread n + 1 by a plain read, which is a race.
        let body = || {
            let rank = this_cluster().thread_rank();
            while rank != 63 && 63 - load(&flag, 0) != rank {
                tick();
            }
            atomic(&flag, 0).fetch_add(1, Relaxed);
        };
        let simulator = Simulator::new().schedule(schedule).races(false);
        run("test", &shape(1, 1, 64), &simulator, &body).1.unwrap();
        assert_eq!(memory.read::<u32>(), [64]);
    }
}

#[test]
fn clusters_may_wait_for_each_other() {
    for count in [2_u32, 500] {
        let memory = GlobalMemory::zeros(4);
        let flag = GlobalMut::<u32>::new(&memory);
        let body = || {
            // The first cluster finishes last.
            while atomic(&flag, 0).load(Relaxed) != count - 1 - this_grid().cluster_rank() as u32 {
                tick();
            }
            atomic(&flag, 0).fetch_add(1, Relaxed);
        };
        simulate(shape(count, 1, 1), body).unwrap();
    }
}

#[test]
fn a_loop_without_an_end() {
    let simulator = Simulator::new().step_limit(1000);
    let body = || {
        let rank = this_thread_block().thread_rank();
        this_thread_block().sync();
        while std::hint::black_box(rank) == 3 {
            tick();
        }
    };
    let failure = run("test", &shape(1, 1, 8), &simulator, &body).1.unwrap_err();
    assert_eq!((failure.cause, failure.thread), (Cause::StepLimit(1000), at(3)));
    assert_eq!(failure.location.map(|place| place.line), Some(line!() - 5));
}

/// Returns the order in which threads of two clusters take numbers.
fn order(schedule: Schedule) -> Vec<(usize, u32)> {
    let order = Mutex::new(Vec::new());
    let body = || {
        for _ in 0..4 {
            tick();
            order.lock().unwrap().push((this_grid().cluster_rank(), this_cluster().thread_rank()));
            this_thread_block().sync();
        }
    };
    run("test", &shape(4, 2, 16), &Simulator::new().schedule(schedule), &body).1.unwrap();
    let mut order = order.into_inner().unwrap();
    // A stable sort keeps the order within each cluster.
    order.sort_by_key(|&(cluster, _)| cluster);
    order
}

#[test]
fn a_seed_replays_its_order() {
    for schedule in SCHEDULES {
        assert_eq!(order(schedule.clone()), order(schedule));
    }
    let [_, random, other, lockstep] = SCHEDULES.map(order);
    assert_ne!(random, other);
    assert_ne!(lockstep, order(Schedule::Lockstep { seed: 1 }));
    let (first, second) = random.split_at(random.len() / 2);
    assert!(first.iter().zip(second).any(|(a, b)| a.1 != b.1), "clusters differ");
}

#[test]
fn the_lowest_failing_cluster_is_reported() {
    for _ in 0..20 {
        let (failure, _) = failure(shape(64, 2, 8), || {
            let rank = this_grid().cluster_rank();
            // Later clusters fail sooner.
            for _ in 0..(32 - rank) * 1000 {
                tick();
            }
            if rank >= 5 {
                fail_assertion(&MessageSlot::default(), (rank,), |(rank,)| format!("rank was {rank}"));
            }
        });
        assert_eq!(failure.cause, Cause::Assertion("rank was 5".into()));
        assert_eq!((failure.block, failure.thread), (at(10), at(0)));
    }
}

#[test]
fn a_failure_leaves_the_simulator_usable() {
    struct Drops<'a>(&'a AtomicU32);
    impl Drop for Drops<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let (made, dropped) = (AtomicU32::new(0), AtomicU32::new(0));
    let site = Location::caller();
    let (failure, line) = failure(shape(8, 8, 64), || {
        made.fetch_add(1, Relaxed);
        let _held = Drops(&dropped);
        if this_cluster().thread_rank() == 300 {
            fail_panic(&MessageSlot::default(), (), |()| "no".into());
        }
        this_cluster().sync();
    });
    assert_eq!(failure.cause, Cause::Panic("no".into()));
    assert_eq!(failure.location, Some(Place { file: site.file().into(), line, column: 13 }));
    assert_eq!((made.into_inner(), dropped.into_inner()), (301, 301), "suspended threads are unwound");
    simulate(shape(8, 8, 64), || this_cluster().sync()).unwrap();
}

#[test]
fn a_rust_panic_is_a_failure() {
    let (failure, _) = failure(shape(2, 2, 16), || {
        assert!(this_cluster().thread_rank() != 20, "twenty");
        this_cluster().sync();
    });
    assert_eq!((failure.cause, failure.block, failure.thread), (Cause::Panic("twenty".into()), at(1), at(4)));
}

#[test]
fn the_largest_cluster() {
    let memory = GlobalMemory::zeros(2 * 16 * 1024 * 4);
    let output = GlobalMut::<u32>::new(&memory);
    let body = || {
        let (cluster, rank) = (this_cluster(), this_thread_block().thread_rank());
        let array = shared_array::<u32, 1024>();
        store(&array, rank, cluster.thread_rank());
        cluster.sync();
        let peer = cluster.map_shared_rank(&array, 15 - cluster.block_rank());
        store(&output, this_grid().thread_rank(), load(&peer, 1023 - rank));
        cluster.sync();
    };
    simulate(shape(32, 16, 1024), body).unwrap();
    let reversed: Vec<u32> = (0..16 * 1024).rev().collect();
    assert_eq!(memory.read::<u32>(), [&*reversed, &*reversed].concat());
}

#[test]
fn launches_side_by_side() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| simulate(shape(32, 16, 512), || this_cluster().sync()).unwrap());
        }
    });
}

#[test]
fn schedules_are_texts() {
    let schedules = [
        "round-robin",
        "random:7",
        "random:18446744073709551615",
        "priority:7:2",
        "lockstep:7",
        "choices:",
        "choices:0.2.1",
    ];
    for text in schedules {
        assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
    }
    for text in
        ["", "random", "random:x", "random:1:2", "priority:7", "lockstep", "lockstep:7:1", "choices:0..1", "Random:7"]
    {
        assert!(text.parse::<Schedule>().is_err(), "{text}");
    }
}

/// Under some seed all threads of a block run before any of another, for either block.
#[test]
fn blocks_start_late_and_leave_early() {
    let mut firsts = [false; 4];
    for seed in (1..200).step_by(2) {
        let order = order(Schedule::Priority { seed, changes: 0 });
        let of_a_cluster = order.iter().filter(|(cluster, _)| *cluster == 0).map(|(_, rank)| rank / 16);
        let starts: Vec<u32> = of_a_cluster.take(16).collect();
        assert!(starts.iter().all(|block| *block == starts[0]), "{starts:?}");
        firsts[starts[0] as usize] = true;
    }
    assert_eq!(firsts, [true, true, false, false]);
}

/// Counts the threads of a block's 64 that find a word unwritten, which each writes right after.
fn early(schedule: Schedule) -> u32 {
    let memory = GlobalMemory::zeros(8);
    let words = GlobalMut::<u32>::new(&memory);
    let body = || {
        let found = atomic(&words, 0).fetch_add(0, Relaxed);
        atomic(&words, 0).store(1, Relaxed);
        atomic(&words, 1).fetch_add(1 - found, Relaxed);
    };
    run("test", &shape(1, 1, 64), &Simulator::new().schedule(schedule), &body).1.unwrap();
    memory.read::<u32>()[1]
}

/// In lockstep all threads of a warp read before one of them writes, which never happens when they run independently;
/// and only independent threads find it written by another thread of the warp.
#[test]
fn warps_in_lockstep_or_not() {
    let lockstep: Vec<u32> = (0..100).map(|seed| early(Schedule::Lockstep { seed })).collect();
    assert!(lockstep.iter().all(|early| early % 32 == 0), "{lockstep:?}");
    assert!(lockstep.contains(&32) && lockstep.contains(&64), "one warp goes before the other, or both at once");
    let alone: Vec<u32> = (0..100).map(|seed| early(Schedule::Random { seed })).collect();
    assert!(alone.iter().all(|early| early % 32 != 0), "{alone:?}");
    assert_eq!(early(Schedule::RoundRobin), 1);
}

/// Threads of a warp hand each other values without synchronization, as was done before Volta: a race under every
/// schedule; with race detection off, right in lockstep only.
#[test]
fn a_warp_that_counts_on_lockstep() {
    let exchange = || {
        let rank = this_thread_block().thread_rank();
        let staged = shared_array::<u32, 64>();
        store(&staged, rank, rank);
        assert_eq!(load(&staged, rank ^ 1), rank ^ 1);
    };
    for seed in 0..20 {
        let under = |schedule, races| {
            let simulator = Simulator::new().schedule(schedule).races(races);
            run("test", &shape(1, 1, 64), &simulator, &exchange).1.map_err(|failure| failure.cause)
        };
        assert!(matches!(under(Schedule::Lockstep { seed }, true), Err(Cause::Race(_))));
        assert_eq!(under(Schedule::Lockstep { seed }, false), Ok(()));
        assert!(matches!(under(Schedule::Random { seed }, false), Err(Cause::UninitializedShared { .. })));
    }
}
