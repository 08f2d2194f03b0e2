//! A kernel with a fault leaves its signature behind: its callers report nothing, whatever was refused.

use phalanx::prelude::*;

#[device]
fn broken(x: u32) -> u32 {
    let letter = 'x';
    x
}

#[cluster_kernel]
fn kernel(input: &[u32], output: &mut [u32], n: u32) {
    output[0] = broken(input[0]) + n.cbrt();
}

#[cluster_kernel]
fn refused_parameter(output: &mut [u32], cluster: &Cluster, (x, y): (u32, u32)) {}

#[device]
fn refused_types(names: Vec<u32>, tile: Tile<32>) -> String {}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn named(&self, name: &str) -> Box<u32> {}
}

#[cluster_kernel]
fn calls(output: &mut [u32], p: Point) {
    let cluster = this_cluster();
    let name = refused_types(output, cluster);
    output[name] = refused_types(1, 2).len() + name;
    output[1] = p.named("p");
}

fn launch(device: &Device, input: &Buffer<u32>, output: &mut Buffer<u32>) {
    kernel(input, output, 3).grid(1).launch(device).unwrap();
    refused_parameter(output, this_cluster(), (1, 2)).grid(1).launch(device).unwrap();
    let source: String = kernel::cuda_source().unwrap();
    assert_eq!(broken(source.len() as u32), 3);
}

fn main() {}
