//! PhaseAction goes between a function and those that it calls, or is called by: rustc is asked about the former, and told for
//! the latter.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::protocol::{Behavior, ParameterUses, Party, When};

use super::access_site::{AccessSite, Accessor, Part, guard_of};
use super::conflict;
use super::in_flight::{Key, Record, State, Timing};
use super::protocol::{Effect, Guard, Predicate};
use super::{Call, Check};
use crate::check::cfg::Shared;
use crate::messages;
use crate::model::Role;

impl Check<'_, '_> {
    pub(super) fn call(&mut self, state: &State, slot: u16) {
        let Some(Call { at, path, regions }) = self.calls.get(&slot).copied() else { return };
        let entered = state.entered.clone();
        let given = regions.iter().flatten().filter_map(|region| region.root.party());
        let mut remote = given.filter(|(party, _)| *party == Party::Peer).map(|(_, shared)| shared);
        if let Some(calls) = &entered {
            let guard =
                Guard::unless(calls, Behavior::MAY_NOT_ENTER).when(Predicate::Does(slot, Behavior::NEEDS_ENTRY));
            match self.function.role {
                Role::Kernel => self.tell(guard, messages::call_before_entry(at)),
                Role::Device => self.give(Effect::Does(Behavior::NEEDS_ENTRY), guard),
                // Whoever gave it the memory of a peer is asked.
                Role::Method if remote.any(|shared| matches!(shared, Shared::Param(_) | Shared::Any)) => {}
                Role::Method => self.tell(guard, messages::remote_in_method(at)),
            }
        }
        // `overwrite_while_read`, of what a function has itself.
        let name = path.name.to_string();
        let before = state.records.iter().filter_map(|((key, _), record)| match key {
            Key::Call(other) => {
                self.calls.get(other).filter(|call| call.path.name == name).map(|call| (call.at, record))
            }
            Key::Access(_) | Key::Argument(..) | Key::Caller => None,
        });
        // The one with the fewest calls between.
        let again = before.min_by_key(|(_, record)| record.passed.len()).map(|(first, record)| {
            let guard = Guard::unless(&record.passed, Behavior::MAY_NOT_ORDER)
                .when(Predicate::Does(slot, Behavior::ONCE_A_PHASE));
            (guard, messages::twice_a_phase(at, first))
        });
        again.into_iter().for_each(|(guard, diag)| self.tell(guard, diag));
        self.check_arguments(slot);
        for (argument, region) in regions.iter().enumerate() {
            let Some((_, shared)) = region.as_ref().and_then(|region| region.root.party()) else { continue };
            let in_flight = self.in_flight;
            let Some(point) = in_flight.facts.argument(slot, argument) else { continue };
            for site in self.taken(slot, argument, When::First) {
                if site.party == Party::Owner || in_flight.has_entered(state) {
                    self.check_conflicts(state, &site, &point.path);
                }
                if let (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_), Some(calls)) =
                    (shared, state.unordered())
                {
                    self.firsts.push((site, point.path.clone(), calls.clone()));
                }
            }
            if let (Shared::Param(own), Some(calls)) = (shared, state.unordered()) {
                let passes = Effect::Passes { own, call: slot, parameter: argument, when: When::First };
                self.give(passes, Guard::unless(calls, Behavior::MAY_NOT_ORDER));
            }
        }
    }

    /// Two parameters are different memory, or their caller is told what must not be done to one.
    pub(super) fn check_parameters(&mut self, state: &State, site: &AccessSite) {
        let Shared::Param(second) = site.shared else { return };
        let mut clashes = Vec::new();
        for (other, record) in self.under_way(state) {
            let Shared::Param(first) = other.shared else { continue };
            if first == second {
                continue;
            }
            let pairs = conflict::between(other.party, site.party, record.timing);
            clashes.extend(pairs.filter_map(|pair| {
                let guard = guard_of(&other, site, &pair, record)?;
                Some((Effect::Clashes(first.min(second), first.max(second)), guard))
            }));
        }
        clashes.into_iter().for_each(|(gives, guard)| self.give(gives, guard));
    }

    /// One region of memory is given as two parameters.
    pub(super) fn check_arguments(&mut self, slot: u16) {
        let Some(Call { at, regions, .. }) = self.calls.get(&slot).copied() else { return };
        let facts = &self.in_flight.facts;
        let given = |argument: usize| {
            let region = regions[argument].as_ref()?;
            let (party, shared) = region.root.party()?;
            Some(Part { party, shared, path: &facts.argument(slot, argument)?.path })
        };
        let mut told = Vec::new();
        for second in 0..regions.len() {
            let Some(part) = given(second) else { continue };
            for first in 0..second {
                let Some(other) = given(first) else { continue };
                let guard = Guard::default().when(Predicate::Clashes(slot, first, second));
                match (part.shared, other.shared) {
                    (Shared::Param(a), Shared::Param(b)) if a != b => {
                        told.push((Some(Effect::Clashes(a.min(b), a.max(b))), guard));
                    }
                    _ if self.meet(part, other) => told.push((None, guard)),
                    _ => {}
                }
            }
        }
        for (gives, guard) in told {
            match gives {
                Some(gives) => self.give(gives, guard),
                None => self.tell(guard, messages::same_memory_twice(at)),
            }
        }
    }

    /// What is still under way when the function returns.
    pub(super) fn leave_behind(&mut self, key: Key, record: &Record) {
        let guard = Guard::unless(&record.passed, Behavior::MAY_NOT_ORDER);
        match key {
            Key::Call(slot) => {
                return self.give(
                    Effect::Does(Behavior::ONCE_A_PHASE),
                    guard.when(Predicate::Does(slot, Behavior::ONCE_A_PHASE)),
                );
            }
            Key::Caller => return self.give(Effect::Does(Behavior::MAY_NOT_ORDER), guard),
            Key::Access(_) | Key::Argument(..) => {}
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
                match (site.shared, site.by) {
                    (Shared::Param(own), Accessor::Itself(kind)) => {
                        self.give(Effect::Uses(own, ParameterUses::of(site.party, when, kind)), guard.clone());
                    }
                    (Shared::Param(own), Accessor::Call(slot, param, _)) => {
                        self.give(Effect::Passes { own, call: slot, parameter: param, when }, guard.clone());
                    }
                    (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any, _) => {
                        self.check_again(&site, record);
                    }
                }
            }
        }
    }

    /// The function has shared memory of its own: may it be called once more?
    pub(super) fn check_again(&mut self, last: &AccessSite, record: &Record) {
        let mut again = Vec::new();
        for (first, path, calls) in &self.firsts {
            // Of another call: only what is fixed is the same.
            let (one, other) = (record.path.fixed(), path.fixed());
            if !self.meet(last.part(&one), first.part(&other)) {
                continue;
            }
            let calls: BTreeSet<u16> = record.passed.union(calls).copied().collect();
            for pair in conflict::between(last.party, first.party, record.timing) {
                if let Some(guard) = guard_of(last, first, &pair, record) {
                    let unless = Guard::unless(&calls, Behavior::MAY_NOT_ORDER).unless;
                    again.push(Guard { unless, ..guard });
                }
            }
        }
        again.into_iter().for_each(|guard| self.give(Effect::Does(Behavior::ONCE_A_PHASE), guard));
    }
}
