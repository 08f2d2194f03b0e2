//! Options of references, parts of local arrays, functions by their paths, defaults and comparisons, each with a value that all threads of
//! the block have.

use std::cmp::{max, min};
use std::mem;

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, Default, DeviceCopy)]
#[repr(C)]
struct Best {
    cost: f32,
    at: u32,
}

#[device]
impl Best {
    fn or(self, other: Best) -> Best {
        if other.cost < self.cost { other } else { self }
    }
}

#[cluster_kernel(block = 64)]
fn options_of_references(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let v = [n, 2, 3];
    if let Some(&x) = v.get(n as usize)
        && x > 2
    {
        block.sync();
    }
    let Some(first) = input.get(n) else { return };
    let last = v.last().unwrap();
    let most = v.iter().max_by(|a, b| a.cmp(b)).unwrap();
    match v.get(n as usize) {
        Some(x) => out[0] = *x + first,
        None => block.sync(),
    }
    out[1] = *last + *most + *v.get(7).unwrap_or(&n) + v.iter().nth(1).map_or(0, |x| *x);
}

#[cluster_kernel(block = 64)]
fn parts_of_arrays(input: &[f32], out: &mut [f32], n: u32) {
    let block = this_thread_block();
    let mut v = [0.0; 8];
    v[..4].copy_from_slice(&[n as f32; 4]);
    for pair in v.chunks_exact_mut(2) {
        pair[1] += input[0];
    }
    let part = &v[n as usize % 4..];
    if part[0] > 1.0 && part.len() > 3 {
        block.sync();
    }
    let (left, right) = v.split_at(3);
    out[0] = left.iter().sum::<f32>() + right[2] + v.windows(2).map(|w| w[0] * w[1]).sum::<f32>();
    v.rotate_left(1);
    out[1] = v[2..6].iter().copied().fold(0.0, f32::max) + v.is_sorted() as u32 as f32;
}

#[cluster_kernel(block = 64)]
fn after_the_copy(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
    block.wait_async();
    block.sync();
    if let Some(&x) = tile.get(3) {
        out[0] = x;
    }
}

#[cluster_kernel(block = 64)]
fn values(out: &mut [f32], costs: &[f32], n: u32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    let best = warp.reduce(Best { cost: costs[rank], at: rank }, Best::or);
    if std::cmp::max(n, 3) > 4 || Best::default() == (Best { cost: n as f32, ..Default::default() }) {
        block.sync();
    }
    let [first, rest @ ..] = [n, 2, 3];
    if [first, rest[1]] == [4, 3] {
        block.sync();
    }
    out[rank] = best.cost;
}

#[cluster_kernel(block = 64)]
fn conversions_and_ranges(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let mut v = [n, 2, 3, 4];
    if let Some(x) = v.get(n as usize)
        && *x > 2
        && let Ok(small) = u8::try_from(*x)
    {
        out[0] = small.into();
        block.sync();
    }
    let rows = 1..min(n, 8);
    for row in rows.clone() {
        v[0] += row;
        block.sync();
    }
    if rows.contains(&3) || rows.len() > 4 {
        block.sync();
    }
    if let Some(x) = v.get_mut(1) {
        *x = n;
    }
    let (left, right) = v.split_at_mut(2);
    mem::swap(&mut left[0], &mut right[1]);
    match n as f32 {
        0.0..=3.0 => block.sync(),
        _ => {}
    }
    let pair = (v[3], n);
    let (a, b) = &pair;
    out[1] = max(*a, *b) + input[0] + (n as i32).try_into().unwrap_or(7u32);
}

#[device]
fn total(values: &[u32]) -> u32 {
    values.iter().sum()
}

#[device]
fn each(values: &[u32], mut f: impl FnMut(u32)) {
    for &value in values {
        f(value);
    }
}

#[device]
fn twice(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(f(x))
}

#[device]
fn next(x: u32) -> u32 {
    x + 1
}

/// What threads pass to a function decides a barrier, and is the same in all of them.
#[cluster_kernel(block = 64)]
fn passed_on(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let v = [[n, 2], [3, 4]];
    let mut count = 0;
    for row in &v {
        each(row, |x| count += x);
    }
    each(&v[1][..1], |x| count ^= x);
    if v.iter().flatten().any(|x| *x == 7) {
        block.sync();
    }
    if let (Some(&a), Some(b)) = (v[0].get(0), v[1].get(n as usize))
        && a > *b
    {
        block.sync();
    }
    let (left, right) = v[1].split_at(n as usize % 2);
    if total(left) > 3 && total(&v[0]) > 3 && total(&right[..1]) > 1 {
        block.sync();
    }
    out[block.thread_rank()] = count + twice(next, n) + total(&v[0]) + twice(u32::count_ones, n);
}

/// The closure that fills an array is a loop's body, in which the threads of a warp meet.
#[cluster_kernel(block = 64)]
fn filled_by_a_warp(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let rank = block.thread_rank();
    let own = input[rank];
    let others: [u32; 5] = std::array::from_fn(|k| warp.shfl_xor(own, 1 << k));
    out[rank] = others.iter().sum();
}

/// Two mutable parts beside each other.
#[cluster_kernel(block = 64)]
fn mutable_parts(input: &[u32], out: &mut [u32]) {
    let rank = this_thread_block().thread_rank();
    let mut rows = [[input[rank]; 4]; 2];
    let [first, second] = &mut rows;
    first[0] += second[3];
    second.swap(0, 1);
    let mut own = rows[1];
    let (low, high) = own.split_at_mut(2);
    for (a, b) in low.iter_mut().zip(high.iter_mut()) {
        mem::swap(a, b);
    }
    out[rank] = rows[0][2] + own[1];
}

/// Arrays that take turns, by their names in a tuple.
#[cluster_kernel(block = 64)]
fn in_turns(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let (first, second) = (shared_array::<u32, 64>(), shared_array::<u32, 64>());
    let i = block.thread_rank() as usize;
    let (mut from, mut to) = (first, second);
    from[i] = input[i];
    block.sync();
    for step in 0..6 {
        let distance = 1 << step;
        to[i] = if i >= distance { from[i] + from[i - distance] } else { from[i] };
        block.sync();
        mem::swap(&mut from, &mut to);
    }
    out[i] = from[i];
}

/// A cost, of which the least is the greatest.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Cost {
    value: u32,
}

#[device]
impl PartialEq for Cost {
    fn eq(&self, other: &Cost) -> bool {
        self.value == other.value
    }
}

#[device]
impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        other.value.partial_cmp(&self.value)
    }
}

#[device]
fn checked(x: u32) -> Result<u32, u32> {
    if x > 3 { Ok(x) } else { Err(x) }
}

#[device]
fn doubled(x: u32) -> Result<u32, u32> {
    let x = checked(x).map_err(|x| x + 1)?;
    Ok(x * 2)
}

#[device]
fn second(values: &[u32]) -> Option<u32> {
    let &first = values.first()?;
    values.get(first as usize).copied()
}

#[device]
fn set(values: &mut [u32], x: u32) {
    for (k, value) in values.iter_mut().enumerate() {
        *value = x + k as u32;
    }
}

#[cluster_kernel(block = 64)]
fn results_and_slices(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let v = [n, 2, 3, 4];
    if doubled(n).is_ok_and(|x| x > 3) {
        block.sync();
    }
    match doubled(n) {
        Ok(x) if x > 3 => block.sync(),
        Err(0) => block.sync(),
        _ => {}
    }
    let chosen = v.get(n as usize);
    if let Some(x) = chosen {
        block.sync();
    }
    match input {
        [] => block.sync(),
        [first, rest @ ..] if *first > 3 => out[0] = *first,
        _ => {}
    }
    if v[1..] == [2, 3, 4] || (Cost { value: n }) < (Cost { value: 3 }) {
        block.sync();
    }
    let odd = v.iter().filter(|x| **x % 2 == 1);
    if odd.count() > 2 || v.iter().chain(&[n]).any(|x| *x == 7) {
        block.sync();
    }
    out[1] = second(&[n, 3]).unwrap_or(4) + v.iter().filter_map(|x| x.checked_sub(2)).take(2).sum::<u32>();
    let mut own = [n; 4];
    set(&mut own[1..], block.thread_rank());
    out[2 + block.thread_rank()] = own[2];
}

const LIMITS: &[u32] = &[3, 5];

/// A grid that is found by two numbers.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Square {
    cells: [u32; 16],
}

#[device]
impl std::ops::Index<(usize, usize)> for Square {
    type Output = u32;
    fn index(&self, (x, y): (usize, usize)) -> &u32 {
        &self.cells[y * 4 + x]
    }
}

#[device]
impl std::ops::IndexMut<(usize, usize)> for Square {
    fn index_mut(&mut self, (x, y): (usize, usize)) -> &mut u32 {
        &mut self.cells[y * 4 + x]
    }
}

#[cluster_kernel(block = 64)]
fn sequences(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    for (x, k) in [n, 2].iter().zip(n..) {
        if x + k > 3 {
            block.sync();
        }
    }
    let highest = [n, 2]
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .max()
        .unwrap_or(0);
    if highest > LIMITS[n as usize % 2] {
        block.sync();
    }
    let mut own = [n, 2];
    own.sort_by_key(|x| *x % 3);
    if own[0] > 3 {
        block.sync();
    }
    if let Some(part) = input.get(n as usize..n as usize + 2) {
        block.sync();
    }
    let part = if n > 3 { &input[1..] } else { input };
    if part.len() > 3 {
        block.sync();
    }
    let small: Result<u8, _> = n.try_into();
    let mut square = Square { cells: [n; 16] };
    square[(1, 2)] += 4;
    if small.is_ok() && square[(1, 2)] > 3 && b"GATC"[n as usize % 4] == b'A' {
        block.sync();
    }
    out[block.thread_rank()] = own[1] + square[(0, 0)];
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(transparent)]
struct Packed(u32);

#[device]
impl From<(u32, u32)> for Packed {
    fn from((high, low): (u32, u32)) -> Self {
        Packed(high << 16 | low)
    }
}

#[device]
trait Halves {
    fn whole(&self) -> u32;
    fn low(&self) -> u32 {
        self.whole() & 0xffff
    }
}

#[device]
impl Halves for Packed {
    fn whole(&self) -> u32 {
        self.0
    }
}

#[device]
fn limited(x: u32) -> Result<(), u32> {
    if x > 100 { Err(x) } else { Ok(()) }
}

#[device]
fn sum_of_limited(x: u32, y: u32) -> Result<u32, u32> {
    limited(x)?;
    limited(y)?;
    Ok(x + y)
}

/// Iterators that are advanced by all threads alike, functions in a kernel, conversions, provided methods, results without a value.
#[cluster_kernel(block = 64)]
fn advanced_iterators(input: &[u32], out: &mut [u32], n: u32) {
    const STEP: u32 = 3;
    fn stepped(x: u32) -> u32 {
        x * STEP
    }
    const { assert!(STEP > 2) };
    let block = this_thread_block();
    let v = [n, 2, 3, 4];
    let mut it = v.iter();
    if n > 3 {
        it.next();
    }
    while let Some(&x) = it.next() {
        if x > 3 {
            block.sync();
        }
    }
    let mut rest = v.iter().copied().peekable();
    if rest.next() == Some(7) && rest.peek().is_some_and(|&x| x > 1) {
        block.sync();
    }
    for x in rest {
        out[0] += stepped(x);
    }
    for k in 0.. {
        if k > n {
            break;
        }
        block.sync();
    }
    let packed: Packed = (n, 5).into();
    let part = &input[n..];
    if let Some((&first, tail)) = part.split_first() {
        out[1] = packed.low() + Packed::from((first, 1)).whole() + tail.len() as u32;
        block.sync();
    }
    out[2] = sum_of_limited(n, out[1]).unwrap_or(1);
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<options_of_references>,
    phalanx::Program::of::<parts_of_arrays>,
    phalanx::Program::of::<after_the_copy>,
    phalanx::Program::of::<values>,
    phalanx::Program::of::<conversions_and_ranges>,
    phalanx::Program::of::<passed_on>,
    phalanx::Program::of::<filled_by_a_warp>,
    phalanx::Program::of::<mutable_parts>,
    phalanx::Program::of::<in_turns>,
    phalanx::Program::of::<results_and_slices>,
    phalanx::Program::of::<sequences>,
    phalanx::Program::of::<advanced_iterators>,
];
