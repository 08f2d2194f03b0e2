//! Large kernels of the project with one mistake each: a wait, an arrival, a parity, a count or a stage. As they are, nothing is reported.

use std::fs;
use std::path::Path;

use super::super::session;
use super::changed_lines::changes::{ATTENTION, GEMM, MULTICAST, PERSISTENT};
use crate::RingReport;
use crate::parse::same_file::{Attributed, attributed};

pub(super) fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    fs::read_to_string(path).expect("the kernels lie beside the crate")
}

/// The rules that the rings of a file's first kernel break, with any of the values of constants that are tried.
fn rules(text: &str) -> Vec<String> {
    let start = text.find("#[cluster_kernel").expect("a kernel");
    let name = text[start..].split("fn ").nth(1).and_then(|rest| rest.split(['<', '(']).next()).expect("its name");
    rules_of_rings(text, kernel_of(text, name))
}

fn kernel_of(text: &str, name: &str) -> Attributed {
    let named = |item: &Attributed| item.is_kernel && item.item.to_string().contains(&format!("fn {name} "));
    attributed(text).expect("items").into_iter().find(named).expect("the kernel")
}

fn rules_of_rings(text: &str, kernel: Attributed) -> Vec<String> {
    let rule = |report: RingReport| match report {
        RingReport::Refused(fault) => Some(fault.rule().to_string()),
        RingReport::Proved { .. } | RingReport::Open { .. } | RingReport::Waived => None,
    };
    match session().rings(text, kernel.options, kernel.item) {
        Ok(cases) => cases.into_iter().filter_map(|case| rule(case.report)).collect(),
        Err(faults) => faults.iter().map(|fault| fault.rule().to_string()).collect(),
    }
}

/// The rules that a kernel of a text breaks, those of its rings among them.
pub(super) fn all_rules(text: &str, kernel: &str) -> Vec<String> {
    let kernel = kernel_of(text, kernel);
    let faults = session().check_kernel_in(text, kernel.options.clone(), kernel.item.clone());
    let rules = faults.iter().map(|fault| fault.rule().to_string());
    rules.chain(rules_of_rings(text, kernel)).collect()
}

#[test]
fn right_kernels() {
    for file in [GEMM, MULTICAST, ATTENTION, PERSISTENT] {
        assert_eq!(rules(&text(file)), Vec::<String>::new(), "{file}");
    }
}

#[track_caller]
fn check(file: &str, mutants: &[(&str, &str)]) {
    let text = text(file);
    for (old, new) in mutants {
        assert!(text.contains(old), "{file} has no {old}");
        let found = rules(&text.replacen(old, new, 1));
        assert!(found.iter().any(|rule| rule.starts_with("ring_")), "{old} -> {new}: {found:?}");
    }
}

#[test]
fn mistakes_in_a_product() {
    check(
        GEMM,
        &[
            ("empty[stage].wait_parity(round % 2 == 0);", ""),
            ("4 * CONSUMERS as u32", "4 * CONSUMERS as u32 - 1"),
            ("wait_mma_prior::<1>", "wait_mma_prior::<2>"),
            ("bulk_wait_group_read::<1>", "bulk_wait_group_read::<2>"),
            ("warp.sync(); // the part is complete", ""),
        ],
    );
}

#[test]
fn mistakes_in_an_attention() {
    check(
        ATTENTION,
        &[
            ("k_full[stage].wait_parity(step / STAGES as u32 % 2 == 1);", ""),
            ("(step - 1) / STAGES as u32 % 2 == 1", "step / STAGES as u32 % 2 == 1"),
            ("let _ = v_empty[before].arrive();", ""),
            ("q_full.wait_parity(false)", "q_full.wait_parity(!(false))"),
            ("k_full[0].wait_parity(false)", "k_full[0].wait_parity(!false)"),
            ("v_empty[before]", "v_empty[stage]"),
            ("let _ = k_empty[0].arrive();", ""),
        ],
    );
}

#[test]
fn mistakes_in_a_product_of_pairs_of_blocks() {
    check(
        PERSISTENT,
        &[
            ("step / STAGES as u32 % 2 == 0", "step / STAGES as u32 % 2 == 1"),
            ("b.expect_multicast(&b_tiles[stage][HALF..], &full[stage]);", ""),
            ("(step + k - 1) % STAGES", "(step + k) % STAGES"),
            ("4 * BLOCKS as u32", "4 * BLOCKS as u32 + 1"),
            ("bulk_wait_group_read::<1>(); // the part before", "// the part before"),
        ],
    );
}
