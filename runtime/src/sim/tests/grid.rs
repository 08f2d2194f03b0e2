//! The barrier of the grid: phases over clusters, inside and outside those of other groups, misuse, deadlock,
//! schedules.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{at, shape};
use crate::kernel::group::{this_cluster, this_grid, this_thread_block};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{load, shared_array, store};
use crate::report::failure::{Cause, Failure};
use crate::schedule::Schedule;
use crate::shape::Shape;
use crate::sim::{Simulator, most_clusters, run, run_together};

const SCHEDULES: [Schedule; 3] =
    [Schedule::RoundRobin, Schedule::Random { seed: 0 }, Schedule::Random { seed: 0xfeed }];

fn together(shape: Shape, body: impl Fn() + Send + Sync) -> Result<(), Box<Failure>> {
    run_together("test", &shape, &Simulator::new(), &body).1
}

#[track_caller]
fn protocol(shape: Shape, body: impl Fn() + Send + Sync) -> String {
    match together(shape, body).expect_err("the kernel should fail").cause {
        Cause::Protocol(sentence) => sentence,
        other => panic!("{other:?}"),
    }
}

#[test]
fn no_thread_passes_before_all_have_come() {
    for schedule in SCHEDULES {
        for (grid, cluster, block) in [(1, 1, 1), (7, 1, 3), (8, 4, 33), (64, 2, 8)] {
            let arrived = AtomicU32::new(0);
            let threads = grid * block;
            let body = || {
                for phase in 1..=5 {
                    arrived.fetch_add(1, Relaxed);
                    let token = this_grid().barrier_arrive();
                    this_thread_block().sync();
                    this_cluster().sync();
                    this_grid().barrier_wait(token);
                    assert_eq!(arrived.load(Relaxed), phase * threads);
                    this_grid().sync();
                }
            };
            let simulator = Simulator::new().schedule(schedule.clone());
            run_together("test", &shape(grid, cluster, block), &simulator, &body).1.unwrap();
        }
    }
}

#[test]
fn shows_that_peers_run() {
    let body = || {
        let (cluster, thread) = (this_cluster(), this_thread_block().thread_rank());
        let array = shared_array::<u32, 8>();
        store(&array, thread, cluster.block_rank());
        this_grid().sync();
        let peer = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
        assert_eq!(load(&peer, thread), 1 - cluster.block_rank());
        this_grid().sync();
    };
    together(shape(6, 2, 8), body).unwrap();
}

#[test]
fn is_the_outermost_phase() {
    let cluster = protocol(shape(4, 2, 4), || {
        let token = this_cluster().barrier_arrive();
        this_grid().sync();
        this_cluster().barrier_wait(token);
    });
    assert!(cluster.starts_with("`grid.sync()` must not come between `cluster.barrier_arrive()` at "), "{cluster}");
    let grid = protocol(shape(4, 2, 4), || {
        let first = this_grid().barrier_arrive();
        let second = this_grid().barrier_arrive();
        this_grid().barrier_wait(first);
        this_grid().barrier_wait(second);
    });
    assert!(grid.starts_with("`grid.barrier_arrive()` must not come between `grid.barrier_arrive()` at "), "{grid}");
    let dropped = protocol(shape(4, 2, 4), || drop(this_grid().barrier_arrive()));
    assert!(
        dropped.starts_with("`grid.barrier_arrive()` must be waited for, but the thread exited without "),
        "{dropped}"
    );
}

#[test]
fn clusters_that_exited_are_missed() {
    let failure = together(shape(8, 2, 4), || {
        if this_grid().cluster_rank() != 2 {
            this_grid().sync();
        }
    })
    .unwrap_err();
    let Cause::Deadlock(groups) = &failure.cause else { panic!("{failure}") };
    let found: Vec<_> = groups.iter().map(|group| (group.what.as_str(), group.threads, group.first)).collect();
    assert_eq!(found, [("wait at `grid.sync()`", 24, (at(0), at(0)))]);
    let missing = &groups[0].missing[0];
    assert_eq!((&*missing.what, missing.threads, missing.first), ("exited", 8, (at(4), at(0))));
    assert_eq!(groups[0].location.as_ref().map(|location| location.line), Some(line!() - 9));
}

#[test]
fn a_cluster_that_hangs_holds_up_the_grid() {
    let failure = together(shape(4, 1, 4), || {
        if this_grid().thread_rank() == 9 {
            this_thread_block().sync();
        }
        this_grid().sync();
    })
    .unwrap_err();
    let Cause::Deadlock(groups) = &failure.cause else { panic!("{failure}") };
    let found: Vec<_> = groups.iter().map(|group| (group.what.as_str(), group.threads)).collect();
    assert_eq!(found, [("wait at `grid.sync()`", 15), ("wait at `block.sync()`", 1)]);
    // One thread of block 2 has not reached the grid's barrier, and the others of its block wait elsewhere.
    let missing: Vec<_> = groups.iter().map(|group| (&*group.missing[0].what, group.missing[0].threads)).collect();
    assert_eq!(missing, [("wait at `block.sync()`", 1), ("wait at `grid.sync()`", 3)]);
    assert_eq!(groups[0].missing[0].first, (at(2), at(1)));
}

/// A block arrives as a whole, as on a GPU, where its first thread arrives for it.
#[test]
fn an_arrival_waits_for_its_block() {
    for (block, ends) in [(1, true), (2, false)] {
        let flag = AtomicU32::new(0);
        let body = || {
            while this_grid().thread_rank() == 1 && flag.load(Relaxed) == 0 {
                tick();
            }
            let token = this_grid().barrier_arrive();
            if this_grid().thread_rank() == 0 {
                flag.store(1, Relaxed);
            }
            this_grid().barrier_wait(token);
        };
        let simulator = Simulator::new().step_limit(1000);
        let result = run_together("test", &shape(2, 1, block), &simulator, &body).1;
        assert_eq!(result.is_ok(), ends, "blocks of {block}");
    }
}

#[test]
fn a_failure_ends_those_that_wait() {
    let failure = together(shape(64, 2, 32), || {
        assert!(this_grid().thread_rank() != 1000, "the one");
        this_grid().sync();
    })
    .unwrap_err();
    assert_eq!((failure.cause, failure.block, failure.thread), (Cause::Panic("the one".into()), at(31), at(8)));
}

/// Only the schedule decides the order in which clusters reach a site.
#[test]
fn the_same_schedule_gives_the_same_run() {
    let order = |schedule: Schedule| {
        let order = Mutex::new(Vec::new());
        let body = || {
            for _ in 0..3 {
                order.lock().unwrap().push(this_grid().thread_rank());
                this_grid().sync();
            }
        };
        run_together("test", &shape(12, 2, 5), &Simulator::new().schedule(schedule.clone()), &body).1.unwrap();
        order.into_inner().unwrap()
    };
    let orders = SCHEDULES.map(order);
    assert_eq!(orders, SCHEDULES.map(order));
    assert!(orders[0] != orders[1] && orders[1] != orders[2]);
}

#[test]
fn as_many_as_there_are_stacks_for() {
    let clusters = most_clusters(&shape(1, 1, 1000));
    assert_eq!(clusters, 20);
    let arrived = AtomicU32::new(0);
    let body = || {
        arrived.fetch_add(1, Relaxed);
        this_grid().sync();
        assert_eq!(arrived.load(Relaxed), 20_000);
    };
    together(shape(clusters as u32, 1, 1000), body).unwrap();
}

#[test]
fn a_launch_that_does_not_know_of_it() {
    let failure = run("test", &shape(2, 1, 1), &Simulator::new(), &|| this_grid().sync()).1.unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("`grid.sync()` must be called by the kernel itself, not only by the closure of a `cuda!`")
    );
}
