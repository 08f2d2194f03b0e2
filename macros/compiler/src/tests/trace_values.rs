//! Traces over what a run computes: methods of unsigned integers, what an `Option` holds, constants of the body, tables of tuples; and over loops
//! of which it needs nothing.

use super::rules;
use super::traces::in_block;

const RACE: [&str; 1] = ["unsynchronized_access"];

fn need_barriers(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(in_block(&body.replace("<sync>", "block.sync();")), [""; 0], "{body}");
        assert_eq!(in_block(&body.replace("<sync>", "")), RACE, "{body}");
    }
}

#[test]
fn methods_of_indexes() {
    need_barriers(&[
        "s[t.reverse_bits() >> 25] = input[t]; <sync> out[t] = s[t];",
        "s[t] = input[t]; <sync> for k in [t, t ^ 1] { out[t] += s[k.reverse_bits() >> 25]; }",
        "s[t] = input[t]; <sync> out[t] = s[t.checked_sub(1).unwrap_or(127)];",
        "s[t] = input[t]; <sync> out[t] = s[t.wrapping_sub(1) % 128];",
        "s[t] = input[t]; <sync> out[t] = s[t.saturating_sub(3)];",
        "s[t] = input[t]; <sync> out[t] = s[(t + 1).clamp(1, 126)];",
        "s[t] = input[t]; <sync> out[t] = s[(t & 63).rotate_left(1)];",
        "s[t] = input[t]; <sync> out[t] = s[t.count_ones()];",
        "s[t] = input[t]; <sync> out[t] = s[31 - (t | 1).leading_zeros()];",
        "s[t] = input[t]; <sync> out[t] = s[2u32.pow(t % 6)];",
        "s[t] = input[t]; <sync> out[t] = s[t.abs_diff(20)];",
    ]);
    // One thread for each element.
    for own in
        ["t.wrapping_add(0)", "t.saturating_sub(0)", "t.reverse_bits().reverse_bits()", "t.checked_sub(0).unwrap_or(5)"]
    {
        assert_eq!(in_block(&format!("s[t] = input[t]; out[t] = s[{own}];")), [""; 0], "{own}");
    }
}

#[test]
fn options() {
    need_barriers(&[
        "s[t] = input[t]; <sync> let Some(k) = (t > 3).then_some(t - 3) else { return; }; out[t] = s[k];",
        "s[t] = input[t]; <sync> if let Some(k) = t.checked_sub(5) { out[t] = s[k]; }",
        "s[t] = input[t]; <sync> let k = if t > 0 { Some(t - 1) } else { None }; match k { Some(k) => out[t] = s[k], None => {} }",
        "s[t] = input[t]; <sync> let k = (t > 0).then_some(t - 1); if k.is_some() { out[t] = s[k.unwrap()]; }",
        "s[t] = input[t]; block.sync();
        for k in 0..n {
            let next = if k + 1 < n { Some(input[k * 128 + t]) } else { None };
            out[k * 128 + t] = s[127 - t]; block.sync();
            if let Some(x) = next { s[t] = x; } <sync>
        }",
    ]);
    // Where there is nothing, no element is read.
    for body in [
        "if t < 64 { s[t] = input[t]; } let k = (t >= 64).then_some(t); if let Some(k) = k { s[k] = 1; }",
        "if t < 64 { s[t] = input[t]; } let k: Option<u32> = if t < 200 { None } else { Some(0) }; if let Some(k) = k { out[t] = s[k]; }",
        "s[t] = 1; let mut k = Some(t); if k.take().is_none() { out[t] = s[127 - t]; }",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
}

/// Lists of numbers that are borrowed, and rows of lists.
#[test]
fn lists() {
    need_barriers(&[
        "let o = [1u32, 7]; s[t] = input[t]; <sync> for x in &o { out[t] += s[(t + x) % 128]; }",
        "let o = [1u32, 7]; s[t] = input[t]; <sync> for (k, x) in o.iter().enumerate() { out[t] += k as u32 * s[(t + x) % 128]; }",
        "s[t] = input[t]; <sync> for a in 0..2 { out[t] += s[(t + [[1u32, 2], [3, 4]][a][1]) % 128]; }",
    ]);
    for body in [
        "let o = [0u32, 128]; s[t] = input[t]; for x in &o { out[t] += s[(t + x) % 128]; }",
        "s[t] = input[t]; for a in 0..2 { out[t] += s[(t + [[1u32, 0], [3, 128]][a][1]) % 128]; }",
        // What is stored to an element is another number.
        "let mut o = [1u32, 7]; o[0] = 0; o[1] = 0; s[t] = input[t]; let p = &o; for x in p { out[t] += s[(t + x) % 128]; }",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
}

/// The last chunk of an array may be shorter.
#[test]
fn chunks() {
    need_barriers(&[
        "s[t] = input[t]; <sync> for row in s.chunks(8) { out[t] += row.iter().copied().sum::<u32>(); }",
        "s[t] = input[t]; <sync> for (k, row) in s.chunks_exact(16).enumerate() { if t == k as u32 { out[t] = row.iter().copied().sum::<u32>(); } }",
        "s[t] = input[t]; <sync> for row in s.chunks(100) { if t == 0 { out[row.len()] = row[0]; } }",
    ]);
    for body in [
        "if t % 32 == 0 { for k in 0..32u32 { s[t + k] = k; } } warp.sync(); for (k, row) in s.chunks(32).enumerate() { if t / 32 == k as u32 { for x in row { out[t] += x; } } }",
        "if t == 0 { for k in 100..128u32 { s[k] = k; } for (k, row) in s.chunks(100).enumerate() { if k == 1 { for x in row { out[0] += x; } } } }",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
}

#[test]
fn constants_and_tables() {
    need_barriers(&[
        "const N: u32 = 128; const HALF: u32 = N / 2; s[t] = input[t]; <sync> out[t] = s[(t + HALF) % N];",
        "s[t] = input[t]; <sync> let mut sum = 0; for pair in s.windows(2) { sum += pair[1] ^ pair[0]; } out[t] = sum;",
    ]);
    for (table, of) in [
        ("const D: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];", "D"),
        ("let d = [(0i32, 1i32), (1, 0), (0, -1), (-1, 0)];", "d"),
    ] {
        let around = |sync: &str| {
            rules(&format!(
                "#[cluster_kernel(block = (8, 8))] fn around(input: &[u32], out: &mut [u32]) {{
                    let block = this_thread_block(); let t = block.thread_rank();
                    let (x, y) = (block.thread_index().x as i32, block.thread_index().y as i32);
                    let s = shared_array::<[u32; 8], 8>(); {table}
                    s[y as u32][x as u32] = input[t]; {sync}
                    for (dy, dx) in {of} {{
                        let (b, a) = (y + dy, x + dx);
                        if b >= 0 && b < 8 && a >= 0 && a < 8 {{ out[t] += s[b as u32][a as u32]; }}
                    }}
                }}"
            ))
        };
        assert_eq!(around(""), RACE, "{table}");
        assert_eq!(around("block.sync();"), [""; 0], "{table}");
    }
}

/// A product adds up in registers for longer than a thread is followed.
#[test]
fn loops_in_registers() {
    let product = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 256)] fn product(a: &[f32], b: &[f32], c: &mut [f32], n: u32) {{
                let block = this_thread_block(); let t = block.thread_rank(); let (tx, ty) = (t & 15, t >> 4);
                let sa = shared_array::<[f32; 64], 8>(); let sb = shared_array::<[f32; 64], 8>();
                let mut acc = [[0.0; 4]; 4];
                for k0 in (0..n).step_by(8) {{
                    for l in 0..2 {{ let e = t + l * 256; sa[e % 8][e / 8] = a[e]; sb[e / 64][e % 64] = b[k0 + e]; }}
                    block.sync();
                    for k in 0..8 {{
                        let mut ra = [0.0; 4]; let mut rb = [0.0; 4];
                        for i in 0..4 {{ ra[i] = sa[k][ty * 4 + i]; rb[i] = sb[k][tx * 4 + i]; }}
                        for i in 0..4 {{ for j in 0..4 {{ acc[i][j] += ra[i] * rb[j]; }} }}
                    }}
                    {sync}
                }}
                for i in 0..4 {{ for j in 0..4 {{ c[(ty * 4 + i) * n + tx * 4 + j] = acc[i][j]; }} }}
            }}"
        ))
    };
    assert_eq!(product(""), RACE);
    assert_eq!(product("block.sync();"), [""; 0]);
    // What an index is computed with is no sum of floats.
    for body in [
        "let mut k = 0; for i in 0..20u32 { if i < t { k += 1; } } s[t] = input[t]; <sync> out[t] = s[k];",
        "let mut k = t; for _ in 0..3u32 { k = (k + 1) % 128; } s[t] = input[t]; <sync> out[t] = s[k];",
    ] {
        need_barriers(&[body]);
    }
}

/// The elements of an accumulator have known places in its rows and columns.
#[test]
fn elements_of_accumulators() {
    let of_warp = "let lane = t % 32; let w = shared_array::<[f32; 8], 64>();";
    let store = |sum: &str| {
        format!("{of_warp} {sum} for i in 0..4 {{ w[t / 32 * 16 + c.row(lane, i)][c.column(lane, i)] = c[i]; }}")
    };
    let splat = store("let c = Accumulator::<f32, 16, 8>::splat(1.0);");
    let product = store(
        "let (a, b) = (MatrixA::<tf32, 16, 8>::splat(1.0), MatrixB::<tf32, 8, 8>::splat(1.0));
        let mut c = warp.mma(a, b, Accumulator::<f32, 16, 8>::splat(1.0)); c = warp.mma(a, b, c);",
    );
    let warpgroup = "let w = shared_array::<[f32; 8], 64>(); let c = Accumulator::<f32, 64, 8>::splat(1.0);
        for i in 0..4 { w[c.row(t, i)][c.column(t, i)] = c[i]; }";
    for stored in [&splat[..], &product, warpgroup] {
        need_barriers(&[&format!("{stored} <sync> out[t] = w[t % 64][0] as u32;")]);
        need_barriers(&[&format!("{stored} <sync> for j in 0..8 {{ out[t] += w[63 - t / 2][j] as u32; }}")]);
        // Its own elements.
        let own = if stored == warpgroup {
            "w[c.row(t, 1)][c.column(t, 1)]"
        } else {
            "w[t / 32 * 16 + c.row(lane, 1)][c.column(lane, 1)]"
        };
        assert_eq!(in_block(&format!("{stored} out[t] = {own} as u32;")), [""; 0], "{stored}");
        // A warp has its rows.
        let of_warp = "warp.sync(); for j in 0..8 { out[t] += w[t / 32 * 16 + t % 16][j] as u32; }";
        assert_eq!(in_block(&format!("{stored} {of_warp}")), [""; 0], "{stored}");
        assert_eq!(
            in_block(&format!("{stored} {}", of_warp.replace("t / 32 * 16 + t % 16", "t % 64"))),
            RACE,
            "{stored}"
        );
    }
    // Methods of other types may be others.
    let other = "let c = Position { top: 0 }; s[c.row(t, 0)] = input[t]; out[t] = s[127 - t];";
    assert_eq!(in_block(other), [""; 0]);
}
