//! Tests of the lengths of copies, where literals say how long both ends are.

use super::rules;

/// Returns the rules that a kernel with this copy breaks.
#[track_caller]
fn broken(copy: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)] fn copies(input: &[u32], output: &mut [u32], n: usize) {{
            let block = this_thread_block(); let rank = block.thread_rank(); let bar = shared_barrier();
            let tile = shared_array::<u32, 64>(); let rows = shared_array::<[u32; 32], 2>();
            bar.init_collective(&block, 1);
            {copy}
            bar.wait_parity(false); block.wait_async();
        }}"
    ))
}

#[test]
fn both_ends_have_one_length() {
    let by_group =
        |to: &str, from: &str| format!("memcpy_async(&block, {to}, {from}); if rank == 0 {{ bar.arrive(); }}");
    let bulk = |to: &str, from: &str| {
        format!("if rank == 0 {{ bar.expect_tx(256); bulk_copy_async({to}, {from}, &bar); bar.arrive(); }}")
    };
    for (to, from) in [
        ("&tile", "&input[..64]"),
        ("&tile", "&input[n * 64..n * 64 + 64]"),
        ("&tile", "&input[n..]"),
        ("&tile[..32]", "&input[8..40]"),
        ("&tile[..n]", "&input[..64]"),
        ("&rows[n % 2]", "&input[n..n + 32]"),
        ("&tile[0..64][..32]", "&input[..32]"),
        ("&tile", "&input[0..128][..64]"),
    ] {
        for copy in [by_group(to, from), bulk(to, from)] {
            assert!(!broken(&copy).contains(&"copy_length".to_string()), "{copy}: {:?}", broken(&copy));
        }
    }
    for (to, from) in [
        ("&tile", "&input[..63]"),
        ("&tile", "&input[1..64]"),
        ("&tile", "&input[n * 64..n * 64 + 32]"),
        ("&tile[..32]", "&input[..64]"),
        ("&rows[n % 2]", "&input[n * 32..n * 32 + 64]"),
        ("&rows[1]", "&input[..64]"),
    ] {
        for copy in [by_group(to, from), bulk(to, from)] {
            assert!(broken(&copy).contains(&"copy_length".to_string()), "{copy}: {:?}", broken(&copy));
        }
    }
    // The size of a bulk copy is a multiple of 16 bytes.
    assert!(broken(&by_group("&tile[..3]", "&input[..3]")).is_empty());
    assert!(broken(&bulk("&tile[..3]", "&input[..3]")).contains(&"copy_length".to_string()));
    let out = |end: &str| {
        format!(
            "block.sync(); if rank == 0 {{ bulk_copy_async(&mut output[..{end}], &tile[..{end}]); bulk_wait_group::<0>(); bar.arrive(); }}"
        )
    };
    assert!(!broken(&out("60")).contains(&"copy_length".to_string()));
    assert!(broken(&out("61")).contains(&"copy_length".to_string()));
}

/// What a range selects in another range is not all of it.
#[test]
fn a_part_of_a_range() {
    let copy = |to: &str, access: &str| {
        broken(&format!("memcpy_async(&block, {to}, &input[..n]); {access} if rank == 0 {{ bar.arrive(); }}"))
    };
    assert!(copy("&tile[0..32][..8]", "tile[20] = 1;").is_empty());
    assert!(copy("&tile[8..16]", "tile[0..32][0] = 1;").is_empty());
    assert_eq!(copy("&tile[0..32]", "tile[20] = 1;"), ["copy_in_flight"]);
    assert_eq!(copy("&tile[0..32]", "tile[0..32][0] = 1;"), ["copy_in_flight"]);
}
