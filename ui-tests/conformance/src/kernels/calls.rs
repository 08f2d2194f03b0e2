//! Generic device functions, methods of traits, closures.

use phalanx::prelude::*;

use crate::{Kernel, Module, Outcome, check_list, kernel_list, read, same};

pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "calls", checks: checks(), kernels: kernels() }]
}

fn checks() -> Vec<crate::Check> {
    check_list![
        generics,
        const_generics,
        methods,
        closures,
        closures_in_closures,
        failures_in_instances,
        as_plain_functions,
        indexes_by_functions
    ]
}

fn kernels() -> Vec<Kernel> {
    kernel_list![generic_calls, polynomials, method_calls, closure_calls, nested_closures, failing_instances, turned]
}

#[device]
fn larger<T: Number>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[device]
fn pair<A: Number, B: Number>(a: A, b: B) -> (A, B) {
    (larger(a, a), larger::<B>(b, b))
}

#[device]
fn sum_of<T: Number>(values: &[T], from: usize, to: usize) -> T {
    let mut sum = values[from];
    for i in from + 1..to {
        sum += values[i];
    }
    sum
}

#[cluster_kernel]
fn generic_calls(input: &[u32], floats: &[f32], out: &mut [u32], float_out: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    let (x, y) = pair(input[i], floats[i]);
    let small = larger(3u8, 7) as u32;
    out[i] = larger(x, 5) + small * 100;
    float_out[i] = larger(y, 0.25) + sum_of(floats, 0, 4) + sum_of(input, 1, 3) as f32;
}

fn generics(device: &phalanx::Device) -> Outcome {
    let (ints, floats) = ([3u32, 5, 8, 0], [0.125f32, 0.25, 1.5, -3.0]);
    let (input, values) = (device.upload(&ints)?, device.upload(&floats)?);
    let mut float_out = device.zeros(4)?;
    let got = read!(device, 4, |out| generic_calls(&input, &values, out, &mut float_out).grid(1).block(4));
    same(&got, &ints.map(|x| x.max(5) + 700), |i| format!("{i}"))?;
    let sum: f32 = floats.iter().sum();
    same(&float_out.read()?, &floats.map(|y| y.max(0.25) + sum + 13.0), |i| format!("{i}"))
}

#[device]
fn polynomial<T: Float, const N: usize>(x: T, coefficients: [T; N]) -> T {
    let mut value = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        value = value.mul_add(x, coefficients[i]);
    }
    value
}

#[device]
fn repeat<const TIMES: u32, const NEGATE: bool>(x: i32) -> i32 {
    let mut sum = 0;
    for _ in 0..TIMES {
        sum += x;
    }
    if NEGATE { -sum } else { sum }
}

#[cluster_kernel]
fn polynomials(input: &[f32], out: &mut [f32], ints: &mut [i32]) {
    let i = this_thread_block().thread_rank();
    let x = input[i];
    out[i] = polynomial(x, [1.0, 2.0, 3.0]) + polynomial(x, [0.5]);
    ints[i] = repeat::<3, true>(i as i32) + repeat::<2, false>(10);
}

fn const_generics(device: &phalanx::Device) -> Outcome {
    let values = [0.0f32, 1.0, -2.0, 0.5];
    let input = device.upload(&values)?;
    let mut ints = device.zeros(4)?;
    let got = read!(device, 4, |out| polynomials(&input, out, &mut ints).grid(1).block(4));
    same(&got, &values.map(|x| 3.0f32.mul_add(x, 2.0).mul_add(x, 1.0) + 0.5), |i| format!("{i}"))?;
    same(&ints.read()?, &[20, 17, 14, 11], |i| format!("{i}"))
}

/// What a kernel can do with numbers of any kind.
#[device]
trait Scale: Number {
    const FACTOR: Self;
    fn scaled(self) -> Self;
    fn scale_by(&mut self, times: u32) -> u32;
    fn zero() -> Self;
}

#[device]
impl Scale for u32 {
    const FACTOR: Self = 3;
    fn scaled(self) -> Self {
        self * Self::FACTOR
    }
    fn scale_by(&mut self, times: u32) -> u32 {
        for _ in 0..times {
            *self = self.scaled();
        }
        times
    }
    fn zero() -> Self {
        0
    }
}

#[device]
impl Scale for f32 {
    const FACTOR: f32 = 0.5;
    fn scaled(self) -> f32 {
        self * Self::FACTOR
    }
    fn scale_by(&mut self, times: u32) -> u32 {
        *self *= times as f32;
        Self::zero() as u32
    }
    fn zero() -> f32 {
        0.0
    }
}

#[device]
fn twice<T: Scale>(x: T) -> T {
    let once = x.scaled();
    once.scaled() + T::zero() + T::FACTOR
}

#[cluster_kernel]
fn method_calls(out: &mut [u32], floats: &mut [f32]) {
    let i = this_thread_block().thread_rank();
    let mut x = i + 1;
    let times = x.scale_by(2);
    out[i] = twice(x) + times + <u32 as Scale>::zero() + u32::scaled(1);
    let mut y = i as f32;
    y.scale_by(3);
    floats[i] = twice(y);
}

fn methods(device: &phalanx::Device) -> Outcome {
    let mut floats = device.zeros(4)?;
    let got = read!(device, 4, |out| method_calls(out, &mut floats).grid(1).block(4));
    let want: Vec<u32> = (0..4).map(|i| (i + 1) * 9 * 9 + 3 + 2 + 3).collect();
    same(&got, &want, |i| format!("{i}"))?;
    let want: Vec<f32> = (0..4).map(|i| i as f32 * 3.0 * 0.25 + 0.5).collect();
    same(&floats.read()?, &want, |i| format!("{i}"))
}

#[device]
fn map_sum(values: &[f32], count: u32, f: impl Fn(f32) -> f32) -> f32 {
    let mut sum = 0.0;
    for i in 0..count {
        sum += f(values[i]);
    }
    sum
}

#[device]
fn fold<T: Number>(values: [T; 4], start: T, f: impl Fn(T, T) -> T, g: impl Fn(T) -> T) -> T {
    let mut value = start;
    for i in 0..4 {
        value = f(value, g(values[i]));
    }
    value
}

#[device]
fn square(x: f32) -> f32 {
    x * x
}

#[cluster_kernel]
fn closure_calls(values: &[f32], out: &mut [f32], ints: &mut [i32]) {
    let i = this_thread_block().thread_rank();
    let scale = i as f32;
    let line = |x: f32, y: f32| x * scale + y;
    out[i] = map_sum(values, 4, |x| x * scale)
        + map_sum(values, 2, |x| {
            let y = square(x);
            if y > 2.0 { y - 1.0 } else { y }
        })
        + line(2.0, 0.5);
    let offset = i as i32;
    ints[i] = fold([1, 2, 3, 4], 100, |a, b| a - b, move |x| x * offset);
}

fn closures(device: &phalanx::Device) -> Outcome {
    let values = [1.0f32, 2.0, -3.0, 0.5];
    let input = device.upload(&values)?;
    let mut ints = device.zeros(4)?;
    let got = read!(device, 4, |out| closure_calls(&input, out, &mut ints).grid(1).block(4));
    let want: Vec<f32> = (0..4u32)
        .map(|i| {
            let scale = i as f32;
            let scaled = values.iter().fold(0.0, |sum, x| sum + x * scale);
            scaled + (1.0 + 3.0) + (2.0 * scale + 0.5)
        })
        .collect();
    same(&got, &want, |i| format!("{i}"))?;
    same(&ints.read()?, &[100, 90, 80, 70], |i| format!("{i}"))
}

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

#[device]
fn both<F, G: Fn(u32) -> u32>(f: F, g: G, x: u32) -> u32
where
    F: Fn(u32) -> u32,
{
    apply(|y| f(g(y)), x) + apply(&f, x) * 1000
}

#[cluster_kernel]
fn nested_closures(out: &mut [u32]) {
    let i = this_thread_block().thread_rank();
    out[i] = both(|x| x + i, |x| apply(|y| y * 2 + i, x), 5);
}

fn closures_in_closures(device: &phalanx::Device) -> Outcome {
    let got = read!(device, 4, |out| nested_closures(out).grid(1).block(4));
    let want: Vec<u32> = (0..4).map(|i| (10 + i + i) + (5 + i) * 1000).collect();
    same(&got, &want, |i| format!("{i}"))
}

#[device]
fn element<T: Number>(values: &[T], i: u32, f: impl Fn(u32) -> u32) -> T {
    /* element */
    values[f(i)]
}

#[cluster_kernel]
fn failing_instances(values: &[u32], floats: &[f32], which: u32, out: &mut [u32]) {
    out[0] = element(values, 0, |i| /* closure */ i / (which - 1));
    out[1] = element(floats, which, |i| i + 1) as u32;
}

fn failures_in_instances(device: &phalanx::Device) -> Outcome {
    let (values, floats) = (device.upload(&[1u32, 2])?, device.upload(&[1.0f32, 2.0])?);
    let at = |name| crate::find(file!(), include_str!("calls.rs"), name);
    let run = |which| {
        let mut out = device.zeros::<u32>(2)?;
        failing_instances(&values, &floats, which, &mut out).grid(1).block(1).launch(device)
    };
    let origin = phalanx::Dim3::new(0, 0, 0);
    crate::fails(run(1), "attempt to divide 0 by zero", &at("closure"), origin, origin)?;
    crate::fails(run(2), "index 3 out of bounds for length 2", &at("element"), origin, origin)
}

/// Device functions of plain values are ordinary functions on the host.
fn as_plain_functions(_: &phalanx::Device) -> Outcome {
    let scale = 3;
    let got =
        [larger(2, 1), repeat::<3, true>(2), apply(|x| x * scale, 7) as i32, 2u32.scaled() as i32, u32::zero() as i32];
    same(&got, &[2, -6, 21, 6, 0], |i| format!("{i}"))
}

const WIDTH: usize = 8;

/// The place of a cell on a plane whose edges are joined.
#[device]
fn cell(x: usize, y: usize) -> usize {
    joined(y, WIDTH - 1) * WIDTH + joined(x, WIDTH - 1)
}

#[device]
fn joined(x: usize, mask: usize) -> usize {
    x & mask
}

#[device]
fn halved(x: u32) -> usize {
    (x.wrapping_mul(0x8000_0001) >> joined_word(33)) as usize / 2
}

#[device]
fn joined_word(x: u32) -> u32 {
    x & 31
}

/// A plane of rows.
#[repr(C)]
#[derive(Clone, Copy, DeviceCopy)]
struct Plane {
    first: u32,
    width: u32,
}

#[device]
impl Plane {
    fn at(&self, x: u32, y: u32) -> usize {
        (self.first + y * self.width + x) as usize
    }
}

/// A plane with its axes exchanged, from one place of a buffer to another one of a narrower plane.
#[cluster_kernel(block = (WIDTH as u32, WIDTH as u32))]
fn turned(input: &[u32], out: &mut [u32], plane: Plane) {
    let (block, own) = (this_thread_block(), Plane { first: 2, width: 8 });
    let tile = shared_array::<u32, { WIDTH * WIDTH }>();
    let (x, y) = (block.thread_index().x, block.thread_index().y);
    tile[cell(y as usize + 9, x as usize)] = input[plane.at(x, y)];
    block.sync();
    for k in (0..WIDTH).step_by(WIDTH) {
        out[own.at(x, y)] = tile[cell(x as usize + k, y as usize)] * 100 + halved(x) as u32;
    }
}

fn indexes_by_functions(device: &phalanx::Device) -> Outcome {
    let input: Vec<u32> = (0..100).collect();
    let plane = Plane { first: 3, width: 11 };
    let got = {
        let input = device.upload(&input)?;
        read!(device, 66, |out| turned(&input, out, plane).grid(1))
    };
    let mut want = vec![0; 66];
    for (y, x) in (0..8u32).flat_map(|y| (0..8u32).map(move |x| (y, x))) {
        let (from_x, from_y) = (y, (x + 7) % 8);
        want[(2 + y * 8 + x) as usize] = (3 + from_y * 11 + from_x) * 100 + (x.wrapping_mul(0x8000_0001) >> 1) / 2;
    }
    same(&got, &want, |i| format!("{i}"))
}
