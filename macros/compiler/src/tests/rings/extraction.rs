//! Tests of the extraction: which kernels' rings are proved, which faults are reported, and what is left open.

use super::super::{Attributed, expand, faults, session};
use crate::{RingCase, RingReport};

/// Returns what is known of the rings of a kernel in a file with these constants.
#[track_caller]
pub(super) fn cases(constants: &str, source: &str) -> Vec<RingCase> {
    let Attributed { options, item, .. } = Attributed::parse(source);
    match session().rings(constants, options, item) {
        Ok(cases) => cases,
        Err(faults) => panic!("{}", faults.iter().map(|fault| fault.text()).collect::<Vec<_>>().join("\n")),
    }
}

/// A ring of two stages that one thread fills by bulk copies and 64 others read; `producer` and `consumer` are the bodies of the loops.
fn ring(count: &str, producer: &str, consumer: &str) -> String {
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], out: &mut [u32], chunks: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            if i == 64 {{
                for k in 0..chunks {{ {producer} }}
            }} else if i < 64 {{
                let mut sum = 0;
                for k in 0..chunks {{ {consumer} }}
                out[i] = sum;
            }}
        }}"
    )
}

const ACQUIRE: &str = "empty[k % 2].wait_parity(k / 2 % 2 == 0);";
const FILL: &str = "full[k % 2].expect_tx(256);
    bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
    let _ = full[k % 2].arrive();";
const WAIT: &str = "full[k % 2].wait_parity(k / 2 % 2 == 1);";
const READ: &str = "sum += stages[k % 2][i];";
const RELEASE: &str = "let _ = empty[k % 2].arrive();";

fn changed(count: &str, producer: &[&str], consumer: &[&str]) -> String {
    ring(count, &producer.concat(), &consumer.concat())
}

#[track_caller]
pub(super) fn proved(source: &str) {
    match &cases("", source)[..] {
        [RingCase { report: RingReport::Proved { .. }, values }] if values.is_empty() => {}
        other => panic!("{other:?} of\n{source}"),
    }
}

/// Whether the rings of a kernel are proved with accesses of an array.
pub(super) fn is_proved(source: &str) -> bool {
    let Attributed { options, item, .. } = Attributed::parse(source);
    let cases = session().rings("", options, item).unwrap_or_default();
    cases.iter().any(|case| matches!(&case.report, RingReport::Proved { arrays, .. } if !arrays.is_empty()))
}

#[track_caller]
pub(super) fn faulty(source: &str, rule: &str) {
    let found: Vec<_> = faults(source).iter().map(|fault| fault.rule().to_string()).collect();
    assert_eq!(found, [rule], "{:?} of\n{source}", faults(source).first().map(|fault| fault.text().to_string()));
}

/// The blocks of a cluster that have nothing to do with each other are one.
#[test]
fn blocks_for_themselves() {
    let in_clusters = |source: String| source.replace("block = 96", "cluster = 8, block = 96");
    let released: [&str; 3] = [WAIT, READ, RELEASE];
    proved(&in_clusters(changed("64", &[ACQUIRE, FILL], &released)));
    let inverted = ACQUIRE.replace("== 0", "== 1");
    faulty(&in_clusters(changed("64", &[&inverted, FILL], &released)), "ring_deadlock");
}

#[test]
fn a_ring() {
    proved(&changed("64", &[ACQUIRE, FILL], &[WAIT, READ, RELEASE]));
}

#[test]
fn wrong_rings() {
    let right = ([ACQUIRE, FILL], [WAIT, READ, RELEASE]);
    let inverted = "empty[k % 2].wait_parity(k / 2 % 2 == 1);";
    faulty(&changed("64", &[inverted, FILL], &right.1), "ring_deadlock");
    faulty(&changed("64", &right.0, &["full[k % 2].wait_parity(k / 2 % 2 == 0);", READ, RELEASE]), "ring_read");
    faulty(&changed("64", &right.0, &[WAIT, READ]), "ring_deadlock");
    faulty(&changed("64", &[FILL], &right.1), "ring_overwrite");
    faulty(&changed("64", &right.0, &[WAIT, RELEASE, READ]), "ring_overwrite");
    faulty(&changed("65", &right.0, &right.1), "ring_deadlock");
    faulty(&changed("63", &right.0, &right.1), "ring_count");
    faulty(&changed("64", &[ACQUIRE, &FILL.replace("256", "260")], &right.1), "ring_deadlock");
    faulty(&changed("64", &right.0, &["full[k % 2].wait_parity(k / 4 % 2 == 1);", READ, RELEASE]), "ring_count");
    faulty(&changed("64", &right.0, &[WAIT, READ, "let _ = empty[(k + 1) % 2].arrive();"]), "ring_overtaken");
}

/// Stages and parities by the methods of unsigned integers.
#[test]
fn methods_of_numbers() {
    let right = [WAIT, READ, RELEASE].map(|part| part.replace("k % 2", "s").replace("k / 2 % 2", "p"));
    let with = |stage: &str, parity: &str| {
        let first = format!("let (s, p) = ({stage}, {parity}); {}", right[0]);
        changed("64", &[ACQUIRE, FILL], &[&first, &right[1], &right[2]])
    };
    for (stage, parity) in [
        ("k.wrapping_add(2) % 2", "k / 2 % 2"),
        ("k.wrapping_sub(0) & 1", "(k >> 1) & 1"),
        ("k.saturating_add(4) % 2", "k.div_euclid(2) % 2"),
        ("k.rem_euclid(2)", "(k / 2).rem_euclid(2)"),
        ("(k + 3).wrapping_sub(1) % 2", "k.wrapping_sub(0) / 2 % 2"),
    ] {
        proved(&with(stage, parity));
    }
    for (stage, parity) in [
        ("k % 2", "k.wrapping_add(1) / 2 % 2"),
        ("k.rem_euclid(2)", "k.rem_euclid(2)"),
        ("k.saturating_sub(1) % 2", "k / 2 % 2"),
    ] {
        let source = with(stage, parity);
        let found: Vec<_> = faults(&source).iter().map(|fault| fault.rule().to_string()).collect();
        assert!(matches!(&found[..], [found] if found.starts_with("ring_")), "{found:?} of {source}");
    }
}

/// What `cuda!` does to a barrier is not known: it may be the arrival, or the wait, that the rest lacks.
#[test]
fn barriers_by_hand() {
    let by_hand = "unsafe { cuda!(\"f(bar);\", in(bar = full[k % 2])) }";
    let open = |source: &str| match &cases("", source)[..] {
        [RingCase { report: RingReport::Open { why, .. }, .. }] => assert!(why.contains("`cuda!`"), "{why}"),
        other => panic!("{other:?} of\n{source}"),
    };
    open(&changed("64", &[ACQUIRE, FILL, by_hand], &[WAIT, READ, RELEASE]));
    let fill = "unsafe { cuda!(\"f(bar, stages);\", in(bar = full[k % 2]), in(stages)) }";
    open(&changed("64", &[ACQUIRE, fill], &[WAIT, READ, RELEASE]));
    open(&changed("64", &[ACQUIRE, FILL], &[by_hand, READ, RELEASE]));
    // The text has no barrier here.
    let other = "let x = k; unsafe { cuda!(\"f(x);\", in(x)) }";
    proved(&changed("64", &[ACQUIRE, FILL, other], &[WAIT, READ, RELEASE]));
}

/// The rules of single barriers are not about one that `cuda!` may arrive at, initialize or wait at.
#[test]
fn single_barriers_by_hand() {
    let kernel = |second: &str| {
        format!(
            "#[cluster_kernel(block = 64)] fn kernel(out: &mut [u32]) {{
                let block = this_thread_block();
                let full = shared_barrier();
                let other = shared_barrier();
                full.init_collective(&block, 32);
                other.init_collective(&block, 64);
                {second}
                full.wait_parity(false);
                out[block.thread_rank()] = 1;
            }}"
        )
    };
    assert!(faults(&kernel("unsafe { cuda!(\"f(full);\", in(full)) }")).is_empty());
    for second in ["", "unsafe { cuda!(\"f(other);\", in(other)) }"] {
        assert!(!faults(&kernel(second)).is_empty(), "nobody arrives: {second}");
    }
}

/// A ring of `STAGES` stages of `WIDTH` numbers, that one thread fills and `READERS` read; `count` arrivals empty a stage.
fn of_constants(generics: &str, count: &str, parity: &str) -> String {
    format!(
        "#[cluster_kernel(block = BLOCK)] fn sums{generics}(input: &[u32], out: &mut [u32], chunks: usize) {{
            let block = this_thread_block();
            let i = block.thread_rank() as usize;
            let stages = shared_array::<[u32; WIDTH], STAGES>();
            let full = shared_barriers::<STAGES>();
            let empty = shared_barriers::<STAGES>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, {count});
            if i == READERS {{
                for k in 0..chunks {{
                    empty[k % STAGES].wait_parity(k / STAGES % 2 == 0);
                    full[k % STAGES].expect_tx(WIDTH as u32 * 4);
                    bulk_copy_async(&stages[k % STAGES], &input[k * WIDTH..(k + 1) * WIDTH], &full[k % STAGES]);
                    let _ = full[k % STAGES].arrive();
                }}
            }} else if i < READERS {{
                let mut sum = 0;
                for k in 0..chunks {{
                    full[k % STAGES].wait_parity({parity});
                    sum += stages[k % STAGES][i];
                    let _ = empty[k % STAGES].arrive();
                }}
                out[i] = sum;
            }}
        }}"
    )
}

const RIGHT: &str = "k / STAGES % 2 == 1";

/// The outcome of each case: its values, and whether it is proved, a rule, or the reason why it is open.
#[track_caller]
fn outcomes(constants: &str, source: &str) -> Vec<(String, String)> {
    let each = cases(constants, source).into_iter().map(|RingCase { values, report }| {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let outcome = match report {
            RingReport::Proved { .. } => "proved".into(),
            RingReport::Refused(fault) => fault.rule().to_string(),
            RingReport::Waived => "waived".into(),
            RingReport::Open { why, .. } => why,
        };
        (values.join(", "), outcome)
    });
    each.collect()
}

const CONSTANTS: &str = "const READERS: usize = 64; pub const BLOCK: usize = READERS + 32; const WIDTH: usize = 64;
    mod a { pub const STAGES: usize = 3; }";

#[test]
fn constants_of_the_file() {
    let found = outcomes(CONSTANTS, &of_constants("", "READERS as u32", RIGHT));
    assert_eq!(found, [("BLOCK 96, READERS 64, STAGES 3, WIDTH 64".into(), "proved".into())]);
    let found = outcomes(CONSTANTS, &of_constants("", "READERS as u32 - 1", RIGHT));
    assert_eq!(found, [("BLOCK 96, READERS 64, STAGES 3, WIDTH 64".into(), "ring_count".into())]);
}

/// A constant with several definitions has each of them in turn, one without any several numbers of stages.
#[test]
fn values_that_are_tried() {
    let several = format!("{CONSTANTS} mod b {{ pub const STAGES: usize = 2; }}");
    let wrong = of_constants("", "READERS as u32", "k / 3 % 2 == 1");
    let found = outcomes(&several, &wrong);
    assert_eq!(found.iter().map(|(_, outcome)| &**outcome).collect::<Vec<_>>(), ["proved", "ring_count"], "{found:?}");
    let found = outcomes(CONSTANTS, &of_constants("<const STAGES: usize>", "READERS as u32", RIGHT));
    assert!(found.len() > 4 && found.iter().all(|(_, outcome)| outcome == "proved"), "{found:?}");
    let found = outcomes(CONSTANTS, &of_constants("<const STAGES: usize>", "READERS as u32", "k / 3 % 2 == 1"));
    assert!(found[0].0.contains("STAGES 2") && found[0].1 == "ring_count" && found[1].1 == "proved", "{found:?}");
}

/// rustc compares the values, in a generic kernel with each instance.
#[test]
fn faults_that_rustc_reports() {
    let wrong =
        ring("64", &[ACQUIRE, FILL].concat(), &["full[k % 2].wait_parity(k / 3 % 2 == 1);", READ, RELEASE].concat())
            .replace("k % 2", "k % N")
            .replace("k / 2", "k / N")
            .replace(", 2>", ", N>")
            .replace("::<2>", "::<N>");
    let condition = "if (N) as i128 == 2i128";
    for (generics, begin) in [("<const N: usize>", "const {"), ("", "const _ : () = {")] {
        let text = expand(&wrong.replace("fn sums", &format!("fn sums{generics}"))).to_string();
        let fault = format!("{begin} {condition}");
        let at = text.find(&fault).unwrap_or_else(|| panic!("{text}"));
        assert!(text[at..].contains("[ring_"), "{text}");
    }
    let right = expand(&wrong.replace("k / 3", "k / N").replace("fn sums", "fn sums<const N: usize>")).to_string();
    assert!(!right.contains(&format!("const {{ {condition}")), "{right}");
}

/// What is not known keeps a ring open, and is not tried for ever.
#[test]
fn constants_that_are_not_known() {
    for constants in ["", "const STAGES: usize = STAGES; const READERS: usize = f(3);"] {
        let found = outcomes(constants, &of_constants("", "READERS as u32", RIGHT));
        assert!(found.len() <= 8 && found.iter().all(|(_, outcome)| outcome != "proved"), "{found:?}");
    }
    // The body's own constant is another one.
    let hidden = of_constants("", "READERS as u32", RIGHT)
        .replace("let block = this", "const BLOCK: usize = 3; let block = this");
    let found = outcomes(CONSTANTS, &hidden);
    assert!(found.iter().all(|(_, outcome)| outcome != "proved"), "{found:?}");
}

/// A ring whose threads keep their positions in a `Pipeline`; `producer` and `consumer` are the bodies of the loops.
fn of_pipelines(count: &str, producer: &str, consumer: &str) -> String {
    let begin = "let mut pipeline = Pipeline::<3>::new();";
    ring(count, producer, consumer)
        .replace("::<2>", "::<3>")
        .replace(", 2>", ", 3>")
        .replace("if i == 64", &format!("{begin} if i == 64"))
}

const FILL_STAGE: &str = "let stage = pipeline.producer_acquire(&empty);
    full[stage].expect_tx(256);
    bulk_copy_async(&stages[stage], &input[k * 64..(k + 1) * 64], &full[stage]);
    pipeline.producer_commit(&full);";
const READ_STAGE: &str = "let stage = pipeline.consumer_wait(&full); sum += stages[stage][i];";

#[test]
fn pipelines() {
    let outcome = |count: &str, producer: &str, consumer: &str| {
        let found = outcomes("", &of_pipelines(count, producer, consumer));
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].1.clone()
    };
    let release = format!("{READ_STAGE} pipeline.consumer_release(&empty);");
    assert_eq!(outcome("64", FILL_STAGE, &release), "proved");
    assert_eq!(outcome("63", FILL_STAGE, &release), "ring_count");
    let by_hand = format!("{READ_STAGE} let _ = empty[stage].arrive(); pipeline.advance();");
    assert_eq!(outcome("64", FILL_STAGE, &by_hand), "proved");
    assert_eq!(outcome("64", FILL_STAGE, &format!("{READ_STAGE} pipeline.advance();")), "ring_deadlock");
    assert_eq!(outcome("64", FILL_STAGE, &format!("{READ_STAGE} let _ = empty[stage].arrive();")), "ring_count");
    let reads_late =
        "let stage = pipeline.consumer_wait(&full); pipeline.consumer_release(&empty); sum += stages[stage][i];";
    assert_eq!(outcome("64", FILL_STAGE, reads_late), "ring_overwrite");
    let no_wait = FILL_STAGE.replace("pipeline.producer_acquire(&empty)", "k % 3");
    assert_eq!(outcome("64", &no_wait, &release), "ring_overwrite");
    let other = of_pipelines("64", FILL_STAGE, &release).replace("Pipeline::<3>", "Ring::<3>");
    assert_eq!(outcomes("", &other)[0].1, "a device function is given the barrier");
}

/// A ring that a thread fills and 64 threads read, of which one of each warp releases the stage.
fn of_warps(count: &str, producer: &str, consumer: &str) -> String {
    ring(count, producer, consumer)
        .replace("if i == 64 {", "if warp.meta_group_rank() == 2 { if i == 64 {")
        .replace("} else if i < 64 {", "} } else {")
        .replace("rank();", "rank(); let warp = tiled_partition::<32>(&block);")
}

#[test]
fn warps() {
    let producer = [ACQUIRE, FILL].concat();
    let release = "if warp.thread_rank() == 0 { let _ = empty[k % 2].arrive(); }";
    let meet = "warp.sync();";
    proved(&of_warps("2", &producer, &[WAIT, READ, meet, release].concat()));
    faulty(&of_warps("3", &producer, &[WAIT, READ, meet, release].concat()), "ring_deadlock");
    faulty(&of_warps("1", &producer, &[WAIT, READ, meet, release].concat()), "ring_count");
    faulty(&of_warps("2", &producer, &[WAIT, meet, release, READ].concat()), "ring_overwrite");
    faulty(&of_warps("2", &producer, &[READ, meet, release].concat()), "ring_read");
    let wait_once = "if warp.thread_rank() == 0 { full[k % 2].wait_parity(k / 2 % 2 == 1); }";
    proved(&of_warps("2", &producer, &[wait_once, meet, READ, meet, release].concat()));
    // The others may be late, or early, where the warp does not meet.
    faulty(&of_warps("2", &producer, &[WAIT, READ, release].concat()), "ring_overwrite");
    faulty(&of_warps("2", &producer, &[wait_once, READ, meet, release].concat()), "ring_read");
}
