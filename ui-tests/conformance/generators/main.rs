//! The compiler's checks on generated kernels: each generator has a language of its own and a judge that knows nothing of
//! the checks, and what the compiler reports is compared with the judge's verdict. `agreement` runs the kernels in the
//! simulator instead. A crate of its own, because it is optimized and links no kernel of `ui-tests/conformance`. Not here:
//! the wording of messages, which `ui-tests/reject` compares.

mod agreement;
mod generated_barriers;
mod generated_dsm;
mod generated_fences;
mod generated_rings;
mod generated_tokens;
mod generated_uniformity;
mod page;
// The compiler's own tests draw from the same numbers.
#[path = "../../../macros/compiler/src/tests/random.rs"]
mod random;
mod shrink;

use phalanx_compiler::{Fault, Rule, Session};
use proc_macro2::{TokenStream, TokenTree};

/// Returns the session that `cargo xtask mutate` sets: without the rule that `PHALANX_WITHOUT_RULE` names.
fn session() -> Session {
    let without = std::env::var("PHALANX_WITHOUT_RULE").ok();
    Session { without: without.map(|rule| rule.parse().expect("PHALANX_WITHOUT_RULE is a rule")), ..Session::default() }
}

/// Whether a fault is one that the traces of threads show: the judges of other rules do not look at it, and `agreement` holds it against
/// the simulator.
fn is_of_traces(fault: &Fault) -> bool {
    match fault.rule() {
        Rule::UnsynchronizedAccess => true,
        Rule::UnorderedRemoteWrite => fault.text().contains("by one peer and"),
        Rule::RankOutOfRange => fault.text().starts_with("in block"),
        Rule::UninitSharedRead => fault.text().contains("is read, but no thread has written to it before"),
        _ => false,
    }
}

/// Returns the faults of the function with the attribute at the head of the text. Lines are counted from the text's start.
#[track_caller]
fn faults(source: &str) -> Vec<Fault> {
    let mut trees = source.parse::<TokenStream>().expect("a generator's text is made of tokens").into_iter();
    let (Some(TokenTree::Punct(_)), Some(TokenTree::Group(attribute))) = (trees.next(), trees.next()) else {
        panic!("the text starts with its attribute\n{source}");
    };
    let mut attribute = attribute.stream().into_iter();
    let name = attribute.next().map(|name| name.to_string()).unwrap_or_default();
    let options = match attribute.next() {
        Some(TokenTree::Group(options)) => options.stream(),
        _ => TokenStream::new(),
    };
    let mut faults = match name.as_str() {
        "cluster_kernel" => session().check_kernel(options, trees.collect()),
        "device" => session().check_device(options, trees.collect()),
        other => panic!("no attribute of a function: {other}\n{source}"),
    };
    faults.retain(|fault| !is_of_traces(fault));
    faults
}

/// Returns the faults of a function as a kernel with these options, but for those of traces.
#[track_caller]
fn kernel_faults(options: &str, function: &str) -> Vec<Fault> {
    let mut faults = all_kernel_faults(options, function);
    faults.retain(|fault| !is_of_traces(fault));
    faults
}

/// Returns the faults of a function as a kernel with these options. A generator's text has no faults of syntax or
/// types.
#[track_caller]
fn all_kernel_faults(options: &str, function: &str) -> Vec<Fault> {
    let options = options.parse().expect("options are made of tokens");
    let item = function.parse().unwrap_or_else(|error| panic!("{error}\n{function}"));
    let faults = session().check_kernel(options, item);
    assert!(faults.iter().all(|fault| fault.rule().requirement().is_some()), "{faults:?}\n{function}");
    faults
}
