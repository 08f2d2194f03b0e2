//! What tells a thread nothing of others: methods of elements, tests of barriers that nobody heeds, numbers on which a block agrees; and
//! loops over numbers that the text lists.

use super::traces::in_block;
use super::{rules, session};

/// The rules that a file with these items and this body of a kernel breaks.
fn with_items(items: &str, body: &str) -> Vec<String> {
    let faults = session().check_file(&format!(
        "{items}
        #[cluster_kernel(block = 64)] fn learns(rows: &mut [Row], n: u32, tickets: &mut [u32]) {{
            let block = this_thread_block(); let t = block.thread_rank();
            let s = shared_array::<Row, 64>(); {body}
        }}"
    ));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

const ROW: &str = "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Row { a: u32 }
    #[device] impl Row {
        fn plus(self, other: Row) -> Row { Row { a: self.a + other.a } }
        fn add(&mut self, other: Row) { self.a += other.a; }
    }";

/// A method may change the element that it is called on, and orders nothing.
#[test]
fn methods_of_elements() {
    for body in [
        "s[t] = rows[t]; block.sync(); let x = s[(t + 1) % 64]; s[t] = s[t].plus(x);",
        "s[t] = rows[t]; let x = s[t].plus(s[63 - t]); rows[t] = x;",
        "s[t] = rows[t]; let x = s[63 - t]; s[t].add(x); rows[t] = x;",
    ] {
        assert_eq!(with_items(ROW, body), ["unsynchronized_access"], "{body}");
    }
    for body in [
        "s[t] = rows[t]; block.sync(); let x = s[(t + 1) % 64]; block.sync(); s[t] = s[t].plus(x);",
        "s[t] = rows[t]; block.sync(); let x = s[t].plus(s[63 - t]); rows[t] = x;",
        "s[t] = rows[t]; s[t].add(rows[0]); block.sync(); rows[t] = s[63 - t];",
    ] {
        assert_eq!(with_items(ROW, body), [""; 0], "{body}");
    }
}

/// A warp's barrier orders nothing between two warps, whatever permutes the threads.
#[test]
fn all_threads_of_small_blocks() {
    let permuted = |barrier: &str| with_items(ROW, &format!("s[t * 5 % 64] = rows[t]; {barrier} rows[t] = s[t];"));
    assert_eq!(permuted("tiled_partition::<32>(&block).sync();"), ["unsynchronized_access"]);
    assert_eq!(permuted("block.sync();"), [""; 0]);
}

/// One field of an element is no other one, and is the same wherever it is named.
#[test]
fn fields_and_functions() {
    const PAIR: &str = "#[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Row { a: u32, b: u32, c: [u32; 2] }";
    for (body, is_wrong) in [
        ("s[t].a = n; s[t].b = t; BARRIER tickets[t] = s[63 - t].a + s[63 - t].b;", true),
        ("s[t].a = n; BARRIER tickets[t] = s[63 - t].b;", false),
        ("s[t].c[0] = n; BARRIER tickets[t] = s[63 - t].c[1];", false),
        ("s[t].a = n; BARRIER tickets[t] = s[t.abs_diff(20)].a;", true),
        ("if rows.is_empty() { return; } s[t].a = n; BARRIER tickets[t] = s[63 - t].a;", true),
        ("s[t].a = n; BARRIER if !t.is_multiple_of(2) { tickets[t] = s[t - 1].a; }", true),
    ] {
        let expected = if is_wrong { &["unsynchronized_access"][..] } else { &[] };
        assert_eq!(with_items(PAIR, &body.replace("BARRIER", "")), expected, "{body}");
        assert_eq!(with_items(PAIR, &body.replace("BARRIER", "block.sync();")), [""; 0], "{body}");
    }
}

/// A row that is written as a whole is written in each of its elements; a matrix is read where it lies.
#[test]
fn rows_and_matrices() {
    let row = |barrier: &str| {
        in_block(&format!(
            "let parts = shared_array::<[u32; 2], 4>();
            if warp.thread_rank() == 0 {{ parts[warp.meta_group_rank()] = [input[0], input[1]]; }}
            {barrier}
            if t == 0 {{ out[0] = parts[1][1]; }}"
        ))
    };
    assert_eq!(row(""), ["unsynchronized_access"]);
    assert_eq!(row("block.sync();"), [""; 0]);
    let prefetched = |left: u32| {
        super::rules(&format!(
            "#[cluster_kernel(block = 64)] fn multiplies(a: &[[bf16; 16]], out: &mut [u32], parts: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let left = shared_array::<[[bf16; 16]; 32], 3>();
                let mut sum = 0;
                for p in 0..parts.min(2) {{ memcpy_async(&block, &left[p], &a[p * 32..(p + 1) * 32]); }}
                for p in 0..parts {{
                    if p + 1 < parts {{ block.wait_prior::<{left}>(); }} else {{ block.wait_async(); }}
                    let x: MatrixA<bf16, 16, 16> = warp.load_matrix(&left[p % 3], 0, 0);
                    sum += x[0].to_f32() as u32;
                    block.sync();
                    if p + 2 < parts {{ memcpy_async(&block, &left[(p + 2) % 3], &a[(p + 2) * 32..(p + 3) * 32]); }}
                }}
                out[block.thread_rank()] = sum;
            }}"
        ))
    };
    assert_eq!(prefetched(1), [""; 0]);
    assert_eq!(prefetched(2), ["copy_in_flight"]);
}

#[test]
fn numbers_that_the_text_lists() {
    for list in [
        "[64, 32, 16, 8]",
        "&[64, 32, 16, 8]",
        "[64u32, 32, 16, 8].iter().copied()",
        "[8, 16, 32, 64].into_iter().rev()",
    ] {
        let sums = |meets: &str| {
            let pattern = if list.starts_with('&') { "&half" } else { "half" };
            in_block(&format!(
                "s[t] = input[t]; block.sync();
                for {pattern} in {list} {{ if t < half {{ s[t] += s[t + half]; }} {meets} }}
                if t == 0 {{ out[0] = s[0]; }}"
            ))
        };
        assert_eq!(sums(""), ["unsynchronized_access"], "{list}");
        assert_eq!(sums("block.sync();"), [""; 0], "{list}");
    }
}

/// Whatever tile a scheduler gives out, all threads of the block have the same one.
#[test]
fn numbers_that_a_block_agrees_on() {
    let of_ticket = |meets: &str, guard: &str| {
        in_block(&format!(
            "if t == 0 {{ u[0] = out.atomic(0).fetch_add(1, Relaxed); }}
            block.sync();
            let tile = u[0];
            if t == 0 {{ s[0] = 1; }}
            {meets}
            if {guard} {{ out[tile * 128 + t] = s[0]; }}"
        ))
    };
    for guard in ["tile * 128 + t < 500", "(tile + 1) * 128 <= n + t", "tile < 500", "t < 60"] {
        assert_eq!(of_ticket("", guard), ["unsynchronized_access"], "{guard}");
        assert_eq!(of_ticket("block.sync();", guard), [""; 0], "{guard}");
    }
}

/// A test of a barrier that may fail is no wait, unless a thread goes on only where it has not failed.
#[test]
fn tests_of_barriers() {
    let tested = |test: &str| {
        in_block(&format!(
            "let bar = shared_barrier(); bar.init_collective(&block, 128);
            s[t] = input[t];
            let token = bar.arrive();
            let mut spun = 0;
            {test}
            out[t] = s[127 - t] + spun;"
        ))
    };
    for test in [
        "if !bar.try_wait(&token) { spun += 1; }",
        "if bar.try_wait(&token) { spun += 1; }",
        "let done = bar.try_wait(&token); if !done { spun += 1; }",
        "bar.try_wait(&token);",
    ] {
        assert_eq!(tested(test), ["unsynchronized_access"], "{test}");
    }
    for test in [
        "while !bar.try_wait(&token) { spun += 1; }",
        "loop { if bar.try_wait(&token) { break; } }",
        "if !bar.try_wait(&token) { bar.wait(token); }",
        "if !bar.try_wait(&token) { return; }",
    ] {
        assert_eq!(tested(test), [""; 0], "{test}");
    }
}

/// Threads that have waited for the same phases are ordered by them with others, and not with each other.
#[test]
fn threads_that_have_waited_alike() {
    let ring = |fill: &str, read: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)] fn sums(x: &[f32], out: &mut [f32], n: u32) {{
                let block = this_thread_block(); let t = block.thread_rank();
                let s = shared_array::<[f32; 64], 2>();
                let full = shared_barriers::<2>(); let empty = shared_barriers::<2>();
                full.init_collective(&block, 64); empty.init_collective(&block, 64);
                if t < 64 {{
                    for k in 0..n {{
                        empty[k % 2].wait_parity(k / 2 % 2 == 0);
                        {fill}
                        let _ = full[k % 2].arrive();
                    }}
                }} else {{
                    let mut sum = 0.0;
                    for k in 0..n {{
                        full[k % 2].wait_parity(k / 2 % 2 == 1);
                        {read}
                        let _ = empty[k % 2].arrive();
                    }}
                    out[t - 64] = sum;
                }}
            }}"
        ))
    };
    let (fill, read) = ("s[k % 2][t] = x[k * 64 + t];", "sum += s[k % 2][127 - t];");
    assert_eq!(ring(fill, read), [""; 0]);
    assert_eq!(ring("s[k % 2][t / 2] = x[k * 64 + t];", read), ["unsynchronized_access"]);
    assert_eq!(ring("s[k % 2][t] = x[k * 64 + t]; s[k % 2][63 - t] += 1.0;", read).len(), 1);
    let group = |last: &str| {
        rules(&format!(
            "#[cluster_kernel(block = 128)] fn turns(x: &[f32], out: &mut [f32]) {{
                let block = this_thread_block(); let t = block.thread_rank();
                let s = shared_array::<f32, 64>(); let half = shared_barrier();
                half.init_collective(&block, 64);
                if t < 64 {{
                    s[t] = x[t];
                    half.arrive_and_wait();
                    let y = s[63 - t];
                    {last}
                    s[t] = y;
                    half.arrive_and_wait();
                    out[t] = s[(t + 1) % 64];
                }}
            }}"
        ))
    };
    assert_eq!(group("half.arrive_and_wait();"), [""; 0]);
    assert_eq!(group("").len(), 1);
}

/// Lanes that have all waited as the thread has tell it nothing when their warp meets; one that has waited for something else may.
#[test]
fn warps_whose_lanes_have_waited_alike() {
    let kernel = |rows: usize, row: &str, arrives: &str, between: &str, count: u32| {
        format!(
            "#[cluster_kernel(block = 128)] fn rounds(x: &[f32], out: &mut [f32], n: u32) {{
                let block = this_thread_block();
                let warp = tiled_partition::<32>(&block);
                let lane = warp.thread_rank();
                let i = block.thread_rank();
                let v = shared_array::<[f32; 128], {rows}>();
                let bar = shared_barrier();
                let read = shared_barrier();
                bar.init_collective(&block, {count});
                read.init_collective(&block, 128);
                for k in 0..n {{
                    v[{row}][i] = x[k * 128 + i];
                    warp.sync();
                    {arrives}
                    bar.wait_parity(k % 2 == 1);
                    out[k * 128 + i] = v[{row}][127 - i];
                    {between}
                }}
            }}"
        )
    };
    let arrivals = [
        ("if lane == 0 { let _ = bar.arrive_n(32); }", 128),
        ("if lane == 0 { let _ = bar.arrive(); }", 4),
        ("let _ = bar.arrive();", 128),
        (
            "let all = warp.all(x[i] > 0.0); if lane == 0 && all { let _ = bar.arrive(); } else if lane == 0 { let _ = bar.arrive(); }",
            4,
        ),
    ];
    for (arrives, count) in arrivals {
        for between in ["", "warp.sync();", "out[i] += warp.shfl(x[i], 0);"] {
            let wrong = kernel(1, "0", arrives, between, count);
            assert_eq!(rules(&wrong), ["unsynchronized_access"], "{wrong}");
        }
        let right = kernel(2, "k % 2", arrives, "", count);
        assert_eq!(rules(&right), [""; 0], "{right}");
        for between in [
            "block.sync();",
            "let _ = read.arrive(); read.wait_parity(k % 2 == 1);",
            // One lane waits for the whole warp.
            "let _ = read.arrive(); if lane == 0 { read.wait_parity(k % 2 == 1); } warp.sync();",
            "let _ = read.arrive(); if lane == 3 { while !read.try_wait_parity(k % 2 == 1) {} } out[i] += warp.shfl(x[i], 3);",
        ] {
            let right = kernel(1, "0", arrives, between, count);
            assert_eq!(rules(&right), [""; 0], "{right}");
        }
    }
}
