//! Copies of tiles: operands, and tiles that are used while a copy is in flight.

use phalanx::prelude::*;

type Part = [Swizzled<bf16, 64>; 16];

/// A read-only tensor is written.
#[cluster_kernel(block = 32)]
fn stored_to_an_input(input: &TensorMap<Part>) {
    let block = this_thread_block();
    let tiles = shared_array::<Part, 1>();
    tiles[0][0][block.thread_rank()] = bf16::ONE;
    block.sync();
    if block.thread_rank() == 0 {
        input.store_async([0, 0], &tiles[0]);
        input.reduce_add_async([0, 0], &tiles[0]);
        bulk_wait_group_read::<0>();
    }
}

/// The operands are not those of a copy.
#[cluster_kernel(block = 32)]
fn operands(input: &TensorMap<Part>, memory: &[bf16], out: &mut TensorMap<Part>) {
    let block = this_thread_block();
    let tiles = shared_array::<Part, 1>();
    let full = shared_barrier();
    full.init_collective(&block, 32);
    input.load_async([0, 0], &tiles[0]);
    input.load_async([0, 0], &memory, &full);
    input.load_async([0, 0], tiles, &full);
    input.load_async([0, 0], &tiles[0], full);
    input.load_async::<Part>([0, 0], &tiles[0], &full);
    input.prefetch([0, 0, 0, 0, 0, 0]);
    out.store_async(&tiles[0]);
    out.reduce_mul_async([0, 0], &tiles[0]);
    full.arrive_and_wait();
}

/// A map is no memory that is indexed, and no value.
#[cluster_kernel(block = 32)]
fn no_memory(input: &TensorMap<Part>, out: &mut [bf16]) {
    out[0] = input[0];
    out[1] = input.len();
    let copy = input;
    let mut again = out[0];
    again = input;
    let other = &input;
    println!("{}", input);
}

/// A map has a type of tiles, and is taken by reference.
#[cluster_kernel(block = 32)]
fn without_a_tile(input: &TensorMap) {}

#[cluster_kernel(block = 32)]
fn by_value(input: TensorMap<Part>) {}

/// The tile is read before the barrier shows that its bytes are there.
#[cluster_kernel(block = 32)]
fn read_early(input: &TensorMap<Part>, out: &mut [bf16]) {
    let block = this_thread_block();
    let tiles = shared_array::<Part, 2>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        input.load_async([0, 0], &tiles[1], &full);
        let _ = full.arrive();
    }
    out[block.thread_rank()] = tiles[1][0][block.thread_rank()];
    full.wait_parity(false);
}

/// The source is written before the copy has read it.
#[cluster_kernel(block = 1)]
fn written_early(out: &mut TensorMap<[[u32; 4]; 2]>, numbers: &[u32]) {
    let tiles = shared_array::<[[u32; 4]; 2], 1>();
    for i in 0..8 {
        tiles[0][i / 4][i % 4] = numbers[i];
    }
    out.store_async([0, 0], &tiles[0]);
    tiles[0][1][0] = 7;
    bulk_wait_group_read::<0>();
}

/// No thread waits until the copies have read their tiles.
#[cluster_kernel(block = 1)]
fn left_behind(out: &mut TensorMap<[[u32; 4]; 2]>, numbers: &[u32]) {
    let tiles = shared_array::<[[u32; 4]; 2], 1>();
    for i in 0..8 {
        tiles[0][i / 4][i % 4] = numbers[i];
    }
    out.reduce_max_async([2, 0], &tiles[0]);
}

/// Each fill has half of the phases that it needs: the second tile overwrites the first while it is read.
#[cluster_kernel(block = 64)]
fn refilled_early(input: &TensorMap<[[f32; 8]; 4]>, out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let tiles = shared_array::<[[f32; 8]; 4], 2>();
    let full = shared_barriers::<2>();
    full.init_collective(&block, 1);
    let i = block.thread_rank();
    if i == 32 {
        for step in 0..steps {
            input.load_async([step as i32 * 4, 0], &tiles[step % 2], &full[step % 2]);
            let _ = full[step % 2].arrive();
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            full[step % 2].wait_parity(step / 2 % 2 == 1);
            sum += tiles[step % 2][i / 8][i % 8];
        }
        out[i] = sum;
    }
}

fn main() {}
