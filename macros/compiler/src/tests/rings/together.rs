//! Rings whose stages threads fill together by `memcpy_async`, each a part: right ones are proved, and each mistake is found.

use super::extraction::{faulty, is_proved, proved};

const ACQUIRE: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);";
const COPY: &str = "memcpy_async(&warp, &stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);";
const ARRIVE: &str = "let _ = full[k % 2].arrive();";
const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += stages[k % 2][i];";
const RELEASE: &str = "let _ = empty[k % 2].arrive();";

/// A ring of two stages that a warp copies to and 64 threads read.
fn of_a_warp(count: u32, producer: &[&str], consumer: &[&str]) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let warp = tiled_partition::<32>(&block);
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 32);
            empty.init_collective(&block, {count});
            if i >= 64 {{
                for k in 0..chunks {{ {} }}
            }} else {{
                let mut sum = 0;
                for k in 0..chunks {{ {} }}
                out[i] = sum;
            }}
        }}",
        producer.concat(),
        consumer.concat(),
    )
}

#[test]
fn a_warp_copies() {
    let right = ([ACQUIRE, COPY, ARRIVE], [WAIT, READ, RELEASE]);
    proved(&of_a_warp(64, &right.0, &right.1));
    faulty(&of_a_warp(65, &right.0, &right.1), "ring_deadlock");
    faulty(&of_a_warp(63, &right.0, &right.1), "ring_count");
    faulty(&of_a_warp(64, &[COPY, ARRIVE], &right.1), "ring_overwrite");
    faulty(&of_a_warp(64, &right.0, &[WAIT, READ]), "ring_deadlock");
    faulty(&of_a_warp(64, &right.0, &[READ, RELEASE]), "ring_read");
    faulty(&of_a_warp(64, &right.0, &[WAIT, RELEASE, READ]), "ring_overwrite");
    // The phase is over before the copy begins, or another one waits for it.
    faulty(&of_a_warp(64, &[ACQUIRE, ARRIVE, COPY], &right.1), "ring_read");
    let elsewhere = COPY.replace("&full[k % 2]", "&full[(k + 1) % 2]");
    faulty(&of_a_warp(64, &[ACQUIRE, &elsewhere, ARRIVE], &right.1), "ring_read");
    let elsewhere = COPY.replace("&stages[k % 2]", "&stages[(k + 1) % 2]");
    faulty(&of_a_warp(64, &[ACQUIRE, &elsewhere, ARRIVE], &right.1), "ring_read");
    let inverted = WAIT.replace("== 1", "== 0");
    faulty(&of_a_warp(64, &right.0, &[&inverted, READ, RELEASE]), "ring_read");
}

/// Each of two warps copies all of a stage: two copies write the same bytes.
#[test]
fn two_warps_copy() {
    let kernel = |copiers: &str, arrivals: u32| {
        of_a_warp(64, &[ACQUIRE, COPY, ARRIVE], &[WAIT, READ, RELEASE])
            .replace("block = 96", "block = 128")
            .replace("full.init_collective(&block, 32)", &format!("full.init_collective(&block, {arrivals})"))
            .replace("if i >= 64 {", copiers)
            .replace("} else {", "} else if i < 64 {")
    };
    proved(&kernel("if i >= 64 && i < 96 {", 32));
    assert!(!is_proved(&kernel("if i >= 64 {", 64)));
    // Each of them a stage of its own.
    let in_turn = kernel("if i >= 64 {", 32)
        .replace("empty[k % 2].wait", "if k % 2 != i / 32 % 2 { continue; } empty[k % 2].wait");
    assert!(super::super::faults(&in_turn).is_empty(), "{in_turn}");
}

/// All threads of a block copy to a stage and then read it.
fn of_a_block(body: &[&str]) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 2>();
            let full = shared_barriers::<2>();
            full.init_collective(&block, 64);
            let mut sum = 0;
            for k in 0..chunks {{ {} }}
            out[i] = sum;
        }}",
        body.concat()
    )
}

#[test]
fn a_block_copies() {
    let copy = "memcpy_async(&block, &stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);";
    let (wait, read) = ("full[k % 2].arrive_and_wait();", "sum += stages[k % 2][63 - i];");
    proved(&of_a_block(&[copy, wait, read, "block.sync();"]));
    // The threads meet once in two rounds, before a stage is copied to again.
    proved(&of_a_block(&[copy, wait, read, "if k % 2 == 1 { block.sync(); }"]));
    proved(&of_a_block(&[copy, wait, read]));
    let one = |text: &str| text.replace("k % 2", "0");
    faulty(&of_a_block(&[&one(copy), &one(wait), &one(read)]), "ring_read");
    faulty(&of_a_block(&[copy, read, wait, "block.sync();"]), "ring_read");
    faulty(&of_a_block(&[wait, copy, read, "block.sync();"]), "ring_read");
    faulty(&of_a_block(&[copy, read, "block.sync();"]), "ring_read");
}
