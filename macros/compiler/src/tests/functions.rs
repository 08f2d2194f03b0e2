//! Tests of programs: memory and closures through several functions, whose protocols rustc joins for users.

use super::session;

/// Returns the rules that a kernel breaks which calls these device functions.
fn program(functions: &[&str], body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let kernel = format!(
        "fn kernel(output: &mut [u32]) {{
            let cluster = this_cluster();
            let i = this_thread_block().thread_rank();
            let u = shared_array::<u32, 64>();
            let p = cluster.map_shared_rank(&u, 1 - cluster.block_rank());
            {body}
        }}"
    );
    let functions = functions.iter().map(|text| parse(text)).collect();
    let faults = session().check_program(functions, (parse("cluster = 2, block = 64"), parse(&kernel)));
    faults.iter().map(|fault| fault.rule().to_string()).collect()
}

const NONE: [&str; 0] = [];
const ENTER: &str = "fn enter() { this_cluster().sync(); }";
const FILL: &str = "fn fill(i: u32, x: u32) { let cells = dynamic_shared::<u32>(); cells[i] = x; }";
const READ: &str = "fn read(i: u32) -> u32 {
    let cluster = this_cluster();
    let cells = dynamic_shared::<u32>();
    cluster.map_shared_rank(cells, 1 - cluster.block_rank())[i]
}";

#[test]
fn dynamic_memory_is_one() {
    let all = [ENTER, FILL, READ];
    let with = |body: &str| program(&all, body);
    assert!(with("fill(i, 1); enter(); output[i] = read(i); enter(); fill(i, 2);").is_empty());
    assert_eq!(with("fill(i, 1); cluster.sync(); output[i] = read(i); fill(i, 2); enter();"), ["overwrite_while_read"]);
    let own = "let cells = dynamic_shared_slice::<u32>(64, 64); cells[i] = 1;";
    assert!(with(&format!("{own} enter(); output[i] = read(i); enter();")).is_empty());
    assert_eq!(with(&format!("enter(); {own} output[i] = read(i); enter();")), ["unpublished_remote_read"]);
    let split = "let t = cluster.barrier_arrive(); fill(i, 1); cluster.barrier_wait(t);";
    assert_eq!(with(&format!("{split} output[i] = read(i); enter();")), ["overwrite_while_read"]);
}

/// What a function names through another one is named by it, too.
#[test]
fn dynamic_memory_through_a_function() {
    let through = "fn through(i: u32) -> u32 { enter(); read(i) }";
    let with = |body: &str| program(&[ENTER, FILL, READ, through], body);
    assert!(with("fill(i, 1); output[i] = through(i); enter();").is_empty());
    assert_eq!(with("fill(i, 1); output[i] = through(i); fill(i, 2); enter();"), ["overwrite_while_read"]);
}

#[test]
fn a_part_of_dynamic_memory_as_an_argument() {
    let exchange = "fn exchange(cells: &SharedSlice<u32>, i: u32) -> u32 { cells[i] = 1; read(i) }";
    let through = "fn through(cells: &SharedSlice<u32>, i: u32) -> u32 { exchange(cells, i) }";
    let with = |memory: &str, f: &str| {
        program(&[READ, exchange, through], &format!("cluster.sync(); output[i] = {f}({memory}, i); cluster.sync();"))
    };
    for f in ["exchange", "through"] {
        assert!(with("&u", f).is_empty());
        assert_eq!(with("dynamic_shared_slice::<u32>(0, 64)", f), ["overwrite_while_read"], "{f}");
    }
    // A function that names no dynamic memory may be given all of it.
    let plain = "fn plain(cells: &SharedSlice<u32>, i: u32) { cells[i] = 1; }";
    assert!(
        program(&[plain], "let d = dynamic_shared::<u32>(); plain(d, i); plain(d, i); output[i] = d[0];").is_empty()
    );
}

/// A function's own array is the same in all calls that lead to it.
#[test]
fn arrays_of_functions() {
    let sum = |last: &str| {
        format!(
            "fn sum(x: u32) -> u32 {{
                let (cluster, i) = (this_cluster(), this_thread_block().thread_rank());
                let parts = shared_array::<u32, 64>();
                parts[i] = x;
                cluster.sync();
                let y = cluster.map_shared_rank(&parts, 1 - cluster.block_rank())[i];
                {last}
                y
            }}"
        )
    };
    let (open, closed) = (sum(""), sum("cluster.sync();"));
    let (one, two) = ("fn one(x: u32) -> u32 { sum(x) }", "fn two(x: u32) -> u32 { sum(x) + 1 }");
    let late = "fn late(x: u32) -> u32 { this_cluster().sync(); sum(x) }";
    let calls = |sum: &str, body: &str| program(&[sum, one, two, late], &format!("{body} cluster.sync();"));
    assert_eq!(calls(&open, "output[0] = one(1); output[1] = two(2);"), ["overwrite_while_read"]);
    assert_eq!(calls(&open, "output[0] = late(1); output[1] = one(2);"), ["overwrite_while_read"]);
    assert!(calls(&open, "output[0] = one(1); output[1] = late(2);").is_empty());
    assert!(calls(&open, "output[0] = one(1); cluster.sync(); output[1] = two(2);").is_empty());
    assert!(calls(&closed, "output[0] = one(1); output[1] = two(2); output[2] = one(2);").is_empty());
    // On one of the paths, no barrier comes between.
    let paths =
        "if output.len() == 1 { output[0] = one(1); output[1] = 2; } else { output[0] = one(1); cluster.sync(); }";
    assert_eq!(calls(&open, &format!("{paths} output[1] = two(2);")), ["overwrite_while_read"]);
}

/// A closure's accesses are in each phase in which the function calls it.
#[test]
fn closures_between_barriers() {
    let between = "fn between(cells: &SharedArray<u32, 64>, i: u32, g: impl Fn(u32) -> u32) -> u32 {
        let cluster = this_cluster();
        cluster.sync();
        cells[i] = i;
        let x = g(i);
        cluster.sync();
        x
    }";
    let before = "fn before(cells: &SharedArray<u32, 64>, i: u32, g: impl Fn(u32) -> u32) -> u32 {
        let cluster = this_cluster();
        let x = g(i);
        cluster.sync();
        cells[i] = i;
        cluster.sync();
        x
    }";
    let through =
        "fn through(cells: &SharedArray<u32, 64>, i: u32, g: impl Fn(u32) -> u32) -> u32 { between(cells, i, g) }";
    let filled = "fn filled(i: u32, g: impl Fn(u32) -> u32) -> u32 {
        let cluster = this_cluster();
        cluster.sync();
        fill(i, 1);
        let x = g(i);
        cluster.sync();
        x
    }";
    let with = |call: &str| {
        let body = format!("u[i] = 1; let v = shared_array::<u32, 64>(); let d = dynamic_shared::<u32>();
            let q = cluster.map_shared_rank(d, 1 - cluster.block_rank()); cluster.sync(); output[i] = {call}; cluster.sync();");
        program(&[ENTER, FILL, READ, between, before, through, filled], &body)
    };
    assert!(with("before(&u, i, |k| p[k])").is_empty());
    assert!(with("between(&v, i, |k| p[k])").is_empty());
    assert!(with("filled(i, |k| p[k])").is_empty());
    assert!(with("filled(i, |k| { d[k] = 1; k })").is_empty(), "both are the owner's");
    for call in
        ["between(&u, i, |k| p[k])", "through(&u, i, |k| p[k])", "filled(i, |k| q[k])", "filled(i, |k| read(k))"]
    {
        assert_eq!(with(call), ["overwrite_while_read"], "{call}");
    }
}

/// A read of dynamic memory that only a function writes; one that no function writes is refused.
#[test]
fn writes_of_functions() {
    let read = "let d = dynamic_shared::<u32>(); cluster.sync(); output[i] = d[i];";
    let through = "fn through(i: u32) { fill(i, 1); }";
    let with = |calls: &str| program(&[ENTER, FILL, through], &format!("{calls} {read}"));
    assert!(with("fill(i, 1);").is_empty());
    assert!(with("through(i);").is_empty());
    assert_eq!(with("enter();"), ["uninit_shared_read"]);
    assert_eq!(with(""), ["uninit_shared_read"]);
    assert!(
        program(&["fn first() -> u32 { dynamic_shared::<u32>()[0] }"], "").is_empty(),
        "its caller may write to it"
    );
}

/// A barrier of a function is the same in all calls.
#[test]
fn barriers_of_functions() {
    let meet = |end: &str| {
        format!(
            "fn meet() {{
                let block = this_thread_block();
                let bar = shared_barrier();
                if block.thread_rank() == 0 {{ bar.init(64); }}
                block.sync();
                bar.arrive_and_wait();
                {end}
            }}"
        )
    };
    let ended = "block.sync(); if block.thread_rank() == 0 { bar.invalidate(); } block.sync();";
    let (open, closed) = (meet(""), meet(ended));
    let (one, two) = ("fn one() { meet(); }", "fn two() { this_cluster().sync(); meet(); }");
    let calls = |meet: &str, body: &str| program(&[meet, one, two], body);
    assert!(calls(&open, "meet();").is_empty());
    assert!(calls(&open, "if output.len() == 1 { one(); } else { two(); }").is_empty());
    for twice in ["meet(); meet();", "one(); cluster.sync(); two();", "for _ in 0..2 { one(); }"] {
        assert_eq!(calls(&open, twice), ["barrier_reinit"], "{twice}");
        assert!(calls(&closed, twice).is_empty(), "{twice}");
    }
    let by_all = meet("block.sync(); bar.invalidate(); block.sync();");
    assert_eq!(calls(&by_all, "meet();"), ["barrier_init_not_elected"]);
    let early = meet("if block.thread_rank() == 0 { bar.invalidate(); } block.sync();");
    assert_eq!(calls(&early, "meet();"), ["barrier_unpublished"]);
}

/// A loop whose bound a function returns: with a barrier of the cluster in it, rustc is asked that all blocks agree on the bound.
#[test]
fn bounds_of_loops_that_functions_return() {
    let count = "fn count(n: u32) -> u32 { n / 2 }";
    let rows = "let rows = shared_array::<[u32; 64], 2>(); let peers = cluster.map_shared_rank(&rows, 1 - cluster.block_rank());";
    let turn = "rows[k % 2][i] = k; cluster.sync(); output[i] = peers[k % 2][i];";
    let with = |body: &str| program(&[count], &format!("{rows} {body} cluster.sync();"));
    assert!(with(&format!("for k in 0..count(8) {{ {turn} }}")).is_empty());
    assert!(with(&format!("let n = count(8); let mut k = 0; while k < n {{ {turn} k += 1; }}")).is_empty());
    assert_eq!(with(&format!("for k in 0..count(8) {{ {turn} output[i] = peers[0][i]; }}")), ["overwrite_while_read"]);
    // Names of buffers that are swapped in such a loop.
    let swapped = "let (mut a, mut b) = (&u, &v); for k in 0..count(8) { a[i] = k; cluster.sync(); \
                   output[i] = cluster.map_shared_rank(a, 1 - cluster.block_rank())[i]; core::mem::swap(&mut a, &mut b); }";
    let second = "let v = shared_array::<u32, 64>();";
    assert!(with(&format!("{second} {swapped}")).is_empty());
    assert_eq!(
        with(&format!("{second} {}", swapped.replace("core::mem::swap(&mut a, &mut b);", ""))),
        ["overwrite_while_read"]
    );
    // Without a barrier in the loop, blocks may end it with different numbers.
    let apart = "let mut k = 0; while k < count(i) { k += 1; }";
    assert_eq!(
        with(&format!("{apart} rows[k % 2][i] = 1; output[i] = peers[(k + 1) % 2][i];")),
        ["unpublished_remote_read"]
    );
}

/// A wait shows that what a function returns is a token; the `let` needs no type.
#[test]
fn tokens_that_functions_return() {
    let publish = "fn publish(cluster: &Cluster, array: &SharedArray<u32, 64>, i: u32) -> ArrivalToken<Cluster> {
        array[i] = 1;
        cluster.barrier_arrive()
    }";
    let with = |body: &str| program(&[publish], body);
    for token in ["token", "token: ArrivalToken<Cluster>"] {
        let right = format!(
            "let {token} = publish(&cluster, &u, i); cluster.barrier_wait(token); output[i] = p[i]; cluster.sync();"
        );
        assert!(with(&right).is_empty(), "{right}");
        let lost = format!(
            "let {token} = publish(&cluster, &u, i); if output.len() == 0 {{ return; }} cluster.barrier_wait(token);"
        );
        assert_eq!(with(&lost), ["token_never_waited"], "{lost}");
    }
    assert_eq!(with("let token = 5; cluster.barrier_wait(token);"), ["wrong_kind"]);
    assert_eq!(with("cluster.barrier_wait(missing);"), ["wrong_kind"]);
}

/// A barrier that a function initializes: once, and the threads synchronize before it is used.
#[test]
fn barriers_that_functions_initialize() {
    let by_all = "fn setup(block: &ThreadBlock, bar: &Barrier) { bar.init_collective(block, 64); }";
    let by_one = "fn setup(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() == 0 { bar.init(64); } }";
    let synced =
        "fn setup(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() == 0 { bar.init(64); } block.sync(); }";
    let if_told =
        "fn setup(block: &ThreadBlock, bar: &Barrier, new: bool) { if new { bar.init_collective(block, 64); } }";
    let ends = "fn setup(block: &ThreadBlock, bar: &Barrier) {
        bar.init_collective(block, 64);
        bar.arrive_and_wait();
        block.sync();
        if block.thread_rank() == 0 { bar.invalidate(); }
        block.sync();
    }";
    let with = |setup: &str, body: &str| {
        program(&[setup], &format!("let block = this_thread_block(); let bar = shared_barrier(); {body}"))
    };
    let (call, meet) = ("setup(&block, &bar);", "bar.arrive_and_wait();");
    for setup in [by_all, synced] {
        assert_eq!(with(setup, &format!("{call} {meet}")), NONE, "{setup}");
        assert_eq!(with(setup, &format!("{call} for _ in 0..4 {{ {meet} }}")), NONE, "{setup}");
    }
    assert_eq!(with(by_one, &format!("{call} block.sync(); {meet}")), NONE);
    assert_eq!(with(by_one, &format!("{call} cluster.sync(); {meet}")), NONE);
    assert_eq!(with(by_one, &format!("{call} {meet}")), ["barrier_unpublished"]);
    assert_eq!(with(by_one, &format!("{call} let t = bar.arrive(); bar.wait(t);")), ["barrier_unpublished"]);
    for setup in [by_all, by_one, synced] {
        for twice in [
            format!("{call} block.sync(); {meet} {call} block.sync(); {meet}"),
            format!("for _ in 0..4 {{ {call} block.sync(); {meet} }}"),
            format!("{call} block.sync(); {meet} block.sync(); bar.init_collective(&block, 64); {meet}"),
        ] {
            assert_eq!(with(setup, &twice), ["barrier_reinit"], "{setup} {twice}");
        }
        let ended = "block.sync(); if block.thread_rank() == 0 { bar.invalidate(); } block.sync();";
        let again = format!("{call} block.sync(); {meet} {ended} {call} block.sync(); {meet}");
        assert_eq!(with(setup, &again), NONE, "{setup}");
    }
    assert_eq!(with(ends, &format!("{call} {call}")), NONE);
    let told = "setup(&block, &bar, true); bar.arrive_and_wait(); setup(&block, &bar, false); bar.arrive_and_wait();";
    assert_eq!(with(if_told, told), NONE);
}

const PUBLISH: &str = "fn publish(c: &Cluster, u: &SharedArray<u32, 64>, i: u32) -> ArrivalToken<Cluster> { u[i] = 1; c.barrier_arrive() }";
const COLLECT: &str = "fn collect(c: &Cluster, u: &SharedArray<u32, 64>, i: u32, t: ArrivalToken<Cluster>) -> u32 {
    c.barrier_wait(t);
    c.map_shared_rank(u, 1 - c.block_rank())[i]
}";

/// A function that waits for an arrival of its caller does not see what the caller did after that arrival.
#[test]
fn a_wait_for_an_arrival_of_the_caller() {
    let through = "fn through(c: &Cluster, u: &SharedArray<u32, 64>, i: u32, t: ArrivalToken<Cluster>) -> u32 {
        let twice = 2 * i;
        twice + collect(c, u, i, t)
    }";
    let later = "fn later(c: &Cluster, u: &SharedArray<u32, 64>, i: u32, t: ArrivalToken<Cluster>) -> u32 {
        c.barrier_wait(t);
        c.sync();
        c.map_shared_rank(u, 1 - c.block_rank())[i]
    }";
    let with = |body: &str| {
        let body = format!("let mut v = 0; cluster.sync(); {body} output[i] = v; cluster.sync();");
        program(&[PUBLISH, COLLECT, through, later], &body)
    };
    let arrivals =
        ["u[i] = 1; let t = cluster.barrier_arrive();", "let t: ArrivalToken<Cluster> = publish(&cluster, &u, i);"];
    for arrive in arrivals {
        for wait in ["collect", "through"] {
            let call = format!("v = {wait}(&cluster, &u, i, t);");
            assert_eq!(with(&format!("{arrive} v += 1; {call}")), NONE, "{arrive} {wait}");
            assert_eq!(with(&format!("{arrive} u[i] = 2; {call}")), ["write_after_arrive"], "{arrive} {wait}");
            let in_a_loop = format!("for _ in 0..4 {{ {arrive} {call} cluster.sync(); }}");
            assert_eq!(with(&in_a_loop), NONE, "{arrive} {wait}");
        }
        assert_eq!(with(&format!("{arrive} u[i] = 2; v = later(&cluster, &u, i, t);")), NONE, "{arrive}");
    }
    let relaxed = "u[i] = 1; let t = cluster.barrier_arrive_relaxed(); v = collect(&cluster, &u, i, t);";
    assert_eq!(with(relaxed), ["relaxed_publishes"]);
}

/// The same of memory that the function names itself.
#[test]
fn a_wait_for_an_arrival_of_the_caller_and_own_memory() {
    let read = "fn read(i: u32, t: ArrivalToken<Cluster>) -> u32 {
        let c = this_cluster();
        let cells = dynamic_shared::<u32>();
        c.barrier_wait(t);
        c.map_shared_rank(cells, 1 - c.block_rank())[i]
    }";
    let with = |body: &str| program(&[ENTER, FILL, read], &format!("enter(); {body} enter();"));
    assert_eq!(with("fill(i, 1); let t = cluster.barrier_arrive(); output[i] = read(i, t);"), NONE);
    assert_eq!(with("let t = cluster.barrier_arrive(); fill(i, 1); output[i] = read(i, t);"), ["overwrite_while_read"]);
    let turn = |late: &str| {
        format!(
            "fn turn(i: u32, t: ArrivalToken<Cluster>) -> ArrivalToken<Cluster> {{
                let c = this_cluster();
                let own = shared_array::<u32, 64>();
                c.barrier_wait(t);
                c.map_shared_rank(&own, 1 - c.block_rank())[i] = 1;
                c.sync();
                let mut x = own[i];
                let again = c.barrier_arrive();
                {late}
                again
            }}"
        )
    };
    let twice = "enter(); let a = cluster.barrier_arrive(); let b: ArrivalToken<Cluster> = turn(i, a);
        let c: ArrivalToken<Cluster> = turn(i, b); cluster.barrier_wait(c); enter();";
    assert_eq!(program(&[ENTER, &turn("")], twice), NONE);
    assert_eq!(program(&[ENTER, &turn("x = own[i];")], twice), ["overwrite_while_read"]);
}
