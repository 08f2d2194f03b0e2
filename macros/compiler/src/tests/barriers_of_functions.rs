//! Tests of phase barriers at which device functions arrive, and of which they drop out.

use super::session;

const NONE: [&str; 0] = [];

/// The device functions of the tests, each of which may call earlier ones.
const FUNCTIONS: [&str; 15] = [
    "fn leave(bar: &Barrier) { bar.arrive_and_drop(); }",
    "fn leave_removed(bar: &Barrier) { leave(bar); }",
    "fn leave_if(bar: &Barrier, done: bool) { if done { bar.arrive_and_drop(); } }",
    "fn leave_or_meet(bar: &Barrier, done: bool) { if done { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); } }",
    "fn meet(bar: &Barrier) { bar.arrive_and_wait(); }",
    "fn meet_removed(bar: &Barrier) { meet(bar); }",
    "fn meet_if(bar: &Barrier, more: bool) { if more { bar.arrive_and_wait(); } }",
    "fn wait(bar: &Barrier) { bar.wait_parity(true); }",
    "fn again(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() == 0 { bar.invalidate(); } block.sync(); bar.init_collective(block, 64); }",
    "fn meet_half(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() < 32 { bar.arrive_and_wait(); } }",
    "fn meet_half_removed(block: &ThreadBlock, bar: &Barrier) { meet_half(block, bar); }",
    "fn arrive(bar: &Barrier) { let _ = bar.arrive(); }",
    "fn meet_twice(bar: &Barrier) { meet(bar); bar.arrive_and_wait(); }",
    "fn setup(block: &ThreadBlock, bar: &Barrier) { bar.init_collective(block, 32); }",
    "fn twice(bar: &Barrier) { let _ = bar.arrive_n(2); }",
];

/// Returns the rules that a kernel of 64 threads with this body breaks.
fn broken(body: &str) -> Vec<String> {
    let parse = |text: &str| text.parse().expect("the test's source is made of tokens");
    let kernel = format!(
        "fn kernel(x: &[u32], n: u32) {{
            let block = this_thread_block();
            let t = block.thread_rank();
            let bar = shared_barrier();
            let other = shared_barrier();
            bar.init_collective(&block, block.num_threads());
            other.init_collective(&block, 64);
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
fn wrong(body: &str, rule: &str) {
    let rules = broken(body);
    assert!(!rules.is_empty() && rules.iter().all(|broken| broken == rule), "{body}: {rules:?}");
}

#[test]
fn a_thread_that_dropped_out_in_a_function() {
    let rule = "barrier_use_after_drop";
    for leave in ["leave(&bar);", "leave_removed(&bar);", "bar.arrive_and_drop();"] {
        for meet in ["meet(&bar);", "meet_removed(&bar);", "bar.arrive_and_wait();", "leave(&bar);"] {
            wrong(&format!("{leave} {meet}"), rule);
            wrong(&format!("{leave} wait(&bar); {meet}"), rule);
            wrong(&format!("if x[t] == 0 {{ {leave} }} {meet}"), rule);
            wrong(&format!("{leave} if n > 0 {{ {meet} }}"), rule);
            wrong(&format!("{leave} for _ in 0..n {{ {meet} }}"), rule);
            right(&format!("{leave} {}", meet.replace("bar", "other")));
            right(&format!("if x[t] == 0 {{ {leave} }} else {{ {meet} }}"));
            right(&format!("if x[t] == 0 {{ {leave} return; }} {meet}"));
        }
        right(&format!("bar.arrive_and_wait(); {leave} wait(&bar);"));
        right(&format!("meet(&bar); {leave}"));
        right(&format!("{leave} meet_if(&bar, false);"));
    }
    right("leave_if(&bar, false); bar.arrive_and_wait();");
    right("leave_or_meet(&bar, t > 7); if t <= 7 { bar.arrive_and_wait(); }");
}

#[test]
fn some_threads_arrive_in_a_function() {
    let rule = "barrier_count";
    for meet in [
        "meet(&bar);",
        "meet_removed(&bar);",
        "meet_twice(&bar);",
        "meet(&bar); meet(&bar);",
        "for _ in 0..n { meet(&bar); }",
    ] {
        wrong(&format!("if t < 32 {{ {meet} }}"), rule);
        wrong(&format!("if x[t] == 1 {{ {meet} }}"), rule);
        right(meet);
        right(&format!("if n > 4 {{ {meet} }}"));
        right(&format!("if t < 32 {{ {meet} }} else {{ {meet} }}"));
        right(&format!("if t < 32 {{ {meet} }} else {{ {} }}", meet.replace("meet(", "meet_removed(")));
    }
    wrong("if t < 32 { arrive(&bar); } wait(&bar);", rule);
    right("arrive(&bar); bar.wait_parity(false);");
    right("if t < 32 { arrive(&bar); } else { let _ = bar.arrive(); } bar.wait_parity(false);");
    // Half of the threads arrive for two each.
    right("if t < 32 { twice(&bar); } bar.wait_parity(false);");
    for half in ["meet_half(&block, &bar);", "meet_half_removed(&block, &bar);"] {
        wrong(half, rule);
        right(&format!(
            "let half = shared_barrier(); half.init_collective(&block, 32); {}",
            half.replace("bar", "half")
        ));
    }
}

#[test]
fn numbers_of_arrivals_in_functions() {
    let rule = "barrier_count";
    let with = |count: &str, body: &str| {
        format!("let few = shared_barrier(); few.init_collective(&block, {count}); {body}").replace("BAR", "&few")
    };
    wrong(&with("32", "for _ in 0..3 { meet(BAR); }"), rule);
    wrong(&with("32", "meet_removed(BAR);"), rule);
    wrong(&with("65", "meet(BAR);"), rule);
    wrong(&with("2", "if t == 0 { arrive(BAR); } few.wait_parity(false);"), rule);
    wrong(&with("3", "if t == 0 { twice(BAR); } few.wait_parity(false);"), rule);
    wrong(&with("192", "twice(BAR); few.wait_parity(false);"), rule);
    right(&with("64", "for _ in 0..3 { meet(BAR); }"));
    right(&with("2", "if t == 0 { twice(BAR); } few.wait_parity(false);"));
    right(&with("2", "if t == 0 { arrive(BAR); let _ = few.arrive(); } few.wait_parity(false);"));
    right(&with("128", "twice(BAR); few.wait_parity(false);"));
    right(&with("1", "if t == 0 { arrive(BAR); } few.wait_parity(false);"));
    right(&with("32", "if t < 32 { meet(BAR); }"));
    right("let few = shared_barrier(); setup(&block, &few); if t < 32 { meet(&few); }");
}

/// A function that initializes a barrier is not called again while the barrier is in use, whatever comes in between.
#[test]
fn a_function_that_initializes_is_called_again() {
    let meet = "if t < 32 { raw.arrive_and_wait(); }";
    let body = |calls: &str| format!("let raw = shared_barrier(); {calls}");
    right(&body(&format!("setup(&block, &raw); {meet} {meet}")));
    right(&body(&format!("setup(&block, &raw); {meet} block.sync(); again(&block, &raw);")));
    for calls in [
        format!("setup(&block, &raw); {meet} setup(&block, &raw); {meet}"),
        format!("setup(&block, &raw); {meet} raw.init_collective(&block, 32); {meet}"),
        format!("for _ in 0..n {{ setup(&block, &raw); {meet} }}"),
        "setup(&block, &raw); setup(&block, &raw);".to_string(),
    ] {
        wrong(&body(&calls), "barrier_reinit");
    }
}

/// Whether a barrier is used before the `init` of one thread is known, with a call in between: one in which no thread learns of others
/// does not make it known.
#[test]
fn calls_before_others_know_of_an_init() {
    let functions = "
        #[device] fn next(k: u32) -> u32 { (k + 1) % 2 }
        #[device] fn twice(k: u32) -> u32 { next(next(k)) }
        #[device] fn meet() { this_thread_block().sync(); }
        #[device] fn meet_removed(k: u32) -> u32 { meet(); k }
        #[device] fn flag(seen: &mut [u32]) { while seen.atomic(0).load(Acquire) == 0 {} }
        #[device] fn count(seen: &mut [u32]) -> u32 { seen[0] }
        #[derive(Clone, Copy, DeviceCopy)] #[repr(C)] struct Stage { at: u32 }
        #[device] impl Stage {
            fn new() -> Stage { Stage { at: 0 } }
            fn step(&mut self) { self.at = (self.at + 1) % 2; }
        }";
    let broken = |call: &str, used: &str| {
        let file = format!(
            "{functions}
            #[cluster_kernel(block = 64)] fn kernel(seen: &mut [u32]) {{
                let block = this_thread_block();
                let bars = shared_barriers::<2>();
                if block.thread_rank() == 0 {{ for s in 0..2 {{ bars[s].init(64); }} }}
                {call}
                {used}
            }}"
        );
        session().check_file(&file).iter().map(|fault| fault.rule().to_string()).collect::<Vec<_>>()
    };
    for used in ["bars[0].arrive_and_wait();", "for k in 0..4 { bars[k % 2].arrive_and_wait(); }"] {
        for call in [
            "",
            "let s = next(seen[0]);",
            "let s = twice(3);",
            "let s = count(seen);",
            "let mut s = Stage::new(); s.step();",
            "for k in 0..seen[1] { seen[1] = next(k); }",
        ] {
            assert_eq!(broken(call, used), ["barrier_unpublished"], "{call} {used}");
        }
        for call in
            ["block.sync();", "let s = next(3); block.sync();", "meet();", "let s = meet_removed(3);", "flag(seen);"]
        {
            assert_eq!(broken(call, used), NONE, "{call} {used}");
        }
    }
}
