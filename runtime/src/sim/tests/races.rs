//! Data races: for each way in which something orders, a kernel that relies on it, and its neighbour that does not. The
//! neighbour is reported with both of its places, under every schedule. Accesses of a case stand on lines that end with
//! its name as a comment.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::{at, shape};
use crate::failure::{Cause, Failure};
use crate::group::{Tile, this_cluster, this_grid, this_thread_block, tiled_partition};
use crate::memory::{
    Global, GlobalMemory, GlobalMut, atomic, dynamic_shared_slice, fence, load, shared_array, store, update,
};
use crate::race::{Race, RaceKind, RaceMemory};
use crate::scope::Scope;
use crate::shape::Shape;
use crate::sim::{Schedule, Simulator, run, run_together, tick};

type Words<'a> = GlobalMut<'a, u32>;

const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 0 },
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 0xfeed },
];

struct Case {
    name: &'static str,
    shape: Shape,
    /// Gets whether to order what it does.
    kernel: fn(bool, &Words<'_>),
}

impl Case {
    fn run(&self, schedule: Schedule, ordered: bool) -> Option<Failure> {
        let simulator = Simulator::new().schedule(schedule).step_limit(1 << 20);
        let memory = GlobalMemory::zeros(256);
        let words = Words::new(&memory);
        let run = if self.name.starts_with("grid") { run_together } else { run };
        run("test", &self.shape, &simulator, &|| (self.kernel)(ordered, &words)).1.err().map(|failure| *failure)
    }

    /// The lines of its accesses.
    fn lines(&self) -> Vec<u32> {
        let comment = format!("// {}", self.name);
        (1..)
            .zip(include_str!("races.rs").lines())
            .filter(|(_, text)| text.ends_with(&comment))
            .map(|(n, _)| n)
            .collect()
    }
}

fn race(failure: Failure) -> Race {
    match failure.cause {
        Cause::Race(race) => *race,
        other => panic!("{other}"),
    }
}

fn check(cases: &[Case]) {
    for case in cases {
        for schedule in SCHEDULES {
            if let Some(failure) = case.run(schedule.clone(), true) {
                panic!("{}, ordered, {schedule:?}: {failure}", case.name);
            }
            let Some(failure) = case.run(schedule.clone(), false) else {
                panic!("{}, {schedule:?}: no race", case.name);
            };
            assert!(failure.to_string().contains("data race: "), "{failure}");
            let found = race(failure);
            let mut lines = vec![found.first.location.line, found.second.location.line];
            lines.sort();
            lines.dedup();
            assert_eq!(lines, case.lines(), "{}, {schedule:?}: {found}", case.name);
        }
    }
}

/// The thread's number in the grid, if blocks have 64.
fn me() -> usize {
    this_grid().thread_rank()
}

fn wait_for(words: &Words<'_>, value: u32, order: std::sync::atomic::Ordering, scope: Scope) {
    while atomic(words, 0).scope(scope).load(order) < value {
        tick();
    }
}

#[test]
fn barriers() {
    let cases = [
        Case {
            name: "block_sync",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // block_sync
                }
                if ordered {
                    this_thread_block().sync();
                }
                if me() == 40 {
                    load(words, 1); // block_sync
                }
            },
        },
        Case {
            name: "write_after_read",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                load(words, 1); // write_after_read
                if ordered {
                    this_thread_block().sync();
                }
                if me() == 40 {
                    store(words, 1, 7); // write_after_read
                }
            },
        },
        Case {
            name: "split_block_barrier",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 && ordered {
                    store(words, 1, 7);
                }
                let token = this_thread_block().barrier_arrive();
                if me() == 0 && !ordered {
                    store(words, 1, 7); // split_block_barrier
                }
                this_thread_block().barrier_wait(token);
                if me() == 40 {
                    load(words, 1); // split_block_barrier
                }
            },
        },
        Case {
            name: "cluster_sync",
            shape: shape(4, 2, 64),
            kernel: |ordered, words| {
                let rank = this_cluster().thread_rank();
                let at = 1 + this_grid().cluster_rank();
                if rank == 3 {
                    store(words, at, 7); // cluster_sync
                }
                if ordered {
                    this_cluster().sync()
                } else {
                    this_thread_block().sync()
                }
                if rank == 70 {
                    load(words, at); // cluster_sync
                }
            },
        },
        Case {
            name: "split_cluster_barrier",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                let token = if ordered {
                    store(words, me() % 64, me() as u32 % 64);
                    this_cluster().barrier_arrive()
                } else {
                    let token = this_cluster().barrier_arrive();
                    // The barrier of the block in between must not publish it to the cluster.
                    this_thread_block().sync();
                    if me() == 5 {
                        store(words, 1, 7); // split_cluster_barrier
                    }
                    this_thread_block().sync();
                    token
                };
                this_cluster().barrier_wait(token);
                if me() == 100 {
                    load(words, 1); // split_cluster_barrier
                }
            },
        },
        Case {
            name: "grid_sync",
            shape: shape(6, 2, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // grid_sync
                }
                if ordered {
                    this_grid().sync()
                } else {
                    this_cluster().sync()
                }
                if me() == 300 {
                    load(words, 1); // grid_sync
                }
                this_grid().sync();
            },
        },
        Case {
            name: "clusters",
            shape: shape(8, 2, 64),
            kernel: |ordered, words| {
                this_cluster().sync();
                if this_cluster().thread_rank() == 1 {
                    let rank = this_grid().cluster_rank();
                    store(words, if ordered { rank } else { 0 }, rank as u32); // clusters
                }
            },
        },
        Case {
            name: "tile_sync",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                let tile: Tile<16> = tiled_partition::<16>(&this_thread_block());
                store(words, me(), 7); // tile_sync
                if ordered {
                    tile.sync()
                } else {
                    tile.shfl(1_u32, 0);
                }
                load(words, me() ^ 1); // tile_sync
            },
        },
        Case {
            name: "other_tile",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                let tile: Tile<16> = tiled_partition::<16>(&this_thread_block());
                store(words, me(), 7); // other_tile
                tile.sync();
                load(words, me() ^ if ordered { 15 } else { 16 }); // other_tile
            },
        },
    ];
    check(&cases);
}

#[test]
fn atomics_and_fences() {
    let cases = [
        Case {
            name: "release_and_acquire",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // release_and_acquire
                    atomic(words, 0).store(1, if ordered { Release } else { Relaxed });
                } else if me() == 100 {
                    wait_for(words, 1, Acquire, Scope::Device);
                    load(words, 1); // release_and_acquire
                }
            },
        },
        Case {
            name: "no_acquire",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // no_acquire
                    atomic(words, 0).fetch_add(1, AcqRel);
                } else if me() == 100 {
                    wait_for(words, 1, if ordered { SeqCst } else { Relaxed }, Scope::Device);
                    load(words, 1); // no_acquire
                }
            },
        },
        Case {
            name: "fences",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // fences
                    fence(Release, Scope::Cluster);
                    atomic(words, 0).store(1, Relaxed);
                } else if me() == 100 {
                    wait_for(words, 1, Relaxed, Scope::Device);
                    fence(AcqRel, if ordered { Scope::Device } else { Scope::Block });
                    load(words, 1); // fences
                }
            },
        },
        Case {
            name: "sequential_fences",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    store(words, 1, 7); // sequential_fences
                    fence(SeqCst, Scope::Device);
                    atomic(words, 0).fetch_add(1, Relaxed);
                } else if me() == 100 {
                    wait_for(words, 1, Relaxed, Scope::Device);
                    fence(if ordered { SeqCst } else { Release }, Scope::Device);
                    load(words, 1); // sequential_fences
                }
            },
        },
        Case {
            name: "through_a_third",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| match me() {
                0 => {
                    store(words, 1, 7); // through_a_third
                    atomic(words, 0).store(1, Release);
                }
                1 => {
                    wait_for(words, 1, Relaxed, Scope::Block);
                    // A read-modify-write hands on what was released; a store does not.
                    if ordered {
                        atomic(words, 0).fetch_add(1, Relaxed);
                    } else {
                        atomic(words, 0).store(2, Relaxed);
                    }
                }
                2 => {
                    wait_for(words, 2, Relaxed, Scope::Block);
                    atomic(words, 0).load(Acquire);
                    load(words, 1); // through_a_third
                }
                _ => {}
            },
        },
        Case {
            name: "for_a_whole_block",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                let (block, rank) = (this_grid().block_rank(), this_thread_block().thread_rank());
                if block == 0 {
                    store(words, 1 + rank % 32, 7); // for_a_whole_block
                    this_thread_block().sync();
                    if rank == 0 {
                        atomic(words, 0).store(1, Release);
                    }
                } else {
                    if rank == 0 || !ordered {
                        wait_for(words, 1, if rank == 0 { Acquire } else { Relaxed }, Scope::Device);
                    }
                    if ordered {
                        this_thread_block().sync();
                    }
                    if rank == 9 {
                        load(words, 20); // for_a_whole_block
                    }
                }
            },
        },
        Case {
            name: "scope_of_a_store",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if me() == 0 {
                    atomic(words, 0).scope(if ordered { Scope::Cluster } else { Scope::Block }).store(1, Release); // scope_of_a_store
                } else if me() == 100 {
                    atomic(words, 0).load(Acquire); // scope_of_a_store
                }
            },
        },
        Case {
            name: "plain_and_atomic",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                if me() == 3 && !ordered {
                    load(words, 1); // plain_and_atomic
                }
                atomic(words, 1).fetch_add(1, Relaxed); // plain_and_atomic
            },
        },
        Case {
            name: "failed_exchange",
            shape: shape(1, 1, 64),
            kernel: |ordered, words| {
                // One that finds another value only reads.
                load(words, 1); // failed_exchange
                let old = if ordered || me() != 9 { 5 } else { 0 };
                let _ = atomic(words, 1).compare_exchange(old, 6, Relaxed, Relaxed); // failed_exchange
            },
        },
    ];
    check(&cases);
}

#[test]
fn bytes_and_values() {
    let mut dynamic = shape(1, 1, 64);
    dynamic.dynamic_shared_bytes = 256;
    let cases = [
        Case {
            name: "same_value",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                store(words, 1, if ordered { 7 } else { me() as u32 }); // same_value
            },
        },
        Case {
            name: "change_in_place",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if ordered {
                    atomic(words, 1).fetch_add(1, Relaxed);
                } else {
                    update(words, 1, 1, |old, one| old + one); // change_in_place
                }
            },
        },
        Case {
            name: "neighbour_bytes",
            shape: dynamic,
            kernel: |ordered, _| {
                let (bytes, words) =
                    (dynamic_shared_slice::<u8>(0_u32, 64_u32), dynamic_shared_slice::<u32>(0_u32, 16_u32));
                if ordered || me() % 4 == 3 {
                    store(&bytes, me(), me() as u8); // neighbour_bytes
                } else if me().is_multiple_of(4) {
                    store(&words, me() / 4, 0x0102_0304); // neighbour_bytes
                }
            },
        },
        Case {
            name: "of_a_peer",
            shape: shape(4, 4, 64),
            kernel: |ordered, _| {
                let (cluster, rank) = (this_cluster(), this_thread_block().thread_rank());
                let array = shared_array::<u32, 64>();
                store(&array, rank, rank);
                cluster.sync();
                let next = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4);
                load(&next, rank); // of_a_peer
                if ordered {
                    cluster.sync();
                }
                store(&array, rank, 99); // of_a_peer
                cluster.sync();
            },
        },
    ];
    check(&cases);
}

/// Of bytes that are written in turn, what a round without its barrier shows.
#[test]
fn rounds() {
    let cases = [Case {
        name: "turns",
        shape: shape(1, 1, 64),
        kernel: |ordered, words| {
            for round in 0..6 {
                if me() == round {
                    update(words, 1, 1, |old, one| old + one); // turns
                }
                if ordered || round != 3 {
                    this_thread_block().sync();
                }
            }
        },
    }];
    check(&cases);
}

#[test]
fn a_report_has_both_sides() {
    let memory = GlobalMemory::zeros(256);
    let words = GlobalMut::<f32>::new(&memory);
    let body = || {
        let array = shared_array::<f32, 64>();
        if me() == 65 {
            store(&array, 3, 1.5);
        } else if me() == 70 {
            store(&array, 3, 2.5);
        }
        store(&words, 60 * this_grid().block_rank(), 0.0);
    };
    let failure = *run("test", &shape(2, 2, 64), &Simulator::new(), &body).1.unwrap_err();
    let text = failure.to_string();
    let found = race(failure.clone());
    assert_eq!((failure.block, failure.thread), (at(1), at(6)));
    assert_eq!((found.first.block, found.first.thread, found.first.shown()), (at(1), at(1), "1.5".into()));
    assert_eq!((found.second.block, found.second.thread, found.second.shown()), (at(1), at(6), "2.5".into()));
    assert_eq!((found.first.kind, found.second.kind, found.bytes.clone()), (RaceKind::Write, RaceKind::Write, 12..16));
    assert!(matches!(&found.memory, RaceMemory::Shared { declared: Some(_), block } if *block == at(1)));
    assert!(text.contains("data race: write of 2.5 by block (1,0,0) thread (6,0,0)"), "{text}");
    assert!(found.help.contains("`sync()` of their tile or block"), "{}", found.help);
    // What is found where nobody looks is nothing.
    run("test", &shape(2, 2, 64), &Simulator::new().races(false), &body).1.unwrap();
}

/// What a launch only reads is not kept book of, and what it reads as a part of what it writes is.
#[test]
fn read_only_memory() {
    let memory = GlobalMemory::zeros(256);
    let words = Words::new(&memory);
    let read: Global<'_, u32> = words.into();
    let body = || {
        load(&read, 0);
        if me() == 5 {
            store(&words, 0, 1);
        }
    };
    let failure = *run("test", &shape(1, 1, 64), &Simulator::new(), &body).1.unwrap_err();
    assert_eq!(race(failure).first.kind, RaceKind::Read);
}
