//! Follows the variables of a thread that hold the token of an arrival.

use std::collections::BTreeMap;

use crate::check::cfg::{Cfg, GroupStep, Step, StepKind, TokenStep, Variable};

/// Whether variables hold a token, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Tokens(BTreeMap<Variable, bool>);

impl Tokens {
    pub(super) fn is_there(&self, variable: Variable) -> Option<bool> {
        self.0.get(&variable).copied()
    }

    /// The thread executes a step.
    pub(super) fn step(&mut self, cfg: &Cfg<'_>, step: &Step) {
        let moved =
            if let StepKind::Token(TokenStep::Move { from, .. }) = step.kind { self.is_there(from) } else { None };
        for (variable, is_there) in changes(cfg, step) {
            match is_there.or(moved) {
                Some(is_there) => _ = self.0.insert(variable, is_there),
                None => _ = self.0.remove(&variable),
            }
        }
    }

    /// The thread may execute a step.
    pub(super) fn may(&mut self, cfg: &Cfg<'_>, step: &Step) {
        for (variable, _) in changes(cfg, step) {
            self.0.remove(&variable);
        }
    }
}

/// The variables that a step changes, each with whether it holds a token then; `None` if that is not known.
fn changes(cfg: &Cfg<'_>, step: &Step) -> Vec<(Variable, Option<bool>)> {
    match &step.kind {
        StepKind::Group(GroupStep::Arrive { into, .. } | GroupStep::ArriveForgotten { into, .. }) => {
            vec![(*into, Some(true))]
        }
        StepKind::Group(GroupStep::Wait { from, .. } | GroupStep::WaitElected { from, .. }) => {
            vec![(*from, Some(false))]
        }
        StepKind::Token(TokenStep::Move { from, into }) => vec![(*into, None), (*from, Some(false))],
        StepKind::Token(
            TokenStep::HandOver { from: variable }
            | TokenStep::Forget { from: variable, .. }
            | TokenStep::Clear { variable }
            | TokenStep::Drop { variable, .. },
        ) => vec![(*variable, Some(false))],
        StepKind::Call(call) => {
            let call = &cfg.calls[call.0];
            let returned = call.returned_token.map(|(_, variable)| (variable, call.always_returns.then_some(true)));
            returned.into_iter().collect()
        }
        StepKind::Group(
            GroupStep::Collective { .. }
            | GroupStep::Convergent { .. }
            | GroupStep::Aligned { .. }
            | GroupStep::FormGroup(_),
        )
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_) => Vec::new(),
    }
}
