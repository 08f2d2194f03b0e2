//! Waits for a thread's own bulk copies that some launch passes by: they are waits only on the paths that make them.

use super::rules;

/// Returns the rules that a kernel breaks which stores a tile and then writes it anew.
#[track_caller]
fn broken(then: &str) -> Vec<String> {
    let then = then
        .replace("STORE", "bulk_copy_async(&mut out[..64], &tile);")
        .replace("WAIT", "bulk_wait_group_read::<0>();")
        .replace("AGAIN", "block.sync(); tile[i] = 0.0;");
    rules(&format!(
        "#[cluster_kernel(block = 64)]
        fn stored(input: &[f32], out: &mut [f32], sums: &mut [f32], n: u32, m: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let tile = shared_array::<f32, 64>();
            tile[i] = input[i];
            block.sync();
            {then}
        }}"
    ))
}

#[test]
fn waits_that_a_launch_passes_by() {
    for then in [
        "if i == 0 { STORE } if n > 100 { if i == 0 { WAIT } } AGAIN",
        "if i == 0 { STORE if n > 100 { WAIT } } AGAIN",
        "if i == 0 { STORE } if i == 0 && n > 100 { WAIT } AGAIN",
        "if i == 0 { STORE if n > 100 { WAIT } if m > 100 { WAIT } } AGAIN",
        "let big = n > 100; if i == 0 { STORE if big { WAIT } } AGAIN",
        "let mut big = n > 100; if m > 3 { big = false; } if i == 0 { STORE if big { WAIT } } AGAIN",
        "if i == 0 { STORE if input[5] > 0.0 { WAIT } } AGAIN",
        "if i == 0 { STORE if this_grid().block_rank() == 0 { WAIT } } AGAIN",
        "if i == 0 { STORE if n > 100 { WAIT } } AGAIN if n > 3 { sums[i] = tile[i]; }",
        "if i == 0 { STORE if n > 100 { WAIT } }",
        "for k in 0..n { tile[i] = input[k]; block.sync(); if i == 0 { STORE if k % 2 == 1 { WAIT } } block.sync(); } if i == 0 { WAIT }",
        "for k in 0..n { tile[i] = input[k]; block.sync(); if i == 0 { STORE if m == 1 { WAIT } } block.sync(); } if i == 0 { WAIT }",
    ] {
        let found = broken(then);
        let is_one = |rule: &String| rule == "copy_in_flight" || rule == "unsynchronized_access";
        assert!(!found.is_empty() && found.iter().all(is_one), "{then}: {found:?}");
    }
}

/// Where the copy, the wait and the write are under one condition, or each path has a wait.
#[test]
fn waits_that_no_launch_passes_by() {
    for then in [
        "if n > 100 && i == 0 { STORE } if n > 100 && i == 0 { WAIT } AGAIN",
        "if input[5] > 0.0 && i == 0 { STORE } if input[5] > 0.0 && i == 0 { WAIT } AGAIN",
        "if i == 0 { STORE } if n > 100 { if i == 0 { WAIT } AGAIN block.sync(); } if i == 0 { WAIT }",
        "if i == 0 { STORE } if input[5] > 0.0 { if i == 0 { WAIT } AGAIN block.sync(); } else { if i == 0 { WAIT } }",
        "if i == 0 { STORE if n > 100 { WAIT } } sums[i] = tile[63 - i]; if i == 0 { WAIT } AGAIN",
        "if i == 0 { STORE if n > 100 { WAIT } else { sums[0] = 1.0; WAIT } } AGAIN",
        "if i == 0 { STORE if n > 100 { WAIT } if n <= 100 { WAIT } } AGAIN",
        "if i == 0 { STORE if input[5] > 0.0 { WAIT } if input[5] <= 0.0 { WAIT } } AGAIN",
        "if n < 100 { return; } if i == 0 { STORE if n > 50 { WAIT } } AGAIN",
        "for k in 0..n { if k > 0 { if i == 0 { WAIT } block.sync(); } tile[i] = input[k]; block.sync(); if i == 0 { STORE } } if i == 0 { WAIT }",
        "let mut busy = false; for k in 0..n { if busy { WAIT } block.sync(); tile[i] = input[k]; block.sync(); if i == 0 { STORE busy = true; } } if i == 0 { WAIT }",
    ] {
        assert_eq!(broken(then), [""; 0], "{then}");
    }
}
