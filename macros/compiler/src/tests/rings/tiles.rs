//! Rings whose stages are tiles that tensor maps load: they are proved whatever the tile's type is, and each mistake is found as
//! in other rings. The bytes are not the text's.

use super::super::{Attributed, faults, session};
use crate::RingReport;

/// A ring of three stages of two operands, which one thread loads and 64 others read.
fn ring(tile: &str, producer: &[&str], consumer: &[&str]) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(a: &TensorMap<{tile}>, b: &TensorMap<{tile}>, out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let lefts = shared_array::<{tile}, 3>();
            let rights = shared_array::<{tile}, 3>();
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            if i == 64 {{
                for k in 0..chunks {{ {} }}
            }} else if i < 64 {{
                let mut sum = 0.0;
                for k in 0..chunks {{ {} }}
                out[i] = sum;
            }}
        }}",
        producer.concat(),
        consumer.concat(),
    )
}

const ACQUIRE: &str = "empty[k % 3].wait_parity(k / 3 % 2 == 0);";
const LOAD: &str = "a.load_async([k as i32 * 8, 0], &lefts[k % 3], &full[k % 3]);
    b.load_async([k as i32 * 8, 0], &rights[k % 3], &full[k % 3]);";
const ARRIVE: &str = "let _ = full[k % 3].arrive();";
const WAIT: &str = "full[k % 3].wait_parity(k / 3 % 2 == 1);";
const READ: &str = "sum += lefts[k % 3][0][i].to_f32() * rights[k % 3][1][i].to_f32();";
const RELEASE: &str = "let _ = empty[k % 3].arrive();";

const TILES: [&str; 3] = ["[[bf16; 64]; 8]", "[Swizzled<bf16, 64>; 8]", "Part"];

#[test]
fn rings_of_tiles() {
    for tile in TILES {
        let source = ring(tile, &[ACQUIRE, LOAD, ARRIVE], &[WAIT, READ, RELEASE]);
        let Attributed { options, item, .. } = Attributed::parse(&source);
        let cases = session().rings("", options, item).unwrap_or_else(|_| panic!("faults in\n{source}"));
        let proved = |report: &RingReport| match report {
            RingReport::Proved { arrays, .. } => arrays.len() == 2,
            RingReport::Open { .. } | RingReport::Refused(_) | RingReport::Waived => false,
        };
        assert!(matches!(&cases[..], [case] if proved(&case.report)), "{cases:?} of\n{source}");
    }
}

#[test]
fn mistakes_in_rings_of_tiles() {
    let right = ([ACQUIRE, LOAD, ARRIVE], [WAIT, READ, RELEASE]);
    let inverted = "empty[k % 3].wait_parity(k / 3 % 2 == 1);";
    let (early, more) = ("full[k % 3].wait_parity(k / 3 % 2 == 0);", "full[k % 3].expect_tx(16);");
    let (next, other) =
        (LOAD.replace("lefts[k % 3]", "lefts[(k + 1) % 3]"), LOAD.replace("&full[k % 3]", "&full[(k + 1) % 3]"));
    for tile in TILES {
        for (producer, consumer, rule) in [
            (&[inverted, LOAD, ARRIVE][..], &right.1[..], "ring_deadlock"),
            (&[LOAD, ARRIVE], &right.1, "ring_overwrite"),
            (&[LOAD, ACQUIRE, ARRIVE], &right.1, "ring_overwrite"),
            (&[ACQUIRE, LOAD], &right.1, "ring_deadlock"),
            (&[ACQUIRE, LOAD, more, ARRIVE], &right.1, "ring_deadlock"),
            (&[ACQUIRE, &next, ARRIVE], &right.1, "ring_read"),
            (&[ACQUIRE, &other, ARRIVE], &right.1, "ring_read"),
            (&right.0, &[early, READ, RELEASE], "ring_read"),
            (&right.0, &[READ, WAIT, RELEASE], "ring_read"),
            (&right.0, &[WAIT, RELEASE, READ], "ring_overwrite"),
            (&right.0, &[WAIT, READ], "ring_deadlock"),
        ] {
            let source = ring(tile, producer, consumer);
            let found: Vec<_> = faults(&source).iter().map(|fault| fault.rule().to_string()).collect();
            assert_eq!(
                found,
                [rule],
                "{:?} of\n{source}",
                faults(&source).first().map(|fault| fault.text().to_string())
            );
        }
    }
}

/// A ring of four tiles, which one thread loads and a warpgroup multiplies, with `between` before its warps release a stage.
fn products(count: u32, multiply: &[&str]) -> String {
    format!(
        "#[cluster_kernel(block = 256)] fn product(a: &TensorMap<Rows>, out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let warpgroup = tiled_partition::<128>(&block);
            let rank = warpgroup.thread_rank();
            let tiles = shared_array::<Rows, 3>();
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            if warpgroup.meta_group_rank() == 1 {{
                if rank == 0 {{
                    for k in 0..chunks {{
                        empty[k % 3].wait_parity(k / 3 % 2 == 0);
                        a.load_async([0, k as i32 * 64], &tiles[k % 3], &full[k % 3]);
                        let _ = full[k % 3].arrive();
                    }}
                }}
            }} else {{
                let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
                for k in 0..chunks {{ {} }}
                out[rank] = sum[0];
            }}
        }}",
        multiply.concat(),
    )
}

/// A product by all threads of a warpgroup reads its tiles until each thread has waited.
#[test]
fn rings_with_products() {
    const BEGIN: &str = "let product = warpgroup.mma_async(sum, &tiles[k % 3], &tiles[k % 3]);";
    const END: &str = "sum = warpgroup.wait_mma(product);";
    const BY_WARP: &str = "if rank % 32 == 0 { let _ = empty[k % 3].arrive(); }";
    let rules = |source: &str| faults(source).iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>();
    for (count, release) in [(128, RELEASE), (4, BY_WARP)] {
        let right = products(count, &[WAIT, BEGIN, END, release]);
        let Attributed { options, item, .. } = Attributed::parse(&right);
        let cases = session().rings("", options, item).unwrap_or_else(|_| panic!("faults in\n{right}"));
        assert!(
            matches!(&cases[..], [case] if matches!(case.report, RingReport::Proved { .. })),
            "{cases:?} of\n{right}"
        );
        assert_eq!(rules(&products(count, &[WAIT, BEGIN, release, END])), ["ring_overwrite"], "{count}");
        assert_eq!(rules(&products(count, &[WAIT, BEGIN, END])), ["ring_deadlock"]);
        assert_eq!(rules(&products(count, &[BEGIN, END, release])), ["ring_read"]);
        let early = "full[k % 3].wait_parity(k / 3 % 2 == 0);";
        assert_eq!(rules(&products(count, &[early, BEGIN, END, release])), ["ring_read"]);
    }
    assert_eq!(rules(&products(4, &[WAIT, BEGIN, END, RELEASE])), ["ring_count"]);
    assert_eq!(rules(&products(128, &[WAIT, BEGIN, END, BY_WARP])), ["ring_deadlock"]);
}

/// A tile may be all of an array of its rows: then no row is a stage of its own, and a product of some rows reads the tile.
#[test]
fn tiles_that_are_arrays() {
    let kernel = |rows: &str, between: &str| {
        format!(
            "#[cluster_kernel(block = 256)] fn product(a: &TensorMap<[{rows}; 128]>, out: &mut [f32], rounds: u32) {{
                let block = this_thread_block();
                let warpgroup = tiled_partition::<128>(&block);
                let (i, which) = (block.thread_rank(), warpgroup.meta_group_rank());
                let tile = shared_array::<{rows}, 128>();
                let full = shared_barrier();
                full.init_collective(&block, 1);
                let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
                for round in 0..rounds {{
                    if i == 0 {{
                        a.load_async([round as i32 * 128, 0], &tile, &full);
                        let _ = full.arrive();
                    }}
                    full.wait_parity(round % 2 == 1);
                    {between}
                }}
                out[i] = sum[0];
            }}"
        )
    };
    let products = [
        "sum = warpgroup.wait_mma(warpgroup.mma_async(sum, &tile[which * 64..which * 64 + 64], &tile[64..128]));",
        "sum = warpgroup.wait_mma(warpgroup.mma_async(sum, &tile[..64], tile[..64].transposed()));",
        "sum[0] += tile[i % 128][0].to_f32();",
    ];
    for rows in ["Swizzled<bf16, 64>", "[bf16; 64]", "Row"] {
        for product in products {
            // The others may still read what thread 0 replaces.
            let wrong = faults(&kernel(rows, product));
            let found: Vec<&str> = wrong.iter().map(|fault| fault.rule().name()).collect();
            assert!(matches!(found[..], ["ring_read" | "ring_overwrite"]), "{found:?}: {rows}, {product}");
            let right = faults(&kernel(rows, &format!("{product} block.sync();")));
            assert!(right.is_empty(), "{}: {rows}, {product}", right[0].text());
        }
    }
}

/// What a warp does together does not hide its mistakes: where all lanes come, they are one actor.
#[test]
fn warps_that_reduce() {
    let kernel = |count: u32, bytes: u32, consumer: &[&str]| {
        format!(
            "#[cluster_kernel(block = 96)] fn sums(x: &[f32], out: &mut [f32], chunks: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let lane = warp.thread_rank();
                let tiles = shared_array::<[f32; 32], 3>();
                let full = shared_barriers::<3>();
                let empty = shared_barriers::<3>();
                full.init_collective(&block, 1);
                empty.init_collective(&block, {count});
                if warp.meta_group_rank() == 2 {{
                    if lane == 0 {{
                        for k in 0..chunks {{
                            empty[k % 3].wait_parity(k / 3 % 2 == 0);
                            full[k % 3].expect_tx({bytes});
                            bulk_copy_async(&tiles[k % 3], &x[k * 32..k * 32 + 32], &full[k % 3]);
                            let _ = full[k % 3].arrive();
                        }}
                    }}
                }} else {{
                    let mut sum = 0.0;
                    for k in 0..chunks {{ {} }}
                    out[lane] = sum;
                }}
            }}",
            consumer.concat(),
        )
    };
    const REDUCE: &str = "sum += warp.reduce(tiles[k % 3][lane], op::Plus);";
    const BY_LANE: &str = "warp.sync(); if lane == 0 { let _ = empty[k % 3].arrive(); }";
    let rules = |source: &str| faults(source).iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>();
    for (count, release) in [(2, BY_LANE), (64, RELEASE)] {
        assert!(rules(&kernel(count, 128, &[WAIT, REDUCE, release])).is_empty());
        assert_eq!(rules(&kernel(count, 64, &[WAIT, REDUCE, release])), ["ring_deadlock"]);
        assert_eq!(rules(&kernel(count + 1, 128, &[WAIT, REDUCE, release])), ["ring_deadlock"]);
        assert_eq!(rules(&kernel(count - 1, 128, &[WAIT, REDUCE, release])), ["ring_count"]);
        assert_eq!(rules(&kernel(count, 128, &[WAIT, REDUCE])), ["ring_deadlock"]);
        assert_eq!(rules(&kernel(count, 128, &[REDUCE, WAIT, release])), ["ring_read"]);
        let early = release.replace("warp.sync();", "");
        assert_eq!(rules(&kernel(count, 128, &[WAIT, &early, REDUCE])), ["ring_overwrite"], "{count}");
    }
}
