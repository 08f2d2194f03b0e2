//! Tests of copies that device functions begin, wait for, or whose memory they access.

use super::session;

const NONE: [&str; 0] = [];

/// The device functions of the tests, each of which may call earlier ones.
const FUNCTIONS: [&str; 22] = [
    "fn fetch(block: &ThreadBlock, s: &SharedArray<f32, 64>, x: &[f32]) { memcpy_async(block, s, &x[..64]); }",
    "fn fetch_twice_removed(block: &ThreadBlock, s: &SharedArray<f32, 64>, x: &[f32]) { fetch(block, s, x); }",
    "fn fetch_and_wait(block: &ThreadBlock, s: &SharedArray<f32, 64>, x: &[f32]) { fetch(block, s, x); block.wait_async(); }",
    "fn finish(block: &ThreadBlock) { block.wait_async(); }",
    "fn finish_removed(block: &ThreadBlock) { finish(block); }",
    "fn fetch_if(block: &ThreadBlock, s: &SharedArray<f32, 64>, x: &[f32], go: bool) { if go { memcpy_async(block, s, &x[..64]); } }",
    "fn first(a: &SharedArray<f32, 64>) -> f32 { a[0] }",
    "fn sum(a: &SharedArray<f32, 64>, n: u32) -> f32 { let mut s = 0.0; for i in 0..n { s += a[i]; } s }",
    "fn sum_removed(a: &SharedArray<f32, 64>, n: u32) -> f32 { sum(a, n) + 1.0 }",
    "fn clear(a: &SharedArray<f32, 64>, i: u32) { a[i] = 0.0; }",
    "fn wait_and_sum(block: &ThreadBlock, a: &SharedArray<f32, 64>, n: u32) -> f32 { finish(block); sum(a, n) }",
    "fn square(x: f32) -> f32 { x * x }",
    "fn load(i: u32, s: &SharedArray<f32, 64>, x: &[f32], bar: &Barrier) { if i == 0 { bar.expect_tx(256); bulk_copy_async(s, &x[..64], bar); let _ = bar.arrive(); } }",
    "fn load_elected(s: &SharedArray<f32, 64>, x: &[f32], bar: &Barrier) { if this_thread_block().thread_rank() == 0 { bar.expect_tx(256); bulk_copy_async(s, &x[..64], bar); let _ = bar.arrive(); } }",
    "fn load_by_caller(s: &SharedArray<f32, 64>, x: &[f32], bar: &Barrier) { bar.expect_tx(256); bulk_copy_async(s, &x[..64], bar); let _ = bar.arrive(); }",
    "fn wait_at(bar: &Barrier) { bar.wait_parity(false); }",
    "fn ignore(bar: &Barrier) { let _ = bar; }",
    "fn store(s: &SharedArray<f32, 64>, out: &mut [f32]) { bulk_copy_async(&mut out[..64], s); }",
    "fn store_done() { bulk_wait_group_read::<0>(); }",
    "fn store_written() { bulk_wait_group::<0>(); }",
    "fn read_first(out: &mut [f32]) -> f32 { out[3] }",
    "fn apply(f: impl Fn(u32) -> f32) -> f32 { f(0) }",
];

/// Returns the rules that a kernel of 64 threads with this body breaks.
fn broken(body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let kernel = format!(
        "fn kernel(x: &[f32], y: &mut [f32], out: &mut [f32]) {{
            let block = this_thread_block();
            let s = shared_array::<f32, 64>();
            let other = shared_array::<f32, 64>();
            let bar = shared_barrier();
            bar.init_collective(&block, 1);
            let t = block.thread_rank();
            {body}
        }}"
    );
    let functions = FUNCTIONS.iter().map(|text| parse(text)).collect();
    let faults = session().check_program(functions, (parse("block = 64"), parse(&kernel)));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

#[track_caller]
fn right(body: &str) {
    assert_eq!(broken(body), NONE, "{body}");
}

#[track_caller]
fn wrong(body: &str) {
    let rules = broken(body);
    assert!(!rules.is_empty() && rules.iter().all(|rule| rule == "copy_in_flight"), "{body}: {rules:?}");
}

/// A function begins a copy, and the kernel accesses what it writes.
#[test]
fn a_copy_that_a_function_leaves() {
    for fetch in ["fetch(&block, &s, x);", "fetch_twice_removed(&block, &s, x);"] {
        for access in
            ["out[t] = s[63 - t];", "s[t] = 1.0;", "out[t] = first(&s);", "clear(&s, t);", "out[t] = square(s[0]);"]
        {
            wrong(&format!("{fetch} {access} block.wait_async();"));
            wrong(&format!("{fetch} block.sync(); {access} block.wait_async();"));
            wrong(&format!("{fetch} let y = square(2.0); {access} block.wait_async();"));
            right(&format!("{fetch} block.wait_async(); {access}"));
            right(&format!("{fetch} finish(&block); {access}"));
            right(&format!("{fetch} finish_removed(&block); {access}"));
            right(&format!("fetch_and_wait(&block, &s, x); {access}"));
        }
        right(&format!("{fetch} other[t] = 1.0; out[t] = other[t]; block.wait_async();"));
        wrong(fetch);
        // A wait on one of the paths may be another thread's.
        right(&format!("{fetch} if x.len() == 1 {{ finish(&block); }} block.wait_async(); out[t] = s[0];"));
    }
    right("fetch_if(&block, &s, x, false); s[t] = 1.0;");
}

/// The kernel begins a copy, and a function accesses what it writes.
#[test]
fn memory_that_a_function_accesses() {
    let copy = "memcpy_async(&block, &s, &x[..64]);";
    for access in ["out[t] = first(&s);", "out[t] = sum(&s, t);", "out[t] = sum_removed(&s, t);", "clear(&s, t);"] {
        wrong(&format!("{copy} {access} block.wait_async();"));
        right(&format!("{copy} block.wait_async(); {access}"));
        right(&format!("{copy} finish(&block); {access}"));
    }
    right(&format!("{copy} out[t] = wait_and_sum(&block, &s, t);"));
    right(&format!("{copy} clear(&other, t); block.wait_async();"));
    right(&format!("{copy} out[t] = square(x[t]); block.wait_async(); out[t] = s[t];"));
    wrong(&format!("{copy} out[t] = apply(|i| s[i]); block.wait_async();"));
    // A function that waits for something else.
    wrong(&format!("{copy} store_done(); out[t] = first(&s); block.wait_async();"));
    wrong(&format!("{copy} ignore(&bar); out[t] = s[0]; block.wait_async();"));
}

/// Copies that complete on a barrier.
#[test]
fn a_barrier_that_a_function_is_given() {
    let by_one = "if t == 0 { load_by_caller(&s, x, &bar); }";
    for load in [by_one, "load_elected(&s, x, &bar);"] {
        wrong(&format!("{load} out[t] = s[t]; bar.wait_parity(false);"));
        wrong(&format!("{load} out[t] = first(&s); wait_at(&bar);"));
        wrong(&format!("{load} ignore(&bar); out[t] = s[t]; bar.wait_parity(false);"));
        right(&format!("{load} bar.wait_parity(false); out[t] = s[t];"));
        right(&format!("{load} wait_at(&bar); out[t] = first(&s);"));
        right(&format!("{load} if t == 0 {{ wait_at(&bar); }} block.sync(); out[t] = s[t];"));
    }
    let own = "if t == 0 { bar.expect_tx(256); bulk_copy_async(&s, &x[..64], &bar); let _ = bar.arrive(); }";
    wrong(&format!("{own} out[t] = sum(&s, t); wait_at(&bar);"));
    right(&format!("{own} wait_at(&bar); out[t] = sum(&s, t);"));
    right("load(t, &s, x, &bar); wait_at(&bar); out[t] = s[t];");
}

/// Bulk copies to global memory: the wait for the reads, and that for the writes.
#[test]
fn both_ends_of_a_copy() {
    let fill = "s[t] = x[t]; block.sync();";
    for store in ["bulk_copy_async(&mut out[..64], &s);", "store(&s, out);"] {
        let is_function = store.starts_with("store");
        right(&format!("{fill} if t == 0 {{ {store} bulk_wait_group_read::<0>(); s[3] = 1.0; }}"));
        right(&format!("{fill} if t == 0 {{ {store} store_done(); s[3] = 1.0; }}"));
        right(&format!("{fill} if t == 0 {{ {store} store_written(); s[3] = 1.0; y[0] = out[3]; }}"));
        wrong(&format!("{fill} if t == 0 {{ {store} s[3] = 1.0; store_done(); }}"));
        right(&format!(
            "{fill} if t == 0 {{ {store} bulk_wait_group_read::<0>(); y[3] = 1.0; bulk_wait_group::<0>(); }}"
        ));
        if !is_function {
            right(&format!("{fill} if t == 0 {{ {store} bulk_wait_group_read::<0>(); out[64] = 1.0; }}"));
            wrong(&format!("{fill} if t == 0 {{ {store} bulk_wait_group_read::<0>(); y[0] = out[3]; }}"));
            wrong(&format!(
                "{fill} if t == 0 {{ {store} store_done(); out[64] = out[3] + 1.0; bulk_wait_group::<0>(); }}"
            ));
        }
    }
}

/// A thread waits for its own bulk copies alone.
#[test]
fn bulk_copies_of_another_thread() {
    let fill = "s[t] = x[t]; block.sync();";
    let reuse = "block.sync(); s[t] = 0.0;";
    for store in ["bulk_copy_async(&mut out[..64], &s);", "store(&s, out);"] {
        for wait in ["bulk_wait_group_read::<0>();", "store_done();"] {
            for [one, other] in [
                ["t == 0", "t == 32"],
                ["t < 1", "t >= 32"],
                ["t / 32 == 0 && t == 3", "t / 32 == 1"],
                ["t == 1", "t != 1"],
            ] {
                wrong(&format!("{fill} if {one} {{ {store} }} if {other} {{ {wait} }} {reuse}"));
                right(&format!("{fill} if {one} {{ {store} }} if {one} {{ {wait} }} {reuse}"));
                right(&format!("{fill} if {one} {{ {store} {wait} }} {reuse}"));
                right(&format!("{fill} if {one} {{ {store} }} {wait} {reuse}"));
            }
            wrong(&format!("{fill} if t == 0 {{ {store} }} else {{ {wait} }} {reuse}"));
            right(&format!("{fill} if t == 0 {{ {store} }} if t < 32 {{ {wait} }} {reuse}"));
            right(&format!(
                "{fill} if t == 0 {{ {store} }} if t == 0 && x.len() > 1 {{ {wait} }} else if t == 0 {{ {wait} }} {reuse}"
            ));
        }
    }
}

/// The global source of a copy is not written before a wait.
#[test]
fn a_global_source() {
    for (copy, wait) in
        [("memcpy_async(&block, &s, &y[..64]);", "block.wait_async();"), ("fetch_and_wait(&block, &s, y);", "")]
    {
        right(&format!("{copy} {wait} y[t] = 0.0;"));
    }
    let copy = "memcpy_async(&block, &s, &y[..64]);";
    for write in ["y[t] = 0.0;", "y[5] = 0.0;", "if t == 7 { y[63] = 0.0; }"] {
        wrong(&format!("{copy} {write} block.wait_async();"));
        right(&format!("{copy} finish(&block); {write}"));
    }
    for write in
        ["out[t] = 0.0;", "y[64] = 0.0;", "out[t] = y[t];", "y[64 + t] = 0.0;", "if t > 0 { y[63 + t] = 0.0; }"]
    {
        right(&format!("{copy} {write} block.wait_async();"));
    }
}
