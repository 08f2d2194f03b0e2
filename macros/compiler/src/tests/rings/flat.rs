//! Rings whose stages are parts of one flat array, or of dynamic shared memory.

use super::super::{Attributed, faults, session};
use crate::RingReport;

/// A ring of three stages of 128 numbers each in flat memory, which one thread loads and 32 others read.
fn ring(memory: &str, producer: &[&str], consumer: &[&str]) -> String {
    format!(
        "#[cluster_kernel(block = 64, shared_bytes = 1536)] fn sums(x: &[f32], out: &mut [f32], tiles: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let ring = {memory};
            let full = shared_barriers::<3>();
            let empty = shared_barriers::<3>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            if i == 32 {{
                for t in 0..tiles {{ let s = t % 3; {} }}
            }} else if i < 32 {{
                let mut sum = 0.0;
                for t in 0..tiles {{ let s = t % 3; {} }}
                out[i] = sum;
            }}
        }}",
        producer.concat(),
        consumer.concat(),
    )
}

const MEMORIES: [&str; 2] = ["shared_array::<f32, 384>()", "dynamic_shared::<f32>()"];
const ACQUIRE: &str = "empty[s].wait_parity(t / 3 % 2 == 0); full[s].expect_tx(512);";
const LOAD: &str = "bulk_copy_async(&ring[s * 128..(s + 1) * 128], &x[t * 128..(t + 1) * 128], &full[s]);";
const ARRIVE: &str = "let _ = full[s].arrive();";
const WAIT: &str = "full[s].wait_parity(t / 3 % 2 == 1);";
const READ: &str = "for k in 0..4 { sum += ring[s * 128 + k * 32 + 31 - i]; }";
const RELEASE: &str = "let _ = empty[s].arrive();";

/// Whether all of a ring is proved.
fn is_proved(source: &str) -> bool {
    let Attributed { options, item, .. } = Attributed::parse(source);
    let cases = session().rings("", options, item).unwrap_or_else(|_| panic!("faults in\n{source}"));
    let proved = |report: &RingReport| match report {
        RingReport::Proved { arrays, .. } => arrays == &["ring"],
        RingReport::Open { .. } | RingReport::Refused(_) | RingReport::Waived => false,
    };
    matches!(&cases[..], [case] if proved(&case.report))
}

#[test]
fn flat_rings() {
    let loads = [
        LOAD,
        "bulk_copy_async(&ring[s * 128..s * 128 + 128], &x[t * 128..(t + 1) * 128], &full[s]);",
        "let at = s << 7; bulk_copy_async(&ring[at..at + 128], &x[t * 128..(t + 1) * 128], &full[s]);",
        "let at = (s * 128) as usize; bulk_copy_async(&ring[at..at + 128], &x[t * 128..(t + 1) * 128], &full[s]);",
    ];
    let reads = [
        READ,
        "for k in (i..128).step_by(32) { sum += ring[s * 128 + k]; }",
        "let at = s * 128; for k in 0..128 { sum += ring[at + (k + i) % 128]; }",
        "let stage = &ring[s * 128..(s + 1) * 128]; for k in 0..4 { sum += stage[k * 32 + i]; }",
        "for k in 1..129 { sum += ring[(s + 1) * 128 - k]; }",
        "sum += ring[s * 128 + (i & 15) * 8 + (i >> 4)];",
        "sum += ring[(s * 128 + i.min(127)) as usize];",
    ];
    for memory in MEMORIES {
        for load in loads {
            assert!(is_proved(&ring(memory, &[ACQUIRE, load, ARRIVE], &[WAIT, READ, RELEASE])), "{memory}: {load}");
        }
        for read in reads {
            assert!(is_proved(&ring(memory, &[ACQUIRE, LOAD, ARRIVE], &[WAIT, read, RELEASE])), "{memory}: {read}");
        }
    }
}

/// What is not certain to stay in one stage is no part of a proof, and no fault either.
#[test]
fn flat_rings_that_are_not_followed() {
    for (load, read) in [
        // The copies of two stages overlap.
        ("bulk_copy_async(&ring[s * 64..s * 64 + 128], &x[t * 128..(t + 1) * 128], &full[s]);", READ),
        // The length is not known.
        ("bulk_copy_async(&ring[s * 128..s * 128 + tiles], &x[t * 128..t * 128 + tiles], &full[s]);", READ),
        (LOAD, "sum += ring[s * 128 + x[i] as u32 % 129];"),
        (LOAD, "for k in 0..tiles { sum += ring[s * 128 + k]; }"),
    ] {
        for memory in MEMORIES {
            let source = ring(memory, &[ACQUIRE, load, ARRIVE], &[WAIT, read, RELEASE]);
            assert!(!is_proved(&source), "proved:\n{source}");
        }
    }
    // Two uses of dynamic shared memory have elements of different sizes.
    let other = format!("{ACQUIRE} let bytes = dynamic_shared::<u8>(); bytes[t] = 0;");
    assert!(!is_proved(&ring(MEMORIES[1], &[&other, LOAD, ARRIVE], &[WAIT, READ, RELEASE])));
}

#[test]
fn mistakes_in_flat_rings() {
    let right = ([ACQUIRE, LOAD, ARRIVE], [WAIT, READ, RELEASE]);
    let inverted = "empty[s].wait_parity(t / 3 % 2 == 1); full[s].expect_tx(512);";
    let (expect, half) = ("full[s].expect_tx(512);", "full[s].expect_tx(256);");
    let next = LOAD.replace("ring[s * 128..(s + 1) * 128]", "ring[(s + 1) % 3 * 128..(s + 1) % 3 * 128 + 128]");
    let beyond = "sum += ring[s * 128 + 97 + i];";
    for memory in MEMORIES {
        for (producer, consumer, rule) in [
            (&[inverted, LOAD, ARRIVE][..], &right.1[..], "ring_deadlock"),
            (&[expect, LOAD, ARRIVE], &right.1, "ring_overwrite"),
            (&[ACQUIRE, LOAD], &right.1, "ring_deadlock"),
            (&[ACQUIRE, half, LOAD, ARRIVE], &right.1, "ring_deadlock"),
            (&[ACQUIRE, &next, ARRIVE], &right.1, "ring_read"),
            (&right.0, &["full[s].wait_parity(t / 3 % 2 == 0);", READ, RELEASE], "ring_read"),
            (&right.0, &[READ, WAIT, RELEASE], "ring_read"),
            (&right.0, &[WAIT, RELEASE, READ], "ring_overwrite"),
            (&right.0, &[WAIT, READ], "ring_deadlock"),
            (&right.0, &[WAIT, beyond, RELEASE], "ring_read"),
        ] {
            let source = ring(memory, producer, consumer);
            let found: Vec<_> = faults(&source).iter().map(|fault| fault.rule().to_string()).collect();
            assert_eq!(found, [rule], "{source}");
        }
    }
}

/// Messages name the elements of a stage.
#[test]
fn stages_of_flat_rings_in_messages() {
    let found = faults(&ring(MEMORIES[0], &[ACQUIRE, LOAD, ARRIVE], &[READ, WAIT, RELEASE]));
    assert!(found[0].text().contains("`ring[0..128]`"), "{}", found[0].text());
}
