//! Programs by hand: each is the smallest that showed a fault of code generation. `true` marks a wrong result that is known
//! and yet to be mended; when it is right, the comparison asks for `false`.

use super::Program;

/// Returns the programs.
pub(super) fn programs() -> impl Iterator<Item = Program> {
    let program = |(name, is_known, text): &(&str, bool, &str)| Program {
        name: (*name).into(),
        is_known: *is_known,
        has_memory: false,
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
        "index_of_the_array_itself",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut x = [a % 4, b % 4, 2, 3];
    x[x.len() - 1] = 1;
    x[x[0] as usize] = 2;
    x[x[1] as usize] += x[2];
    x[{ x[0] = 1; 2 }] = 5;
    x[0] + x[1] * 7 + x[2] * 11 + x[3] * 13
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
    (
        "index_before_replaced_value",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut m = [[a as u32, 2], [3, b as u32]];
    let mut i = 0;
    let x = m[i].get({ i = 1; 0 }).copied().unwrap_or(5);
    let mut n = [6, 7];
    std::mem::swap(&mut m[0][i], &mut n[{ i -= 1; i }]);
    x as u64 + (m[0][0] + m[0][1] * 3 + m[1][0] * 5 + m[1][1] * 7 + n[0] * 13) as u64 * 11
}",
    ),
    (
        "option_set_to_none",
        false,
        "
#[device]
pub(crate) fn program(a: u64, _b: u64, _c: u64, _d: u64) -> u64 {
    let mut option = Some(a as i32);
    let late;
    if a > 3 { late = Some(4); } else { late = None; }
    if let Some(x) = option { if x > 5 { option = None; } }
    option.map_or(7, |x| x as u64) + (option == None) as u64 * 3 + late.unwrap_or(1)
}",
    ),
    // C++ takes `u32(value);` for a declaration of `value`.
    (
        "discarded_value",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut x = a as u32;
    let _ = if b > 3 { x += 1; x | 4 } else { x };
    let _ = match b { 0 => { x += 2; x & 1 } _ => x };
    x as u64
}",
    ),
    // `bool & bool` is an `int` in C++.
    (
        "eager_logic_in_an_arm_of_a_closure",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let (p, q) = (a & 1 == 1, b & 1 == 1);
    let f = |x: bool| match a { 0 if q => x, 1 | 2 if p => false, _ => x & q };
    f(p) as u64 + f(!p) as u64 * 2
}",
    ),
    (
        "all_arms_are_none",
        false,
        "
#[device]
pub(crate) fn program(a: u64, b: u64, _c: u64, _d: u64) -> u64 {
    let mut n = a as u32;
    let x: Option<u32> = { n += 1; match n { 2 | 7 if b > 3 => None, _ => None } };
    let mut y = Some(n);
    if n > 4 { y = loop { n += 1; if n % 3 == 0 { break None; } }; }
    x.unwrap_or(n) as u64 + y.map_or(5, |y| y as u64)
}",
    ),
];
