//! Tests of the accesses that traces know: products and matrices, copies of tiles, vectors, slices, fields, atomics, and those under
//! conditions on data or on both coordinates of a thread.

use super::rules;
use super::traces::in_block;

/// Asserts that the kernels are refused by the rule without their `block.sync();` in angle brackets, and accepted with them.
fn needs_barriers(kernels: &[&str]) {
    for kernel in kernels {
        let with = kernel.replace("<sync>", "block.sync();");
        assert_eq!(rules(&with), [""; 0], "{with}");
        let without = kernel.replace("<sync>", "");
        assert_eq!(rules(&without), ["unsynchronized_access"], "{without}");
    }
}

fn bodies_need_barriers(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(in_block(&body.replace("<sync>", "block.sync();")), [""; 0], "{body}");
        assert_eq!(in_block(&body.replace("<sync>", "")), ["unsynchronized_access"], "{body}");
    }
}

/// A product reads its tiles from where it begins to where its warpgroup has waited for it.
#[test]
fn products() {
    let of = |body: &str| {
        format!(
            "#[cluster_kernel(block = 256)] fn products(a: &[bf16], c: &mut [f32], n: u32) {{
                let block = this_thread_block(); let i = block.thread_rank();
                let group = tiled_partition::<128>(&block); let rank = group.thread_rank();
                let x = shared_array::<[Swizzled<bf16, 64>; 64], 2>();
                let mut sum = Accumulator::<f32, 64, 64>::splat(0.0);
                {body}
                c[i] = sum[0];
            }}"
        )
    };
    let fill = "for k in (i..4096).step_by(256) { x[0][k / 64][k % 64] = a[k]; }";
    let multiply = "let product = group.mma_async(sum, &x[0], &x[0]); sum = group.wait_mma(product);";
    needs_barriers(&[
        &of(&format!("{fill} <sync> {multiply}")),
        &of(&format!("{fill} block.sync(); {multiply} <sync> x[0][i / 64][i % 64] = a[i];")),
        &of(&format!(
            "{fill} block.sync(); if group.meta_group_rank() == 0 {{ {multiply} }} <sync>
            if group.meta_group_rank() == 1 {{ x[0][rank / 64][rank % 64] = a[rank]; }}"
        )),
        &of(&format!(
            "{fill} block.sync(); for k in 0..n {{ {multiply} block.sync(); x[0][i / 64][i % 64] = a[k]; <sync> }}"
        )),
    ]);
}

/// A warp loads and stores a matrix together, and no other warp is ordered with it.
#[test]
fn matrices() {
    let of = |body: &str| {
        format!(
            "#[cluster_kernel(block = 128)] fn matrices(a: &[bf16], c: &mut [f32]) {{
                let block = this_thread_block(); let i = block.thread_rank();
                let warp = tiled_partition::<32>(&block); let w = warp.meta_group_rank();
                let t = shared_array::<[bf16; 24], 64>();
                {body}
            }}"
        )
    };
    let load =
        |row: &str| format!("let x: MatrixA<bf16, 16, 16> = warp.load_matrix(&t, {row}, 0); c[i] = x[0].to_f32();");
    let store = "warp.store_matrix(&t, w * 16, 0, Accumulator::<f32, 16, 16>::splat(1.0).to_bf16());";
    needs_barriers(&[
        &of(&format!(
            "for k in 0..8u32 {{ t[i / 2][i % 2 * 8 + k] = a[i * 8 + k]; }} <sync> {}",
            load("(w + 1) % 4 * 16")
        )),
        &of(&format!("{store} <sync> c[i] = t[63 - i / 2][0].to_f32();")),
        &of(&format!("{store} <sync> {}", load("48 - w * 16"))),
    ]);
    // A warp's own rows.
    let own = format!("{store} warp.sync(); {}", load("w * 16"));
    assert_eq!(rules(&of(&own)), [""; 0]);
}

/// A tensor store reads a tile.
#[test]
fn tiles() {
    needs_barriers(&["#[cluster_kernel(block = 256)] fn fill(out: &mut TensorMap<[[f32; 32]; 8]>) {
            let block = this_thread_block(); let i = block.thread_rank();
            let tile = shared_array::<[[f32; 32]; 8], 1>();
            tile[0][i / 32][i % 32] = i as f32; <sync>
            if i == 0 { out.store_async([0, 0], &tile[0]); bulk_wait_group_read::<0>(); }
        }"]);
}

/// A copy of a whole tile reads each of its elements, whichever of them other threads write.
#[test]
fn elements_that_are_not_known() {
    let of = |body: &str| {
        format!(
            "#[cluster_kernel(block = 128)] fn tiles(a: &[u32], out: &mut TensorMap<[[f32; 32]; 64]>) {{
                let block = this_thread_block(); let i = block.thread_rank();
                let s = shared_array::<[[f32; 32]; 64], 2>();
                let bar = shared_barrier();
                bar.init_collective(&block, 128);
                let sum = Accumulator::<f32, 64, 32>::splat(0.0);
                {body}
            }}"
        )
    };
    let fill = "for k in (i..64 * 32).step_by(128) { s[0][k / 32][k % 32] = 0.0; }";
    let store = "if i == 0 { out.store_async([0, 0], &s[0]); bulk_wait_group_read::<0>(); }";
    let writes = [
        "s[0][a[i]][i % 32] = 1.0;",
        "for e in 0..16 { s[0][sum.row(i, e)][sum.column(i, e)] = sum[e]; }",
        "s[0][i / 2].store_vec(a[0], f32x4::splat(1.0));",
    ];
    for write in writes {
        needs_barriers(&[
            &of(&format!("{write} <sync> {store}")),
            &of(&format!("{fill} block.sync(); {store} <sync> {write} block.sync(); {store}")),
        ]);
        // The next phase may tell a thread.
        let told = of(&format!("{write} bar.arrive_and_wait(); {store} bar.arrive_and_wait(); {write}"));
        assert_eq!(rules(&told), [""; 0], "{told}");
        let alike = of(&format!("bar.arrive_and_wait(); {write} {store}"));
        assert!(!rules(&alike).is_empty(), "{alike}");
        let other = of(&format!("{} {store}", write.replace("s[0]", "s[1]")));
        assert_eq!(rules(&other), [""; 0], "{other}");
        // It may be another tile.
        let any = of(&format!("{} {store}", write.replace("s[0]", "s[a[0]]")));
        assert_eq!(rules(&any), [""; 0], "{any}");
    }
}

/// Several elements, or an element of several.
#[test]
fn vectors_and_slices() {
    bodies_need_barriers(&[
        "if t < 32 { s.store_vec(t * 4, input.load_vec::<4>(t * 4)); } <sync> out[t] = s[t ^ 32];",
        "s[t] = input[t]; <sync> if t < 32 { let v = s.load_vec::<4>(t * 4); out[t] = v[3]; }",
        "let (low, high) = s.split_at_mut(64); if t < 64 { low[t] = input[t]; } else { high[t - 64] = input[t]; } <sync> out[t] = s[127 - t];",
        "let part = &mut s[64..128]; if t < 64 { part[t] = input[t]; } <sync> out[t] = s[127 - t / 2];",
    ]);
    needs_barriers(&[
        "#[cluster_kernel(block = 128, shared_bytes = 512)] fn dynamic(a: &[f32], c: &mut [f32]) {
            let block = this_thread_block(); let i = block.thread_rank(); let t = dynamic_shared::<f32>();
            t[i] = a[i]; <sync> c[i] = t[127 - i];
        }",
        "#[cluster_kernel(block = 128)] fn fields(a: &[f32], c: &mut [f32]) {
            let block = this_thread_block(); let i = block.thread_rank(); let t = shared_array::<P, 128>();
            t[i] = P { x: a[i], y: 0.0 }; <sync> c[i] = t[127 - i].x;
        }",
    ]);
    // Two fields of an element, and the two halves.
    assert_eq!(in_block("let (low, high) = s.split_at_mut(64); if t < 64 { low[t] = 1; high[t] = 2; }"), [""; 0]);
    let fields = "#[cluster_kernel(block = 128)] fn fields(a: &[f32], c: &mut [f32]) {
        let block = this_thread_block(); let i = block.thread_rank(); let t = shared_array::<P, 128>();
        t[i].x = a[i]; c[i] = t[127 - i].y;
    }";
    assert_eq!(rules(fields), [""; 0]);
}

/// An atomic may meet any element, whatever gives its index.
#[test]
fn atomics() {
    bodies_need_barriers(&[
        "if t < 16 { s[t] = 0; } <sync> s.atomic(input[t] % 16).fetch_add(1, Relaxed);",
        "s[t] = 0; block.sync(); s.atomic(input[t] % 16).fetch_add(1, Relaxed); <sync> if t < 16 { out[t] = s[t]; }",
        "if t == 0 { s[0] = 0; } <sync> if input[t] > 60 { s.atomic(0).fetch_add(1, Relaxed); }",
    ]);
}

/// One thread enters an arm on data, or none.
#[test]
fn conditions_on_data() {
    bodies_need_barriers(&[
        "s[t] = 0; block.sync(); if input[t] > 3 { s[t] = 1; } <sync> out[t] = s[127 - t];",
        "s[t] = input[t]; block.sync(); let k = t / 2 * 2; if t % 2 == 0 && t < 126 { if s[k] > s[k + 1] { let x = s[k]; s[k] = s[k + 1]; s[k + 1] = x; } } <sync> out[t] = s[127 - t];",
    ]);
    for body in [
        // One thread is elected by what the block computed.
        "s[t] = t; u[t] = 0; block.sync(); if s[(t + 1) % 128] == 5 { u[0] = 1; } if t == 3 { out[0] = u[5]; }",
        "s[t] = 0; u[t] = 0; block.sync(); let n = s.atomic(0).fetch_add(1, Relaxed); if n == 127 { u[0] = n; }",
        // Who does nothing else.
        "s[t] = input[t]; block.sync(); if input[t] > 3 { s[t] = 1; } out[t] = s[t];",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
}

/// Threads at no edge of their block, counters below zero, and barriers that some launches leave out.
#[test]
fn guards() {
    let plane = |guard: &str| {
        format!(
            "#[cluster_kernel(block = (16, 16))] fn plane(input: &[f32], out: &mut [f32]) {{
                let block = this_thread_block(); let i = block.thread_rank();
                let (x, y) = (block.thread_index().x, block.thread_index().y);
                let a = shared_array::<[f32; 16], 16>();
                a[y][x] = input[i]; <sync> let mut v = 0.0; if {guard} {{ v = a[y - 1][x]; }} out[i] = v;
            }}"
        )
    };
    needs_barriers(&[&plane("x > 0 && y > 0"), &plane("x > 0 && x < 15 && y > 0 && y < 15")]);
    bodies_need_barriers(&[
        "s[t] = input[t]; <sync> let mut v = 0; for d in -1..2i32 { v += s[((t as i32 + 128 + d) % 128) as u32]; } out[t] = v;",
        "s[t] = input[t]; <sync> out[t] = s[(t as i32 - 1).rem_euclid(128) as u32];",
    ]);
    assert_eq!(in_block("s[t] = input[t]; if n > 4 { block.sync(); } out[t] = s[127 - t];"), ["unsynchronized_access"]);
    assert_eq!(in_block("s[t] = input[t]; if n > 4 { block.sync(); out[t] = s[127 - t]; }"), [""; 0]);
}

/// A product that is waived is one that breaks the rule.
#[test]
fn a_waived_product_breaks_the_rule() {
    let of = |waived: &str| {
        format!(
            "#[cluster_kernel(block = 128, unchecked({waived}))] fn early(a: &[bf16], c: &mut [f32]) {{
                let block = this_thread_block(); let i = block.thread_rank();
                let group = tiled_partition::<128>(&block);
                let x = shared_array::<[Swizzled<bf16, 64>; 64], 1>();
                x[0][i / 2][i % 2] = a[i];
                let product = group.mma_async(Accumulator::<f32, 64, 64>::splat(0.0), &x[0], &x[0]);
                let sum = group.wait_mma(product);
                c[i] = sum[0];
            }}"
        )
    };
    assert_eq!(rules(&of("unsynchronized_access")), [""; 0]);
    assert_eq!(rules(&of("mma_in_flight")), ["unchecked", "unsynchronized_access"]);
}
