//! Rings of persistent blocks: a block takes every n-th tile, and counts its rounds by hand or computes their number.

use super::super::{Attributed, faults, session};
use super::extraction::proved;
use crate::RingReport;

/// Loops of a block over its tiles, in which `{}` stands for a round with its number `k`.
const FORMS: [&str; 6] = [
    "let mut k = 0u32; for t in (first..tiles).step_by(stride) { {} k += 1; }",
    "let mut k = 0u32; for t in (0..tiles - first).step_by(stride) { {} k += 1; }",
    "for k in 0..rounds { let t = first + k * stride; {} }",
    "let mut k = 0u32; while k < rounds { let t = first + k * stride; {} k += 1; }",
    "let mut k = 0u32; let mut t = this_grid().block_rank() as u32; while t < tiles { {} k += 1; t += this_grid().num_blocks() as u32; }",
    "let mut k = 0u32; for tile in (first..tiles).step_by(stride) { for part in 0..parts { let t = tile * parts + part; {} k += 1; } }",
];

const ACQUIRE: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);";
const ACQUIRE_LATER: &str = "if k >= 2 { empty[k % 2].wait_parity((k / 2 + 1) % 2 == 1); }";
const LOAD: &str =
    "full[k % 2].expect_tx(128); bulk_copy_async(&stages[k % 2], &x[t * 32..t * 32 + 32], &full[k % 2]);";
const ARRIVE: &str = "let _ = full[k % 2].arrive();";
const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += stages[k % 2][i];";
const RELEASE: &str = "let _ = empty[k % 2].arrive();";

fn ring((producer, fill): (&str, &[&str]), (consumer, read): (&str, &[&str])) -> String {
    let producer = producer.replace("{}", &fill.concat());
    let consumer = consumer.replace("{}", &read.concat());
    format!(
        "#[cluster_kernel(block = 64)] fn sums(x: &[u32], out: &mut [u32], tiles: u32, parts: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 32], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            let first = this_grid().block_rank() as u32;
            let stride = this_grid().num_blocks() as u32;
            let rounds = if first < tiles {{ (tiles - first).div_ceil(stride) }} else {{ 0 }};
            if i == 32 {{
                {producer}
            }} else if i < 32 {{
                let mut sum = 0;
                {consumer}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn persistent_rings() {
    for form in FORMS {
        for acquire in [ACQUIRE, ACQUIRE_LATER] {
            proved(&ring((form, &[acquire, LOAD, ARRIVE]), (form, &[WAIT, READ, RELEASE])));
        }
    }
    // The same tiles in another form of the loop.
    proved(&ring((FORMS[0], &[ACQUIRE, LOAD, ARRIVE]), (FORMS[1], &[WAIT, READ, RELEASE])));
    proved(&ring((FORMS[2], &[ACQUIRE, LOAD, ARRIVE]), (FORMS[3], &[WAIT, READ, RELEASE])));
}

#[test]
fn mistakes_in_persistent_rings() {
    let right = ([ACQUIRE, LOAD, ARRIVE], [WAIT, READ, RELEASE]);
    for form in FORMS {
        for (fill, read, rule) in [
            (&right.0[..], &[WAIT, READ][..], "ring_deadlock"),
            (&[LOAD, ARRIVE], &right.1, "ring_overwrite"),
            (&[ACQUIRE, LOAD], &right.1, "ring_deadlock"),
            (&["empty[k % 2].wait_parity(k / 2 % 2 == 1);", LOAD, ARRIVE], &right.1, "ring_deadlock"),
            (&["if k >= 2 { empty[k % 2].wait_parity(k / 2 % 2 == 1); }", LOAD, ARRIVE], &right.1, "ring_overwrite"),
            (&right.0, &[WAIT, RELEASE, READ], "ring_overwrite"),
            (&right.0, &["full[k % 2].wait_parity(k / 2 % 2 == 0);", READ, RELEASE], "ring_read"),
        ] {
            let source = ring((form, fill), (form, read));
            let found: Vec<_> = faults(&source).iter().map(|fault| fault.rule().to_string()).collect();
            assert_eq!(found, [rule], "{source}");
        }
    }
}

/// A loop behind that over the parts counts them by ones.
#[test]
fn rounds_that_are_counted_by_ones() {
    let form = |count: &str| {
        let parts = "for part in 0..parts { let t = tile * parts + part; let k = begun + part; {} }";
        format!("let mut begun = 0u32; for tile in (first..tiles).step_by(stride) {{ {parts} {count} }}")
    };
    let verdict = |producer: &str, consumer: &str| {
        let (producer, consumer) = (form(producer), form(consumer));
        let source = ring((&producer, &[ACQUIRE, LOAD, ARRIVE]), (&consumer, &[WAIT, READ, RELEASE]));
        let source = source.replace("let stages", "assert!(parts > 0); let stages");
        let Attributed { options, item, .. } = Attributed::parse(&source);
        let cases = session().rings("", options, item).unwrap_or_default();
        cases.iter().any(|case| matches!(case.report, RingReport::Proved { .. }))
    };
    let (at_once, by_ones) = ("begun += parts;", "for _ in 0..parts { begun += 1; }");
    assert!(verdict(at_once, by_ones) && verdict(by_ones, at_once) && verdict(by_ones, by_ones));
    for wrong in [
        "for _ in 1..parts { begun += 1; }",
        "for _ in 0..=parts { begun += 1; }",
        "for _ in 0..parts { begun += 2; }",
        "for _ in 0..tiles { begun += 1; }",
        "for i in 0..parts { begun += i; }",
        "for i in 0..parts { if i > 0 { begun += 1; } }",
    ] {
        assert!(!verdict(at_once, wrong), "{wrong}");
    }
}

/// Loops whose numbers of rounds need not be the same are no proof.
#[test]
fn persistent_loops_that_differ() {
    let other_step = FORMS[0].replace("step_by(stride)", "step_by(stride + 1)");
    let other_start = FORMS[0].replace("first..", "first + 1..");
    // The number of rounds is another one for the threads that read.
    let own = FORMS[3]
        .replace("let mut k = 0u32;", "let mut k = 0u32; let rounds = if i < 16 { rounds } else { rounds + 1 };");
    for other in [&other_step, &other_start, &own] {
        let source = ring((FORMS[0], &[ACQUIRE, LOAD, ARRIVE]), (other, &[WAIT, READ, RELEASE]));
        let Attributed { options, item, .. } = Attributed::parse(&source);
        let proved = |report: &RingReport| matches!(report, RingReport::Proved { .. });
        let cases = session().rings("", options, item).unwrap_or_default();
        assert!(!cases.iter().any(|case| proved(&case.report)), "proved:\n{source}");
    }
}

/// A variable that threads set to different numbers is not one number.
#[test]
fn numbers_of_rounds_that_threads_set_apart() {
    let source = ring((FORMS[2], &[ACQUIRE, LOAD, ARRIVE]), (FORMS[2], &[WAIT, READ, RELEASE]));
    let apart = source
        .replace("let rounds = if first < tiles {", "let rounds = if i < 32 { tiles + 1 } else if first < tiles {");
    let Attributed { options, item, .. } = Attributed::parse(&apart);
    let cases = session().rings("", options, item).unwrap_or_default();
    assert!(!cases.iter().any(|case| matches!(case.report, RingReport::Proved { .. })), "proved:\n{apart}");
}

/// Loops of a block over parts from `begin` to `end`, of which the round `k` has the part `t`.
const PARTS: [&str; 3] = [
    "for t in begin..end { let k = t - begin; {} }",
    "let mut k = 0u32; for t in begin..end { {} k += 1; }",
    "let mut k = 0u32; let mut t = begin; while t < end { {} k += 1; t += 1; }",
];

/// Each block has its own part of all ("stream-K"): stages and parities that count from the first part of all are those of the first block alone.
#[test]
fn ranges_of_blocks() {
    for range in [
        "let begin = tiles * first / stride; let end = tiles * (first + 1) / stride;",
        "let begin = block.group_index().x * parts; let end = tiles.min(begin + parts);",
        "let begin = first * (parts / 16); let end = begin + parts / 16;",
    ] {
        let ring = |form: &str, fill: &[&str], read: &[&str]| {
            let rounds = "let rounds =";
            ring((form, fill), (form, read)).replace(rounds, &format!("{range} {rounds}"))
        };
        for form in PARTS {
            let right = ring(form, &[ACQUIRE, LOAD, ARRIVE], &[WAIT, READ, RELEASE]);
            assert!(faults(&right).is_empty(), "{right}");
            let fill = [ACQUIRE, LOAD, ARRIVE].map(|step| step.replace("k % 2", "t % 2"));
            let fill: Vec<&str> = fill.iter().map(String::as_str).collect();
            for wrong in [
                ring(form, &fill, &[WAIT, READ, RELEASE]),
                ring(form, &[ACQUIRE, LOAD, ARRIVE], &[&WAIT.replace('k', "t"), READ, RELEASE]),
            ] {
                let found = faults(&wrong);
                assert!(found.iter().any(|fault| fault.rule().to_string().starts_with("ring_")), "{wrong}");
            }
        }
    }
}
