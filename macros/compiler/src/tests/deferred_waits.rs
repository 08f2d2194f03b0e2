//! Tests of indexes of earlier rounds, `(round - 1) % N`, where what comes before says that there is one.

use super::rules;

/// Returns the rules that a kernel breaks which reads a round of its peer behind the wait of the next one.
fn broken(before: &str, rounds: &str, [write, read]: [&str; 2], after: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2, block = 32)]
        fn kernel(x: &[u32], out: &mut [u32], n: u32) {{
            let cluster = this_cluster();
            let i = this_thread_block().thread_rank();
            let boxes = shared_array::<[u32; 32], 4>();
            let peer = cluster.map_shared_rank(&boxes, cluster.block_rank() ^ 1);
            let mut pending = None;
            let mut sum = 0;
            {before}
            {rounds} {{
                boxes[{write}][i] = x[i];
                if let Some(token) = pending.take() {{
                    cluster.barrier_wait(token);
                    sum += peer[{read}][i];
                }}
                pending = Some(cluster.barrier_arrive());
                {after}
            }}
            if let Some(token) = pending {{ cluster.barrier_wait(token); }}
            cluster.sync();
            out[i] = sum;
        }}"
    ))
}

const ROUNDS: &str = "for k in 0..n";

#[test]
fn a_round_before() {
    for (before, rounds, places, after) in [
        ("", ROUNDS, ["k % 3", "(k - 1) % 3"], ""),
        ("", ROUNDS, ["k % 3", "(k + 3 - 1) % 3"], ""),
        ("", ROUNDS, ["k % 3", "(k + 2) % 3"], ""),
        ("", ROUNDS, ["(k + 4) % 3", "(k + 3) % 3"], ""),
        ("const N: u32 = 3;", ROUNDS, ["k % N", "(k - 1) % N"], ""),
        ("const N: u32 = 3;", ROUNDS, ["k % N", "(k + N - 1) % N"], ""),
        ("", "for k in 0..n as usize", ["k % 3", "(k - 1) % 3"], ""),
        ("", "for k in 1..=n", ["k % 3", "(k - 1) % 3"], ""),
        // The second round reads for the first time.
        ("", "for k in 1..=n", ["(k - 1) % 3", "(k - 2) % 3"], ""),
        ("let mut k = 0;", "while k < n", ["k % 3", "(k - 1) % 3"], "k += 1;"),
        ("let mut k = 0;", "while k < n", ["k % 3", "(k + 2) % 3"], "k += 1;"),
    ] {
        assert_eq!(broken(before, rounds, places, after), [""; 0], "{before} {rounds} {places:?}");
    }
}

#[test]
fn another_round() {
    for (before, rounds, places, after) in [
        ("", ROUNDS, ["k % 3", "k % 3"], ""),
        ("", ROUNDS, ["k % 3", "(k + 3) % 3"], ""),
        // Two stages are too few: a block writes what its peer reads in the same round.
        ("", ROUNDS, ["k % 2", "(k - 1) % 2"], ""),
        // In the first round that reads, `k - 2` wraps.
        ("", ROUNDS, ["k % 3", "(k - 2) % 3"], ""),
        // The first round waits, and reads what is behind the largest number.
        ("boxes[2][i] = 0; pending = Some(cluster.barrier_arrive());", ROUNDS, ["k % 3", "(k - 1) % 3"], ""),
        ("let mut k = 0;", "while k < n", ["k % 3", "(k - 1) % 3"], "k += 2;"),
        ("let mut k = 0;", "while k < n", ["k % 3", "(k - 1) % 3"], "k += 1; if k == 7 { k = 0; }"),
    ] {
        assert_ne!(broken(before, rounds, places, after), [""; 0], "{before} {rounds} {places:?}");
    }
}
