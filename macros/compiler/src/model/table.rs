//! The rows of a constant table of integers, truth values or tuples of such, as the text lists them.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A row: one value, or the parts of a tuple.
pub(crate) enum Row {
    Value(TokenTree),
    Tuple(Vec<TokenTree>),
}

/// Returns the rows of `[1, 2]` or `[(0, false), (1, true)]`.
pub(crate) fn rows(table: &TokenStream) -> Option<Vec<Row>> {
    let mut trees = table.clone().into_iter();
    let (Some(TokenTree::Group(group)), None) = (trees.next(), trees.next()) else { return None };
    let rows = list(&group.stream()).filter(|_| group.delimiter() == Delimiter::Bracket)?;
    let row = |tree: TokenTree| match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            let parts = list(&group.stream())?;
            parts.iter().all(is_value).then_some(Row::Tuple(parts))
        }
        tree => is_value(&tree).then_some(Row::Value(tree)),
    };
    rows.into_iter().map(row).collect::<Option<Vec<_>>>().filter(|rows| !rows.is_empty())
}

/// The single trees between commas.
fn list(tokens: &TokenStream) -> Option<Vec<TokenTree>> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let is_right = |(at, tree): (usize, &TokenTree)| is_comma(tree) == (at % 2 == 1);
    trees.iter().enumerate().all(is_right).then(|| trees.iter().step_by(2).cloned().collect())
}

fn is_value(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Literal(_) => true,
        TokenTree::Ident(name) => name == "true" || name == "false",
        TokenTree::Group(_) | TokenTree::Punct(_) => false,
    }
}
