//! Finds the items of its own crate that a Rust file names: `use crate::a::{b, c}`, paths in the middle of code,
//! `$crate` in macros, and `super::super`. Comments, strings and a module of tests at a file's end are ignored.

use std::collections::BTreeSet;

/// Returns the paths that the file at `path` (below `src`, such as `sim/race/mod.rs`) names, from the crate's root on:
/// `["sim", "race", "Clock"]`.
pub(crate) fn imports(path: &str, text: &str) -> BTreeSet<Vec<String>> {
    let module: Vec<&str> =
        path.trim_end_matches(".rs").split('/').filter(|part| !matches!(*part, "mod" | "lib")).collect();
    let tokens = tokens(text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
    let (mut found, mut at) = (BTreeSet::new(), 0);
    while at < tokens.len() {
        let begins = matches!(tokens[at].as_str(), "crate" | "self" | "super") && !(at > 0 && tokens[at - 1] == "::");
        if begins && tokens.get(at + 1).is_some_and(|next| next == "::") {
            let mut paths = Vec::new();
            at = tree(&tokens, at, &[], &mut paths);
            found.extend(paths.into_iter().map(|path| absolute(&module, &path)));
        } else {
            at += 1;
        }
    }
    found
}

/// Splits a text into names, `::`, and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if first == '"' {
            string(rest)
        } else if rest.starts_with("::") {
            2
        } else if is_name(first) {
            rest.find(|c| !is_name(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        if !first.is_whitespace() && first != '"' && !token.starts_with("//") {
            tokens.push(token.to_string());
        }
        // A quotation mark in a character literal begins no string.
        rest = after.strip_prefix("\"'").filter(|_| token == "'").unwrap_or(after);
    }
    tokens
}

/// Returns the length of the string literal at the start, with its quotation marks.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Reads a path or a tree of `use` from `at` on, and returns its end.
fn tree(tokens: &[String], mut at: usize, before: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token == text);
    let mut path = before.to_vec();
    loop {
        if is(at, "{") {
            at += 1;
            while at < tokens.len() && !is(at, "}") {
                at = tree(tokens, at, &path, paths);
                // `as name`, and the comma.
                while at < tokens.len() && !is(at, ",") && !is(at, "}") {
                    at += 1;
                }
                at += usize::from(is(at, ","));
            }
            return at + 1;
        }
        path.extend(tokens.get(at).cloned());
        at += 1;
        if !is(at, "::") || is(at + 1, "<") {
            paths.push(path);
            return at;
        }
        at += 1;
    }
}

/// Returns the path from the crate's root on.
fn absolute(module: &[&str], path: &[String]) -> Vec<String> {
    let up = path.iter().take_while(|part| *part == "super").count();
    let from: &[&str] = match path[0].as_str() {
        "crate" => &[],
        _ => &module[..module.len().saturating_sub(up)],
    };
    let rest = path.iter().filter(|part| !matches!(part.as_str(), "crate" | "self" | "super"));
    from.iter().map(|part| part.to_string()).chain(rest.cloned()).collect()
}

#[test]
fn imports_are_seen() {
    let text = "
        use crate::a::{b, c::{self, d as e}, f::*};
        use super::super::super::g::H;
        use super::{i, super::j};
        // use crate::comment;
        fn f() -> &'static str {
            crate::x::y(\"crate::string::z \\\" crate::string\", '\"', crate::k::l::<self::M>());
            $crate::n!(super::o::P);
            std::q::crate_::r
        }
        #[cfg(test)]
mod tests {
    use crate::test;
}
";
    let found: BTreeSet<String> = imports("p/q/r.rs", text).into_iter().map(|path| path.join("::")).collect();
    let expected = [
        "a::b",
        "a::c",
        "a::c::d",
        "a::f::*",
        "g::H",
        "k::l",
        "n",
        "p::j",
        "p::q::i",
        "p::q::o::P",
        "p::q::r::M",
        "x::y",
    ];
    assert_eq!(found, BTreeSet::from(expected.map(String::from)));
    let of_room = imports("p/mod.rs", "use super::q::R; use self::s::T;");
    assert_eq!(of_room.into_iter().map(|path| path.join("::")).collect::<Vec<_>>(), ["p::s::T", "q::R"]);
}
