//! Reads the names of a kernel's parameters from its text, for reports.

/// Returns the names of the parameters of the kernel `entry`, in order.
pub(super) fn names(entry: &str, text: &str) -> Vec<String> {
    // The name stands on a line of its own, or behind the return type.
    let heads = [format!("\n{entry}("), format!("void {entry}(")];
    let found = heads.iter().find_map(|head| text.split_once(head));
    let list = found.and_then(|(_, rest)| rest.split_once(") {")).map_or("", |(list, _)| list);
    of_list(list)
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
    fn the_commas_of_a_type_separate_no_parameters() {
        let list = "slice_mut<tuple<u32, f32>> pairs, u32 n, option<slice<array<u32, 4>>> rows";
        assert_eq!(of_list(list), ["pairs", "n", "rows"]);
    }
}
