//! The forms of loops whose rounds are followed: rings whose loops fit, and neighbours in which one side makes another number of
//! rounds.

use super::extraction::{faulty, proved};
use crate::tests::faults;

/// The loops of a ring, in which `{}` stands for a round with its number `k`.
const FORMS: [&str; 10] = [
    "for k in 0..TRIPS { {} }",
    "for k in 1..=TRIPS { let k = k - 1; {} }",
    "for back in (0..TRIPS).rev() { let k = TRIPS - 1 - back; {} }",
    "for twice in (0..2 * (TRIPS)).step_by(2) { let k = twice / 2; {} }",
    "let mut k = 0; while k < TRIPS { {} k += 1; }",
    "let mut k = 0; let mut left = TRIPS; while left > 0 { {} left -= 1; k += 1; }",
    "let mut k = 0; loop { if k == TRIPS { break; } {} k += 1; }",
    "let mut k = 0; loop { if k >= TRIPS { break; } let now = k; k += 1; { let k = now; {} } }",
    "let mut k = 0; while k != TRIPS { {} k += 1; }",
    "for pair in 0..(TRIPS + 1) / 2 { for odd in 0..2 { let k = 2 * pair + odd; if k < TRIPS { {} } } }",
];

/// What the forms have that are not proved, but accepted.
const OPEN: [&str; 2] = ["rev()", "pair"];

fn ring((producer, fills): (&str, &str), (consumer, reads): (&str, &str)) -> String {
    let fill = "empty[k % 2].wait_parity(k / 2 % 2 == 0);
        full[k % 2].expect_tx(256);
        bulk_copy_async(&stages[k % 2], &input[k * 64..(k + 1) * 64], &full[k % 2]);
        let _ = full[k % 2].arrive();";
    let read = "full[k % 2].wait_parity(k / 2 % 2 == 1);
        sum += stages[k % 2][i];
        let _ = empty[k % 2].arrive();";
    let producer = producer.replace("{}", fill).replace("TRIPS", fills);
    let consumer = consumer.replace("{}", read).replace("TRIPS", reads);
    format!(
        "#[cluster_kernel(block = 96)] fn sums(input: &[u32], out: &mut [u32], n: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 64], 2>();
            let full = shared_barriers::<2>();
            let empty = shared_barriers::<2>();
            full.init_collective(&block, 1);
            empty.init_collective(&block, 64);
            if i == 64 {{
                {producer}
            }} else if i < 64 {{
                let mut sum = 0;
                {consumer}
                out[i] = sum;
            }}
        }}"
    )
}

#[test]
fn loops_that_fit() {
    for producer in FORMS {
        for consumer in FORMS {
            let source = ring((producer, "n"), (consumer, "n"));
            match [producer, consumer].iter().all(|form| !OPEN.iter().any(|open| form.contains(open))) {
                true => proved(&source),
                false => assert!(faults(&source).is_empty(), "{:?} of\n{source}", faults(&source)[0].text()),
            }
        }
    }
}

#[test]
fn one_round_more_or_less() {
    for (number, producer) in FORMS.iter().enumerate() {
        let consumer = FORMS[(number + 3) % FORMS.len()];
        faulty(&ring((producer, "n"), (consumer, "(n + 1)")), "ring_deadlock");
        faulty(&ring((producer, "(n + 1)"), (consumer, "n")), "ring_undrained");
    }
}
