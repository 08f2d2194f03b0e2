//! The instances of a generic function that a file names, `product::<4, 64>(..)`: guesses of which ones a program has.

use proc_macro2::TokenStream;

use super::is_of_name;
use crate::model::Definition;

/// The most instances that are looked at, and the longest list of arguments.
const MOST: usize = 8;
const LONGEST: usize = 80;

/// Returns the arguments of the generics of a function wherever a text names it with such.
pub(crate) fn instances(text: &str, name: &str) -> Vec<Definition> {
    let mut all: Vec<Definition> = Vec::new();
    for (at, _) in text.match_indices(name) {
        let begins = text[..at].chars().next_back().is_none_or(|before| !is_of_name(before));
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let Some(rest) = text[at + name.len()..].strip_prefix("::<").filter(|_| begins) else { continue };
        let is_code = !text[line..at].contains("//");
        let Some(arguments) = arguments(rest).filter(|_| is_code) else { continue };
        let Ok(value) = arguments.parse::<TokenStream>() else { continue };
        let is_known = all.iter().any(|known| known.value.to_string() == value.to_string());
        if !is_known && all.len() < MOST {
            all.push(Definition { ty: "", value });
        }
    }
    all
}

/// The text up to the end of a list of arguments.
fn arguments(rest: &str) -> Option<&str> {
    let mut open = 1_u32;
    for (at, of) in rest.char_indices().take(LONGEST) {
        match of {
            '<' => open += 1,
            '>' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(&rest[..at]);
        }
    }
    None
}
