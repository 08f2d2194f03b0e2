//! The summary of what a function does to shared memory and the cluster's barriers, as the checks collect it: its effects for
//! callers, and its questions about the functions that it calls. rustc joins them (`phalanx_contract::protocol`), because the macro
//! sees one function at a time. Data, no analysis.

use std::collections::BTreeSet;

use phalanx_contract::protocol::{self as contract, Behavior};

use super::overlap::ConstantIs;
use crate::diag::Diag;
use crate::rules::Rule;
use crate::span::SpanRange;

/// A question about a called function. It names calls by their slots.
pub(crate) type Predicate = contract::Predicate<u16>;
/// Something that a function does. It names calls by their slots.
pub(crate) type Effect = contract::Effect<u16>;
/// A row of memory that a call is given. It names the call by its slot.
pub(crate) type Row = contract::Row<u16>;

/// A condition on the called functions and on constants. It holds if all of `when` and of `constants` hold, and each call of
/// `unless` has the behavior beside it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Guard {
    pub(crate) when: Vec<Predicate>,
    pub(crate) constants: Vec<ConstantIs>,
    /// Calls in between, each with a behavior. A call that lacks it makes the fault harmless.
    pub(crate) unless: Vec<(u16, Behavior)>,
}

/// A fault that rustc reports if its guard holds.
#[derive(Debug)]
pub(crate) struct Demand {
    pub(crate) guard: Guard,
    pub(crate) rule: Rule,
    pub(crate) at: SpanRange,
    pub(crate) message: String,
}

/// The summary of one function.
#[derive(Debug, Default)]
pub(crate) struct Protocol {
    /// What the function requires of its callees.
    pub(crate) demands: Vec<Demand>,
    /// What the function does, for its callers.
    pub(crate) effects: Vec<(Effect, Guard)>,
    /// By parameter, if it is memory that the function accesses in one row alone: the position of the parameter that selects
    /// the row.
    pub(crate) rows: Vec<Option<usize>>,
}

impl Protocol {
    /// The summary of a function that uses neither barriers of the cluster nor memory that peers access.
    pub(super) fn plain() -> Protocol {
        let nothing = Behavior::MAY_NOT_ENTER | Behavior::MAY_NOT_ARRIVE | Behavior::MAY_NOT_ORDER;
        Protocol { effects: vec![(Effect::Does(nothing), Guard::default())], ..Protocol::default() }
    }

    /// Removes such demands, each given by its rule and its place; says whether there were any.
    pub(crate) fn waive(&mut self, waived: impl Fn(Rule, SpanRange) -> bool) -> bool {
        let before = self.demands.len();
        self.demands.retain(|demand| !waived(demand.rule, demand.at));
        self.demands.len() != before
    }

    /// The slots of the calls that a guard or an effect names.
    pub(crate) fn calls(&self) -> BTreeSet<u16> {
        let guards = self.demands.iter().map(|demand| &demand.guard);
        let guards = guards.chain(self.effects.iter().map(|(_, guard)| guard));
        let in_guards = guards.flat_map(|guard| {
            let when = guard.when.iter().flat_map(|predicate| match predicate {
                Predicate::Does(slot, _)
                | Predicate::Never(slot, _)
                | Predicate::Uses(slot, ..)
                | Predicate::NeverUses(slot, ..)
                | Predicate::Clashes(slot, ..) => [Some(*slot), None],
                Predicate::Meet((first, _), (second, _)) => [Some(*first), Some(*second)],
                Predicate::Beyond(row, other) => [Some(row.call), other.map(|other| other.call)],
            });
            when.flatten().chain(guard.unless.iter().map(|(slot, _)| *slot))
        });
        let passed = self.effects.iter().filter_map(|(effect, _)| match effect {
            Effect::Passes { call, .. } | Effect::Executes { call, .. } => Some(*call),
            Effect::Does(_) | Effect::Uses(..) | Effect::Clashes(..) | Effect::Again(_) => None,
        });
        in_guards.chain(passed).collect()
    }

    /// Makes rustc report a fault if its guard holds.
    pub(in crate::check) fn ask(&mut self, guard: Guard, fault: &Diag) {
        let message = fault.text();
        let known = |demand: &Demand| demand.message == message && demand.guard == guard;
        if !self.demands.iter().any(known) {
            self.demands.push(Demand { guard, rule: fault.rule, at: fault.at, message });
        }
    }
}

impl Guard {
    /// The guard that holds unless one of the calls lacks the behavior.
    pub(super) fn unless(calls: &BTreeSet<u16>, behavior: Behavior) -> Guard {
        Guard { when: Vec::new(), constants: Vec::new(), unless: calls.iter().map(|call| (*call, behavior)).collect() }
    }

    /// The guard that also requires the predicate.
    pub(in crate::check) fn when(mut self, predicate: Predicate) -> Guard {
        self.when.push(predicate);
        self
    }

    /// Whether the guard holds whatever the called functions do.
    pub(super) fn depends_on_no_call(&self) -> bool {
        self.when.is_empty() && self.unless.is_empty()
    }

    /// Whether the guard holds whatever the called functions do and whatever constants are.
    pub(in crate::check) fn is_certain(&self) -> bool {
        self.depends_on_no_call() && self.constants.is_empty()
    }
}
