//! The summary of a function's uniformity: what its callers must know, and what it asks of the functions that it calls. rustc
//! joins the two (`phalanx_contract::uniformity`), because the macro sees one function at a time.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::level::{Level, Required, Unknown};
use crate::check::cfg::{Cfg, Team};
use crate::model::expr::FunctionPath;
use crate::model::group::Group;
use crate::span::SpanRange;

/// What a function's callers must know of its uniformity, and what it asks of its callees.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) calls: Vec<Call>,
    pub(crate) obligations: Vec<Obligation>,
    /// The groups whose threads must reach a call of the function together.
    pub(crate) collective_groups: Vec<Team>,
    /// The groups that are parameters, with their positions.
    pub(crate) groups: Vec<(Uniformity, usize)>,
    pub(crate) result: Level,
    alike: Vec<usize>,
}

/// A call of a device function by its path.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) slot: u16,
    pub(crate) function: FunctionPath,
    /// The scope of each argument that is a group, `Divergent` for the others.
    pub(crate) groups: Vec<Uniformity>,
    /// The uniformity of each argument.
    pub(crate) arguments: Vec<Level>,
}

/// A value that must be uniform in some group, which only rustc can decide.
#[derive(Debug)]
pub(crate) struct Obligation {
    pub(crate) need: Need,
    pub(crate) on: Level,
    pub(crate) at: SpanRange,
    /// The message if it is not; `None` if only what callers pass can break it.
    pub(crate) message: Option<String>,
    /// Whether the rule is switched off here: rustc is not asked, but callers still learn what the function needs.
    pub(crate) waived: bool,
}

/// The threads in which a value must be uniform.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Need {
    /// This group.
    Team(Team),
    /// The groups whose collectives a device function executes, by the call's slot, with the scopes of its arguments.
    Control(u16, Vec<Uniformity>),
    /// The groups in which a device function needs this argument to be uniform.
    Argument(u16, usize),
}

impl Summary {
    pub(super) fn of(cfg: &Cfg<'_>, groups: Vec<(Uniformity, usize)>, level: impl Fn(usize) -> Level) -> Summary {
        let mut calls: BTreeMap<u16, Call> = BTreeMap::new();
        for call in &cfg.calls {
            let Some(function) = call.function() else { continue };
            let scope = |team: &Option<Team>| team.map_or(Uniformity::Divergent, |team| team.uniformity);
            let groups: Vec<Uniformity> = call.teams.iter().map(scope).collect();
            let arguments: Vec<Level> =
                cfg.nodes[call.node.0].operands.iter().map(|operand| level(operand.0)).collect();
            // A call in a closure stands wherever the closure is called: what all of these have in common counts.
            let known = calls.entry(call.slot.0).or_insert_with(|| Call {
                slot: call.slot.0,
                function: function.clone(),
                groups: groups.clone(),
                arguments: arguments.clone(),
            });
            known.groups.iter_mut().zip(groups).for_each(|(known, group)| *known = known.meet(group));
            known.arguments.iter_mut().zip(&arguments).for_each(|(known, argument)| {
                known.meet(argument);
            });
        }
        let top = Level::known(Uniformity::Grid);
        Summary {
            calls: calls.into_values().collect(),
            obligations: Vec::new(),
            collective_groups: Vec::new(),
            groups,
            result: top,
            alike: Vec::new(),
        }
    }

    /// The unknowns on which collectives of this function depend.
    pub(crate) fn required(&self) -> Required {
        let mut required = Required::default();
        for obligation in &self.obligations {
            if let Need::Team(team) = obligation.need {
                required.add(&obligation.on.unknown, team.uniformity);
            }
        }
        required
    }

    pub(super) fn add_group(&mut self, team: Team) {
        if !self.collective_groups.contains(&team) {
            self.collective_groups.push(team);
        }
    }

    pub(super) fn oblige(&mut self, need: Need, on: Level, at: SpanRange, message: impl FnOnce() -> String) {
        let asks = match &need {
            // The known part was checked already.
            Need::Team(_) => !on.unknown.is_empty(),
            Need::Control(..) | Need::Argument(..) => !on.is_top(),
        };
        if asks {
            let passed =
                on.at_most == Uniformity::Grid && on.unknown.iter().all(|unknown| matches!(unknown, Unknown::Param(_)));
            self.obligations.push(Obligation { need, on, at, message: (!passed).then(message), waived: false });
        }
    }

    /// Adds a parameter that all threads of the cluster must give one value.
    pub(crate) fn add_alike(&mut self, param: usize, at: SpanRange) {
        self.alike.push(param);
        self.oblige(Need::Team(Team::whole(Group::Cluster)), Level::of(Unknown::Param(param)), at, String::new);
    }

    /// The parameters that all threads of the cluster must give one value, because an index depends on them.
    pub(crate) fn alike(&self) -> impl Iterator<Item = usize> {
        self.alike.iter().copied()
    }

    pub(super) fn add_result(&mut self, level: &Level) {
        self.result.meet(level);
    }

    /// Switches the rule off for the obligations at such places; says whether there are any.
    pub(crate) fn waive(&mut self, waived: impl Fn(SpanRange) -> bool) -> bool {
        let mut found = false;
        for obligation in self.obligations.iter_mut().filter(|obligation| waived(obligation.at)) {
            obligation.waived = true;
            found = true;
        }
        found
    }

    /// What rustc is asked.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Obligation> {
        self.obligations.iter().filter(|obligation| !obligation.waived)
    }

    /// The methods on whose results rustc is asked whether an obligation depends, by slot.
    pub(crate) fn methods(&self) -> impl Iterator<Item = (u16, &Obligation)> {
        self.asked().flat_map(|obligation| {
            obligation.on.unknown.iter().filter_map(move |unknown| match unknown {
                Unknown::Method(slot) => Some((*slot, obligation)),
                Unknown::Param(_) | Unknown::Call(_) | Unknown::Multiple(_) => None,
            })
        })
    }
}
