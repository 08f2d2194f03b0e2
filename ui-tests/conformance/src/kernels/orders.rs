//! Atomics with orders and scopes, atomics of floats, and fences: values compared with plain Rust, and the guarantees
//! of each order, by threads that would observe a violation.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, check_list, kernel_list, same};

macro_rules! orders {
    ($($module:ident: $t:ident, $of:expr;)*) => {$(
        mod $module {
            use super::*;

            /// Calls every method in every order, at every scope, on global, shared and a peer's memory: thread `i` has
            /// the element `i` of each to itself.
            #[cluster_kernel(cluster = 2, block = 32)]
            pub(super) fn every(a: &[$t], global: &mut [$t], out: &mut [$t]) {
                let cluster = this_cluster();
                let shared = shared_array::<$t, 32>();
                let i = this_thread_block().thread_rank();
                let g = cluster.thread_rank();
                let x = a[g];
                shared[i] = x;
                cluster.sync();
                let remote = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
                let k = g as usize * 24;

                global.atomic(g).store(x, SeqCst);
                out[k] = global.atomic(g).scope(Scope::Block).fetch_add(x, Acquire);
                out[k + 1] = global.atomic(g).scope(Scope::Cluster).fetch_sub(a[5], Release);
                out[k + 2] = global.atomic(g).scope(Scope::Device).fetch_min(a[7], AcqRel);
                out[k + 3] = global.atomic(g).scope(Scope::System).fetch_max(a[g] + a[3], SeqCst);
                out[k + 4] = global.atomic(g).scope(Scope::System).swap(x, Relaxed);
                out[k + 5] = global.atomic(g).load(Acquire);
                out[k + 6] = global.atomic(g).scope(Scope::Block).load(SeqCst);
                if let Ok(old) = global.atomic(g).compare_exchange(x, a[1], Release, Acquire) {
                    out[k + 7] = old;
                }
                out[k + 8] = global.atomic(g).scope(Scope::Block).fetch_add(x, Relaxed);

                shared.atomic(i).store(x, Release);
                out[k + 9] = shared.atomic(i).scope(Scope::Block).fetch_add(x, Relaxed);
                out[k + 10] = shared.atomic(i).fetch_sub(a[5], SeqCst);
                out[k + 11] = shared.atomic(i).fetch_min(a[7], Acquire);
                out[k + 12] = shared.atomic(i).scope(Scope::Device).fetch_max(a[g] + a[3], Release);
                out[k + 13] = shared.atomic(i).swap(x, AcqRel);
                if let Err(actual) = shared.atomic(i).compare_exchange(x + a[2], a[1], AcqRel, Relaxed) {
                    out[k + 14] = actual;
                }
                cluster.sync();

                remote.atomic(i).store(x, Relaxed);
                out[k + 15] = remote.atomic(i).fetch_add(x, AcqRel);
                out[k + 16] = remote.atomic(i).scope(Scope::System).fetch_sub(a[5], Acquire);
                out[k + 17] = remote.atomic(i).fetch_min(a[7], SeqCst);
                out[k + 18] = remote.atomic(i).fetch_max(a[g] + a[3], Release);
                out[k + 19] = remote.atomic(i).swap(x, SeqCst);
                if let Ok(old) = remote.atomic(i).compare_exchange(x, a[1], SeqCst, SeqCst) {
                    out[k + 20] = old;
                }
                out[k + 21] = remote.atomic(i).load(Relaxed);
                out[k + 22] = remote.atomic(i).load(Acquire);
                fence(AcqRel, Scope::Block);
                fence(SeqCst, Scope::Cluster);
                fence(Acquire, Scope::Device);
                fence(Release, Scope::System);
                cluster.sync();
            }

            pub(super) fn values(device: &Device) -> Outcome {
                let of: fn(u8) -> $t = $of;
                let a: Vec<$t> = (0..64).map(|i| of((i * 37 % 101) as u8 + 1)).collect();
                let (mut global, mut out) = (device.zeros(64)?, device.zeros(64 * 24)?);
                every(&device.upload(&a)?, &mut global, &mut out).grid(2).launch(device)?;
                let mut want = Vec::new();
                for &x in &a {
                    let sum = x + x;
                    let less = sum - a[5];
                    let least = if less < a[7] { less } else { a[7] };
                    let most = if least > x + a[3] { least } else { x + a[3] };
                    want.extend([x, sum, less, least, most, x, x, x, a[1]]);
                    want.extend([x, sum, less, least, most, x]);
                    want.extend([x, sum, less, least, most, x, a[1], a[1], of(0)]);
                }
                same(&out.read()?, &want, |i| format!("number {} of {}", i % 24, a[i / 24]))?;
                let left: Vec<$t> = a.iter().map(|&x| a[1] + x).collect();
                same(&global.read()?, &left, |i| format!("left of {}", a[i]))
            }

        }
    )*

        fn value_checks() -> (Vec<Check>, Vec<Kernel>) {
            let checks = vec![$(Check { name: concat!("values_", stringify!($t)), run: $module::values }),*];
            (checks, vec![$(Kernel::of::<$module::every>(concat!("every ", stringify!($t)))),*])
        }
    };
}

orders! {
    of_i32: i32, i32::from;
    of_u32: u32, u32::from;
    of_i64: i64, i64::from;
    of_u64: u64, u64::from;
    of_f32: f32, f32::from;
    of_f64: f64, f64::from;
    of_f16: f16, f16::from;
    // All values in between have 8 bits.
    of_bf16: bf16, bf16::from;
}

macro_rules! contentions {
    ($($module:ident: $t:ident;)*) => {$(
        mod $module {
            use super::*;

            /// All threads use the same elements: sums of whole numbers are exact in any order.
            #[cluster_kernel(cluster = 2, block = 128)]
            pub(super) fn contend(global: &mut [$t], of_blocks: &mut [$t], out: &mut [$t]) {
                let cluster = this_cluster();
                let shared = shared_array::<$t, 3>();
                let block = this_thread_block();
                let v = (this_grid().thread_rank() + 1) as $t;
                if block.thread_rank() < 3 {
                    shared[block.thread_rank()] = v;
                }
                cluster.sync();
                global.atomic(0).fetch_add(v, Relaxed);
                global.atomic(1).fetch_max(v, Relaxed);
                global.atomic(2).scope(Scope::System).fetch_sub(v, AcqRel);
                of_blocks.atomic(this_grid().block_rank()).scope(Scope::Block).fetch_add(v, Relaxed);
                let remote = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
                shared.atomic(0).fetch_add(v, Relaxed);
                remote.atomic(0).fetch_add(v, Relaxed);
                remote.atomic(1).fetch_min(v, Relaxed);
                shared.atomic(1).fetch_min(v, Acquire);
                remote.atomic(2).scope(Scope::Device).fetch_max(v, SeqCst);
                cluster.sync();
                if block.thread_rank() < 3 {
                    out[this_grid().block_rank() * 3 + block.thread_rank() as usize] = shared[block.thread_rank()];
                }
            }

            pub(super) fn contention(device: &Device) -> Outcome {
                let mut global = device.upload(&[0 as $t, 0 as $t, 0x20_0000 as $t])?;
                let (mut of_blocks, mut out) = (device.zeros(4)?, device.zeros(12)?);
                contend(&mut global, &mut of_blocks, &mut out).grid(4).launch(device)?;
                let sum = |range: std::ops::RangeInclusive<u32>| range.sum::<u32>() as $t;
                same(&global.read()?, &[sum(1..=512), 512 as $t, 0x20_0000 as $t - sum(1..=512)], |i| format!("global {i}"))?;
                let blocks: Vec<$t> = (0..4).map(|b| sum(b * 128 + 1..=b * 128 + 128)).collect();
                same(&of_blocks.read()?, &blocks, |i| format!("block {i}"))?;
                let mut want = Vec::new();
                for block in 0..4u32 {
                    let (own, cluster) = (block * 128, block / 2 * 256);
                    let all = sum(cluster + 1..=cluster + 256) + (own + 1) as $t;
                    let peers_last = (block ^ 1) * 128 + 128;
                    want.extend([all, (cluster + 1) as $t, (own + 3).max(peers_last) as $t]);
                }
                same(&out.read()?, &want, |i| format!("shared {} of block {}", i % 3, i / 3))
            }
        }
    )*

        fn contention_checks() -> (Vec<Check>, Vec<Kernel>) {
            let checks = vec![$(Check { name: concat!("contention_", stringify!($t)), run: $module::contention }),*];
            (checks, vec![$(Kernel::of::<$module::contend>(concat!("contend ", stringify!($t)))),*])
        }
    };
}

contentions! {
    many_i32: i32;
    many_u32: u32;
    many_i64: i64;
    many_u64: u64;
    many_f32: f32;
    many_f64: f64;
}

/// Passes a message by release and acquire: from block to block through global memory, and through a peer's shared memory.
///
/// # Safety
/// The flags order what the two threads do.
#[cluster_kernel(cluster = 2, block = 32, unchecked(unordered_remote_write))]
fn message(data: &mut [u32], flag: &mut [u32], out: &mut [u32], rounds: u32) {
    let cluster = this_cluster();
    let letter = shared_array::<u32, 4>();
    let posted = shared_array::<u32, 1>();
    let i = this_thread_block().thread_rank();
    if i == 0 {
        posted[0] = 0;
    }
    cluster.sync();
    let sends = cluster.block_rank() == 0;
    if i == 0 {
        let peer = cluster.map_shared_rank(&letter, 1 - cluster.block_rank());
        let arrived = cluster.map_shared_rank(&posted, 1 - cluster.block_rank());
        for round in 1..=rounds {
            if sends {
                data[0] = round * 3;
                data[1] = round * 5;
                flag.atomic(0).scope(Scope::Cluster).store(round, Release);
                peer[2] = round * 7;
                fence(Release, Scope::Cluster);
                arrived.atomic(0).store(round, Relaxed);
                // Both are read before the next.
                while posted.atomic(0).load(Acquire) != round {}
            } else {
                while flag.atomic(0).scope(Scope::Cluster).load(Acquire) != round {}
                out[0] += data[0] + data[1];
                while posted.atomic(0).load(Relaxed) != round {}
                fence(Acquire, Scope::Cluster);
                out[1] += letter[2];
                arrived.atomic(0).store(round, Release);
            }
        }
    }
    cluster.sync();
}

fn messages_arrive(device: &Device) -> Outcome {
    let (mut data, mut flag, mut out) = (device.zeros(2)?, device.zeros(1)?, device.zeros(2)?);
    // SAFETY: there are as many rounds on both sides.
    unsafe { message(&mut data, &mut flag, &mut out, 100) }.grid(2).launch(device)?;
    same(&out.read()?, &[5050 * 8, 5050 * 7], |i| format!("sum {i}"))
}

/// Each of two blocks writes its location and reads the other's: with `SeqCst` they never both read the old value.
#[cluster_kernel(cluster = 2, block = 32)]
fn store_buffering(x: &mut [u32], seen: &mut [u32], rounds: usize) {
    let cluster = this_cluster();
    let own = cluster.block_rank() as usize;
    for round in 0..rounds {
        cluster.sync();
        if this_thread_block().thread_rank() == 0 {
            let (mine, other) = (round * 2 + own, round * 2 + 1 - own);
            if round % 2 == 0 {
                x.atomic(mine).store(1, SeqCst);
                seen[mine] = x.atomic(other).load(SeqCst);
            } else {
                x.atomic(mine).store(1, Relaxed);
                fence(SeqCst, Scope::Device);
                seen[mine] = x.atomic(other).load(Relaxed);
            }
        }
    }
}

fn one_of_two_is_first(device: &Device) -> Outcome {
    let (mut x, mut seen) = (device.zeros(400)?, device.zeros(400)?);
    store_buffering(&mut x, &mut seen, 200).grid(2).launch(device)?;
    let both: Vec<u32> = seen.read()?.chunks(2).map(|pair| u32::from(pair == [0, 0])).collect();
    same(&both, &[0; 200], |i| format!("both read the old value in round {i}"))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (mut checks, mut kernels) = value_checks();
    let (of_many, kernels_of_many) = contention_checks();
    checks.extend(of_many);
    kernels.extend(kernels_of_many);
    checks.extend(check_list![messages_arrive, one_of_two_is_first]);
    kernels.extend(kernel_list![message, store_buffering]);
    vec![Module { name: "orders", checks, kernels }]
}
