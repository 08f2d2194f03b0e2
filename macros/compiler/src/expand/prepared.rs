//! Prepares an item for the parser: moves attributes inside of functions to where the parser finds them, and adds what only the file around
//! the item shows, which is the types of tokens and which functions are imported.

use std::borrow::Cow;
use std::path::PathBuf;

use proc_macro2::{Span, TokenStream, TokenTree};

use crate::model::Role;
use crate::parse::attributes_inside::{Settled, either, settled};
use crate::parse::{called_tokens, imported};
use crate::source;

/// Returns the item to be parsed, or, as an error, the two of which rustc keeps one. The text is that of the file around it, if it is
/// not the one of the item's span.
pub(super) fn prepared(
    role: Role,
    options: &TokenStream,
    item: TokenStream,
    file: Option<&str>,
) -> Result<TokenStream, TokenStream> {
    let item = match settled(&item) {
        Settled::Unchanged => item,
        Settled::Item(settled) => settled,
        Settled::Either { condition, with, without } => {
            return Err(either(role, options, &condition, [&with, &without]));
        }
    };
    let file = file.map(Cow::Borrowed).or_else(|| file_of(&item).map(Cow::Owned));
    let file = file.as_deref().unwrap_or_default();
    let item = called_tokens::typed(&item, file).unwrap_or(item);
    Ok(imported::marked(&item, file).unwrap_or(item))
}

/// Returns the text of the file in which an item stands, if it can be read.
pub(super) fn file_of(item: &TokenStream) -> Option<String> {
    source::text(span_of(item)?)
}

/// Returns the path of the file in which an item stands.
pub(super) fn path_of(item: &TokenStream) -> Option<PathBuf> {
    span_of(item)?.local_file()
}

/// The span whose file an item stands in: that of a function's name, since `macro_rules!` may have made the rest elsewhere.
fn span_of(item: &TokenStream) -> Option<Span> {
    let mut tokens = item.clone().into_iter();
    let name = tokens.by_ref().find(|token| matches!(token, TokenTree::Ident(word) if word == "fn")).and(tokens.next());
    name.or_else(|| item.clone().into_iter().next()).map(|token| token.span())
}
