//! Barriers: phases, misuse, deadlock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use super::{at, failure, protocol, shape, simulate};
use crate::kernel::group::{this_cluster, this_grid, this_thread_block};
use crate::report::failure::Cause;
use crate::shape::{Dim3, Shape};

#[test]
fn groups_number_their_threads_as_cuda_does() {
    let shape = Shape {
        grid: Dim3::new(4, 2, 2),
        cluster: Dim3::new(2, 1, 2),
        block: Dim3::new(4, 3, 2),
        dynamic_shared_bytes: 0,
    };
    let seen = AtomicU64::new(0);
    let body = || {
        let (cluster, block, grid) = (this_cluster(), this_thread_block(), this_grid());
        let (t, b, c) = (block.thread_index(), block.group_index(), grid.cluster_index());
        assert_eq!(block.thread_rank(), t.x + 4 * (t.y + 3 * t.z));
        assert_eq!((block.num_threads(), block.size(), block.dim_threads()), (24, 24, Dim3::new(4, 3, 2)));
        assert_eq!(cluster.block_index(), Dim3::new(b.x % 2, 0, b.z % 2));
        assert_eq!(cluster.block_rank(), b.x % 2 + 2 * (b.z % 2));
        assert_eq!(cluster.thread_rank(), cluster.block_rank() * 24 + block.thread_rank());
        assert_eq!((cluster.num_blocks(), cluster.num_threads(), cluster.size()), (4, 96, 96));
        assert_eq!(cluster.dim_threads(), Dim3::new(8, 3, 4));
        assert_eq!(c, Dim3::new(b.x / 2, b.y, b.z / 2));
        assert_eq!((grid.cluster_rank(), grid.num_clusters()), ((c.x + 2 * (c.y + 2 * c.z)) as usize, 4));
        assert_eq!((grid.block_rank(), grid.num_blocks()), ((b.x + 4 * (b.y + 2 * b.z)) as usize, 16));
        assert_eq!(grid.thread_rank(), grid.block_rank() * 24 + block.thread_rank() as usize);
        assert_eq!((grid.size(), grid.dim_clusters()), (384, Dim3::new(2, 2, 1)));
        seen.fetch_add(1 << (grid.thread_rank() % 8 * 8), Relaxed);
    };
    simulate(shape, body).unwrap();
    assert_eq!(seen.into_inner(), 0x3030_3030_3030_3030, "48 threads of each eighth");
}

#[test]
fn no_thread_passes_a_barrier_before_all_have_come() {
    let arrived = AtomicU32::new(0);
    let body = || {
        for phase in 1..=3 {
            arrived.fetch_add(1, Relaxed);
            this_cluster().sync();
            assert_eq!(arrived.load(Relaxed), phase * 128);
            let token = this_cluster().barrier_arrive();
            this_cluster().barrier_wait(token);
        }
    };
    simulate(shape(4, 4, 32), body).unwrap();
}

#[test]
fn a_blocks_barrier_may_stand_inside_a_clusters_phase() {
    let body = || {
        let token = this_cluster().barrier_arrive();
        this_thread_block().sync();
        this_cluster().barrier_wait(token);
    };
    simulate(shape(4, 2, 32), body).unwrap();
}

#[test]
fn second_arrival_before_the_wait() {
    let sentence = protocol(shape(2, 2, 4), || {
        let first = this_cluster().barrier_arrive();
        let second = this_cluster().barrier_arrive();
        this_cluster().barrier_wait(first);
        this_cluster().barrier_wait(second);
    });
    let (now, before) = sentence.split_once(" must not come between ").unwrap();
    assert_eq!(now, "`cluster.barrier_arrive()`");
    assert!(before.starts_with("`cluster.barrier_arrive()` at ") && before.contains("barriers.rs:"), "{sentence}");
}

#[test]
fn sync_with_an_arrival_pending() {
    let block = protocol(shape(1, 1, 4), || {
        let token = this_thread_block().barrier_arrive();
        this_thread_block().sync();
        this_thread_block().barrier_wait(token);
    });
    assert!(block.starts_with("`block.sync()` must not come between `block.barrier_arrive()` at "), "{block}");
    let cluster = protocol(shape(1, 1, 4), || {
        let token = this_thread_block().barrier_arrive();
        this_cluster().sync();
        this_thread_block().barrier_wait(token);
    });
    assert!(cluster.starts_with("`cluster.sync()` must not come between `block.barrier_arrive()` at "), "{cluster}");
}

#[test]
fn token_used_twice() {
    let sentence = protocol(shape(1, 1, 4), || {
        let token = this_cluster().barrier_arrive();
        // SAFETY: plain data; this test is about the copy of the token.
        let copy = unsafe { std::ptr::read(&token) };
        this_cluster().barrier_wait(token);
        this_cluster().barrier_wait(copy);
    });
    let expected = "`cluster.barrier_wait()` must follow an arrival: the last arrival was already waited for at ";
    assert!(sentence.starts_with(expected), "{sentence}");
}

#[test]
fn token_dropped() {
    let (failure, line) = failure(shape(1, 1, 4), || drop(this_cluster().barrier_arrive()));
    assert_eq!(line, line!() - 1);
    assert!(
        failure.to_string().contains(
            "`cluster.barrier_arrive()` must be waited for, but the thread exited without `cluster.barrier_wait()`"
        ),
        "{failure}"
    );
}

#[test]
fn a_barrier_that_exited_threads_miss_is_a_deadlock() {
    let (failure, _) = failure(shape(4, 2, 8), || {
        if this_thread_block().thread_rank() < 5 {
            this_cluster().sync();
        }
    });
    let Cause::Deadlock(groups) = &failure.cause else { panic!("{failure}") };
    assert_eq!((groups.len(), groups[0].missing.len()), (1, 1));
    assert_eq!((groups[0].what.as_str(), groups[0].threads), ("wait at `cluster.sync()`", 10));
    assert_eq!(groups[0].location.as_ref().map(|location| location.line), Some(line!() - 6));
    let missing = &groups[0].missing[0];
    assert_eq!((&*missing.what, missing.threads, missing.first), ("exited", 6, (at(0), at(5))));
    let text = failure.to_string();
    assert!(text.contains("not arrived: 6 thread(s), first block (0,0,0) thread (5,0,0): exited"), "{text}");
}

#[test]
fn divergent_barriers_are_a_deadlock() {
    let (failure, _) = failure(shape(1, 1, 8), || {
        if this_thread_block().thread_rank() == 0 {
            this_thread_block().sync();
        } else {
            let token = this_cluster().barrier_arrive();
            this_cluster().barrier_wait(token);
        }
    });
    let Cause::Deadlock(groups) = &failure.cause else { panic!("{failure}") };
    let found: Vec<_> = groups.iter().map(|group| (group.what.as_str(), group.threads)).collect();
    assert_eq!(found, [("wait at `block.sync()`", 1), ("wait at `cluster.barrier_wait()`", 7)]);
}

#[test]
#[should_panic(expected = "`this_cluster()` is only available in a kernel")]
fn groups_exist_in_kernels_only() {
    this_cluster();
}

/// A thread that forgets its token may exit, and others may wait; it may not use the group again, nor one around it.
#[test]
fn forgotten_tokens() {
    let elected = || {
        let token = this_cluster().barrier_arrive();
        if this_thread_block().thread_rank() < 8 {
            this_cluster().barrier_wait(token)
        } else {
            token.forget()
        }
        this_thread_block().sync();
    };
    simulate(shape(4, 2, 32), elected).unwrap();
    let forgets_its_blocks = || this_thread_block().barrier_arrive().forget();
    let again: [(fn(), &str); 3] = [
        (
            || drop(this_thread_block().barrier_arrive()),
            "`block.barrier_arrive()` must not come after a forgotten token of the block",
        ),
        (|| this_cluster().sync(), "`cluster.sync()` must not come after a forgotten token of the block"),
        (
            || this_cluster().barrier_arrive().forget(),
            "`cluster.barrier_arrive()` must not come after a forgotten token of the block",
        ),
    ];
    for (again, words) in again {
        let text = protocol(shape(2, 2, 32), || {
            forgets_its_blocks();
            again();
        });
        assert!(text.contains(words), "{text}");
    }
    let waits = || {
        let outer = this_cluster().barrier_arrive();
        forgets_its_blocks();
        this_cluster().barrier_wait(outer);
    };
    let text = protocol(shape(2, 2, 32), waits);
    assert!(text.contains("`cluster.barrier_wait()` must not come after a forgotten token of the block"), "{text}");
}
