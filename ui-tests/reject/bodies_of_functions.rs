//! The file has a function whose body would make the kernel right, but another one is called.

use phalanx::prelude::*;

#[device]
fn other(buffer: u32) -> u32 {
    1 - buffer
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Turns {
    front: u32,
}

#[device]
impl Turns {
    fn back(&self) -> u32 {
        1 - self.front
    }
}

#[cluster_kernel(cluster = 2, block = 32)]
fn by_functions() {}

#[cluster_kernel(cluster = 2, block = 32)]
fn by_methods() {}

/// Functions of the same names.
mod elsewhere {
    use phalanx::prelude::*;

    #[device]
    pub fn other(buffer: u32) -> u32 {
        2 * buffer
    }

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    pub struct Turns {
        pub front: u32,
    }

    #[device]
    impl Turns {
        pub fn back(&self) -> u32 {
            2 * self.front
        }
    }
}

fn main() {
    use elsewhere::{Turns, other};

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
            front = other(front);
        }
        x[cluster.thread_rank()] = buffers[front][i];
    }

    #[cluster_kernel(cluster = 2, block = 32)]
    fn by_methods(x: &mut [u32], n: u32) {
        let cluster = this_cluster();
        let buffers = shared_array::<[u32; 32], 2>();
        let i = this_thread_block().thread_rank();
        let mut turns = Turns { front: 0 };
        buffers[0][i] = x[cluster.thread_rank()];
        cluster.sync();
        for _ in 0..n {
            let far = cluster.map_shared_rank(&buffers, 1 - cluster.block_rank());
            buffers[turns.back()][i] = far[turns.front][i] + 1;
            cluster.sync();
            turns.front = turns.back();
        }
        x[cluster.thread_rank()] = buffers[turns.front][i];
    }
}
