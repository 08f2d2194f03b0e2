//! What is done to an item before it is parsed: attributes inside of functions, and the types of tokens that the file shows.

use std::borrow::Cow;

use proc_macro2::TokenStream;

use crate::model::Role;
use crate::parse::attributes_inside::{Settled, either, settled};
use crate::parse::called_tokens;
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
    let read = || item.clone().into_iter().next().and_then(|first| source::text(first.span()));
    let file = file.map(Cow::Borrowed).or_else(|| read().map(Cow::Owned));
    Ok(file.and_then(|file| called_tokens::typed(&item, &file)).unwrap_or(item))
}
