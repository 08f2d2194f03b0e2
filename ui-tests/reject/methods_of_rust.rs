//! Methods and functions of Rust's own types that kernels do not have. rustc knows the types, and says so in our words.

use phalanx::prelude::*;

#[cluster_kernel]
fn of_integers(input: &[u32], output: &mut [u32], signed: i32) {
    let (a, b) = (input[0], input[1]);
    output[0] = a.strict_add(b);
    output[1] = a.unbounded_shl(b) + input[3].wraping_add(4);
    output[3] = a.clone();
    output[4] = a.add(b);
    output[5] = a.wrapping_sub_signed(signed);
    let difference = a.checked_signed_diff(b);
    let (sum, carry) = a.carrying_add(b, true);
    output[6] = a.ilog(b) + a.default() + a.is_ascii() as u32;
    let text = a.to_string();
    let signed: i8 = a.into();
    let bytes = a.to_ne_bytes();
    let mut letter = a as u8;
    letter.make_ascii_uppercase();
}

#[cluster_kernel]
fn of_other_scalars(output: &mut [u32], x: f32, flag: bool) {
    output[0] = x.next_up() as u32 + x.cmp(&x) as u32;
    output[1] = x.abs_sub(1.0) as u32;
    output[2] = unsafe { x.to_int_unchecked() };
    output[3] = x.classify();
    let order = flag.is_lt() || flag.then(4).is_some();
}

#[cluster_kernel]
fn of_options(input: &[u32], output: &mut [u32]) {
    let option = input[0].checked_sub(3);
    let pair = if input[0] == 3 { Some((1, 2)) } else { None };
    output[0] = option.ok_or(4) + option.get_or_insert(5);
    output[1] = input[0].or(3) + input[0].flatten();
    output[2] = pair.unwrap_or_default();
    output[3] = unsafe { option.unwrap_unchecked() };
    output[4] = output.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).map_err(|x| x + 1);
}

#[cluster_kernel]
fn of_values_with_parts(input: &[u32], output: &mut [u32]) {
    let (array, pair) = ([input[0], 2, 3], (input[0], 4));
    let sorted = array.first() + array.iter_mut();
    array.sort_unstable();
    let numbers: [u64; 3] = array.into();
    output[0] = array.starts_with(array) + array.is_empty() + array.as_ptr();
    if pair.lt(&pair) || array.cmp(&array).is_lt() {
        output[0] = 3;
    }
}

#[cluster_kernel]
fn functions(input: &[u32], output: &mut [u32]) {
    output[0] = u32::from_str_radix("12", 10) + u32::max_value() + u32::min_value();
    output[1] = Ord::max(input[0], input[1]);
    output[2] = u32::try_from(input[0] as u64) + u32::from_be(input[0]);
    output[3] = u32::from_ne_bytes([1, 2, 3, 4]);
}

fn main() {}
