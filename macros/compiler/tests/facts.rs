//! Each fact of a table's entry is required: entries that lack one do not compile. The tables' modules are compiled by
//! themselves, with made-up entries beside them; that complete ones are judged by their facts, the crate's own tests show.

use std::path::Path;
use std::process::Command;

/// What the tables' modules import from the crate, and a made-up entry of each.
const COMPLETE: &str = "
mod group {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Group { Coalesced, Tile, ThreadBlock, Cluster, Grid }
    impl Group {
        pub(crate) const ALL: [Group; 1] = [Group::Grid];
        pub(crate) fn is_of_a_warp(self) -> bool { true }
    }
}
mod kind {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Kind { Value, Unit }
}
static QUERY: query::Query =
    query::Query { name: \"\", answer: query::Answer::Number, uniform_at: query::UniformAt::Thread };
static WARP_METHOD: warp::WarpMethod =
    warp::WarpMethod { name: \"\", operands: &[], tiles_only: false, result: warp::WarpResult::PerThread };
static ATOMIC_METHOD: atomic::AtomicMethod =
    atomic::AtomicMethod { name: \"\", operands: 0, orders: &[], access: atomic::AtomicAccess::Load, result: kind::Kind::Unit };
static PHASE_METHOD: barrier::PhaseMethod =
    barrier::PhaseMethod { name: \"\", operands: &[], result: barrier::PhaseResult::Bool, action: barrier::PhaseAction::TryWait };
static BARRIER_METHOD: group_barrier::BarrierMethod = group_barrier::BarrierMethod {
    name: \"\", groups: &[], operation: group_barrier::BarrierOperation::Sync, relaxed: false, aligned: false };
static VALUE_METHOD: method::ValueMethod =
    method::ValueMethod { name: \"\", arguments: 0, header: \"\", fails: None };
";

/// Each table's module, the type of its entries, and their facts.
const TABLES: [(&str, &str, &[&str]); 6] = [
    ("query", "Query", &["answer", "uniform_at"]),
    ("warp", "WarpMethod", &["operands", "tiles_only", "result"]),
    ("atomic", "AtomicMethod", &["operands", "orders", "access", "result"]),
    ("barrier", "PhaseMethod", &["operands", "result", "action"]),
    ("group_barrier", "BarrierMethod", &["groups", "operation", "relaxed", "aligned"]),
    ("method", "ValueMethod", &["arguments", "header", "fails"]),
];

/// What rustc says of the tables' modules with `more` beside them; nothing, if it takes them.
fn compile(name: &str, more: &str) -> Option<String> {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model");
    let module = |table: &str| format!("#[path = {:?}]\nmod {table};\n", model.join(table).with_extension("rs"));
    let modules: String = TABLES.iter().map(|(table, ..)| module(table)).collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join(name).with_extension("rs");
    std::fs::write(&source, format!("{modules}{COMPLETE}{more}")).expect("the folder is cargo's own");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let options = ["--edition=2024", "--crate-type=lib", "--emit=metadata", "--cap-lints=allow"];
    let output = Command::new(rustc).args(options).arg("--out-dir").arg(folder).arg(&source).output();
    let output = output.expect("rustc has compiled this test");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn complete_entries_compile() {
    assert_eq!(compile("complete", ""), None);
}

#[test]
fn an_entry_without_a_fact_does_not_compile() {
    let mut more = String::new();
    for (table, entry, facts) in TABLES {
        for fact in facts {
            // All other fields, each of whatever type it has.
            let others = facts.iter().filter(|other| *other != fact).map(|other| format!("{other}: loop {{}},"));
            let others: String = others.collect();
            more +=
                &format!("fn {table}_{fact}() -> {table}::{entry} {{ {table}::{entry} {{ name: \"\", {others} }} }}\n");
        }
        more += &format!(
            "fn {table}_default() -> {table}::{entry} {{ {table}::{entry} {{ name: \"\", ..Default::default() }} }}\n"
        );
    }
    let refusal = compile("incomplete", &more).unwrap_or_default();
    for (_, entry, facts) in TABLES {
        for fact in facts {
            let missing = format!("missing field `{fact}` in initializer of `{entry}`");
            assert!(refusal.contains(&missing), "{missing}\n{refusal}");
        }
        assert!(refusal.contains(&format!("`{entry}: Default` is not satisfied")), "{entry}\n{refusal}");
    }
}
