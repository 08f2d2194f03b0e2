//! Code with kernels under lints that are off by default: they see what the user wrote, and nothing that is generated.

#![deny(warnings, unused, missing_docs, missing_debug_implementations, missing_copy_implementations, trivial_casts)]
#![deny(unused_qualifications, unused_lifetimes, single_use_lifetimes, elided_lifetimes_in_paths)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery)]
#![allow(dead_code, unreachable_pub, clippy::redundant_pub_crate, reason = "nobody else uses them")]

use phalanx::prelude::*;

/// A point.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Point {
    /// X.
    pub x: f32,
    /// Y.
    pub y: f32,
}

/// Light.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(u8)]
pub enum Light {
    /// Red.
    Red,
    /// Green.
    Green = 4,
}

/// Pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Pair<T> {
    /// Key.
    pub key: T,
    /// Value.
    pub value: T,
}

#[device]
impl Point {
    /// Length.
    #[must_use]
    pub fn length(self) -> f32 {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    /// Grows.
    pub fn grow(&mut self, by: f32) {
        self.x *= by;
        self.y *= by;
    }
}

/// Decay.
#[device]
pub trait Decay: Number {
    /// Rate.
    const RATE: Self;
    /// Decays.
    fn decay(&mut self);
}

#[device]
impl Decay for f32 {
    const RATE: Self = 0.5;
    fn decay(&mut self) {
        *self *= Self::RATE;
    }
}

#[device]
fn larger<T: Number>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

/// Sums.
#[device]
pub fn sum_of(count: u32, term: impl Fn(u32) -> f32) -> f32 {
    let mut sum = 0.0;
    for i in 0..count {
        sum += term(i);
    }
    sum
}

#[device]
fn publish(cluster: &Cluster, array: &SharedArray<u32, 32>, value: u32) {
    array[0] = value;
    cluster.sync();
}

const SIZE: usize = 32;

/// A kernel.
#[cluster_kernel(cluster = 2, block = 32)]
pub fn kernel(input: &[f32], bias: Option<&[f32]>, points: &mut [Point], output: &mut [f32], n: u32, p: Point) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, SIZE>();
    let rank = block.thread_rank();
    publish(&cluster, &array, n);
    let token = cluster.barrier_arrive();
    let i = this_grid().thread_rank();
    let mut x = input[i];
    if let Some(bias) = bias {
        x += bias[0];
    }
    cluster.barrier_wait(token);
    let mut point = p;
    point.grow(2.0);
    points[i] = Point { x, ..point };
    output[i] = larger(point.length(), sum_of(3, |k| x * input[k]));
    let (low, high) = if rank > 4 { (1, 2) } else { (2, 1) };
    output[i] += match (low, high) {
        (1, _) => 3.0,
        (2, y) if y > 0 => 4.0,
        _ => 5.0,
    };
    let mut decaying = x;
    decaying.decay();
    let Some(last) = (if n > 3 { Some(n) } else { None }) else {
        return;
    };
    println!("{last} {decaying:?} {x}");
    assert!(n > 1, "n is {n}");
    let mut k = 0;
    while k < 4 {
        k += 1;
        if k == 2 {
            continue;
        }
    }
    let tile = tiled_partition::<16>(&block);
    let sum = tile.reduce(x, op::Plus);
    output[i] = sum + array[rank] as f32;
    block.sync();
}

/// Generic.
#[cluster_kernel(block = 32)]
pub fn swap<T: Number>(pairs: &mut [Pair<T>]) {
    let i = this_grid().thread_rank();
    pairs[i] = Pair { key: pairs[i].value, value: pairs[i].key };
}

/// Launches a kernel.
///
/// # Errors
/// If the launch fails.
pub fn run(
    device: &Device,
    input: &Buffer<f32>,
    points: &mut Buffer<Point>,
    output: &mut Buffer<f32>,
) -> phalanx::Result<()> {
    let p = Point { x: 1.0, y: 2.0 };
    kernel(input, None, points, output, 3, p).grid(2).launch(device)
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<kernel>, phalanx::Program::of::<swap<f32>>];
