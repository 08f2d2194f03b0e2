//! Loops over unsupported values, and jumps that lead nowhere.

use phalanx::prelude::*;

#[cluster_kernel]
fn loops(input: &[u32], output: &mut [u32], n: u32) {
    for i in ..n {}
    for i in (0..n).rev().rev() {}
    for i in (0..n).map(|x| x) {}
    for pair in (0..n).enumerate() {}
    for x in input.iter().cycle() {}
    for (x, i) in input.iter().zip(0..) {}
    for (a, b) in input.iter() {}
    for &x in [n, 2] {}
    for pair in input.iter().enumerate() {}
    for x in [n, 2].iter_mut() {}
    for x in [n, 2].split(|x| *x == 1) {}
    for x in input.iter().rev(1) {}
    for x in this_cluster() {}
    let tile = shared_array::<u32, 64>();
    for x in tile {}
    for x in tile.iter_mut() {}
    for (k, x) in output.iter_mut().enumerate() {
        let k = k + 1;
        *x = n;
    }
    for pair in input.iter().zip(input).chain(input.iter().zip(input)) {}
    for x in input.iter() {
        if x > n {}
    }
    let a = [1u32, 2, 3];
    let total = a.iter().fold(0, 3);
    let most = (a.iter().max(), n);
    let last = a.iter().nth(2);
    let kept = a.iter().filter(|x| **x > 1).max();
    let small = a.iter().copied().filter(|&mut x| x < 3).count();
    let even = Some(n).filter(|x, y| x % 2 == 0);
    let late = a.iter().map(|x| x + 1).max_by(|a| a.cmp(b));
    let any = a.iter().any(|x| {
        return true;
    });
    let first = (input.get(0), n);
    let folded = a.iter().fold(0, |x| x);
    break;
    continue;
    loop {
        break 'nowhere;
    }
    'block: {
        break;
    }
    for i in (0..n).take(2) {}
    for i in (0..n).skip(2) {}
    for (i, j) in (0..n).zip(2..n) {}
}

#[cluster_kernel]
fn closures_in_another_form(input: &[u32], keys: &[u32], output: &mut [u32], n: u32) {
    for x in input.iter().filter(large) {
        output[0] += x;
    }
    for (x, y) in input.iter().zip(keys).filter(|pair| pair.0 < pair.1) {
        output[1] += x * y;
    }
    let least = (0..n).min_by_key(|x| {
        return x % 3;
    });
}

#[cluster_kernel]
fn compared(input: &[u32], keys: &[u32], output: &mut [bool]) {
    output[0] = input.iter().map(|x| x + 1).eq(keys.iter().copied());
    output[1] = input.iter().lt(keys.iter());
    output[2] = input.iter().is_sorted();
}

#[cluster_kernel]
fn in_parts(output: &mut [u32]) {
    for part in output.chunks_mut(4) {
        part[0] = 1;
    }
}

fn main() {}
