//! Methods do not wait for bulk copies, so that a call of one hides no missing wait.

use phalanx::prelude::*;

type Part = [[Swizzled<bf16, 64>; 16]; 1];

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Scale {
    factor: f32,
}

#[device]
trait Scaled: Number {
    fn scaled(self) -> Self;
}

#[device]
impl Scaled for f32 {
    fn scaled(self) -> f32 {
        self * 2.0
    }
}

#[device]
impl Scale {
    fn of(&self, x: f32) -> f32 {
        self.factor * x
    }
    fn drain(&self) {
        bulk_wait_group_read::<0>();
    }
}

#[device]
fn drain() {
    bulk_wait_group::<0>();
}

struct Store;

#[device]
impl Store {
    fn finish() {
        drain();
    }
}

#[device]
fn twice<T: Scaled>(x: T) -> T {
    x.scaled().scaled()
}

#[device]
fn stored(warp: &Tile<32>, parts: &SharedArray<Part, 2>) {
    warp.store_matrix(&parts[0][0], 0, 0, Accumulator::<bf16, 16, 16>::splat(bf16::ZERO));
}

#[cluster_kernel(block = 32)]
fn behind_a_method(c: &mut TensorMap<Part>, scale: Scale, output: &mut [f32]) {
    let (block, parts) = (this_thread_block(), shared_array::<Part, 2>());
    let warp = tiled_partition::<32>(&block);
    stored(&warp, &parts);
    block.sync();
    if warp.thread_rank() == 0 {
        c.store_async([0, 0, 0], &parts[0]);
        output[0] = scale.of(3.0);
    }
}

#[cluster_kernel(block = 32)]
fn behind_a_function_with_a_method<T: Scaled>(c: &mut TensorMap<Part>, x: T, output: &mut [T]) {
    let (block, parts) = (this_thread_block(), shared_array::<Part, 2>());
    let warp = tiled_partition::<32>(&block);
    stored(&warp, &parts);
    block.sync();
    if warp.thread_rank() == 0 {
        c.store_async([0, 0, 0], &parts[0]);
        output[0] = twice(x);
    }
}

fn main() {}
