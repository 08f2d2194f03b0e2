//! The reference for the kernels of `shuffles`, `folds` and `tiles`: the collectives of a group's threads, in plain
//! Rust, by rank. It has no kernels.

use std::fmt::Debug;

use phalanx::DeviceCopy;
use phalanx::prelude::{bf16, f16};

use crate::Bits;

/// A stream of numbers (SplitMix64).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// Returns `count` values, each made from one draw.
    pub(super) fn list<T>(&mut self, count: usize, from: impl Fn(u64) -> T) -> Vec<T> {
        (0..count).map(|_| from(self.draw())).collect()
    }
}

/// A scalar of random bits.
pub(super) trait Random: DeviceCopy + Bits + Debug {
    fn random(numbers: &mut Numbers) -> Self;
}

macro_rules! random {
    ($($t:ident: |$n:ident| $value:expr;)*) => {$(
        impl Random for $t {
            fn random($n: &mut Numbers) -> $t {
                $value
            }
        }
    )*};
}

random! {
    bool: |n| n.draw() & 1 == 1;
    i8: |n| n.draw() as i8;
    i16: |n| n.draw() as i16;
    i32: |n| n.draw() as i32;
    i64: |n| n.draw() as i64;
    i128: |n| (u128::from(n.draw()) << 64 | u128::from(n.draw())) as i128;
    isize: |n| n.draw() as isize;
    u8: |n| n.draw() as u8;
    u16: |n| n.draw() as u16;
    u32: |n| n.draw() as u32;
    u64: |n| n.draw();
    u128: |n| u128::from(n.draw()) << 64 | u128::from(n.draw());
    usize: |n| n.draw() as usize;
    // Never NaN, and of many magnitudes.
    f32: |n| (n.draw() as i32 as f32) * 2.0_f32.powi(n.below(40) as i32 - 20);
    f16: |n| f16::from_f32(n.draw() as i16 as f32 / 64.0);
    bf16: |n| bf16::from_f32(n.draw() as i16 as f32 * 2.0_f32.powi(n.below(40) as i32 - 20));
    f64: |n| (n.draw() as i64 as f64) * 2.0_f64.powi(n.below(200) as i32 - 100);
}

pub(super) fn values<T: Random>(seed: u64, count: usize) -> Vec<T> {
    let mut numbers = Numbers(seed);
    (0..count).map(|_| T::random(&mut numbers)).collect()
}

/// Groups the threads `0..count`: those of one warp for which `key` is the same, in order.
pub(super) fn grouped<K: PartialEq>(count: usize, key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for thread in 0..count {
        let same = |group: &&mut Vec<usize>| group[0] / 32 == thread / 32 && key(group[0]) == key(thread);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(thread),
            None => groups.push(vec![thread]),
        }
    }
    groups
}

/// Returns the rank of a value in its group, or the thread's own, as in the shuffles.
pub(super) fn sources(rank: usize, count: usize, by: u32) -> [usize; 3] {
    let by = by as usize;
    [by % count, rank.checked_sub(by).unwrap_or(rank), if rank + by < count { rank + by } else { rank }]
}

/// Reduces with neighbours first.
pub(super) fn tree<T: Copy>(values: &[T], op: impl Fn(T, T) -> T + Copy) -> T {
    match values {
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len().next_power_of_two() / 2);
            op(tree(left, op), tree(right, op))
        }
    }
}

/// Scans in steps of 1, 2, 4, ... (Hillis and Steele).
pub(super) fn scan<T: Copy>(values: &[T], op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut values = values.to_vec();
    let mut step = 1;
    while step < values.len() {
        let below = values.clone();
        for at in step..values.len() {
            values[at] = op(below[at - step], below[at]);
        }
        step *= 2;
    }
    values
}
