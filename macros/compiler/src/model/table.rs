//! The numbers of a constant table of integers and truth values, of tuples and arrays of such, as the text lists them. Other parts of its rows
//! may be floats, which nothing follows.

use proc_macro2::{Delimiter, Group, Literal, Punct, Spacing, TokenStream, TokenTree};

/// The deepest table that is read.
const DEPTH: u32 = 4;

/// A number of a table: how it is named behind the table's name, and its value.
pub(crate) struct Entry {
    pub(crate) place: TokenStream,
    pub(crate) value: TokenStream,
}

/// Returns the numbers of `[1, 2]`, `[(0, false), (-1, true)]` or `[[1, 2], [3, 4]]`, if there are any and all else are floats.
pub(crate) fn entries(table: &TokenStream) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    let trees: Vec<TokenTree> = table.clone().into_iter().collect();
    let [TokenTree::Group(group)] = &trees[..] else { return None };
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    add(group, &TokenStream::new(), DEPTH, &mut entries)?;
    (!entries.is_empty()).then_some(entries)
}

/// Adds the numbers of an array or a tuple that is named by a place.
fn add(group: &Group, place: &TokenStream, depth: u32, entries: &mut Vec<Entry>) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    for (number, part) in list(&group.stream())?.into_iter().enumerate() {
        let number = TokenTree::from(Literal::usize_unsuffixed(number));
        let part_of: Vec<TokenTree> = match group.delimiter() {
            Delimiter::Bracket => vec![Group::new(Delimiter::Bracket, number.into()).into()],
            Delimiter::Parenthesis => vec![Punct::new('.', Spacing::Alone).into(), number],
            Delimiter::Brace | Delimiter::None => return None,
        };
        let place: TokenStream = place.clone().into_iter().chain(part_of).collect();
        match &part[..] {
            [TokenTree::Group(inner)] => add(inner, &place, depth, entries)?,
            part if is_integer(part)? => entries.push(Entry { place, value: part.iter().cloned().collect() }),
            _ => {}
        }
    }
    Some(())
}

/// The parts between commas; the last one may have a comma behind it.
fn list(tokens: &TokenStream) -> Option<Vec<Vec<TokenTree>>> {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let mut parts: Vec<Vec<TokenTree>> = trees.split(is_comma).map(<[TokenTree]>::to_vec).collect();
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts.iter().all(|part| !part.is_empty()).then_some(parts)
}

/// Whether a literal, which may have a sign, is an integer or a truth value, and no float; `None` if it is no literal.
fn is_integer(part: &[TokenTree]) -> Option<bool> {
    match part {
        [TokenTree::Literal(literal)] => {
            let text = literal.to_string();
            let is_float = !text.starts_with("0x") && text.contains(['.', 'e', 'f']);
            // `usize` and `isize` have an `e`, too.
            Some(!is_float || text.ends_with("size") && !text.contains('.'))
        }
        [TokenTree::Punct(sign), rest @ TokenTree::Literal(_)] if sign.as_char() == '-' => {
            is_integer(std::slice::from_ref(rest))
        }
        [TokenTree::Ident(name)] if name == "true" || name == "false" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::entries;

    #[track_caller]
    fn check(table: &str, expected: Option<&str>) {
        let entries = entries(&table.parse().unwrap());
        let text = |of: super::Entry| format!("{}={}", of.place, of.value).replace(' ', "");
        let found = entries.map(|entries| entries.into_iter().map(text).collect::<Vec<_>>().join(" "));
        assert_eq!(found.as_deref(), expected, "{table}");
    }

    #[test]
    fn numbers_of_tables() {
        check("[1, 2u32]", Some("[0]=1 [1]=2u32"));
        check("[(0, true), (-1, false),]", Some("[0].0=0 [0].1=true [1].0=-1 [1].1=false"));
        check("[[1, 2], [3, 4]]", Some("[0][0]=1 [0][1]=2 [1][0]=3 [1][1]=4"));
        check("[(0, -1, 0.5), (1, 0usize, 1e3)]", Some("[0].0=0 [0].1=-1 [1].0=1 [1].1=0usize"));
        check("[0xfe]", Some("[0]=0xfe"));
    }

    #[test]
    fn what_is_no_table_of_numbers() {
        for table in ["[0.5, 1f32]", "[]", "[1,, 2]", "[7; 4]", "[A, 1]", "(1, 2)", "[1] + [2]", "[[[[[1]]]]]"] {
            check(table, None);
        }
    }
}
