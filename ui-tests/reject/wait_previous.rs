//! Calls of `wait_previous` and `launch_dependents`, and the option `early`, that are not understood.

use phalanx::prelude::*;

#[cluster_kernel(block = 32)]
fn with_arguments(output: &mut [u32]) {
    wait_previous(1);
    launch_dependents(output);
    wait_previous();
    output[0] = launch_dependents();
}

#[device]
fn hidden() {
    wait_previous();
}

#[cluster_kernel(block = 32)]
fn in_a_closure() {
    let wait = || wait_previous();
    wait();
}

#[cluster_kernel(block = 32, early(table))]
fn never_waits(table: &[u32], output: &mut [u32]) {
    output[0] = table[0];
}

#[cluster_kernel(block = 32, early(tabel, output, n, table, table, option))]
fn of_others(table: &[u32], option: Option<&[u32]>, output: &mut [u32], n: u32) {
    wait_previous();
    output[0] = table[0] + n;
}

#[cluster_kernel(block = 32, early)]
fn of_none(table: &[u32]) {
    wait_previous();
}

#[cluster_kernel(block = 32, early())]
fn of_no_name(table: &[u32]) {
    wait_previous();
}

#[cluster_kernel(block = 32, early = table)]
fn of_a_value(table: &[u32]) {
    wait_previous();
}

fn main() {}
