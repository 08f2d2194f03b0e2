//! Branches on what copies have brought: the host decides about it, so that a ring is wrong if it is with large data alone, or with small.

use super::super::rules;

/// A ring whose readers do `read` with the element `x` of their stage, of this type.
fn ring(ty: &str, start: &str, read: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 96)]
        fn ring(input: &[{ty}], out: &mut [{ty}], limits: &[{ty}], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[{ty}; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            if i == 64 {{
                for k in 0..chunks {{
                    empty[k % 2].wait_parity(k / 2 % 2 == 0);
                    full[k % 2].expect_tx(256);
                    bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
                    let _ = full[k % 2].arrive();
                }}
            }} else if i < 64 {{
                let mut sum = {start};
                for k in 0..chunks {{
                    full[k % 2].wait_parity(k / 2 % 2 == 1);
                    {}
                }}
                out[i] = sum;
            }}
        }}",
        read.replace("RELEASE", "let _ = empty[k % 2].arrive();")
    ))
}

/// A stage is not released, or not read any more, because of what is in it.
#[test]
fn stages_that_data_keep() {
    for (ty, start, read) in [
        ("u32", "0", "sum += stages[k % 2][i]; if sum < 100 { RELEASE }"),
        ("u32", "0", "sum += stages[k % 2][i]; if !(sum >= 7) { RELEASE }"),
        ("u32", "0", "let x = stages[k % 2][i]; sum = x + sum; if 3 < sum { RELEASE }"),
        ("u32", "0", "let x = stages[k % 2][i]; sum += x; match x { 0 => {} _ => { RELEASE } }"),
        ("u32", "0", "sum += stages[k % 2][i]; RELEASE if sum > 7 { break; }"),
        ("i32", "0", "sum += stages[k % 2][i]; RELEASE if sum > 7 { return; }"),
        ("f32", "0.0", "sum += stages[k % 2][i]; if sum < 1.5 { RELEASE }"),
        ("f32", "1.0", "let x = stages[k % 2][i]; if x < 0.0 { continue; } sum += x; RELEASE"),
        ("f32", "0.0", "if stages[k % 2][i] > 0.0 { RELEASE }"),
        ("f32", "0.0", "sum += stages[k % 2][i]; if limits[i] > 0.0 { RELEASE }"),
        ("f32", "0.0", "sum += stages[k % 2][i]; let own = limits[k * 64 + i]; if !(own < 2.5) { RELEASE }"),
        ("f32", "0.0", "let x = stages[k % 2][i]; sum += x; if tiled_partition::<32>(&block).any(x > 0.5) { RELEASE }"),
        ("u32", "0", "let x = stages[k % 2][i]; sum += x; if i < 32 || x > 5 { RELEASE }"),
    ] {
        let rules = ring(ty, start, read);
        assert!(rules == ["ring_deadlock"] || rules == ["ring_undrained"], "{read}: {rules:?}");
    }
}

/// Each way releases the stage, or the data need not lead to the other one.
#[test]
fn stages_that_data_do_not_keep() {
    for (ty, start, read) in [
        ("u32", "0", "sum += stages[k % 2][i]; if sum < 100 { RELEASE } else { RELEASE }"),
        ("u32", "0", "sum += stages[k % 2][i]; if sum >= 0 { RELEASE }"),
        ("u32", "0", "let x = stages[k % 2][i]; if x > 3 { RELEASE continue; } sum += x; RELEASE"),
        ("f32", "0.0", "let x = stages[k % 2][i]; if x > 3.0 { sum += x; } RELEASE"),
        // The sum is what it was before.
        ("u32", "0", "if sum < 100 { sum += stages[k % 2][i]; } RELEASE"),
        ("u32", "0", "let before = sum; sum += stages[k % 2][i]; if before > sum { continue; } RELEASE"),
        // What the kernel asserts of the data.
        ("u32", "0", "let x = stages[k % 2][i]; assert!(x < 8); if x < 100 { RELEASE }"),
        ("f32", "0.0", "let x = limits[i]; assert!(x > 1.0); sum += stages[k % 2][i]; if x > 0.5 { RELEASE }"),
        ("f32", "0.0", "if limits[i] > 0.0 { sum += stages[k % 2][i]; } RELEASE"),
        ("f32", "0.0", "if tiled_partition::<32>(&block).any(limits[i] > 0.0) { sum += stages[k % 2][i]; } RELEASE"),
        // What else decides need not be of this launch.
        ("u32", "0", "let x = stages[k % 2][i]; if x < limits[0] { RELEASE }"),
        ("u32", "0", "let x = stages[k % 2][i]; if x > 1000 { continue; } RELEASE"),
        ("u32", "0", "let x = stages[k % 2][i]; if x as u8 > 7 { continue; } RELEASE"),
    ] {
        assert_eq!(ring(ty, start, read), [""; 0], "{read}");
    }
}

/// A release by as many arrivals as threads vote, where data decide about the votes.
#[test]
fn releases_that_votes_count() {
    let votes = "let votes = warp.ballot(x > 0); warp.sync(); if lane == 0 { let _ = empty[k % 2].arrive_n(NUMBER); }";
    let of = |read: &str| {
        let read = format!(
            "let warp = tiled_partition::<32>(&block); let lane = warp.thread_rank(); let x = stages[k % 2][i]; sum += x; {read}"
        );
        ring("u32", "0", &read)
    };
    assert_eq!(of(&votes.replace("NUMBER", "32")), [""; 0]);
    for wrong in [
        votes.replace("NUMBER", "votes.count_ones()"),
        votes.replace("NUMBER", "32 - votes.count_ones()"),
        votes.replace("NUMBER", "votes.count_ones().max(1)"),
    ] {
        assert!(of(&wrong).iter().any(|rule| rule.starts_with("ring_")), "{wrong}: {:?}", of(&wrong));
    }
    // The others arrive themselves.
    let shared = votes.replace("NUMBER", "votes.count_ones()") + " if x == 0 { let _ = empty[k % 2].arrive(); }";
    assert_eq!(of(&shared), [""; 0]);
}
