//! Tests of constants whose values the file shows: the verdict is that on the kernel with literals, and rustc confirms the values.

use super::session;

const FILE: &str = "const THREADS: u32 = 64; const N: usize = THREADS as usize; pub const HALF: u32 = THREADS / 2;
    const LEFT: u32 = 0; const RIGHT: u32 = 1; const BLOCKS: u32 = 4; const ROUNDS: u32 = 2; const TWICE: u32 = 1;
    mod other { pub const TWICE: u32 = 2; }
    mod sizes { pub const STEP: u32 = 8; } impl Shape { const STEP_BACK: u32 = 1; }
    const PAIRS: [(i32, f32); 2] = [(-1, 0.5), (1, 0.25)]; static ROWS: [[u32; 2]; 2] = [[1, 2], [3, 4]];
    const LIST: &[u32] = &[1, 8];";

/// Returns the rules that a kernel in the file breaks.
#[track_caller]
fn broken(options: &str, body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let item = format!(
        "fn kernel(x: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            {body}
        }}"
    );
    let faults = session().check_kernel_in(FILE, parse(options), parse(&item));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

/// What is refused without the values, and right with them.
#[test]
fn right_with_the_values() {
    let cluster = "let cluster = this_cluster(); let rank = cluster.block_rank();";
    for (options, body) in [
        (
            "cluster = 4, block = 64",
            "let s = shared_array::<[u32; 64], { BLOCKS as usize }>();
            for c in 0..BLOCKS { s[c][i] = x[c]; }
            cluster.sync();
            let left = cluster.map_shared_rank(&s, (rank + BLOCKS - 1) % BLOCKS);
            for k in 0..BLOCKS - 1 { let c = (rank + BLOCKS - 1 - k) % BLOCKS; s[c][i] += left[c][i]; cluster.sync(); }",
        ),
        (
            "cluster = 4, block = 64",
            "let s = shared_array::<u32, N>(); s[i] = n; cluster.sync();
            out[i] = cluster.map_shared_rank(&s, 0)[i];
            for _ in 0..ROUNDS { cluster.sync(); }",
        ),
        ("cluster = 4, block = 64", "if this_grid().block_rank() / BLOCKS as usize >= n as usize { return; } cluster.sync();"),
    ] {
        assert!(broken(options, &format!("{cluster} {body}")).is_empty(), "{body}");
        // Another value.
        let wrong = body.replace("BLOCKS - 1 - k) % BLOCKS", "2 * k) % BLOCKS").replace("0..ROUNDS", "0..LEFT");
        let wrong = wrong.replace("/ BLOCKS as usize", "/ ROUNDS as usize");
        assert!(!broken(options, &format!("{cluster} {wrong}")).is_empty(), "{wrong}");
    }
}

/// What passes without the values, and is wrong with them.
#[test]
fn wrong_with_the_values() {
    let one = "let bar = shared_barrier();";
    let two = "let bars = shared_barriers::<2>(); bars.init_collective(&block, THREADS);";
    for (body, rule) in [
        (format!("{one} bar.init_collective(&block, HALF); bar.arrive_and_wait();"), "barrier_count"),
        (format!("{one} bar.init_collective(&block, THREADS + 1); bar.arrive_and_wait();"), "barrier_count"),
        (format!("{one} bar.init_collective(&block, super::THREADS + 1); bar.arrive_and_wait();"), "barrier_count"),
        (
            format!(
                "{two} let l = bars[LEFT].arrive(); let r = bars[RIGHT].arrive(); bars[LEFT].wait(r); bars[RIGHT].wait(l);"
            ),
            "barrier_token_mixed",
        ),
    ] {
        assert!(broken("block = 64", &body).contains(&rule.to_string()), "{body}");
        let right = body.replace("HALF", "THREADS").replace("THREADS + 1", "THREADS");
        let right =
            right.replace("bars[LEFT].wait(r); bars[RIGHT].wait(l);", "bars[LEFT].wait(l); bars[RIGHT].wait(r);");
        assert!(broken("block = 64", &right).is_empty(), "{right}");
    }
}

/// Names that may not be the file's constants: of a local, a parameter, a field, a type, with two definitions.
#[test]
fn what_is_not_replaced() {
    let bar = "let bar = shared_barrier();";
    for body in [
        format!("let HALF = n; {bar} bar.init_collective(&block, HALF); bar.arrive_and_wait();"),
        format!("const HALF: u32 = 64; {bar} bar.init_collective(&block, HALF); bar.arrive_and_wait();"),
        format!("{bar} bar.init_collective(&block, Other::HALF); bar.arrive_and_wait();"),
        format!("{bar} bar.init_collective(&block, other::TWICE * 32); bar.arrive_and_wait();"),
        format!("{bar} bar.init_collective(&block, sizes().HALF); bar.arrive_and_wait();"),
        format!("{bar} bar.init_collective(&block, THREADS / TWICE); bar.arrive_and_wait();"),
    ] {
        assert!(broken("block = 64", &body).is_empty(), "{body}");
    }
    // The end of a range is one of them.
    let ranges = "for _ in LEFT..HALF { out[i] = n; }";
    assert!(broken("block = 64", ranges).is_empty());
}

/// Threads meet at indexes by constants of modules and types, and by tables of several dimensions, with signs and beside floats.
#[test]
fn races_at_constants() {
    for read in [
        "out[i] = s[(i + sizes::STEP) % THREADS];",
        "out[i] = s[(i + THREADS - Shape::STEP_BACK) % 64];",
        "for (by, _) in PAIRS { out[i] += s[(i as i32 + by).rem_euclid(64) as u32]; }",
        "for a in 0..2 { for b in 0..2 { out[i] += s[(i + ROWS[a][b]) % 64]; } }",
        "out[i] = s[(i + LIST[(i % 2) as usize]) % 64];",
    ] {
        let body = |sync: &str| format!("let s = shared_array::<u32, 64>(); s[i] = x[i]; {sync} {read}");
        assert_eq!(broken("block = 64", &body("")), ["unsynchronized_access"], "{read}");
        assert!(broken("block = 64", &body("block.sync();")).is_empty(), "{read}");
    }
    // Other names of the same words, and what leads to a thread's own element.
    for read in [
        "s[i + elsewhere::STEP]",
        "s[i + sizes::STEP()]",
        "s[i + sizes::inner::STEP]",
        "s[i + Shape::STEP]",
        "s[(i + sizes::STEP * 8) % 64]",
        "s[(i + ROWS[0][0] * 64) % 64]",
    ] {
        let body = format!("let s = shared_array::<u32, 64>(); s[i] = x[i]; out[i] = {read};");
        let found = broken("block = 64", &body);
        assert!(!found.contains(&"unsynchronized_access".to_string()), "{read}");
    }
}

/// A branch about which a constant decides has one arm, for all checks.
#[test]
fn branches_on_constants() {
    let head = "let cluster = this_cluster(); let s = shared_array::<u32, N>(); s[i] = n; cluster.sync();
        out[i] = cluster.map_shared_rank(&s, 0)[i];";
    let broken =
        |condition: &str| broken("cluster = 4, block = 64", &format!("{head} if {condition} {{ cluster.sync(); }}"));
    for right in [
        "ROUNDS > 1",
        "ROUNDS >= RIGHT + 1",
        "RIGHT == 1",
        "!(ROUNDS < 2)",
        "HALF - 1 != 0",
        "THREADS / HALF == 2",
        "true",
    ] {
        assert!(broken(right).is_empty(), "{right}");
    }
    for wrong in ["ROUNDS > 2", "RIGHT == 0", "HALF * 8 < n", "LEFT != 0", "false", "ROUNDS > RIGHT && n > 0"] {
        assert!(!broken(wrong).is_empty(), "{wrong}");
    }
}

/// What is not executed breaks no rule, and what is executed may.
#[test]
fn arms_that_a_constant_leaves_out() {
    let broken =
        |condition: &str| broken("cluster = 4, block = 64", &format!("if {condition} {{ return; }} block.sync();"));
    assert!(broken("i > 3 && LEFT > 0").is_empty());
    assert!(broken("LEFT > 0 && i > 3").is_empty());
    assert!(!broken("RIGHT > 0 && i > 3").is_empty());
}
