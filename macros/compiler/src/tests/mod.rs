//! The crate's tests: what the attributes make of source text, without rustc. Whether the generated Rust and CUDA C++
//! compile and run correctly is tested elsewhere: `ui-tests` asks rustc, and `ui-tests/conformance` the simulator and
//! NVRTC.

mod alike_memory;
mod barriers_of_functions;
mod bodies;
mod branch_correlation;
mod calls;
mod closures;
mod computing;
mod constant_propagation;
mod constants;
mod copies;
mod copies_of_functions;
mod copy_lengths;
mod corpus;
mod deferred_waits;
mod depth;
mod diagnostics;
mod elections;
mod elements;
mod engine;
mod enums;
mod fences;
mod forgotten;
mod functions;
mod gathers;
mod graph;
mod guards;
mod handshakes;
mod ignored;
mod instances;
mod known_values;
pub(crate) mod made_up;
mod missing_barriers;
mod moving;
mod names;
mod no_panic;
mod numbers;
mod offsets;
mod ordinary_rust;
mod overloads;
mod pairs_of_blocks;
mod phases;
mod previous;
mod products_of_functions;
pub(crate) mod random;
mod receipts;
mod references;
mod registers;
mod restarts;
mod rings;
mod skews;
mod skipped_waits;
mod skipped_writes;
mod stages;
mod sums_of_products;
mod text;
mod told;
mod trace_accesses;
mod trace_data;
mod trace_exchanged;
mod trace_learning;
mod trace_memory;
mod trace_orders;
mod trace_pairs;
mod trace_values;
mod traces;
mod uniform_values;
mod unwritten;
mod waivers;

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use crate::{Fault, Session};

/// Returns a session without the rule that `PHALANX_WITHOUT_RULE` names, which `cargo xtask mutate` sets.
fn session() -> Session {
    let without = std::env::var("PHALANX_WITHOUT_RULE").ok();
    Session { without: without.map(|rule| rule.parse().expect("PHALANX_WITHOUT_RULE is a rule")), ..Session::default() }
}

/// An item with an attribute of phalanx.
struct Attributed {
    attribute: String,
    options: TokenStream,
    item: TokenStream,
}

impl Attributed {
    /// Parses a text; lines and columns are counted from its start.
    #[track_caller]
    fn parse(source: &str) -> Attributed {
        let mut trees = source.parse::<TokenStream>().expect("the test's source is made of tokens").into_iter();
        let (Some(TokenTree::Punct(_)), Some(TokenTree::Group(attribute))) = (trees.next(), trees.next()) else {
            panic!("the source starts with its attribute");
        };
        Attributed::new(&attribute.stream(), trees.collect())
    }

    /// Creates an item whose attribute has `attribute` in its brackets.
    fn new(attribute: &TokenStream, item: TokenStream) -> Attributed {
        let mut attribute = attribute.clone().into_iter();
        let name = attribute.next().map(|name| name.to_string()).unwrap_or_default();
        let options = match attribute.next() {
            Some(TokenTree::Group(options)) => options.stream(),
            _ => TokenStream::new(),
        };
        Attributed { attribute: name, options, item }
    }

    /// Whether the derive is that of enums with fields.
    fn is_type(&self) -> bool {
        self.options.to_string().contains("DeviceType")
    }

    /// Returns the attribute's expansion of the item.
    #[track_caller]
    fn expand(self) -> TokenStream {
        match self.attribute.as_str() {
            "cluster_kernel" => session().kernel(self.options, self.item),
            "device" => session().device(self.options, self.item),
            "derive" if self.is_type() => session().device_type(self.item),
            "derive" => session().device_copy(self.item),
            other => panic!("no attribute of phalanx: {other}"),
        }
    }

    /// Returns the faults of the item.
    #[track_caller]
    fn faults(self) -> Vec<Fault> {
        match self.attribute.as_str() {
            "cluster_kernel" => session().check_kernel(self.options, self.item),
            "device" => session().check_device(self.options, self.item),
            "derive" if self.is_type() => session().check_device_type(self.item),
            "derive" => session().check_device_copy(self.item),
            other => panic!("no attribute of phalanx: {other}"),
        }
    }
}

/// Returns the expansion of the item by the attribute at the head of the text.
#[track_caller]
fn expand(source: &str) -> TokenStream {
    Attributed::parse(source).expand()
}

/// Returns the faults of the item under the attribute at the head of the text.
#[track_caller]
fn faults(source: &str) -> Vec<Fault> {
    Attributed::parse(source).faults()
}

/// Returns the names of the rules that the item breaks.
#[track_caller]
fn rules(source: &str) -> Vec<String> {
    faults(source).iter().map(|fault| fault.rule().to_string()).collect()
}

/// Returns the `compile_error!`s of an expansion, in order: line, column and text.
fn errors(expansion: &TokenStream) -> Vec<(usize, usize, String)> {
    let trees: Vec<TokenTree> = expansion.clone().into_iter().collect();
    let at = |index: usize| match (&trees[index], trees.get(index + 2)) {
        (TokenTree::Ident(name), Some(TokenTree::Group(message))) if name == "compile_error" => {
            let start = name.span().start();
            let text: LitStr = syn::parse2(message.stream()).expect("a message is a string literal");
            Some((start.line, start.column + 1, text.value()))
        }
        _ => None,
    };
    (0..trees.len()).filter_map(at).collect()
}
