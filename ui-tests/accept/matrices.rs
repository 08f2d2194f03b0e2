//! Matrices as they should be used, each kernel close to one that is refused.

use phalanx::prelude::*;

type Rows = [bf16; 24];

/// All lanes come, or none.
#[cluster_kernel(block = 64)]
fn uniform_product(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let (a, b) = (MatrixA::<f16, 16, 16>::splat(f16::ONE), MatrixB::<f16, 16, 8>::splat(f16::ONE));
    let mut sum = Accumulator::<f32, 16, 8>::splat(0.0);
    if warp.meta_group_rank() == 0 {
        sum = warp.mma(a, b, sum);
    }
    out[this_grid().thread_rank()] = sum[0];
}

#[device]
fn first(warp: &Tile<32>, tile: &SharedSlice<Rows>, row: u32) -> MatrixA<bf16, 16, 16> {
    warp.load_matrix(tile, row, 8)
}

/// The trip count and the rows are the warp's own, those of a function its callers'.
#[cluster_kernel(block = 64)]
fn uniform_loads(rows: &[u32], out: &mut [bf16]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tiles = shared_array::<[Rows; 32], 2>();
    let which = block.thread_rank() / 32;
    for i in 0..24 {
        tiles[which][warp.thread_rank()][i] = bf16::ONE;
    }
    block.sync();
    let tile = &tiles[1 - which];
    for i in 0..which + 1 {
        let a: MatrixA<bf16, 16, 16> = warp.load_matrix(tile, i, 0);
        let b = first(&warp, tile, rows[which]);
        let own = warp.uniform(out.len() as u32 / 32 + warp.thread_rank() / 32);
        let c = warp.load_matrix_transposed::<MatrixB<bf16, 16, 8>>(tile, own, 8);
        out[warp.thread_rank()] = a[0] + b[0] + c[0];
    }
    block.sync();
    warp.store_matrix(&tiles[which][1..], 0, 8, first(&warp, &tiles[which], 0));
    warp.sync();
    out[warp.thread_rank()] = tiles[which][1][8];
}

/// The wait comes before the load.
#[cluster_kernel(block = 32)]
fn loaded_when_complete(input: &[bf16], out: &mut [bf16]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tiles = shared_array::<[[bf16; 16]; 16], 2>();
    for row in 0..16 {
        memcpy_async(&block, &tiles[0][row], &input[row * 16..row * 16 + 16]);
    }
    block.wait_async();
    let a: MatrixA<bf16, 16, 16> = warp.load_matrix(&tiles[0], 0, 0);
    out[warp.thread_rank()] = a[0];
}

/// The copy is complete before its source is stored to again, and the peers have read before that.
#[cluster_kernel(cluster = 2, block = 32)]
fn stored_after_all(all: &mut [[bf16; 16]], out: &mut [bf16]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let tile = shared_array::<[bf16; 16], 16>();
    let sum = Accumulator::<bf16, 16, 16>::splat(bf16::ONE);
    warp.store_matrix(&tile, 0, 0, sum);
    cluster.sync();
    if block.thread_rank() == 0 {
        bulk_copy_async(&mut all[cluster.block_rank() * 16..cluster.block_rank() * 16 + 16], &tile);
        bulk_wait_group::<0>();
    }
    out[cluster.thread_rank()] = cluster.map_shared_rank(&tile, 1 - cluster.block_rank())[0][0];
    cluster.sync();
    warp.store_matrix_transposed(&tile, 0, 0, sum);
    warp.sync();
    out[cluster.thread_rank()] = tile[0][0];
}

/// The names of the text's own types and functions.
#[cluster_kernel(block = 32)]
fn names(out: &mut [f32]) {
    let thread_block_tile = tiled_partition::<32>(&this_thread_block());
    let matrix_a = MatrixA::<tf32, 16, 8>::splat(1.0);
    let matrix_b = MatrixB::<tf32, 8, 8>::splat(2.0);
    let mut accumulator = Accumulator::<f32, 16, 8>::splat(0.0);
    let tf32 = 2;
    for load_matrix in 0..tf32 {
        accumulator = thread_block_tile.mma(matrix_a, matrix_b, accumulator);
        accumulator[load_matrix] += 1.0;
    }
    out[thread_block_tile.thread_rank()] = accumulator[0];
}

/// Bounds by the traits, for any element type.
#[device]
fn product<T, const N: usize>(
    warp: &Tile<32>,
    a: MatrixA<T, 16, 16>,
    b: MatrixB<T, 16, N>,
    c: Accumulator<f32, 16, N>,
) -> Accumulator<f32, 16, N>
where
    T: ElementOfA<16, 16> + ElementOfB<16, N>,
    f32: AccumulatorElement<16, N>,
    MatrixA<T, 16, 16>: MultipliedBy<MatrixB<T, 16, N>, Accumulator<f32, 16, N>>,
{
    warp.mma(a, b, c)
}

#[cluster_kernel(block = 32)]
fn generic(out: &mut [f32]) {
    let warp = tiled_partition::<32>(&this_thread_block());
    let (one, brain) = (f16::ONE, bf16::ONE);
    let halves =
        product(&warp, MatrixA::<f16, 16, 16>::splat(one), MatrixB::splat(one), Accumulator::<f32, 16, 8>::splat(0.0));
    let brains = product(
        &warp,
        MatrixA::<bf16, 16, 16>::splat(brain),
        MatrixB::splat(brain),
        Accumulator::<f32, 16, 16>::splat(0.0),
    );
    out[warp.thread_rank()] = halves[0] + brains[7];
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<uniform_product>,
    phalanx::Program::of::<uniform_loads>,
    phalanx::Program::of::<loaded_when_complete>,
    phalanx::Program::of::<stored_after_all>,
    phalanx::Program::of::<names>,
    phalanx::Program::of::<generic>,
];
