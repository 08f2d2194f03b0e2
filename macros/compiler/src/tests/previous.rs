//! Tests of `access_before_previous`: whether each path waits for the launches in front before it accesses global memory and ends.

use super::rules;

/// Returns the rules that a kernel with this body breaks, of whose parameters `table` and `map` may be read early.
#[track_caller]
fn broken(body: &str) -> Vec<String> {
    rules(&format!(
        "#[cluster_kernel(cluster = 2, block = 64, early(table, map))]
        fn kernel(table: &[f32], map: &TensorMap<[[f32; 32]; 8]>, x: &[f32], y: &mut [f32], to: &mut TensorMap<[[f32; 32]; 8]>, n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let shared = shared_array::<f32, 64>();
            let tile = shared_array::<[f32; 32], 8>();
            let full = shared_barrier();
            full.init_collective(&block, 1);
            {body}
        }}"
    ))
}

const WAIT: &str = "wait_previous();";

#[test]
fn accesses() {
    for (access, is_early) in [
        ("let a = x[i];", false),
        ("let a = &x[1..3];", true),
        ("let a = x.len();", true),
        ("y[i] = 1.0;", false),
        ("y[i] += 1.0;", false),
        ("let a = y[i];", false),
        ("y.atomic(i).fetch_add(1.0, Relaxed);", false),
        ("let a = y.atomic(i).load(Relaxed);", false),
        ("let a = x.load_vec::<4>(4 * i);", false),
        ("for a in x { shared[i] = *a; }", false),
        ("let a = x.iter().copied().sum::<f32>();", false),
        ("let part = &x[2..8]; let a = part[i];", false),
        ("let (a, b) = x.split_at(n as usize); let c = b[0];", false),
        ("memcpy_async(&block, &shared, &x[0..64]); block.wait_async();", false),
        (
            "if i == 0 { full.expect_tx(256); bulk_copy_async(&shared, &x[0..64], &full); let _ = full.arrive(); }",
            false,
        ),
        ("if i == 0 { to.store_async([0, 0], &tile); bulk_wait_group::<0>(); }", false),
        ("unsafe { cuda!(\"f(to);\", in(to)) }", false),
        ("unsafe { cuda!(\"f(map);\", in(map)) }", true),
        ("unsafe { cuda!(\"f(full);\", in(full)) }", true),
        ("let read = |k: u32| x[k]; let a = read(i);", false),
        ("let read = |k: u32| x[k];", true),
        ("let a = helper(x);", false),
        ("let a = table[i] + helper(table);", true),
        ("for a in table { shared[i] = *a; }", true),
        ("let part = &table[2..8]; let a = part[i];", true),
        ("if i == 0 { map.load_async([0, 0], &tile, &full); let _ = full.arrive(); }", true),
        ("if i == 0 { map.prefetch([0, 0]); }", true),
        ("shared[i] = 1.0; block.sync();", true),
        ("println!(\"{n}\"); assert!(n > 0);", true),
        ("launch_dependents();", true),
    ] {
        let early = format!("{access} {WAIT} full.wait_parity(false);");
        let expected: &[&str] = if is_early { &[] } else { &["access_before_previous"] };
        let found: Vec<String> = broken(&early).into_iter().filter(|rule| rule == "access_before_previous").collect();
        assert_eq!(found, expected, "{early}");
        let late = broken(&format!("{WAIT} {access} full.wait_parity(false);"));
        assert!(!late.contains(&"access_before_previous".to_owned()), "{late:?}: {access}");
    }
}

#[test]
fn paths() {
    let all = |path: &str| format!("{path} y[i] = x[i];");
    for right in [
        "wait_previous();",
        "wait_previous(); wait_previous();",
        "if n > 3 { wait_previous(); } else { wait_previous(); }",
        "match n { 0 => wait_previous(), _ => { launch_dependents(); wait_previous(); } }",
        "loop { wait_previous(); if n > 2 { break; } }",
        "if n > 3 { wait_previous(); return; } wait_previous();",
        "if n > 3 { panic!(\"n\"); } wait_previous();",
        "for k in 0..n { shared[i] = k as f32; } wait_previous(); for k in 0..n { shared[i] = x[i]; }",
    ] {
        assert_eq!(broken(&all(right)), [""; 0], "{right}");
    }
    for wrong in [
        "if n > 3 { wait_previous(); }",
        "if i == 0 { wait_previous(); } block.sync();",
        "for _ in 0..n { wait_previous(); }",
        "while n > 3 { wait_previous(); break; }",
        "match n { 0 => wait_previous(), _ => {} }",
        "let waits = n > 3 && { wait_previous(); true };",
        "if n > 3 { shared[i] = x[i]; } wait_previous();",
    ] {
        assert_eq!(broken(&all(wrong))[..1], ["access_before_previous"], "{wrong}");
    }
}

#[test]
fn ends() {
    for wrong in
        ["if i > n { return; } wait_previous();", "if n > 3 { wait_previous(); }", "for _ in 0..n { wait_previous(); }"]
    {
        assert_eq!(broken(wrong), ["access_before_previous"], "{wrong}");
    }
    for right in ["wait_previous(); if i > n { return; }", "loop { if n > 3 { wait_previous(); return; } }"] {
        assert_eq!(broken(right), [""; 0], "{right}");
    }
}

#[test]
fn a_map_that_another_function_gets() {
    let source = |early: &str| {
        format!(
            "#[cluster_kernel(block = 32 {early})]
            fn kernel(map: &TensorMap<[[f32; 32]; 8]>, option: Option<&[f32]>) {{
                fetch(map);
                wait_previous();
                maybe(option);
            }}"
        )
    };
    assert_eq!(rules(&source("")), ["access_before_previous"]);
    assert_eq!(rules(&source(", early(map)")), [""; 0]);
    let of_option =
        "#[cluster_kernel(block = 32)] fn kernel(option: Option<&[f32]>) { maybe(option); wait_previous(); }";
    assert_eq!(rules(of_option), ["access_before_previous"]);
}

/// Without a wait, a kernel is no dependent of others, and reads what it likes.
#[test]
fn kernels_without_a_wait() {
    let source = "#[cluster_kernel(block = 32)] fn kernel(x: &mut [f32]) { x[0] = 1.0; launch_dependents(); }";
    assert_eq!(rules(source), [""; 0]);
}
