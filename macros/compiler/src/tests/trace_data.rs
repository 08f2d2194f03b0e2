//! Traces of threads whose data decide: indexes and truth values that the host passes, and elements that are another thread's whatever
//! the index is.

use super::rules;
use super::traces::in_block;

const RACE: [&str; 1] = ["unsynchronized_access"];

/// Asserts that the bodies are refused without their `<sync>`, and with the barrier of a warp in its place, and accepted with the block's.
fn need_barriers(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(in_block(&body.replace("<sync>", "block.sync();")), [""; 0], "{body}");
        assert_eq!(in_block(&body.replace("<sync>", "")), RACE, "{body}");
        assert_eq!(in_block(&body.replace("<sync>", "warp.sync();")), RACE, "{body}");
    }
}

/// The text makes an index of any number, so that some data lead to another thread's element.
#[test]
fn indexes_of_any_number() {
    need_barriers(&[
        "s[t] = input[t]; <sync> out[t] = s[input[t] % 128];",
        "s[t] = input[t]; <sync> out[t] = s[input[t] & 127] ^ s[input[t] >> 8 & 127];",
        "s[input[t] % 128] = t; <sync> out[t] = s[127 - t];",
        "s[t] = 0; <sync> for k in (t..n).step_by(128) { s.atomic(input[k] % 128).fetch_add(1, Relaxed); }",
        "s[t] = input[t]; block.sync(); if t < 16 { u[t] = t; } <sync> out[t] = u[s[t] >> 4 & 15];",
        "s[t] = input[t]; <sync> let mut h = input[t] * 31 % 128; while s[h] == 0 { h = (h + 1) % 128; } out[t] = h;",
    ]);
    let bytes = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 256)] fn lookup(image: &[u8], table: &[u8], out: &mut [u8]) {{
                let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<u8, 256>();
                s[t] = table[t]; {sync} out[t] = s[image[t] as u32];
            }}"
        ))
    };
    assert_eq!(bytes(""), RACE);
    assert_eq!(bytes("block.sync();"), [""; 0]);
}

/// What the host passes as an index may be the thread's own, and a thread may keep to its part.
#[test]
fn indexes_of_ones_own() {
    for body in [
        "s[t] = input[t]; out[t] = s[input[t]];",
        "s[t] = input[t]; if input[t] < 128 { out[t] = s[input[t]]; }",
        "s[2 * (t / 2)] = 1; s[t / 2 * 2 + input[t] % 2] = 2;",
        "for k in 0..4u32 { if t % 4 == 0 { s[t + k] = 0; } } if t % 4 == 0 { s[t + input[t] % 4] += 1; }",
        "if t == 0 { s[0] = 1; for k in 0..n { s[input[k] % 128] = k; } } block.sync(); out[t] = s[t];",
        // Whether there is a barrier, all threads decide alike.
        "if input[0] > 3 { s[t] = n; block.sync(); out[t] = s[127 - t]; block.sync(); } else { s[127 - t] = 1; block.sync(); } out[t + 128] = s[t];",
        "s[t] = input[t]; if input[0] > 3 { block.sync(); } if input[0] > 3 { out[t] = s[input[t] % 128]; }",
        "for k in 0..n { s[t] = input[k]; let x = input[k]; if x > 3 { block.sync(); out[t] = s[x % 128]; block.sync(); } }",
        "let mut k = 0; while input[k] > 7 { s[t] = k; block.sync(); out[t] = s[input[k] % 128]; block.sync(); k += 1; } s[t] = 1;",
    ] {
        assert_eq!(in_block(&body.replace("s[2 * (t / 2)] = 1;", "")), [""; 0], "{body}");
    }
}

/// All elements are other threads', so that it does not matter which one it is.
#[test]
fn whatever_the_index_is() {
    need_barriers(&[
        "if t < 64 { s[t] = input[t]; s[t + 64] = 0; } <sync> let x = warp.shfl(input[t], 3); out[t] = s[x];",
        "if t < 16 { s[t] = input[t]; } block.sync(); let x = s[t % 16]; if t >= 100 { u[x] = t; } <sync> out[t] = u[127 - t] + u[(t + 1) % 128] + u[t ^ 64];",
        "s[t] = input[t]; <sync> let first = s[n % 128]; out[t] = first;",
    ]);
    // Each thread may have the element that it has written.
    let own = "s[t] = input[t]; let x = warp.shfl(input[t], t); out[t] = s[x];";
    assert_eq!(in_block(own), [""; 0]);
}

/// A truth value that data decide, whatever it is made by.
#[test]
fn truth_values_of_data() {
    for keep in [
        "if (t as usize) < input.len() { input[t] > 3 } else { false }",
        "match t < n { true => input[t] > 3, false => false }",
        "match input[t] { 0 => false, 1..=9 => t > 64, _ => true }",
        "t < n && (input[t] > 3 || input[t] == 1)",
        "t < 64 && input[t] > 7 || t >= 64 && input[t] < 3",
    ] {
        let kept = |sync: &str| {
            in_block(&format!("if t == 0 {{ s[0] = n; }} {sync} let keep = {keep}; if keep {{ out[s[0] + t] = 1; }}"))
        };
        assert_eq!(kept(""), RACE, "{keep}");
        assert_eq!(kept("block.sync();"), [""; 0], "{keep}");
    }
    let table = |sync: &str| {
        in_block(&format!(
            "const WANTED: [bool; 4] = [false, true, true, false];
            if t == 0 {{ s[0] = n; }} {sync} if WANTED[input[t] as usize % 4] {{ out[s[0] + t] = 1; }}"
        ))
    };
    assert_eq!(table(""), RACE);
    assert_eq!(table("block.sync();"), [""; 0]);
    let floats = |keep: &str, sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)] fn keeps(x: &[f32], out: &mut [f32], n: u32, scale: f32) {{
                let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<f32, 128>();
                s[t] = x[t]; {sync} let keep = {keep}; if keep {{ out[t] = s[127 - t]; }}
            }}"
        ))
    };
    for keep in ["if t < n { x[t] > 0.5 } else { false }", "x[t] * scale + 1.0 > 0.5", "x[t] - x[t + 1] < scale"] {
        assert_eq!(floats(keep, ""), RACE, "{keep}");
        assert_eq!(floats(keep, "block.sync();"), [""; 0], "{keep}");
    }
    // Of a thread that is not below 64, the text shows that it is not kept.
    let own = "let keep = if t < 64 { input[t] > 3 } else { false }; if t >= 64 { s[t - 64] = 1; } if keep { s[t + 64] = 2; }";
    assert_eq!(in_block(own), [""; 0]);
}

/// Distances that grow shorter from data: what is compared is computed from elements that the host passes.
#[test]
fn elements_computed_from_data() {
    let paths = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = (16, 16))] fn paths(m: &mut [u32], n: u32) {{
                let block = this_thread_block(); let (x, y) = (block.thread_index().x, block.thread_index().y);
                let d = shared_array::<[u32; 16], 16>();
                d[y][x] = m[y * 16 + x]; block.sync();
                for k in 0..n {{
                    let through = d[y][k] + d[k][x]; {sync}
                    if through < d[y][x] {{ d[y][x] = through; }} block.sync();
                }}
                m[y * 16 + x] = d[y][x];
            }}"
        ))
    };
    assert_eq!(paths(""), RACE);
    assert_eq!(paths("block.sync();"), [""; 0]);
}

/// An index that depends on the kernel's one integer.
#[test]
fn indexes_by_an_argument() {
    need_barriers(&[
        "s[t] = input[t]; <sync> if t < n { out[t] = s[n - 1 - t]; }",
        "if t < n { s[t] = input[t]; } <sync> if t < n { out[t] = s[n - t - 1]; }",
    ]);
    for body in [
        // What the caller promises may keep them apart.
        "s[t] = input[t]; out[t] = s[(t + n) % 128];",
        "s[t % n] = input[t]; out[t] = s[t % n];",
        "if t < 64 { s[t] = input[t]; out[t] = s[64 + n - n]; }",
        "if t < n { s[t] = input[t]; } else { out[t] = s[n + (t - n)]; }",
    ] {
        assert_eq!(in_block(body), [""; 0], "{body}");
    }
}

/// A kernel that is for no more elements than threads fails with more.
#[test]
fn no_more_elements_than_threads() {
    let edges = "s[t] = if t < n { input[t] } else { 0 }; <sync> if t == 0 || t + 1 >= n { return; } out[t] = s[t + 1] - s[t - 1];";
    need_barriers(&[edges]);
}

/// Numbers above 2^31 in a table by bytes of a checksum, and what is larger since data decided it.
#[test]
fn late_decisions() {
    let bytes = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 256)] fn checks(data: &[u8], out: &mut [u32], n: u32) {{
                let block = this_thread_block(); let t = block.thread_rank(); let table = shared_array::<u32, 256>();
                let mut c = t;
                for _ in 0..8 {{ c = if c & 1 == 1 {{ 0xedb88320 ^ (c >> 1) }} else {{ c >> 1 }}; }}
                table[t] = c; {sync}
                let mut crc = 0xffffffff_u32;
                for k in 0..n {{ crc = table[(crc ^ data[t * n + k] as u32) & 0xff] ^ (crc >> 8); }}
                out[t] = !crc;
            }}"
        ))
    };
    assert_eq!(bytes(""), RACE);
    assert_eq!(bytes("block.sync();"), [""; 0]);
    need_barriers(&[
        "let mut mine = input[t]; for r in 0..4u32 { s[t] = mine; block.sync();
        let mut half = 64; while half > 0 { if t < half && s[t + half] > s[t] { s[t] = s[t + half]; } <sync> half /= 2; }
        if s[0] == t { mine = 0; } block.sync(); }",
    ]);
}

/// Data may be alike: what threads change at an index that they make of data needs atomics.
#[test]
fn data_that_are_alike() {
    for body in [
        "s[input[t] % 128] += 1;",
        "let at = input[t] >> 3 & 127; let old = s[at]; s[at] = old + t;",
        "for k in 0..4u32 { s[input[128 * k + t] % 128] ^= k; }",
    ] {
        assert_eq!(in_block(&format!("s[t] = 0; block.sync(); {body} block.sync(); out[t] = s[t];")), RACE, "{body}");
    }
    // The host may promise that no two threads have the same element, or that only one finds what it looks for.
    for body in [
        "s[input[t]] += 1;",
        "s[input[t] % 128] = t;",
        "s[input[t] % 128] = 1;",
        "if input[t] > 5 { s[input[t] % 128] += 1; }",
        "s.atomic(input[t] % 128).fetch_add(1, Relaxed);",
    ] {
        assert_eq!(
            in_block(&format!("s[t] = 0; block.sync(); {body} block.sync(); out[t] = s[t];")),
            [""; 0],
            "{body}"
        );
    }
    let in_peers = |to: &str, change: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 4, block = 64)] fn adds(x: &[u32], out: &mut [u32], to: u32) {{
                let cluster = this_cluster(); let block = this_thread_block(); let i = block.thread_rank();
                let s = shared_array::<u32, 64>();
                s[i] = 0; cluster.sync();
                let p = cluster.map_shared_rank(&s, {to}); {change}
                cluster.sync(); out[cluster.thread_rank()] = s[i];
            }}"
        ))
    };
    assert_eq!(in_peers("x[cluster.thread_rank()] % 4", "p[i] += 1;"), ["unordered_remote_write"]);
    assert_eq!(in_peers("x[cluster.block_rank()]", "p[i] = 1;"), [""; 0]);
    assert_eq!(in_peers("to", "p[i] = x[cluster.thread_rank()];"), ["unordered_remote_write"]);
    assert_eq!(in_peers("(cluster.block_rank() + to) % 4", "p[i] = 1;"), [""; 0]);
}
