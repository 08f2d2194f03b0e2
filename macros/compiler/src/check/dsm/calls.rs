//! Calls of device functions: what depends on a callee becomes a question to rustc, and what callers must know of the function
//! becomes an effect of its summary.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::protocol::{Behavior, ParameterUses, Party, When};

use super::Check;
use super::access_site::{AccessSite, Accessor, Part, guard_of};
use super::conflict;
use super::in_flight::State;
use super::protocol::{Effect, Guard, Predicate};
use super::record::{Record, RecordKey, Timing};
use crate::check::cfg::{Call, CallId, Shared};
use crate::messages;
use crate::model::{Role, SlotId};

impl Check<'_, '_> {
    /// Checks a call: that the cluster was entered if the callee needs that, and that neither the callee's own shared memory nor
    /// its arguments race with accesses in flight.
    pub(super) fn call(&mut self, state: &State, id: CallId) {
        let in_flight = self.in_flight;
        let call = &in_flight.cfg.calls[id.0];
        let Some(path) = call.function() else { return };
        let Call { at, slot: SlotId(slot), ref regions, .. } = *call;
        let not_entered = state.not_entered.clone();
        let memory = regions.iter().flatten().filter_map(|region| region.root.party());
        let mut remote = memory.filter(|(party, _)| *party == Party::Peer).map(|(_, shared)| shared);
        if let Some(calls) = &not_entered {
            let guard =
                Guard::unless(calls, Behavior::MAY_NOT_ENTER).when(Predicate::Does(slot, Behavior::NEEDS_ENTRY));
            match self.function.role {
                Role::Kernel => self.report(guard, messages::call_before_entry(at)),
                Role::Device => self.add_effect(Effect::Does(Behavior::NEEDS_ENTRY), guard),
                // The caller mapped the peer's memory, so it must have entered.
                Role::Method if remote.any(|shared| self.was_mapped_by_caller(shared)) => {}
                Role::Method => self.report(guard, messages::remote_in_method(at)),
            }
        }
        // `overwrite_while_read`, for the shared memory that the callee declares itself.
        let name = path.name.to_string();
        let previous = state.records.iter().filter_map(|(instance, record)| match instance.key {
            RecordKey::Call(other) => {
                let other = &in_flight.cfg.calls[other.0];
                let is_same = other.function().is_some_and(|path| path.name == name);
                is_same.then_some((other.at, record))
            }
            RecordKey::Access(_) | RecordKey::Argument { .. } | RecordKey::Caller => None,
        });
        // The previous call with the fewest calls in between is reported.
        let again = previous.min_by_key(|(_, record)| record.calls_since.len()).map(|(first, record)| {
            let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER)
                .when(Predicate::Does(slot, Behavior::ONCE_A_PHASE));
            (guard, messages::twice_a_phase(at, first))
        });
        again.into_iter().for_each(|(guard, diag)| self.report(guard, diag));
        self.check_arguments(id);
        for (argument, region) in regions.iter().enumerate() {
            let Some((_, shared)) = region.as_ref().and_then(|region| region.root.party()) else { continue };
            let in_flight = self.in_flight;
            let Some(facts) = in_flight.facts.argument(id, argument) else { continue };
            for site in self.argument_sites(id, argument, When::First) {
                if site.party == Party::Owner || in_flight.may_have_entered(state) {
                    self.check_conflicts(state, &site, &facts.path);
                }
                if let (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_), Some(calls)) =
                    (shared, state.calls_since_caller())
                {
                    self.first_accesses.push((site, facts.path.clone(), calls.clone()));
                }
            }
            if let (Shared::Param(own), Some(calls)) = (shared, state.calls_since_caller()) {
                let passes = Effect::Passes { own, call: slot, parameter: argument, when: When::First };
                self.add_effect(passes, Guard::unless(calls, Behavior::MAY_NOT_ORDER));
            }
        }
    }

    /// Adds to the summary which parameters must not be the same memory, because this access to one conflicts with an access to
    /// the other.
    pub(super) fn check_parameters(&mut self, state: &State, site: &AccessSite) {
        let Shared::Param(second) = site.shared else { return };
        let mut clashes = Vec::new();
        for (other, record) in self.sites_in_flight(state) {
            let Shared::Param(first) = other.shared else { continue };
            if first == second {
                continue;
            }
            let conflicts = conflict::between(other.party, site.party, record);
            clashes.extend(conflicts.filter_map(|conflict| {
                let guard = guard_of(&other, site, &conflict, record)?;
                Some((Effect::Clashes(first.min(second), first.max(second)), guard))
            }));
        }
        clashes.into_iter().for_each(|(effect, guard)| self.add_effect(effect, guard));
    }

    /// `overwrite_while_read`: a callee is not given the same memory as two arguments, if it makes conflicting accesses to them.
    pub(super) fn check_arguments(&mut self, id: CallId) {
        let in_flight = self.in_flight;
        let Call { at, slot: SlotId(slot), ref regions, .. } = in_flight.cfg.calls[id.0];
        let facts = &self.in_flight.facts;
        let part_of = |argument: usize| {
            let region = regions[argument].as_ref()?;
            let (party, shared) = region.root.party()?;
            Some(Part { party, shared, path: &facts.argument(id, argument)?.path })
        };
        let mut pairs = Vec::new();
        for second in 0..regions.len() {
            let Some(part) = part_of(second) else { continue };
            for first in 0..second {
                let Some(other) = part_of(first) else { continue };
                let guard = Guard::default().when(Predicate::Clashes(slot, first, second));
                match (part.shared, other.shared) {
                    (Shared::Param(a), Shared::Param(b)) if a != b => {
                        pairs.push((Some(Effect::Clashes(a.min(b), a.max(b))), guard));
                    }
                    _ if self.may_alias(part, other) => pairs.push((None, guard)),
                    _ => {}
                }
            }
        }
        self.has_conflicts |= !pairs.is_empty();
        for (effect, guard) in pairs {
            match effect {
                Some(effect) => self.add_effect(effect, guard),
                None => self.report(guard, messages::same_memory_twice(at)),
            }
        }
    }

    /// Adds to the summary an access that is in flight when the function returns.
    pub(super) fn summarize_in_flight(&mut self, key: RecordKey, record: &Record) {
        let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
        match key {
            RecordKey::Call(CallId(call)) => {
                let slot = self.in_flight.cfg.calls[call].slot.0;
                return self.add_effect(
                    Effect::Does(Behavior::ONCE_A_PHASE),
                    guard.when(Predicate::Does(slot, Behavior::ONCE_A_PHASE)),
                );
            }
            RecordKey::Caller => return self.add_effect(Effect::Does(Behavior::MAY_NOT_ORDER), guard),
            RecordKey::Access(_) | RecordKey::Argument { .. } => {}
        }
        let mut whens = Vec::new();
        if record.timing.intersects(Timing::SINCE_WAIT | Timing::BEFORE_WAIT | Timing::RELAXED) {
            whens.push(When::Last);
        }
        if record.timing.contains(Timing::SINCE_ARRIVAL) {
            whens.push(When::Arrived);
        }
        for site in self.sites(key) {
            for &when in &whens {
                match (site.shared, site.accessor) {
                    (Shared::Param(own), Accessor::Itself(uses)) => {
                        self.add_effect(Effect::Uses(own, ParameterUses::of(site.party, when, uses)), guard.clone());
                    }
                    (Shared::Param(own), Accessor::Call { slot, argument, .. }) => {
                        let passes = Effect::Passes { own, call: slot, parameter: argument, when };
                        self.add_effect(passes, guard.clone());
                    }
                    (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any, _) => {
                        self.check_second_call(&site, record);
                    }
                }
            }
        }
    }

    /// Compares an access to the function's own shared memory that is in flight at its end with the first accesses of a second
    /// call. If they conflict, callers must have a barrier between the two calls.
    pub(super) fn check_second_call(&mut self, last: &AccessSite, record: &Record) {
        let mut again = Vec::new();
        for (first, path, calls) in &self.first_accesses {
            // Variables and arguments may differ between the two calls.
            let (one, other) = (record.path.literals(), path.literals());
            if !self.may_alias(last.part(&one), first.part(&other)) {
                continue;
            }
            let calls: BTreeSet<u16> = record.calls_since.union(calls).copied().collect();
            for conflict in conflict::between(last.party, first.party, record) {
                if let Some(guard) = guard_of(last, first, &conflict, record) {
                    let unless = Guard::unless(&calls, Behavior::MAY_NOT_ORDER).unless;
                    again.push(Guard { unless, ..guard });
                }
            }
        }
        again.into_iter().for_each(|guard| self.add_effect(Effect::Does(Behavior::ONCE_A_PHASE), guard));
    }
}
