//! Rings of phase barriers: verdicts on skeletons, and the comparison with a machine that shares no code with the check.

mod agreement;
mod ahead;
mod cases;
mod certain;
mod chains;
mod changed_lines;
mod counters;
mod elements;
mod explicit;
mod extraction;
mod flat;
mod gathered;
mod growth;
mod in_place;
mod innocent;
mod iterators;
mod kernels;
mod lanes;
mod launches;
mod leaders;
mod loops;
mod mends;
mod multicast;
mod mutants;
mod of_warps;
mod ordered;
mod peers;
mod persistent;
mod pipeline_states;
mod polls;
mod preconditions;
mod products;
mod races;
mod roles;
mod rows;
mod schedulers;
mod skeletons;
mod staged;
mod tables;
mod tiles;
mod together;
mod words;

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
