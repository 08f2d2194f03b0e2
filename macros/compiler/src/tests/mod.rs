//! The crate's tests: what the attributes make of source text, without rustc. Not here: whether the generated Rust and
//! CUDA C++ compile and do what they should, which `ui-tests` asks rustc, the simulator and NVRTC.

mod agreement;
mod closures;
mod corpus;
mod depth;
mod diagnostics;
mod engine;
mod generated_barriers;
mod generated_dsm;
mod generated_tokens;
mod generated_uniformity;
mod graph;
pub(crate) mod made_up;
mod no_panic;
mod page;
mod random;
mod shrink;
mod stages;
mod text;

use proc_macro2::{TokenStream, TokenTree};
use syn::LitStr;

use crate::{derive, expand};

/// What the function's attribute makes of it, with lines and columns counted from the text's start.
#[track_caller]
fn expand(source: &str) -> TokenStream {
    let mut trees = source.parse::<TokenStream>().expect("the test's source is made of tokens").into_iter();
    let (Some(TokenTree::Punct(_)), Some(TokenTree::Group(attribute))) = (trees.next(), trees.next()) else {
        panic!("the source starts with its attribute");
    };
    expand_item(&attribute.stream(), trees.collect())
}

/// `attribute` is what stands in its brackets.
#[track_caller]
fn expand_item(attribute: &TokenStream, item: TokenStream) -> TokenStream {
    let mut attribute = attribute.clone().into_iter();
    let name = attribute.next().map(|name| name.to_string());
    let options = match attribute.next() {
        Some(TokenTree::Group(options)) => options.stream(),
        _ => TokenStream::new(),
    };
    match name.as_deref() {
        Some("cluster_kernel") => expand::kernel(options, item),
        Some("device") => expand::device(options, item),
        Some("derive") => derive::device_copy(item),
        other => panic!("no attribute of this crate: {other:?}"),
    }
}

/// One `compile_error!` of an expansion.
#[derive(Debug)]
struct Fault {
    line: usize,
    column: usize,
    text: String,
}

impl Fault {
    /// The name in brackets at the end of the first line.
    fn rule(&self) -> &str {
        let first = self.text.lines().next().unwrap_or_default();
        first.rsplit_once('[').map_or("", |(_, rule)| rule.trim_end_matches(']'))
    }
}

/// The faults of an expansion, in its order.
fn faults(expansion: &TokenStream) -> Vec<Fault> {
    let trees: Vec<TokenTree> = expansion.clone().into_iter().collect();
    let at = |index: usize| match (&trees[index], trees.get(index + 2)) {
        (TokenTree::Ident(name), Some(TokenTree::Group(message))) if name == "compile_error" => {
            let start = name.span().start();
            let text: LitStr = syn::parse2(message.stream()).expect("a message is a string literal");
            Some(Fault { line: start.line, column: start.column + 1, text: text.value() })
        }
        _ => None,
    };
    (0..trees.len()).filter_map(at).collect()
}
