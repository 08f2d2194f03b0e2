//! Rings whose stages products of warpgroups read: two products in a round, of which the second has its left operand in registers, and
//! two warpgroups that each have a product in flight, with more states than a search visits.

use super::super::faults;
use super::extraction::proved;

/// Attention: a product reads a stage of keys, and another one a stage of values.
const TWO: &str = "#[cluster_kernel(block = 256)]
fn attention(k: &TensorMap<Rows>, v: &TensorMap<Rows>, out: &mut [f32], parts: u32) {
    let block = this_thread_block();
    let g = tiled_partition::<128>(&block);
    let rank = g.thread_rank();
    let keys = shared_array::<Rows, 2>();
    let values = shared_array::<Rows, 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    if g.meta_group_rank() == 1 {
        if rank == 0 {
            for p in 0..parts {
                empty[p % 2].wait_parity(p / 2 % 2 == 0);
                k.load_async([0, p as i32 * 64], &keys[p % 2], &full[p % 2]);
                v.load_async([0, p as i32 * 64], &values[p % 2], &full[p % 2]);
                let _ = full[p % 2].arrive();
            }
        }
    } else {
        let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
        for p in 0..parts {
            full[p % 2].wait_parity(p / 2 % 2 == 1);
            let first = g.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &keys[p % 2], &keys[p % 2]);
            let scores = g.wait_mma(first);
            let second = g.mma_async(sum, MatrixA::from_accumulator(scores.to_f16()), &values[p % 2]);
            sum = g.wait_mma(second);
            if rank % 32 == 0 { let _ = empty[p % 2].arrive(); }
        }
        out[rank] = sum[0];
    }
}";

/// Attention that overlaps: the scores of the next keys, a product of two tiles, are waited for while a product of one tile goes on.
const OVERLAPPED: &str = "#[cluster_kernel(block = 256)]
fn attention(k: &TensorMap<Rows>, v: &TensorMap<Rows>, out: &mut [f32], parts: u32) {
    let block = this_thread_block();
    let g = tiled_partition::<128>(&block);
    let rank = g.thread_rank();
    let keys = shared_array::<Rows, 2>();
    let values = shared_array::<Rows, 2>();
    let (k_full, k_empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    let (v_full, v_empty) = (shared_barriers::<2>(), shared_barriers::<2>());
    k_full.init_collective(&block, 1);
    k_empty.init_collective(&block, 4);
    v_full.init_collective(&block, 1);
    v_empty.init_collective(&block, 4);
    assert!(parts > 0);
    if g.meta_group_rank() == 1 {
        if rank == 0 {
            for p in 0..parts {
                k_empty[p % 2].wait_parity(p / 2 % 2 == 0);
                k.load_async([0, p as i32 * 64], &keys[p % 2], &k_full[p % 2]);
                let _ = k_full[p % 2].arrive();
            }
        } else if rank == 32 {
            for p in 0..parts {
                v_empty[p % 2].wait_parity(p / 2 % 2 == 0);
                v.load_async([0, p as i32 * 64], &values[p % 2], &v_full[p % 2]);
                let _ = v_full[p % 2].arrive();
            }
        }
    } else {
        k_full[0].wait_parity(false);
        let first = g.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &keys[0], &keys[0]);
        let mut scores = g.wait_mma(first);
        if rank % 32 == 0 { let _ = k_empty[0].arrive(); }
        let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
        for p in 1..parts {
            k_full[p % 2].wait_parity(p / 2 % 2 == 1);
            let next = g.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &keys[p % 2], &keys[p % 2]);
            v_full[(p - 1) % 2].wait_parity((p - 1) / 2 % 2 == 1);
            let weighted = g.mma_async(sum, MatrixA::from_accumulator(scores.to_f16()), &values[(p - 1) % 2]);
            scores = g.wait_mma_except_last(next);
            if rank % 32 == 0 { let _ = k_empty[p % 2].arrive(); }
            sum = g.wait_mma(weighted);
            if rank % 32 == 0 { let _ = v_empty[(p - 1) % 2].arrive(); }
        }
        let last = (parts - 1) % 2;
        v_full[last].wait_parity((parts - 1) / 2 % 2 == 1);
        let weighted = g.mma_async(sum, MatrixA::from_accumulator(scores.to_f16()), &values[last]);
        sum = g.wait_mma(weighted);
        out[rank] = sum[0];
    }
}";

/// A product of two consumer warpgroups, one of each always in flight.
const IN_FLIGHT: &str = "#[cluster_kernel(block = 384)]
fn gemm(a: &TensorMap<Rows>, b: &TensorMap<Rows>, c: &mut [f32], parts: u32) {
    let block = this_thread_block();
    assert!(parts > 0);
    let group = tiled_partition::<128>(&block);
    let (rank, g) = (group.thread_rank(), group.meta_group_rank());
    let left = shared_array::<Rows, 6>();
    let right = shared_array::<Rows, 3>();
    let full = shared_barriers::<3>();
    let empty = shared_barriers::<3>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 8);
    if g == 2 {
        if rank == 0 {
            for part in 0..parts {
                let stage = part % 3;
                empty[stage].wait_parity(part / 3 % 2 == 0);
                a.load_async([0, part as i32 * 64], &left[stage * 2], &full[stage]);
                a.load_async([64, part as i32 * 64], &left[stage * 2 + 1], &full[stage]);
                b.load_async([0, part as i32 * 64], &right[stage], &full[stage]);
                let _ = full[stage].arrive();
            }
        }
    } else {
        let sum = Accumulator::<f32, 64, 64>::splat(0.0);
        full[0].wait_parity(false);
        let mut product = group.mma_async(sum, &left[g], &right[0]);
        for part in 1..parts {
            let stage = part % 3;
            full[stage].wait_parity(part / 3 % 2 == 1);
            product = group.mma_async(product, &left[stage * 2 + g], &right[stage]);
            group.wait_mma_prior::<1>();
            if rank % 32 == 0 { let _ = empty[(part - 1) % 3].arrive(); }
        }
        let sum = group.wait_mma(product);
        for i in 0..32 { c[(g * 64 + sum.row(rank, i)) * 64 + sum.column(rank, i)] = sum[i]; }
    }
}";

/// A persistent product: one warpgroup multiplies the tiles of a ring, whose counters are kept by hand, and stores each result through a
/// tile of its own, around which its threads meet.
const PERSISTENT: &str = "#[cluster_kernel(block = 256)]
fn gemm(a: &TensorMap<Rows>, b: &TensorMap<Rows>, c: &mut TensorMap<Out>, tiles: u32, parts: u32) {
    let block = this_thread_block();
    let group = tiled_partition::<128>(&block);
    let left = shared_array::<Rows, 4>();
    let right = shared_array::<Rows, 4>();
    let mut staged = shared_array::<Out, 1>();
    let full = shared_barriers::<4>();
    let empty = shared_barriers::<4>();
    let met = shared_barrier();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 4);
    met.init_collective(&block, 128);
    let rank = group.thread_rank();
    let mut stage = 0u32;
    if group.meta_group_rank() == 1 {
        if rank == 0 {
            let mut phase = true;
            let mut tile = this_grid().block_rank() as u32;
            while tile < tiles {
                for k in 0..parts {
                    empty[stage].wait_parity(phase);
                    a.load_async([tile as i32 * 64, k as i32 * 64], &left[stage], &full[stage]);
                    b.load_async([tile as i32 * 64, k as i32 * 64], &right[stage], &full[stage]);
                    let _ = full[stage].arrive();
                    stage += 1;
                    if stage == 4 { stage = 0; phase = !phase; }
                }
                tile += this_grid().num_blocks() as u32;
            }
        }
    } else {
        let mut phase = false;
        let mut tile = this_grid().block_rank() as u32;
        while tile < tiles {
            let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
            for k in 0..parts {
                full[stage].wait_parity(phase);
                let product = group.mma_async(sum, &left[stage], &right[stage]);
                sum = group.wait_mma(product);
                if rank % 32 == 0 { let _ = empty[stage].arrive(); }
                stage += 1;
                if stage == 4 { stage = 0; phase = !phase; }
            }
            if rank == 0 { bulk_wait_group_read::<0>(); }
            let freed = met.arrive();
            met.wait(freed);
            for i in 0..32u32 { staged[0][sum.row(rank, i) as usize][sum.column(rank, i) as usize] = sum[i]; }
            let filled = met.arrive();
            met.wait(filled);
            if rank == 0 { c.store_async([tile as i32 * 64, 0], &staged[0]); }
            tile += this_grid().num_blocks() as u32;
        }
        if rank == 0 { bulk_wait_group::<0>(); }
    }
}";

fn check(source: &str, edits: &[(&str, &str)]) -> Vec<String> {
    let mut edited = source.to_owned();
    for (from, to) in edits {
        assert!(edited.contains(from), "{from}");
        edited = edited.replacen(from, to, 1);
    }
    faults(&edited).iter().map(|fault| fault.rule().to_string()).collect()
}

#[test]
fn two_products_in_a_round() {
    proved(TWO);
    let release = "if rank % 32 == 0 { let _ = empty[p % 2].arrive(); }";
    let wait = "sum = g.wait_mma(second);";
    let early =
        [(release, ""), (wait, "if rank % 32 == 0 { let _ = empty[p % 2].arrive(); } sum = g.wait_mma(second);")];
    assert_eq!(check(TWO, &early), ["ring_overwrite"]);
    assert_eq!(check(TWO, &[("&values[p % 2], &full[p % 2]", "&values[p % 2], &full[1 - p % 2]")]), ["ring_read"]);
    assert_eq!(check(TWO, &[("(&block, 4)", "(&block, 128)")]), ["ring_deadlock"]);
    let one = [(release, "if rank == 0 { let _ = empty[p % 2].arrive(); }"), ("(&block, 4)", "(&block, 1)")];
    assert_eq!(check(TWO, &one), ["ring_read"]);
}

/// Products that read different numbers of tiles are counted as products.
#[test]
fn products_of_other_numbers_of_tiles() {
    proved(OVERLAPPED);
    let (k_free, v_free) = (
        "if rank % 32 == 0 { let _ = k_empty[p % 2].arrive(); }",
        "if rank % 32 == 0 { let _ = v_empty[(p - 1) % 2].arrive(); }",
    );
    for (free, wait) in [(k_free, "scores = g.wait_mma_except_last(next);"), (v_free, "sum = g.wait_mma(weighted);")] {
        assert_eq!(check(OVERLAPPED, &[(free, ""), (wait, &format!("{free} {wait}"))]), ["ring_overwrite"], "{wait}");
    }
}

#[test]
fn a_persistent_product() {
    proved(PERSISTENT);
    for (from, to) in [
        ("let mut phase = true;", "let mut phase = false;"),
        ("let mut phase = false;", "let mut phase = true;"),
        ("if rank % 32 == 0 { let _ = empty[stage].arrive(); }", ""),
        ("empty.init_collective(&block, 4);", "empty.init_collective(&block, 128);"),
        ("met.init_collective(&block, 128);", "met.init_collective(&block, 129);"),
        ("if stage == 4 { stage = 0; phase = !phase; }", "if stage == 4 { stage = 0; }"),
        ("&right[stage], &full[stage]);", "&right[stage], &empty[stage]);"),
    ] {
        let found = check(PERSISTENT, &[(from, to)]);
        assert!(matches!(&found[..], [rule] if rule.starts_with("ring_")), "{from}: {found:?}");
    }
}

#[test]
fn two_warpgroups_with_a_product_in_flight() {
    assert_eq!(check(IN_FLIGHT, &[]), [""; 0]);
    for (from, to) in [
        ("group.wait_mma_prior::<1>();", ""),
        ("empty[(part - 1) % 3].arrive()", "empty[stage].arrive()"),
        ("(&block, 8)", "(&block, 256)"),
    ] {
        let found = check(IN_FLIGHT, &[(from, to)]);
        assert!(matches!(&found[..], [rule] if rule.starts_with("ring_")), "{from}: {found:?}");
    }
}
