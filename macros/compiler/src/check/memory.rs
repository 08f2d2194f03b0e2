//! The checks of memory and barriers, on the graph of a function or on one that is split by what is known at its points.

use std::collections::BTreeSet;

use super::cfg::Cfg;
use super::completion::Completions;
use super::dsm::protocol::Protocol;
use super::liveness::Live;
use super::tokens::Tokens;
use super::uniform::control::Control;
use super::uniform::level::Required;
use super::uniform::values::Values;
use super::{barriers, copies, dsm, multicast, partition};
use crate::diag::Diags;
use crate::model::Function;
use crate::rules::Rule;
/// The checks of memory and barriers, of the graph as it is or split by what names and numbers stand for.
pub(super) fn check_memory<'f>(
    function: &'f Function,
    (cfg, tokens, live): (&Cfg<'f>, &Tokens<'f>, &Live),
    values: &Values<'_, 'f>,
    (required, ordered): (&Required, &BTreeSet<usize>),
    diags: &mut Diags,
) -> Protocol {
    let check_split = |split: &Cfg<'f>, found: &mut Diags| {
        let (tokens, control, live) = (Tokens::of(function, split), Control::of(split), Live::of(split));
        let values = Values::of(function, split, &control, &live);
        values.assume(required);
        check_graph(function, split, (&tokens, &live), &values, ordered, found)
    };
    let mut found = diags.nested();
    let protocol = match partition::split(cfg, live, values) {
        Some(split) => check_split(&split, &mut found),
        None => check_graph(function, cfg, (tokens, live), values, ordered, &mut found),
    };
    // All these graphs have all paths: what one of them proves is proved.
    let is_of_dsm =
        |rule| Rule::OF_PAIRS.contains(&rule) || matches!(rule, Rule::RemoteBeforeEntry | Rule::ExitBeforePeersDone);
    if found.any(|rule, _| is_of_dsm(rule)) && found.is_right_but_for(|rule, _| is_of_dsm(rule)) {
        for split in [partition::split_iterations, partition::split_outcomes] {
            let Some(split) = split(cfg, live, values) else { continue };
            let mut found = diags.nested();
            let protocol = check_split(&split, &mut found);
            if found.is_right_but_for(|_, _| false) {
                diags.append(found);
                return protocol;
            }
        }
    }
    diags.append(found);
    protocol
}

/// The checks that follow what names of memory and barriers stand for.
fn check_graph<'f>(
    function: &'f Function,
    cfg: &Cfg<'f>,
    (tokens, live): (&Tokens<'f>, &Live),
    values: &Values<'_, 'f>,
    ordered: &BTreeSet<usize>,
    diags: &mut Diags,
) -> Protocol {
    let phase_barriers = barriers::check(function, cfg, values, diags);
    let completions = Completions::of(function, cfg, values);
    let (handshakes, gathers) = (&phase_barriers.handshakes, &phase_barriers.gathers[..]);
    let completions = &completions;
    let inputs = dsm::Inputs { function, cfg, tokens, live, values, handshakes, gathers, completions, ordered };
    let mut protocol = dsm::check(inputs, diags);
    phase_barriers.add_to(&mut protocol);
    copies::check(function, cfg, values, completions, &mut protocol, diags);
    multicast::check(function, cfg, diags);
    protocol
}
