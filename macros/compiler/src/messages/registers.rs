//! Messages about changes of the number of registers.

use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

pub(crate) fn registers_in_function(at: SpanRange, name: &str) -> Diag {
    let message =
        format!("`{name}` must be called in the kernel itself, whose attribute determines the number of registers");
    Diag::new(Rule::UnsupportedCall, at, message).help("move the call from the device function to the kernel")
}

pub(crate) fn registers_without_block(at: SpanRange, name: &str) -> Diag {
    let message = format!(
        "`{name}` needs the block's size in the attribute, which determines the number of registers at the start"
    );
    Diag::new(Rule::LaunchLimit, at, message).help("state it: `#[cluster_kernel(block = 384)]`")
}

pub(crate) fn registers_twice(at: SpanRange, name: &str, earlier: Option<SpanRange>) -> Diag {
    let message = format!("a warpgroup changes its registers at most once, but `{name}` may come after another change");
    let diag = Diag::new(Rule::LaunchLimit, at, message);
    match earlier {
        Some(earlier) => diag.note(earlier, "the first change is here"),
        None => diag.remark("this one, in the previous iteration"),
    }
    .help("change them once for each warpgroup, before its loop")
}

/// The warpgroups of a block keep and want more registers than there are: `each` has so many a thread, of `all`. The largest number is `wanted`,
/// each thread has `at_start`, and `fits` is what would be left for those that want the largest one.
pub(crate) fn registers_do_not_suffice(
    at: SpanRange,
    (each, all): (&[u64], u64),
    (wanted, at_start): (u64, u64),
    fits: Option<u64>,
) -> Diag {
    let sum = each.iter().map(u64::to_string).collect::<Vec<_>>().join(" + ");
    let needed: u64 = each.iter().sum();
    let message = format!(
        "a warpgroup waits here for ever: the block's {} warpgroups keep and want {sum} = {needed} registers for each of their threads, \
         and have {all} ({at_start} each at the start)",
        each.len()
    );
    let diag = Diag::new(Rule::LaunchLimit, at, message);
    match fits {
        Some(fits) if fits > at_start => {
            diag.help(format!("ask for {fits} in place of {wanted}, or let another warpgroup keep fewer"))
        }
        _ => diag.help("let another warpgroup give registers back: `warpgroup.decrease_registers::<40>()`"),
    }
}
