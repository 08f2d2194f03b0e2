//! Rings whose steps are decided by what a launch is given (parameters, lengths, elements of slices) or by functions: wrong ones are
//! refused wherever the number of rounds comes from, and right ones are not.

use crate::tests::{Attributed, session};
use crate::{RingCase, RingReport};

/// A ring of two stages, which thread 64 fills and 64 others read.
fn ring(chunks: &str, producer: &str, consumer: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], flags: &[u32], out: &mut [u32], n: u32, on: bool) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            {chunks}
            if i == 64 {{
                let mut c = 0;
                for k in 0..chunks {{ {producer} }}
            }} else if i < 64 {{
                let mut c = 0;
                let mut sum = 0;
                for k in 0..chunks {{ {consumer} }}
                out[i] = sum;
            }}
        }}"
    )
}

const FILL: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0); full[k % 2].expect_tx(256);
    bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]); let _ = full[k % 2].arrive();";
const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += stages[k % 2][i];";
const RELEASE: &str = "let _ = empty[k % 2].arrive();";

/// The rules that a file breaks.
#[track_caller]
fn broken(file: &str) -> Vec<String> {
    session().check_file(file).iter().map(|fault| fault.rule().to_string()).collect()
}

/// Whether the ring of the only kernel of a file is proved.
fn is_proved(file: &str) -> bool {
    let kernel = &file[file.find("#[cluster_kernel").unwrap()..];
    let Attributed { options, item, .. } = Attributed::parse(kernel);
    let cases = session().rings(file, options, item);
    matches!(cases.as_deref(), Ok([RingCase { report: RingReport::Proved { .. }, .. }]))
}

/// Changes of a ring that a machine runs into, each with its rule.
fn wrong(chunks: &str) -> [(String, &'static str); 7] {
    let using = [WAIT, READ, RELEASE].concat();
    [
        (ring(chunks, &FILL.replacen("== 0", "== 1", 1), &using), "ring_deadlock"),
        (ring(chunks, FILL, &[&WAIT.replace("== 1", "== 0"), READ, RELEASE].concat()), "ring_read"),
        (ring(chunks, FILL, &[WAIT, READ].concat()), "ring_deadlock"),
        (ring(chunks, FILL, &[WAIT, RELEASE, READ].concat()), "ring_overwrite"),
        (ring(chunks, FILL, &using).replace("&block, 64", "&block, 2"), "ring_count"),
        (ring(chunks, FILL, &using).replace("&block, 64", "&block, 65"), "ring_deadlock"),
        (ring(chunks, FILL, &format!("if k != 1 {{ {using} }}")), "ring_undrained"),
    ]
}

/// Where a number of rounds may come from.
const ROUNDS: [&str; 15] = [
    "let chunks = n;",
    "let chunks = n / 64;",
    "let chunks = n / 64 / 4;",
    "let chunks = n >> 6;",
    "let chunks = (n + 63) / 64;",
    "let chunks = n.div_ceil(64);",
    "let chunks = n.min(100);",
    "let chunks = n.max(4);",
    "let chunks = input.len() / 64;",
    "let chunks = input.len() as u32 / 64;",
    "let chunks = flags[0];",
    "let chunks = flags[block.group_index().x];",
    "let chunks = flags[block.group_index().x + 1] - flags[block.group_index().x];",
    "let (start, end) = (flags[block.group_index().x], flags[block.group_index().x + 1]);
        let chunks = (end - start).div_ceil(64); if chunks == 0 { return; }",
    "assert!(n % 64 == 0); let chunks = n / 64;",
];

#[test]
fn rounds_of_a_launch() {
    for chunks in ROUNDS {
        let right = ring(chunks, FILL, &[WAIT, READ, RELEASE].concat());
        assert!(is_proved(&right) && broken(&right).is_empty(), "{:?} of\n{right}", broken(&right));
        for (file, rule) in wrong(chunks) {
            // Without a loop of one round, another fault comes first.
            let rule = if chunks.contains("max") && rule == "ring_undrained" { "ring_read" } else { rule };
            assert_eq!(broken(&file), [rule], "{file}");
        }
    }
}

/// A round that only one side leaves out, by data or by a flag; and one that both do, which is not refused.
#[test]
fn rounds_that_data_decide() {
    let counted = |text: &str| text.replace("k %", "c %").replace("k /", "c /");
    let (fill, using) = (counted(FILL), counted(&[WAIT, READ, RELEASE].concat()));
    for condition in
        ["flags[k] > 0", "flags[0] > 0", "flags[k] != flags[k + 1]", "on", "!on", "k < n / 2", "flags[k] % 2 == 1"]
    {
        let both = [&fill, &using].map(|steps| format!("if {condition} {{ {steps} c += 1; }}"));
        let one = [format!("{fill} c += 1;"), both[1].clone()];
        let file = ring("let chunks = n;", &both[0], &both[1]);
        assert!(broken(&file).is_empty(), "{:?} of\n{file}", broken(&file));
        let file = ring("let chunks = n;", &one[0], &one[1]);
        assert_eq!(broken(&file).len(), 1, "{:?} of\n{file}", broken(&file));
    }
    // What other blocks may write at any time says nothing.
    let file = ring("let chunks = n;", FILL, &format!("if out[k] > 0 {{ {} }}", [WAIT, READ, RELEASE].concat()));
    assert!(broken(&file).is_empty(), "{:?}", broken(&file));
}

/// Functions of the file that arrive, that decide, and that name stages.
#[test]
fn steps_of_functions() {
    let using = [WAIT, READ, "release(&empty[k % 2]);"].concat();
    let release = |body: &str| {
        let kernel = ring("let chunks = n;", FILL, &using);
        format!("#[device] fn release(barrier: &Barrier) {{ {body} }} {kernel}")
    };
    let right = release("let _ = barrier.arrive();");
    assert!(is_proved(&right) && broken(&right).is_empty(), "{:?}", broken(&right));
    for (body, rule) in [
        ("", "ring_deadlock"),
        ("if this_thread_block().thread_rank() > 0 { let _ = barrier.arrive(); }", "ring_deadlock"),
        ("let _ = barrier.arrive(); let _ = barrier.arrive();", "ring_count"),
    ] {
        assert_eq!(broken(&release(body)), [rule], "{body}");
    }
    let using = [WAIT, READ, RELEASE].concat();
    let decided = |body: &str, producer: &str, consumer: &str| {
        let kernel = ring("let chunks = n;", producer, consumer);
        format!("#[device] fn of(k: u32) -> u32 {{ {body} }} {kernel}")
    };
    let staged = |text: &str| text.replace("k % 2]", "of(k)]");
    let right = decided("k % 2", FILL, &staged(&using));
    assert!(is_proved(&right) && broken(&right).is_empty(), "{:?}", broken(&right));
    assert_eq!(broken(&decided("(k + 1) % 2", FILL, &staged(&using))), ["ring_deadlock"]);
    assert_eq!(broken(&decided("k % 3", FILL, &format!("if of(k) != 1 {{ {using} }}"))), ["ring_undrained"]);
    for (file, rule) in wrong("let chunks = of(n);") {
        assert_eq!(broken(&format!("#[device] fn of(n: u32) -> u32 {{ n / 64 + 1 }} {file}")), [rule], "{file}");
    }
}

/// Threads whose ranks a launch's numbers divide do not do the same.
#[test]
fn threads_that_numbers_tell_apart() {
    let kernel = |count: &str, arrives: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn meet(flags: &[u32], out: &mut [u32], n: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let bar = shared_barrier();
                bar.init_collective(&block, {count});
                for k in 0..n {{ if {arrives} {{ let _ = bar.arrive(); }} bar.wait_parity(k % 2 == 1); block.sync(); }}
                out[i] = n;
            }}"
        )
    };
    for (count, arrives) in [("64", "n > 0"), ("32", "i % 2 == 0"), ("1", "i == n - n"), ("1", "i == k % 4")] {
        assert!(broken(&kernel(count, arrives)).is_empty(), "{count} {arrives}: {:?}", broken(&kernel(count, arrives)));
    }
    for (count, arrives) in [("64", "i < n"), ("64", "i > n"), ("64", "flags[i] > 0"), ("2", "i == n")] {
        let found = broken(&kernel(count, arrives));
        assert!(matches!(&*found.concat(), "ring_deadlock" | "barrier_count"), "{count} {arrives}: {found:?}");
    }
}

/// The message of a fault that depends on the arguments says for which it was found.
#[test]
fn messages_name_the_arguments() {
    let first = "full[0].wait_parity(false);";
    let message = |file: &str| {
        let faults = session().check_file(file);
        faults.iter().map(|fault| fault.text().to_string()).collect::<Vec<_>>().join("\n")
    };
    // A wait before the loop, for a round that there may not be.
    let without = |chunks: &str| {
        ring(chunks, FILL, &[WAIT, READ, RELEASE].concat())
            .replace("let mut sum = 0;", &format!("let mut sum = 0; {first}"))
    };
    for (chunks, named) in [
        ("let chunks = n;", "this happens if `n` is 0"),
        ("let chunks = n / 64;", "this happens if `n` is 0"),
        ("let chunks = input.len() as u32 / 64;", "this happens if `input.len()` is 0"),
        ("let chunks = flags[0];", "this happens if `flags[..]` is 0"),
    ] {
        let text = message(&without(chunks));
        assert!(text.contains(named), "{chunks}: {text}");
    }
    // A parity that is wrong in the first round.
    let parity = ring("let chunks = n;", FILL, &[&WAIT.replace("== 1", "== 0"), READ, RELEASE].concat());
    assert!(message(&parity).contains("this happens if `n` is 1"), "{}", message(&parity));
    let offsets = "let chunks = (flags[block.group_index().x + 1] - flags[block.group_index().x]) / 64;";
    let parity = ring(offsets, FILL, &[&WAIT.replace("== 1", "== 0"), READ, RELEASE].concat());
    let text = message(&parity);
    assert!(text.contains("this happens if `flags[..]` is 0, 64, 128 and so on"), "{text}");
    // A fault that all launches have.
    let always = ring(&format!("let chunks = n; {first}"), FILL, &[WAIT, READ, RELEASE].concat());
    let text = message(&always);
    assert!(text.contains("must") && !text.contains("this happens if"), "{text}");
}

/// A ring of elements of any type, or of a block with any number of readers.
fn generic(parameters: &str, (block, element, readers): (&str, &str, &str), odd: &str) -> String {
    format!(
        "#[cluster_kernel(block = {block})] fn sums<{parameters}>(input: &[{element}], out: &mut [{element}], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[{element}; 64], 3>();
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {readers});
            if i == {readers} {{
                for k in 0..chunks {{
                    empty[k % 3].wait_parity(k / 3 % 2 == {odd});
                    full[k % 3].expect_tx(64 * size_of::<{element}>() as u32);
                    bulk_copy_async(&stages[k % 3], &input[k * 64..(k + 1) * 64], &full[k % 3]);
                    let _ = full[k % 3].arrive();
                }}
            }} else if i < {readers} {{
                let mut sum = input[0];
                for k in 0..chunks {{
                    full[k % 3].wait_parity(k / 3 % 2 == 1);
                    sum = sum + stages[k % 3][63 - i % 64];
                    let _ = empty[k % 3].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn sizes_of_types_and_blocks_are_tried() {
    let reports = |source: &str| {
        let cases = super::extraction::cases("", source).into_iter();
        cases.map(|case| (case.values, matches!(case.report, crate::RingReport::Proved { .. }))).collect::<Vec<_>>()
    };
    let of = |name: &str, value: i64| vec![(name.to_string(), value)];
    for (odd, is_proved) in [("0", true), ("1", false)] {
        let of_types = reports(&generic("E: Number", ("96", "E", "64"), odd));
        let each = [4, 2].map(|bytes| (of("size_of::<E>()", bytes), is_proved));
        assert_eq!(of_types, each);
        let of_blocks = reports(&generic("const W: u32", ("W + 32", "f32", "W"), odd));
        let is_of_two_warps = |(values, _): &&(Vec<(String, i64)>, bool)| values.contains(&of("W", 64)[0]);
        assert_eq!(of_blocks.iter().find(is_of_two_warps).map(|case| case.1), Some(is_proved), "{of_blocks:?}");
    }
}

/// Where two numbers decide how often a thread waits, arrives or goes round, the caller may pass different ones.
#[test]
fn numbers_that_differ() {
    let of = |before: &str, each: &str| {
        broken(&format!(
            "#[cluster_kernel(block = 64)] fn turns(input: &[u32], lens: &[u32], out: &mut [u32], n: u32, m: u32) {{
                let block = this_thread_block();
                let i = block.thread_rank();
                let (rows, bar) = (shared_array::<[u32; 64], 2>(), shared_barrier());
                bar.init_collective(&block, 64);
                let mut sum = 0;
                {before}
                for k in 0..n {{
                    rows[k % 2][i] = input[k];
                    {each}
                    sum += rows[k % 2][63 - i];
                }}
                out[i] = sum;
            }}"
        ))
    };
    let wait = "bar.wait_parity(k % 2 == 1);";
    for (before, each) in [
        ("", format!("let _ = bar.arrive(); if k < m {{ {wait} }}")),
        ("", "let token = bar.arrive(); if k < m { bar.wait(token); }".to_string()),
        ("", format!("if k < m {{ let _ = bar.arrive(); }} {wait}")),
        ("", format!("if k >= m {{ break; }} if k < m {{ let _ = bar.arrive(); }} if k < lens[0] {{ {wait} }}")),
    ] {
        assert!(of(before, &each).iter().any(|rule| rule.starts_with("ring_")), "{each}");
    }
    for (before, each) in [
        ("", format!("let _ = bar.arrive(); {wait} if k < m {{ sum += 1; }}")),
        ("assert!(n <= m);", format!("let _ = bar.arrive(); if k < m {{ {wait} }}")),
        ("assert_eq!(n, m);", format!("if k < m {{ let _ = bar.arrive(); }} {wait}")),
        ("if n != m { return; }", format!("if k < m {{ let _ = bar.arrive(); }} {wait}")),
    ] {
        assert_eq!(of(before, &each), [""; 0], "{before} {each}");
    }
}
