//! Functions and methods of the same file, whose bodies say which buffer is meant.

use phalanx::prelude::*;

const BUFFERS: u32 = 2;

#[device]
fn other(buffer: u32) -> u32 {
    (buffer + 1) % BUFFERS
}

#[device]
fn turn(buffer: &mut u32) {
    *buffer = other(*buffer);
}

/// Which buffer is read and which one is written.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Turns {
    front: u32,
}

#[device]
impl Turns {
    fn new() -> Self {
        Self { front: 0 }
    }

    fn back(&self) -> u32 {
        1 - self.front
    }

    fn flip(&mut self) {
        self.front = self.back();
    }
}

#[device]
fn exchange(cluster: &Cluster, buffers: &SharedArray<[u32; 32], 2>, round: u32, i: u32, x: u32) -> u32 {
    buffers[round % BUFFERS][i] = x;
    cluster.sync();
    cluster.map_shared_rank(buffers, 1 - cluster.block_rank())[round % BUFFERS][i]
}

#[cluster_kernel(cluster = 2, block = 32)]
fn by_functions(x: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[u32; 32], 2>();
    let i = this_thread_block().thread_rank();
    let mut front = 0;
    buffers[front][i] = x[cluster.thread_rank()];
    cluster.sync();
    for _ in 0..n {
        buffers[other(front)][i] = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank())[front][i] + 1;
        cluster.sync();
        turn(&mut front);
    }
    x[cluster.thread_rank()] = buffers[front][i];
}

#[cluster_kernel(cluster = 2, block = 32)]
fn by_methods(x: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[u32; 32], 2>();
    let i = this_thread_block().thread_rank();
    let mut turns = Turns::new();
    buffers[0][i] = x[cluster.thread_rank()];
    cluster.sync();
    for _ in 0..n {
        let far = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
        buffers[turns.back()][i] = far[turns.front][i] + 1;
        cluster.sync();
        turns.flip();
    }
    x[cluster.thread_rank()] = buffers[turns.front][i];
}

/// The function has the barrier, too.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_rounds(x: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let buffers = shared_array::<[u32; 32], 2>();
    let i = this_thread_block().thread_rank();
    let mut sum = x[cluster.thread_rank()];
    for round in 0..n {
        sum += exchange(&cluster, &buffers, round, i, sum);
    }
    cluster.sync();
    x[cluster.thread_rank()] = sum;
}

/// Counts a round, and what only the thread knows.
#[device]
fn count(rounds: &mut u32, own: &mut u32, by: u32) {
    *rounds += 1;
    *own += by;
}

/// Each counter is as uniform as what the body adds to it, also a field that a method has set before.
#[cluster_kernel(cluster = 2, block = 32)]
fn by_counters(x: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let (mut rounds, mut own) = (0, 0);
    let mut turns = Turns::new();
    for _ in 0..n {
        count(&mut rounds, &mut own, cluster.thread_rank());
        if rounds % 3 == 0 {
            cluster.sync();
        }
        turn(&mut turns.front);
        if turns.front == 1 {
            cluster.sync();
        }
    }
    x[cluster.thread_rank()] = own;
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<by_functions>,
    phalanx::Program::of::<by_methods>,
    phalanx::Program::of::<by_rounds>,
    phalanx::Program::of::<by_counters>,
];
