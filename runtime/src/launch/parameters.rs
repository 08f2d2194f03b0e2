//! Reads the names of a kernel's parameters from its text, for reports.

use crate::program::Program;

/// Returns the names of the kernel's parameters, in order.
pub(super) fn names(program: &Program) -> Vec<&str> {
    let head = format!("\n{}(", program.entry());
    let source = program.cuda_source();
    let list = source.split_once(&head).and_then(|(_, rest)| rest.split_once(") {")).map_or("", |(list, _)| list);
    parameters(list).filter_map(|parameter| parameter.split_whitespace().last()).collect()
}

/// Splits a list of parameters at its commas, which are not those of a type's arguments.
fn parameters(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |letter| {
        depth += match letter {
            '<' | '(' => 1,
            '>' | ')' => -1,
            _ => 0,
        };
        letter == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commas_of_a_type_separate_no_parameters() {
        let list = "slice_mut<tuple<u32, f32>> pairs, u32 n, option<slice<array<u32, 4>>> rows";
        let names: Vec<_> = parameters(list).filter_map(|one| one.split_whitespace().last()).collect();
        assert_eq!(names, ["pairs", "n", "rows"]);
    }
}
