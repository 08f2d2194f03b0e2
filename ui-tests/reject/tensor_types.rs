//! Tiles that no tensor map describes, tensors of another kind, and elements that are not combined.

use phalanx::prelude::*;

/// A tile has one to five dimensions of plain numbers.
#[cluster_kernel(block = 32)]
fn not_an_array(input: &TensorMap<f32>) {}

#[cluster_kernel(block = 32)]
fn six_dimensions(input: &TensorMap<[[[[[[f32; 4]; 1]; 1]; 1]; 1]; 1]>) {}

/// Too many elements in a dimension, and rows of a size that is not a multiple of 16 bytes.
#[cluster_kernel(block = 32)]
fn too_long(input: &TensorMap<[f32; 512]>) {}

#[cluster_kernel(block = 32)]
fn narrow(input: &TensorMap<[[u8; 8]; 64]>) {}

/// A swizzled row has the size of a pattern.
#[cluster_kernel(block = 32)]
fn no_pattern(input: &TensorMap<[Swizzled<bf16, 128>; 64]>) {}

/// The tile in memory is another.
#[cluster_kernel(block = 32)]
fn other_tile(input: &TensorMap<[Swizzled<bf16, 64>; 16]>) {
    let block = this_thread_block();
    let tiles = shared_array::<[[bf16; 64]; 16], 1>();
    let full = shared_barrier();
    full.init_collective(&block, 32);
    input.load_async([0, 0], &tiles[0], &full);
    full.arrive_and_wait();
}

/// There is one coordinate for each dimension.
#[cluster_kernel(block = 32)]
fn other_rank(input: &TensorMap<[[f32; 8]; 16]>) {
    input.prefetch([0, 0, 0]);
}

/// Doubles are not combined.
#[cluster_kernel(block = 1)]
fn doubles(out: &mut TensorMap<[f64; 16]>) {
    let tile = shared_array::<f64, 16>();
    tile.fill(1.0);
    out.reduce_add_async([0], &tile);
    bulk_wait_group_read::<0>();
}

fn launched(device: &Device) -> phalanx::Result<()> {
    let buffer = device.zeros::<f32>(1024)?;
    other_rank(&buffer.tensor([1024])?).grid(1).launch(device)
}

fn main() {}
