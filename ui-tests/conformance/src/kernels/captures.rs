//! Closures that capture memory, by reference and by `move`: shared arrays stay where they are, parts and peers' memory are
//! addresses.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, read, same};

#[device]
fn each(f: impl Fn(u32), n: u32) {
    for i in 0..n {
        f(i);
    }
}
#[device]
fn sum(f: impl Fn(u32) -> u32, n: u32) -> u32 {
    let mut s = 0;
    for i in 0..n {
        s += f(i);
    }
    s
}
#[device]
fn fill_shared(a: &SharedArray<u32, 32>, n: u32) -> u32 {
    each(move |i| a[i] = i * 3, n);
    let f = move |i| a[i];
    a[1] = 40;
    sum(f, n)
}
#[device]
fn bump_all(a: &mut [u32; 4]) -> u32 {
    a[0] += 1;
    let f = |i: u32| a[i] * 2;
    sum(f, 4)
}
#[device]
fn part_closure(a: &mut [u32], n: u32) -> u32 {
    let (l, r) = a.split_at_mut(n);
    each(
        |i| {
            r[i] = i + 100;
            l[i] = r[i] + 1;
        },
        2,
    );
    sum(|i| l[i] + r[i], 2)
}

#[cluster_kernel(cluster = 2, block = 1)]
fn closures_of_memory(out: &mut [u32], inp: &[u32]) {
    let a = shared_array::<u32, 32>();
    let c = this_cluster();
    let b = c.block_rank();
    let k = b * 16;
    out[k] = fill_shared(&a, 4);
    let f = |i: u32| a[i] + 1;
    out[k + 1] = sum(f, 4);
    a[0] = 50;
    out[k + 2] = f(0);
    let row = &a[1..3];
    let g = move |i: u32| row[i] + inp[i];
    row[0] = 7;
    out[k + 3] = sum(g, 2);
    c.sync();
    let peer = c.map_shared_rank(&a, 1 - b);
    out[k + 4] = sum(move |i| peer[i], 4);
    c.sync();
    let mut arr = [1, 2, 3, 4];
    out[k + 5] = bump_all(&mut arr) + arr[0];
    let p = &mut out[k + 6..k + 14];
    let q = part_closure(p, 3);
    out[k + 14] = q;
    each(
        move |i| {
            p[i] += 1;
        },
        1,
    );
    each(
        |i| {
            out[k + 15] = i;
        },
        3,
    );
}
fn captured(device: &Device) -> Outcome {
    let input = device.upload(&[10u32, 20])?;
    let got = read!(device, 32, |out| closures_of_memory(out, &input).grid(2));
    let of_block = [55, 59, 51, 43, 72, 24, 102, 102, 0, 100, 101, 0, 0, 0, 404, 2];
    same(&got, &[of_block, of_block].concat(), |i| format!("out[{i}]"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "captures", checks: check_list![captured], kernels: kernel_list![closures_of_memory] }]
}
