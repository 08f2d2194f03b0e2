//! Pipelines as they are ported from other libraries: attention with rings of keys and of values (FlashAttention-3), two buffers in turn without
//! a loading warp (ThunderKittens), split sums that the tensor memory accelerator adds up, ranges of steps over tiles (stream-K), batches with
//! tiles stored in turn, and a reduction of tiles in place. Each is proved; with one mistake it is refused.

use super::super::{Attributed, faults, session};
use crate::RingReport;

const KERNELS: &str = r"
#[cluster_kernel(block = 384)]
fn flash(q: &TensorMap<T64>, k: &TensorMap<T64>, v: &TensorMap<T64>, out: &mut [f32], blocks: u32, scale: f32) {
    let block = this_thread_block();
    let wg = tiled_partition::<128>(&block);
    let qs = shared_array::<T64, 2>();
    let ks = shared_array::<T64, 2>();
    let vs = shared_array::<T64, 2>();
    let q_full = shared_barrier();
    let (k_full, k_empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    let (v_full, v_empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    q_full.init_collective(&block, 1);
    k_full.init_collective(&block, 1);
    v_full.init_collective(&block, 1);
    k_empty.init_collective(&block, 8);
    v_empty.init_collective(&block, 8);
    let which = wg.meta_group_rank();
    let rank = wg.thread_rank();
    let top = this_grid().block_rank() as u32 * 128;
    if which == 0 {
        if rank == 0 {
            q.load_async([top as i32, 0], &qs[0], &q_full);
            q.load_async([top as i32 + 64, 0], &qs[1], &q_full);
            let _ = q_full.arrive();
            for j in 0..blocks {
                let s = j % 2;
                k_empty[s].wait_parity(j / 2 % 2 == 0);
                k.load_async([j as i32 * 64, 0], &ks[s], &k_full[s]);
                let _ = k_full[s].arrive();
                v_empty[s].wait_parity(j / 2 % 2 == 0);
                v.load_async([j as i32 * 64, 0], &vs[s], &v_full[s]);
                let _ = v_full[s].arrive();
            }
        }
    } else {
        let own = which - 1;
        q_full.wait_parity(false);
        let mut o = Accumulator::<f32, 64, 64>::splat(0.0);
        let mut m = [f32::NEG_INFINITY; 2];
        let mut l = [0.0; 2];
        for j in 0..blocks {
            let s = j % 2;
            k_full[s].wait_parity(j / 2 % 2 == 1);
            let busy = wg.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &qs[own], &ks[s]);
            let mut p = wg.wait_mma(busy);
            if rank % 32 == 0 { let _ = k_empty[s].arrive(); }
            for r in 0..2 {
                let mut top = m[r];
                for i in 0..8 { top = top.max(p[i * 4 + r as u32 * 2]).max(p[i * 4 + r as u32 * 2 + 1]); }
                let quad = tiled_partition::<4>(&block);
                top = quad.reduce(top, op::Max);
                let old = ((m[r] - top) * scale).exp2();
                m[r] = top;
                let mut sum = 0.0;
                for i in 0..8 {
                    for e in 0..2 {
                        let at = i * 4 + r as u32 * 2 + e;
                        p[at] = ((p[at] - top) * scale).exp2();
                        sum += p[at];
                        o[at] *= old;
                    }
                }
                l[r] = l[r] * old + quad.reduce(sum, op::Plus);
            }
            v_full[s].wait_parity(j / 2 % 2 == 1);
            let busy = wg.mma_async(o, MatrixA::from_accumulator(p.to_bf16()), vs[s].transposed());
            o = wg.wait_mma(busy);
            if rank % 32 == 0 { let _ = v_empty[s].arrive(); }
        }
        for i in 0..32 {
            out[((top + own * 64 + o.row(rank, i)) * 64 + o.column(rank, i)) as usize] = o[i] / l[i as usize / 2 % 2];
        }
    }
}

#[cluster_kernel(block = 128)]
fn kittens(a: &TensorMap<T64>, b: &TensorMap<T64>, c: &mut [f32], k_tiles: u32) {
    let block = this_thread_block();
    let wg = tiled_partition::<128>(&block);
    let rank = wg.thread_rank();
    let (sa, sb) = (shared_array::<T64, 2>(), shared_array::<T64, 2>());
    let ready = shared_barriers::<2>();
    ready.init_collective(&block, 1);
    if rank == 0 && k_tiles > 0 {
        a.load_async([0, 0], &sa[0], &ready[0]);
        b.load_async([0, 0], &sb[0], &ready[0]);
        let _ = ready[0].arrive();
    }
    let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
    for k in 0..k_tiles {
        let (tic, toc) = (k % 2, (k + 1) % 2);
        ready[tic].wait_parity(k / 2 % 2 == 1);
        block.sync();
        if rank == 0 && k + 1 < k_tiles {
            a.load_async([0, (k as i32 + 1) * 64], &sa[toc], &ready[toc]);
            b.load_async([0, (k as i32 + 1) * 64], &sb[toc], &ready[toc]);
            let _ = ready[toc].arrive();
        }
        let busy = wg.mma_async(acc, &sa[tic], &sb[tic]);
        acc = wg.wait_mma(busy);
    }
    for i in 0..32 { c[(acc.row(rank, i) * 64 + acc.column(rank, i)) as usize] = acc[i]; }
}

#[cluster_kernel(block = 256)]
fn split_k(a: &TensorMap<T64>, b: &TensorMap<T64>, c: &mut TensorMap<Out>, parts: u32) {
    let block = this_thread_block();
    let wg = tiled_partition::<128>(&block);
    let rank = wg.thread_rank();
    let (sa, sb) = (shared_array::<T64, 3>(), shared_array::<T64, 3>());
    let sc = shared_array::<Out, 2>();
    let (full, empty) = (shared_barriers::<3>(), shared_barriers::<3>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    let stored = shared_barrier();
    stored.init_collective(&block, 128);
    let first = block.group_index().z * parts;
    if wg.meta_group_rank() == 1 {
        if rank == 0 {
            for i in 0..parts {
                empty[i % 3].wait_parity(i / 3 % 2 == 0);
                a.load_async([0, (first + i) as i32 * 64], &sa[i % 3], &full[i % 3]);
                b.load_async([0, (first + i) as i32 * 64], &sb[i % 3], &full[i % 3]);
                let _ = full[i % 3].arrive();
            }
        }
    } else {
        let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
        for i in 0..parts {
            full[i % 3].wait_parity(i / 3 % 2 == 1);
            let busy = wg.mma_async(acc, &sa[i % 3], &sb[i % 3]);
            acc = wg.wait_mma(busy);
            if rank % 32 == 0 { let _ = empty[i % 3].arrive(); }
        }
        for i in 0..32 {
            let column = acc.column(rank, i);
            sc[column / 32][acc.row(rank, i)][column % 32] = acc[i];
        }
        stored.arrive_and_wait();
        if rank == 0 {
            c.reduce_add_async([0, 0], &sc[0]);
            c.reduce_add_async([0, 32], &sc[1]);
            bulk_wait_group_read::<0>();
        }
    }
}

#[cluster_kernel(block = 256)]
fn stream_k(a: &TensorMap<T64>, b: &TensorMap<T64>, c: &mut [f32], k_tiles: u32, each: u32) {
    let block = this_thread_block();
    let wg = tiled_partition::<128>(&block);
    let rank = wg.thread_rank();
    let (sa, sb) = (shared_array::<T64, 4>(), shared_array::<T64, 4>());
    let (full, empty) = (shared_barriers::<4>(), shared_barriers::<4>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    assert!(k_tiles > 0);
    let begin = this_grid().block_rank() as u32 * each;
    if wg.meta_group_rank() == 1 {
        if rank == 0 {
            for i in 0..each {
                let (tile, k) = ((begin + i) / k_tiles, (begin + i) % k_tiles);
                empty[i % 4].wait_parity(i / 4 % 2 == 0);
                a.load_async([tile as i32 * 64, k as i32 * 64], &sa[i % 4], &full[i % 4]);
                b.load_async([0, k as i32 * 64], &sb[i % 4], &full[i % 4]);
                let _ = full[i % 4].arrive();
            }
        }
    } else {
        let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
        for i in 0..each {
            full[i % 4].wait_parity(i / 4 % 2 == 1);
            let busy = wg.mma_async(acc, &sa[i % 4], &sb[i % 4]);
            acc = wg.wait_mma(busy);
            if rank % 32 == 0 { let _ = empty[i % 4].arrive(); }
            let unit = begin + i;
            if unit % k_tiles == k_tiles - 1 || i + 1 == each {
                for e in 0..32 {
                    let at = (unit / k_tiles * 64 + acc.row(rank, e)) * 64 + acc.column(rank, e);
                    c.atomic(at as usize).fetch_add(acc[e], Relaxed);
                }
                acc = Accumulator::<f32, 64, 64>::splat(0.0);
            }
        }
    }
}

#[cluster_kernel(block = 256)]
fn batched(a: &TensorMap<B64>, b: &TensorMap<B64>, c: &mut TensorMap<[Out; 1]>, batch: u32, k_tiles: u32) {
    let block = this_thread_block();
    let wg = tiled_partition::<128>(&block);
    let rank = wg.thread_rank();
    let (sa, sb) = (shared_array::<B64, 4>(), shared_array::<B64, 4>());
    let sc = shared_array::<[Out; 1], 2>();
    let (full, empty) = (shared_barriers::<4>(), shared_barriers::<4>());
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    let turn = shared_barrier();
    turn.init_collective(&block, 128);
    let first = this_grid().block_rank() as u32;
    let blocks = this_grid().num_blocks() as u32;
    if wg.meta_group_rank() == 1 {
        if rank == 0 {
            let mut i = 0;
            for m in (first..batch).step_by(blocks) {
                for k in 0..k_tiles {
                    empty[i % 4].wait_parity(i / 4 % 2 == 0);
                    a.load_async([m as i32, 0, k as i32 * 64], &sa[i % 4], &full[i % 4]);
                    b.load_async([m as i32, 0, k as i32 * 64], &sb[i % 4], &full[i % 4]);
                    let _ = full[i % 4].arrive();
                    i += 1;
                }
            }
        }
    } else {
        let (mut i, mut done) = (0, 0);
        for m in (first..batch).step_by(blocks) {
            let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
            for _ in 0..k_tiles {
                full[i % 4].wait_parity(i / 4 % 2 == 1);
                let busy = wg.mma_async(acc, &sa[i % 4][0], &sb[i % 4][0]);
                acc = wg.wait_mma(busy);
                if rank % 32 == 0 { let _ = empty[i % 4].arrive(); }
                i += 1;
            }
            if rank == 0 { bulk_wait_group_read::<1>(); }
            turn.arrive_and_wait();
            for e in 0..32 { sc[done % 2][0][acc.row(rank, e)][acc.column(rank, e)] = bf16::from_f32(acc[e]); }
            turn.arrive_and_wait();
            if rank == 0 { c.store_async([m as i32, 0, 0], &sc[done % 2]); }
            done += 1;
        }
        if rank == 0 { bulk_wait_group_read::<0>(); }
    }
}

#[cluster_kernel(block = 128)]
fn maxima(x: &TensorMap<T64>, out: &mut TensorMap<T64>, tiles: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let s = shared_array::<T64, 2>();
    let full = shared_barriers::<2>();
    full.init_collective(&block, 1);
    for t in 0..tiles {
        if i == 0 {
            bulk_wait_group_read::<1>();
            x.load_async([t as i32 * 64, 0], &s[t % 2], &full[t % 2]);
            let _ = full[t % 2].arrive();
        }
        full[t % 2].wait_parity(t / 2 % 2 == 1);
        for at in (i..64 * 64).step_by(128) {
            let y = s[t % 2][at / 64][at % 64];
            s[t % 2][at / 64][at % 64] = y + y;
        }
        block.sync();
        if i == 0 { out.reduce_max_async([0, 0], &s[t % 2]); }
    }
    if i == 0 { bulk_wait_group_read::<0>(); }
}
";

fn kernel(name: &str) -> String {
    let end = KERNELS.find(&format!("fn {name}(")).expect("a kernel");
    let start = KERNELS[..end].rfind("#[cluster_kernel").expect("its attribute");
    let rest = &KERNELS[start..];
    rest[..rest.find("\n}\n").expect("its end") + 2].to_string()
}

#[test]
fn ported_pipelines_are_proved() {
    for name in ["flash", "kittens", "split_k", "stream_k", "batched", "maxima"] {
        let source = kernel(name);
        let Attributed { options, item, .. } = Attributed::parse(&source);
        let cases = session().rings("", options, item).unwrap_or_else(|faults| panic!("{name}: {faults:?}"));
        assert!(matches!(&cases[..], [case] if matches!(case.report, RingReport::Proved { .. })), "{name}: {cases:?}");
    }
}

#[test]
fn mistakes_of_porting_are_refused() {
    let k_release = "if rank % 32 == 0 { let _ = k_empty[s].arrive(); }";
    for (name, old, new, rule) in [
        // Released before the wait, by the wrong barrier, with one operand or one warpgroup forgotten, or by another parity.
        (
            "flash",
            "let mut p = wg.wait_mma(busy);",
            &*format!("{k_release} let mut p = wg.wait_mma(busy);"),
            "ring_count",
        ),
        ("flash", "v_full[s].wait_parity(j / 2 % 2 == 1)", "k_full[s].wait_parity(j / 2 % 2 == 1)", "ring_read"),
        ("flash", "q.load_async([top as i32 + 64, 0], &qs[1], &q_full);", "", "ring_read"),
        ("flash", "v_empty.init_collective(&block, 8)", "v_empty.init_collective(&block, 4)", "ring_count"),
        ("flash", "v_empty[s].wait_parity(j / 2 % 2 == 0)", "v_empty[s].wait_parity(j % 2 == 0)", "ring_deadlock"),
        // Refilled while others multiply, and a phase that changes in each round.
        ("kittens", "        block.sync();\n", "", "ring_overwrite"),
        ("kittens", "ready[tic].wait_parity(k / 2 % 2 == 1)", "ready[tic].wait_parity(k % 2 == 1)", "ring_overtaken"),
        ("split_k", "bulk_wait_group_read::<0>();", "", "copy_in_flight"),
        // One store too many in flight, and a count that begins anew.
        ("batched", "bulk_wait_group_read::<1>()", "bulk_wait_group_read::<2>()", "ring_overwrite"),
        ("batched", "for _ in 0..k_tiles {", "i = 0; for _ in 0..k_tiles {", "ring_undrained"),
        ("maxima", "            bulk_wait_group_read::<1>();\n", "", "ring_overwrite"),
        ("maxima", "        block.sync();\n", "", "ring_overwrite"),
    ] {
        let source = kernel(name);
        assert!(source.contains(old), "{name} has no {old}");
        let found = faults(&source.replacen(old, new, 1));
        let mut rules: Vec<String> = found.iter().map(|fault| fault.rule().to_string()).collect();
        rules.dedup();
        assert_eq!(rules, [rule], "{name}: {old}");
    }
}
