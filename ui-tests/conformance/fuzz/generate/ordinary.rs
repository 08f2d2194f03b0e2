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
];
