//! Names that the parser recognises by their spelling: each is compared with what it means to rustc.

use std::fs;
use std::path::Path;

use super::corpus::annotated_within;
use super::{Attributed, expand, rules};
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::group::Group;
use crate::model::name::{NAMES, RESOLVED, Space, known};
use crate::model::warp::PARTITIONS;

/// The file of `ui-tests/reject` in which an item of the user's has the names of this space.
fn shadowed_in(space: Space) -> &'static str {
    match space {
        Space::Type => "names_of_types",
        Space::Function | Space::Exchange => "names_of_functions",
        Space::Variant | Space::Order | Space::Scope => "names_of_variants",
        Space::Macro => "names_of_macros",
    }
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A name that a new operation brings needs an answer too: an item in the runtime with which it is compared, and a file that
/// shows what rustc says if it means something else.
#[test]
fn each_name_is_refused_where_it_means_something_else() {
    let runtime = read("runtime/src/kernel/spelling.rs");
    let words: Vec<&str> = runtime.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for (space, names) in NAMES {
        let text = read(&format!("ui-tests/reject/{}.stderr", shadowed_in(space)));
        for name in names.iter().filter(|name| **name != RESOLVED) {
            assert!(words.contains(name), "runtime/src/kernel/spelling.rs lacks `{name}`");
            let shown = match space {
                // These stand at the end of a path.
                Space::Exchange => {
                    ["mem", "array"].iter().any(|module| text.contains(&format!("std::{module}::{name}(")))
                }
                Space::Type | Space::Function | Space::Variant | Space::Macro | Space::Order | Space::Scope => {
                    text.contains(&format!("`{name}` is ambiguous"))
                }
            };
            assert!(shown, "ui-tests/reject/{} shadows no `{name}`", shadowed_in(space));
        }
    }
}

/// The tables of groups, barriers and partitions have names that are recognised.
#[test]
fn the_tables_of_the_language_are_among_the_names() {
    for group in Group::ALL {
        assert!(known(group.rust_name(), Space::Type).is_some(), "{}", group.rust_name());
        assert!(known(group.origin(), Space::Function).is_some(), "{}", group.origin());
    }
    for (_, types) in NAMES.into_iter().filter(|(space, _)| *space == Space::Type) {
        for barrier in types.iter().filter_map(|name| Barrier::by_name(name)) {
            let made = barrier.form == BarrierForm::Remote || known(barrier.origin(), Space::Function).is_some();
            assert!(made, "{}", barrier.rust_name());
        }
    }
    for (partition, _) in PARTITIONS {
        assert!(known(partition, Space::Function).is_some(), "{partition}");
    }
}

/// Each function that a text calls is a word that no variable can hide, or `Names::assert_callable` panics here.
#[test]
fn the_functions_that_texts_call_are_reserved() {
    let folders = ["accept", "conformance/src/kernels", "conformance/src/corpus"];
    let mut count = 0;
    for function in folders.into_iter().flat_map(annotated_within) {
        Attributed::new(&function.attribute, function.item).expand();
        count += 1;
    }
    assert!(count > 500, "{count} functions");
}

/// An associated item, a generic parameter and the user's own function are no names of the language.
#[test]
fn names_of_others_are_not_claimed() {
    let cases = [
        "#[device] fn f(x: u32) -> u32 { Counter::fence(x) }",
        "#[device] fn f<Cluster: Number>(x: Cluster) -> Cluster { x }",
        "#[device] fn f<T: Trait>(x: &T::Cluster) -> u32 { g(x) }",
        "#[device] fn f(x: &mut u32, y: u32) { swap(x, y); }",
        "#[device] fn f(x: u32) -> u32 { <u32 as Trait>::fence(x) }",
    ];
    for case in cases {
        let expansion = expand(case).to_string();
        assert!(!expansion.contains("names ::") && !expansion.contains("compile_error"), "{case}\n{expansion}");
    }
    let claimed = expand("#[device] fn f() { my::fence(AcqRel, Scope::Cluster); }").to_string();
    assert!(claimed.contains("use my :: fence as this_name"), "{claimed}");
}

/// A kernel's launch is a type of the kernel's name, which would hide a type of Rust.
#[test]
fn kernels_are_not_named_as_scalars() {
    let named =
        |name: &str| rules(&format!("#[cluster_kernel(block = 32)] fn {name}(out: &mut [u32]) {{ out[0] = 1; }}"));
    for name in ["u128", "f32", "usize", "bool"] {
        assert_eq!(named(name), ["unsupported_signature"], "{name}");
    }
    assert_eq!(named("u128s"), [""; 0]);
}
