//! The grid's barrier: it contains all others, all threads of the grid come to it, and its tokens are its own.

use phalanx::prelude::*;

#[cluster_kernel]
fn inside_of_a_clusters_phase() {
    let cluster = this_cluster();
    let grid = this_grid();
    let token = cluster.barrier_arrive();
    grid.sync();
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn crossed() {
    let block = this_thread_block();
    let grid = this_grid();
    let inner = block.barrier_arrive();
    let outer = grid.barrier_arrive();
    block.barrier_wait(inner);
    grid.barrier_wait(outer);
}

#[cluster_kernel]
fn twice() {
    let grid = this_grid();
    let first = grid.barrier_arrive();
    let second = grid.barrier_arrive();
    grid.barrier_wait(first);
    grid.barrier_wait(second);
}

#[cluster_kernel]
fn sync_in_its_own_phase() {
    let grid = this_grid();
    let token = grid.barrier_arrive();
    grid.sync();
    grid.barrier_wait(token);
}

#[cluster_kernel]
fn lost(n: u32) {
    let grid = this_grid();
    let token = grid.barrier_arrive();
    if n > 3 {
        grid.barrier_wait(token);
    }
}

#[cluster_kernel]
fn of_some_clusters() {
    let grid = this_grid();
    if grid.cluster_rank() == 0 {
        grid.sync();
    }
}

#[cluster_kernel]
fn some_blocks_leave() {
    let grid = this_grid();
    if grid.block_rank() > 4 {
        return;
    }
    grid.sync();
}

#[cluster_kernel]
fn as_long_as_it_changes(changes: &mut [u32]) {
    let grid = this_grid();
    while changes[0] > 0 {
        grid.sync();
    }
}

#[device]
fn meets(grid: &Grid) {
    grid.sync();
}

#[cluster_kernel]
fn in_a_function() {
    let cluster = this_cluster();
    let grid = this_grid();
    let token = cluster.barrier_arrive();
    meets(&grid);
    cluster.barrier_wait(token);
}

fn main() {}
