//! Iterators that are consumed to one item, or to its position.

use phalanx::prelude::*;

const WEIGHTS: [i32; 4] = [3, -1, 4, 1];

#[device]
fn larger(a: i32, b: i32) -> i32 {
    if a > b { a } else { b }
}

#[cluster_kernel]
fn found(input: &[i32], out: &mut [i32], n: usize) {
    let t = this_grid().thread_rank();
    let x = input[t as usize];
    let of_range = (1..8).position(|k| k * k > x).unwrap_or(0) as i32;
    let of_stated = (1..n).position(|k: usize| input[k] == x).unwrap_or(n);
    let kept = (0..n).filter(|&k| k % 3 == 1).map(|k| k * 2).position(|k| k > 9);
    let first = WEIGHTS.iter().copied().find(|w| *w > x);
    let by_pattern = (0..n).find(|&k| input[k] > 2);
    let mapped = WEIGHTS.iter().map(|w| w * x).find(|&w| w > 7).unwrap_or(-1);
    let halved = WEIGHTS.iter().find_map(|w| if w % 2 == 0 { Some(w / 2) } else { None });
    let last = input.iter().copied().take_while(|v| *v != 0).last();
    let reduced = WEIGHTS.iter().copied().filter(|w| *w > x).reduce(|so_far, w| so_far * 3 + w);
    let by_name = WEIGHTS.iter().map(|w| w - x).reduce(larger);
    out[t as usize] = of_range
        + of_stated as i32
        + kept.unwrap_or(5) as i32
        + first.unwrap_or(9)
        + by_pattern.unwrap_or(n) as i32
        + mapped
        + halved.unwrap_or(4)
        + last.unwrap_or(-3)
        + reduced.unwrap_or(6)
        + by_name.unwrap_or(7);
}

/// The text shows that what is behind the pattern is an array, whose `map` is not that of an option.
#[cluster_kernel]
fn arrays_in_options(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let Some(words) = Some([i, 2]) else { return };
    let next = words.map(|w| w + 1);
    let held: Option<([u32; 2], u32)> = if i > 3 { Some((next, i)) } else { None };
    if let Some((pair, k)) = held {
        let more = pair.map(|w| w * k);
        out[i] = more[0] + more[1];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] =
    &[phalanx::Program::of::<found>, phalanx::Program::of::<arrays_in_options>];
