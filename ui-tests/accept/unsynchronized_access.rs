//! A barrier comes between a write to shared memory and another thread's access, or the threads of a warp have done something together.

use phalanx::prelude::*;

/// The neighbour has written.
#[cluster_kernel(block = 64)]
fn behind_the_first_barrier(input: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    row[i] = input[i];
    this_thread_block().sync();
    out[i] = row[i ^ 1];
}

/// A tree.
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
        block.sync();
        distance /= 2;
    }
    if i == 0 {
        out[0] = sums[0];
    }
}

/// No thread still reads what the next iteration overwrites.
#[cluster_kernel(block = 128)]
fn at_the_end_of_a_loop(input: &[u32], out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    for round in 0..rounds {
        row[i] = input[round * 128 + i];
        block.sync();
        out[round * 128 + i] = row[127 - i];
        block.sync();
    }
}

/// Two buffers take turns.
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
        block.sync();
        (from, to) = (to, from);
    }
    out[i] = from[i];
}

/// The counters are set before.
#[cluster_kernel(block = 64)]
fn counted(out: &mut [u32]) {
    let block = this_thread_block();
    let counts = shared_array::<u32, 64>();
    let i = block.thread_rank();
    counts[i] = 0;
    block.sync();
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
    for step in 1..7 {
        add(&sums, i, THREADS >> step);
        block.sync();
    }
    out[i] = sums[0];
}

/// All threads have read the buffer before it is refilled.
#[cluster_kernel(block = 128)]
fn refilled(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    for round in 0..4u32 {
        memcpy_async(&block, &row, &input[round * 128..(round + 1) * 128]);
        block.wait_async();
        out[round * 128 + i] = row[127 - i];
        block.sync();
    }
}

/// What a thread writes comes before the copy.
#[cluster_kernel(block = 128)]
fn cleared(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    row[i] = 0;
    block.sync();
    memcpy_async(&block, &row, &input[..128]);
    block.wait_async();
    out[i] = row[127 - i];
}

/// The last steps of a tree, in one warp.
#[cluster_kernel(block = 64)]
fn in_a_warp(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<u32, 64>();
    let i = block.thread_rank();
    sums[i] = input[i];
    block.sync();
    if i < 32 {
        sums[i] += sums[i + 32];
        warp.sync();
        let mut sum = sums[i] + sums[i ^ 16];
        for distance in [8, 4, 2, 1] {
            sum += warp.shfl_xor(sum, distance);
        }
        if i == 0 {
            out[0] = sum;
        }
    }
}

/// Each thread reads what it has written itself, or what all have written alike.
#[cluster_kernel(block = 64)]
fn its_own(input: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, 64>();
    let scale = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    scale[0] = 2;
    row[i] = input[i];
    out[i] = scale[0] * row[i];
}

/// The host chooses an index that is another one in each thread.
#[cluster_kernel(block = 64)]
fn permuted(order: &[u32], out: &mut [u32]) {
    let row = shared_array::<u32, 64>();
    let i = this_thread_block().thread_rank();
    row[order[i]] = i;
    out[i] = row[order[i]];
}

/// In each instance, a barrier comes before the threads read what others have written.
#[cluster_kernel(block = N)]
fn in_all_instances<const N: usize>(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, N>();
    let i = block.thread_rank() as usize;
    row[i] = input[i];
    block.sync();
    out[i] = row[N - 1 - i];
}

/// It is right for as many threads as a warp has.
#[cluster_kernel(block = N)]
fn of_a_single_warp<const N: usize>(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let row = shared_array::<u32, N>();
    let i = block.thread_rank() as usize;
    row[i] = input[i];
    warp.sync();
    out[i] = row[N - 1 - i];
}

/// The sums of all warps are there before they are added.
#[cluster_kernel(block = 256)]
fn of_all_warps(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<u32, 8>();
    let sum = warp.reduce(input[block.thread_rank()], op::Plus);
    if warp.thread_rank() == 0 {
        sums[warp.meta_group_rank()] = sum;
    }
    block.sync();
    let mut all = 0;
    for k in 0..warp.meta_group_size() {
        all += sums[k];
    }
    out[block.thread_rank()] = all;
}

/// As many bins as threads: the host may give each thread its own.
#[cluster_kernel(block = 64)]
fn counted_without_atomics(slots: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let bins = shared_array::<u32, 64>();
    let i = block.thread_rank();
    bins[i] = 0;
    block.sync();
    bins[slots[i]] += 1;
    block.sync();
    out[i] = bins[i];
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

/// A barrier comes after the closure that a function calls.
#[cluster_kernel(block = 64)]
fn in_a_closure_of_a_function(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let row = shared_array::<u32, 128>();
    let i = block.thread_rank();
    each(2, |k| row[i + 64 * k] = input[i]);
    block.sync();
    out[i] = row[127 - i];
}

/// A product reads what the other warps have written.
#[cluster_kernel(block = 128)]
fn product_behind_a_barrier(a: &[bf16], out: &mut [f32]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let i = block.thread_rank();
    let tile = shared_array::<[Swizzled<bf16, 64>; 64], 1>();
    for k in (i..4096).step_by(128) {
        tile[0][k / 64][k % 64] = a[k];
    }
    block.sync();
    let product = warpgroup.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &tile[0], &tile[0]);
    let sum = warpgroup.wait_mma(product);
    out[i] = sum[0];
}

/// A warp stores rows that another one reads.
#[cluster_kernel(block = 128)]
fn matrix_behind_a_barrier(out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let i = block.thread_rank();
    let rows = shared_array::<[bf16; 24], 64>();
    warp.store_matrix(&rows, warp.meta_group_rank() * 16, 0, Accumulator::<f32, 16, 16>::splat(1.0).to_bf16());
    block.sync();
    out[i] = rows[63 - i / 2][0].to_f32();
}

/// A vector has elements that other threads read.
#[cluster_kernel(block = 128)]
fn vectors_behind_a_barrier(a: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 512>();
    row.store_vec(i * 4, a.load_vec::<4>(i * 4));
    block.sync();
    out[i] = row.load_vec::<4>((i * 4 + 128) % 512)[0];
}

/// Threads add to a number that thread 0 has cleared.
#[cluster_kernel(block = 128)]
fn atomics_behind_a_barrier(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let count = shared_array::<u32, 1>();
    if i == 0 {
        count[0] = 0;
    }
    block.sync();
    if a[i] > 60 {
        count.atomic(0).fetch_add(1, Relaxed);
    }
    block.sync();
    out[i] = count[0];
}

/// One step of a sort, of which the next one reads the result.
#[cluster_kernel(block = 64)]
fn sorted_behind_a_barrier(a: &[u32], out: &mut [u32]) {
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
        block.sync();
    }
    out[i] = keys[i];
}

/// Only threads far from the edge of the tile read their neighbours' elements.
#[cluster_kernel(block = (22, 22))]
fn wide_border(input: &[f32], out: &mut [f32], n: i32) {
    let block = this_thread_block();
    let a = shared_array::<[f32; 22], 22>();
    let (x, y) = (block.thread_index().x as i32, block.thread_index().y as i32);
    a[y][x] = input[y * n + x];
    block.sync();
    if x > 3 && x < 18 && y > 3 && y < 18 {
        out[y * n + x] = a[y - 1][x] + a[y + 1][x];
    }
}

/// A sort of memory where it is.
#[cluster_kernel(block = 64)]
fn sorted_in_place(data: &mut [u32]) {
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
        block.sync();
    }
    block.sync();
    data[i] = keys[i];
}

/// Elements of global memory that other threads of the block write.
#[cluster_kernel(block = 64)]
fn global_memory_behind_a_barrier(a: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    out[i] = a[i];
    block.sync();
    let other = out[63 - i];
    out[64 + i] = other;
}

/// One block adds what the others have written.
#[cluster_kernel(block = 64)]
fn blocks_behind_a_barrier(a: &[f32], sums: &mut [f32], out: &mut [f32]) {
    let (grid, block) = (this_grid(), this_thread_block());
    let rank = grid.block_rank();
    if block.thread_rank() == 0 {
        sums[rank] = a[rank];
    }
    grid.sync();
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

/// The phase is complete where the loop ends.
#[cluster_kernel(block = 64)]
fn tried_until_it_is_complete(a: &[f32], out: &mut [f32]) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let row = shared_array::<f32, 64>();
    let bar = shared_barrier();
    bar.init_collective(&block, 64);
    row[i] = a[i];
    let token = bar.arrive();
    while !bar.try_wait(&token) {}
    out[i] = row[63 - i];
}

/// The store has read the tile before it is written again.
#[cluster_kernel(block = 32)]
fn waited_on_all_paths(out: &mut TensorMap<[[f32; 32]; 8]>, n: u32) {
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
            bulk_wait_group_read::<0>();
        }
        block.sync();
    }
    if i == 0 {
        bulk_wait_group_read::<0>();
    }
}

/// A product of tiles, of which each round has many steps: the next tiles are written when all have read these.
#[cluster_kernel(block = (16, 16))]
fn tiles_behind_barriers(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
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
        block.sync();
    }
    for (h, line) in sums.iter().enumerate() {
        for (w, sum) in line.iter().enumerate() {
            c[(row + ty + 16 * h) * n + column + tx + 16 * w] = *sum;
        }
    }
}

#[cluster_kernel(block = 128)]
fn sums_stored_behind_a_barrier(out: &mut TensorMap<[[f32; 32]; 64]>) {
    let (block, tile) = (this_thread_block(), shared_array::<[[f32; 32]; 64], 1>());
    let (i, sum) = (block.thread_rank(), Accumulator::<f32, 64, 32>::splat(1.0));
    tile[0][sum.row(i, 0)][sum.column(i, 0)] = sum[0];
    block.sync();
    if i == 0 {
        out.store_async([0, 0], &tile[0]);
        bulk_wait_group_read::<0>();
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<behind_the_first_barrier>,
    phalanx::Program::of::<sums_stored_behind_a_barrier>,
    phalanx::Program::of::<tree>,
    phalanx::Program::of::<at_the_end_of_a_loop>,
    phalanx::Program::of::<of_two_buffers>,
    phalanx::Program::of::<counted>,
    phalanx::Program::of::<in_a_function>,
    phalanx::Program::of::<refilled>,
    phalanx::Program::of::<cleared>,
    phalanx::Program::of::<in_a_warp>,
    phalanx::Program::of::<its_own>,
    phalanx::Program::of::<permuted>,
    phalanx::Program::of::<in_all_instances<128>>,
    phalanx::Program::of::<of_a_single_warp<32>>,
    phalanx::Program::of::<of_all_warps>,
    phalanx::Program::of::<counted_without_atomics>,
    phalanx::Program::of::<in_a_closure_of_a_function>,
    phalanx::Program::of::<product_behind_a_barrier>,
    phalanx::Program::of::<matrix_behind_a_barrier>,
    phalanx::Program::of::<vectors_behind_a_barrier>,
    phalanx::Program::of::<atomics_behind_a_barrier>,
    phalanx::Program::of::<sorted_behind_a_barrier>,
    phalanx::Program::of::<wide_border>,
    phalanx::Program::of::<sorted_in_place>,
    phalanx::Program::of::<global_memory_behind_a_barrier>,
    phalanx::Program::of::<blocks_behind_a_barrier>,
    phalanx::Program::of::<tried_until_it_is_complete>,
    phalanx::Program::of::<waited_on_all_paths>,
    phalanx::Program::of::<tiles_behind_barriers>,
];
