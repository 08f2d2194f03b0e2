//! Device functions that the kernels share: collectives of a block in a fixed order, so that floats come out as on the
//! host.

use phalanx::prelude::*;

/// Combines a value of each thread by halves; `N` is the block's size, a power of two. All threads get the result.
#[device]
pub(super) fn block_reduce<T: Number, const N: usize>(
    block: &ThreadBlock,
    scratch: &SharedArray<T, N>,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    let i = block.thread_rank();
    scratch[i] = value;
    block.sync();
    let mut half = N as u32 / 2;
    while half > 0 {
        if i < half {
            scratch[i] = combine(scratch[i], scratch[i + half]);
        }
        block.sync();
        half /= 2;
    }
    let result = scratch[0];
    block.sync(); // the scratch is free again
    result
}

/// Combines values in the same order on the host.
pub(super) fn halves<T: Copy>(values: &[T], combine: impl Fn(T, T) -> T) -> T {
    let mut values = values.to_vec();
    let mut half = values.len() / 2;
    while half > 0 {
        for i in 0..half {
            values[i] = combine(values[i], values[i + half]);
        }
        half /= 2;
    }
    values[0]
}

/// Combines the values of the threads before with the thread's own (Hillis and Steele); `N` is the block's size.
#[device]
pub(super) fn block_scan<T: Number, const N: usize>(
    block: &ThreadBlock,
    scratch: &SharedArray<T, N>,
    value: T,
    combine: impl Fn(T, T) -> T,
) -> T {
    let i = block.thread_rank();
    let mut sum = value;
    scratch[i] = sum;
    block.sync();
    let mut distance = 1;
    while distance < N as u32 {
        if i >= distance {
            sum = combine(scratch[i - distance], sum);
        }
        block.sync();
        scratch[i] = sum;
        block.sync();
        distance *= 2;
    }
    sum
}
