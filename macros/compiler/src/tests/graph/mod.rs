//! Tests of the graph that the builder makes of each construct, as text: order of evaluation, what is dropped where and
//! in which order, edges of `Option`s, loops, labels, short circuit. They say nothing of what the checks make of it.

mod dump;

use syn::ItemFn;

use super::session;
use crate::check::build::build;
use crate::diag::Diags;
use crate::model::Role;
use crate::parse;
use dump::dump;

fn graph(function: &str) -> String {
    let item: ItemFn = syn::parse_str(function).expect("a function");
    let mut diags = Diags::new(session());
    let function = parse::function(&item, Role::Device, Default::default(), &mut diags);
    assert!(diags.rules().is_empty(), "{:?}", diags.rules());
    dump(&function, &build(&function).unwrap())
}

#[track_caller]
fn check(body: &str, expected: &str) {
    const SIGNATURE: &str = "fn f(cluster: &Cluster, block: &ThreadBlock, c: bool, d: bool, n: u32)";
    check_function(&format!("{SIGNATURE} {{ {body} }}"), expected);
}

#[track_caller]
fn check_function(function: &str, expected: &str) {
    let found = graph(function);
    let lines = |text: &str| text.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(&found), lines(expected), "\n{found}");
}

#[test]
fn straight() {
    check("cluster.sync(); block.sync();", "b0: sync Cluster; sync ThreadBlock; leave");
    check(
        "let t = cluster.barrier_arrive(); cluster.barrier_wait(t);",
        "b0: _0 = arrive Cluster; t = _0; wait Cluster t; drop t (end); leave",
    );
    check("cluster.barrier_wait(cluster.barrier_arrive());", "b0: _0 = arrive Cluster; wait Cluster _0; leave");
}

#[test]
fn lost_at_once() {
    check("cluster.barrier_arrive();", "b0: _0 = arrive Cluster; drop _0 (unused); leave");
    check("let _ = cluster.barrier_arrive();", "b0: _0 = arrive Cluster; drop _0 (discarded); leave");
    // `_` does not move out of a variable; a statement does.
    check(
        "let t = cluster.barrier_arrive(); let _ = t; t;",
        "b0: _0 = arrive Cluster; t = _0; drop t (unused); drop t (end); leave",
    );
    check(
        "let mut t = cluster.barrier_arrive(); t = cluster.barrier_arrive();",
        "b0: _0 = arrive Cluster; t = _0; _1 = arrive Cluster; drop t (overwritten); t = _1; drop t (end); leave",
    );
}

/// The last variable declared is dropped first; a block's value has been moved out before.
#[test]
fn scopes() {
    check(
        "let t = cluster.barrier_arrive(); let u = block.barrier_arrive();",
        "b0: _0 = arrive Cluster; t = _0; _1 = arrive ThreadBlock; u = _1; drop u (end); drop t (end); leave",
    );
    check(
        "let t = cluster.barrier_arrive(); { let t = t; } block.sync();",
        "b0: _0 = arrive Cluster; t = _0; t#2 = t; drop t#2 (end); sync ThreadBlock; drop t (end); leave",
    );
    check(
        "let t = { let u = cluster.barrier_arrive(); let v = block.barrier_arrive(); u };",
        "b0: _0 = arrive Cluster; u = _0; _1 = arrive ThreadBlock; v = _1; _2 = u; drop v (end); drop u (end); t = _2; drop t (end); leave",
    );
}

#[test]
fn branches() {
    check(
        "if c { cluster.sync(); } else if d { block.sync(); }",
        "b0: if b1 else b3
         b1: sync Cluster; goto b2
         b2: leave
         b3: if b4 else b2
         b4: sync ThreadBlock; goto b2",
    );
    check(
        "let t = if c { cluster.barrier_arrive() } else { return }; cluster.barrier_wait(t);",
        "b0: if b1 else b3
         b1: _1 = arrive Cluster; _2 = _1; _0 = _2; goto b2
         b2: t = _0; wait Cluster t; drop t (end); leave
         b3: leave",
    );
    check(
        "let t; if c { t = cluster.barrier_arrive(); } else { t = cluster.barrier_arrive(); }",
        "b0: if b1 else b3
         b1: _1 = arrive Cluster; drop t (overwritten); t = _1; goto b2
         b2: drop t (end); leave
         b3: _2 = arrive Cluster; drop t (overwritten); t = _2; goto b2",
    );
}

/// `return` drops everything in scope, the innermost first.
#[test]
fn returns() {
    check(
        "let t = cluster.barrier_arrive(); if c { let u = block.barrier_arrive(); if d { return; } } cluster.sync();",
        "b0: _0 = arrive Cluster; t = _0; if b1 else b4
         b1: _2 = arrive ThreadBlock; u = _2; if b2 else b3
         b2: drop u (return); drop t (return); leave
         b3: drop u (end); goto b4
         b4: sync Cluster; drop t (end); leave",
    );
    check_function(
        "fn f(t: ArrivalToken<Cluster>, p: Option<ArrivalToken<Cluster>>) -> ArrivalToken<Cluster> {
             if let Some(u) = p { finish(u); return t; }
             t
         }",
        "b0: some(p) b1 else b2
         b1: u = p; hand over u; call; hand over t; drop u (return); drop p (return); drop t (return); leave
         b2: _1 = t; hand over _1; drop p (end); drop t (end); leave",
    );
    // A thread that fails owes nothing.
    check(
        "let t = cluster.barrier_arrive(); if c { panic!(); } assert!(d); cluster.barrier_wait(t);",
        "b0: _0 = arrive Cluster; t = _0; if b1 else b2
         b1: never
         b2: wait Cluster t; drop t (end); leave",
    );
}

#[test]
fn calls() {
    check(
        "let t: ArrivalToken<Cluster> = start(cluster); let t: ArrivalToken<Cluster> = pass(t); finish(n, t);",
        "b0: _0 = call; t = _0; hand over t; _1 = call; t#2 = _1; hand over t#2; call; drop t#2 (end); drop t (end); leave",
    );
    // All arguments are evaluated before any is handed over.
    check(
        "let t = block.barrier_arrive(); finish(t, cluster.barrier_arrive());",
        "b0: _0 = arrive ThreadBlock; t = _0; _1 = arrive Cluster; hand over t; hand over _1; call; drop t (end); leave",
    );
}

/// Each edge of a test knows whether the token is there.
#[test]
fn options() {
    check(
        "let mut p = None; p = Some(cluster.barrier_arrive()); if let Some(t) = p { cluster.barrier_wait(t); }",
        "b0: _0 = none; p = _0; _1 = arrive Cluster; drop p (overwritten); p = _1; some(p) b1 else b2
         b1: t = p; wait Cluster t; drop t (end); goto b2
         b2: drop p (end); leave",
    );
    check(
        "let mut p = Some(cluster.barrier_arrive()); if let Some(t) = p.take() { cluster.barrier_wait(t); }",
        "b0: _0 = arrive Cluster; p = _0; _2 = p; some(_2) b1 else b2
         b1: t = _2; wait Cluster t; drop t (end); goto b2
         b2: drop p (end); leave",
    );
    for (test, some, none) in [
        ("p.is_some()", "Cluster", "ThreadBlock"),
        ("let Some(_) = p", "Cluster", "ThreadBlock"),
        ("p.is_none()", "ThreadBlock", "Cluster"),
        ("let None = p", "ThreadBlock", "Cluster"),
    ] {
        check_function(
            &format!(
                "fn f(cluster: &Cluster, block: &ThreadBlock, p: Option<ArrivalToken<Cluster>>) {{
                     if {test} {{ cluster.sync(); }} else {{ block.sync(); }}
                 }}"
            ),
            &format!(
                "b0: some(p) b1 else b3
                 b1: sync {some}; goto b2
                 b2: drop p (end); leave
                 b3: sync {none}; goto b2"
            ),
        );
    }
}

#[test]
fn loops() {
    check(
        "loop { if c { break; } cluster.sync(); }",
        "b0: if b1 else b2
         b1: leave
         b2: sync Cluster; goto b0",
    );
    check(
        "while c { let t = cluster.barrier_arrive(); if d { break; } cluster.barrier_wait(t); }",
        "b0: if b1 else b3
         b1: _1 = arrive Cluster; t = _1; if b2 else b4
         b2: drop t (break); goto b3
         b3: leave
         b4: wait Cluster t; drop t (end); goto b0",
    );
    // The range is evaluated once.
    check(
        "for i in 0..start(cluster) { let t = cluster.barrier_arrive(); if c { continue; } cluster.barrier_wait(t); }",
        "b0: call; goto b1
         b1: if b2 else b5
         b2: _1 = arrive Cluster; t = _1; if b3 else b4
         b3: drop t (continue); goto b1
         b4: wait Cluster t; drop t (end); goto b1
         b5: leave",
    );
    check(
        "let mut p = Some(cluster.barrier_arrive());
         while let Some(t) = p.take() { if c { continue; } if d { break; } cluster.barrier_wait(t); }",
        "b0: _0 = arrive Cluster; p = _0; goto b1
         b1: _1 = p; some(_1) b2 else b6
         b2: t = _1; if b3 else b4
         b3: drop t (continue); goto b1
         b4: if b5 else b7
         b5: drop t (break); goto b6
         b6: drop p (end); leave
         b7: wait Cluster t; drop t (end); goto b1",
    );
    check(
        "let t = loop { let u = cluster.barrier_arrive(); if c { break u; } cluster.barrier_wait(u); };",
        "b0: _1 = arrive Cluster; u = _1; if b1 else b3
         b1: _0 = u; drop u (break); goto b2
         b2: t = _0; drop t (end); leave
         b3: wait Cluster u; drop u (end); goto b0",
    );
    check("loop {} cluster.sync();", "b0: goto b0");
}

/// A jump drops what is in scope up to its target, and goes there.
#[test]
fn labels() {
    check(
        "'outer: loop {
             let t = cluster.barrier_arrive();
             loop {
                 let u = block.barrier_arrive();
                 if c { break 'outer; }
                 if d { continue 'outer; }
                 break;
             }
             block.sync();
         }",
        "b0: _1 = arrive Cluster; t = _1; goto b1
         b1: _3 = arrive ThreadBlock; u = _3; if b2 else b4
         b2: drop u (break); drop t (break); goto b3
         b3: leave
         b4: if b5 else b6
         b5: drop u (continue); drop t (continue); goto b0
         b6: drop u (break); goto b7
         b7: sync ThreadBlock; drop t (end); goto b0",
    );
    check(
        "let t = 'l: {
             let u = cluster.barrier_arrive();
             if c { break 'l u; }
             cluster.barrier_wait(u);
             cluster.barrier_arrive()
         };",
        "b0: _1 = arrive Cluster; u = _1; if b1 else b3
         b1: _0 = u; drop u (break); goto b2
         b2: t = _0; drop t (end); leave
         b3: wait Cluster u; _3 = arrive Cluster; _4 = _3; drop u (end); _0 = _4; goto b2",
    );
}

#[test]
fn short_circuit() {
    check(
        "let x = c || { cluster.sync(); d };",
        "b0: if b1 else b2
         b1: leave
         b2: sync Cluster; goto b1",
    );
    check(
        "while c && { cluster.sync(); d } { block.sync(); }",
        "b0: if b1 else b2
         b1: sync Cluster; goto b2
         b2: if b3 else b4
         b3: sync ThreadBlock; goto b0
         b4: leave",
    );
}

/// Nothing behind a jump is reached.
#[test]
fn behind_jumps() {
    check("return; cluster.sync();", "b0: leave");
    check("loop { break; cluster.sync(); } block.sync();", "b0: sync ThreadBlock; leave");
    check("if c { return; } else { return; } cluster.sync();", "b0: if b1 else b2\nb1: leave\nb2: leave");
}
