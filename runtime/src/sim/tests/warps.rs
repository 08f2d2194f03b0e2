//! Collectives of tiles and coalesced groups: which threads meet or coalesce, misuse, deadlock.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::{at, failure, protocol, shape, simulate};
use crate::kernel::group::{
    CoalescedGroup, Tile, binary_partition, coalesced_threads, op, this_thread_block, tiled_partition,
};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{GlobalMemory, GlobalMut, atomic};
use crate::report::failure::Cause;
use crate::schedule::Schedule;
use crate::sim::{Simulator, run};

const SCHEDULES: [Schedule; 4] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 0 },
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 0xfeed },
];

/// Runs one block of `threads` under every schedule, and returns what each thread returned.
fn results<R: Send + PartialEq + std::fmt::Debug + Default + Clone>(
    threads: u32,
    body: impl Fn(u32) -> R + Send + Sync,
) -> Vec<R> {
    let mut first: Option<Vec<R>> = None;
    for schedule in SCHEDULES {
        let results = Mutex::new(vec![R::default(); threads as usize]);
        let thread = || {
            let rank = this_thread_block().thread_rank();
            let result = body(rank);
            results.lock().unwrap()[rank as usize] = result;
        };
        // Race detection is off, because some of these poll a flag by plain reads; `races` tests what orders.
        let simulator = Simulator::new().schedule(schedule.clone()).races(false);
        run("test", &shape(1, 1, threads), &simulator, &thread).1.unwrap();
        let results = results.into_inner().unwrap();
        assert_eq!(first.get_or_insert_with(|| results.clone()), &results, "{schedule:?}");
    }
    first.unwrap()
}

fn tile<const N: u32>() -> Tile<N> {
    tiled_partition::<N>(&this_thread_block())
}

/// Returns a set of lanes.
fn lanes(of: impl Fn(u32) -> bool) -> u32 {
    (0..32).filter(|lane| of(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Returns the lanes of the group's threads.
fn who(group: &CoalescedGroup) -> u32 {
    group.reduce(1_u32 << (this_thread_block().thread_rank() % 32), op::Or)
}

#[test]
fn branches_coalesce_apart() {
    let got = results(50, |rank| match rank % 3 {
        0 => who(&coalesced_threads()),
        1 => who(&coalesced_threads()),
        _ => 0,
    });
    for (rank, got) in (0..).zip(got) {
        let last = if rank < 32 { 32 } else { 18 };
        let own = lanes(|lane| lane < last && (rank / 32 * 32 + lane) % 3 == rank % 3);
        assert_eq!(got, if rank % 3 == 2 { 0 } else { own }, "thread {rank}");
    }
}

#[test]
fn loops_coalesce_by_iteration() {
    let got = results(32, |rank| {
        let mut sizes = Vec::new();
        for _ in 0..rank % 5 {
            tick();
            sizes.push(coalesced_threads().num_threads());
        }
        sizes
    });
    for (rank, sizes) in (0..32).zip(got) {
        let left = |iteration| (0..32).filter(|other| other % 5 > iteration).count() as u32;
        assert_eq!(sizes, (0..rank % 5).map(left).collect::<Vec<u32>>(), "thread {rank}");
    }
}

#[test]
fn long_ways_are_waited_for() {
    let got = results(32, |rank| {
        for _ in 0..rank * 100 {
            tick();
        }
        coalesced_threads().num_threads()
    });
    assert_eq!(got, [32; 32]);
}

#[test]
fn behind_a_branch_and_a_loop_all_coalesce() {
    let got = results(32, |rank| {
        let mut sizes = Vec::new();
        if rank % 2 == 0 {
            sizes.push(coalesced_threads().num_threads());
        }
        sizes.push(coalesced_threads().num_threads());
        for _ in 0..rank / 8 {
            tick();
            sizes.push(coalesced_threads().num_threads());
        }
        sizes.push(coalesced_threads().num_threads());
        sizes
    });
    for (rank, sizes) in (0..32).zip(got) {
        let branch = (rank % 2 == 0).then_some(16);
        let rounds = (0..rank / 8).map(|round| 24 - 8 * round);
        let want: Vec<u32> = branch.into_iter().chain([32]).chain(rounds).chain([32]).collect();
        assert_eq!(sizes, want, "thread {rank}");
    }
}

/// Threads that coalesce in a loop wait for one that coalesces after them.
#[test]
fn loops_that_coalesce_are_not_waited_for_without_end() {
    let memory = GlobalMemory::zeros(4);
    let flag = GlobalMut::<u32>::new(&memory);
    let body = || {
        let rank = this_thread_block().thread_rank();
        while rank != 5 && atomic(&flag, 0).load(Relaxed) == 0 {
            tick();
            coalesced_threads();
        }
        if rank == 5 {
            assert_eq!(coalesced_threads().num_threads(), 1);
            atomic(&flag, 0).store(1, Relaxed);
        }
    };
    simulate(shape(1, 1, 32), body).unwrap();
}

/// Only threads that coalesce can end the others' loop.
#[test]
fn threads_that_spin_are_not_waited_for_without_end() {
    for atomics in [false, true] {
        let memory = GlobalMemory::zeros(4);
        let flag = GlobalMut::<u32>::new(&memory);
        let got = results(32, |rank| {
            if rank % 8 == 3 {
                let group = coalesced_threads();
                let lanes = who(&group);
                atomic(&flag, 0).fetch_add(1, Relaxed);
                return lanes;
            }
            let read = || if atomics { atomic(&flag, 0).load(Relaxed) } else { crate::kernel::memory::load(&flag, 0) };
            while read() % 4 != 0 || read() == 0 {
                tick();
            }
            0
        });
        let want = |rank: u32| if rank % 8 == 3 { lanes(|lane| lane % 8 == 3) } else { 0 };
        assert_eq!(got, (0..32).map(want).collect::<Vec<u32>>());
        memory.write(0, &[0_u32]);
    }
}

#[test]
fn threads_at_a_barrier_are_not_waited_for() {
    let got = results(64, |rank| {
        let found = if rank % 2 == 1 { who(&coalesced_threads()) } else { 0 };
        this_thread_block().sync();
        found
    });
    let odd = lanes(|lane| lane % 2 == 1);
    assert_eq!(got, (0..64).map(|rank| if rank % 2 == 1 { odd } else { 0 }).collect::<Vec<u32>>());
}

#[test]
fn groups_within_groups_meet_apart() {
    let got = results(64, |rank| {
        let warp = tile::<32>();
        let half = tiled_partition::<16>(&warp);
        let mut sum = 0;
        if half.meta_group_rank() == 1 {
            sum += half.reduce(rank, op::Plus);
            let group = binary_partition(&half, rank % 4 == 0);
            sum += group.reduce(1000_u32, op::Plus) * (1 + group.meta_group_rank());
        }
        sum + warp.reduce(1_000_000_u32, op::Plus)
    });
    let want = |rank: u32| match rank % 32 {
        0..16 => 32_000_000,
        _ => {
            let start = rank / 16 * 16;
            32_000_000 + (start..start + 16).sum::<u32>() + if rank.is_multiple_of(4) { 4000 * 2 } else { 12000 }
        }
    };
    assert_eq!(got, (0..64).map(want).collect::<Vec<u32>>());
}

#[test]
fn a_barrier_of_a_tile_may_stand_at_several_places() {
    let count = AtomicU32::new(0);
    results(8, |rank| {
        count.fetch_add(1, Relaxed);
        match rank {
            0..4 => tile::<8>().sync(),
            _ => tile::<8>().sync(),
        }
        assert_eq!(count.load(Relaxed) % 8, 0);
        tile::<8>().sync();
    });
}

#[test]
fn collectives_of_a_tile_may_stand_inside_a_clusters_phase() {
    let body = || {
        let token = crate::kernel::group::this_cluster().barrier_arrive();
        assert!(tile::<32>().any(this_thread_block().thread_rank() % 32 == 3));
        assert_eq!(coalesced_threads().num_threads(), 32);
        crate::kernel::group::this_cluster().barrier_wait(token);
    };
    simulate(shape(4, 2, 64), body).unwrap();
}

#[test]
fn half_of_a_tile_calls_something_else() {
    let sentence = protocol(shape(1, 1, 32), || {
        let tile = tile::<32>();
        match this_thread_block().thread_rank() {
            0..16 => tile.any(true),
            _ => tile.all(true),
        };
    });
    assert!(
        sentence.contains(" but this one calls `tile.all()` here and others wait at `tile.any()` at "),
        "{sentence}"
    );
    assert!(sentence.contains("warps.rs:"), "{sentence}");
}

#[test]
fn half_of_a_tile_calls_from_elsewhere() {
    let sentence = protocol(shape(1, 1, 4), || {
        let tile = tile::<4>();
        match this_thread_block().thread_rank() {
            0 | 2 => tile.any(true),
            _ => tile.any(true),
        };
    });
    assert!(
        sentence.contains(" but this one calls `tile.any()` here and others wait at `tile.any()` at "),
        "{sentence}"
    );
}

#[test]
fn values_of_different_types_do_not_meet() {
    fn vote<T: crate::DeviceCopy>(value: T) -> u32 {
        tile::<2>().match_any(value)
    }
    let body = || match this_thread_block().thread_rank() {
        0 => drop(vote(1_u32)),
        _ => drop(vote(1.0_f32)),
    };
    assert!(protocol(shape(1, 1, 2), body).contains("this one calls `tile.match_any()` here and others"));
}

#[test]
fn a_thread_that_has_exited_is_missed() {
    let body = || {
        let (block, tile) = (this_thread_block(), tile::<8>());
        if block.thread_rank() == 13 {
            return;
        }
        tile.reduce(1, op::Plus);
    };
    let (failure, _) = failure(shape(1, 1, 32), body);
    let Cause::Deadlock(waiting) = failure.cause else { panic!("{:?}", failure.cause) };
    let found: Vec<_> = waiting.iter().map(|group| (group.what.as_str(), group.threads, group.first.1)).collect();
    assert_eq!(found, [("wait at `tile.reduce()`", 7, at(8))]);
    let missing = &waiting[0].missing[0];
    assert_eq!((&*missing.what, missing.threads, missing.first.1), ("exited", 1, at(13)));
    assert!(waiting[0].location.as_ref().is_some_and(|place| place.file.ends_with("warps.rs")));
}

#[test]
fn a_thread_at_another_barrier_is_missed() {
    let body = || match this_thread_block().thread_rank() {
        0..32 => this_thread_block().sync(),
        _ => tile::<16>().sync(),
    };
    let cause = failure(shape(1, 1, 48), body).0.cause;
    assert!(
        matches!(&cause, Cause::Deadlock(waiting) if waiting.len() == 1 && waiting[0].missing.len() == 1),
        "{cause}"
    );
    let body = || match this_thread_block().thread_rank() {
        0..8 => this_thread_block().sync(),
        _ => tile::<16>().sync(),
    };
    let text = failure(shape(1, 1, 16), body).0.cause.to_string();
    assert!(text.contains("wait at `block.sync()`") && text.contains("wait at `tile.sync()`"), "{text}");
}

#[test]
fn a_block_with_a_rest_has_no_tiles() {
    for threads in [33, 48, 63, 1] {
        let (failure, line) = failure(shape(1, 1, threads), || _ = tile::<32>());
        assert_eq!((failure.cause, line > 0), (Cause::PartialTile { threads, size: 32 }, true));
    }
    simulate(shape(1, 1, 48), || _ = (tile::<16>(), tile::<1>(), coalesced_threads())).unwrap();
}
