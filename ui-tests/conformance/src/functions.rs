//! Device functions for kernels of other crates: `tests/crates.rs` calls them. They call each other across modules.

use phalanx::prelude::*;

/// Steps of a small generator.
pub mod steps {
    use phalanx::prelude::*;

    /// Takes one step of a linear congruential generator.
    #[device]
    pub fn advance(state: u32) -> u32 {
        state.wrapping_mul(1_664_525) + 1_013_904_223
    }
}

/// A value with its weight.
#[derive(Clone, Copy, PartialEq, Debug, Default, DeviceCopy)]
#[repr(C)]
pub struct Weighted<T> {
    /// The value.
    pub value: T,
    /// The weight of the value.
    pub weight: T,
}

#[device]
impl<T: Number> Weighted<T> {
    /// Returns its part of a sum.
    pub fn product(self) -> T {
        self.value * self.weight
    }
}

/// Adds `rounds` steps from `seed` to `total`.
#[device]
pub fn accumulate(seed: u32, rounds: u32, total: &mut u64) {
    let mut state = seed;
    for _ in 0..rounds {
        state = steps::advance(state);
        *total += state as u64;
    }
}

/// Returns the sum over a block, in every thread.
#[device]
pub fn block_sum(block: &ThreadBlock, scratch: &SharedArray<u64, 64>, value: u64) -> u64 {
    scratch[block.thread_rank()] = value;
    block.sync();
    let mut sum = 0;
    for i in 0..block.num_threads() {
        sum += scratch[i];
    }
    block.sync();
    sum
}
