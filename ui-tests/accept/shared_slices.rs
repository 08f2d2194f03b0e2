//! Slices of the dynamic shared memory that are disjoint by their expressions.

use phalanx::prelude::*;

const CELLS: usize = 32;

/// One after the other.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_literals(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<u32>(0, 32);
    let read = dynamic_shared_slice::<u32>(32 * 4, 32);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    cluster.sync();
}

/// The slice has as many elements as the launch says.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_a_parameter(out: &mut [u32], n: usize) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let bytes = n * 4;
    let written = dynamic_shared_slice::<u32>(0, n);
    let read = dynamic_shared_slice::<u32>(bytes, n);
    let last = dynamic_shared_slice::<u16>(bytes + bytes, n);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2;
    last[5] = 2;
    cluster.sync();
}

/// The slice has rows and columns.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_products(out: &mut [u32], rows: usize, columns: usize) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let written = dynamic_shared_slice::<f64>(0, CELLS);
    let read = dynamic_shared_slice::<u32>(CELLS * 8, columns * rows);
    let last = dynamic_shared_slice::<u8>(8 * CELLS + rows * columns * 4, columns);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[i];
    written[5] = 2.0;
    last[5] = 2;
    cluster.sync();
}

/// Elements of one slice.
#[cluster_kernel(cluster = 2, block = 32)]
fn one_slice(out: &mut [u32]) {
    let cluster = this_cluster();
    let i = this_thread_block().thread_rank();
    let read = dynamic_shared_slice::<u32>(64, 64);
    let peer = cluster.map_shared_rank(read, 1 - cluster.block_rank());
    read[i] = 3;
    cluster.sync();
    out[i] = peer[0];
    read[1] = 2;
    cluster.sync();
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_literals>,
    phalanx::Program::of::<by_a_parameter>,
    phalanx::Program::of::<by_products>,
    phalanx::Program::of::<one_slice>,
];
