//! What callers of a function must know of its uniformity, and what it asks of the functions that it calls: rustc joins
//! the two (`phalanx_contract::uniformity`), because the macro sees one function at a time.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::uniformity::Uniformity;

use super::level::{Level, Unknown};
use crate::check::cfg::Team;
use crate::check::cfg::{Cfg, Source, StepKind};
use crate::model::expr::{Callee, FunctionPath};
use crate::span::SpanRange;

#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) calls: Vec<Call>,
    pub(crate) obligations: Vec<Obligation>,
    /// The groups that must come together to where the function is called.
    pub(crate) together: Vec<Team>,
    /// Of the function's own groups, those that are parameters.
    pub(crate) groups: Vec<(Uniformity, usize)>,
    pub(crate) result: Level,
    /// The rule is switched off: callers are told what the function needs, and its own calls are not asked.
    pub(crate) waived: bool,
}

/// A call of a device function by its path.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) slot: u16,
    pub(crate) function: FunctionPath,
    /// Of each argument that is a group, its scope.
    pub(crate) groups: Vec<Uniformity>,
    pub(crate) arguments: Vec<Level>,
}

/// Something that the threads of a group must agree on.
#[derive(Debug)]
pub(crate) struct Obligation {
    pub(crate) need: Need,
    pub(crate) on: Level,
    pub(crate) at: SpanRange,
    /// What is said where they do not; nothing where only callers can break it, by what they pass.
    pub(crate) message: Option<String>,
}

/// Who must agree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    Team(Team),
    /// Those whose collectives are in a device function, by the call's slot, and its arguments' scopes.
    Control(u16, Vec<Uniformity>),
    /// Those for whom it needs this argument to be the same.
    Argument(u16, usize),
}

impl Summary {
    pub(super) fn of(cfg: &Cfg<'_>, groups: Vec<(Uniformity, usize)>, level: impl Fn(usize) -> Level) -> Summary {
        let steps = cfg.blocks.iter().flat_map(|block| &block.steps);
        let calls = steps.filter_map(|step| {
            let StepKind::Call { node, .. } = &step.kind else { return None };
            let node = &cfg.nodes[node.0];
            let Source::Call { slot, callee: Callee::Function(function), teams, .. } = &node.source else {
                return None;
            };
            Some(Call {
                slot: slot.0,
                function: function.clone(),
                groups: teams.iter().map(|team| team.map_or(Uniformity::Divergent, |team| team.uniformity)).collect(),
                arguments: node.operands.iter().map(|operand| level(operand.0)).collect(),
            })
        });
        let top = Level::known(Uniformity::Grid);
        Summary {
            calls: calls.collect(),
            obligations: Vec::new(),
            together: Vec::new(),
            groups,
            result: top,
            waived: false,
        }
    }

    pub(super) fn needs(&mut self, team: Team) {
        if !self.together.contains(&team) {
            self.together.push(team);
        }
    }

    pub(super) fn oblige(&mut self, need: Need, on: Level, at: SpanRange, message: impl FnOnce() -> String) {
        let asks = match &need {
            // What is known is enough.
            Need::Team(_) => !on.unknown.is_empty(),
            Need::Control(..) | Need::Argument(..) => !on.is_top(),
        };
        if asks {
            let passed =
                on.at_most == Uniformity::Grid && on.unknown.iter().all(|unknown| matches!(unknown, Unknown::Param(_)));
            self.obligations.push(Obligation { need, on, at, message: (!passed).then(message) });
        }
    }

    pub(super) fn gives(&mut self, level: &Level) {
        self.result.meet(level);
    }

    /// The methods whose results something depends on, by their slots.
    pub(crate) fn methods(&self) -> impl Iterator<Item = (u16, &Obligation)> {
        self.obligations.iter().flat_map(|obligation| {
            obligation.on.unknown.iter().filter_map(move |unknown| match unknown {
                Unknown::Method(slot) => Some((*slot, obligation)),
                Unknown::Param(_) | Unknown::Call(_) | Unknown::Multiple(_) => None,
            })
        })
    }
}
