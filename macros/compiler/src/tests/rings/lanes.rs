//! Rings in which the lanes of a warp do different things, such as one that tells each block by another lane, or in which many threads
//! copy alike: nothing is proved of them, right ones are accepted, and each mistake is refused.

use super::super::faults;
use super::extraction::faulty;

fn found(source: &str) -> Vec<String> {
    faults(source).iter().map(|fault| fault.rule().to_string()).collect()
}

/// A product of a cluster of two blocks, each of which loads its own rows, and half of the columns for both.
fn product(producer: &[&str], consumer: &[&str]) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 256)] fn gemm(a: &TensorMap<Rows>, b: &TensorMap<Half>, c: &mut [f32], parts: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let warpgroup = tiled_partition::<128>(&block);
            let (rank, me) = (warpgroup.thread_rank(), cluster.block_rank());
            let lane = rank % 32;
            let left = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
            let right = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
            let full = shared_cluster_barriers::<2>();
            let empty = shared_cluster_barriers::<2>();
            full.init_collective(&cluster, 1);
            empty.init_collective(&cluster, 8);
            if warpgroup.meta_group_rank() == 1 {{
                if rank == 0 {{
                    for part in 0..parts {{ let s = part % 2; {} }}
                }}
            }} else {{
                let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
                for part in 0..parts {{ let s = part % 2; {} }}
                for i in 0..32 {{ c[(me * 64 + sum.row(rank, i)) * 64 + sum.column(rank, i)] = sum[i]; }}
            }}
            cluster.sync();
        }}",
        producer.concat(),
        consumer.concat(),
    )
}

const ACQUIRE: &str = "empty[s].wait_parity(part / 2 % 2 == 0);";
const LOAD: &str = "a.load_async([me as i32 * 64, part as i32 * 64], &left[s], &full[s]);";
const EXPECT: &str = "b.expect_multicast(&right[s][..32], &full[s]); b.expect_multicast(&right[s][32..], &full[s]);";
const SEND: &str =
    "b.multicast_async([me as i32 * 32, part as i32 * 64], &right[s][me * 32..(me + 1) * 32], &full[s], &cluster);";
const ARRIVE: &str = "let _ = full[s].arrive();";
const WAIT: &str = "full[s].wait_parity(part / 2 % 2 == 1);";
const MULTIPLY: &str =
    "let product = warpgroup.mma_async(sum, &left[s], &right[s]); sum = warpgroup.wait_mma(product);";
const RELEASE: &str = "if lane < 2 { cluster.map_shared_rank(&empty[s], lane).arrive(); }";

#[test]
fn each_block_is_told_by_a_lane_of_its_own() {
    let producer = [ACQUIRE, LOAD, EXPECT, SEND, ARRIVE];
    let apart = "if lane == 3 { cluster.map_shared_rank(&empty[s], 0).arrive(); }
        if lane == 9 { cluster.map_shared_rank(&empty[s], 1).arrive(); }";
    let other = "if lane > 29 { cluster.map_shared_rank(&empty[s], 31 - lane).arrive(); }";
    let by_rank = "if lane < 2 && lane != me { cluster.map_shared_rank(&empty[s], lane).arrive(); }
        if lane == me { let _ = empty[s].arrive(); }";
    for release in [RELEASE, apart, other, by_rank] {
        let consumer = [WAIT, MULTIPLY, release];
        assert!(
            found(&product(&producer, &consumer)).is_empty(),
            "{:?} of {release}",
            found(&product(&producer, &consumer))
        );
        let inverted = ACQUIRE.replace("== 0", "== 1");
        faulty(&product(&[&inverted, LOAD, EXPECT, SEND, ARRIVE], &consumer), "ring_deadlock");
        faulty(&product(&[ACQUIRE, LOAD, EXPECT, SEND], &consumer), "ring_deadlock");
        let half = "b.expect_multicast(&right[s][..32], &full[s]);";
        faulty(&product(&[ACQUIRE, LOAD, half, SEND, ARRIVE], &consumer), "ring_read");
        let early = WAIT.replace("== 1", "== 0");
        assert!(!found(&product(&producer, &[&early, MULTIPLY, release])).is_empty(), "{release}");
        let counts = |count: u32| {
            let count = format!("empty.init_collective(&cluster, {count});");
            product(&producer, &consumer).replace("empty.init_collective(&cluster, 8);", &count)
        };
        faulty(&counts(9), "ring_deadlock");
        faulty(&counts(4), "ring_overwrite");
        let to_one =
            release.replace("lane < 2", "lane < 1").replace("lane > 29", "lane > 30").replace("lane == 9", "false");
        if to_one != release && release != by_rank {
            assert!(!found(&product(&producer, &[WAIT, MULTIPLY, &to_one])).is_empty(), "{release}");
        }
    }
}

/// Each thread of each block sends one element to all blocks.
fn exchange(arm: &[&str], send: &str, wait: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 4, block = 64)] fn sums(values: &[f32], out: &mut [f32], rounds: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let (i, me) = (block.thread_rank(), cluster.block_rank());
            let inbox = shared_array::<[[f32; 64]; 4], 2>();
            let arrived = shared_cluster_barriers::<2>();
            arrived.init_collective(&cluster, 1);
            let mut x = values[cluster.thread_rank()];
            for round in 0..rounds {{
                let s = round % 2;
                if i == 0 {{ {} }}
                {send}
                {wait}
                x = inbox[s][0][i] + inbox[s][1][i] + inbox[s][2][i] + inbox[s][3][i];
                block.sync();
            }}
            out[cluster.thread_rank()] = x;
            cluster.sync();
        }}",
        arm.concat()
    )
}

const BYTES: &str = "arrived[s].expect_tx(4 * 64 * 4);";
const ARMED: &str = "let _ = arrived[s].arrive();";
const TO_ALL: &str = "for peer in 0..4 {
    let there = cluster.map_shared_rank(&inbox[s], peer);
    there[me].store_async(i, x, &cluster.map_shared_rank(&arrived[s], peer));
}";
const ARRIVED: &str = "arrived[s].wait_parity(round / 2 % 2 == 1);";

#[test]
fn many_threads_send() {
    assert!(found(&exchange(&[BYTES, ARMED], TO_ALL, ARRIVED)).is_empty());
    faulty(&exchange(&["arrived[s].expect_tx(3 * 64 * 4);", ARMED], TO_ALL, ARRIVED), "ring_deadlock");
    faulty(&exchange(&["arrived[s].expect_tx(5 * 64 * 4);", ARMED], TO_ALL, ARRIVED), "ring_deadlock");
    faulty(&exchange(&[ARMED], TO_ALL, ARRIVED), "ring_deadlock");
    faulty(&exchange(&[BYTES], TO_ALL, ARRIVED), "ring_deadlock");
    faulty(&exchange(&[BYTES, ARMED], &TO_ALL.replace("0..4", "0..3"), ARRIVED), "ring_deadlock");
    assert!(!found(&exchange(&[BYTES, ARMED], TO_ALL, &ARRIVED.replace("== 1", "== 0"))).is_empty());
    assert!(!found(&exchange(&[BYTES, ARMED], TO_ALL, &ARRIVED.replace("arrived[s]", "arrived[0]"))).is_empty());
}

/// A block copies the next part while it reads the one before.
fn doubled(copy: &str, wait: &str, end: &str) -> String {
    format!(
        "#[cluster_kernel(block = 128)] fn dots(a: &[f32], b: &[f32], out: &mut [f32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let i = block.thread_rank();
            let left = shared_array::<[f32; 128], 2>();
            let right = shared_array::<[f32; 128], 2>();
            let bars = shared_barriers::<2>();
            assert!(chunks > 0);
            bars.init_collective(&block, 128);
            memcpy_async(&block, &left[0], &a[..128], &bars[0]);
            memcpy_async(&block, &right[0], &b[..128], &bars[0]);
            let mut sum = 0.0;
            for chunk in 0..chunks {{
                let s = chunk % 2;
                if chunk + 1 < chunks {{ let n = (chunk + 1) % 2; {copy} }}
                {wait}
                sum += left[s][i] * right[s][127 - i];
                {end}
            }}
            out[i] = sum;
        }}"
    )
}

const COPY: &str = "memcpy_async(&block, &left[n], &a[(chunk + 1) * 128..(chunk + 2) * 128], &bars[n]);
    memcpy_async(&block, &right[n], &b[(chunk + 1) * 128..(chunk + 2) * 128], &bars[n]);";

#[test]
fn a_block_copies_to_two_buffers_in_turn() {
    let wait = "bars[s].arrive_and_wait();";
    assert!(found(&doubled(COPY, wait, "block.sync();")).is_empty());
    for end in ["", "warp.sync();", "if chunk > 1 { block.sync(); }"] {
        let source = doubled(COPY, wait, end);
        assert!(
            matches!(&found(&source)[..], [rule] if rule.starts_with("ring_")),
            "{:?} of\n{source}",
            found(&source)
        );
    }
    faulty(&doubled(&COPY.replace("left[n]", "left[s]"), wait, "block.sync();"), "ring_overwrite");
    assert!(!found(&doubled(COPY, "bars[0].arrive_and_wait();", "block.sync();")).is_empty());
}

#[test]
fn lanes_that_tell_each_block_meet_before() {
    let ring = |meet: &str| {
        format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn sums(input: &TensorMap<[[f32; 32]; 8]>, out: &mut [f32], rounds: u32) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let warp = tiled_partition::<32>(&block);
                let (i, lane, rank) = (block.thread_rank(), warp.thread_rank(), cluster.block_rank());
                let tiles = shared_array::<[[f32; 32]; 8], 2>();
                let full = shared_cluster_barriers::<2>();
                let empty = shared_cluster_barriers::<2>();
                full.init_collective(&cluster, 1);
                empty.init_collective(&cluster, 2);
                if i == 32 {{
                    for round in 0..rounds {{
                        let s = round % 2;
                        empty[s].wait_parity(round / 2 % 2 == 0);
                        input.expect_multicast(&tiles[s], &full[s]);
                        if rank == 0 {{
                            input.multicast_async([round as i32 * 8, 0], &tiles[s], &full[s], &cluster);
                        }}
                        let _ = full[s].arrive();
                    }}
                }} else if i < 32 {{
                    let mut sum = 0.0;
                    for round in 0..rounds {{
                        let s = round % 2;
                        full[s].wait_parity(round / 2 % 2 == 1);
                        for row in 0..8 {{ sum += tiles[s][row][i]; }}
                        {meet}
                        if lane < 2 {{ cluster.map_shared_rank(&empty[s], lane).arrive(); }}
                    }}
                    warp.sync();
                    out[rank * 32 + i] = sum;
                }}
                cluster.sync();
            }}"
        )
    };
    assert!(found(&ring("warp.sync();")).is_empty(), "{:?}", found(&ring("warp.sync();")));
    assert!(matches!(&found(&ring(""))[..], [rule] if rule.starts_with("ring_")), "{:?}", found(&ring("")));
}

/// Blocks that add up in rounds: four lanes of a block's first warp read what the warps have left, and send the sum to a block each.
fn added_up(arm: &str, meet: &str, wait: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 4, block = 64)] fn sums(x: &[f32], out: &mut [f32], rounds: u32) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let warp = tiled_partition::<32>(&block);
            let (i, me) = (block.thread_rank(), cluster.block_rank());
            let parts = shared_array::<[f32; 2], 2>();
            let inbox = shared_array::<[f32; 4], 2>();
            let arrived = shared_cluster_barriers::<2>();
            arrived.init_collective(&cluster, 1);
            for r in 0..rounds {{
                let s = r % 2;
                {arm}
                let part = warp.reduce(x[r * 256 + cluster.thread_rank() as u32], op::Plus);
                if warp.thread_rank() == 0 {{ parts[s][warp.meta_group_rank()] = part; }}
                {meet}
                if i < 4 {{
                    let total = parts[s][0] + parts[s][1];
                    cluster.map_shared_rank(&inbox, i)[s].store_async(me, total, &cluster.map_shared_rank(&arrived[s], i));
                }}
                {wait}
                if i == 0 {{ out[r * 4 + me] = inbox[s][0] + inbox[s][1] + inbox[s][2] + inbox[s][3]; }}
            }}
            cluster.sync();
        }}"
    )
}

#[test]
fn some_lanes_read_and_send() {
    let arm = "if i == 0 { arrived[s].expect_tx(16); let _ = arrived[s].arrive(); }";
    let wait = "arrived[s].wait_parity(r / 2 % 2 == 1);";
    let right = added_up(arm, "block.sync();", wait);
    assert!(found(&right).is_empty(), "{:?}", found(&right));
    faulty(&added_up("", "block.sync();", wait), "ring_deadlock");
    faulty(&added_up(&arm.replace("16", "32"), "block.sync();", wait), "ring_deadlock");
    faulty(&added_up(arm, "block.sync();", &wait.replace("== 1", "== 0")), "ring_overtaken");
    for wrong in [added_up(arm, "", wait), added_up(arm, "warp.sync();", wait)] {
        assert!(matches!(&found(&wrong)[..], [rule] if rule.starts_with("ring_")), "{:?} of {wrong}", found(&wrong));
    }
}

/// Each block pushes to the other one, element by element, and tells it that it has read.
fn pushed(count: u32, release: &str) -> String {
    format!(
        "#[cluster_kernel(cluster = 2, block = 64)] fn push(x: &[u32], out: &mut [u32], rounds: u32) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let (i, peer) = (block.thread_rank(), 1 - cluster.block_rank());
            let inbox = shared_array::<[u32; 64], 2>();
            let (full, empty) = (shared_cluster_barriers::<2>(), shared_cluster_barriers::<2>());
            full.init_collective(&cluster, 1);
            empty.init_collective(&cluster, {count});
            let mut sum = 0;
            for k in 0..rounds {{
                let s = k % 2;
                if i == 0 {{ full[s].expect_tx(256); let _ = full[s].arrive(); }}
                empty[s].wait_parity(k / 2 % 2 == 0);
                let there = cluster.map_shared_rank(&inbox, peer);
                there[s].store_async(i, x[k * 64 + i] + sum, &cluster.map_shared_rank(&full[s], peer));
                full[s].wait_parity(k / 2 % 2 == 1);
                sum += inbox[s][63 - i];
                {release}
            }}
            out[cluster.thread_rank()] = sum;
            cluster.sync();
        }}"
    )
}

/// Threads that arrive one after the other complete several phases, of which those that wait miss one.
#[test]
fn more_arrivals_than_a_phase_has() {
    let each = "cluster.map_shared_rank(&empty[s], peer).arrive();";
    let one = "block.sync(); if i == 0 { cluster.map_shared_rank(&empty[s], peer).arrive(); }";
    for (count, release) in [(64, each), (1, one)] {
        assert!(found(&pushed(count, release)).is_empty(), "{release}");
    }
    faulty(&pushed(32, each), "ring_count");
    faulty(&pushed(1, each), "ring_count");
    faulty(&pushed(65, each), "ring_deadlock");
    faulty(&pushed(2, one), "ring_deadlock");
}
