//! `#[unchecked(rule)]` on `unsafe` blocks: what is waived, what is not, and where it is not needed.

use super::faults;

/// Returns the line and the rule of each fault of a kernel with this body.
fn of_kernel(body: &str) -> Vec<String> {
    let source =
        format!("#[cluster_kernel(cluster = 2, block = 32)]\nfn kernel(out: &mut [u32], n: u32) {{\n{body}\n}}");
    faults(&source).iter().map(|fault| format!("{} {}", fault.line(), fault.rule())).collect()
}

const REMOTE: &str = "let cluster = this_cluster();
    let block = this_thread_block();
    let a = shared_array::<u32, 32>();
    a[block.thread_rank()] = n;
    let peer = cluster.map_shared_rank(&a, 1 - cluster.block_rank());\n";

/// A fault in the block is waived, and the same fault beside it is not.
#[test]
fn a_block_waives_its_own_faults() {
    let early = "out[0] = peer[block.thread_rank()];";
    let rest = "cluster.sync(); out[1] = peer[block.thread_rank()]; cluster.sync();";
    assert_eq!(of_kernel(&format!("{REMOTE}{early}\n{rest}")), ["8 remote_before_entry"]);
    let waived = "#[unchecked(remote_before_entry)] unsafe { out[0] = peer[block.thread_rank()]; }";
    assert_eq!(of_kernel(&format!("{REMOTE}{waived}\n{rest}")), Vec::<String>::new());
    assert_eq!(of_kernel(&format!("{REMOTE}{waived}\n{early}\n{rest}")), ["9 remote_before_entry"]);
    let as_value = "let x = #[unchecked(remote_before_entry)] unsafe { peer[0] }; out[0] = x;";
    assert_eq!(of_kernel(&format!("{REMOTE}{as_value}\n{rest}")), Vec::<String>::new());
    let in_closure = "let read = |i: u32| #[unchecked(remote_before_entry)] unsafe { peer[i] }; out[0] = read(0);";
    assert_eq!(of_kernel(&format!("{REMOTE}{in_closure}\n{rest}")), Vec::<String>::new());
}

/// A waived arrival does not hide what comes while it is pending.
#[test]
fn a_waived_arrival_is_still_pending() {
    let body = "let cluster = this_cluster();
    #[unchecked(token_never_waited)]
    unsafe {
        let token = cluster.barrier_arrive();
        cluster.sync();
    }";
    assert_eq!(of_kernel(body), ["7 collective_while_pending"]);
}

#[test]
fn a_waiver_must_be_needed() {
    let outside = "#[unchecked(remote_before_entry)] unsafe { out[0] = 1; }
    out[0] = peer[block.thread_rank()]; cluster.sync();";
    assert_eq!(of_kernel(&format!("{REMOTE}{outside}")), ["8 unchecked", "9 remote_before_entry"]);
    // The second waiver of one fault.
    let twice = "#[unchecked(divergent_collective)] #[unchecked(divergent_collective)]
    unsafe { if block.thread_rank() == 0 { block.sync(); } } cluster.sync();";
    assert_eq!(of_kernel(&format!("{REMOTE}{twice}")), ["8 unchecked"]);
}

#[test]
fn misplaced_and_malformed() {
    for (body, fault) in [
        ("#[unchecked(divergent_collective)] { out[0] = 1; }", "`#[unchecked(...)]` must be on an `unsafe` block"),
        ("#[unchecked(divergent_collective)] let x = 1;", "`#[unchecked(...)]` must be on an `unsafe` block"),
        ("#[unchecked(divergent_collective)] for i in 0..n { out[i] = 1; }", "must be on an `unsafe` block"),
        ("#[unchecked] unsafe { out[0] = 1; }", "option `unchecked` must be written"),
        ("#[unchecked(no_rule)] unsafe { out[0] = 1; }", "there is no rule `no_rule`"),
        ("#[unchecked(token_escapes)] unsafe { out[0] = 1; }", "`token_escapes` cannot be switched off"),
        ("#[inline] unsafe { out[0] = 1; }", "attribute"),
    ] {
        let faults = faults(&format!("#[cluster_kernel]\nfn kernel(out: &mut [u32], n: u32) {{ {body} }}"));
        let texts: Vec<_> = faults.iter().map(|fault| fault.text()).collect();
        assert_eq!(texts.len(), 1, "{body}: {texts:#?}");
        assert!(texts[0].contains(fault), "{body}: {texts:#?}");
    }
}
