//! The other derives of a type, which no derive sees: the text of its file shows them, and rustc confirms what rests on it.

use proc_macro2::Ident;

/// Whether a struct or an enum derives the trait of this name, as far as the text of its file shows.
pub(super) fn shows_derive(name: &Ident, of: &str) -> bool {
    let text = name.span().local_file().and_then(|path| std::fs::read_to_string(path).ok());
    let begin = name.span().start();
    text.is_some_and(|text| derives(&text, begin.line, begin.column, of))
}

/// Whether the struct or enum whose name stands at a position of a text derives the trait of this name: no derive sees the others.
fn derives(text: &str, line: usize, column: usize, of: &str) -> bool {
    let mut before = String::new();
    for (number, content) in (1..).zip(text.lines()).take_while(|(number, _)| *number <= line) {
        let end = content.char_indices().nth(column).filter(|_| number == line).map_or(content.len(), |(at, _)| at);
        let content = content[..end].trim();
        if !content.starts_with("//") {
            before.push_str(content);
            before.push(' ');
        }
    }
    let item = before.rsplit([';', '{', '}']).next().unwrap_or_default().trim_end();
    let derives = item.split("#[derive(").skip(1).filter_map(|rest| rest.split_once(")]"));
    (item.ends_with("struct") || item.ends_with("enum"))
        && derives.flat_map(|(list, _)| list.split(',')).any(|derived| derived.trim() == of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_of_a_struct() {
        let text = "struct A;\n/// Has `{}`.\n#[derive(Clone, PartialEq)]\n// ;\n#[repr(C)]\npub(crate) struct B { a: u32 }\n\
                    #[derive(Clone)] struct C(u32); #[cfg_attr(x, derive(PartialEq))]\nstruct D(u32);";
        let at = |name: &str| {
            let (line, content) = (1..).zip(text.lines()).find(|(_, line)| line.contains(name)).expect("a line");
            derives(text, line, content.find(name).expect("a name") + "struct ".len(), "PartialEq")
        };
        assert!(at("struct B"));
        assert!(!at("struct A") && !at("struct C") && !at("struct D"));
    }
}
