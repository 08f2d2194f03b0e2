//! Tuples, options and patterns: `match`, `if let`, `let else`, `while let`, and values that come out of them.

use phalanx::prelude::*;

use crate::{Kernel, Module, Outcome, check_list, kernel_list, read, same};

pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "patterns", checks: checks(), kernels: kernels() }]
}

fn checks() -> Vec<crate::Check> {
    check_list![integers, guards, tuples, options, loops_with_options, let_else, tokens, swaps, unwraps, evaluation]
}

fn kernels() -> Vec<Kernel> {
    kernel_list![
        classify,
        guarded,
        tuple_values,
        option_values,
        first_fits,
        checked_ratio,
        token_match,
        swap_pairs,
        unwrapped,
        counted
    ]
}

const SPECIAL: i32 = 77;

fn class(x: i32) -> u32 {
    match x {
        0 => 1,
        1 | 2 => 2,
        3..=9 => 3,
        10..20 => 4,
        SPECIAL => 5,
        i32::MIN..=-1000 => 6,
        -999..0 => 7,
        n if n % 2 == 0 => 8,
        _ => 9,
    }
}

#[cluster_kernel]
fn classify(input: &[i32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i < input.len() {
        out[i] = match input[i] {
            0 => 1,
            1 | 2 => 2,
            3..=9 => 3,
            10..20 => 4,
            SPECIAL => 5,
            i32::MIN..=-1000 => 6,
            -999..0 => 7,
            n if n % 2 == 0 => 8,
            _ => 9,
        };
    }
}

fn integers(device: &phalanx::Device) -> Outcome {
    let values = [0, 1, 2, 3, 9, 10, 19, 20, 21, 77, i32::MIN, -1000, -999, -1, i32::MAX, 1 << 30];
    let input = device.upload(&values)?;
    let got = read!(device, values.len(), |out| classify(&input, out).grid(1).block(32));
    same(&got, &values.map(class), |i| format!("{}", values[i]))
}

#[cluster_kernel]
fn guarded(input: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let x = input[i];
    let limit = input[0];
    // The guard reads memory only where the pattern matches: `input[x]` would be out of bounds elsewhere.
    let y = match (x, i % 2 == 0) {
        (n @ 0..8, _) if input[n] > limit => n + 100,
        (n, true) if n > 20 && matches!(n, 21 | 22) => 200,
        (n, even) => n + if even { 300 } else { 400 },
    };
    out[i] = y;
}

fn guards(device: &phalanx::Device) -> Outcome {
    let values: [u32; 8] = [3, 5, 2, 7, 22, 21, 90, 1];
    let input = device.upload(&values)?;
    let want: Vec<u32> = (0..8)
        .map(|i| match (values[i], i % 2 == 0) {
            (n @ 0..8, _) if values[n as usize] > values[0] => n + 100,
            (n, true) if n > 20 && matches!(n, 21 | 22) => 200,
            (n, even) => n + if even { 300 } else { 400 },
        })
        .collect();
    let got = read!(device, 8, |out| guarded(&input, out).grid(1).block(8));
    same(&got, &want, |i| format!("{i}"))
}

#[device]
fn min_max(a: u32, b: u32) -> (u32, u32) {
    if a < b { (a, b) } else { (b, a) }
}

#[device]
fn nested(pair: (u32, f32), flag: bool) -> ((u32, bool), f32) {
    let (n, x) = pair;
    ((n + 1, !flag), x * 2.0)
}

#[cluster_kernel]
fn tuple_values(input: &[u32], out: &mut [u32], floats: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    let (low, high) = min_max(input[i], 10);
    let pair = (low, 0.5);
    let ((n, flag), x) = nested(pair, high > 10);
    let both: (u32, u8) = (1, 2);
    let (first, ..) = both;
    let (less, (equal, mut sum)): (bool, (bool, u32));
    (less, equal) = ((low, high) < (5, 11), (n, flag) == (6, true));
    sum = n * 1000 + high * 10 + first;
    let (of_less, of_equal);
    if less {
        (of_less, of_equal) = (5, 0);
    } else {
        of_less = 0;
        of_equal = if equal { 3 } else { 0 };
    }
    sum += of_less + of_equal;
    out[i] = sum + if less && equal { 3 } else { 0 };
    floats[i] = x;
}

fn tuples(device: &phalanx::Device) -> Outcome {
    let values: [u32; 4] = [3, 10, 11, 5];
    let input = device.upload(&values)?;
    let mut floats = device.zeros(4)?;
    let want = values.map(|v| {
        let (low, high) = (v.min(10), v.max(10));
        let (n, flag) = (low + 1, high <= 10);
        n * 1000
            + high * 10
            + 1
            + if (low, high) < (5, 11) { 5 } else { 0 }
            + if (n, flag) == (6, true) { 3 } else { 0 }
    });
    let got = read!(device, 4, |out| tuple_values(&input, out, &mut floats).grid(1).block(4));
    same(&got, &want, |i| format!("{}", values[i]))?;
    same(&floats.read()?, &[1.0f32; 4], |i| format!("float {i}"))
}

#[device]
fn half(x: u32) -> Option<u32> {
    if x % 2 == 0 { Some(x / 2) } else { None }
}

#[cluster_kernel]
fn option_values(input: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let x = input[i];
    let a = match half(x) {
        Some(0) => 1000,
        Some(n @ 1..=4) => n,
        Some(n) => n + 50,
        None => 7,
    };
    let b = if let Some(n) = half(x / 2) { n } else { 9 };
    let c = half(x).unwrap_or(11);
    let d: Option<(u32, bool)> = if x > 4 { Some((x, true)) } else { None };
    let e = match d {
        Some((n, true)) => n,
        Some((_, false)) | None => 13,
    };
    let f = if half(x).is_some() && d.is_none() { 1 } else { 0 };
    let g = if half(x) == Some(3) { 1 } else { 0 };
    out[i] = a + b * 100 + c * 10_000 + e * 1_000_000 + f * 100_000_000 + g * 200_000_000;
}

fn options(device: &phalanx::Device) -> Outcome {
    let half = |x: u32| x.is_multiple_of(2).then_some(x / 2);
    let values: [u32; 6] = [0, 1, 2, 6, 9, 20];
    let want = values.map(|x| {
        let a = match half(x) {
            Some(0) => 1000,
            Some(n @ 1..=4) => n,
            Some(n) => n + 50,
            None => 7,
        };
        let b = half(x / 2).unwrap_or(9);
        let c = half(x).unwrap_or(11);
        let e = if x > 4 { x } else { 13 };
        let f = u32::from(half(x).is_some() && x <= 4);
        let g = u32::from(half(x) == Some(3));
        a + b * 100 + c * 10_000 + e * 1_000_000 + f * 100_000_000 + g * 200_000_000
    });
    let input = device.upload(&values)?;
    let got = read!(device, 6, |out| option_values(&input, out).grid(1).block(6));
    same(&got, &want, |i| format!("{}", values[i]))
}

/// The index of the first value of at least `limit`, found in a local that begins as `None`.
#[cluster_kernel]
fn first_fits(input: &[u32], limit: u32, out: &mut [u32]) {
    let mut found = None;
    let mut largest = None;
    for i in 0..input.len() {
        if let Some(at) = found {
            out[2] = at;
            break;
        }
        largest = match largest {
            Some(x) if x > input[i] => Some(x),
            _ => Some(input[i]),
        };
        if input[i] >= limit {
            found = Some(i as u32);
        }
    }
    out[0] = found.unwrap_or(99);
    out[1] = match largest {
        Some(x) => x,
        None => 98,
    };
}

fn loops_with_options(device: &phalanx::Device) -> Outcome {
    let input = device.upload(&[3u32, 1, 4, 1, 5, 9])?;
    let got = read!(device, 3, |out| first_fits(&input, 4, out).grid(1).block(1));
    same(&got, &[2, 4, 2], |i| format!("{i}"))?;
    let got = read!(device, 3, |out| first_fits(&input, 100, out).grid(1).block(1));
    same(&got, &[99, 9, 0], |i| format!("{i}"))
}

#[device]
fn ratio(a: u32, b: u32) -> Option<u32> {
    let Some(twice) = half(a) else { return None };
    let (1.., quotient) = (b, if b == 0 { 0 } else { twice / b }) else {
        return None;
    };
    Some(quotient)
}

#[cluster_kernel]
fn checked_ratio(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let Some(ratio) = ratio(a[i], b[i]) else {
        out[i] = 1_000;
        return;
    };
    out[i] = ratio;
}

fn let_else(device: &phalanx::Device) -> Outcome {
    let (a, b) = (device.upload(&[40u32, 41, 40, 8])?, device.upload(&[2u32, 2, 0, 4])?);
    let got = read!(device, 4, |out| checked_ratio(&a, &b, out).grid(1).block(4));
    same(&got, &[10, 1_000, 1_000, 1], |i| format!("{i}"))
}

#[cluster_kernel(cluster = 2, block = 32)]
fn token_match(flag: u32, out: &mut [u32]) {
    let cluster = this_cluster();
    let mut pending = None;
    if flag > 0 {
        pending = Some(cluster.barrier_arrive());
    }
    let waited = match pending.take() {
        Some(token) => {
            cluster.barrier_wait(token);
            1
        }
        None => 2,
    };
    let early = if flag > 1 { Some(cluster.barrier_arrive()) } else { None };
    if let Some(token) = early {
        cluster.barrier_wait(token);
    }
    out[this_grid().thread_rank()] = waited;
}

fn tokens(device: &phalanx::Device) -> Outcome {
    for flag in 0..3 {
        let got = read!(device, 64, |out| token_match(flag, out).grid(2));
        same(&got, &[if flag > 0 { 1 } else { 2 }; 64], |i| format!("flag {flag}, thread {i}"))?;
    }
    Ok(())
}

#[cluster_kernel]
fn swap_pairs(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    let (mut a, mut b) = (i, i * 10);
    let mut turns = 0u32;
    while let (true, n @ 0..5) = (a < b, turns) {
        (a, b) = (b + n, a * 7);
        (turns, _) = (turns + 1, a);
    }
    let [x, y, ..] = [a, b, turns];
    let is_letter = matches!(b'a' + (i % 2) as u8 * 200, b'a'..=b'z');
    let x = if is_letter || i % 2 == 1 { x } else { b'x' as u32 };
    out[i] = x * 1000 + y * 10 + turns;
}

fn swaps(device: &phalanx::Device) -> Outcome {
    let want: Vec<u32> = (0..8u32)
        .map(|i| {
            let (mut a, mut b, mut turns) = (i, i * 10, 0);
            while a < b && turns < 5 {
                (a, b) = (b + turns, a * 7);
                turns += 1;
            }
            a * 1000 + b * 10 + turns
        })
        .collect();
    let got = read!(device, 8, |out| swap_pairs(out).grid(1).block(8));
    same(&got, &want, |i| format!("{i}"))
}

#[cluster_kernel]
fn unwrapped(x: u32, out: &mut [u32]) {
    out[0] = /* unwrap */ half(x).unwrap();
    out[1] = half(x + 2).expect("an even number");
}

fn unwraps(device: &phalanx::Device) -> Outcome {
    let got = read!(device, 2, |out| unwrapped(8, out).grid(1).block(1));
    same(&got, &[4, 5], |i| format!("{i}"))?;
    let mut out = device.zeros::<u32>(2)?;
    let failed = unwrapped(7, &mut out).grid(1).block(1).launch(device);
    let at = crate::find(file!(), include_str!("patterns.rs"), "unwrap");
    crate::fails(failed, "called `unwrap()` on a `None` or `Err` value", &at, (0, 0, 0), (0, 0, 0))
}

#[device]
fn count(calls: &mut u32, value: u32) -> u32 {
    *calls += 1;
    value
}

/// A scrutinee is evaluated once, and guards in their order until one holds.
#[cluster_kernel]
fn counted(out: &mut [u32]) {
    let mut calls = 0;
    let mut guards = 0;
    let i = this_thread_block().thread_rank();
    let chosen = match count(&mut calls, i) {
        0 => 10,
        n if count(&mut guards, n) == 1 => 20,
        n if count(&mut guards, n) == 2 => 30,
        3 => 40,
        _ => 50,
    };
    out[i] = chosen + calls * 1000 + guards * 100_000;
}

fn evaluation(device: &phalanx::Device) -> Outcome {
    let got = read!(device, 5, |out| counted(out).grid(1).block(5));
    same(&got, &[1_010, 101_020, 201_030, 201_040, 201_050], |i| format!("{i}"))
}
