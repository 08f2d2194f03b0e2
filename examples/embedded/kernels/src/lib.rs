//! The kernels, in a crate of their own: the build script runs before the program is compiled, and needs them.

use phalanx::prelude::*;

/// The weights of a cell and of both of its neighbours.
#[derive(Debug, Clone, Copy, DeviceCopy)]
#[repr(C)]
pub struct Weights {
    /// The cell's own.
    pub middle: f32,
    /// Each neighbour's.
    pub side: f32,
}

#[device]
fn mean(left: f32, middle: f32, right: f32, weights: Weights) -> f32 {
    middle * weights.middle + (left + right) * weights.side
}

/// Replaces each cell of a ring by the mean of it and its neighbours. A cluster holds a ring, and a block a part of it.
#[cluster_kernel(cluster = 2, block = 64)]
pub fn smooth(cells: &[f32], out: &mut [f32], weights: Weights) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let own = shared_array::<f32, 64>();
    let i = block.thread_rank();
    let at = this_grid().thread_rank();
    own[i] = cells[at];
    cluster.sync();
    let peer = cluster.map_shared_rank(&own, 1 - cluster.block_rank());
    let left = if i == 0 { peer[63] } else { own[i - 1] };
    let right = if i == 63 { peer[0] } else { own[i + 1] };
    out[at] = mean(left, own[i], right, weights);
    cluster.sync();
}

/// Adds a multiple of `x` to `y`.
#[cluster_kernel(block = 64)]
pub fn axpy<T: Number>(y: &mut [T], x: &[T], a: T) {
    let i = this_grid().thread_rank();
    if i < y.len() {
        y[i] += a * x[i];
    }
}
