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

/// Whether each wait of a kernel, or of a device function, is one of whole warps.
#[track_caller]
fn waits_as_one(kernel: &str) -> bool {
    let text = text(kernel, |_| None);
    let count = |wait| text.matches(wait).count();
    assert!(count("full[stage].") > 0, "{text}");
    count("whole_warp().wait_parity(") == count("wait_parity(")
}

const PRODUCT: &str =
    "let product = warpgroup.mma_async(sum, &a[stage], &b[stage]); sum = warpgroup.wait_mma(product);";

fn multiplying(before: &str, inside: &str) -> String {
    format!(
        "#[cluster_kernel(block = 128)] fn subject(out: &mut [f32], n: u32) {{
            let block = this_thread_block(); let warpgroup = tiled_partition::<128>(&block); let t = block.thread_rank();
            let a = shared_array::<[Swizzled<bf16, 64>; 64], 2>(); let b = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
            a[0][t / 2][t % 64] = bf16::ONE; b[0][t / 2][t % 64] = bf16::ONE;
            let full = shared_barriers::<2>(); full.init_collective(&block, 128);
            let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
            for k in 0..n {{ let stage = k % 2; let _ = full[stage].arrive(); 
                {before} {{ full[stage].wait_parity(k / 2 % 2 == 1); }} full[stage].wait_parity(k / 2 % 2 == 1); {inside} }}
            out[t] = sum[0];
        }}"
    )
}

#[test]
fn warps_of_a_warpgroup_that_multiplies_wait_as_one() {
    assert!(waits_as_one(&multiplying("", PRODUCT)));
    assert!(waits_as_one(&multiplying("if t / 32 == 1", PRODUCT)));
    assert!(!waits_as_one(&multiplying("if t == 0", PRODUCT)), "one thread waits");
    assert!(!waits_as_one(&multiplying("if t % 2 == 1", PRODUCT)), "some threads of each warp wait");
    assert!(!waits_as_one(&multiplying("", "sum[0] = 1.0;")), "nothing is in flight");
}

/// Its callers reach the call by whole warpgroups, because it multiplies.
#[test]
fn a_device_function_that_multiplies_is_called_by_whole_warps() {
    let function = format!(
        "#[device] fn subject(warpgroup: &Tile<128>, a: &SharedArray<[Swizzled<bf16, 64>; 64], 2>,
            b: &SharedArray<[Swizzled<bf16, 64>; 64], 2>, full: &Barriers<2>, n: u32) -> f32 {{
            let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
            for k in 0..n {{ let stage = k % 2; full[stage].wait_parity(k / 2 % 2 == 1); {PRODUCT} }}
            sum[0]
        }}"
    );
    assert!(waits_as_one(&function));
}
