//! A ring for each warp, whose stages and barriers are told by the warp's rank.

use super::super::rules;

fn rows(block: u32, bytes: u32, next: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = {block})] fn rows(input: &[u32], out: &mut [u32], per_warp: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let (which, lane) = (warp.meta_group_rank(), warp.thread_rank());
            let tiles = shared_array::<[u32; 32], 4>();
            let full = shared_barriers::<4>();
            full.init_collective(&block, 1);
            let base = which * per_warp;
            if lane == 0 && per_warp > 0 {{
                let b = which * 2;
                full[b].expect_tx({bytes});
                bulk_copy_async(&tiles[b], &input[base * 32..(base + 1) * 32], &full[b]);
                let _ = full[b].arrive();
            }}
            let mut sum = 0;
            for k in 0..per_warp {{
                let (s, n) = (which * 2 + k % 2, {next});
                if lane == 0 && k + 1 < per_warp {{
                    full[n].expect_tx(128);
                    bulk_copy_async(&tiles[n], &input[(base + k + 1) * 32..(base + k + 2) * 32], &full[n]);
                    let _ = full[n].arrive();
                }}
                full[s].wait_parity(k / 2 % 2 == 1);
                sum += tiles[s][31 - lane];
                warp.sync();
            }}
            out[block.thread_rank()] = sum;
        }}"
    ))
}

/// The lanes of two warps do not wait at the same barriers, though their steps read alike.
#[test]
fn each_warp_has_its_own_ring() {
    let next = "which * 2 + (k + 1) % 2";
    for block in [32, 64] {
        assert_eq!(rows(block, 128, next), [""; 0], "{block}");
        for (bytes, next) in [(256, next), (128, "which * 2 + k % 2")] {
            assert_ne!(rows(block, bytes, next), [""; 0], "{block} {bytes} {next}");
        }
    }
    assert_ne!(rows(64, 128, "(1 - which) * 2 + (k + 1) % 2"), [""; 0]);
}
