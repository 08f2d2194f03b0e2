//! Operators of a user's own types: numbers of other kinds, generic types, places of all kinds, and the order of evaluation. Each kernel is
//! compared with the same operators on the host.

use std::ops::{Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Interval {
    low: f64,
    high: f64,
}

#[device]
impl Add for Interval {
    type Output = Interval;
    fn add(self, o: Interval) -> Interval {
        Interval { low: self.low + o.low, high: self.high + o.high }
    }
}

#[device]
impl Mul for Interval {
    type Output = Interval;
    fn mul(self, o: Interval) -> Interval {
        let all = [self.low * o.low, self.low * o.high, self.high * o.low, self.high * o.high];
        let (mut low, mut high) = (all[0], all[0]);
        for k in 1..4 {
            low = low.min(all[k]);
            high = high.max(all[k]);
        }
        Interval { low, high }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Dual {
    value: f64,
    slope: f64,
}

#[device]
impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual { value: self.value + o.value, slope: self.slope + o.slope }
    }
}

#[device]
impl Add<f64> for Dual {
    type Output = Dual;
    fn add(self, o: f64) -> Dual {
        Dual { value: self.value + o, slope: self.slope }
    }
}

#[device]
impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual { value: self.value * o.value, slope: self.value * o.slope + self.slope * o.value }
    }
}

#[device]
impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        let value = self.value / o.value;
        Dual { value, slope: (self.slope - value * o.slope) / o.value }
    }
}

#[cluster_kernel(block = 32)]
fn derivatives(at: &[f64], bounds: &mut [Interval], out: &mut [Dual]) {
    let i = this_grid().thread_rank();
    if i < at.len() {
        let x = Dual { value: at[i], slope: 1.0 };
        out[i] = (x * x + x + 3.0) / (x + 1.5);
        let mut sum = bounds[i];
        for _ in 0..3 {
            sum = sum * sum + bounds[i];
        }
        bounds[i] = sum;
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
struct Fixed(i32);

#[device]
impl Fixed {
    const ONE: Fixed = Fixed(1 << 16);
}

#[device]
impl Add for Fixed {
    type Output = Fixed;
    fn add(self, o: Fixed) -> Fixed {
        Fixed(self.0.wrapping_add(o.0))
    }
}

#[device]
impl Mul for Fixed {
    type Output = Fixed;
    fn mul(self, o: Fixed) -> Fixed {
        Fixed(((self.0 as i64 * o.0 as i64) >> 16) as i32)
    }
}

#[device]
impl Mul<i32> for Fixed {
    type Output = Fixed;
    fn mul(self, o: i32) -> Fixed {
        Fixed(self.0 * o)
    }
}

#[device]
impl Rem for Fixed {
    type Output = Fixed;
    fn rem(self, o: Fixed) -> Fixed {
        Fixed(self.0 % o.0)
    }
}

#[device]
impl Shl<u32> for Fixed {
    type Output = Fixed;
    fn shl(self, by: u32) -> Fixed {
        Fixed(self.0 << by)
    }
}

#[device]
impl Shr<u32> for Fixed {
    type Output = Fixed;
    fn shr(self, by: u32) -> Fixed {
        Fixed(self.0 >> by)
    }
}

#[cluster_kernel(block = 32)]
fn fixed(values: &mut [Fixed]) {
    let i = this_grid().thread_rank();
    if i < values.len() {
        let x = values[i];
        values[i] = (x * x + Fixed::ONE * 3) % (Fixed::ONE << 4) + (x >> 1);
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Color {
    channels: [f32; 4],
}

#[device]
impl Mul<f32> for Color {
    type Output = Color;
    fn mul(self, by: f32) -> Color {
        Color { channels: self.channels.map(|channel| channel * by) }
    }
}

#[device]
impl Add for Color {
    type Output = Color;
    fn add(self, o: Color) -> Color {
        let mut sum = self;
        for k in 0..4 {
            sum.channels[k] += o.channels[k];
        }
        sum
    }
}

#[cluster_kernel(block = 32)]
fn blend(over: &[Color], under: &mut [Color]) {
    let i = this_grid().thread_rank();
    if i < under.len() {
        let alpha = over[i].channels[3];
        under[i] = over[i] * alpha + under[i] * (1.0 - alpha);
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
struct Set(u64);

#[device]
impl BitAnd for Set {
    type Output = Set;
    fn bitand(self, o: Set) -> Set {
        Set(self.0 & o.0)
    }
}

#[device]
impl BitOr for Set {
    type Output = Set;
    fn bitor(self, o: Set) -> Set {
        Set(self.0 | o.0)
    }
}

#[device]
impl BitXor for Set {
    type Output = Set;
    fn bitxor(self, o: Set) -> Set {
        Set(self.0 ^ o.0)
    }
}

#[device]
impl Not for Set {
    type Output = Set;
    fn not(self) -> Set {
        Set(!self.0)
    }
}

#[cluster_kernel(block = 32)]
fn sets(a: &[Set], b: &[Set], out: &mut [Set]) {
    let i = this_grid().thread_rank();
    if i < out.len() {
        out[i] = (a[i] & !b[i]) | (a[i] ^ b[i]);
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Pair<T> {
    a: T,
    b: T,
}

#[device]
impl<T: Number> Add for Pair<T> {
    type Output = Pair<T>;
    fn add(self, o: Pair<T>) -> Pair<T> {
        Pair { a: self.a + o.a, b: self.b + o.b }
    }
}

#[device]
impl<T: Number> Mul<T> for Pair<T> {
    type Output = Self;
    fn mul(self, by: T) -> Self::Output {
        Pair { a: self.a * by, b: self.b * by }
    }
}

#[device]
impl<T: Number> AddAssign for Pair<T> {
    fn add_assign(&mut self, o: Pair<T>) {
        self.a += o.a;
        self.b += o.b;
    }
}

#[cluster_kernel(block = 32)]
fn pairs(floats: &mut [Pair<f32>], integers: &mut [Pair<u32>]) {
    let i = this_grid().thread_rank();
    if i < floats.len() {
        floats[i] = floats[i] * 2.0 + floats[i];
        integers[i] = integers[i] * 3 + integers[i];
        integers[i] += Pair { a: 1, b: 2 };
    }
}

#[device]
impl Sub for Fixed {
    type Output = Fixed;
    fn sub(self, o: Fixed) -> Fixed {
        assert!(self.0 >= o.0, "{} is less than {}", self.0, o.0);
        Fixed(self.0 - o.0)
    }
}

#[device]
impl Neg for Fixed {
    type Output = Fixed;
    fn neg(self) -> Fixed {
        Fixed(-self.0)
    }
}

#[device]
impl AddAssign<i32> for Fixed {
    fn add_assign(&mut self, o: i32) {
        self.0 += o;
    }
}

#[device]
fn next(count: &mut i32) -> Fixed {
    *count += 1;
    Fixed(*count)
}

/// Operands are evaluated from left to right, and the place before the value.
#[cluster_kernel(block = 1)]
fn orders(out: &mut [Fixed]) {
    let mut count = 0;
    out[0] = next(&mut count) * 100 + next(&mut count) * 10 + next(&mut count);
    let mut parts = [Fixed(1), Fixed(2), Fixed(3)];
    parts[1] += count;
    let more = next(&mut count);
    parts[2] += more.0;
    out[1] = parts[1];
    out[2] = -parts[2];
    let join = |a: Fixed, b: Fixed| a + b * 2;
    out[3] = join(parts[0], parts[1]);
    out[4] = Fixed(9) - Fixed(4);
}

/// Places in global and shared memory, of a peer's, and in structs.
#[cluster_kernel(cluster = 2, block = 32)]
fn places(values: &mut [Pair<f32>], out: &mut [Pair<f32>]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let t = block.thread_rank();
    let i = this_grid().thread_rank();
    let mine = shared_array::<Pair<f32>, 32>();
    values[i] += Pair { a: 1.0, b: 2.0 };
    mine[t] = values[i];
    mine[t] += values[i];
    cluster.sync();
    let peer = cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
    peer[t] += Pair { a: 0.5, b: 0.25 };
    cluster.sync();
    let mut kept = (mine[t], [mine[31 - t]; 2]);
    kept.0 += mine[t] * 2.0;
    kept.1[1] += kept.0;
    out[i] = kept.1[1];
}

#[cluster_kernel(block = 1)]
fn underflow(values: &[Fixed], out: &mut [Fixed]) {
    out[0] = values[0] - values[1];
}

fn of_duals(device: &Device) -> Outcome {
    let at = device.upload(&[1.0f64, 2.0, -0.5])?;
    let mut bounds = device.upload(&[Interval { low: -0.5, high: 0.25 }; 3])?;
    let mut out = device.upload(&[Dual { value: 0.0, slope: 0.0 }; 3])?;
    derivatives(&at, &mut bounds, &mut out).grid(1).launch(device)?;
    let want = [1.0, 2.0, -0.5].map(|at| {
        let x = Dual { value: at, slope: 1.0 };
        (x * x + x + 3.0) / (x + 1.5)
    });
    for (out, want) in out.read()?.iter().zip(&want) {
        equal(&[(out.value - want.value).abs() < 1e-12, (out.slope - want.slope).abs() < 1e-12], &[true, true])?;
    }
    let start = Interval { low: -0.5, high: 0.25 };
    let sum = (0..3).fold(start, |sum, _| sum * sum + start);
    equal(&bounds.read()?, &[sum; 3])
}

fn of_words(device: &Device) -> Outcome {
    let mut values = device.upload(&[Fixed(3 << 16), Fixed(-70_000), Fixed(12_345)])?;
    fixed(&mut values).grid(1).launch(device)?;
    let want = [Fixed(3 << 16), Fixed(-70_000), Fixed(12_345)]
        .map(|x| (x * x + Fixed::ONE * 3) % (Fixed::ONE << 4) + (x >> 1));
    equal(&values.read()?, &want)?;
    let (a, b) = (device.upload(&[Set(0b1100), Set(!0)])?, device.upload(&[Set(0b1010), Set(7)])?);
    let mut out = device.upload(&[Set(0); 2])?;
    sets(&a, &b, &mut out).grid(1).launch(device)?;
    equal(&out.read()?, &[Set(0b0110), Set(!7)])?;
    let over = device.upload(&[Color { channels: [1.0, 0.0, 0.0, 0.25] }])?;
    let mut under = device.upload(&[Color { channels: [0.0, 1.0, 0.0, 1.0] }])?;
    blend(&over, &mut under).grid(1).launch(device)?;
    equal(&under.read()?[0].channels, &[0.25, 0.75, 0.0, 0.8125])
}

fn of_pairs(device: &Device) -> Outcome {
    let mut floats = device.upload(&[Pair { a: 1.5f32, b: 2.0 }; 32])?;
    let mut integers = device.upload(&[Pair { a: 1u32, b: 2 }; 32])?;
    pairs(&mut floats, &mut integers).grid(1).launch(device)?;
    equal(&floats.read()?, &[Pair { a: 4.5, b: 6.0 }; 32])?;
    equal(&integers.read()?, &[Pair { a: 5, b: 10 }; 32])
}

fn of_places(device: &Device) -> Outcome {
    let mut values = device.upload(&[Pair { a: 1.0f32, b: 0.0 }; 64])?;
    let mut out = device.upload(&[Pair { a: 0.0f32, b: 0.0 }; 64])?;
    places(&mut values, &mut out).grid(2).launch(device)?;
    equal(&values.read()?, &[Pair { a: 2.0, b: 2.0 }; 64])?;
    let mine = Pair { a: 4.5, b: 4.25 };
    equal(&out.read()?, &[mine * 3.0 + mine; 64])
}

fn of_orders(device: &Device) -> Outcome {
    let mut out = device.upload(&[Fixed(0); 5])?;
    orders(&mut out).grid(1).launch(device)?;
    equal(&out.read()?, &[Fixed(123), Fixed(5), Fixed(-7), Fixed(11), Fixed(5)])
}

/// Numbers of which the text shows nothing, between barriers of a cluster.
#[cluster_kernel(cluster = 2, block = 32)]
fn numbers(x: &[f32], out: &mut [f32]) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let mine = shared_array::<f32, 32>();
    let t = block.thread_rank();
    let joined = |a, b| a * b + a;
    mine[t] = x[cluster.thread_rank()];
    cluster.sync();
    let far = cluster.map_shared_rank(&mine, 1 - cluster.block_rank());
    let sum = joined(far[t], x[t]);
    cluster.sync();
    mine[t] = joined(sum, sum);
    block.sync();
    out[cluster.thread_rank()] = mine[31 - t];
}

fn of_numbers(device: &Device) -> Outcome {
    let x: Vec<f32> = (0..64).map(|i| (i % 7) as f32).collect();
    let mut out = device.upload(&[0.0f32; 64])?;
    numbers(&device.upload(&x)?, &mut out).grid(2).launch(device)?;
    let joined = |a: f32, b: f32| a * b + a;
    let one = |i: usize| joined(x[(i + 32) % 64], x[i % 32]);
    let want: Vec<f32> = (0..64).map(|i| i / 32 * 32 + 31 - i % 32).map(|i| joined(one(i), one(i))).collect();
    equal(&out.read()?, &want)
}

fn of_failures(device: &Device) -> Outcome {
    let values = device.upload(&[Fixed(1), Fixed(2)])?;
    let mut out = device.upload(&[Fixed(0)])?;
    let failure = crate::failure(underflow(&values, &mut out).grid(1).launch(device))?;
    let shown = failure.cause.to_string();
    if shown.contains("1 is less than 2") { Ok(()) } else { Err(shown.into()) }
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "overloads",
        checks: check_list![of_duals, of_words, of_pairs, of_places, of_orders, of_numbers, of_failures],
        kernels: kernel_list![derivatives, fixed, blend, sets, pairs, orders, places, numbers, underflow],
    }]
}
