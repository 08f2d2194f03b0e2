//! Methods and functions of Rust's own types that kernels do not have. rustc knows the types, and says so in our words.

use phalanx::prelude::*;

#[cluster_kernel]
fn of_numbers(input: &[u32], output: &mut [u32], x: f32) {
    let (a, b) = (input[0], input[1]);
    output[0] = a.strict_add(b);
    output[1] = a.unbounded_shl(b) + input[3].wraping_add(4);
    output[2] = x.next_up() as u32 + x.cmp(&x) as u32;
    let narrow: Result<u8, _> = a.try_into();
    output[3] = a.clone().add(b);
}

#[cluster_kernel]
fn of_values_with_parts(input: &[u32], output: &mut [u32]) {
    let (array, pair, option) = ([input[0], 2, 3], (input[0], 4), input[0].checked_sub(3));
    let sorted = array.first() + array.iter_mut();
    array.sort_unstable();
    if pair.lt(&pair) || array.cmp(&array).is_lt() {
        output[0] = option.ok_or(4) + option.get_or_insert(5);
    }
    output[1] = output.atomic(0).compare_exchange(0, 1, Relaxed, Relaxed).map_err(|x| x + 1);
}

#[cluster_kernel]
fn functions(input: &[u32], output: &mut [u32]) {
    output[0] = u32::from_str_radix("12", 10) + u32::max_value();
    output[1] = Ord::max(input[0], input[1]);
    output[2] = u32::try_from(input[0] as u64);
}

fn main() {}
