//! What Rust's library has and kernels have in another form: one error says so where it stands.

use std::num::{Saturating, Wrapping};

use phalanx::prelude::*;

#[device]
fn wrapping(x: u32, y: u32) -> u32 {
    let mut hash = Wrapping(x);
    hash ^= Wrapping(y);
    hash *= Wrapping(0x9e37_79b9);
    hash.0
}

#[device]
fn of_a_type(x: Wrapping<u32>) -> Wrapping<u32> {
    x << 3
}

#[device]
fn saturating(x: u32) -> u32 {
    (Saturating(x) + Saturating(3)).0
}

#[device]
fn letters(x: u8) -> u32 {
    match x as char {
        'a'..='z' => 1,
        '_' => 2,
        _ => 0,
    }
}

#[device]
fn letters_alone(x: u8) -> u32 {
    match x {
        'a'..='z' => 1,
        '_' => 2,
        _ => 0,
    }
}

#[device]
fn from_a_number(x: u32) -> u32 {
    char::from_u32(x).map_or(0, |c| c as u32)
}

#[device]
fn of_a_letter(c: char) -> u32 {
    c as u32
}

#[device]
fn halved(x: u32) -> u32 {
    std::iter::successors(Some(x), |v| (*v > 1).then_some(*v / 2)).sum::<u32>()
}

#[device]
fn repeated(x: u32) -> u32 {
    let mut sum = 0;
    for v in std::iter::repeat(x).take(3) {
        sum += v;
    }
    sum
}

#[device]
fn once_more(x: u32) -> u32 {
    std::iter::once(x).chain([1, 2]).sum::<u32>()
}

fn main() {}
