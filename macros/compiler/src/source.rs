//! The file that an item stands in, as text: which constants it defines, other names of array types, and how large its structures are. They are guesses of what the item names, since only rustc
//! resolves names; what rests on one has to be confirmed by rustc. `parse/same_file` reads the functions.

mod instances;
mod types;

pub(crate) use instances::instances;
pub(crate) use types::{
    alias_name, alias_of, closure_takes, constant_type, converts, defines_default, defines_type, field_among, field_of,
    function_body, has_fields, has_method, has_variant, implements, implements_operators, index_functions,
    is_without_derive, result_of, takes_slice, trait_of, values_taken, variant_of,
};

use proc_macro2::{Literal, Span, TokenStream, TokenTree};

use crate::model::ty::{bytes_of, scalar};
use crate::model::{Definition, Definitions, size_of, table};

/// Returns the text of the file of a span, if it can be read.
pub(crate) fn text(span: Span) -> Option<String> {
    std::fs::read_to_string(span.local_file()?).ok()
}

/// Returns the definitions in a text.
pub(crate) fn definitions(text: &str) -> Definitions {
    let mut all = Definitions::new();
    for (at, word) in text.match_indices("const ").chain(text.match_indices("static ")) {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let begins = text[..at].chars().next_back().is_none_or(|before| !is_of_name(before));
        if begins
            && !text[line..at].contains("//")
            && let Some((name, defined)) =
                definition(&text[at + word.len()..]).or_else(|| listed(&text[at + word.len()..]))
        {
            let within = within(&text[..at]).map(|within| format!("{within}::{name}"));
            for key in within.into_iter().chain([name.to_string()]) {
                let known = all.entry(key).or_default();
                if known.iter().all(|known| known.value.to_string() != defined.value.to_string()) {
                    known.push(defined.clone());
                }
            }
        }
    }
    for (at, word) in text.match_indices("enum ") {
        let begins = text[..at].chars().next_back().is_none_or(|before| !is_of_name(before));
        for (name, value) in begins.then(|| variants(&text[at + word.len()..])).flatten().unwrap_or_default() {
            all.entry(name)
                .or_default()
                .push(Definition { ty: "i64", value: TokenTree::from(Literal::i64_unsuffixed(value)).into() });
        }
    }
    for (at, word) in text.match_indices("type ") {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let begins = text[..at].chars().next_back().is_none_or(|before| !is_of_name(before));
        let is_code = begins && !text[line..at].contains("//");
        if let Some((name, value)) = is_code.then(|| alias(&text[at + word.len()..])).flatten() {
            all.entry(name.to_string()).or_default().push(Definition { ty: Definition::ALIAS, value });
        }
    }
    for (at, word) in text.match_indices("struct ") {
        let begins = text[..at].chars().next_back().is_none_or(|before| !is_of_name(before));
        if let Some((name, bytes)) = begins.then(|| structure(&text[at + word.len()..])).flatten() {
            all.entry(size_of(name))
                .or_default()
                .push(Definition { ty: "i64", value: TokenTree::from(Literal::u64_unsuffixed(bytes)).into() });
        }
    }
    all
}

/// The module or the type in which an item stands, by the text before the item.
fn within(before: &str) -> Option<&str> {
    // An item that begins its line is one of the file.
    let line = before.rsplit('\n').next()?;
    if !line.starts_with(char::is_whitespace) && !line.contains('{') {
        return None;
    }
    let mut open = 0_u32;
    for (at, brace) in before.rmatch_indices(['{', '}']) {
        match brace {
            "}" => open += 1,
            _ if open > 0 => open -= 1,
            _ => {
                let header = before[..at].rsplit([';', '{', '}']).next()?;
                let words: Vec<&str> = header.split_whitespace().collect();
                let [.., "mod" | "impl", name] = words[..] else { return None };
                return name.chars().all(is_of_name).then_some(name);
            }
        }
    }
    None
}

/// Reads `Name { a: f32, b: [u32; 3] }` at the start of a text, a structure of scalars and arrays of them: the name and the number of bytes
/// in the order of the fields, as `repr(C)` has it.
fn structure(text: &str) -> Option<(&str, u64)> {
    let (name, rest) = text.split_once('{')?;
    let (list, _) = rest.split_once('}')?;
    let name = name.trim();
    if name.is_empty() || !name.chars().all(is_of_name) {
        return None;
    }
    let list = without_comments(list);
    let (mut bytes, mut largest) = (0_u64, 1_u64);
    // The commas of types stand in brackets that have none of fields.
    for field in list.split(',').filter(|field| !field.trim().is_empty()) {
        let (_, ty) = field.split_once(':')?;
        let (size, align) = size_and_alignment(ty.trim())?;
        bytes = bytes.checked_next_multiple_of(align)?.checked_add(size)?;
        largest = largest.max(align);
    }
    Some((name, bytes.checked_next_multiple_of(largest)?)).filter(|(_, bytes)| *bytes > 0)
}

/// The size and the alignment of a scalar, or of an array of them whose length is a literal.
fn size_and_alignment(ty: &str) -> Option<(u64, u64)> {
    if let Some((element, length)) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')?.rsplit_once(';')) {
        let (size, align) = size_and_alignment(element.trim())?;
        return Some((size.checked_mul(length.trim().parse().ok()?)?, align));
    }
    let name = if ty == "bf16" || ty == "f16" { ty } else { scalar(ty)? };
    let bytes = bytes_of(name)?;
    Some((bytes, bytes))
}

/// Reads `Name { A, B = 3, C }` at the start of a text, an enum without data: the path of each variant, without spaces, and its number.
fn variants(text: &str) -> Option<Vec<(String, i64)>> {
    let (name, rest) = text.split_once('{')?;
    let (list, _) = rest.split_once('}')?;
    let name = name.trim();
    let is_word = |text: &str| !text.is_empty() && text.chars().all(is_of_name);
    let mut next = 0;
    let variant = |variant: &str| {
        let (variant, number) = match variant.split_once('=') {
            Some((variant, number)) => (variant, number.trim().parse().ok()?),
            None => (variant, next),
        };
        next = number + 1;
        is_word(variant.trim()).then(|| (format!("{name}::{}", variant.trim()), number))
    };
    let list = without_comments(list);
    let variants = list.split(',').filter(|variant| !variant.trim().is_empty()).map(variant);
    variants.collect::<Option<_>>().filter(|_| is_word(name))
}

/// Returns a list without its comments, and without attributes that stand on a line of their own.
fn without_comments(list: &str) -> String {
    let lines = list.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.filter(|line| !line.trim_start().starts_with("#[")).collect::<Vec<_>>().join("\n")
}

/// Reads `NAME: type = value;` of an integer or a truth value at the start of a text.
fn definition(text: &str) -> Option<(&str, Definition)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    let (ty, rest) = rest.split_once('=')?;
    let (value, _) = rest.split_once(';')?;
    let is_word = |text: &str| !text.is_empty() && text.chars().all(is_of_name);
    // Only such characters are sure to be tokens.
    let is_arithmetic = |of: char| is_of_name(of) || of.is_ascii_whitespace() || "+-*/%(){}:<>".contains(of);
    let ty = scalar(ty.trim()).filter(|ty| !ty.starts_with('f'))?;
    // All of its bits.
    let largest = format!("{ty}::MAX");
    let value = if value.trim() == "!0" && ty.starts_with('u') { &largest } else { value };
    if !is_word(name) || !value.chars().all(is_arithmetic) {
        return None;
    }
    Some((name, Definition { ty, value: value.parse().ok()? }))
}

/// Reads `Name = [[f32; N]; 2];` at the start of a text, another name of an array type or of a scalar.
fn alias(text: &str) -> Option<(&str, TokenStream)> {
    let (name, rest) = text.split_once('=')?;
    let mut depth = 0_u32;
    let end = rest.find(|of: char| {
        match of {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        of == ';' && depth == 0
    })?;
    let (name, value) = (name.trim(), rest[..end].trim());
    let is_word = |text: &str| !text.is_empty() && text.chars().all(is_of_name);
    // Only such characters are sure to be tokens.
    let is_array = |of: char| is_of_name(of) || of.is_ascii_whitespace() || "+-*/%(){}:<>[];".contains(of);
    let is_type = is_word(name) && (is_word(value) || value.starts_with('[')) && value.chars().all(is_array);
    is_type.then(|| value.parse().ok()).flatten().map(|value| (name, value))
}

/// Reads `NAME: [type; length] = [values];`, or a reference to such an array, at the start of a text, where the values are integers and truth
/// values, tuples or arrays of such, and now and then floats.
fn listed(text: &str) -> Option<(&str, Definition)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    let ty = rest.trim_start().trim_start_matches("&'static ").trim_start_matches('&');
    let (_, rest) = ty.starts_with('[').then(|| ty.split_once('='))??;
    let (value, _) = rest.split_once(';')?;
    let value = value.trim_start().trim_start_matches('&');
    let is_word = |text: &str| !text.is_empty() && text.chars().all(is_of_name);
    let is_list = value.chars().all(|of| is_of_name(of) || of.is_ascii_whitespace() || "(),[].-".contains(of));
    if !is_word(name) || !is_list {
        return None;
    }
    let value = value.parse().ok()?;
    table::entries(&value).map(|_| (name, Definition { ty: Definition::TABLE, value }))
}

fn is_of_name(of: char) -> bool {
    of.is_ascii_alphanumeric() || of == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &[&str])]) {
        let found = definitions(text);
        let found: Vec<(&str, Vec<String>)> = found
            .iter()
            .map(|(name, values)| (&**name, values.iter().map(|of| of.value.to_string()).collect()))
            .collect();
        let expected: Vec<(&str, Vec<String>)> =
            expected.iter().map(|(name, values)| (*name, values.iter().map(ToString::to_string).collect())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn constants_of_a_file() {
        check("const N: usize = 4;", &[("N", &["4"])]);
        check("pub(crate) const WARPS : u32=BLOCK as u32 / 32 ;", &[("WARPS", &["BLOCK as u32 / 32"])]);
        check(
            "enum Role { Idle, /// Fills.\n Load = 4,\n #[default]\n Compute }",
            &[("Role::Compute", &["5"]), ("Role::Idle", &["0"]), ("Role::Load", &["4"])],
        );
        check(
            "struct P { a: u32, pub b: f32 } pub struct Q {\n    // One.\n    x: u8, y: [f64; 2], z: bf16,\n}",
            &[("::core::mem::size_of::<P>()", &["8"]), ("::core::mem::size_of::<Q>()", &["32"])],
        );
        check("const T: [(u32, bool); 2] = [(0, true), (1, false)];", &[("T", &["[(0 , true) , (1 , false)]"])]);
        check("const T: [(i32, f32); 1] = [(-1, 0.5)];", &[("T", &["[(- 1 , 0.5)]"])]);
        check("static T: [[u8; 2]; 1] = [[1, 2]];", &[("T", &["[[1 , 2]]"])]);
        check("const T: &[u32] = &[1, 2];", &[("T", &["[1 , 2]"])]);
        check("const BYTES: usize = 4 * size_of::<f32>();", &[("BYTES", &["4 * size_of ::< f32 > ()"])]);
        check(
            "mod a { const N: u32 = 1; } mod b { const N: u32 = 2; }",
            &[("N", &["1", "2"]), ("a::N", &["1"]), ("b::N", &["2"])],
        );
        check(
            "impl Shape {\n    fn f() {}\n    pub const ROWS: u32 = 8;\n}\nconst N: u32 = 4;",
            &[("N", &["4"]), ("ROWS", &["8"]), ("Shape::ROWS", &["8"])],
        );
        check("impl<T> Shape<T> {\n    const N: u32 = 8;\n}", &[("N", &["8"])]);
        check("type Rows = [[f32; N]; 2]; pub type Word = u32;", &[("Rows", &["[[f32 ; N] ; 2]"]), ("Word", &["u32"])]);
    }

    #[test]
    fn what_is_no_constant() {
        check(
            "type Of<T> = [T; 2]; type Item; // type Rows = [f32; 2];\n type Function = fn([u32; 2]); my_type A = u32;",
            &[],
        );
        check("enum Shape { Round(f32), Flat } enum Of<T> { A, B(T) } enum Word { A = N }", &[]);
        check("struct S<T> { a: T } struct U; struct V { p: P } struct W { a: [f32; N] } struct X(u32);", &[]);
        check("// const N: usize = 4;", &[]);
        check("fn f<const N: usize>() { let mut sum = N; }", &[]);
        check("*const u8; const fn f() -> u32 { 0 }; myconst N: u32 = 1;", &[]);
        check(
            "const E: f32 = 1e-5; const S: &str = \"it's\"; const T: [f32; 2] = [1.0, 2.0]; const P: Point = Q;",
            &[],
        );
    }
}
