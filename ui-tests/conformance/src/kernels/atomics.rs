//! Atomics of each type and method: their results compared with `std::sync::atomic`, and what is left after concurrent
//! use by many threads on global, shared and remote memory.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicIsize, AtomicU32, AtomicU64, AtomicUsize};

use phalanx::prelude::*;

use super::edges::pairs;
use crate::{Check, Kernel, Module, Outcome, check_list, kernel_list, same};

/// The number of threads of the kernels with contention.
const THREADS: usize = 512;

macro_rules! atomics {
    ($($module:ident: $t:ident, $atomic:ident;)*) => {$(
        mod $module {
            use super::*;

            /// Calls every method on one element, by one thread for each pair.
            #[cluster_kernel(block = 64)]
            pub(super) fn sequence(a: &[$t], b: &[$t], cells: &mut [$t], out: &mut [$t]) {
                let i = this_grid().thread_rank();
                if i < a.len() {
                    let k = i * 13;
                    cells.atomic(i).store(a[i], Relaxed);
                    out[k] = cells.atomic(i).fetch_add(b[i], Relaxed);
                    out[k + 1] = cells.atomic(i).fetch_sub(a[i] ^ 3, Relaxed);
                    out[k + 2] = cells.atomic(i).fetch_min(b[i], Relaxed);
                    out[k + 3] = cells.atomic(i).fetch_max(a[i], Relaxed);
                    out[k + 4] = cells.atomic(i).fetch_xor(b[i], Relaxed);
                    out[k + 5] = cells.atomic(i).fetch_or(0x70, Relaxed);
                    out[k + 6] = cells.atomic(i).fetch_and(b[i], Relaxed);
                    out[k + 7] = cells.atomic(i).swap(a[i], Relaxed);
                    out[k + 8] = cells.atomic(i).load(Relaxed);
                    // Succeeds where both are equal.
                    if let Ok(old) = cells.atomic(i).compare_exchange(b[i], 1, Relaxed, Relaxed) {
                        out[k + 9] = old;
                    }
                    if let Err(actual) = cells.atomic(i).compare_exchange(b[i] ^ 1, 9, Relaxed, Relaxed) {
                        out[k + 10] = actual ^ 5;
                    }
                    let exchanged = cells.atomic(i).compare_exchange(a[i], 7, Relaxed, Relaxed).is_ok();
                    out[k + 11] = exchanged as $t;
                    out[k + 12] = cells.atomic(i).fetch_nand(b[i], Relaxed);
                }
            }

            fn host(a: $t, b: $t) -> ([$t; 13], $t) {
                let cell = $atomic::new(a);
                let mut out = [0; 13];
                out[0] = cell.fetch_add(b, Relaxed);
                out[1] = cell.fetch_sub(a ^ 3, Relaxed);
                out[2] = cell.fetch_min(b, Relaxed);
                out[3] = cell.fetch_max(a, Relaxed);
                out[4] = cell.fetch_xor(b, Relaxed);
                out[5] = cell.fetch_or(0x70, Relaxed);
                out[6] = cell.fetch_and(b, Relaxed);
                out[7] = cell.swap(a, Relaxed);
                out[8] = cell.load(Relaxed);
                if let Ok(old) = cell.compare_exchange(b, 1, Relaxed, Relaxed) {
                    out[9] = old;
                }
                if let Err(actual) = cell.compare_exchange(b ^ 1, 9, Relaxed, Relaxed) {
                    out[10] = actual ^ 5;
                }
                out[11] = cell.compare_exchange(a, 7, Relaxed, Relaxed).is_ok() as $t;
                out[12] = cell.fetch_nand(b, Relaxed);
                (out, cell.into_inner())
            }

            pub(super) fn values(device: &Device) -> Outcome {
                let (a, b) = pairs::<$t, $t>(|_, _| true);
                let (mut cells, mut out) = (device.zeros(a.len())?, device.zeros(a.len() * 13)?);
                let launch = sequence(&device.upload(&a)?, &device.upload(&b)?, &mut cells, &mut out)
                    .grid(a.len().div_ceil(64) as u32)
                    .launch(device);
                launch?;
                let want: Vec<_> = a.iter().zip(&b).map(|(&a, &b)| host(a, b)).collect();
                let returned: Vec<$t> = want.iter().flat_map(|(returned, _)| *returned).collect();
                same(&out.read()?, &returned, |i| format!("number {} of {}, {}", i % 13, a[i / 13], b[i / 13]))?;
                let left: Vec<$t> = want.iter().map(|(_, left)| *left).collect();
                same(&cells.read()?, &left, |i| format!("left of {}, {}", a[i], b[i]))
            }

            /// All threads use the same nine places, once in global, once in shared and once in a peer's memory.
            #[cluster_kernel(cluster = 2, block = 128)]
            pub(super) fn contend(global: &mut [$t], shared_out: &mut [$t], swapped: &mut [$t]) {
                let cluster = this_cluster();
                let shared = shared_array::<$t, 9>();
                let i = this_grid().thread_rank();
                let v = i as $t;
                let j = this_thread_block().thread_rank();
                if j < 9 {
                    shared[j] = if j == 3 { 1000 } else { if j == 5 { !0 } else { 0 } };
                }
                cluster.sync();

                global.atomic(0).fetch_add(v, Relaxed);
                global.atomic(1).fetch_sub(v * 3, Relaxed);
                global.atomic(2).fetch_max(v, Relaxed);
                global.atomic(3).fetch_min(v + 5, Relaxed);
                global.atomic(4).fetch_or(1 << i % 31, Relaxed);
                global.atomic(5).fetch_and(!(1 << i % 7), Relaxed);
                global.atomic(6).fetch_xor(v * v, Relaxed);
                swapped[i] = global.atomic(7).swap(v + 1, Relaxed);
                loop {
                    let old = global.atomic(8).load(Relaxed);
                    if global.atomic(8).compare_exchange_weak(old, old + v, Relaxed, Relaxed).is_ok() {
                        break;
                    }
                }

                // Elements of its own block, then of the peer.
                shared.atomic(0u32).fetch_add(v, Relaxed);
                shared.atomic(1u32).fetch_sub(v * 3, Relaxed);
                let remote = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
                remote.atomic(2).fetch_max(v, Relaxed);
                remote.atomic(3).fetch_min(v + 5, Relaxed);
                shared.atomic(4).fetch_or(1 << i % 31, Relaxed);
                remote.atomic(5).fetch_and(!(1 << i % 7), Relaxed);
                shared.atomic(6).fetch_xor(v * v, Relaxed);
                remote.atomic(0).fetch_add(v, Relaxed);
                shared.atomic(7).store(77, Relaxed);
                let mut old = remote.atomic(8).load(Relaxed);
                loop {
                    if let Err(actual) = remote.atomic(8).compare_exchange(old, old + v, Relaxed, Relaxed) {
                        old = actual;
                    } else {
                        break;
                    }
                }
                cluster.sync();
                if j < 9 {
                    shared_out[this_grid().block_rank() * 9 + j as usize] = shared.atomic(j).load(Relaxed);
                }
            }

            pub(super) fn contention(device: &Device) -> Outcome {
                let mut global = device.upload(&[0 as $t, 0, 0, 1000, 0, !0, 0, 0, 0])?;
                let (mut shared, mut swapped) = (device.zeros(4 * 9)?, device.zeros(THREADS)?);
                contend(&mut global, &mut shared, &mut swapped).grid(4).launch(device)?;

                let left = |threads: std::ops::Range<usize>| -> [$t; 9] {
                    let sum = threads.clone().map(|i| i as $t).sum::<$t>();
                    let bits = threads.clone().fold(0, |bits: $t, i| bits | 1 << (i % 31));
                    let xor = threads.clone().fold(0, |xor: $t, i| xor ^ (i * i) as $t);
                    let (least, most) = (threads.start as $t, threads.end as $t - 1);
                    [sum, (0 as $t).wrapping_sub(sum.wrapping_mul(3)), most, least + 5, bits, !0x7f, xor, 0, sum]
                };
                let mut want = left(0..THREADS);
                let got = global.read()?;
                // The order of the swaps is open: together the values are each thread's once, and the first.
                want[7] = got[7];
                same(&got, &want, |i| format!("global place {i}"))?;
                let mut all = swapped.read()?;
                all.push(got[7]);
                all.sort_unstable();
                same(&all, &(0..=THREADS as $t).collect::<Vec<$t>>(), |i| format!("swapped value {i}"))?;

                let mut places = Vec::new();
                for block in 0..4usize {
                    let (own, peers) = (left(block * 128..block * 128 + 128), left((block ^ 1) * 128..(block ^ 1) * 128 + 128));
                    places.extend([own[0] + peers[0], own[1], peers[2], peers[3].min(1000), own[4], peers[5], own[6], 77, peers[8]]);
                }
                same(&shared.read()?, &places, |i| format!("block {}, shared place {}", i / 9, i % 9))
            }
        }
    )*

        /// Returns the checks and kernels of all types.
        fn of_types() -> (Vec<Check>, Vec<Kernel>) {
            let checks = vec![$(
                Check { name: concat!("values_", stringify!($t)), run: $module::values },
                Check { name: concat!("contention_", stringify!($t)), run: $module::contention },
            )*];
            let kernels = vec![$(
                Kernel::of::<$module::sequence>(concat!("sequence ", stringify!($t))),
                Kernel::of::<$module::contend>(concat!("contend ", stringify!($t))),
            )*];
            (checks, kernels)
        }
    };
}

atomics! {
    of_i32: i32, AtomicI32;
    of_u32: u32, AtomicU32;
    of_i64: i64, AtomicI64;
    of_u64: u64, AtomicU64;
    of_isize: isize, AtomicIsize;
    of_usize: usize, AtomicUsize;
}

/// A thread polls in a loop for what a thread of another block writes.
#[cluster_kernel(cluster = 2, block = 32)]
fn flag(flags: &mut [u32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    if i == 40 {
        out.atomic(0).store(5, Relaxed);
        flags.atomic(0).store(1, Relaxed);
    }
    if i == 3 {
        while flags.atomic(0).load(Relaxed) == 0 {}
        flags.atomic(1).store(2, Relaxed);
    }
}

fn waits_for_a_flag(device: &Device) -> Outcome {
    let (mut flags, mut out) = (device.zeros(2)?, device.zeros(1)?);
    flag(&mut flags, &mut out).grid(2).launch(device)?;
    same(&flags.read()?, &[1, 2], |i| format!("flag {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = of_types();
    checks.extend(check_list![waits_for_a_flag]);
    kernels.extend(kernel_list![flag]);
    vec![Module { name: "atomics", checks, kernels }]
}
