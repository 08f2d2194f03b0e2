//! Tests of the extraction: which kernels' rings are proved, which faults are reported, and what is left open.

use super::super::{Attributed, faults, session};
use crate::RingReport;

/// Returns what is known of the rings of a kernel.
#[track_caller]
fn report(source: &str) -> RingReport {
    let Attributed { options, item, .. } = Attributed::parse(source);
    match session().rings(options, item) {
        Ok(report) => report,
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
fn proved(source: &str) {
    match report(source) {
        RingReport::Proved { .. } => {}
        other => panic!("{other:?} of\n{source}"),
    }
}

#[track_caller]
fn faulty(source: &str, rule: &str) {
    let found: Vec<_> = faults(source).iter().map(|fault| fault.rule().to_string()).collect();
    assert_eq!(found, [rule], "{:?} of\n{source}", faults(source).first().map(|fault| fault.text().to_string()));
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
