//! Programs by hand: each is the smallest that showed a fault of code generation. `true` marks a wrong result that is known
//! and yet to be mended; when it is right, the comparison asks for `false`.

use super::Program;

/// Returns the programs.
pub(super) fn programs() -> impl Iterator<Item = Program> {
    let program = |(name, is_known, text): &(&str, bool, &str)| Program {
        name: (*name).into(),
        is_known: *is_known,
        text: (*text).into(),
    };
    PROGRAMS.iter().map(program)
}

/// The programs: their names, whether their wrong result is known, and their texts.
const PROGRAMS: &[(&str, bool, &str)] = &[
    (
        "block_first_closure",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let (p, q) = (a as i32, b as i32);
    [p, q].iter().map(|&x| { 10 } - x).sum::<i32>() as u64
}",
    ),
    (
        "replaced_element",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, c: u64, _d: u64) -> u64 {
    let mut v = [a as u32, b as u32, c as u32];
    let mut i = 0;
    let old = std::mem::replace(&mut v[i], { i += 1; 5 });
    (old as u64) << 32 | (v[0] + v[1] * 3 + v[2] * 5 + i as u32) as u64
}",
    ),
    (
        "fold_start_after_range",
        false,
        "
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    let mut n = a as u32 & 3;
    let sum = (0..n).fold({ n = 5; 0 }, |sum, i| sum + i + 1);
    sum as u64 + n as u64
}",
    ),
    (
        "map_or_default_first",
        false,
        "
#[device]
fn next(counter: &mut i32) -> i32 {
    *counter += 1;
    *counter
}
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut c = b as i32;
    let option = if a & 1 == 0 { Some(a as i32) } else { None };
    let x = option.map_or(-next(&mut c), |v| v + c);
    (x as u64) << 32 | c as u32 as u64
}",
    ),
    (
        "contains_after_range",
        false,
        "
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    let mut g = a as u32 & 7;
    let holds = (g..5).contains(&{ g = 9; 4 });
    holds as u64 * 100 + g as u64
}",
    ),
    (
        "alias_named_as_a_type",
        false,
        "
#[allow(non_camel_case_types)]
type u8 = core::primitive::u32;
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    let x = a as u8;
    (x + 1) as u64
}",
    ),
];
