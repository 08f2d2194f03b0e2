//! Tests of phase barriers at which device functions arrive, and of which they drop out.

use super::session;

const NONE: [&str; 0] = [];

/// The device functions of the tests, each of which may call earlier ones.
const FUNCTIONS: [&str; 10] = [
    "fn leave(bar: &Barrier) { bar.arrive_and_drop(); }",
    "fn leave_removed(bar: &Barrier) { leave(bar); }",
    "fn leave_if(bar: &Barrier, done: bool) { if done { bar.arrive_and_drop(); } }",
    "fn leave_or_meet(bar: &Barrier, done: bool) { if done { bar.arrive_and_drop(); } else { bar.arrive_and_wait(); } }",
    "fn meet(bar: &Barrier) { bar.arrive_and_wait(); }",
    "fn meet_removed(bar: &Barrier) { meet(bar); }",
    "fn meet_if(bar: &Barrier, more: bool) { if more { bar.arrive_and_wait(); } }",
    "fn wait(bar: &Barrier) { bar.wait_parity(true); }",
    "fn again(block: &ThreadBlock, bar: &Barrier) { if block.thread_rank() == 0 { bar.invalidate(); } block.sync(); bar.init_collective(block, 64); }",
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
