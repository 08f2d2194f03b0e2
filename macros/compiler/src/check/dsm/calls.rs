//! What goes between a function and those that it calls, or is called by: rustc is asked about the former, and told for
//! the latter.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::conflict;
use super::phases::{Key, Record, State, mark, side_of};
use super::protocol::{Case, Gives, Has, Side, When, does, uses};
use super::touch::{By, Part, Touch, case_of};
use super::{Call, Check};
use crate::check::cfg::Shared;
use crate::messages;
use crate::model::Role;

impl Check<'_, '_> {
    pub(super) fn call(&mut self, state: &State, slot: u16) {
        let Some(Call { at, path, pieces }) = self.calls.get(&slot).copied() else { return };
        let entered = state.entered.clone();
        let given = pieces.iter().flatten().filter_map(|piece| side_of(piece.root));
        let mut remote = given.filter(|(side, _)| *side == Side::Remote).map(|(_, shared)| shared);
        if let Some(calls) = &entered {
            let case = Case::unless(calls, does::NOT_ENTER).when(Has::Does(slot, does::NEED_ENTRY));
            match self.function.role {
                Role::Kernel => self.tell(case, messages::call_before_entry(at)),
                Role::Device => self.give(Gives::Does(does::NEED_ENTRY), case),
                // Whoever gave it the memory of a peer is asked.
                Role::Method if remote.any(|shared| matches!(shared, Shared::Param(_) | Shared::Any)) => {}
                Role::Method => self.tell(case, messages::remote_in_method(at)),
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
            let case = Case::unless(&record.passed, does::NOT_ORDER).when(Has::Does(slot, does::ONCE_A_PHASE));
            (case, messages::twice_a_phase(at, first))
        });
        again.into_iter().for_each(|(case, diag)| self.tell(case, diag));
        self.check_arguments(slot);
        for (argument, piece) in pieces.iter().enumerate() {
            let Some((_, shared)) = piece.as_ref().and_then(|piece| side_of(piece.root)) else { continue };
            let phases = self.phases;
            let Some(point) = phases.points.argument(slot, argument) else { continue };
            for touch in self.taken(slot, argument, When::First) {
                if touch.side == Side::Own || phases.has_entered(state) {
                    self.check_conflicts(state, &touch, &point.path);
                }
                if let (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_), Some(calls)) =
                    (shared, state.unordered())
                {
                    self.firsts.push((touch, point.path.clone(), calls.clone()));
                }
            }
            if let (Shared::Param(own), Some(calls)) = (shared, state.unordered()) {
                let passes = Gives::Passes { own, slot, param: argument, when: When::First };
                self.give(passes, Case::unless(calls, does::NOT_ORDER));
            }
        }
    }

    /// Two parameters are different memory, or their caller is told what must not be done to one.
    pub(super) fn check_parameters(&mut self, state: &State, touch: &Touch) {
        let Shared::Param(second) = touch.shared else { return };
        let mut clashes = Vec::new();
        for (other, record) in self.under_way(state) {
            let Shared::Param(first) = other.shared else { continue };
            if first == second {
                continue;
            }
            let pairs = conflict::between(other.side, touch.side, record.marks);
            clashes.extend(pairs.filter_map(|pair| {
                let case = case_of(&other, touch, &pair, record)?;
                Some((Gives::Clashes(first.min(second), first.max(second)), case))
            }));
        }
        clashes.into_iter().for_each(|(gives, case)| self.give(gives, case));
    }

    /// One piece of memory is given as two parameters.
    pub(super) fn check_arguments(&mut self, slot: u16) {
        let Some(Call { at, pieces, .. }) = self.calls.get(&slot).copied() else { return };
        let points = &self.phases.points;
        let given = |argument: usize| {
            let piece = pieces[argument].as_ref()?;
            let (side, shared) = side_of(piece.root)?;
            Some(Part { side, shared, path: &points.argument(slot, argument)?.path })
        };
        let mut told = Vec::new();
        for second in 0..pieces.len() {
            let Some(part) = given(second) else { continue };
            for first in 0..second {
                let Some(other) = given(first) else { continue };
                let case = Case::default().when(Has::Clashes(slot, first, second));
                match (part.shared, other.shared) {
                    (Shared::Param(a), Shared::Param(b)) if a != b => {
                        told.push((Some(Gives::Clashes(a.min(b), a.max(b))), case));
                    }
                    _ if self.meet(part, other) => told.push((None, case)),
                    _ => {}
                }
            }
        }
        for (gives, case) in told {
            match gives {
                Some(gives) => self.give(gives, case),
                None => self.tell(case, messages::same_memory_twice(at)),
            }
        }
    }

    /// What is still under way when the function returns.
    pub(super) fn leave_behind(&mut self, key: Key, record: &Record) {
        let case = Case::unless(&record.passed, does::NOT_ORDER);
        match key {
            Key::Call(slot) => {
                return self.give(Gives::Does(does::ONCE_A_PHASE), case.when(Has::Does(slot, does::ONCE_A_PHASE)));
            }
            Key::Caller => return self.give(Gives::Does(does::NOT_ORDER), case),
            Key::Access(_) | Key::Argument(..) => {}
        }
        let mut whens = Vec::new();
        if record.marks & (mark::NOW | mark::BEFORE | mark::RELAXED) != 0 {
            whens.push(When::Last);
        }
        if record.marks & mark::NOW_SPLIT != 0 {
            whens.push(When::Arrived);
        }
        for touch in self.touches(key) {
            for &when in &whens {
                match (touch.shared, touch.by) {
                    (Shared::Param(own), By::Itself(kind)) => {
                        self.give(Gives::Uses(own, when, uses::of(touch.side, kind)), case.clone());
                    }
                    (Shared::Param(own), By::Call(slot, param, _)) => {
                        self.give(Gives::Passes { own, slot, param, when }, case.clone());
                    }
                    (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any, _) => {
                        self.check_again(&touch, record);
                    }
                }
            }
        }
    }

    /// The function has shared memory of its own: may it be called once more?
    pub(super) fn check_again(&mut self, last: &Touch, record: &Record) {
        let mut again = Vec::new();
        for (first, path, calls) in &self.firsts {
            // Of another call: only what is fixed is the same.
            let (one, other) = (record.path.fixed(), path.fixed());
            if !self.meet(last.part(&one), first.part(&other)) {
                continue;
            }
            let calls: BTreeSet<u16> = record.passed.union(calls).copied().collect();
            for pair in conflict::between(last.side, first.side, record.marks) {
                if let Some(case) = case_of(last, first, &pair, record) {
                    let unless = Case::unless(&calls, does::NOT_ORDER).unless;
                    again.push(Case { unless, ..case });
                }
            }
        }
        again.into_iter().for_each(|case| self.give(Gives::Does(does::ONCE_A_PHASE), case));
    }
}
