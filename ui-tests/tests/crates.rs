//! Device functions of another crate, and of modules of it, called from a kernel of this one.

use phalanx::prelude::*;
use phalanx_ui_tests::functions::{self, block_sum};

#[cluster_kernel(block = 64)]
fn across(output: &mut [u64], rounds: u32) {
    let block = this_thread_block();
    let scratch = shared_array::<u64, 64>();
    let mut total = functions::steps::advance(3) as u64;
    functions::accumulate(block.thread_rank(), rounds, &mut total);
    let sum = block_sum(&block, &scratch, total);
    output[block.thread_rank()] = sum;
}

#[test]
fn functions_of_another_crate() {
    // Device functions of plain values are functions of the host too.
    let threads = 0..64;
    let totals = threads.map(|seed| {
        let mut total = u64::from(functions::steps::advance(3));
        functions::accumulate(seed, 5, &mut total);
        total
    });
    let want: u64 = totals.sum();

    let device = Device::simulator();
    let mut output = device.zeros(64).expect("memory");
    across(&mut output, 5).grid(1).launch(&device).expect("the kernel runs");
    assert_eq!(output.read().expect("memory"), vec![want; 64]);

    // In the text each stands before its callers, once.
    let source = across::cuda_source().expect("the functions do not call each other in a circle");
    let place = |text: &str| source.find(text).unwrap_or_else(|| panic!("no `{text}` in\n{source}"));
    assert!(place("u32 advance(u32 state)") < place("void accumulate("));
    assert!(place("void accumulate(") < place("across("));
    assert_eq!(source.matches("u32 advance(u32 state)").count(), 1);
}
