//! Every query of every group, for launches of one, two and three dimensions, compared with the definitions of CUDA's
//! cooperative groups; and barriers, whole and split, with data that only they order.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

/// The number of results of a thread: 41 numbers of 32 bits, 7 of 64.
const SMALL: usize = 41;
const WIDE: usize = 7;

#[device]
fn put(out: &mut [u32], at: usize, x: u32, y: u32, z: u32) {
    out[at] = x;
    out[at + 1] = y;
    out[at + 2] = z;
}

#[cluster_kernel]
fn queries(small: &mut [u32], wide: &mut [usize]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let grid = this_grid();
    let i = grid.thread_rank();
    let s = i * SMALL;
    small[s] = block.thread_rank();
    small[s + 1] = block.num_threads();
    small[s + 2] = block.size();
    small[s + 3] = cluster.thread_rank();
    small[s + 4] = cluster.num_threads();
    small[s + 5] = cluster.size();
    small[s + 6] = cluster.block_rank();
    small[s + 7] = cluster.num_blocks();
    put(small, s + 8, block.thread_index().x, block.thread_index().y, block.thread_index().z);
    let group = block.group_index();
    put(small, s + 11, group.x, group.y, group.z);
    let threads = block.dim_threads();
    put(small, s + 14, threads.x, threads.y, threads.z);
    put(small, s + 17, block.group_dim().x, block.group_dim().y, block.group_dim().z);
    let index = cluster.block_index();
    put(small, s + 20, index.x, index.y, index.z);
    let blocks = cluster.dim_blocks();
    put(small, s + 23, blocks.x, blocks.y, blocks.z);
    let cluster_threads = cluster.dim_threads();
    put(small, s + 26, cluster_threads.x, cluster_threads.y, cluster_threads.z);
    put(small, s + 29, grid.block_index().x, grid.block_index().y, grid.block_index().z);
    put(small, s + 32, grid.dim_blocks().x, grid.dim_blocks().y, grid.dim_blocks().z);
    put(small, s + 35, grid.cluster_index().x, grid.cluster_index().y, grid.cluster_index().z);
    put(small, s + 38, grid.dim_clusters().x, grid.dim_clusters().y, grid.dim_clusters().z);
    let w = i * WIDE;
    wide[w] = i;
    wide[w + 1] = grid.num_threads();
    wide[w + 2] = grid.size();
    wide[w + 3] = grid.block_rank();
    wide[w + 4] = grid.num_blocks();
    wide[w + 5] = grid.cluster_rank();
    wide[w + 6] = grid.num_clusters();
}

type Extent = (u32, u32, u32);

fn count((x, y, z): Extent) -> u32 {
    x * y * z
}

/// Returns the rank of an index, where x runs fastest.
fn rank(index: Extent, size: Extent) -> u32 {
    index.0 + size.0 * (index.1 + size.1 * index.2)
}

fn all((x, y, z): Extent) -> impl Iterator<Item = Extent> {
    (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| (i, j, k))))
}

fn zip(a: Extent, b: Extent, f: fn(u32, u32) -> u32) -> Extent {
    (f(a.0, b.0), f(a.1, b.1), f(a.2, b.2))
}

/// Returns the expected results by `cooperative_groups.h` and the special registers of PTX.
fn expected(grid: Extent, cluster: Extent, block: Extent) -> (Vec<u32>, Vec<usize>) {
    let (mut small, mut wide) = (Vec::new(), Vec::new());
    for block_index in all(grid) {
        for thread_index in all(block) {
            let in_cluster = zip(block_index, cluster, |index, size| index % size);
            let cluster_index = zip(block_index, cluster, |index, size| index / size);
            let clusters = zip(grid, cluster, |blocks, size| blocks / size);
            let block_rank = rank(in_cluster, cluster);
            let thread_rank = rank(thread_index, block);
            let threads = count(block);
            small.extend([thread_rank, threads, threads]);
            small.extend([block_rank * threads + thread_rank, count(cluster) * threads, count(cluster) * threads]);
            small.extend([block_rank, count(cluster)]);
            let cluster_threads = zip(cluster, block, |a, b| a * b);
            let extents = [thread_index, block_index, block, block, in_cluster, cluster, cluster_threads];
            for (x, y, z) in extents.into_iter().chain([block_index, grid, cluster_index, clusters]) {
                small.extend([x, y, z]);
            }
            let all_threads = count(grid) * threads;
            wide.extend([rank(block_index, grid) * threads + thread_rank, all_threads, all_threads]);
            wide.extend([rank(block_index, grid), count(grid), rank(cluster_index, clusters), count(clusters)]);
        }
    }
    (small, wide.into_iter().map(|value| value as usize).collect())
}

fn every_query(device: &Device) -> Outcome {
    let shapes = [
        ((1, 1, 1), (1, 1, 1), (1, 1, 1)),
        ((8, 1, 1), (2, 1, 1), (32, 1, 1)),
        ((3, 1, 1), (1, 1, 1), (7, 1, 1)),
        ((8, 1, 1), (8, 1, 1), (64, 1, 1)),
        ((4, 6, 1), (2, 3, 1), (8, 4, 1)),
        ((3, 2, 1), (1, 1, 1), (7, 1, 2)),
        ((2, 4, 6), (1, 2, 3), (4, 2, 3)),
        ((6, 2, 2), (3, 1, 2), (5, 3, 2)),
        ((2, 2, 4), (1, 1, 4), (1, 1, 64)),
        ((2, 4, 2), (2, 2, 2), (33, 3, 2)),
    ];
    for (grid, cluster, block) in shapes {
        let (want_small, want_wide) = expected(grid, cluster, block);
        let (mut small, mut wide) = (device.zeros(want_small.len())?, device.zeros(want_wide.len())?);
        queries(&mut small, &mut wide).grid(grid).cluster(cluster).block(block).launch(device)?;
        let shape = format!("grid {grid:?} cluster {cluster:?} block {block:?}");
        same(&small.read()?, &want_small, |i| format!("{shape} thread {}: number {}", i / SMALL, i % SMALL))?;
        same(&wide.read()?, &want_wide, |i| format!("{shape} thread {}: wide number {}", i / WIDE, i % WIDE))?;
    }
    Ok(())
}

/// Launches as many blocks as a cluster may have.
#[cluster_kernel(cluster = 16, block = 64, non_portable)]
fn sixteen_blocks(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    array[block.thread_rank()] = cluster.thread_rank();
    cluster.sync();
    let mut sum = 0;
    for rank in 0..cluster.num_blocks() {
        sum += cluster.map_shared_rank(&array, rank)[63 - block.thread_rank()];
    }
    cluster.sync();
    out[cluster.thread_rank()] = sum;
}

fn cluster_of_sixteen(device: &Device) -> Outcome {
    let got = read!(device, 1024, |out| sixteen_blocks(out).grid(16));
    let want: Vec<u32> = (0..1024).map(|i| (0..16).map(|rank| rank * 64 + 63 - i % 64).sum()).collect();
    same(&got, &want, |i| format!("thread {i}"))
}

/// Values go around a block, with a split barrier, and around the cluster, with another: the phases alternate.
#[cluster_kernel(cluster = 4, block = 128)]
fn wander(out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let even = shared_array::<u32, 128>();
    let odd = shared_array::<u32, 128>();
    let i = block.thread_rank();
    even[i] = this_grid().thread_rank() as u32;
    let mut work = i;
    cluster.sync();
    for round in 0..rounds {
        let next = cluster.map_shared_rank(&even, (cluster.block_rank() + 1) % cluster.num_blocks());
        odd[i] = next[i];
        let arrived = block.barrier_arrive();
        work = work * 5 + round;
        block.barrier_wait(arrived);
        let value = odd[(i + 1) % 128];
        let read = cluster.barrier_arrive();
        work ^= work >> 3;
        cluster.barrier_wait(read);
        even[i] = value;
        cluster.sync();
    }
    out[this_grid().thread_rank()] = even[i] + work % 1;
}

fn values_that_wander(device: &Device) -> Outcome {
    for rounds in [0, 1, 7, 64] {
        let got = read!(device, 1024, |out| wander(out, rounds).grid(8));
        let place = |i: u32| i / 512 * 512 + (i / 128 + rounds) % 4 * 128 + (i + rounds) % 128;
        let want: Vec<u32> = (0..1024).map(place).collect();
        same(&got, &want, |i| format!("{rounds} rounds, thread {i}"))?;
    }
    Ok(())
}

/// Queries shared memory from every side: own, peers', its rank and its length.
#[cluster_kernel(cluster = (2, 2), block = 32)]
fn ranks_and_lengths(out: &mut [u32]) {
    let cluster = this_cluster();
    let fixed = shared_array::<u32, 48>();
    let bytes = shared_array::<u8, 5>();
    let dynamic = dynamic_shared::<u64>();
    let i = this_thread_block().thread_rank();
    fixed[i] = cluster.block_rank();
    if i < 5 {
        bytes[i] = (cluster.block_rank() * 50 + i) as u8;
    }
    dynamic[i] = (cluster.thread_rank() as u64) << 32;
    cluster.sync();
    let peer = 3 - cluster.block_rank();
    let remote_fixed = cluster.map_shared_rank(&fixed, peer);
    let remote_bytes = cluster.map_shared_rank(&bytes, peer);
    let remote_dynamic = cluster.map_shared_rank(&dynamic, peer);
    let own = cluster.map_shared_rank(&fixed, cluster.block_rank());
    let at = this_grid().thread_rank() * 10;
    out[at] = remote_fixed[i];
    out[at + 1] = remote_bytes[i % 5] as u32;
    out[at + 2] = (remote_dynamic[i] >> 32) as u32;
    out[at + 3] = own[i];
    out[at + 4] = cluster.query_shared_rank(&fixed);
    out[at + 5] = cluster.query_shared_rank(&remote_bytes);
    out[at + 6] = cluster.query_shared_rank(&remote_dynamic) * 10 + cluster.query_shared_rank(&dynamic);
    out[at + 7] = (fixed.len() * 100 + bytes.len()) as u32;
    out[at + 8] = (remote_fixed.len() * 100 + remote_bytes.len()) as u32;
    out[at + 9] = (dynamic.len() * 1000 + remote_dynamic.len()) as u32;
    cluster.sync();
    remote_fixed[i] = 1000 + cluster.thread_rank();
    remote_fixed[i] += 1;
    cluster.sync();
    out[at + 3] += fixed[i];
}

fn shared_memory_from_every_side(device: &Device) -> Outcome {
    let got = read!(device, 8 * 32 * 10, |out| ranks_and_lengths(out).grid((2, 4)).shared_bytes(8 * 40 + 7));
    let mut want = Vec::new();
    for block in 0..8 {
        let rank = block % 4;
        let peer = 3 - rank;
        for i in 0..32 {
            want.extend([
                peer,
                peer * 50 + i % 5,
                peer * 32 + i,
                rank + 1001 + peer * 32 + i,
                rank,
                peer,
                peer * 10 + rank,
            ]);
            want.extend([4805, 4805, 40040]);
        }
    }
    same(&got, &want, |i| format!("thread {}, number {}", i / 10, i % 10))
}

/// Uses all the shared memory that a block can have, dynamic beside static.
#[cluster_kernel(cluster = 2, block = 256)]
fn large_shared_memory(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let fixed = shared_array::<u32, 1024>();
    let dynamic = dynamic_shared::<u32>();
    for i in (block.thread_rank() as usize..dynamic.len()).step_by(256) {
        dynamic[i] = i as u32 + cluster.block_rank();
    }
    for i in (block.thread_rank()..1024).step_by(256) {
        fixed[i] = 7;
    }
    cluster.sync();
    let remote = cluster.map_shared_rank(&dynamic, 1 - cluster.block_rank());
    let mut sum = 0;
    for i in (block.thread_rank() as usize..remote.len()).step_by(256) {
        sum += remote[i] + fixed[i % 1024];
    }
    cluster.sync();
    out[cluster.thread_rank()] = sum;
}

fn all_shared_memory(device: &Device) -> Outcome {
    let dynamic = 227 * 1024 - 4096;
    let got = read!(device, 512, |out| large_shared_memory(out).grid(2).shared_bytes(dynamic));
    let sum =
        |i: u32| (i % 256..dynamic as u32 / 4).step_by(256).map(|j| j + 1 - i / 256 + 7).fold(0, u32::wrapping_add);
    same(&got, &(0..512).map(sum).collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

/// Claims of `uniform` by each group decide how often it synchronizes.
#[cluster_kernel(cluster = 2, block = 64)]
fn claims(rounds: &mut [u32], out: &mut [u32]) {
    let grid = this_grid();
    let cluster = this_cluster();
    let block = this_thread_block();
    let tile = tiled_partition::<16>(&block);
    let mut work = 0;
    for _ in 0..grid.uniform(rounds[0]) {
        cluster.sync();
        work += 1;
    }
    let mut left = cluster.uniform(rounds[1 + grid.cluster_rank()]);
    while left > 0 {
        cluster.sync();
        left -= 1;
        work += 10;
    }
    while block.uniform(left < rounds[3 + grid.block_rank()]) {
        block.sync();
        left += 1;
        work += 100;
    }
    if tile.uniform(block.thread_rank() / 16 % 2 == rounds[0] % 2) {
        work += tile.reduce(1000, op::Plus);
    }
    if block.thread_rank() % 3 == 0 {
        let group = coalesced_threads();
        work += group.uniform(rounds[1]);
    }
    out[grid.thread_rank()] = work;
}

fn what_groups_agree_on(device: &Device) -> Outcome {
    let data = [3, 4, 0, 1, 0, 2, 5];
    let (mut rounds, mut out) = (device.upload(&data)?, device.zeros(256)?);
    claims(&mut rounds, &mut out).grid(4).launch(device)?;
    let want = (0..256).map(|thread| {
        let (cluster, block, rank) = (thread / 128, thread / 64, thread as u32 % 64);
        let tile = if rank / 16 % 2 == data[0] % 2 { 16_000 } else { 0 };
        let third = if rank.is_multiple_of(3) { data[1] } else { 0 };
        data[0] + 10 * data[1 + cluster] + 100 * data[3 + block] + tile + third
    });
    same(&out.read()?, &want.collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "groups",
        checks: check_list![
            every_query,
            cluster_of_sixteen,
            values_that_wander,
            shared_memory_from_every_side,
            all_shared_memory,
            what_groups_agree_on,
        ],
        kernels: kernel_list![claims, queries, sixteen_blocks, wander, ranks_and_lengths, large_shared_memory],
    }]
}
