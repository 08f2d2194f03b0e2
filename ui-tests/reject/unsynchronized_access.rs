//! Two threads of a block access one element of shared memory, one of them writes, and no barrier comes between.

use phalanx::prelude::*;

/// The neighbour may not have written yet.
#[cluster_kernel(block = 64)]
fn before_the_first_barrier(input: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    row[i] = input[i];
    out[i] = row[i ^ 1];
}

/// A tree, in which each step reads what the one before has written.
#[cluster_kernel(block = 256)]
fn tree(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let sums = shared_array::<f32, 256>();
    let i = block.thread_rank();
    sums[i] = input[i];
    block.sync();
    let mut distance = 128;
    while distance > 0 {
        if i < distance {
            sums[i] += sums[i + distance];
        }
        distance /= 2;
    }
    if i == 0 {
        out[0] = sums[0];
    }
}

/// The next iteration overwrites what slower threads still read.
#[cluster_kernel(block = 128)]
fn at_the_end_of_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    for round in 0..rounds {
        row[i] = input[round * 128 + i];
        block.sync();
        out[round * 128 + i] = row[127 - i];
    }
}

/// The values of two buffers are read one step too early.
#[cluster_kernel(block = 128)]
fn of_two_buffers(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let (first, second) = (shared_array::<u32, 128>(), shared_array::<u32, 128>());
    let i = block.thread_rank();
    let (mut from, mut to) = (&first, &second);
    from[i] = input[i];
    block.sync();
    for _ in 0..4 {
        to[i] = from[(i + 1) % 128];
        (from, to) = (to, from);
    }
    out[i] = from[i];
}

/// Another thread may count before the counter is set.
#[cluster_kernel(block = 64)]
fn counted_too_early(out: &mut [u32]) {
    let block = this_thread_block();
    let counts = shared_array::<u32, 64>();
    let i = block.thread_rank();
    counts[i] = 0;
    counts.atomic(63 - i).fetch_add(1, Relaxed);
    block.sync();
    out[i] = counts[i];
}

#[device]
fn add(sums: &SharedArray<u32, 64>, i: u32, distance: u32) {
    if i < distance {
        sums[i] += sums[i + distance];
    }
}

const THREADS: u32 = 64;

/// In a function, with a constant.
#[cluster_kernel(block = THREADS)]
fn in_a_function(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let sums = shared_array::<u32, 64>();
    let i = block.thread_rank();
    sums[i] = input[i];
    block.sync();
    let mut distance = THREADS / 2;
    while distance > 0 {
        add(&sums, i, distance);
        distance /= 2;
    }
    out[i] = sums[0];
}

/// A thread that is ahead begins to refill the buffer.
#[cluster_kernel(block = 128)]
fn refilled(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    for round in 0..4u32 {
        memcpy_async(&block, &row, &input[round * 128..(round + 1) * 128]);
        block.wait_async();
        out[round * 128 + i] = row[127 - i];
    }
}

/// What a thread writes may come after the copy.
#[cluster_kernel(block = 128)]
fn cleared(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    row[i] = 0;
    memcpy_async(&block, &row, &input[..128]);
    block.wait_async();
    out[i] = row[127 - i];
}

/// In each instance, a thread reads what another one may not have written yet.
#[cluster_kernel(block = N)]
fn in_all_instances<const N: usize>(input: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, N>();
    let i = this_thread_block().thread_rank() as usize;
    row[i] = input[i];
    out[i] = row[N - 1 - i];
}

/// The sums of the warps are added before all of them are there.
#[cluster_kernel(block = 256)]
fn of_all_warps(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<u32, 8>();
    let sum = warp.reduce(input[block.thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        sums[warp.meta_group_rank()] = sum;
    }
    let mut all = 0;
    for k in 0..warp.meta_group_size() {
        all += sums[k];
    }
    out[block.thread_rank()] = all;
}

/// There are more threads than bins.
#[cluster_kernel(block = 256)]
fn counted_without_atomics(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let bins = shared_array::<u32, 64>();
    let i = block.thread_rank();
    if i < 64 {
        bins[i] = 0;
    }
    block.sync();
    bins[input[i] % 64] += 1;
    block.sync();
    if i < 64 {
        out[i] = bins[i];
    }
}

#[device]
fn each(count: u32, f: impl Fn(u32)) {
    if count == 0 {
        return;
    }
    for i in 0..count {
        f(i);
    }
}

/// A closure that a function calls writes what other threads read.
#[cluster_kernel(block = 64)]
fn in_a_closure_of_a_function(input: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, 128>();
    let i = this_thread_block().thread_rank();
    each(2, |k| row[i + 64 * k] = input[i]);
    out[i] = row[127 - i];
}

/// A product may read what other warps have not written yet.
#[cluster_kernel(block = 128)]
fn product_too_early(a: &[bf16], out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let i = block.thread_rank();
    let tile = shared_array::<[Swizzled<bf16, 64>; 64], 1>();
    for k in (i..4096).step_by(128) {
        tile[0][k / 64][k % 64] = a[k];
    }
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile[0], &tile[0]);
    let sum = warpgroup.wait_mma(product);
    out[i] = sum[0];
}

/// A warp stores rows that another one reads.
#[cluster_kernel(block = 128)]
fn matrix_too_early(out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let rows = shared_array::<[bf16; 24], 64>();
    warp.store_matrix(&rows, warp.meta_group_rank() * 16, 0, Accumulator::<f32, 16, 16>::splat(1.0).to_bf16());
    out[i] = rows[63 - i / 2][0].to_f32();
}

/// A vector has elements that other threads read.
#[cluster_kernel(block = 128)]
fn vectors_too_early(a: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 512>();
    row.store_vec(i * 4, a.load_vec::<4>(i * 4));
    out[i] = row.load_vec::<4>((i * 4 + 128) % 512)[0];
}

/// Threads add to a number that thread 0 may not have cleared yet.
#[cluster_kernel(block = 128)]
fn atomics_too_early(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let count = shared_array::<u32, 1>();
    if i == 0 {
        count[0] = 0;
    }
    if a[i] > 60 {
        count.atomic(0).fetch_add(1, Relaxed);
    }
    block.sync();
    out[i] = count[0];
}

/// One step of a sort, of which the next one reads the result.
#[cluster_kernel(block = 64)]
fn sorted_too_early(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let keys = shared_array::<u32, 128>();
    keys[i] = a[i];
    keys[i + 64] = a[i + 64];
    block.sync();
    for step in 0..6u32 {
        let stride = 32 >> step;
        let low = 2 * i - (i & (stride - 1));
        if keys[low] > keys[low + stride] {
            keys.swap(low, low + stride);
        }
    }
    block.sync();
    out[i] = keys[i];
}

/// Only threads far from the edge of the tile read their neighbours' elements.
#[cluster_kernel(block = (22, 22))]
fn wide_border(input: &[f32], out: &mut [f32], n: i32) {
    let block = this_thread_block();
    let a = shared_array::<[f32; 22], 22>();
    let (x, y) = (block.thread_index().x as i32, block.thread_index().y as i32);
    a[y][x] = input[y * n + x];
    if x > 3 && x < 18 && y > 3 && y < 18 {
        out[y * n + x] = a[y - 1][x] + a[y + 1][x];
    }
}

/// The same, of memory that is sorted where it is.
#[cluster_kernel(block = 64)]
fn sorted_in_place_too_early(data: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let keys = shared_array::<u32, 128>();
    keys[i] = data[i];
    keys[i + 64] = data[i + 64];
    block.sync();
    for step in 0..6u32 {
        let stride = 32 >> step;
        let low = 2 * i - (i & (stride - 1));
        if keys[low] > keys[low + stride] {
            keys.swap(low, low + stride);
        }
    }
    block.sync();
    data[i] = keys[i];
}

/// Elements of global memory that other threads of the block write.
#[cluster_kernel(block = 64)]
fn of_global_memory(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    out[i] = a[i];
    let other = out[63 - i];
    out[64 + i] = other;
}

/// One block adds what the others have written.
#[cluster_kernel(block = 64)]
fn of_two_blocks(a: &[f32], sums: &mut [f32], out: &mut [f32]) {
    let (grid, block) = (this_grid(), this_thread_block());
    let rank = grid.block_rank();
    if block.thread_rank() == 0 {
        sums[rank] = a[rank];
    }
    block.sync();
    if grid.thread_rank() == 0 {
        let mut sum = 0.0;
        for other in 0..grid.num_blocks() {
            sum += sums[other];
        }
        out[0] = sum;
    }
    grid.sync();
    out[1 + grid.thread_rank()] = out[0];
}

/// Whether the phase is complete is not asked.
#[cluster_kernel(block = 64)]
fn tried_in_vain(a: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    row[i] = a[i];
    let token = bar.arrive();
    let _ = bar.try_wait(&token);
    out[i] = row[63 - i];
}

/// The tile is written again while a store may read it, where there are few rounds.
#[cluster_kernel(block = 32)]
fn waited_on_some_paths(out: &mut TensorMap<[[f32; 32]; 8]>, n: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<[[f32; 32]; 8], 1>();
    for r in 0..n {
        for k in 0..8 {
            tile[0][k][i] = r as f32;
        }
        block.sync();
        if i == 0 {
            out.store_async([r as i32 * 8, 0], &tile[0]);
            if n > 2 {
                bulk_wait_group_read::<0>();
            }
        }
        block.sync();
    }
    if i == 0 {
        bulk_wait_group_read::<0>();
    }
}

/// One statement, by which two threads write each element.
#[cluster_kernel(block = 64)]
fn by_one_statement(a: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 32>();
    row[i / 2] = a[i];
    block.sync();
    out[i] = row[i % 32];
}

/// A product of tiles, of which each round has many steps: the next tiles are written while others still read these.
#[cluster_kernel(block = (16, 16))]
fn tiles_of_the_next_round(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
    let block = this_thread_block();
    let thread = block.thread_index();
    let (tx, ty) = (thread.x as usize, thread.y as usize);
    let group = block.group_index();
    let (row, column) = (group.y as usize * 32, group.x as usize * 32);
    let of_a = shared_array::<[f32; 16], 32>();
    let of_b = shared_array::<[f32; 32], 16>();
    let mut sums = [[0.0f32; 2]; 2];
    for first in (0..n).step_by(16) {
        for h in 0..2 {
            of_a[ty + 16 * h][tx] = a[(row + ty + 16 * h) * n + first + tx];
            of_b[ty][tx + 16 * h] = b[(first + ty) * n + column + tx + 16 * h];
        }
        block.sync();
        for k in 0..16 {
            for (h, line) in sums.iter_mut().enumerate() {
                for (w, sum) in line.iter_mut().enumerate() {
                    *sum = of_a[ty + 16 * h][k].mul_add(of_b[k][tx + 16 * w], *sum);
                }
            }
        }
    }
    for (h, line) in sums.iter().enumerate() {
        for (w, sum) in line.iter().enumerate() {
            c[(row + ty + 16 * h) * n + column + tx + 16 * w] = *sum;
        }
    }
}

/// There are as many bins as threads, and all elements may be alike.
#[cluster_kernel(block = 64)]
fn counted_in_as_many_bins(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let bins = shared_array::<u32, 64>();
    let i = block.thread_rank();
    bins[i] = 0;
    block.sync();
    bins[input[i] % 64] += 1;
    block.sync();
    out[i] = bins[i];
}

/// The sums may be anywhere in the tile, all of which is stored.
#[cluster_kernel(block = 128)]
fn sums_stored_at_once(out: &mut TensorMap<[[f32; 32]; 64]>) {
    let (block, tile) = (this_thread_block(), shared_array::<[[f32; 32]; 64], 1>());
    let (i, sum) = (block.thread_rank(), Accumulator::<f32, 64, 32>::splat(1.0));
    tile[0][sum.row(i, 0)][sum.column(i, 0)] = sum[0];
    if i == 0 {
        out.store_async([0, 0], &tile[0]);
        bulk_wait_group_read::<0>();
    }
}

/// The loop gives up, and the thread goes on as if the phase were over.
#[cluster_kernel(block = 64)]
fn asked_a_hundred_times(input: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    tile[i] = input[i];
    let token = bar.arrive();
    for _ in 0..100 {
        if bar.try_wait(&token) {
            break;
        }
    }
    out[i] = tile[63 - i];
}

fn main() {}
