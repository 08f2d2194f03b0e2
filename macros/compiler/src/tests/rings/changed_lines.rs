//! Each line of the large kernels that synchronizes, removed or changed in one way: all kernels that come of it are refused, but for those
//! that `accepted` lists with what finds them, as `ui-tests/changed_lines` runs them.

use super::mutants::{all_rules, text};

#[path = "../../../../../ui-tests/changed_lines/accepted.rs"]
#[allow(dead_code, reason = "what finds a change is asked where the kernels run")]
mod accepted;
#[path = "../../../../../ui-tests/changed_lines/changes.rs"]
pub(super) mod changes;

use accepted::ACCEPTED;
use changes::{KERNELS, changes};

#[test]
fn each_line_that_synchronizes() {
    let mut tried = 0;
    let mut accepted = Vec::new();
    for kernel in KERNELS {
        let text = text(kernel.file);
        for change in kernel.functions.iter().flat_map(|function| changes(&text, function)) {
            tried += 1;
            if all_rules(&change.text, kernel.name).is_empty() {
                accepted.push(format!("{}: {}: {}", kernel.name, change.line, change.what));
            }
        }
    }
    let listed = ACCEPTED.map(|change| format!("{}: {}: {}", change.kernel, change.line, change.what));
    assert_eq!(accepted, listed);
    assert!(tried >= 140, "{tried} changes");
}
