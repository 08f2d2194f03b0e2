//! Traces of memory under several names and of other elements than numbers: dynamic slices that have bytes in common, tuples, vectors in rows, a warp's
//! copy; methods that are given memory that nothing writes; and all threads of a block of usual size.

use super::traces::in_block;
use super::{rules, session};

const RACE: [&str; 1] = ["unsynchronized_access"];

fn need_barriers(kernels: &[&str]) {
    for kernel in kernels {
        assert_eq!(rules(&kernel.replace("<sync>", "block.sync();")), [""; 0], "{kernel}");
        assert_eq!(rules(&kernel.replace("<sync>", "")), RACE, "{kernel}");
    }
}

#[test]
fn slices_in_common() {
    for (first, second, one) in [
        ("<f32>(0, 64)", "<f32>(0, 64)", "1.0"),
        ("<f32>(0, 64)", "<f32>(128, 64)", "1.0"),
        ("<u32>(0, 64)", "<u8>(0, 256)", "1"),
        ("<f64>(0, 64)", "<f32>(0, 128)", "1.0"),
        ("<f32>(64 * 4, 64)", "<f32>(256, 64)", "1.0"),
    ] {
        let zero = if first.starts_with("<f") { "0.0" } else { "0" };
        let of = |sync: &str| {
            rules(&format!(
                "#[cluster_kernel(block = 64, shared_bytes = 1024)] fn lives(out: &mut [u32]) {{
                    let block = this_thread_block(); let t = block.thread_rank();
                    let a = dynamic_shared_slice::{first}; let b = dynamic_shared_slice::{second};
                    a[t] = {zero}; block.sync(); out[t] = a[63 - t] as u32; {sync} b[t] = {one};
                }}"
            ))
        };
        assert_eq!(of(""), RACE, "{first} {second}");
        assert_eq!(of("block.sync();"), [""; 0], "{first} {second}");
    }
    // Of three slices, two have bytes in common.
    let beside = |written: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 64, shared_bytes = 1024)] fn parts(out: &mut [u32]) {{
                let block = this_thread_block(); let t = block.thread_rank(); let a = dynamic_shared_slice::<u32>(0, 64);
                let b = dynamic_shared_slice::<u32>(256, 64); let c = dynamic_shared_slice::<u32>(128, 32);
                a[t] = 0; block.sync(); out[t] = a[63 - t]; if t < 32 {{ {written}[t] = 1; }}
            }}"
        ))
    };
    assert_eq!(beside("b"), [""; 0]);
    assert_eq!(beside("c"), RACE);
}

#[test]
fn pairs_and_rows() {
    need_barriers(&[
        "#[cluster_kernel(block = 128)] fn extremes(x: &[f32], out: &mut [f32]) {
            let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<[f32; 2], 128>();
            s[t] = [x[t], x[t]]; block.sync();
            let mut half = 64;
            while half > 0 { if t < half { let (a, b) = (s[t], s[t + half]); s[t] = [a[0].min(b[0]), a[1].max(b[1])]; } <sync> half /= 2; }
            if t == 0 { out[0] = s[0][0]; }
        }",
        "#[cluster_kernel(block = 128)] fn rows(x: &[u32], out: &mut [u32]) {
            let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<[u32; 4], 128>();
            s[t].store_vec(0, x.load_vec::<4>(t * 4)); <sync> out[t] = s[127 - t][2];
        }",
    ]);
}

/// A copy of a warp begins for each lane when the lane comes to it.
#[test]
fn copies_of_a_warp() {
    let refilled = |sync: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 32)] fn refills(input: &[u32], out: &mut [u32], rounds: u32) {{
                let warp = tiled_partition::<32>(&this_thread_block()); let lane = warp.thread_rank();
                let a = shared_array::<u32, 32>(); let mut sum = 0;
                for k in 0..rounds {{
                    memcpy_async(&warp, &a, &input[k * 32..(k + 1) * 32]); warp.wait_async();
                    sum += a[31 - lane]; {sync}
                }}
                out[lane] = sum;
            }}"
        ))
    };
    assert_eq!(refilled(""), RACE);
    assert_eq!(refilled("warp.sync();"), [""; 0]);
}

/// A method learns nothing of other threads by memory that nothing writes.
#[test]
fn methods_that_read() {
    let fetched = |sync: &str| {
        let faults = session().check_file(&format!(
            "#[device] pub trait Source {{ fn fetch(source: &[u32], i: u32) -> u32; fn mix(self, other: u32) -> u32; }}
            #[cluster_kernel(block = 64)] fn fetches<T: Source>(input: &[u32], out: &mut [u32]) {{
                let block = this_thread_block(); let t = block.thread_rank(); let s = shared_array::<u32, 64>();
                s[t] = T::fetch(input, t); let other = T::fetch(input, t + 1); {sync} out[t] = s[63 - t] + other;
            }}"
        ));
        faults.iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(fetched(""), RACE);
    assert_eq!(fetched("block.sync();"), [""; 0]);
}

/// A permutation has no distance at which threads meet, and pairs of all warps meet behind the barrier of one.
#[test]
fn all_threads_of_a_block() {
    for body in [
        "s[t * 5 % 128] = input[t]; <sync> out[t] = s[t];",
        "if t == 9 { s[3] = input[0]; } <sync> out[t] = s[3];",
        "s[t] = input[t]; <sync> let x = t as i32 - 5; let k = if x < 0 { x + 128 } else { x }; out[t] = s[k as u32];",
        "s[t] = input[t]; <sync> out[t] = s[t * t % 127];",
    ] {
        assert_eq!(in_block(&body.replace("<sync>", "block.sync();")), [""; 0], "{body}");
        assert_eq!(in_block(&body.replace("<sync>", "warp.sync();")), RACE, "{body}");
    }
}

/// What threads send to their own block, no other thread of it may access before it has waited.
#[test]
fn sends_to_the_own_block() {
    let sends = |first: &str, after: &str, last: &str| {
        rules(&format!(
            "#[cluster_kernel(cluster = 2, block = 64)] fn sends(x: &[u32], out: &mut [u32]) {{
                let cluster = this_cluster(); let block = this_thread_block();
                let (i, me) = (block.thread_rank(), cluster.block_rank());
                let inbox = shared_array::<u32, 128>(); let full = shared_cluster_barrier();
                full.init_collective(&cluster, 1);
                if i == 0 {{ full.expect_tx(256); let _ = full.arrive(); }}
                {first}
                cluster.map_shared_rank(&inbox, me).store_async(i, x[i], &cluster.map_shared_rank(&full, me));
                {after}
                full.wait_parity(false);
                {last}
                out[cluster.thread_rank()] = inbox[i];
            }}"
        ))
    };
    for (first, after, last) in [
        ("", "", ""),
        ("inbox[63 - i] = 0; block.sync();", "", ""),
        ("", "inbox[64 + i] = 3;", ""),
        ("", "", "block.sync(); inbox[i] += 1;"),
    ] {
        assert_eq!(sends(first, after, last), [""; 0], "{first} {after} {last}");
    }
    assert_eq!(sends("", "inbox[i] = 3;", ""), ["copy_in_flight"]);
    assert_eq!(sends("", "out[i] = inbox[i];", ""), ["copy_in_flight"]);
    assert_eq!(sends("", "inbox[63 - i] = 3;", ""), RACE);
    assert_eq!(sends("inbox[63 - i] = 0;", "", ""), RACE);
}

/// A thread begins a copy to what an earlier one of its own may still write.
#[test]
fn copies_that_overlap() {
    let kernel = |memory: &str, first: &str, second: &str, between: &str| {
        format!(
            "#[cluster_kernel(block = 64, shared_bytes = 1024)] fn overlapping(x: &[f32], out: &mut [f32]) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let mem = {memory};
                let full = shared_barriers::<2>();
                full.init_collective(&block, 1);
                if i == 0 {{
                    full[0].expect_tx(256);
                    bulk_copy_async(&mem[{first}], &x[..64], &full[0]);
                    let _ = full[0].arrive();
                    {between}
                    full[1].expect_tx(256);
                    bulk_copy_async(&mem[{second}], &x[64..128], &full[1]);
                    let _ = full[1].arrive();
                }}
                full[0].wait_parity(false);
                full[1].wait_parity(false);
                out[i] = mem[i] + mem[i + 64];
            }}"
        )
    };
    for memory in ["dynamic_shared::<f32>()", "shared_array::<f32, 256>()"] {
        for (first, second) in [("..64", "32..96"), ("0..64", "60..124"), ("64..128", "32..96")] {
            let wrong = kernel(memory, first, second, "");
            assert_eq!(rules(&wrong), ["copy_in_flight"], "{wrong}");
            let right = kernel(memory, first, second, "full[0].wait_parity(false);");
            assert_eq!(rules(&right), [""; 0], "{right}");
        }
        let right = kernel(memory, "..64", "64..128", "");
        assert_eq!(rules(&right), [""; 0], "{right}");
    }
}
