//! Results of methods that differ between threads decide about collectives: rustc says so where the method's summary is known.

use phalanx::prelude::*;

mod counters {
    use phalanx::prelude::*;

    #[derive(Clone, Copy, DeviceCopy)]
    #[repr(C)]
    pub struct Counter {
        pub count: u32,
    }

    #[device]
    impl Counter {
        pub fn advance(&mut self) {
            self.count += this_thread_block().thread_rank();
        }
        pub fn is_even(&self) -> bool {
            self.count % 2 == 0
        }
        pub fn is_of_even_thread(&self) -> bool {
            this_thread_block().thread_rank() % 2 == 0
        }
    }
}

#[cluster_kernel(block = 64)]
fn of_the_thread(out: &mut [u32]) {
    let block = this_thread_block();
    let counter = counters::Counter { count: 0 };
    if counter.is_of_even_thread() {
        block.sync();
    }
    out[block.thread_rank()] = counter.count;
}

#[cluster_kernel(block = 64)]
fn of_a_receiver_that_differs(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let mut counter = counters::Counter { count: 0 };
    for _ in 0..rounds {
        if counter.is_even() {
            block.sync();
        }
        counter.advance();
    }
    out[block.thread_rank()] = counter.count;
}

fn main() {
    let _ = (of_the_thread::cuda_source(), of_a_receiver_that_differs::cuda_source());
}
