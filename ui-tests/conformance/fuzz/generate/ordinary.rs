//! Programs by hand of ordinary Rust: methods that change elements, derived orders, functions of the file in iterators, variants
//! that modules import.

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
        "elements_change",
        r#"
#[derive(Clone, Copy, Debug, Default, PartialEq, DeviceCopy)]
#[repr(C)]
struct P { x: u32, v: u32 }
#[device]
impl P { fn pull(&mut self, o: P, k: u32) -> u32 { self.v ^= o.x * k; self.x += self.v; self.x } fn look(&self, k: u32) -> u32 { self.x ^ k } fn val(self, k: u32) -> u32 { self.x * k } }
#[device]
trait Decay { fn decay(&mut self, by: u32); fn look2(&self) -> u32; }
#[device]
impl Decay for u32 { fn decay(&mut self, by: u32) { *self /= by | 1; } fn look2(&self) -> u32 { *self * 3 } }
#[device]
fn touch(x: &mut u32) -> u32 { *x += 1; *x }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let mut ps = [P { x: a as u32, v: 1 }, P { x: b as u32, v: 2 }, P { x: c as u32, v: 3 }];
    let mut h = 0u32;
    for i in 0..3 { for j in 0..3 { if i != j { h = h * 3 + ps[i].pull(ps[j], i as u32); } } }
    h = h * 3 + ps[0].look(ps[1].val(ps[2].x));
    h = h * 3 + ps[1].val(ps[1].look(4));
    let mut n = d as u32 & 1;
    h = h * 3 + ps[touch(&mut n) as usize % 3].pull(P { x: 1, v: 2 }, touch(&mut n));
    let mut m = [[1u32, 2], [3, 400]];
    m[1][(a & 1) as usize].decay(m[0][1]);
    m[0][0].decay(2);
    let mut w = u32x4::new([1, 200, 3, 4]);
    w[1].decay(7);
    fn all(v: &mut [P; 3], by: u32) -> u32 { v[1].pull(v[0], by) ^ v[(by % 3) as usize].look(v[2].x) }
    h ^= all(&mut ps, n);
    let nested = &mut ps[2];
    nested.pull(P { x: 3, v: 3 }, 3);
    let fixed = [P { x: 5, v: 5 }; 2];
    h = h * 3 + fixed[(b & 1) as usize].look(1) + m[1][1].look2() + w[1];
    h as u64 ^ (ps[0].x as u64) << 32 ^ ps[2].x as u64
}
"#,
    ),
    (
        "orders",
        r#"
use std::cmp::{Ordering, Reverse};
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, DeviceCopy)]
#[repr(u8)]
enum Suit { #[default] Clubs, Diamonds, Hearts, Spades }
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, DeviceCopy)]
#[repr(i16)]
enum Sign { Plus = 3, Minus = -4, Zero = 0 }
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, DeviceCopy)]
#[repr(C)]
struct Card { rank: u8, suit: Suit }
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default, DeviceCopy)]
#[repr(C)]
struct M { w: [f32; 2], v: f32 }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let s = |x: u64| match x & 3 { 0 => Suit::Clubs, 1 => Suit::Diamonds, 2 => Suit::Hearts, _ => Suit::Spades };
    let g = |x: u64| match x % 3 { 0 => Sign::Plus, 1 => Sign::Minus, _ => Sign::Zero };
    let k = |x: u64| Card { rank: x as u8 & 3, suit: s(x >> 8) };
    let mut h = [k(a), k(b), k(c), k(d)];
    h.sort_unstable();
    let z = h.iter().fold(0u64, |z, c| z * 16 + (c.rank * 4 + c.suit as u8) as u64);
    let p = M { w: [f32::from_bits(a as u32), f32::from_bits(b as u32)], v: 1.0 };
    let q = M { w: [f32::from_bits(a as u32), f32::from_bits(c as u32)], v: f32::from_bits(d as u32) };
    let r = match p.partial_cmp(&q) { Some(Ordering::Less) => 1u64, Some(_) => 2, None => 3 };
    let o = match g(a).cmp(&g(b)) { Ordering::Less => 1u64, Ordering::Equal => 2, Ordering::Greater => 3 };
    let w = ([a, b] < [c, d]) as u64 + ([a, b] <= [a, c]) as u64 * 2 + ([a, b, c] > [a, b, d]) as u64 * 4 + ([p.v; 3] >= [p.v; 3]) as u64 * 8;
    let u = [a, b].partial_cmp(&[c, d]).map_or(9, |o| o as i8) as u64 ^ [a, b].cmp(&[a, c]) as i8 as u64;
    let x = (g(a) < g(b)) as u64 + (s(c) >= s(d)) as u64 * 2 + (p <= q) as u64 * 4 + ((s(a), b) < (s(c), d)) as u64 * 8;
    let y = std::cmp::max(g(c), g(d)) as i16 as u64 ^ std::cmp::min(s(a), s(d)) as u64 ^ [g(a), g(b)].iter().copied().max().unwrap() as i16 as u64;
    z ^ r << 20 ^ o << 24 ^ w << 30 ^ u << 40 ^ x << 50 ^ y << 8
}
"#,
    ),
    (
        "folds_by_functions",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
enum Op { Push(u32), Pop, Jump(i16) }
#[device]
fn add(h: u64, x: u64) -> Option<u64> { h.checked_add(x) }
#[device]
fn sub(h: u64, x: u64) -> Result<u64, u32> { h.checked_sub(x).ok_or(3) }
#[device]
fn each(x: u64) -> Result<(), u32> { if x > 1 << 40 { Err(1) } else { Ok(()) } }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let v = [a, b, c, d];
    let r = v.iter().copied().try_fold(0, add).unwrap_or(7);
    let s = v.iter().copied().try_fold(u64::MAX >> 1, |x, y| sub(x, y)).unwrap_or(5);
    let t = v.iter().copied().try_for_each(each).is_ok() as u64;
    let ops = [Op::Push(a as u32), Op::Pop, Op::Jump(b as i16), Op::Push(3)];
    let n = ops.iter().filter(|o| matches!(o, Op::Push(1..) | Op::Jump(..))).count() as u64;
    let m = ops.iter().filter(|o| matches!(**o, Op::Push(x) if x > 2)).count() as u64;
    let k = v.iter().filter(|x| { assert!(**x != 12345, "no {}", 1); **x > 2 }).count() as u64;
    let q = v.iter().filter(|x| matches!(**x % 4, 1 | 2)).max().copied().unwrap_or(0);
    r ^ s ^ t << 50 ^ n << 20 ^ m << 24 ^ k << 30 ^ q
}
"#,
    ),
    (
        "variants_of_modules",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
pub enum Cmd { Go(u32), Stop, Turn { by: i32 } }
#[derive(Clone, Copy, PartialEq, Eq, Debug, DeviceCopy)]
#[repr(u8)]
pub enum Dir { N, E, S, W }
pub const START: u32 = 7;
mod run {
    use super::*;
    use super::Cmd::*;
    #[device]
    pub fn exec(c: Cmd, pos: u32) -> u32 { match c { Go(n) => pos.wrapping_add(n), Stop => START, Turn { by } => pos ^ by as u32 } }
    pub mod more {
        use super::super::Dir::{self, *};
        use super::*;
        #[device]
        pub fn turn(d: Dir) -> Dir { match d { N => E, E => S, S => W, W => N } }
        #[device]
        pub fn first(x: u32) -> Cmd { if x > 5 { Go(x) } else if x == 1 { Turn { by: -1 } } else { Cmd::Stop } }
    }
}
mod again {
    use phalanx::prelude::*;
    pub use super::Cmd::*;
    pub mod deeper { use super::*; use super::super::Cmd;
        #[device]
        pub fn is_go(c: Cmd) -> bool { matches!(c, Go(..)) } }
}
use run::*;
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let x = exec(more::first(a as u32), b as u32);
    let dir = more::turn(match c & 3 { 0 => Dir::N, 1 => Dir::E, 2 => Dir::S, _ => Dir::W });
    let y = exec(Cmd::Turn { by: d as i32 }, x);
    x as u64 ^ (y as u64) << 32 ^ dir as u64 ^ again::deeper::is_go(more::first(b as u32)) as u64
}
"#,
    ),
    (
        "items_of_inner_blocks",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut s = 0;
    for i in 0..3u64 {
        type W = u32;
        const STEP: u64 = 5;
        static T: [u64; STEP as usize] = [1, 2, 3, 4, 5];
        let w = a.wrapping_add(i) as W;
        s += w as u64 % 1000 * STEP + T[(b % STEP) as usize];
    }
    let STEP_OF = 2u64;
    {
        const STEP: u64 = 9;
        const OTHER: u64 = STEP * 2;
        s ^= match b { STEP => 1, OTHER => 2, _ => STEP };
        { const STEP: u64 = 11; s += STEP; }
        s += STEP;
    }
    s + STEP_OF
}"#,
    ),
    (
        "parameters_of_traits",
        r#"
#[device]
trait Shape { fn area(&self) -> u64; fn grow(&mut self, by: u64); }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Sq { s: u64 }
#[device]
impl Shape for Sq { fn area(&self) -> u64 { self.s.wrapping_mul(self.s) } fn grow(&mut self, by: u64) { self.s = self.s.wrapping_add(by); } }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Re { w: u64, h: u64 }
#[device]
impl Shape for Re { fn area(&self) -> u64 { self.w.wrapping_mul(self.h) } fn grow(&mut self, by: u64) { self.w = self.w.wrapping_add(by); } }
#[device]
fn sum(x: &impl Shape, y: &impl Shape) -> u64 { x.area().wrapping_add(y.area()) }
#[device]
fn grown(mut x: impl Shape, by: u64) -> u64 { x.grow(by); x.area() }
#[device]
fn grow_all(x: &mut impl Shape, n: u64) { for i in 0..n { x.grow(i); } }
#[device]
fn bigger(a: impl Integer, b: u64) -> u64 { b + (a == a) as u64 }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct World { t: u64 }
#[device]
impl World { fn add(&mut self, s: &impl Shape) { self.t = self.t.wrapping_add(s.area()); } }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let mut q = Sq { s: a };
    let r = Re { w: b, h: c };
    grow_all(&mut q, d & 3);
    let mut w = World { t: 1 };
    w.add(&q); w.add(&r);
    sum(&q, &r) ^ grown(r, 3).rotate_left(3) ^ grown(q, 4).rotate_left(5) ^ bigger(a as u32, d) ^ w.t.rotate_left(9)
}"#,
    ),
    (
        "generator_by_trait",
        r#"
#[device]
trait Rng { fn next(&mut self) -> u32; }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct Lcg { s: u32 }
#[device]
impl Rng for Lcg { fn next(&mut self) -> u32 { self.s = self.s.wrapping_mul(1664525).wrapping_add(1013904223); self.s >> 8 } }
#[device]
fn two(rng: &mut impl Rng) -> u32 { let a = rng.next(); let b = rng.next(); a ^ b }
#[device]
fn three<R: Rng>(rng: &mut R) -> u32 { two(rng).wrapping_add(rng.next()) }
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    let mut r = Lcg { s: a as u32 };
    let x = two(&mut r);
    let y = three(&mut r);
    (x as u64) << 32 | y as u64
}"#,
    ),
    (
        "closure_called_once",
        r#"
#[device]
fn once(x: u32, f: impl FnOnce(u32) -> u32) -> u32 { f(x) + 1 }
#[device]
fn lazy<F: FnOnce() -> u32>(c: bool, f: F) -> u32 { if c { f() } else { 0 } }
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let k = b as u32 & 15;
    (once(a as u32 & 255, |v| v * k) + lazy(a & 1 == 0, || k + 3)) as u64
}"#,
    ),
    (
        "closures_called_once",
        r#"
#[device]
fn with<F: FnOnce(u64) -> u64>(x: u64, f: F) -> u64 where { f(x) }
#[device]
fn twice(x: u64, mut f: impl FnMut(u64)) { f(x); f(x + 1); }
#[device]
fn apply_if(c: bool, f: impl FnOnce()) { if c { f(); } }
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, _d: u64) -> u64 {
    let mut n = 0u64;
    apply_if(a & 1 == 0, || n += 5);
    apply_if(b & 1 == 0, || { n *= 3; n ^= c; });
    let r = with(a, |x| { n = n.wrapping_add(x); x / 2 });
    twice(b & 7, |x| n = n.wrapping_mul(31).wrapping_add(x));
    r ^ n
}"#,
    ),
    (
        "errors_converted",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
pub enum E1 { A, B(u32) }
#[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
pub enum E2 { Outer(E1), Big }
#[device]
impl From<E1> for E2 { fn from(e: E1) -> E2 { E2::Outer(e) } }
#[device]
fn inner(x: u32) -> Result<u32, E1> { if x & 1 == 1 { Err(E1::B(x)) } else if x & 2 == 2 { Err(E1::A) } else { Ok(x / 2) } }
#[device]
fn outer(x: u32) -> Result<u32, E2> { let y = inner(x)?; if y > 1000 { return Err(E2::Big); } Ok(y + 1) }
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    match outer(a as u32) { Ok(x) => x as u64, Err(E2::Big) => 1 << 40, Err(E2::Outer(E1::A)) => 1 << 41, Err(E2::Outer(E1::B(x))) => (1 << 42) + x as u64 }
}"#,
    ),
    (
        "errors_converted_from_numbers",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
pub enum Low { Zero, Odd = 2 }
#[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
pub enum High { Low(Low), Much { by: u64 } }
#[device]
impl From<Low> for High { fn from(e: Low) -> Self { High::Low(e) } }
#[device]
fn check(x: u64) -> Result<(), Low> { if x == 0 { Err(Low::Zero) } else if x & 1 == 1 { return Err(Low::Odd) } else { Ok(()) } }
#[device]
fn limit(x: u64) -> Result<u64, High> { if x > 100 { Err(High::Much { by: x - 100 }) } else { Ok(x) } }
#[device]
fn all(x: u64, y: u64) -> Result<u64, High> {
    check(x)?;
    let y = limit(y)?;
    check(y)?;
    Ok(limit(x)? + y)
}
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    match all(a, b) { Ok(x) => x, Err(High::Low(Low::Zero)) => 1000, Err(High::Low(Low::Odd)) => 2000, Err(High::Much { by }) => 3000u64.wrapping_add(by) }
}"#,
    ),
    (
        "receiver_indexed_by_itself",
        r#"
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
pub struct P { x: u32, y: u32 }
#[device]
impl P { fn bump(&mut self, n: u32) -> u32 { self.y += n; self.y } }
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut v = [P { x: a as u32 & 1, y: 3 }, P { x: b as u32 & 1, y: 5 }];
    let r = v[v[0].x as usize].bump(1);
    let q = v[v[1].x as usize].bump(2);
    (r + q * 10 + v[0].y * 100 + v[1].y * 1000) as u64
}"#,
    ),
    (
        "slices_of_types",
        r#"
pub struct Tab;
impl Tab { const BYTES: &'static [u8] = &[1, 2, 3, 4]; }
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    Tab::BYTES[(a & 3) as usize] as u64 + Tab::BYTES.len() as u64
}"#,
    ),
    (
        "iterators_compared",
        r#"
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {
    let x = [a as u32 & 3, b as u32 & 3, 1];
    let y = [c as u32 & 3, d as u32 & 3, 1];
    let e = x.iter().eq(y.iter());
    let n = x.iter().ne(y.iter().rev());
    let p = x.iter().rev().eq(x.iter());
    let k = (a % 4) as usize;
    let m = k.min(3); let s = x[..m].iter().eq(y.iter().take(2));
    let z = x.iter().copied().eq(y.iter().copied());
    let r = false;
    let q = x.iter().skip(1).eq(y.iter().take(m));
    e as u64 + 2 * n as u64 + 4 * p as u64 + 8 * s as u64 + 16 * z as u64 + 32 * r as u64 + 64 * q as u64
}"#,
    ),
];
