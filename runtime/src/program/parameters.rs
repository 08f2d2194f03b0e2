//! Reads the names of a kernel's parameters from its text, for reports, and finds its body.

use std::ops::Range;

/// Returns the names of the parameters of the kernel `entry`, in order.
pub(super) fn names(entry: &str, text: &str) -> Vec<String> {
    list(entry, text).map_or(Vec::new(), |at| of_list(&text[at]))
}

/// Returns the text for launches with a deadline: the kernel begins with a call that notes the time, on the line of its brace.
pub(crate) fn timed(entry: &str, text: &str) -> String {
    let parts = text.find(USING).zip(list(entry, text)).filter(|(head, list)| *head < list.start);
    let Some((head, list)) = parts else { return text.into() };
    let body = list.end + BRACE.len();
    let (head, kernel, body) = (&text[..head], &text[head..body], &text[body..]);
    format!("{head}\n#include <phalanx/deadline.cuh>{kernel} ::phalanx::begin_timed_launch();{body}")
}

const USING: &str = "\nusing namespace phalanx;";
const BRACE: &str = ") {";

/// Returns where the list of the kernel's parameters is in the text.
fn list(entry: &str, text: &str) -> Option<Range<usize>> {
    // The name stands on a line of its own, or behind the return type.
    let heads = [format!("\n{entry}("), format!("void {entry}(")];
    let start = heads.iter().find_map(|head| Some(text.find(head)? + head.len()))?;
    Some(start..start + text[start..].find(BRACE)?)
}

/// Returns the names in a list of parameters, whose commas are not those of a type's arguments.
fn of_list(list: &str) -> Vec<String> {
    let mut depth = 0;
    let parameters = list.split(move |letter| {
        depth += match letter {
            '<' | '(' => 1,
            '>' | ')' => -1,
            _ => 0,
        };
        letter == ',' && depth == 0
    });
    parameters.filter_map(|parameter| Some(parameter.split_whitespace().last()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timed_kernel_begins_with_the_time() {
        let text =
            "#include <a>\n\nusing namespace phalanx;\n\nvoid other(u32 n) {\n}\n\nvoid\nk(u32 n) {\n#line 1\n}\n";
        let expected = "#include <a>\n\n#include <phalanx/deadline.cuh>\nusing namespace phalanx;\n\nvoid other(u32 n) {\n}\n\nvoid\nk(u32 n) { \
                        ::phalanx::begin_timed_launch();\n#line 1\n}\n";
        assert_eq!(timed("k", text), expected);
        assert_eq!(timed("other_kernel", text), text);
    }

    #[test]
    fn the_commas_of_a_type_separate_no_parameters() {
        let list = "slice_mut<tuple<u32, f32>> pairs, u32 n, option<slice<array<u32, 4>>> rows";
        assert_eq!(of_list(list), ["pairs", "n", "rows"]);
    }
}
