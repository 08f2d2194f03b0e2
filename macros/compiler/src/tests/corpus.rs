//! Provides the functions of `ui-tests` for tests that need many. They are read as tokens, so that a new one is used at
//! once, even one that syn cannot parse; `ui-tests` compares what rustc says about them.

use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::take_item;

/// An item with an attribute of this crate.
#[derive(Debug, Clone)]
pub(super) struct Annotated {
    /// The tokens in the attribute's brackets.
    pub(super) attribute: TokenStream,
    /// The tokens of the item.
    pub(super) item: TokenStream,
}

/// Returns everything annotated with an attribute of this crate in the files of a folder, in order.
pub(super) fn annotated(folder: &str) -> Vec<Annotated> {
    tokens(folder).flat_map(among).collect()
}

fn tokens(folder: &str) -> impl Iterator<Item = TokenStream> {
    texts(folder).into_iter().map(|text| text.parse().expect("rustc reads it as tokens"))
}

/// Returns the files of a folder, in order.
pub(super) fn texts(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui-tests").join(folder);
    let entries = fs::read_dir(folder).expect("the tests lie beside the crate");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    paths.sort();
    paths.into_iter().map(|path| fs::read_to_string(path).expect("text")).collect()
}

/// The same, with what modules and macros have in their braces.
pub(super) fn annotated_within(folder: &str) -> Vec<Annotated> {
    fn within(tokens: TokenStream, found: &mut Vec<Annotated>) {
        found.extend(among(tokens.clone()));
        for tree in tokens {
            if let TokenTree::Group(group) = tree {
                within(group.stream(), found);
            }
        }
    }
    let mut found = Vec::new();
    for text in tokens(folder) {
        within(text, &mut found);
    }
    found
}

/// Returns the items with an attribute of this crate among these tokens.
fn among(tokens: TokenStream) -> Vec<Annotated> {
    let mut found = Vec::new();
    let mut trees = tokens.into_iter();
    while let Some(tree) = trees.next() {
        if let Some(attribute) = own_attribute(&tree) {
            found.push(Annotated { attribute, item: take_item(&mut trees) });
        }
    }
    found
}

/// Returns `[cluster_kernel(...)]`, `[device]`, `[derive(DeviceCopy)]` or `[derive(DeviceType)]`.
fn own_attribute(tree: &TokenTree) -> Option<TokenStream> {
    let TokenTree::Group(group) = tree else { return None };
    let name = group.stream().into_iter().next()?.to_string();
    let is_own = match name.as_str() {
        "cluster_kernel" | "device" => true,
        "derive" => ["DeviceCopy", "DeviceType"].iter().any(|of| group.stream().to_string().contains(of)),
        _ => false,
    };
    (is_own && group.delimiter() == Delimiter::Bracket).then(|| group.stream())
}
