//! The faults of traces that values of constants or the bodies of called functions show: reported if those are the ones that are named.

use proc_macro2::{Span, TokenStream};

use super::Judged;
use crate::check::{self, Checked};
use crate::diag::{Diag, Diags, Reported};
use crate::emit;
use crate::model::Function;
use crate::model::followed::Followed;
use crate::rules::Rule;
use crate::session::Session;
use crate::span::SpanRange;
use crate::values::Conditional;

/// Whether a fault of a function with the values of its constants is one about which nothing is said without them.
pub(super) fn is_of_values(without: &Checked<'_>, with_values: &Function, fault: &Diag) -> bool {
    // Numbers of registers.
    fault.rule == Rule::LaunchLimit
        || Rule::OF_KNOWN_NUMBERS.contains(&fault.rule)
        || Rule::OF_TRACES.contains(&fault.rule) && !without.leaves_rank_to_rustc(fault.at)
        || is_of_threads(with_values, fault)
}

/// Whether only the threads of a function show a fault of a rule about which another check has something to say, too. What that one finds, it
/// has rustc find in calls and with the values of constants.
fn is_of_threads(function: &Function, fault: &Diag) -> bool {
    let position = |at: SpanRange| (at.line(), at.column());
    let finds = |check: &dyn Fn(&mut Diags)| {
        let mut found = Diags::new(Session::default());
        check(&mut found);
        found.any(|rule, at| (rule, position(at)) == (fault.rule, position(fault.at)))
    };
    fault.rule == Rule::UnorderedRemoteWrite
        && (finds(&|found| _ = check::follow_threads(function, found))
            || finds(&|found| check::follow_sends(function, found)))
        && !finds(&|found| check::compare_blocks(function, found))
}

/// Returns the faults of a function that is right without the bodies, of which `others` are its faults with them.
pub(super) fn faults(
    first: &Judged<'_>,
    (second, function): (&mut Judged<'_>, &Function),
    others: &[Diag],
    are_followed: impl Fn(Span) -> TokenStream,
) -> Vec<Conditional> {
    match (&first.checked, &second.checked) {
        (Ok(_), Ok(_)) => {
            let is_of_threads = |rule| Rule::OF_TRACES.contains(&rule) || rule == Rule::UnorderedRemoteWrite;
            let is_of_traces = |fault: &Conditional| fault.if_right && is_of_threads(fault.fault.rule);
            let (of_traces, rest) = std::mem::take(&mut second.conditional).into_iter().partition(is_of_traces);
            second.conditional = rest;
            let of_traces: Vec<Conditional> = of_traces;
            of_traces.into_iter().map(|fault| fault.and(&are_followed)).collect()
        }
        (Ok(_), Err(Reported)) => {
            let of_traces = others
                .iter()
                .filter(|fault| Rule::OF_TRACES.contains(&fault.rule) || is_of_threads(function, fault))
                .cloned();
            of_traces.map(|fault| Conditional::when(fault, &are_followed)).collect()
        }
        (Err(Reported), _) => Vec::new(),
    }
}

/// Adds such faults to the verdict.
pub(super) fn add<'f>(judged: Judged<'f>, of_traces: Vec<Conditional>, followed: &[Followed]) -> Judged<'f> {
    let selections = match &judged.checked {
        Ok(checked) if !of_traces.is_empty() => emit::followed::selections(checked.function(), followed),
        Ok(_) | Err(Reported) => return judged,
    };
    let conditional = judged.conditional.into_iter().chain(of_traces).collect();
    Judged { conditional, selections, ..judged }
}
