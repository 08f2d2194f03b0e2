//! Kernels that fail, each in one way and in one thread: the cause with its values, the location in this file, the
//! block and the thread are reported, and the device still works. A comment with the kernel's name stands before each
//! expression that fails. Faults that the checks refuse, or that only the simulator finds, are not here.

use phalanx::prelude::*;

use super::failing::{right, still_works};
use crate::{Check, Kernel, Module, Outcome, check_list, fails, failure, find, kernel_list};

const SOURCE: &str = include_str!("failures.rs");

#[device]
fn third(values: &[i32], at: i32) -> i32 {
    /* in_device_function */
    values[at * 10]
}

#[device]
fn quotient(a: i32, b: i32) -> i32 {
    let c = a + 1;
    /* division_in_device_function */
    c / b
}

#[device]
fn checked(a: u32) -> u32 {
    /* assertion_in_device_function */
    assert!(a != 7, "a is {a}");
    a
}

failing! { input, out, n;
    named_condition, "index 64 out of bounds for length 64", {
        let mut sum = 0;
        for i in 0..n * 10 {
            let inside = i > n && i < n * 9 + 2;
            if inside {
                sum += /* named_condition */ input[i];
            }
        }
        out[0] = sum;
    }
    named_condition_of_an_earlier_value, "index 64 out of bounds for length 64", {
        let (mut sum, mut at) = (0, n);
        for _ in 0..n * 10 {
            let inside = at < 64;
            at += 1;
            if inside {
                sum += /* named_condition_of_an_earlier_value */ input[at];
            }
        }
        out[0] = sum;
    }
    // Indexes.
    slice_load, "index 100 out of bounds for length 64", { out[0] = /* slice_load */ input[n + 93]; }
    slice_load_negative, "index -1 out of bounds for length 64", { out[0] = /* slice_load_negative */ input[n - 8]; }
    slice_load_lowest, "index -2147483648 out of bounds for length 64", {
        out[0] = /* slice_load_lowest */ input[n - 7 + i32::MIN];
    }
    slice_load_u32, "index 4294967295 out of bounds for length 64", {
        out[0] = /* slice_load_u32 */ input[(n - 8) as u32];
    }
    slice_load_usize, "index 7000000000000 out of bounds for length 64", {
        out[0] = /* slice_load_usize */ input[n as usize * 1_000_000_000_000];
    }
    slice_load_usize_max, "index 18446744073709551615 out of bounds for length 64", {
        out[0] = /* slice_load_usize_max */ input[(n - 8) as usize];
    }
    slice_load_literal, "index 64 out of bounds for length 64", { out[0] = /* slice_load_literal */ input[64]; }
    slice_load_mutable, "index 70 out of bounds for length 64", { out[0] = /* slice_load_mutable */ out[n * 10]; }
    slice_store, "index 64 out of bounds for length 64", { /* slice_store */ out[n + 57] = 1; }
    slice_store_negative, "index -7 out of bounds for length 64", { /* slice_store_negative */ out[-n] = 1; }
    slice_change, "index 64 out of bounds for length 64", { /* slice_change */ out[64] += n; }
    slice_in_slice, "index 100 out of bounds for length 64", {
        out[0] = input[1] + /* slice_in_slice */ input[input[2] + 97] + input[3];
    }
    second_of_a_line, "index 65 out of bounds for length 64", {
        out[0] = input[0]; out[1] = /* second_of_a_line */ input[65]; out[2] = input[66];
    }
    behind_letters, "index 99 out of bounds for length 64", { /* größe → */ out[0] = /* behind_letters */ input[99]; }
    over_lines, "index 77 out of bounds for length 64", {
        out[0] = input[0]
            + n
            + /* over_lines */ input[
                n * 11
            ];
    }
    local_array, "index 7 out of bounds for length 3", { let a = [1, 2, n]; out[0] = /* local_array */ a[n]; }
    local_array_store, "index 4 out of bounds for length 4", {
        let mut a = [0; 4];
        /* local_array_store */ a[n - 3] = 1;
        out[0] = a[0];
    }
    local_array_change, "index -1 out of bounds for length 4", {
        let mut a = [0; 4];
        /* local_array_change */ a[n - 8] *= 2;
        out[0] = a[0];
    }
    nested_array_inner, "index 7 out of bounds for length 2", {
        let a = [[n, 1], [2, 3]];
        out[0] = /* nested_array_inner */ a[1][n];
    }
    nested_array_outer, "index 7 out of bounds for length 2", {
        let mut a = [[n, 1], [2, 3]];
        /* nested_array_outer */ a[n][1] = 4;
        out[0] = a[0][0];
    }
    global_atomic, "index 67 out of bounds for length 64", {
        /* global_atomic */ out.atomic(n + 60).fetch_add(1, Relaxed);
    }
    global_atomic_load, "index -7 out of bounds for length 64", {
        out[0] = /* global_atomic_load */ out.atomic(-n).load(Relaxed);
    }

    // Loops, whose bounds are tested before them.
    loop_past_the_end, "index 64 out of bounds for length 64", {
        for k in 0..n {
            out[k + 20] = 1;
            out[0] += /* loop_past_the_end */ input[k + 60];
        }
    }
    loop_before_the_start, "index -1 out of bounds for length 64", {
        for k in (0..n).rev() { out[0] += /* loop_before_the_start */ input[k - 1]; }
    }
    loop_with_steps, "index 65 out of bounds for length 64", {
        for k in (n..100).step_by(29) { /* loop_with_steps */ out[k] = k; }
    }
    loop_that_wraps, "index 4294967292 out of bounds for length 64", {
        for k in 0..n as u32 { /* loop_that_wraps */ out[k + (k - 4)] = 1; }
    }
    loop_that_skips, "index 66 out of bounds for length 64", {
        for k in 0..n {
            if k == 3 {
                continue;
            }
            out[0] += /* loop_that_skips */ input[k * 11];
        }
    }
    loop_of_clamped_indexes, "index 70 out of bounds for length 64", {
        for k in 0..n { out[0] += /* loop_of_clamped_indexes */ input[(k * 20).clamp(0, n * 10)]; }
    }
    loop_of_two, "index 67 out of bounds for length 64", {
        for k in 0..n { for j in 0..4 { out[0] += /* loop_of_two */ input[k * 10 + j * (k + 1) / 2]; } }
    }
    loop_of_indexes_from_memory, "index 67 out of bounds for length 64", {
        for k in 0..n { out[0] += /* loop_of_indexes_from_memory */ input[input[k] * 22 + 1]; }
    }

    loop_of_parts, "range 60..68 out of bounds for length 64", {
        for k in 0..n {
            let part = /* loop_of_parts */ &input[k * 10..k * 10 + 8];
            out[k] = part[0] + part[7];
        }
    }
    loop_of_parts_by_number, "range 55..66 out of bounds for length 64", {
        for k in 0..n {
            let part = /* loop_of_parts_by_number */ &input[k * (n + 4)..(k + 1) * (n + 4)];
            out[k] = part[0];
        }
    }
    loop_of_parts_that_end_early, "range 2..0 out of bounds for length 64", {
        let length = n - 9;
        for k in 2..n {
            let part = /* loop_of_parts_that_end_early */ &input[k..k + length];
            out[k] = part.len() as i32;
        }
    }
    straight_part, "range 57..65 out of bounds for length 64", {
        out[1] = input[n] + input[n + 1];
        let part = /* straight_part */ &input[n + 50..n + 58];
        out[2] = part[0];
    }

    in_device_function, "index 70 out of bounds for length 64", { out[0] = third(input, n); }

    // Divisions.
    division, "attempt to divide 7 by zero", { out[0] = /* division */ n / (n - 7); }
    remainder, "attempt to divide 7 by zero", { out[0] = /* remainder */ n % (n - 7); }
    division_assignment, "attempt to divide 9 by zero", {
        let mut m = n + 2;
        /* division_assignment */ m /= n - 7;
        out[0] = m;
    }
    remainder_assignment_in_memory, "attempt to divide 3 by zero", {
        out[40] = 3;
        /* remainder_assignment_in_memory */ out[40] %= n - 7;
    }
    wrapping_division, "attempt to divide 7 by zero", { out[0] = /* wrapping_division */ n.wrapping_div(n - 7); }
    wrapping_remainder, "attempt to divide -7 by zero", { out[0] = /* wrapping_remainder */ (-n).wrapping_rem(n - 7); }
    division_overflow, "attempt to divide -2147483648 by -1 with overflow", {
        out[0] = /* division_overflow */ (i32::MIN + n - 7) / (n - 8);
    }
    remainder_overflow, "attempt to divide -128 by -1 with overflow", {
        let m = (n - 135) as i8;
        let r = /* remainder_overflow */ m % (n - 8) as i8;
        out[0] = r as i32;
    }
    division_of_i64, "attempt to divide -9223372036854775808 by -1 with overflow", {
        let m = i64::MIN;
        let q = /* division_of_i64 */ m / (n - 8) as i64;
        out[0] = q as i32;
    }
    division_of_u64, "attempt to divide 18446744073709551609 by zero", {
        let m = -n as i64 as u64;
        let q = /* division_of_u64 */ m / (n - 7) as u64;
        out[0] = q as i32;
    }
    division_of_u8, "attempt to divide 255 by zero", { let q = /* division_of_u8 */ 255 / (n - 7) as u8; out[0] = q as i32; }
    division_of_i128, "attempt to divide -7 by zero", {
        let m = -n as i128;
        let q = /* division_of_i128 */ m / (n - 7) as i128;
        out[0] = q as i32;
    }
    division_in_device_function, "attempt to divide 8 by zero", { out[0] = quotient(n, n - 7); }
    first_of_two_divisions, "attempt to divide 1 by zero", {
        out[0] = /* first_of_two_divisions */ 1 / (n - 7) + 2 / (n - 7);
    }
    left_operand_first, "attempt to divide 1 by zero", {
        out[0] = /* left_operand_first */ 1 / (n - 7) + input[n * 100];
    }
    value_before_place, "attempt to divide 7 by zero", { out[n * 100] = /* value_before_place */ n / (n - 7); }

    // Assertions and panics.
    assertion, "assertion failed: n < 5 (left: 7, right: 5)", { /* assertion */ assert!(n < 5); }
    assertion_of_effects, "assertion failed: n * 2 >= m (left: 14, right: 15)", {
        let m = n * 2 + 1;
        /* assertion_of_effects */ assert!(n * 2 >= m);
    }
    assertion_of_more, "assertion failed: n == 7 && n > 100", { /* assertion_of_more */ assert!(n == 7 && n > 100); }
    assertion_of_equality, "assertion failed: n == 5", { /* assertion_of_equality */ assert!(n == 5); }
    assertion_of_floats, "assertion failed: x > y (left: 3.5, right: 1e30)", {
        let x = n as f32 * 0.5;
        let y = 1e30f32;
        /* assertion_of_floats */ assert!(x > y);
    }
    assertion_with_message, "7 is odd", { /* assertion_with_message */ assert!(n % 2 == 0, "{n} is odd"); }
    assertion_with_values, "n = 7, {m} = -8, true; 0.1 and 18446744073709551615", {
        let m = -n - 1;
        /* assertion_with_values */ assert!(n < 0, "n = {}, {{m}} = {m:?}, {}; 0.1 and {:?}", n, n > 0, u64::MAX);
    }
    assertion_of_every_type, "-7 249 -0.7 1e300", {
        let x = n as f32 * -0.1;
        let y = 1e300;
        /* assertion_of_every_type */ assert!(y < 1.0, "{} {} {x} {y:?}", -n as i8, (-n) as u8);
    }
    assertion_in_device_function, "a is 7", { out[0] = checked(n as u32) as i32; }
    panics, "explicit panic", { /* panics */ panic!(); }
    panics_with_message, "no 7 here, nor 100%", { /* panics_with_message */ panic!("no {} here, nor 100%", n); }
    panics_in_an_arm, "seven", {
        let m = if n < 7 { n } else { /* panics_in_an_arm */ panic!("seven") };
        out[0] = m;
    }

    // Ranges, ranks, shared memory.
    step_of_zero, "assertion failed: step != 0", {
        for i in (0..n).step_by(/* step_of_zero */ n as usize - 7) { out[i] = 1; }
    }
    shared_load, "index 7 out of bounds for length 4", {
        let a = shared_array::<i32, 4>();
        a[0] = 1;
        out[0] = /* shared_load */ a[n];
    }
    shared_store, "index 4294967295 out of bounds for length 4", {
        let a = shared_array::<i32, 4>();
        /* shared_store */ a[n as u32 - 8] = 1;
    }
    shared_atomic, "index 4 out of bounds for length 4", {
        let a = shared_array::<u32, 4>();
        a[0] = 1;
        /* shared_atomic */ a.atomic(n - 3).fetch_max(9, Relaxed);
    }
}

/// Indexes remote memory, where the peers must have started.
#[cluster_kernel(cluster = 2, block = 32)]
fn remote_index(out: &mut [i32], n: i32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<i32, 32>();
    array[block.thread_rank()] = n;
    cluster.sync();
    let remote = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let i = if cluster.thread_rank() == 40 { 32 } else { 31 };
    let value = /* remote_index */ remote[i];
    cluster.sync();
    out[cluster.thread_rank()] = value;
}

#[cluster_kernel(cluster = 2, block = 32)]
fn remote_atomic(out: &mut [u32], n: i32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    array[block.thread_rank()] = 1;
    cluster.sync();
    let remote = cluster.map_shared_rank(&array, 1 - cluster.block_rank());
    let i = if cluster.thread_rank() == 40 { n } else { 31 };
    /* remote_atomic */
    remote.atomic(i).fetch_add(1, Relaxed);
    cluster.sync();
    out[cluster.thread_rank()] = array[31];
}

#[cluster_kernel(cluster = 2, block = 32)]
fn dynamic_index(out: &mut [i32], n: i32) {
    let cluster = this_cluster();
    let array = dynamic_shared::<i32>();
    let i = cluster.thread_rank();
    if i == 40 {
        /* dynamic_index */
        array[n] = 1;
    }
    out[i] = array.len() as i32;
}

#[cluster_kernel(cluster = 2, block = 32)]
fn rank_too_large(out: &mut [i32], n: i32) {
    let cluster = this_cluster();
    let array = shared_array::<i32, 4>();
    let i = this_thread_block().thread_rank();
    if i < 4 {
        array[i] = 1;
    }
    cluster.sync();
    let rank = if cluster.thread_rank() == 40 { n } else { 0 };
    let remote = /* rank_too_large */ cluster.map_shared_rank(&array, rank as u32);
    out[cluster.thread_rank()] = remote[0];
    cluster.sync();
}

fn in_clusters(device: &Device) -> Outcome {
    let mut out = device.zeros(64)?;
    let at = |name| find(file!(), SOURCE, name);
    let result = remote_index(&mut out, 7).grid(2).launch(device);
    fails(result, "index 32 out of bounds for length 32", &at("remote_index"), (1, 0, 0), (8, 0, 0))?;
    still_works(device)?;
    let result = remote_atomic(&mut device.zeros(64)?, -1).grid(2).launch(device);
    fails(result, "index -1 out of bounds for length 32", &at("remote_atomic"), (1, 0, 0), (8, 0, 0))?;
    still_works(device)?;
    let result = dynamic_index(&mut out, 25).grid(2).shared_bytes(100).launch(device);
    fails(result, "index 25 out of bounds for length 25", &at("dynamic_index"), (1, 0, 0), (8, 0, 0))?;
    still_works(device)?;
    let result = rank_too_large(&mut out, 2).grid(2).launch(device);
    fails(result, "block rank 2 out of range for a cluster of 2 blocks", &at("rank_too_large"), (1, 0, 0), (8, 0, 0))?;
    still_works(device)
}

/// All threads of one block fail at `stage`, while their peers use its shared memory and the cluster's barrier.
#[cluster_kernel(cluster = 4, block = 64)]
fn dying_block(out: &mut [u32], stage: u32, whole: bool) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<u32, 64>();
    let i = block.thread_rank();
    let dies = cluster.block_rank() == 2 && (whole || i == 63);
    array[i] = i;
    assert!(stage != 0 || !dies, "stage 0");
    let token = cluster.barrier_arrive();
    assert!(stage != 1 || !dies, "stage 1");
    cluster.barrier_wait(token);
    assert!(stage != 2 || !dies, "stage 2");
    let remote = cluster.map_shared_rank(&array, 2);
    let mut sum = 0;
    for round in 0..1000 {
        sum += remote.atomic((i + round) % 64).load(Relaxed);
        remote.atomic(i).fetch_max(i, Relaxed);
    }
    assert!(stage != 3 || !dies, "stage 3");
    cluster.sync();
    assert!(stage != 4 || !dies, "stage 4");
    for round in 0..100 {
        sum += remote[(i + round) % 64];
        cluster.sync();
    }
    out[this_grid().thread_rank()] = sum;
}

fn blocks_that_die(device: &Device) -> Outcome {
    for stage in 0..5 {
        for whole in [true, false] {
            let mut out = device.zeros(8 * 256)?;
            let failure = failure(dying_block(&mut out, stage, whole).grid(8).launch(device))?;
            let expected = format!("stage {stage}");
            let right = failure.cause.to_string() == expected && [2, 6].contains(&failure.block.x);
            if !right || (!whole && failure.thread.x != 63) {
                return Err(format!("{expected}, whole block {whole}: {failure}").into());
            }
            still_works(device)?;
        }
    }
    let mut out = device.zeros(8 * 256)?;
    Ok(dying_block(&mut out, 9, true).grid(8).launch(device)?)
}

/// Every thread of the grid fails.
#[cluster_kernel(cluster = 2, block = 128)]
fn all_fail(limit: u32) {
    let i = this_grid().thread_rank() as u32;
    assert!(i >= limit, "thread {i} is below {limit}");
}

fn one_failure_of_many_is_reported(device: &Device) -> Outcome {
    let failure = failure(all_fail(u32::MAX).grid(512).launch(device))?;
    let thread = failure.block.x * 128 + failure.thread.x;
    let expected = format!("thread {thread} is below {}", u32::MAX);
    if failure.cause.to_string() != expected {
        return Err(format!("{failure}\n    want {expected}").into());
    }
    still_works(device)?;
    Ok(all_fail(0).grid(512).launch(device)?)
}

fn reported_once_and_late(device: &Device) -> Outcome {
    all_fail(1).grid(2).enqueue(device)?;
    let failure = failure(device.synchronize())?;
    if failure.cause.to_string() != "thread 0 is below 1" {
        return Err(format!("{failure}").into());
    }
    device.synchronize()?;
    still_works(device)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = simple();
    checks.extend(check_list![in_clusters, blocks_that_die, one_failure_of_many_is_reported, reported_once_and_late]);
    kernels.extend(kernel_list![
        remote_index,
        remote_atomic,
        dynamic_index,
        rank_too_large,
        dying_block,
        all_fail,
        right
    ]);
    vec![Module { name: "failures", checks, kernels }]
}
