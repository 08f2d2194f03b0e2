//! Rings whose stages and neighbours are differences of `u32`s, which wrap around below zero.

use super::{sums, verdict};

const FILL: &str = "for k in 0..n {
        empty[k % S].wait_parity(k / S % 2 == 0);
        full[k % S].expect_tx(128);
        bulk_copy_async(&stages[k % S], &x[k * 32..k * 32 + 32], &full[k % S]);
        let _ = full[k % S].arrive();
    }";
const READ: &str = "full[k % S].wait_parity(k / S % 2 == 1); sum += stages[k % S][31 - i];";

fn released(stages: usize, release: &str) -> String {
    let with = |text: &str| text.replace('S', &stages.to_string());
    verdict("", &sums(stages, "", &with(FILL), &with(&format!("for k in 0..n {{ {READ} {release} }}"))))
}

/// The stage before the first one is another stage, which nobody has filled, or the first one.
#[test]
fn the_stage_before_the_first() {
    for stages in [3, 4] {
        for release in [
            "let _ = empty[(k - 1) % S].arrive();",
            "let before = k - 1; let _ = empty[before % S].arrive();",
            "let _ = empty[k.wrapping_sub(1) % S].arrive();",
            "if k > 0 { let _ = empty[(k - 2) % S].arrive(); }",
        ] {
            let found = released(stages, release);
            assert!(found.starts_with("ring_"), "{stages}, {release}: {found}");
        }
        for release in [
            "if k > 0 { let _ = empty[(k - 1) % S].arrive(); }",
            "if k >= 1 { let before = k - 1; let _ = empty[before % S].arrive(); }",
        ] {
            assert_eq!(released(stages, release), "proved", "{stages}, {release}");
        }
    }
    // Of numbers of 64 bits, too, and what wraps back is no other stage.
    for (stages, wide) in [(3, true), (4, true), (5, true), (3, false), (4, false), (5, false)] {
        let loops = if wide { "for k in 0..n as usize" } else { "for k in 0..n" };
        let of = |release: &str| {
            let with = |text: &str| text.replace("for k in 0..n", loops).replace('S', &stages.to_string());
            let read = with(&format!("for k in 0..n {{ {READ} {release} }}"));
            verdict("", &sums(stages, "", &with(FILL), &read))
        };
        let found = of("let _ = empty[(k - 1) % S].arrive();");
        assert!(found.starts_with("ring_"), "{stages}, {wide}: {found}");
        let found = of("let _ = empty[k.wrapping_sub(1) % S].arrive();");
        assert!(found.starts_with("ring_"), "{stages}, {wide}: {found}");
        let found = of("let _ = empty[(k - 1 + 1) % S].arrive();");
        assert!(!found.starts_with("ring_"), "{stages}, {wide}: {found}");
    }
    // In four stages, three rounds before and one round after are one stage.
    let ahead = "if k >= 3 { let _ = empty[(k - 3) % S].arrive(); }";
    assert_eq!(released(4, ahead), "proved");
    assert_eq!(released(4, &ahead.replace("k - 3", "k + 1")), "proved");
    assert_ne!(released(3, &ahead.replace("k - 3", "k + 1")), "proved");
}

/// The block before the first one is the last.
#[test]
fn the_block_before_the_first() {
    let around = |blocks: &str, before: &str| {
        verdict(
            "",
            &format!(
                "#[cluster_kernel(cluster = {blocks}, block = 32)] fn around(out: &mut [u32], n: u32) {{
                    let (cluster, block) = (this_cluster(), this_thread_block());
                    let (rank, i) = (cluster.block_rank(), block.thread_rank());
                    let ready = shared_cluster_barrier();
                    ready.init_collective(&cluster, 32);
                    for k in 0..n {{
                        let _ = cluster.map_shared_rank(&ready, {before}).arrive();
                        ready.wait_parity(k % 2 == 1);
                        cluster.sync();
                    }}
                    cluster.sync();
                    out[i] = rank;
                }}"
            ),
        )
    };
    // All blocks have one before them, which has each of its arrivals.
    assert_eq!(around("4", "(rank + 3) % 4"), "proved");
    for right in ["(rank - 1) % 4", "rank.wrapping_sub(1) % 4"] {
        let found = around("4", right);
        assert!(found == "proved" || found.starts_with("open"), "{right}: {found}");
    }
    // Of 2^32 - 1, three is a divisor: nobody tells the last block, and two tell the first.
    assert!(around("3", "(rank - 1) % 3").starts_with("ring_"));
}

/// Of numbers with a sign, the stage before the first one is the last, or none.
#[test]
fn stages_of_numbers_with_a_sign() {
    for stages in [3, 4] {
        for release in [
            "let _ = empty[(k as i32 - 1).rem_euclid(S) as usize].arrive();",
            "let before = k as i32 - 1; let _ = empty[((before + S) % S) as usize].arrive();",
        ] {
            let found = released(stages, release);
            assert!(found.starts_with("ring_"), "{stages}, {release}: {found}");
        }
        for release in [
            "let _ = empty[((k as i32 - 2 + 2) % S) as usize].arrive();",
            "let _ = empty[(k as i32 - S).rem_euclid(S) as usize].arrive();",
            "if k > 0 { let _ = empty[((k as i32 - 1) % S) as usize].arrive(); }",
        ] {
            let found = released(stages, release);
            assert!(!found.starts_with("ring_"), "{stages}, {release}: {found}");
        }
    }
}
