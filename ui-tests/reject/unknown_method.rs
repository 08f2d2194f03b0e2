//! Names that do not exist, with those that do.

use phalanx::prelude::*;

#[cluster_kernel]
fn methods(input: &[u32], output: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let grid = this_grid();
    let array = shared_array::<u32, 32>();
    let token = cluster.barrier_arrive();
    token.cancel();
    cluster.barrier_wait(token);
    cluster.synchronize();
    grid.map_shared_rank(&array, 0);
    array.iter();
    n.cbrt();
    n.min();
    n.min(1, 2);
    n.pow::<u32>(3);
    input.len(3);
    cluster.sync(1);
    cluster.barrier_wait();
    cluster.map_shared_rank(array, 0);
    cluster.map_shared_rank(&array);
    cluster.map_shared_rank(&output, 0);
    cluster.query_shared_rank(&input);
    cluster.x;
    cluster.dim_blocks().w;
    cluster.dim_blocks()[0];
    cluster + 1;
    cluster.barrier_wait(n);
    let option = None;
    option.cloned();
    cluster.barier_arrive();
}

fn main() {}
