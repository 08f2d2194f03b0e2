//! Vectors: loads and stores of every type and width, from and to each kind of memory, and their lanes.

use phalanx::prelude::*;

use crate::{Bits, Check, Kernel, Module, Outcome, check_list, fails, find, kernel_list, read, same};

const SOURCE: &str = include_str!("vectors.rs");

/// Copies global to shared, a peer's shared to global, each by vectors; the remainder one by one.
#[cluster_kernel(cluster = 2, block = 16)]
fn exchange<T: VectorElement<N>, const N: usize>(input: &[T], out: &mut [T]) {
    let cluster = this_cluster();
    let own = shared_array::<[T; N], 16>();
    let dynamic = dynamic_shared::<T>();
    let i = this_thread_block().thread_rank();
    let k = cluster.thread_rank() as usize * N;
    own[i].store_vec(0, input.load_vec::<N>(k));
    dynamic.store_vec(i as usize * N, own[i].load_vec::<N>(0));
    cluster.sync();
    let peer = 1 - cluster.block_rank();
    let remote = cluster.map_shared_rank(&own, peer);
    let remote_dynamic = cluster.map_shared_rank(&dynamic, peer);
    let mut v = remote[i].load_vec::<N>(0);
    v[N - 1] = remote_dynamic.load_vec::<N>((15 - i as usize) * N)[0];
    out.store_vec(k, v);
    let part = &mut out[32 * N..];
    cluster.sync();
    remote_dynamic.store_vec(i as usize * N, v);
    cluster.sync();
    part.store_vec(k, dynamic[i as usize * N..].load_vec::<N>(0));
}

fn exchanged<T: VectorElement<N> + Bits, const N: usize>(device: &Device, make: fn(usize) -> T) -> Outcome {
    let values: Vec<T> = (0..32 * N).map(make).collect();
    let input = device.upload(&values)?;
    let mut out = device.upload(&[values.clone(), values.clone()].concat())?;
    let bytes = 16 * N * size_of::<T>();
    exchange::<T, N>(&input, &mut out).grid(2).shared_bytes(bytes).launch(device)?;
    let mut first = Vec::new();
    for thread in 0..32 {
        let (peer, i) = (1 - thread / 16, thread % 16);
        let of_peer = &values[(peer * 16 + i) * N..][..N];
        first.extend_from_slice(of_peer);
        *first.last_mut().unwrap() = values[(peer * 16 + 15 - i) * N];
    }
    // What a peer wrote into this block's dynamic memory is what it returned.
    let second: Vec<T> = (0..32).flat_map(|thread| first[(thread ^ 16) * N..][..N].to_vec()).collect();
    same(&out.read()?, &[first, second].concat(), |i| format!("element {i} of {N} lanes"))
}

macro_rules! exchanges {
    ($($name:ident: $t:ty, $make:expr, $($n:literal)*;)*) => {
        fn exchange_checks() -> Vec<Check> {
            $(fn $name(device: &Device) -> Outcome {
                $(exchanged::<$t, $n>(device, $make)?;)*
                Ok(())
            })*
            vec![$(Check { name: concat!("exchange_", stringify!($name)), run: $name }),*]
        }

        fn exchange_kernels() -> Vec<Kernel> {
            vec![$($(Kernel::of::<exchange<$t, $n>>(concat!("exchange ", stringify!($t), " ", $n)),)*)*]
        }
    };
}

exchanges! {
    bools: bool, |i| i % 3 == 0, 1 2 4 8 16;
    i8s: i8, |i| i as i8, 1 2 4 8 16;
    u8s: u8, |i| (i * 7) as u8, 1 2 4 8 16;
    i16s: i16, |i| i as i16 - 50, 1 2 4 8;
    u16s: u16, |i| i as u16 * 77, 1 2 4 8;
    f16s: f16, |i| f16::from_f32(i as f32 * 0.37 - 9.0), 1 2 4 8;
    bf16s: bf16, |i| bf16::from_f32(i as f32 * 0.37 - 9.0), 1 2 4 8;
    i32s: i32, |i| i as i32 - 60, 1 2 4;
    u32s: u32, |i| i as u32 * 1_000_003, 1 2 4;
    f32s: f32, |i| i as f32 * 0.37 - 9.0, 1 2 4;
    i64s: i64, |i| i as i64 - 1, 1 2;
    u64s: u64, |i| i as u64 * 0x1234_5678_9abc, 1 2;
    f64s: f64, |i| 1.0 / (i as f64 + 1.0), 1 2;
    isizes: isize, |i| (i as isize - 9) << 40, 1 2;
    usizes: usize, |i| i << 40, 1 2;
    i128s: i128, |i| (i as i128 - 7) << 90 | 5, 1;
    u128s: u128, |i| (i as u128) << 90 | 5, 1;
}

#[device]
fn scaled(v: f32x4, factor: f32) -> f32x4 {
    let mut result = Vector::splat(factor);
    for k in 0..result.len() {
        result[k] *= v[k];
    }
    result
}

/// Uses constructors, lanes, vectors as arguments, results, locals of a written type, and elements of arrays.
#[cluster_kernel(block = 32)]
fn lanes(input: &[f32], factor: f32x2, out: &mut [f32]) {
    let i = this_grid().thread_rank();
    let v = input.load_vec::<4>(i * 4);
    let mut w: f32x4 = scaled(v, factor[0]);
    w[i % 4] += factor[1];
    let pair = f32x2::new([w[0] + w[1], w[2] + w[3]]);
    let lane = [pair[0], pair[1], v[3], 0.25];
    let x = Vector::new(lane);
    let several = [x, w, f32x4::splat(2.5)];
    let k = u32x4::new([3, 2, 1, 0]);
    let mut sum = 0.0;
    for j in 0..3 {
        sum += several[j][k[j]];
    }
    w = if i % 2 == 0 { x } else { w };
    out.store_vec(i * 4, w);
    out[128 + i] = sum;
}

fn lanes_are_values(device: &Device) -> Outcome {
    let input: Vec<f32> = (0..128).map(|i| i as f32 * 0.3 - 7.0).collect();
    let buffer = device.upload(&input)?;
    let got = read!(device, 160, |out| lanes(&buffer, f32x2::new([1.5, 0.125]), out).grid(1));
    let mut want = vec![0.0; 160];
    for i in 0..32 {
        let v = &input[i * 4..][..4];
        let mut w: Vec<f32> = v.iter().map(|lane| 1.5 * lane).collect();
        w[i % 4] += 0.125;
        let x = [w[0] + w[1], w[2] + w[3], v[3], 0.25];
        let sum = 0.0 + x[3] + w[2] + 2.5;
        want[i * 4..][..4].copy_from_slice(if i % 2 == 0 { &x } else { &w });
        want[128 + i] = sum;
    }
    same(&got, &want, |i| format!("number {i}"))
}

/// Copies 16 bytes at a time, and the rest. `tests/machine_code.rs` checks its machine code.
#[cluster_kernel(block = 128)]
fn copy(input: &[f32], output: &mut [f32]) {
    let grid = this_grid();
    let whole = input.len() / 4 * 4;
    for i in (grid.thread_rank() * 4..whole).step_by(grid.num_threads() * 4) {
        output.store_vec(i, input.load_vec::<4>(i));
    }
    for i in (whole + grid.thread_rank()..input.len()).step_by(grid.num_threads()) {
        output[i] = input[i];
    }
}

fn copies(device: &Device) -> Outcome {
    for len in [0, 1, 4, 1003, 4096] {
        let input: Vec<f32> = (0..len).map(|i| i as f32).collect();
        let buffer = device.upload(&input)?;
        same(&read!(device, len, |out| copy(&buffer, out).grid(4)), &input, |i| format!("element {i} of {len}"))?;
    }
    Ok(())
}

#[cluster_kernel(block = 32)]
fn failing(a: &[u16], out: &mut [f32], which: u32, i: i32) {
    if this_thread_block().thread_rank() == 3 {
        if which == 0 {
            out[0] = (/* load */a.load_vec::<8>(i))[0] as f32;
        } else if which == 1 {
            /* store */
            out.store_vec(i, f32x2::splat(1.0));
        } else if which == 2 {
            let part = &a[1..];
            out[0] = (/* of_part */part.load_vec::<2>(i))[0] as f32;
        }
    }
}

fn bounds_and_alignment(device: &Device) -> Outcome {
    let input = device.upload(&[7u16; 16])?;
    let cases = [
        (0, 9, "load", "range 9..17 out of bounds for length 16"),
        (0, -8, "load", "range -8..0 out of bounds for length 16"),
        (0, 4, "load", "a vector of 16 bytes must be aligned to 16 bytes, but the one at index 4 is not"),
        (1, 5, "store", "range 5..7 out of bounds for length 6"),
        (1, 1, "store", "a vector of 8 bytes must be aligned to 8 bytes, but the one at index 1 is not"),
        (2, 14, "of_part", "range 14..16 out of bounds for length 15"),
        (2, 2, "of_part", "a vector of 4 bytes must be aligned to 4 bytes, but the one at index 2 is not"),
    ];
    for (which, i, name, cause) in cases {
        let mut out = device.zeros(6)?;
        let result = failing(&input, &mut out, which, i).grid(1).launch(device);
        fails(result, cause, &find(file!(), SOURCE, name), (0, 0, 0), (3, 0, 0))?;
    }
    Ok(())
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let mut checks = exchange_checks();
    checks.extend(check_list![lanes_are_values, copies, bounds_and_alignment]);
    let mut kernels = exchange_kernels();
    kernels.extend(kernel_list![lanes, copy, failing]);
    vec![Module { name: "vectors", checks, kernels }]
}
