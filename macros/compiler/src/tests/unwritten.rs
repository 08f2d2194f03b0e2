//! Elements of shared arrays that are read, or updated by atomics, and that no thread has set.

use super::rules;

/// The rules that a histogram of two blocks breaks, whose counters are set to zero so.
#[track_caller]
fn counted(zeros: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn counted(keys: &[u32], out: &mut [u32], n: u32, rounds: u32) {{
            let (cluster, block) = (this_cluster(), this_thread_block());
            let (rank, i) = (cluster.block_rank(), block.thread_rank());
            let counts = shared_array::<u32, 256>();
            {zeros}
            cluster.sync();
            for k in (cluster.thread_rank()..n).step_by(128) {{
                let bin = keys[k] % 512;
                cluster.map_shared_rank(&counts, bin / 256).atomic(bin % 256).fetch_add(1, Relaxed);
            }}
            cluster.sync();
            for b in (i..256).step_by(64) {{ out[rank * 256 + b] = counts[b]; }}
        }}"
    ))
}

#[test]
fn counters_that_nobody_sets() {
    for zeros in [
        "counts[i] = 0;",
        "for b in (i..128).step_by(64) { counts[b] = 0; }",
        "for b in (i + 1..256).step_by(64) { counts[b] = 0; }",
        "for b in (i..256).step_by(128) { counts[b] = 0; }",
        "for j in 0..2 { counts[i + j * 64] = 0; }",
        "if i == 0 { for b in 0..255 { counts[b] = 0; } }",
        "if rank == 0 { for b in (i..256).step_by(64) { counts[b] = 0; } }",
        "for r in 0..rounds { counts[i + r % 2 * 64] = 0; }",
        "for b in (i..256).step_by(64) { counts[b] += 1; }",
        "for b in (i..128).step_by(64) { counts.atomic(b).store(0, Relaxed); }",
    ] {
        assert_eq!(counted(zeros), ["uninit_shared_read"], "{zeros}");
    }
}

/// All are set, or how many are depends on what the host passes.
#[test]
fn counters_that_may_be_set() {
    for zeros in [
        "for b in (i..256).step_by(64) { counts[b] = 0; }",
        "for j in 0..4 { counts[i * 4 + j] = 0; }",
        "if i == 0 { for b in 0..256 { counts[b] = 0; } }",
        "if i < 32 { for j in 0..8 { counts[i * 8 + j] = 0; } }",
        "for b in (i..n).step_by(64) { counts[b] = 0; }",
        "for b in 0..n { counts[b] = 0; }",
        "if n > 1000 { counts[i] = 0; }",
        "for r in 0..rounds { counts[(i + r * 64) as usize] = 0; }",
        "let mut b = i; while b < n { counts[b] = 0; b += 64; }",
        "counts[keys[i]] = 0;",
        "for b in (i..256).step_by(64) { counts.atomic(b).store(0, Relaxed); }",
        "let peer = cluster.map_shared_rank(&counts, 1 - rank); cluster.sync(); for b in (i..256).step_by(64) { peer[b] = 0; }",
    ] {
        assert_eq!(counted(zeros), [""; 0], "{zeros}");
    }
}

/// Each block sends to some of the others alone.
#[test]
fn blocks_to_which_nobody_sends() {
    let sent = |peers: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 32)]
            fn sent(input: &[u32], out: &mut [u32]) {{
                let (cluster, block) = (this_cluster(), this_thread_block());
                let (rank, i) = (cluster.block_rank(), block.thread_rank());
                let inbox = shared_array::<[u32; 32], 4>();
                cluster.sync();
                for peer in {peers} {{ cluster.map_shared_rank(&inbox, peer)[rank][i] = input[peer * 32 + i]; }}
                cluster.sync();
                for from in 0..4 {{ out[from * 32 + i] = inbox[from][i]; }}
            }}"
        ))
    };
    assert_eq!(sent("0..4"), [""; 0]);
    assert_eq!(sent("0..3"), ["uninit_shared_read"]);
    assert_eq!(sent("1..4"), ["uninit_shared_read"]);
}
