//! Results of methods that differ between threads decide about collectives. What methods of the same file do is read; of others, rustc
//! says so where it builds the kernel, after its checks.

use phalanx::prelude::*;

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Counter {
    count: u32,
}

#[device]
impl Counter {
    fn advance(&mut self, by: u32) {
        self.count += by;
    }
    fn is_even(&self) -> bool {
        self.count % 2 == 0
    }
    fn is_of_even_thread(&self) -> bool {
        (this_thread_block().thread_rank() + self.count) % 2 == 0
    }
}

#[cluster_kernel(block = 64)]
fn of_the_thread(out: &mut [u32]) {
    let block = this_thread_block();
    let counter = Counter { count: 0 };
    if counter.is_of_even_thread() {
        block.sync();
    }
    out[block.thread_rank()] = counter.count;
}

#[cluster_kernel(block = 64)]
fn of_a_receiver_that_differs(out: &mut [u32], rounds: u32) {
    let block = this_thread_block();
    let mut counter = Counter { count: 0 };
    for _ in 0..rounds {
        if counter.is_even() {
            block.sync();
        }
        counter.advance(block.thread_rank());
    }
    out[block.thread_rank()] = counter.count;
}

fn main() {}
