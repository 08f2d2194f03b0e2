//! Tiles that threads write, as dequantized weights, and that products read beside a ring of copies.

use super::super::faults;

const TILE: &str = "[Swizzled<bf16, 64>; 64]";

/// A warpgroup dequantizes what another one multiplies; the tile is the right or the left operand.
fn by_another_warpgroup(operands: &str) -> String {
    format!(
        "#[cluster_kernel(block = 384)]
        fn dequantize(a: &TensorMap<{TILE}>, w: &[u32], c: &mut [f32], steps: u32) {{
            let block = this_thread_block();
            let wg = tiled_partition::<128>(&block);
            let (x, y) = (shared_array::<{TILE}, 4>(), shared_array::<{TILE}, 2>());
            let (full, empty) = (shared_barriers::<4>(), shared_barriers::<4>());
            let (ready, free) = (shared_barriers::<2>(), shared_barriers::<2>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 4);
            ready.init_collective(&block, 128);
            free.init_collective(&block, 4);
            let (which, r) = (wg.meta_group_rank(), wg.thread_rank());
            if which == 2 {{
                if r == 0 {{
                    for k in 0..steps {{
                        empty[k % 4].wait_parity(k / 4 % 2 == 0);
                        a.load_async([0, 0], &x[k % 4], &full[k % 4]);
                        let _ = full[k % 4].arrive();
                    }}
                }}
            }} else if which == 1 {{
                for k in 0..steps {{
                    let t = k % 2;
                    free[t].wait_parity(k / 2 % 2 == 0);
                    for i in (r..4096).step_by(128) {{ y[t][i / 64][i % 64] = bf16::from_f32(w[k * 4096 + i] as f32); }}
                    let _ = ready[t].arrive();
                }}
            }} else {{
                let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
                for k in 0..steps {{
                    let (s, t) = (k % 4, k % 2);
                    full[s].wait_parity(k / 4 % 2 == 1);
                    ready[t].wait_parity(k / 2 % 2 == 1);
                    let p = wg.mma_async(acc, {operands});
                    acc = wg.wait_mma(p);
                    if r % 32 == 0 {{ let _ = empty[s].arrive(); }}
                    if r % 32 == 0 {{ let _ = free[t].arrive(); }}
                }}
                c[r] = acc[0];
            }}
        }}"
    )
}

/// A warpgroup writes a tile for its own products.
fn by_the_same_warpgroup(operands: &str) -> String {
    format!(
        "#[cluster_kernel(block = 128)]
        fn dequantize(a: &TensorMap<{TILE}>, w: &[u32], c: &mut [f32], steps: u32) {{
            let block = this_thread_block();
            let wg = tiled_partition::<128>(&block);
            let r = wg.thread_rank();
            let (x, y) = (shared_array::<{TILE}, 2>(), shared_array::<{TILE}, 1>());
            let full = shared_barriers::<2>();
            full.init_collective(&block, 1);
            let mut acc = Accumulator::<f32, 64, 64>::splat(0.0);
            for k in 0..steps {{
                let s = k % 2;
                if r == 0 {{
                    a.load_async([0, 0], &x[s], &full[s]);
                    let _ = full[s].arrive();
                }}
                for i in (r..4096).step_by(128) {{ y[0][i / 64][i % 64] = bf16::from_f32(w[k * 4096 + i] as f32); }}
                block.sync();
                full[s].wait_parity(k / 2 % 2 == 1);
                let p = wg.mma_async(acc, {operands});
                acc = wg.wait_mma(p);
                block.sync(); // all have multiplied
            }}
            c[r] = acc[0];
        }}"
    )
}

#[track_caller]
fn refused(source: &str, changes: &[(&str, &str)]) {
    assert!(faults(source).is_empty(), "{:?}", faults(source));
    for (old, new) in changes {
        assert!(source.contains(old), "no {old}");
        let found = faults(&source.replacen(old, new, 1));
        let is_of_rings = |rule: &str| ["ring_read", "ring_overwrite"].contains(&rule);
        assert!(
            !found.is_empty() && found.iter().all(|fault| is_of_rings(&fault.rule().to_string())),
            "{old} for {new}: {found:?}"
        );
    }
}

#[test]
fn tiles_of_another_warpgroup() {
    for operands in ["&x[s], &y[t]", "&y[t], &x[s]"] {
        let source = by_another_warpgroup(operands);
        let release = "if r % 32 == 0 { let _ = free[t].arrive(); }";
        let early = source.replace(release, "").replace("acc = wg.wait", &format!("{release} acc = wg.wait"));
        refused(&source, &[("&y[t]", "&y[(t + 1) % 2]"), (&source, &early)]);
        let arrival = "let _ = ready[t].arrive();";
        let early = source.replace(arrival, "").replace("for i in (r..", &format!("{arrival} for i in (r.."));
        refused(&source, &[(&source, &early)]);
    }
}

#[test]
fn tiles_of_the_same_warpgroup() {
    for operands in ["&x[s], &y[0]", "&y[0], &x[s]"] {
        refused(
            &by_the_same_warpgroup(operands),
            &[
                ("block.sync();\n                full", "full"),
                ("block.sync();\n                full", "tiled_partition::<32>(&block).sync(); full"),
                ("block.sync(); // all have multiplied", ""),
            ],
        );
    }
}

/// Each warp may write the rows of the left operand that it alone reads.
#[test]
fn own_rows_of_the_left_operand() {
    let source = by_the_same_warpgroup("&y[0], &x[s]").replace("(r..4096).step_by(128)", "r * 32..r * 32 + 32");
    let own = source.replace("block.sync();\n                full", "full");
    let right = by_the_same_warpgroup("&x[s], &y[0]").replace("(r..4096).step_by(128)", "r * 32..r * 32 + 32");
    assert!(faults(&source).is_empty() && faults(&own).is_empty(), "{:?}", faults(&own));
    refused(&right, &[("block.sync();\n                full", "full")]);
}
