//! Programs by hand of the language's larger parts: iterators that are advanced, functions inside of functions, provided methods, conversions,
//! results without a value.

use super::Program;

/// Returns the programs.
pub(super) fn programs() -> impl Iterator<Item = Program> {
    let program = |(name, text): &(&str, &str)| Program {
        name: (*name).into(),
        is_known: false,
        has_memory: false,
        text: (*text).into(),
    };
    PROGRAMS.iter().map(program)
}

/// The programs: their names, and their texts.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "it_rest",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let v = [a, b, c, d];
    let mut it = v.iter().rev();
    it.next();
    let x = it.nth(1).copied().unwrap_or(5);
    let left = it.len() as u64;
    let s: u64 = it.map(|x| x >> 3).sum();
    x ^ s ^ left << 50
}
"#,
    ),
    (
        "it_by_ref",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let v = [a & 3, b & 3, c & 3, d & 3, 2, 1];
    let mut it = v.iter();
    let mut h = 0u64;
    for &x in it.by_ref() {
        h = h * 5 + x;
        if x == 2 { break; }
    }
    for x in &mut it { h = h * 7 + x; if *x == 1 { continue; } h += 1; }
    h * 3 + it.next().is_none() as u64
}
"#,
    ),
    (
        "it_peek",
        r#"
#[device]
fn number(bytes: &[u8]) -> (u32, u32) {
    let mut it = bytes.iter().copied().peekable();
    let mut sum = 0u32;
    let mut words = 0;
    while let Some(c) = it.next() {
        match c & 7 {
            d @ 0..=3 => {
                let mut n = d as u32;
                while let Some(&c) = it.peek() {
                    if c & 7 > 3 { break; }
                    n = n * 4 + (c & 7) as u32;
                    it.next();
                }
                sum = sum.wrapping_add(n);
                words += 1;
            }
            _ => if it.peek().is_none() { words += 100; }
        }
    }
    (sum, words)
}
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let v = (a ^ b).to_be_bytes();
    let (s, w) = number(&v);
    (s as u64) << 8 ^ w as u64
}
"#,
    ),
    (
        "it_memory",
        r#"
#[device]
fn merge(a: &[u64], b: &[u64]) -> u64 {
    let (mut i, mut j) = (a.iter(), b.iter());
    let (mut x, mut y) = (i.next(), j.next());
    let mut h = 0u64;
    loop {
        match (x, y) {
            (Some(&p), Some(&q)) if p <= q => { h = h.wrapping_mul(31) ^ p; x = i.next(); }
            (_, Some(&q)) => { h = h.wrapping_mul(31) ^ q; y = j.next(); }
            (Some(&p), None) => { h = h.wrapping_mul(31) ^ p; x = i.next(); }
            (None, None) => return h,
        }
    }
}
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    merge(&[a, b], &[c, d, 1])
}
"#,
    ),
    (
        "it_enumerate",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let v = [a, b, c, d];
    let mut it = v.iter().copied().enumerate();
    let mut h = 0;
    while let Some((i, x)) = it.next() { h ^= x << i; if x & 1 == 1 { let _ = it.next(); } }
    let mut w = v.into_iter();
    let (Some(p), Some(q)) = (w.next(), w.next()) else { return 0 };
    h ^ p ^ q.rotate_left(9) ^ w.fold(1, |a, b| a ^ b.rotate_left(1))
}
"#,
    ),
    (
        "open_range",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let y = 'outer: loop {
        for i in 0.. { if i * i >= (a & 0xff) { break 'outer i; } }
    };
    let mut h = 0u64;
    'l: for k in (b & 7).. {
        if k % 3 == 0 { continue; }
        for j in (0..).step_by(2) { if j > 5u32 { continue 'l; } h += 1; if h > 20 { break 'l; } }
    }
    y ^ h << 20
}
"#,
    ),
    (
        "const_block",
        r#"
#[device]
fn sized<const N: usize>(x: [u64; N]) -> u64 {
    const { assert!(N > 0 && N < 9) };
    const { assert!(N.is_power_of_two()) }
    let mut s = 0;
    for i in 0..N { s ^= x[i] << const { N / 2 }; }
    s
}
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let k = const { 3 * 7 + 1 };
    const TABLE: [u64; 16] = { let mut t = [0; 16]; let mut i = 0; while i < 16 { t[i] = (i * i) as u64 ^ 5; i += 1; } t };
    a.wrapping_mul(k) ^ TABLE[(b & 15) as usize] ^ const { u32::MAX as u64 >> 3 } ^ sized([a, b])
}
"#,
    ),
    (
        "map_ref_closure",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let f = |x: u64| x.wrapping_mul(3) ^ 5;
    let v = [a, b, c, d];
    let s: u64 = v.iter().copied().map(&f).fold(0, |x, y| x ^ y);
    let t = Some(a).map(&f).unwrap_or(1);
    let mut z = 0;
    for y in v.iter().copied().map(&f) { z ^= y >> 1; }
    let u = v.map(f);
    s ^ t ^ u[1] ^ f(b) ^ z
}
"#,
    ),
    (
        "iterator_next_range",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut it = (a & 7)..(b & 15);
    let mut n = 0;
    if let Some(x) = it.next() { n += x * 100; }
    n += it.is_empty() as u64 * 7 + it.start + it.end * 3;
    for x in it { n += x; }
    n
}
"#,
    ),
    (
        "result_unit",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
enum Fault { None, TooBig, Odd }
#[device]
fn check(x: u32) -> Result<(), Fault> {
    if x > 1000 { return Err(Fault::TooBig); }
    if x % 2 == 1 { return Err(Fault::Odd); }
    Ok(())
}
#[device]
fn both(x: u32, y: u32) -> Result<u32, Fault> {
    check(x)?;
    check(y)?;
    Ok(x + y)
}
#[device]
fn all(xs: &[u32]) -> Result<(), Fault> {
    for &x in xs { check(x)?; }
    if xs.len() > 100 { Err(Fault::TooBig)?; }
    check(xs[0])
}
#[device]
fn half(x: u32) -> Result<u32, ()> { if x % 2 == 0 { Ok(x / 2) } else { Err(()) } }
#[device]
fn quarter(x: u32) -> Result<u32, ()> { let h = half(x)?; half(h).map(|y| y + 1) }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, _d: u64) -> u64 {
    let r = match both(a as u32, b as u32) { Ok(x) => x as u64, Err(Fault::TooBig) => 1 << 40, Err(e) => 100 + e as u64 };
    let s = if let Err(e) = check(c as u32) { e as u64 } else { 7 };
    let t = check(b as u32).is_ok() as u64;
    let q = match quarter(a as u32) { Ok(x) => x, Err(()) => 9 };
    let v = all(&[a as u32, b as u32]);
    let w = match v { Ok(()) => 1, Err(_) => 2 } + (v == Ok(())) as u64 + check(2).map_or(3, |_| 4) + quarter(b as u32).unwrap_or(3) as u64 + half(c as u32).is_err() as u64;
    if let Ok(()) = v { return r ^ 5; }
    let k = v.and_then(|()| check(4)).map_err(|e| e as u32 + 5);
    let o = Some(a as u32).filter(|x| x % 3 == 0).ok_or(());
    r * 16 + s + t * 3 + q as u64 + w * 100 + k.is_err() as u64 + o.unwrap_or(8) as u64
}
"#,
    ),
    (
        "nested_fn",
        r#"
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct P { gcd: u32, x: u32 }
#[device]
impl P {
    fn twice(self) -> u32 {
        fn double(x: u32) -> u32 { x * 2 }
        double(self.gcd) + double(self.x)
    }
}
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    const K: u64 = 17;
    const L: u64 = K + 3;
    fn gcd(mut a: u64, mut b: u64) -> u64 {
        fn step(a: u64, b: u64) -> (u64, u64) { (b, a % b) }
        while b != 0 { (a, b) = step(a, b); }
        a + L
    }
    let x = gcd(a, b);
    #[inline]
    fn mixed<const N: u64>(x: u64, by: &mut u64) -> u64 { *by += N; x ^ *by }
    let gcd = gcd(x | 1, c.wrapping_mul(K));
    let mut by = 7u64;
    let m = mixed::<5>(d, &mut by);
    let p = P { gcd: gcd as u32, x: 4 };
    let y = {
        fn gcd(x: u64) -> u64 { x + 1 }
        gcd(a)
    };
    assert!(gcd > 0, "gcd {}", gcd);
    let v = [a, b, c].map(halved);
    fn halved(x: u64) -> u64 { x / 2 }
    gcd ^ m ^ by ^ p.twice() as u64 ^ y ^ v[2]
}
"#,
    ),
    (
        "trait_default",
        r#"
#[device]
trait Shape {
    const SIDES: u32;
    fn area(&self) -> f32;
    /// Scaled.
    fn scaled(&self, k: f32) -> f32 { self.area() * k * k }
    fn describe(&self) -> u64 { (self.area() * 4.0) as u64 * 10 + Self::SIDES as u64 }
}
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Rect { w: f32, h: f32 }
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Tri { b: f32, h: f32 }
#[device]
impl Shape for Rect {
    const SIDES: u32 = 4;
    fn area(&self) -> f32 { self.w * self.h }
}
#[device]
impl Shape for Tri {
    const SIDES: u32 = 3;
    fn area(&self) -> f32 { 0.5 * self.b * self.h }
    fn scaled(&self, k: f32) -> f32 { self.area() * k }
}
#[device]
fn total<S: Shape>(s: S, k: f32) -> u64 { s.scaled(k) as u64 + s.describe() }
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, d: u64) -> u64 {
    let r = Rect { w: (a & 255) as f32, h: (b & 255) as f32 };
    let t = Tri { b: (a & 15) as f32, h: (d & 255) as f32 };
    total(r, 2.0) << 24 ^ total(t, 3.0) ^ t.describe() << 11 ^ Rect::SIDES as u64
}
"#,
    ),
    (
        "trait_generic",
        r#"
#[device]
trait Step<T: Copy, const N: usize> {
    fn step(&self, x: T) -> T;
    fn many(&self, x: T) -> T { let mut x = x; for _ in 0..N { x = self.step(x); } x }
    fn both(&mut self, x: T) -> [T; 2] { let y = self.many(x); [y, self.step(y)] }
}
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Lcg { k: u32 }
#[device]
impl Step<u32, 3> for Lcg { fn step(&self, x: u32) -> u32 { x.wrapping_mul(1664525).wrapping_add(self.k) } }
#[device]
impl Step<u64, 2> for Lcg { fn step(&self, x: u64) -> u64 { x.rotate_left(7) ^ self.k as u64 } }
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, d: u64) -> u64 {
    let mut g = Lcg { k: d as u32 };
    let [p, q] = g.both(a as u32);
    let r: u64 = g.many(b);
    p as u64 ^ (q as u64) << 32 ^ r
}
"#,
    ),
    (
        "from_impl",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Rgb { r: u8, g: u8, b: u8 }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(transparent)]
struct Packed(u32);
#[device]
impl From<Rgb> for Packed {
    fn from(c: Rgb) -> Self { Packed((c.r as u32) << 16 | (c.g as u32) << 8 | c.b as u32) }
}
#[device]
impl From<Packed> for Rgb {
    fn from(p: Packed) -> Self { Rgb { r: (p.0 >> 16) as u8, g: (p.0 >> 8) as u8, b: p.0 as u8 } }
}
#[device]
impl From<u32> for Packed {
    fn from(x: u32) -> Self { Packed(x & 0xff_ffff) }
}

#[device]
impl From<Packed> for u64 {
    fn from(p: Packed) -> u64 { (p.0 as u64) << 3 }
}
#[device]
impl From<(u8, u8)> for Rgb {
    fn from((r, g): (u8, u8)) -> Self { Rgb { r, g, b: 9 } }
}
#[device]
impl From<[u8; 3]> for Rgb {
    fn from(v: [u8; 3]) -> Self { let [r, g, b] = v; Rgb { r, g, b } }
}
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
enum Level { Low, High = 3 }
#[device]
impl From<u32> for Level { fn from(x: u32) -> Level { if x > 7 { Level::High } else { Level::Low } } }
#[device]
impl From<Level> for u32 { fn from(l: Level) -> u32 { match l { Level::Low => 1, Level::High => 50 } } }
#[device]
fn take(p: Packed) -> u64 { p.into() }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let rgb = Rgb { r: a as u8, g: b as u8, b: c as u8 };
    let p = Packed::from(rgb);
    let q: Packed = rgb.into();
    let back: Rgb = Packed::from(d as u32).into();
    let l = Level::from(a as u32);
    let w: u32 = l.into();
    let z = u64::from(q);
    let t: Rgb = (a as u8, b as u8).into();
    let y = Rgb::from([1, 2, c as u8]);
    take(rgb.into()) ^ z ^ w as u64 ^ u32::from(l) as u64 ^ (t.g as u64) << 9 ^ (y.b as u64) << 17 ^ take(77u32.into()) ^ [rgb, t].map(Packed::from)[1].0 as u64 ^ (p.0 as u64) << 32 ^ (q.0 as u64) ^ (back.r as u64) << 50 ^ (back.g as u64) << 20 ^ back.b as u64
}
"#,
    ),
    (
        "split_first",
        r#"
#[device]
fn horner(coefficients: &[u64], x: u64) -> u64 {
    if let Some((&first, rest)) = coefficients.split_first() {
        let mut acc = first;
        for &c in rest { acc = acc.wrapping_mul(x).wrapping_add(c); }
        acc
    } else { 0 }
}
#[device]
fn ends(v: &[u64]) -> Option<u64> {
    let (first, rest) = v.split_first()?;
    let n = rest.len() as u64;
    Some(match rest.split_last() { None => *first, Some((last, [])) => first ^ last ^ 1, Some((last, mid)) => first ^ last.rotate_left(7) ^ mid.len() as u64 ^ n << 20 })
}
#[device]
fn total(v: &[u64]) -> u64 {
    let mut rest = v;
    let mut sum = 0u64;
    while let Some((x, tail)) = rest.split_first() { sum = sum.wrapping_mul(3) ^ x; rest = tail; }
    sum
}
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let v = [a, b, c];
    let Some((last, init)) = v.split_last() else { return 1 };
    let n = (d % 4) as usize;
    let (x, y) = v.split_first().unwrap();
    horner(&v, d) ^ last ^ init.iter().sum::<u64>() ^ ends(&v[..n]).unwrap_or(3) ^ total(&v[n..]) ^ x ^ y[1]
}
"#,
    ),
    (
        "slice_patterns",
        r#"
#[device]
fn parse(bytes: &[u8]) -> i32 {
    match bytes {
        [] => -1,
        [b'-', rest @ ..] => -(rest.len() as i32) - 2,
        [x] => *x as i32,
        [x, .., y] if x == y => 1000,
        [x @ (1 | 2 | 3), y, ..] => 2000 + *x as i32 * 10 + (*y & 7) as i32,
        [_, mid @ .., _] => 3000 + mid.iter().map(|&x| x as i32).sum::<i32>(),
    }
}
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, _d: u64) -> u64 {
    let bytes = [a as u8, b as u8, c as u8, b'-', 3, a as u8];
    let n = (c % 6) as usize;
    let from = (a % 6) as usize;
    parse(&bytes[..n]) as u64 ^ (parse(&bytes[from..]) as u64) << 20 ^ (parse(&[b'-', 1]) as u64) << 40
}
"#,
    ),
    (
        "array_from_fn",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, _d: u64) -> u64 {
    let t: [u64; 8] = std::array::from_fn(|i| a.rotate_left(i as u32 * 7) ^ b);
    let u = std::array::from_fn::<u64, 4, _>(|i| t[2 * i] ^ t[2 * i + 1]);
    let w = u.map(|x| x >> (c & 7));
    w.iter().copied().rev().step_by(2).fold(1u64, |h, x| h.wrapping_mul(5) ^ x)
}
"#,
    ),
    (
        "fixed_point",
        r#"
use std::ops::*;
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, DeviceCopy)]
#[repr(transparent)]
struct Q16(i32);
#[device]
impl Q16 {
    const ONE: Self = Self(1 << 16);
    const fn from_int(x: i16) -> Self { Self((x as i32) << 16) }
    fn sqrt(self) -> Option<Self> {
        if self.0 < 0 { return None; }
        Some(Self(((self.0 as u64) << 16).isqrt() as i32))
    }
}
#[device]
impl Mul for Q16 { type Output = Q16; fn mul(self, rhs: Q16) -> Q16 { Q16(((self.0 as i64 * rhs.0 as i64) >> 16) as i32) } }
#[device]
impl Div for Q16 { type Output = Q16; fn div(self, rhs: Q16) -> Q16 { Q16((((self.0 as i64) << 16) / rhs.0 as i64) as i32) } }
#[device]
impl Add for Q16 { type Output = Q16; fn add(self, rhs: Q16) -> Q16 { Q16(self.0.saturating_add(rhs.0)) } }
#[device]
impl Shr<u32> for Q16 { type Output = Q16; fn shr(self, n: u32) -> Q16 { Q16(self.0 >> n) } }
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let x = Q16(a as i32);
    let y = Q16::from_int(b as i16) + Q16::ONE;
    let z = x * y / (Q16::ONE + Q16::ONE);
    let s = match x.sqrt() { Some(s) if s > Q16::ONE => s.0, Some(s) => (s >> 1).0, None => -1 };
    z.0 as u64 ^ (s as u64) << 32
}
"#,
    ),
];
