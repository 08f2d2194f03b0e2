//! Results of methods decide about collectives where the methods make uniform values of uniform ones, also the methods of other
//! modules, and what they leave in their receiver.

use phalanx::prelude::*;

mod counters {
    use phalanx::prelude::*;

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    pub(super) struct Counter {
        pub(super) count: u32,
    }

    #[device]
    impl Counter {
        pub(super) fn advance(&mut self, by: u32) {
            self.count += by;
        }
        pub(super) fn is_even(&self) -> bool {
            self.count % 2 == 0
        }
    }
}

#[cluster_kernel(block = 64)]
fn of_another_module(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let mut counter = counters::Counter { count: 0 };
    for _ in 0..rounds {
        if counter.is_even() {
            block.sync();
        }
        counter.advance(rounds);
    }
    out[block.thread_rank()] = counter.count;
}

type Rows = [Swizzled<bf16, 64>; 64];

/// The stages of a `Pipeline` are the same for all threads of a warpgroup.
#[cluster_kernel(block = 256)]
fn product(a: &TensorMap<Rows>, c: &mut [f32], parts: u32) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let tiles = shared_array::<Rows, 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 128);
    let mut pipeline = Pipeline::<3>::new();
    if warpgroup.meta_group_rank() == 0 {
        if rank == 0 {
            for part in 0..parts {
                let stage = pipeline.producer_acquire(&empty);
                a.load_async([0, part as i32 * 64], &tiles[stage], &full[stage]);
                pipeline.producer_commit(&full);
            }
        }
    } else {
        let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
        for _ in 0..parts {
            let stage = pipeline.consumer_wait(&full);
            let product = warpgroup.mma_async(sum, &tiles[stage], &tiles[stage]);
            sum = warpgroup.wait_mma(product);
            pipeline.consumer_release(&empty);
        }
        c[rank] = sum[0];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<of_another_module>, phalanx::Program::of::<product>];
