//! The words in tokens.

use proc_macro2::{Ident, TokenStream, TokenTree};

/// Returns the words in tokens, also inside of groups.
pub(crate) fn words(tokens: &TokenStream) -> impl Iterator<Item = Ident> {
    let mut found = Vec::new();
    let mut rest = vec![tokens.clone()];
    while let Some(tokens) = rest.pop() {
        for tree in tokens {
            match tree {
                TokenTree::Ident(word) => found.push(word),
                TokenTree::Group(group) => rest.push(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
    found.into_iter()
}
