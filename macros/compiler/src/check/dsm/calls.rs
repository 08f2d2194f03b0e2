//! Calls of device functions: what depends on a callee becomes a question to rustc, and what callers must know of the function
//! becomes an effect of its summary.

use std::collections::BTreeSet;

use phalanx_contract::protocol::{Behavior, DYNAMIC, ParameterUses, Party, When};

use super::Check;
use super::access_site::{AccessSite, Accessor, Part, guard_of, in_both_times, in_time, is_repeated_later};
use super::conflict;
use super::in_flight::State;
use super::index_path::IndexPath;
use super::protocol::{Effect, Guard, Predicate};
use super::questions::About;
use super::record::{Record, RecordKey, Timing};
use crate::check::cfg::{AccessId, Call, CallId, GivenTo, Shared};
use crate::messages;
use crate::model::Role;
use crate::model::kind::Kind;

impl Check<'_, '_> {
    /// Checks a call: that the cluster was entered if the callee needs that, and that neither the callee's own shared memory nor
    /// its arguments race with accesses in flight.
    pub(super) fn call(&mut self, state: &State, id: CallId) {
        let in_flight = self.in_flight;
        let call = &in_flight.cfg.calls[id.0];
        if !call.is_of_function() {
            return;
        }
        let (at, slot) = (call.at, in_flight.cfg.representative(call));
        let not_entered = state.not_entered.clone();
        let memory = call.regions.iter().flatten().filter_map(|region| region.root.party());
        let mut remote = memory.filter(|(party, _)| *party == Party::Peer).map(|(_, shared)| shared);
        if let Some(calls) = &not_entered {
            let guard = in_time(call.given_to, Guard::unless(calls, Behavior::MAY_NOT_ENTER))
                .when(Predicate::Does(slot, Behavior::NEEDS_ENTRY));
            match self.function.role {
                Role::Kernel => self.report(guard, messages::call_before_entry(at)),
                Role::Device => self.add_effect(Effect::Does(Behavior::NEEDS_ENTRY), guard),
                // The caller mapped the peer's memory, so it must have entered.
                Role::Method if remote.any(|shared| self.was_mapped_by_caller(shared)) => {}
                Role::Method => self.report(guard, messages::remote_in_method(at)),
            }
        }
        self.check_handshakes(state, id, When::First);
        let waited = call.takes_token_of_cluster().then(|| state.after_wait());
        if let Some(waited) = &waited {
            self.check_handshakes(waited, id, When::Waited);
        }
        self.check_arguments(id);
        let before = Some(GivenTo::Before(call.slot));
        let is_given_closure = |key: &RecordKey| self.sites(*key).iter().any(|site| site.given_to == before);
        let takes_closure = state.records.keys().any(|instance| is_given_closure(&instance.key));
        if takes_closure {
            self.check_handshakes(state, id, When::BesideClosure);
        }
        for argument in call.shared_memory() {
            let Some(facts) = in_flight.facts.argument(id, argument) else { continue };
            for site in self.argument_sites(id, argument, When::First) {
                let may_conflict = argument != DYNAMIC || self.names_memory_of_others;
                if may_conflict && (site.party == Party::Owner || in_flight.may_have_entered(state, call.given_to)) {
                    self.check_conflicts(state, &site, &facts.path);
                }
                self.add_first_use(state, &site, &facts.path);
            }
            if let Some(waited) = &waited {
                for site in self.argument_sites(id, argument, When::Waited) {
                    self.check_conflicts(waited, &site, &facts.path);
                    self.add_first_use(waited, &site, &facts.path);
                }
            }
            for site in self.argument_sites(id, argument, When::BesideClosure) {
                if takes_closure {
                    self.check_conflicts(state, &site, &facts.path);
                }
                if call.passes_closure {
                    self.add_uses(&site, When::BesideClosure, &Guard::default());
                }
            }
        }
        let writes = Guard::default().when(Predicate::Does(slot, Behavior::WRITES_DYNAMIC));
        self.add_effect(Effect::Does(Behavior::WRITES_DYNAMIC), writes);
    }

    /// `overwrite_while_read`, for shared memory that two calls access without being given it: arrays that functions declare, and
    /// dynamic memory that they name.
    fn check_handshakes(&mut self, state: &State, id: CallId, at_time: When) {
        let cfg = self.in_flight.cfg;
        let calls = &cfg.calls;
        let Call { at, slot, given_to, .. } = calls[id.0];
        let beside_closure = at_time == When::BesideClosure;
        let mut before: Vec<(CallId, When, &Record)> = Vec::new();
        for (instance, record) in state.records.iter() {
            let RecordKey::Argument { call, argument: DYNAMIC, arrived } = instance.key else { continue };
            // A function and what its closure calls meet beside its calls of the closure alone.
            let is_in_closure = calls[call.0].given_to == Some(GivenTo::Before(slot));
            let is_around = given_to == Some(GivenTo::After(calls[call.0].slot));
            let is_repeated = is_repeated_later(calls[call.0].given_to, record);
            if is_in_closure == beside_closure && !is_around && !is_repeated {
                before.push((call, if arrived { When::Arrived } else { When::Last }, record));
            }
        }
        // Of the calls of one function, those without another one in between are asked about.
        before.sort_by_key(|(.., record)| record.calls_since.len());
        let mut nearest: Vec<(CallId, When, &Record)> = Vec::new();
        for (call, when, record) in before {
            let hides = |(other, at_other, nearer): &(CallId, When, &Record)| {
                (cfg.callee(calls[other.0].slot), *at_other) == (cfg.callee(calls[call.0].slot), when)
                    && calls[other.0].given_to == calls[call.0].given_to
                    && nearer.calls_since.is_subset(&record.calls_since)
            };
            if !nearest.iter().any(hides) {
                nearest.push((call, when, record));
            }
        }
        let ask = |(call, when, record): (CallId, When, &Record)| {
            let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
            let first = &calls[call.0];
            let guard = if beside_closure { guard } else { in_both_times(first.given_to, given_to, guard) };
            let guard = guard
                .when(Predicate::Meet((cfg.representative(first), when), (cfg.representative(&calls[id.0]), at_time)));
            let diag = match cfg.callee(first.slot) == cfg.callee(calls[id.0].slot) {
                true => messages::twice_a_phase(at, first.at),
                false => messages::calls_share_memory(at, first.at),
            };
            ([first.given_to, given_to], guard, diag)
        };
        for (given_to, guard, diag) in nearest.into_iter().map(ask) {
            if self.is_new_question(About::Meeting, given_to, &guard) {
                self.report(guard, diag);
            }
        }
    }

    /// A call of a closure that the function was given: what the function has in flight is compared with it by the caller.
    pub(super) fn given_closure(&mut self, state: &State, id: AccessId) {
        let mut in_flight = Vec::new();
        for closure in self.sites(RecordKey::Access(id)) {
            let other = |(site, _): &(AccessSite, _)| site.party != closure.party && closure.is_compared_with(site);
            in_flight.extend(self.sites_in_flight(state).filter(other).map(|(site, record)| {
                let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
                (site, in_both_times(site.given_to, closure.given_to, guard))
            }));
            if let Some(calls) = state.calls_since_caller() {
                let guard = closure.in_time(Guard::unless(calls, Behavior::MAY_NOT_ORDER));
                self.add_effect(Effect::Does(Behavior::CALLS_CLOSURE_FIRST), guard);
            }
        }
        in_flight.iter().for_each(|(site, guard)| self.add_uses(site, When::BesideClosure, guard));
    }

    /// Adds an access to the summary, if accesses of the caller are still in flight, and to those that a second call begins with.
    pub(super) fn add_first_use(&mut self, state: &State, site: &AccessSite, path: &IndexPath) {
        let first = state.calls_since_caller().map(|calls| (When::First, calls));
        let waited = state.calls_since_arrival_of_caller().map(|calls| (When::Waited, calls));
        for (when, calls) in first.into_iter().chain(waited) {
            if let Shared::Array(_) = site.shared {
                self.first_accesses.push((when, *site, path.clone(), calls.clone()));
            }
            self.add_uses(site, when, &site.in_time(Guard::unless(calls, Behavior::MAY_NOT_ORDER)));
        }
    }

    /// Adds to the summary what an access does to memory that callers access too, at this time as they see it.
    pub(super) fn add_uses(&mut self, site: &AccessSite, seen: When, guard: &Guard) {
        if self.function.role != Role::Device {
            return;
        }
        let is_memory = |param: &usize| {
            matches!(self.function.kind(self.function.params[*param].local), Kind::Memory(_) | Kind::OptionalMemory(_))
        };
        let positions: Vec<usize> = match site.shared {
            Shared::Param(param) => vec![param],
            Shared::Dynamic | Shared::Slice(_) => vec![DYNAMIC],
            Shared::Any => (0..self.function.params.len()).filter(is_memory).chain([DYNAMIC]).collect(),
            Shared::Array(_) => return,
        };
        for own in positions {
            let effect = match site.accessor {
                Accessor::Itself(uses) => Effect::Uses(own, ParameterUses::of(site.party, seen, uses)),
                Accessor::Call { slot: call, argument: DYNAMIC, when } => Effect::Executes { call, when, seen },
                Accessor::Call { slot: call, argument: parameter, when } => {
                    Effect::Passes { own, call, parameter, when, seen }
                }
                Accessor::Closure => continue,
            };
            self.add_effect(effect, guard.clone());
        }
    }

    /// Adds to the summary which parameters must not be the same memory, because this access to one conflicts with an access to
    /// the other.
    pub(super) fn check_parameters(&mut self, state: &State, site: &AccessSite) {
        let Some(second) = position_of(site.shared) else { return };
        let mut clashes = Vec::new();
        for (other, record) in self.sites_in_flight(state).filter(|(other, _)| site.is_compared_with(other)) {
            let Some(first) = position_of(other.shared) else { continue };
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
        let call = &in_flight.cfg.calls[id.0];
        let (at, slot) = (call.at, in_flight.cfg.representative(call));
        let part_of = |argument: usize| {
            let (party, shared) = call.argument(argument)?;
            Some((argument, Part { party, shared, path: &in_flight.facts.argument(id, argument)?.path }))
        };
        let (mut effects, mut faults) = (Vec::new(), Vec::new());
        let parts: Vec<_> = call.shared_memory().filter_map(part_of).collect();
        for (index, &(second, part)) in parts.iter().enumerate() {
            for &(first, other) in &parts[..index] {
                let guard = Guard::default().when(Predicate::Clashes(slot, first, second));
                match (position_of(part.shared), position_of(other.shared)) {
                    (Some(a), Some(b)) if a != b => {
                        effects.push((Effect::Clashes(a.min(b), a.max(b)), guard));
                    }
                    _ if self.may_alias(part, other) => {
                        let message = if second == DYNAMIC {
                            messages::dynamic_memory_twice
                        } else {
                            messages::same_memory_twice
                        };
                        faults.push((guard, message(at)));
                    }
                    _ => {}
                }
            }
        }
        self.has_conflicts |= !faults.is_empty();
        effects.into_iter().for_each(|(effect, guard)| self.add_effect(effect, guard));
        faults.into_iter().for_each(|(guard, diag)| self.report(guard, diag));
    }

    /// Adds to the summary an access that is in flight when the function returns.
    pub(super) fn summarize_in_flight(&mut self, key: RecordKey, record: &Record) {
        let guard = Guard::unless(&record.calls_since, Behavior::MAY_NOT_ORDER);
        match key {
            RecordKey::Caller => return self.add_effect(Effect::Does(Behavior::MAY_NOT_ORDER), guard),
            RecordKey::CallerArrived => return,
            RecordKey::Access(_) | RecordKey::Argument { .. } | RecordKey::Call(_) => {}
        }
        let mut whens = Vec::new();
        if record.timing.intersects(Timing::SINCE_WAIT | Timing::BEFORE_WAIT | Timing::RELAXED) {
            whens.push(When::Last);
        }
        if record.timing.contains(Timing::SINCE_ARRIVAL) {
            whens.push(When::Arrived);
        }
        for site in self.sites(key) {
            let guard = site.in_time(guard.clone());
            if matches!(site.accessor, Accessor::Closure) {
                self.add_effect(Effect::Does(Behavior::CALLS_CLOSURE_LAST), guard.clone());
            }
            for &when in &whens {
                self.add_uses(&site, when, &guard);
                if let Shared::Array(_) = site.shared {
                    self.check_second_call(&site, when, record);
                }
            }
        }
    }

    /// Compares an access to the function's own shared memory that is in flight at its end with the first accesses of a second
    /// call. If they conflict, callers must have a barrier between the two calls.
    pub(super) fn check_second_call(&mut self, last: &AccessSite, when: When, record: &Record) {
        let mut again = Vec::new();
        for (time, first, path, calls) in &self.first_accesses {
            let again_at = match (time, when) {
                (When::Waited, When::Arrived) => When::Waited,
                (When::Waited, _) => continue,
                _ => when,
            };
            // Variables and arguments may differ between the two calls.
            let (one, other) = (record.path.literals(), path.literals());
            if !self.may_alias(last.part(&one), first.part(&other)) {
                continue;
            }
            let calls: BTreeSet<u16> = record.calls_since.union(calls).copied().collect();
            for conflict in conflict::between(last.party, first.party, record) {
                if let Some(guard) = guard_of(last, first, &conflict, record) {
                    let unless = Guard::unless(&calls, Behavior::MAY_NOT_ORDER).unless;
                    again.push((again_at, Guard { unless, ..guard }));
                }
            }
        }
        again.into_iter().for_each(|(when, guard)| self.add_effect(Effect::Again(when), guard));
    }
}

/// The position among the parameters of memory that callers access too.
fn position_of(shared: Shared) -> Option<usize> {
    match shared {
        Shared::Param(param) => Some(param),
        Shared::Dynamic | Shared::Slice(_) => Some(DYNAMIC),
        Shared::Array(_) | Shared::Any => None,
    }
}
