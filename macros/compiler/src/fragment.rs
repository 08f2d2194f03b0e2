//! Fragments of `macro_rules!`. A `$s:stmt` comes in a group without delimiters, which syn takes for an expression, so
//! the groups of other statements are opened. Other fragments stay as they are: the group is what keeps `$a * $b`
//! right.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Replaces the groups around statements by the statements.
pub(crate) fn opened(tokens: TokenStream) -> TokenStream {
    if holds_statement(&tokens) { open(tokens) } else { tokens }
}

fn holds_statement(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => is_statement(&group) || holds_statement(&group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Whether the group is a statement and not an expression.
fn is_statement(group: &Group) -> bool {
    let first = match group.delimiter() {
        Delimiter::None => group.stream().into_iter().next(),
        Delimiter::Parenthesis | Delimiter::Brace | Delimiter::Bracket => None,
    };
    let keywords = ["let", "const", "type", "use"];
    matches!(first, Some(TokenTree::Ident(word)) if keywords.iter().any(|keyword| word == keyword))
}

fn open(tokens: TokenStream) -> TokenStream {
    let opened = tokens.into_iter().map(|tree| match tree {
        TokenTree::Group(group) if is_statement(&group) => open(group.stream()),
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), open(group.stream()));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        tree => tree.into(),
    });
    opened.collect()
}
