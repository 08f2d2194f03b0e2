//! Tests of what the checks take numbers for: casts that cut off, and shifts that are masked.

use super::faults;

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn numbers(output: &mut [u32]) {{
            let cluster = this_cluster();
            let block = this_thread_block();
            let rank = block.thread_rank();
            let warp = tiled_partition::<32>(&block);
            let u = shared_array::<u32, 512>();
            let p = cluster.map_shared_rank(&u, 1 - cluster.block_rank());
            cluster.sync();
            {body}
            cluster.sync();
        }}"
    );
    faults(&source).iter().map(|fault| fault.rule().to_string()).collect()
}

/// A rank that is shifted by as many bits as its type has, or more, is shifted by less.
#[test]
fn shifts_are_masked() {
    let warp = |test: &str| broken(&format!("if {test} {{ warp.sync(); }}"));
    for same in [
        "rank >> 5 == 0",
        "rank / 32 == 1",
        "rank >> 31 == 0",
        "(rank as usize) >> 6 == 0",
        "(rank as u64 / 32) as u32 == 1",
    ] {
        assert_eq!(warp(same), [""; 0], "{same}");
    }
    for other in ["rank >> 33 == 0", "rank >> 32 == 0", "rank >> 64 == 3", "(rank as u8) >> 13 == 0", "rank >> 4 == 0"]
    {
        assert_eq!(warp(other), ["divergent_collective"], "{other}");
    }
}

/// A cast to a small type is another number, unless it is a literal that the type can hold.
#[test]
fn casts_cut_off() {
    let races = |own: &str| !broken(&format!("output[0] = p[0]; u[{own}] = 1;")).is_empty();
    assert!(races("256u32 as u8"));
    assert!(races("(256u32 as u8) as usize"));
    assert!(races("65536u32 as u16 as usize"));
    assert!(races("4294967296u64 as u32"));
    assert!(!races("255u32 as u8"));
    assert!(!races("300u32 as u16"));
    assert!(!races("1u8 as usize"));
    // The complement of an integer has the other parity, and is large.
    assert!(!broken("for n in 0..9u32 { output[n] = p[511]; u[(!(n % 2)) % 512] = 1; }").is_empty());
    let counted = "for k in 0..300u32 { output[k] = p[k as u8 as usize]; u[(k + 256) as usize] = 1; }";
    assert!(!broken(counted).is_empty());
}
