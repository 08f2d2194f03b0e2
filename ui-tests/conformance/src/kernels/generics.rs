//! Kernels with type and const parameters, several instances of each; kernels with many parameters, many slots, and
//! names that C++ would not take; functions of one name in several modules.

use phalanx::prelude::*;

use crate::{Bits, Module, Outcome, check_list, kernel_list, read, same};

/// Computes `factor * x + x`, whatever the type.
#[cluster_kernel(block = 64)]
fn scale<T: Number>(input: &[T], factor: T, out: &mut [T]) {
    let i = this_grid().thread_rank();
    if i < input.len() {
        let x = input[i];
        let scaled = factor * x;
        out[i] = if scaled < x { scaled + x } else { scaled - x };
    } else if i < out.len() {
        out[i] = T::default();
    }
}

fn scaled<T: Number + Bits>(device: &Device, values: &[T], factor: T, host: fn(T, T) -> T) -> Outcome {
    let input = device.upload(values)?;
    // The values are followed by zeros.
    let mut out = device.upload(&[values, &[factor]].concat())?;
    scale(&input, factor, &mut out).grid(1).launch(device)?;
    let want: Vec<T> = values.iter().map(|&x| host(factor, x)).chain([T::default()]).collect();
    same(&out.read()?, &want, |i| format!("{:?} * {factor:?}", values.get(i)))
}

fn types(device: &Device) -> Outcome {
    macro_rules! host {
        () => {
            |factor, x| {
                let scaled = factor * x;
                if scaled < x { scaled + x } else { scaled - x }
            }
        };
    }
    scaled(device, &[1u8, 2, 30], 3, host!())?;
    scaled(device, &[-1i16, 2, 300], 3, host!())?;
    scaled(device, &[-1, 2, 300_000], -3, host!())?;
    scaled(device, &[1u64 << 40, 2, 3], 5, host!())?;
    scaled(device, &[1u128 << 100, 2, 3], 5, host!())?;
    scaled(device, &[1usize << 33, 2, 3], 2, host!())?;
    scaled(device, &[-1.5f32, 0.1, 1e30, f32::NAN], 0.3, host!())?;
    scaled(device, &[-1.5f64, 0.1, 1e300, f64::INFINITY], 0.3, host!())
}

/// A tile of `N` values of a block goes through shared memory and comes out reversed, `K` times over.
#[cluster_kernel(cluster = 2)]
fn reverse<T: Number, const N: usize, const K: u32>(input: &[T], out: &mut [T]) {
    let block = this_thread_block();
    let tile = shared_array::<T, N>();
    let cluster = this_cluster();
    let i = block.thread_rank() as usize;
    let base = this_grid().block_rank() * N;
    tile[i] = input[base + i];
    cluster.sync();
    let peer = cluster.map_shared_rank(&tile, 1 - cluster.block_rank());
    let mut kept = [peer[N - 1 - i]; N];
    for k in 0..K {
        kept[k as usize % N] = kept[(k as usize + 1) % N];
    }
    cluster.sync();
    out[base + i] = kept[K as usize % N];
}

fn reversed<T: Number + Bits, const N: usize, const K: u32>(device: &Device, values: &[T]) -> Outcome {
    let input = device.upload(values)?;
    let grid = (values.len() / N) as u32;
    let got = read!(device, values.len(), |out| reverse::<T, N, K>(&input, out).grid(grid).block(N as u32));
    let want: Vec<T> = values.chunks(2 * N).flat_map(|pair| pair.iter().rev().copied()).collect();
    same(&got, &want, |i| format!("{N} of {}, value {i}", std::any::type_name::<T>()))
}

fn constants(device: &Device) -> Outcome {
    let values: Vec<i32> = (0..64).collect();
    reversed::<i32, 8, 3>(device, &values)?;
    reversed::<i32, 32, 3>(device, &values)?;
    reversed::<i32, 8, 0>(device, &values)?;
    reversed::<u8, 16, 1>(device, &(0..64).collect::<Vec<u8>>())?;
    reversed::<f64, 4, 2>(device, &values.iter().map(|&i| f64::from(i) * 0.1).collect::<Vec<f64>>())
}

/// Takes integers only: a bound that gives more operators.
#[cluster_kernel(block = 32)]
fn bits<T: Integer, const SHIFT: u32>(input: &[T], out: &mut [T]) {
    let i = this_grid().thread_rank();
    if i < input.len() {
        out[i] = (input[i] << SHIFT ^ !input[i]).rotate_left(SHIFT) & input[i].max(input[0]);
    }
}

fn integers(device: &Device) -> Outcome {
    let input = device.upload(&[1u8, 77, 255])?;
    let got = read!(device, 3, |out| bits::<u8, 3>(&input, out).grid(1));
    same(&got, &[1u8, 77, 255].map(|x| (x << 3 ^ !x).rotate_left(3) & x), |i| format!("u8 {i}"))?;
    let input = device.upload(&[-5i64, i64::MAX, i64::MIN])?;
    let got = read!(device, 3, |out| bits::<i64, 17>(&input, out).grid(1));
    let host = |x: i64| (x << 17 ^ !x).rotate_left(17) & x.max(-5);
    same(&got, &[-5, i64::MAX, i64::MIN].map(host), |i| format!("i64 {i}"))
}

use two::change as changed;

mod one {
    use phalanx::prelude::*;

    #[device]
    pub(super) fn change(x: u32) -> u32 {
        helper(x) + 1
    }

    #[device]
    fn helper(x: u32) -> u32 {
        x * 2
    }
}

mod two {
    use phalanx::prelude::*;

    #[device]
    pub(super) fn change(x: u32) -> u32 {
        helper(x) + 10
    }

    #[device]
    fn helper(x: u32) -> u32 {
        x * 3
    }

    pub(super) mod deeper {
        use phalanx::prelude::*;

        #[device]
        pub(crate) fn change(x: u32) -> u32 {
            super::change(x) * 100
        }
    }
}

/// Calls functions of one name, by their paths and by another name.
#[cluster_kernel(block = 32)]
fn paths(out: &mut [u32]) {
    let i = this_grid().thread_rank() as u32;
    let change = one::change(i);
    out[i] =
        change + two::change(i) + changed(i) + self::two::deeper::change(i) + crate::kernels::generics::one::change(7);
}

fn functions_of_one_name(device: &Device) -> Outcome {
    let got = read!(device, 32, |out| paths(out).grid(1));
    let want = |i: u32| (2 * i + 1) + 2 * (3 * i + 10) + (3 * i + 10) * 100 + 15;
    same(&got, &(0..32).map(want).collect::<Vec<u32>>(), |i| format!("thread {i}"))
}

/// Makes kernels whose names C++ reserves, or does not know.
macro_rules! named {
    ($($name:ident = $value:literal;)*) => {
        #[allow(non_snake_case, reason = "what is tested")]
        mod names {
            use phalanx::prelude::*;
            $(
                #[cluster_kernel(block = 1)]
                pub(super) fn $name(out: &mut [u32]) {
                    out[0] = $value;
                }
            )*
        }

        #[allow(non_snake_case, reason = "what is tested")]
        fn names_of_kernels(device: &Device) -> Outcome {
            $(
                let $name = || -> Outcome {
                    let got = read!(device, 1, |out| names::$name(out).grid(1));
                    same(&got, &[$value], |_| "the result".into())
                };
            )*
            let all = [$((stringify!($name), $name())),*];
            let wrong: Vec<String> =
                all.into_iter().filter_map(|(name, outcome)| Some(format!("{name}: {}", outcome.err()?))).collect();
            if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n    ").into()) }
        }

        fn kernels() -> Vec<crate::Kernel> {
            vec![$(crate::Kernel::of::<names::$name>(stringify!($name))),*]
        }
    };
}

named! {
    auto = 1;
    int = 2;
    register = 3;
    main = 4;
    r#match = 5;
    größe = 6;
    printf = 7;
    slice = 8;
    template = 9;
    atomicAdd = 10;
    __syncthreads = 11;
    a__b = 12;
    _Upper = 13;
    memcpy = 14;
    signal = 15;
    phalanx_launch = 16;
    NULL = 17;
    out = 18;
}

/// Takes every scalar by value, between slices.
#[cluster_kernel(block = 1)]
fn many_parameters(
    a: i8,
    b: u16,
    out: &mut [i128],
    c: bool,
    d: i128,
    e: f32,
    f: u8,
    g: f64,
    h: &[u8],
    i: usize,
    j: u128,
    mut k: i64,
    l: i16,
    m: u32,
    n: isize,
    o: u64,
    p: &[f64],
    q: i32,
) {
    k += 1;
    out[0] = a as i128;
    out[1] = b as i128;
    out[2] = c as i128;
    out[3] = d;
    out[4] = e as i128;
    out[5] = f as i128;
    out[6] = g as i128;
    out[7] = h[1] as i128;
    out[8] = i as i128;
    out[9] = j as i128;
    out[10] = k as i128;
    out[11] = l as i128;
    out[12] = m as i128;
    out[13] = n as i128;
    out[14] = o as i128;
    out[15] = p[2] as i128;
    out[16] = q as i128;
    out[17] = (h.len() * 10 + p.len()) as i128;
}

fn parameters(device: &Device) -> Outcome {
    let (h, p) = (device.upload(&[1u8, 200])?, device.upload(&[0.0, 1.0, -1e15])?);
    let got = read!(device, 18, |out| {
        many_parameters(
            -1,
            60_000,
            out,
            true,
            i128::MIN,
            -7.9,
            255,
            1e18,
            &h,
            usize::MAX,
            1 << 126,
            i64::MAX - 1,
            -300,
            u32::MAX,
            isize::MIN,
            u64::MAX,
            &p,
            -5,
        )
        .grid(1)
    });
    let want = [
        -1,
        60_000,
        1,
        i128::MIN,
        -7,
        255,
        1_000_000_000_000_000_000,
        200,
        usize::MAX as i128,
        1 << 126,
        i64::MAX as i128,
        -300,
        u32::MAX as i128,
        isize::MIN as i128,
        u64::MAX as i128,
        -1_000_000_000_000_000,
        -5,
        23,
    ];
    same(&got, &want, |i| format!("parameter {i}"))
}

/// More than a hundred literals whose types only rustc knows.
macro_rules! many {
    ($($local:ident)*) => {
        #[cluster_kernel(block = 1)]
        fn many_slots(out: &mut [u64]) {
            let mut sum = 0;
            $(
                let $local = 3;
                sum = sum * 31 % 1_000_003 + $local;
            )*
            out[0] = sum;
        }

        fn slots(device: &Device) -> Outcome {
            let got = read!(device, 1, |out| many_slots(out).grid(1));
            let mut sum = 0u64;
            $(
                let $local = 3;
                sum = sum * 31 % 1_000_003 + $local;
            )*
            same(&got, &[sum], |_| "the sum".into())
        }
    };
}

many! {
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6 d7 d8 d9
    e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7 h8 h9
    i0 i1 i2 i3 i4 i5 i6 i7 i8_ i9 j0 j1 j2 j3 j4 j5 j6 j7 j8 j9 k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 l0 l1 l2 l3 l4 l5 l6 l7 l8 l9
}

/// Two locals of one name, one of which comes from the caller of the macro, are two variables in Rust.
macro_rules! hygiene {
    ($x:ident, $value:expr) => {
        #[cluster_kernel(block = 1)]
        fn two_contexts(out: &mut [i32]) {
            let x = 1;
            let $x = 2;
            let y = $value;
            out[0] = x;
            out[1] = $x;
            out[2] = y;
        }
    };
}

hygiene!(x, x * 10);

fn locals_of_macros(device: &Device) -> Outcome {
    let got = read!(device, 3, |out| two_contexts(out).grid(1));
    same(&got, &[1, 2, 20], |i| format!("out[{i}]"))
}

/// Two labels of one name, one of which comes from the caller of the macro.
macro_rules! labels {
    ($label:lifetime, $body:expr) => {
        #[cluster_kernel(block = 1)]
        fn two_labels(out: &mut [i32]) {
            $label: loop {
                'inner: loop {
                    if out[0] == 0 {
                        $body;
                    }
                    break 'inner;
                }
                out[1] = 5;
                break;
            }
        }
    };
}

labels!('inner, break 'inner);

fn labels_of_macros(device: &Device) -> Outcome {
    let got = read!(device, 2, |out| two_labels(out).grid(1));
    same(&got, &[0, 0], |i| format!("out[{i}]"))
}

/// `get_unchecked` reads and writes without a check; the simulator checks all the same.
#[cluster_kernel(block = 64)]
fn unchecked(input: &[u16], out: &mut [u16]) {
    let shared = shared_array::<u16, 64>();
    let i = this_thread_block().thread_rank();
    // SAFETY: the buffers have an element for each thread.
    unsafe {
        *shared.get_unchecked_mut(i) = *input.get_unchecked(i) + 1;
    }
    this_thread_block().sync();
    // SAFETY: as above.
    unsafe {
        *out.get_unchecked_mut(i) = *shared.get_unchecked(63 - i);
        *out.get_unchecked_mut(i) += *input.get_unchecked(0usize);
    }
}

fn unchecked_access(device: &Device) -> Outcome {
    let values: Vec<u16> = (0..64).map(|i| i * 1000).collect();
    let input = device.upload(&values)?;
    let got = read!(device, 64, |out| unchecked(&input, out).grid(1));
    let want: Vec<u16> = (0..64).map(|i| values[63 - i].wrapping_add(1)).collect();
    same(&got, &want, |i| format!("out[{i}]"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let mut all = kernel_list![
        scale<u8>, scale<i16>, scale<i32>, scale<u64>, scale<u128>, scale<usize>, scale<f32>, scale<f64>, reverse<i32, 8, 3>,
        reverse<i32, 32, 3>, reverse<i32, 8, 0>, reverse<u8, 16, 1>, reverse<f64, 4, 2>, bits<u8, 3>, bits<i64, 17>, paths,
        many_parameters, many_slots, two_contexts, two_labels, unchecked,
    ];
    all.extend(kernels());
    vec![Module {
        name: "generics",
        checks: check_list![
            types,
            constants,
            integers,
            functions_of_one_name,
            names_of_kernels,
            parameters,
            slots,
            locals_of_macros,
            labels_of_macros,
            unchecked_access,
        ],
        kernels: all,
    }]
}
