//! Options of references, parts of local arrays and iterators: a value of one thread decides a barrier, memory is read too early, or they are
//! used in a way that the language does not have.

use std::cmp::{max, min};
use std::mem;

use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn options_of_references(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let v = [n, 2, rank];
    if let Some(&x) = v.get(n as usize)
        && x > 2
    {
        block.sync();
    }
    match v.get(rank as usize) {
        Some(x) => out[0] = *x,
        None => block.sync(),
    }
    let Some(first) = input.get(rank) else { return };
    out[1] = *first;
    block.sync();
}

#[cluster_kernel(block = 64)]
fn parts_of_arrays(input: &[f32], n: u32) {
    let block = this_thread_block();
    let mut v = [0.0; 8];
    for pair in v.chunks_exact_mut(2) {
        pair[1] += input[block.thread_rank()];
    }
    let part = &v[n as usize % 4..];
    if part[0] > 1.0 && part.len() > 3 {
        block.sync();
    }
    let [_, rest @ ..] = v;
    if rest[1] > 1.0 {
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn before_the_wait(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    memcpy_async(&block, &tile, &input[..64]);
    if let Some(&x) = tile.get(3) {
        out[0] = x;
    }
    block.wait_async();
}

#[device]
fn total(values: &[u32]) -> u32 {
    values.iter().sum::<u32>()
}

#[device]
fn each(values: &[u32], mut f: impl FnMut(u32)) {
    for &value in values {
        f(value);
    }
}

#[cluster_kernel]
fn parts_as_values(out: &mut [u32], n: u32) {
    let mut v = [n, 2, 3, 4];
    let part = &v[1..];
    out[0] = *part;
    let [first, second, ..] = &mut v;
    if let Some(x) = &mut Some(n) {}
    let mut pair = ([n; 4], n);
    let (left, right) = pair.0.split_at_mut(2);
    let (left, right) = v.split_at_mut(2);
    for (a, b) in left.iter_mut().zip(right.iter_mut()) {
        let first = a;
    }
    let closest = (n, v.iter());
}

#[device]
fn counts(values: &mut [u32]) {
    values.atomic(0).fetch_add(1, Relaxed);
}

/// What a function writes to a part of an array decides a barrier; a thread's own array has no atomics.
#[cluster_kernel(block = 64)]
fn changed_by_functions(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let mut v = [n, 2, 3, 4];
    set(&mut v[1..], block.thread_rank());
    if v[1] > 3 {
        block.sync();
    }
}

#[cluster_kernel(block = 64)]
fn atomics_of_a_thread(out: &mut [u32], n: u32) {
    let mut v = [n, 2, 3, 4];
    counts(&mut v);
    out[0] = v[0];
}

#[device]
fn set(values: &mut [u32], x: u32) {
    for value in values.iter_mut() {
        *value = x;
    }
}

#[device]
fn checked(x: u32) -> Result<u32, u32> {
    if x > 3 { Ok(x) } else { Err(x) }
}

/// Neither the variant nor what it holds is the same in all threads.
#[cluster_kernel(block = 64)]
fn results(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    if checked(rank).is_ok() {
        block.sync();
    }
    if let Err(x) = checked(n).map(|x| x + 1).map_err(|x| x + rank)
        && x > 3
    {
        block.sync();
    }
}

/// Lengths of slices that no arm takes, and a guard that names a part.
#[cluster_kernel]
fn patterns_of_slices(input: &[u32], out: &mut [u32]) {
    match input {
        [] => {}
        [x] => out[0] = *x,
    }
    match input {
        [x, rest @ ..] if rest.len() > 3 => out[0] = *x,
        _ => {}
    }
}

/// What threads pass to a function decides a barrier, and so does what a closure counts.
#[cluster_kernel(block = 64)]
fn passed_on(out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let v = [[n, rank], [3, 4]];
    let mut count = 0;
    each(&v[0], |x| count += x);
    if count > 3 {
        block.sync();
    }
    if v.iter().flatten().any(|x| *x == 7) {
        block.sync();
    }
    if let (Some(&a), Some(b)) = (v[0].get(0), v[1].get(rank as usize))
        && a > *b
    {
        block.sync();
    }
}

#[cluster_kernel]
fn closures_that_change(out: &mut [u32], n: u32) {
    let mut count = 0;
    let values = [n, 2];
    let named = move |x: u32| count += x;
    each(&values, named);
    each(&values, move |x| count += x);
    each(&[n, 2], |x| count += x);
}

#[cluster_kernel]
fn iterators_of_iterators(rows: &[[u32; 2]], out: &mut [u32]) {
    for (k, x) in rows.iter().flatten().enumerate() {}
    for x in rows.iter().flatten().rev() {}
    let named = rows[1..].iter();
}

#[cluster_kernel(block = 64)]
fn conversions_and_ranges(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    let mut v = [n, 2, 3, rank];
    if let Some(x) = v.get(3)
        && *x > 2
        && let Ok(small) = u8::try_from(*x)
    {
        out[0] = small.into();
        block.sync();
    }
    let rows = 1..min(rank, 8);
    for row in rows.clone() {
        block.sync();
    }
    if rows.contains(&3) || rows.len() > 4 {
        block.sync();
    }
    if let Some(x) = v.get_mut(1) {
        *x = rank;
    }
    let (left, right) = v.split_at_mut(2);
    mem::swap(&mut left[0], &mut left[1]);
    match v[0] as f32 {
        0.0..=3.0 => block.sync(),
        _ => {}
    }
    let small: u8 = rank.try_into().unwrap_or(3);
    if small > 3 {
        block.sync();
    }
    let pair = (n, rank);
    let (a, b) = &pair;
    if max(*a, *b) > 3 {
        block.sync();
    }
}

#[cluster_kernel]
fn conversions_and_ranges_as_values(out: &mut [u32], n: u32) {
    let small = u8::try_from(n);
    if small == Ok(3) {
        out[0] = 4;
    }
    match u8::try_from(n) {
        Ok(x) => out[0] = x.into(),
        Err(error) => {}
    }
    let mut range = 0..n;
    out[1] = range.next().unwrap();
    let range = 0..n;
    out[2] = total_of(range);
}

#[cluster_kernel]
fn iterators_as_values(input: &[u32], out: &mut [u32], n: u32) {
    let v = [n, 2, 3, 4];
    let items = v.iter();
    let doubled = input.iter().map(|x| x * 2);
    for x in doubled {
        out[0] += x;
    }
    for x in doubled {
        out[0] += x;
    }
    let mut cursor = v.iter();
    out[2] = *cursor.next().unwrap();
    out[1] = total(v.iter().rev());
    let flat = input.iter().flat_map(|x| [*x, 1]).rev().sum::<u32>();
    let sums = v.iter().scan(0, |total, x| { if *x > 3 { return None; } Some(*total) }).last();
    for pair in v.iter().zip(1..) {}
    out[3] = input.get(1..).map_or(0, |part| part[0]);
    let all = v.iter().chain(std::iter::once(&n)).count();
    for x in v.iter().peekable() {}
    let seen = v.iter().inspect(|x| {}).count();
    let all: [u32; 4] = v.iter().map(|x| x + 1).collect();
    let (even, odd) = v.iter().partition(|x| **x % 2 == 0);
    let kept = Some(n).filter(|&mut x| x > 2);
    if let 1.5 = n as f32 {}
}

#[device]
fn without_value(x: u32) -> Option<()> {
    if x > 3 { None } else { None }
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Table {
    cells: [u32; 4],
}

#[device]
impl std::ops::Index<u32> for Table {
    type Output = u32;
    fn index(&self, i: u32) -> &u32 {
        if i > 3 { &self.cells[0] } else { &self.cells[i as usize] }
    }
}

#[cluster_kernel(block = 64)]
fn hidden_in_sequences(input: &[u32], out: &mut [u32], n: u32) {
    let block = this_thread_block();
    let rank = block.thread_rank();
    struct Inner {
        x: u32,
    }
    for (x, k) in [n, 2].iter().zip(rank..) {
        if x + k > 3 {
            block.sync();
        }
    }
    let highest = [n, rank].iter().scan(0, |sum, x| { *sum += x; Some(*sum) }).max().unwrap_or(0);
    if highest > 3 {
        block.sync();
    }
    let mut own = [n, rank];
    own.sort_by_key(|x| *x % 3);
    if own[0] > 3 {
        block.sync();
    }
    if let Some(part) = input.get(rank as usize..rank as usize + 2) {
        block.sync();
    }
    let part = if rank > 3 { &input[1..] } else { input };
    if part.len() > 3 {
        block.sync();
    }
}

#[cluster_kernel(cluster = 2, block = 64)]
fn tokens_in_closures_of_iterators(out: &mut [u32], n: u32) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    let sums = [n, 2].iter().scan(0, |sum, x| { cluster.barrier_wait(token); *sum += x; Some(*sum) }).count();
    let mut own = [n, 2];
    own.sort_by(|a, b| { cluster.sync(); a.cmp(b) });
}

fn main() {}
