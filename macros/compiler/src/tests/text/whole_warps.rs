//! Collectives of tiles that whole warps reach together, for which the lanes of the tile need no mask.

use super::text;

/// Whether the collective of a tile of 4 in the body of a kernel is one of its whole warp.
#[track_caller]
fn is_whole(body: &str) -> bool {
    let kernel = format!(
        "#[cluster_kernel(block = 64)] fn subject(x: &[f32], out: &mut [f32], n: u32) {{
            let block = this_thread_block(); let quad = tiled_partition::<4>(&block); let t = block.thread_rank(); {body}
        }}"
    );
    text(&kernel, |_| None).contains("quad.whole_warp().")
}

#[test]
fn no_branch_that_parts_a_warp_decides() {
    assert!(is_whole("out[t] = quad.reduce(x[t], op::Plus);"));
    assert!(is_whole("for i in 0..n { out[t] = quad.reduce(x[i], op::Plus); }"));
    assert!(is_whole("if n > 3 { quad.sync(); }"));
    assert!(is_whole("if t / 32 == 0 { out[t] = quad.reduce(x[t], op::Plus); }"));
    assert!(is_whole("let mut v = x[t]; if t % 4 == 0 { v = 1.0; } out[t] = quad.reduce(v, op::Plus);"));
}

#[test]
fn a_branch_that_parts_a_warp_decides() {
    assert!(!is_whole("if t / 4 == 0 { out[t] = quad.reduce(x[t], op::Plus); }"));
    assert!(!is_whole("if t / 4 == 0 { return; } out[t] = quad.reduce(x[t], op::Plus);"));
    assert!(!is_whole("for i in 0..t / 4 { out[t] = quad.reduce(x[i], op::Plus); }"));
    assert!(!is_whole("for i in 0..n { if i == t / 4 { break; } quad.sync(); }"));
}

/// Which threads call a device function, only its callers know.
#[test]
fn a_device_function_is_reached_by_some_threads_of_a_warp() {
    let function = "#[device] fn subject(quad: &Tile<4>, x: f32) -> f32 { quad.reduce(x, op::Plus) }";
    assert!(!text(function, |_| None).contains("whole_warp"));
}

#[test]
fn a_tile_that_is_the_warp_needs_nothing() {
    let kernel = "#[cluster_kernel(block = 64)] fn subject(x: &[f32], out: &mut [f32]) {
        let block = this_thread_block(); let warp = tiled_partition::<32>(&block); let t = block.thread_rank();
        out[t] = warp.reduce(x[t], op::Plus);
    }";
    assert!(!text(kernel, |_| None).contains("whole_warp"));
}
