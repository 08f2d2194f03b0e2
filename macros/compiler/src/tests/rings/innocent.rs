//! Rings with constructs beside them that cannot matter to them: right ones are accepted, and each mistake of the ring is refused as
//! without the construct.

use super::super::faults;
use super::extraction::{faulty, proved};

/// A ring of three stages that one thread fills and 64 others read, with what is done in each round, and after the ring.
fn ring(count: &str, odd: &str, round: &str, after: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[f32], out: &mut [f32], marks: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let buffers = shared_array::<[f32; 64], 3>();
            let scratch = shared_array::<f32, 64>();
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            let mut best = 0.0;
            if i >= 64 {{
                if i == 64 {{
                    for k in 0..chunks {{
                        empty[k % 3].wait_parity(k / 3 % 2 == {odd});
                        full[k % 3].expect_tx(256);
                        bulk_copy_async(&buffers[k % 3], &input[k * 64..(k + 1) * 64], &full[k % 3]);
                        let _ = full[k % 3].arrive();
                    }}
                }}
            }} else {{
                let warp = tiled_partition::<32>(&block);
                let half = tiled_partition::<16>(&block);
                let quad = tiled_partition::<4>(&block);
                let mut at = 0;
                for k in 0..chunks {{
                    full[k % 3].wait_parity(k / 3 % 2 == 1);
                    let x = buffers[k % 3][63 - i];
                    {round}
                    let _ = empty[k % 3].arrive();
                }}
                out[i] = best;
                out[64 + i] = (at + half.thread_rank() + quad.thread_rank() + warp.thread_rank()) as f32;
            }}
            {after}
        }}"
    )
}

/// What a thread does with a value that it carries from round to round.
const CARRIED: [&str; 10] = [
    "if x > best { best = x; at = k; }",
    "best += x; if best > 5.0 { best -= 1.0; }",
    "best = if best > 5.0 { x } else { best + x };",
    "best += x; while best > 5.0 { best -= 1.0; }",
    "best += x; assert!(best >= 0.0);",
    "best += x; if best > 5.0 { out[200 + i] = best; }",
    "if best > 5.0 { best -= buffers[k % 3][i]; } else { best += x; }",
    "best += x; if best > 5.0 { let _ = marks.atomic(0).fetch_add(1, Ordering::Relaxed); }",
    "best += x; if best > 5.0 { let together = coalesced_threads(); at += together.thread_rank(); }",
    "if x > best { if best > 1.0 { at += 1; } best = x; } ",
];

/// What parts of a warp do together.
const PARTS: [&str; 4] = [
    "best += quad.reduce(x, |a, b| a + b);",
    "best += half.shfl_xor(x, 1);",
    "best += x; half.sync();",
    "best += x; if quad.any(best > 5.0) { at = k; }",
];

/// What comes after the ring.
const AFTER: [&str; 3] = [
    "if best > 5.0 { marks[i] = 1; }",
    "while best > 5.0 { best *= 0.5; } out[300 + i] = best;",
    "if i < 64 { scratch[i] = best; } block.sync();
     let mut step = 32;
     while step > 0 { if i < step { scratch[i] += scratch[i + step]; } block.sync(); step /= 2; }
     if i == 0 && scratch[0] > best { out[400] = scratch[0]; }",
];

#[track_caller]
fn accepted(source: &str) {
    let found: Vec<_> = faults(source).iter().map(|fault| fault.text().to_string()).collect();
    assert!(found.is_empty(), "{found:?} of\n{source}");
}

#[test]
fn carried_values() {
    for round in CARRIED {
        accepted(&ring("64", "0", round, ""));
        faulty(&ring("64", "1", round, ""), "ring_deadlock");
        faulty(&ring("65", "0", round, ""), "ring_deadlock");
    }
    proved(&ring("64", "0", CARRIED[0], ""));
}

#[test]
fn parts_of_a_warp() {
    for round in PARTS {
        accepted(&ring("64", "0", round, ""));
        faulty(&ring("64", "1", round, ""), "ring_deadlock");
        faulty(&ring("65", "0", round, ""), "ring_deadlock");
    }
}

#[test]
fn values_after_the_ring() {
    for after in AFTER {
        accepted(&ring("64", "0", "best += x;", after));
        faulty(&ring("64", "1", "best += x;", after), "ring_deadlock");
        faulty(&ring("65", "0", "best += x;", after), "ring_deadlock");
    }
}

/// A spin on an atomic orders what follows: a mistake that it may hide is not reported.
#[test]
fn a_spin_in_a_round() {
    let spin = "while marks.atomic(0).load(Ordering::Acquire) < k { } best += x;";
    accepted(&ring("64", "0", spin, ""));
    accepted(&ring("64", "1", spin, ""));
}

/// A variable that decides about a step and that data sets leaves the ring open, as before.
#[test]
fn stages_that_data_sets() {
    let other = "if best > 5.0 { best = 0.0; at = 1; } best += x; if at == 1 { let _ = empty[k % 3].arrive(); }";
    accepted(&ring("64", "0", other, ""));
}

/// A ring of two stages of which each of two warps reads a half, by a copy to global memory or by its own accesses.
fn halves(count: &str, load: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn halves(input: &[f32], out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let which = i / 32;
            let stages = shared_array::<[f32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            if i == 64 {{
                for k in 0..chunks {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(256);
                    {load}
                    let _ = full[k % 2].arrive();
                }}
            }} else if i == 0 || i == 32 {{
                for k in 0..chunks {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    {read}
                }}
            }}
        }}"
    )
}

const RELEASE: &str = "let _ = empty[k % 2].arrive();";
const WHOLE: &str = "bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);";
const TWO_HALVES: &str = "bulk_copy_async(&stages[k % 2][0..32], &input[k * 64..k * 64 + 32], &full[k % 2]);
    bulk_copy_async(&stages[k % 2][32..64], &input[k * 64 + 32..(k + 1) * 64], &full[k % 2]);";
const ONE_HALF: &str = "bulk_copy_async(&stages[k % 2][0..32], &input[k * 64..k * 64 + 32], &full[k % 2]);";
const STORE: &str = "bulk_copy_async(&mut out[k * 64 + which * 32..k * 64 + which * 32 + 32], &stages[k % 2][which * 32..which * 32 + 32]);";
const TAKEN: &str = "bulk_wait_group_read::<0>();";

#[test]
fn reads_of_a_part_of_a_stage() {
    let read = [STORE, TAKEN, RELEASE].concat();
    proved(&halves("2", WHOLE, &read));
    faulty(&halves("3", WHOLE, &read), "ring_deadlock");
    faulty(&halves("1", WHOLE, &read), "ring_count");
    // The copy out still reads the half.
    faulty(&halves("2", WHOLE, &[STORE, RELEASE, TAKEN].concat()), "ring_overwrite");
}

#[test]
fn copies_into_a_part_of_a_stage() {
    let read = &["out[k * 64 + i] = stages[k % 2][i];", RELEASE].concat();
    accepted(&halves("2", TWO_HALVES, read));
    faulty(&halves("3", TWO_HALVES, read), "ring_deadlock");
    faulty(&halves("2", ONE_HALF, read), "ring_deadlock");
    // A length that arguments decide says nothing.
    let open = "bulk_copy_async(&stages[k % 2][0..chunks], &input[k * 64..k * 64 + chunks], &full[k % 2]);";
    accepted(&halves("2", open, read));
}
