//! CUDA by hand: its form, its operands, its text.

use phalanx::prelude::*;

#[cluster_kernel]
fn no_text(x: u32) {
    unsafe { cuda!(in(x)) }
}

#[cluster_kernel]
fn other_operand(x: u32) {
    unsafe { cuda!("f(x);", with(x)) }
}

#[cluster_kernel]
fn operand_without_name() {
    unsafe { cuda!("f();", in(1 + 2)) }
}

#[cluster_kernel]
fn output_with_value() {
    let mut y = 1u32;
    unsafe { cuda!("y = 2;", out(y = 2)) }
}

#[cluster_kernel]
fn same_name_twice(x: u32) {
    let mut y = 1u32;
    unsafe { cuda!("y = x;", in(x), in(x = y), out(y)) }
}

#[cluster_kernel]
fn something_after(x: u32) {
    unsafe { cuda!("f(x);", in(x); |x| {}) }
}

#[cluster_kernel]
fn more_parameters(x: u32) {
    let y: u32;
    unsafe { cuda!("y = x;", in(x), out(y); else |x, y| y = x) }
}

#[cluster_kernel]
fn asynchronous(x: u32) {
    unsafe { cuda!("f(x);", in(x); else async |x| {}) }
}

#[cluster_kernel]
fn open_brace(x: u32) {
    unsafe { cuda!("if (x > 1) {", in(x)) }
}

#[cluster_kernel]
fn out_of_the_braces(x: u32) {
    unsafe { cuda!("} __syncthreads(); {", in(x)) }
}

#[cluster_kernel]
fn directive(x: u32) {
    unsafe { cuda!("#include <cooperative_groups.h>", in(x)) }
}

#[cluster_kernel]
fn group_and_token() {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    unsafe { cuda!("cluster.barrier_wait(token);", in(cluster), in(token)) }
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn output_of_no_local(out: &mut [u32]) {
    unsafe { cuda!("out[0] = 1;", out(out)) }
    unsafe { cuda!("y = 1;", out(no_such_local)) }
}

#[device]
fn next(state: &mut u32) -> u32 {
    *state += 1;
    *state
}

#[cluster_kernel]
fn input_that_changes() {
    let mut state = 1;
    unsafe { cuda!("f(x, state);", in(x = next(&mut state)), inout(state)) }
}

#[cluster_kernel]
fn not_c_plus_plus(x: u32) {
    unsafe { cuda!("f(x); // \\\n f(x);", in(x)) }
    unsafe { cuda!("f(x); /* f(x);", in(x)) }
    unsafe { cuda!("f(\"x);", in(x)) }
    unsafe { cuda!("f(R\"(x)\");", in(x)) }
    unsafe { cuda!("f(x);\0", in(x)) }
    unsafe { cuda!("f(x);", in(x y)) }
}

/// A barrier is named, or is one of an array; a map is named.
#[cluster_kernel(cluster = 2, block = 32)]
fn barriers_and_maps(input: &TensorMap<[f32; 32]>) {
    let cluster = this_cluster();
    let bar = shared_cluster_barrier();
    bar.init_collective(&cluster, 32);
    unsafe { cuda!("f(there);", in(there = cluster.map_shared_rank(&bar, 0))) }
    unsafe { cuda!("f(bar, input);", out(bar), inout(input)) }
    cluster.sync();
}

fn main() {}
