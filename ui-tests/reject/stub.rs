//! A kernel with a fault leaves its signature behind: its callers report nothing.

use phalanx::prelude::*;

#[device]
fn broken(x: u32) -> u32 {
    x?
}

#[cluster_kernel]
fn kernel(input: &[u32], output: &mut [u32], n: u32) {
    output[0] = broken(input[0]) + n.cbrt();
}

fn launch(device: &Device, input: &Buffer<u32>, output: &mut Buffer<u32>) {
    kernel(input, output, 3).grid(1).launch(device).unwrap();
    let source: String = kernel::cuda_source().unwrap();
    assert_eq!(broken(source.len() as u32), 3);
}

fn main() {}
