//! Tests of writes that a launch skips: an array that is read all the same is uninitialized.

use super::rules;

fn kernel(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(block = 64)]
        fn skips(x: &[u32], out: &mut [u32], n: u32, m: u32, fill: bool) {{
            let block = this_thread_block();
            let t = block.thread_rank();
            let v = shared_array::<u32, 64>();
            {body}
        }}"
    ))
}

#[test]
fn a_launch_skips_all_writes() {
    let read = "block.sync(); out[t] = v[t];";
    for write in [
        "if n > 3 { v[t] = 1; }",
        "if n == 0 { v[t] = 1; } else { out[t] = 2; }",
        "if n != 2 { out[t] = 1; } else { v[t] = 1; v[t] += 1; }",
        "if fill { v[t] = x[t]; }",
        "if n >= 1 { for k in 0..64 { if k == t { v[k] = 1; } } }",
        "if n > 3 { if m > 2 { v[t] = 1; } else { v[t] = 2; } }",
    ] {
        assert_eq!(kernel(&format!("{write} {read}")), ["uninit_shared_read"], "{write}");
    }
}

/// Nothing is said where a launch need not be one that skips the writes, or where a thread need not come to the read.
#[test]
fn what_is_left_to_the_simulator() {
    for body in [
        "v[t] = 0; if n > 3 { v[t] = 1; } block.sync(); out[t] = v[t];",
        "if n > 3 { v[t] = 1; } else { v[t] = 2; } block.sync(); out[t] = v[t];",
        "if n > 3 { v[t] = 1; } block.sync(); if n > 3 { out[t] = v[t]; }",
        "if n > 3 { v[t] = 1; } block.sync(); if n > 5 { out[t] = v[t]; }",
        "let on = n > 3; if on { v[t] = 1; } block.sync(); if on { out[t] = v[t]; }",
        "assert!(n > 3); if n > 3 { v[t] = 1; } block.sync(); out[t] = v[t];",
        "if n == 0 { return; } if n > 0 { v[t] = 1; } block.sync(); out[t] = v[t];",
        "if n >= 0 { v[t] = 1; } block.sync(); out[t] = v[t];",
        "for k in 0..n { if k == m { v[t] = 1; } } block.sync(); out[t] = v[t];",
        "for k in 0..n { if n > 3 { v[t] = k; } } block.sync(); out[t] = v[t];",
        "if x[0] > 3 { v[t] = 1; } block.sync(); out[t] = v[t];",
        "if n > m { v[t] = 1; } block.sync(); out[t] = v[t];",
        "if n > 3 { v[t] = 1; } block.sync(); for k in 0..m { out[k] = v[t]; }",
        "for k in 0..2 { if k > 0 { out[t] = v[t]; } if n > 3 { v[t] = 1; } block.sync(); }",
    ] {
        assert_eq!(kernel(body), [""; 0], "{body}");
    }
}
