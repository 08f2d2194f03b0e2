//! The other groups' barriers inside of the grid's phase, and branches that are uniform in the grid.

use phalanx::prelude::*;

#[cluster_kernel]
fn the_right_way_round() {
    let block = this_thread_block();
    let cluster = this_cluster();
    let grid = this_grid();
    let outer = grid.barrier_arrive();
    cluster.sync();
    let middle = cluster.barrier_arrive();
    let inner = block.barrier_arrive();
    block.barrier_wait(inner);
    cluster.barrier_wait(middle);
    grid.barrier_wait(outer);
    grid.sync();
}

#[cluster_kernel]
fn waited_on_both_paths(n: u32) {
    let grid = this_grid();
    let token = grid.barrier_arrive();
    if n > 3 {
        grid.barrier_wait(token);
    } else {
        this_cluster().sync();
        grid.barrier_wait(token);
    }
}

#[cluster_kernel]
fn of_all_clusters() {
    let grid = this_grid();
    if grid.num_clusters() > 1 {
        grid.sync();
    }
}

#[cluster_kernel]
fn some_blocks_leave_behind_it() {
    let grid = this_grid();
    grid.sync();
    if grid.block_rank() > 4 {
        return;
    }
    this_thread_block().sync();
}

#[cluster_kernel]
fn as_long_as_all_say_so(changes: &mut [u32]) {
    let grid = this_grid();
    while grid.uniform(changes[0] > 0) {
        grid.sync();
        if grid.thread_rank() == 0 {
            changes[0] -= 1;
        }
        grid.sync();
    }
}

#[device]
fn meets(grid: &Grid) {
    grid.sync();
}

#[cluster_kernel]
fn behind_the_wait() {
    let cluster = this_cluster();
    let grid = this_grid();
    let token = cluster.barrier_arrive();
    cluster.barrier_wait(token);
    meets(&grid);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<the_right_way_round>,
    phalanx::Program::of::<waited_on_both_paths>,
    phalanx::Program::of::<of_all_clusters>,
    phalanx::Program::of::<some_blocks_leave_behind_it>,
    phalanx::Program::of::<as_long_as_all_say_so>,
    phalanx::Program::of::<behind_the_wait>,
];
