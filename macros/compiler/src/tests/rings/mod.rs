//! Rings of phase barriers: verdicts on skeletons, and the comparison with a machine that shares no code with the check.

mod agreement;
mod ahead;
mod arms;
mod below_zero;
mod cases;
mod certain;
mod chains;
mod changed_lines;
mod counters;
mod data;
mod elements;
mod ends;
mod explicit;
mod extraction;
mod flat;
mod gathered;
mod global_sums;
mod growth;
mod handed;
mod in_place;
mod innocent;
mod iterators;
mod kernels;
mod lanes;
mod launches;
mod leaders;
mod lengths;
mod loops;
mod meetings;
mod mends;
mod modules;
mod multicast;
mod multiplied;
mod mutants;
mod of_warps;
mod one_array;
mod ordered;
mod peers;
mod persistent;
mod pipeline_states;
mod polls;
mod ported;
mod preconditions;
mod products;
mod queues;
mod races;
mod roles;
mod rows;
mod schedulers;
mod skeletons;
mod sources;
mod staged;
mod structs;
mod tables;
mod tile_rows;
mod tiles;
mod together;
mod traces;
mod unread;
mod wide;
mod words;
mod written_tiles;

use super::{Attributed, session};
use crate::{RingCase, RingReport};

/// What is known of a kernel's rings, case by case: `proved`, `open` and where, or the rule that they break. The items stand in its file.
fn verdict(items: &str, kernel: &str) -> String {
    let Attributed { options, item, .. } = Attributed::parse(kernel);
    let known = |case: &RingCase| match &case.report {
        RingReport::Proved { .. } => "proved".into(),
        RingReport::Refused(fault) => fault.rule().to_string(),
        RingReport::Open { line, why } => format!("open in line {line}: {why}"),
        RingReport::Waived => "waived".into(),
    };
    let verdicts: Vec<String> = match session().rings(&format!("{items} {kernel}"), options, item) {
        Ok(cases) => cases.iter().map(known).collect(),
        Err(faults) => faults.iter().map(|fault| fault.rule().to_string()).collect(),
    };
    verdicts.join(", ")
}

/// A ring of so many stages: all threads run `test`, one of the second warp fills, and those of the first read.
fn sums(stages: usize, test: &str, fill: &str, read: &str) -> String {
    format!(
        "#[cluster_kernel(block = 64)] fn sums(x: &[u32], out: &mut [u32], n: u32, m: u32, tiles: u32) {{
            let block = this_thread_block();
            let i = block.thread_rank();
            let stages = shared_array::<[u32; 32], {stages}>();
            let (full, empty) = (shared_barriers::<{stages}>(), shared_barriers::<{stages}>());
            full.init_collective(&block, 1);
            empty.init_collective(&block, 32);
            {test}
            if i == 32 {{
                {fill}
            }} else if i < 32 {{
                let mut sum = 0;
                {read}
                out[i] = sum;
            }}
        }}"
    )
}

/// Asserts that no ring of a kernel is proved.
#[track_caller]
fn not_proved(source: &str) {
    let Attributed { options, item, .. } = Attributed::parse(source);
    let cases = session().rings("", options, item).unwrap_or_default();
    let is_proved = |report: &RingReport| matches!(report, RingReport::Proved { .. });
    assert!(!cases.iter().any(|case| is_proved(&case.report)), "proved:\n{source}");
}
