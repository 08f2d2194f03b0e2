//! Tests of what the checks take numbers for: casts that cut off, and shifts that are masked.

use super::rules;

/// Returns the rules that a kernel of two blocks of 64 threads with this body breaks.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    let source = format!(
        "#[cluster_kernel(cluster = 2, block = 64)]
        fn numbers(input: &[u32], output: &mut [u32]) {{
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
    // What a peer reads need not have been written.
    rules(&source).into_iter().filter(|rule| rule != "uninit_shared_read").collect()
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

/// What is counted from a variable is not, any more, where blocks may have given it different values.
#[test]
fn variables_that_differ_between_blocks() {
    let test = |condition: &str| {
        broken(&format!(
            "let mut k = 0; let mut a = 1; let mut b = 2;
            if {condition} {{ k = input[0]; a = k + 1; b = k + 2; }} else {{ k = input[1]; a = k + 1; b = k + 2; }}
            output[k] = p[b]; u[a] = 1;"
        ))
    };
    assert!(test("input[2] == 0").is_empty());
    assert_eq!(test("cluster.block_rank() == 0"), ["overwrite_while_read"]);
    let looped = |end: &str| {
        broken(&format!("let mut k = 0; for i in 0..{end} {{ k += 1; }} let a = k; output[0] = p[k + 1]; u[a] = 1;"))
    };
    assert!(looped("input[0]").is_empty());
    assert_eq!(looped("cluster.block_rank()"), ["overwrite_while_read"]);
}

/// The body of a loop may change its copy of the counter.
#[test]
fn mutable_counters() {
    let looped = |counter: &str, change: &str| {
        broken(&format!(
            "let mut last = 0; for {counter} in 0..8u32 {{ output[0] = p[last + 1]; u[i] = 1; last = i; {change} cluster.sync(); }}"
        ))
    };
    assert!(!looped("mut i", "i += 1;").is_empty());
    assert!(!looped("i", "").is_empty());
}

/// A constant of the body is not the attribute's, though it is called like it.
#[test]
fn shadowed_constants() {
    let broken = |inside: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = N, block = 64)]
            fn named(output: &mut [u32]) {{
                {inside}
                let cluster = this_cluster();
                let next = (cluster.block_rank() + 1) % N;
                let u = shared_array::<u32, 512>();
                let p = cluster.map_shared_rank(&u, next);
                cluster.sync();
                output[0] = p[(cluster.block_rank() + 1) % cluster.num_blocks()];
                u[next] = 1;
                cluster.sync();
            }}"
        ))
    };
    assert_eq!(broken(""), [""; 0]);
    assert_eq!(broken("const N: u32 = 8;"), ["overwrite_while_read"]);
}
