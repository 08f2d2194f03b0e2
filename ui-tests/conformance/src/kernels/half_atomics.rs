//! Atomics of half floats by many threads at once, and of pairs of them in every order and scope, on global, shared and
//! a peer's memory. The sums are whole numbers that both formats hold, so that their order does not matter. `orders`
//! checks what each method returns.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, equal};

macro_rules! half_atomics {
    ($module:ident: $t:ident, $pair:ident; $($scope:ident $order:ident),*) => {
        mod $module {
            use super::*;

            /// Each thread has an element of each memory to itself: an operation returns what the previous one left.
            #[cluster_kernel(cluster = 2, block = 32)]
            pub(super) fn every_order(global: &mut [$pair], out: &mut [$pair]) {
                let cluster = this_cluster();
                let shared = shared_array::<$pair, 32>();
                let own = this_thread_block().thread_rank();
                let g = cluster.thread_rank();
                let one = $t::from_f32(1.0);
                let x = $t::from_f32(g as f32);
                let up = $pair::new([one, one + one]);
                let down = $pair::new([one + one, one]);
                let mut k = g as usize * OPERATIONS;

                global.atomic(g).store($pair::new([x, -x]), Relaxed);
                $(
                    out[k] = global.atomic(g).scope(Scope::$scope).fetch_add(up, $order);
                    out[k + 1] = global.atomic(g).scope(Scope::$scope).fetch_sub(down, $order);
                    k += 2;
                )*
                out[k] = global.atomic(g).load(Acquire);
                k += 1;

                shared.atomic(own).store($pair::new([x, -x]), SeqCst);
                $(
                    out[k] = shared.atomic(own).scope(Scope::$scope).fetch_add(up, $order);
                    out[k + 1] = shared.atomic(own).scope(Scope::$scope).fetch_sub(down, $order);
                    k += 2;
                )*
                out[k] = shared.atomic(own).load(SeqCst);
                k += 1;
                cluster.sync();

                let remote = cluster.map_shared_rank(&shared, 1 - cluster.block_rank());
                remote.atomic(own).store($pair::new([x, -x]), Release);
                $(
                    out[k] = remote.atomic(own).scope(Scope::$scope).fetch_add(up, $order);
                    out[k + 1] = remote.atomic(own).scope(Scope::$scope).fetch_sub(down, $order);
                    k += 2;
                )*
                out[k] = remote.atomic(own).load(Relaxed);
                cluster.sync();
            }

            pub(super) fn orders(device: &Device) -> Outcome {
                let (mut global, mut out) = (device.zeros(64)?, device.zeros(64 * OPERATIONS)?);
                every_order(&mut global, &mut out).grid(2).launch(device)?;
                let pair = |a: i32, b: i32| $pair::new([$t::from_f32(a as f32), $t::from_f32(b as f32)]);
                let mut want = Vec::new();
                for thread in 0..64 {
                    // Each two steps add (1, 2) and then subtract (2, 1).
                    let before = |step: i32| pair(thread - step / 2 + step % 2, step / 2 + step % 2 * 2 - thread);
                    let steps = (0..2 * 20).map(before).chain([before(2 * 20)]);
                    (0..3).for_each(|_| want.extend(steps.clone()));
                }
                equal(&out.read()?, &want)
            }

            /// All threads use the same elements, as pairs and one by one. Half of the threads add to the second lane,
            /// the others subtract from it.
            #[cluster_kernel(cluster = 2, block = 64)]
            pub(super) fn many(pairs: &mut [$pair], ones: &mut [$t], out: &mut [$pair], out_ones: &mut [$t]) {
                let cluster = this_cluster();
                let shared_pairs = shared_array::<$pair, 2>();
                let shared_ones = shared_array::<$t, 4>();
                let block = this_thread_block();
                let i = block.thread_rank();
                let one = $t::from_f32(1.0);
                let change = $pair::new([one, if i % 2 == 0 { one } else { -one - one }]);
                if i == 0 {
                    shared_pairs[0] = $pair::splat($t::ZERO);
                    shared_pairs[1] = $pair::splat($t::ZERO);
                    for k in 0..4 {
                        shared_ones[k] = $t::ZERO;
                    }
                }
                cluster.sync();
                let remote_pairs = cluster.map_shared_rank(&shared_pairs, 1 - cluster.block_rank());
                let remote_ones = cluster.map_shared_rank(&shared_ones, 1 - cluster.block_rank());

                pairs.atomic(0).fetch_add(change, Relaxed);
                // Neighbours share one word, and their updates must not undo each other.
                ones.atomic(i % 2).fetch_add(one, Relaxed);
                ones.atomic(2).fetch_max($t::from_f32(i as f32), Relaxed);
                ones.atomic(3).fetch_min(-$t::from_f32(i as f32), AcqRel);
                shared_pairs.atomic(0).fetch_add(change, Relaxed);
                remote_pairs.atomic(0).fetch_sub(change, Relaxed);
                remote_pairs.atomic(1).scope(Scope::Device).fetch_add(change, AcqRel);
                shared_ones.atomic(i % 2).fetch_add(one, Relaxed);
                remote_ones.atomic(i % 2).fetch_add(one, SeqCst);
                remote_ones.atomic(2).fetch_max($t::from_f32(i as f32), Relaxed);
                loop {
                    let old = remote_ones.atomic(3).load(Relaxed);
                    if remote_ones.atomic(3).compare_exchange_weak(old, old + one, Relaxed, Relaxed).is_ok() {
                        break;
                    }
                }
                cluster.sync();
                if i < 2 {
                    out[this_grid().block_rank() * 2 + i as usize] = shared_pairs[i];
                }
                if i < 4 {
                    out_ones[this_grid().block_rank() * 4 + i as usize] = shared_ones[i];
                }
            }

            pub(super) fn contention(device: &Device) -> Outcome {
                let (mut pairs, mut ones) = (device.zeros(1)?, device.zeros(4)?);
                let (mut out, mut out_ones) = (device.zeros(4 * 2)?, device.zeros(4 * 4)?);
                many(&mut pairs, &mut ones, &mut out, &mut out_ones).grid(4).launch(device)?;
                let of = |x: i16| $t::from_f32(x.into());
                // 256 threads.
                equal(&pairs.read()?, &[$pair::new([of(256), of(-128)])])?;
                equal(&ones.read()?, &[of(128), of(128), of(63), of(-63)])?;
                equal(&out.read()?, &[$pair::splat(of(0)), $pair::new([of(64), of(-32)])].repeat(4))?;
                equal(&out_ones.read()?, &[of(64), of(64), of(63), of(64)].repeat(4))
            }
        }
    };
}

/// The number of results of each memory: two for each order and scope, and the value at the end.
const OPERATIONS: usize = 3 * (2 * 20 + 1);

/// Expands to every order at every scope.
macro_rules! with_orders {
    ($($module:ident: $t:ident, $pair:ident;)*) => {$(half_atomics! {
        $module: $t, $pair;
        Block Relaxed, Block Acquire, Block Release, Block AcqRel, Block SeqCst,
        Cluster Relaxed, Cluster Acquire, Cluster Release, Cluster AcqRel, Cluster SeqCst,
        Device Relaxed, Device Acquire, Device Release, Device AcqRel, Device SeqCst,
        System Relaxed, System Acquire, System Release, System AcqRel, System SeqCst
    })*};
}

with_orders! {
    of_f16: f16, f16x2;
    of_bf16: bf16, bf16x2;
}

/// Adds each row of pairs to the row that its number names: a scatter, as gradients of an embedding are summed.
#[cluster_kernel(block = 64)]
fn scatter(rows: &[f16x2], targets: &[u32], sums: &mut [f16x2], mean: &mut [bf16]) {
    let i = this_grid().thread_rank();
    let (row, lane) = (i / 32, i % 32);
    let pair = rows[i];
    sums.atomic(targets[row] as usize * 32 + lane).fetch_add(pair, Relaxed);
    let half = bf16::from_f32(pair[0].to_f32() + pair[1].to_f32()) / bf16::from_f32(2.0);
    mean.atomic(targets[row]).scope(Scope::System).fetch_add(half, AcqRel);
}

fn scattered(device: &Device) -> Outcome {
    let targets = [2, 0, 2, 1, 0, 2, 2, 0];
    let number = |row: usize, lane: usize| (row * 3 + lane % 4) as f32;
    let pair = |a: f32, b: f32| f16x2::new([f16::from_f32(a), f16::from_f32(b)]);
    let rows: Vec<f16x2> = (0..8 * 32).map(|i| pair(number(i / 32, i % 32), -number(i / 32, 0))).collect();
    let (mut sums, mut mean) = (device.zeros(3 * 32)?, device.zeros(3)?);
    scatter(&device.upload(&rows)?, &device.upload(&targets)?, &mut sums, &mut mean).grid(4).launch(device)?;
    let of = |target: usize| (0..8).filter(move |&row| targets[row] as usize == target);
    let sum = |i: usize, lane: usize| of(i / 32).map(|row| number(row, lane)).sum::<f32>();
    equal(&sums.read()?, &Vec::from_iter((0..3 * 32).map(|i| pair(sum(i, i % 32), -sum(i, 0)))))?;
    // Of each four lanes, 0, 1, 2 and 3 remain, halved.
    let means = (0..3).map(|target| bf16::from_f32(of(target).count() as f32 * 24.0));
    equal(&mean.read()?, &Vec::from_iter(means))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "half_atomics",
        checks: vec![
            Check { name: "orders_f16x2", run: of_f16::orders },
            Check { name: "orders_bf16x2", run: of_bf16::orders },
            Check { name: "contention_f16", run: of_f16::contention },
            Check { name: "contention_bf16", run: of_bf16::contention },
            Check { name: "scattered", run: scattered },
        ],
        kernels: vec![
            Kernel::of::<of_f16::every_order>("every_order f16x2"),
            Kernel::of::<of_bf16::every_order>("every_order bf16x2"),
            Kernel::of::<of_f16::many>("many f16"),
            Kernel::of::<of_bf16::many>("many bf16"),
            Kernel::of::<scatter>("scatter"),
        ],
    }]
}
