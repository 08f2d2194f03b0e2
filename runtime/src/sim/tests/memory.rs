//! Memory: sharing, poison, bounds, the lifetimes of peers, atomics.

use std::sync::atomic::Ordering::Relaxed;

use phalanx_contract::fence::Fence;

use super::{at, failure, protocol, shape, simulate};
use crate::kernel::group::{this_cluster, this_grid, this_thread_block, with_fence};
use crate::kernel::memory::{
    Global, GlobalMemory, GlobalMut, Vector, atomic, chunk_mut, dynamic_shared, dynamic_shared_slice, element,
    element_mut, load, load_vec, row, row_mut, shared_array, split_at_mut, store, store_vec, subslice,
    subslice_from_mut, subslice_inclusive,
};
use crate::report::failure::Cause;
use crate::shape::Shape;

#[test]
fn blocks_share_arrays_and_peers_read_them() {
    let input: Vec<i32> = (0..512).map(|i| i * 3).collect();
    let (source, target) = (GlobalMemory::from_slice(&input), GlobalMemory::zeros(512 * 4));
    let (from, to) = (Global::<i32>::new(&source), GlobalMut::<i32>::new(&target));
    let body = || {
        let (cluster, block, grid) = (this_cluster(), this_thread_block(), this_grid());
        let array = shared_array::<i32, 64>();
        store(&array, block.thread_rank(), load(&from, grid.thread_rank()));
        let token = cluster.barrier_arrive();
        let next = (cluster.block_rank() + 1) % cluster.num_blocks();
        let remote = cluster.map_shared_rank(&array, next);
        assert_eq!(
            (cluster.query_shared_rank(&remote), cluster.query_shared_rank(&&array)),
            (next, cluster.block_rank())
        );
        cluster.barrier_wait(token);
        store(&to, grid.thread_rank(), load(&remote, block.thread_rank()));
        cluster.sync();
    };
    simulate(shape(8, 4, 64), body).unwrap();
    let expected: Vec<i32> =
        (0..8).flat_map(|b| (0..64).map(move |t| (b / 4 * 256 + (b + 1) % 4 * 64 + t) * 3)).collect();
    assert_eq!(target.read::<i32>(), expected);
}

#[test]
fn elements_of_all_sizes() {
    let memory = GlobalMemory::from_slice(&[[1_u8, 2, 3], [4, 5, 6]]);
    let wide = GlobalMemory::from_slice(&[u128::MAX - 1, 5]);
    let (bytes, wide) = (GlobalMut::<[u8; 3]>::new(&memory), GlobalMut::<u128>::new(&wide));
    let body = || {
        store(&bytes, 0, load(&bytes, 1));
        let array = shared_array::<u128, 2>();
        store(&array, 1, load(&wide, 0) + 1);
        assert_eq!(load(&array, 1_usize), u128::MAX);
        let flags = shared_array::<bool, 3>();
        store(&flags, 2, true);
        assert!(load(&flags, 2));
    };
    simulate(shape(1, 1, 1), body).unwrap();
    assert_eq!(memory.read::<[u8; 3]>(), [[4, 5, 6], [4, 5, 6]]);
}

#[test]
fn reading_what_nobody_wrote() {
    let (failure, line) = failure(shape(1, 1, 32), || {
        let array = shared_array::<u32, 64>();
        store(&array, this_thread_block().thread_rank(), 1);
        this_thread_block().sync();
        load(&array, this_thread_block().thread_rank() + 10);
    });
    // The last thread to arrive runs first.
    let is_of = |cause: &Cause, of: usize| matches!(cause, Cause::UninitializedShared { byte, element: Some(element), rank: 0, copy: None, .. } if (*byte, *element) == (4 * of, of));
    assert!(is_of(&failure.cause, 41), "{failure}");
    let text = "element 41 (byte 164) of `array` of block rank 0 was never written";
    assert!(failure.to_string().contains(text), "{failure}");
    assert_eq!((failure.thread, line), (at(31), line!() - 7));
    let atomics = || {
        let bins = shared_array::<u32, 4>();
        atomic(&bins, 1).fetch_add(1, Relaxed);
    };
    assert!(is_of(&super::failure(shape(1, 1, 1), atomics).0.cause, 1));
}

#[test]
fn indexes_are_checked() {
    let memory = GlobalMemory::zeros(40);
    let slice = Global::<f32>::new(&memory);
    let check = |index: i128, length: u64, body: &(dyn Fn() + Send + Sync)| {
        assert_eq!(failure(shape(1, 1, 1), body).0.cause, Cause::IndexOutOfBounds { index, length });
    };
    check(-1, 10, &|| _ = load(&slice, -1));
    check(10, 10, &|| _ = load(&slice, 10_u32));
    check(u64::MAX.into(), 10, &|| _ = load(&slice, usize::MAX));
    check(4, 4, &|| _ = load(&[1, 2, 3, 4], 4));
    check(7, 4, &|| *element_mut(&mut [0; 4], 7) = *element(&[1, 2, 3, 4], 0));
    check(64, 64, &|| store(&shared_array::<u8, 64>(), 64, 1));
    check(0, 0, &|| store(&GlobalMut::<u32>::empty(), 0, 1));
}

#[test]
fn an_index_into_an_element() {
    let memory = GlobalMemory::zeros(2 * 12);
    let rows = GlobalMut::<[[u32; 3]; 1]>::new(&memory);
    let body = || {
        let array = shared_array::<[u32; 4], 2>();
        store(&row(&array, 1), 2, 7);
        store(&row_mut(&row_mut(&rows, 1), 0), 2, load(&row(&array, 1), 2));
        atomic(&row_mut(&row_mut(&rows, 1), 0), 2).fetch_add(1, Relaxed);
    };
    simulate(shape(1, 1, 1), body).unwrap();
    assert_eq!(memory.read::<[[u32; 3]; 1]>(), [[[0; 3]], [[0, 0, 8]]]);
    let (failure, _) = failure(shape(1, 1, 1), || _ = load(&row(&shared_array::<[u32; 4], 2>(), 1), 2));
    assert!(matches!(
        failure.cause,
        Cause::UninitializedShared { byte: 24, element: Some(1), rank: 0, copy: None, .. }
    ));
}

#[test]
fn a_peer_may_not_have_started() {
    let body = |entry: fn()| {
        let array = shared_array::<u32, 1>();
        store(&array, 0, 7);
        entry();
        load(&this_cluster().map_shared_rank(&array, 1), 0);
        this_cluster().sync();
    };
    let (failure, _) = failure(shape(2, 2, 1), || body(|| this_thread_block().sync()));
    assert_eq!(failure.cause, Cause::PeerMayNotHaveStarted { rank: 1 });
    simulate(shape(2, 2, 1), || body(|| this_cluster().sync())).unwrap();
}

#[test]
fn a_peer_may_have_exited() {
    let (failure, _) = failure(shape(4, 4, 32), || {
        let (cluster, array) = (this_cluster(), shared_array::<u32, 1>());
        store(&array, 0, 7);
        cluster.sync();
        load(&cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4), 0);
    });
    assert_eq!(failure.cause, Cause::PeerMayHaveExited { rank: 0 });
    assert_eq!(failure.block, at(3));
}

/// An arrival that waits for what was read of a peer lets the peer leave; one that does not wait, or a write, does not.
#[test]
fn a_peer_may_leave_once_it_has_been_read() {
    let kernel = |fence, writes| {
        move || {
            let (cluster, array) = (this_cluster(), shared_array::<u32, 1>());
            if this_thread_block().thread_rank() == 0 {
                store(&array, 0, 7);
            }
            cluster.sync();
            if cluster.thread_rank() == 3 {
                let peer = cluster.map_shared_rank(&array, 1);
                if writes {
                    store(&peer, 0, 8);
                }
                load(&peer, 0);
            }
            with_fence(fence, || cluster.sync());
        }
    };
    simulate(shape(2, 2, 32), kernel(Fence::Shared, false)).unwrap();
    simulate(shape(2, 2, 32), kernel(Fence::Full, true)).unwrap();
    for (fence, writes) in [(Fence::Relaxed, false), (Fence::Shared, true)] {
        let (failure, _) = failure(shape(2, 2, 32), kernel(fence, writes));
        assert_eq!(failure.cause, Cause::PeerMayHaveExited { rank: 1 });
    }
}

#[test]
fn a_rank_that_the_cluster_does_not_have() {
    let (failure, _) = failure(shape(2, 2, 1), || {
        _ = this_cluster().map_shared_rank(&shared_array::<u32, 1>(), 2);
    });
    assert_eq!(failure.cause, Cause::RankOutOfRange { rank: 2, num_blocks: 2 });
}

#[test]
fn dynamic_shared_memory() {
    let shape = Shape { dynamic_shared_bytes: 100, ..shape(2, 2, 4) };
    let body = || {
        let (words, rank) = (dynamic_shared::<u32>(), this_thread_block().thread_rank());
        assert_eq!(words.len(), 25);
        store(&words, rank, 0x0101_0101 * rank);
        this_cluster().sync();
        let remote = this_cluster().map_shared_rank(&words, 1 - this_cluster().block_rank());
        assert_eq!((remote.len(), load(&remote, rank)), (25, 0x0101_0101 * rank));
        assert_eq!(load(&dynamic_shared::<u8>(), 4 * rank + 1), rank as u8);
        this_cluster().sync();
    };
    simulate(shape, body).unwrap();
    let sentence = protocol(shape, || {
        store(&dynamic_shared::<u32>(), 0, 2);
        load(&dynamic_shared::<bool>(), 0);
    });
    let start =
        "bytes 0..100 of dynamic shared memory cannot be viewed as `bool`: bytes 0..100 were viewed as `u32` at ";
    assert!(sentence.starts_with(start), "{sentence}");
}

#[test]
fn dynamic_shared_memory_in_ranges() {
    let shape = Shape { dynamic_shared_bytes: 100, ..shape(1, 1, 4) };
    let body = || {
        let rank = this_thread_block().thread_rank();
        let (words, flags) = (dynamic_shared_slice::<u32>(0, 4), dynamic_shared_slice::<bool>(16, 4));
        store(&words, rank, rank);
        store(&flags, rank, rank == 2);
        assert_eq!((load(&words, rank), load(&flags, rank)), (rank, rank == 2));
        store(&dynamic_shared_slice::<f64>(24 + 8 * rank, 1), 0, 0.5);
    };
    simulate(shape, body).unwrap();
    let sentence = protocol(shape, || {
        dynamic_shared_slice::<bool>(0, 8);
        dynamic_shared_slice::<u32>(4, 4);
    });
    let start = "bytes 4..20 of dynamic shared memory cannot be viewed as `u32`: bytes 0..8 were viewed as `bool` at ";
    assert!(sentence.starts_with(start), "{sentence}");
    let cause = |body: fn()| failure(shape, body).0.cause.to_string();
    assert_eq!(
        cause(|| _ = dynamic_shared_slice::<f64>(12, 1)),
        "a type of alignment 8 cannot start at byte 12 of dynamic shared memory"
    );
    assert_eq!(
        cause(|| _ = dynamic_shared_slice::<f64>(8, 12)),
        "12 elements of 8 bytes from byte 8 exceed the 100 bytes of dynamic shared memory"
    );
    assert_eq!(
        cause(|| _ = dynamic_shared_slice::<u8>(-1, 0)),
        "0 elements of 1 bytes from byte -1 exceed the 100 bytes of dynamic shared memory"
    );
}

#[test]
fn parts_keep_their_bytes() {
    let memory = GlobalMemory::from_slice(&Vec::from_iter(0..20u32));
    let global = GlobalMut::<u32>::new(&memory);
    let body = || {
        let part = subslice_from_mut(&global, 3);
        let (left, right) = split_at_mut(&part, 5);
        store(&left, 4, 100);
        store(&right, 0, 101);
        store(&chunk_mut(&right, 5, 2), 1, 102);
        assert_eq!((left.len(), right.len(), chunk_mut(&right, 5, 2).len()), (5, 12, 2));
        assert_eq!(load(&subslice(&subslice(&global, 2, 9), 5, 6), 0), 100);
        assert!(subslice(&global, 20, 20).is_empty() && subslice_inclusive(&global, 3, 2).is_empty());
        let shared = shared_array::<[u16; 4], 3>();
        store_vec(&row(&shared, 2), 0, Vector::new([1, 2, 3, 4]));
        assert_eq!(load_vec::<_, 2>(&row(&shared, 2), 2), Vector::new([3, 4]));
    };
    simulate(shape(1, 1, 1), body).unwrap();
    let mut want = Vec::from_iter(0..20);
    (want[7], want[8], want[19]) = (100, 101, 102);
    assert_eq!(memory.read::<u32>(), want);
}

#[test]
fn parts_are_checked_as_rust_checks_them() {
    let cause = |body: fn()| failure(shape(1, 1, 1), body).0.cause.to_string();
    assert_eq!(cause(|| _ = subslice(&shared_array::<u32, 8>(), 2, 9)), "range 2..9 out of bounds for length 8");
    assert_eq!(cause(|| _ = subslice(&shared_array::<u32, 8>(), 3, 2)), "range 3..2 out of bounds for length 8");
    assert_eq!(cause(|| _ = subslice(&shared_array::<u32, 8>(), -1, 2)), "range -1..2 out of bounds for length 8");
    assert_eq!(
        cause(|| _ = subslice_inclusive(&shared_array::<u32, 8>(), 0, usize::MAX)),
        "range 0..=18446744073709551615 out of bounds for length 8"
    );
    assert_eq!(cause(|| _ = chunk_mut(&shared_array::<u32, 8>(), 3, 3)), "index 3 out of bounds for length 3");
    assert_eq!(cause(|| _ = chunk_mut(&shared_array::<u32, 8>(), 0, 0)), "chunk size must be non-zero");
    assert_eq!(
        cause(|| store_vec(&shared_array::<u32, 8>(), 5, Vector::<_, 4>::splat(0))),
        "range 5..9 out of bounds for length 8"
    );
    assert_eq!(
        cause(|| store_vec(&shared_array::<u32, 8>(), 2, Vector::<_, 4>::splat(0))),
        "a vector of 16 bytes must be aligned to 16 bytes, but the one at index 2 is not"
    );
}

#[test]
fn atomics_do_what_those_of_std_do() {
    let memory = GlobalMemory::from_slice(&[5_i32; 8]);
    let global = GlobalMut::<i32>::new(&memory);
    let body = || {
        let shared = shared_array::<u64, 1>();
        atomic(&shared, 0).store(0, Relaxed);
        this_thread_block().sync();
        atomic(&shared, 0).fetch_add(3, Relaxed);
        atomic(&global, 0).fetch_add(1, Relaxed);
        atomic(&global, 1).fetch_sub(i32::MIN, Relaxed);
        atomic(&global, 2).fetch_min(-9, Relaxed);
        atomic(&global, 3).fetch_max(9, Relaxed);
        atomic(&global, 4).fetch_and(4, Relaxed);
        atomic(&global, 5).fetch_or(2, Relaxed);
        atomic(&global, 6).fetch_xor(1, Relaxed);
        if atomic(&global, 7).compare_exchange(5, 50, Relaxed, Relaxed).is_ok() {
            assert_eq!(atomic(&global, 7).swap(51, Relaxed), 50);
        }
        this_thread_block().sync();
        assert_eq!(atomic(&shared, 0).load(Relaxed), 300);
    };
    simulate(shape(1, 1, 100), body).unwrap();
    assert_eq!(memory.read::<i32>(), [105, 5, -9, 9, 4, 7, 5, 51]);
}
