//! Finds the loops whose iteration may differ at a collective: threads that reach it in different iterations reach
//! two different instances of it. An arm that ends in a `break` has no way back, so it counts as if it stood behind the
//! loop.

use std::collections::{BTreeMap, BTreeSet};

use super::super::tree::{Block, Expr, Jump, Label, Stmt};
use super::Place;

type Labels = BTreeSet<Label>;

#[derive(Default)]
pub(super) struct Rounds {
    pub(super) of: BTreeMap<Place, Labels>,
    /// The loops that can iterate again after a jump.
    jumps: BTreeMap<Jump, Labels>,
}

impl Rounds {
    pub(super) fn of(kernel: &Block) -> Rounds {
        let mut rounds = Rounds::default();
        rounds.block(kernel, &Labels::new());
        rounds
    }

    /// Returns the loops that can iterate again from the block's start, given those from its end.
    fn block(&mut self, block: &Block, after: &Labels) -> Labels {
        block.iter().rev().fold(after.clone(), |after, stmt| self.statement(stmt, after))
    }

    fn note(&mut self, place: Place, after: &Labels) {
        self.of.insert(place, after.clone());
    }

    fn value(&mut self, value: &Expr, after: &Labels) {
        match value {
            Expr::Any(site, _) | Expr::Shuffle(site, ..) | Expr::Claim(site, _) => {
                self.note(Place::Site(site.id), after)
            }
            _ => {}
        }
        value.parts().into_iter().for_each(|part| self.value(part, after));
    }

    fn statement(&mut self, stmt: &Stmt, after: Labels) -> Labels {
        let before = match stmt {
            Stmt::If(_, then, otherwise) => {
                let mut both = self.block(then, &after);
                both.extend(
                    otherwise.as_ref().map_or_else(|| after.clone(), |otherwise| self.block(otherwise, &after)),
                );
                both
            }
            Stmt::Match(_, arms) => arms.iter().flat_map(|arm| self.block(arm, &after)).collect(),
            Stmt::While(label, _, body) | Stmt::For(label, _, _, body) | Stmt::Strided(label, _, _, _, body) => {
                self.repeat(*label, body, &after, &after)
            }
            Stmt::Loop(label, body) => self.repeat(*label, body, &Labels::new(), &after),
            Stmt::Labelled(label, body) => {
                self.jumps.insert(Jump::Break(*label), after.clone());
                self.block(body, &after)
            }
            Stmt::Jump(jump) => self.jumps.get(jump).cloned().unwrap_or_default(),
            Stmt::Sync(site) => {
                self.note(Place::Site(site.id), &after);
                after
            }
            Stmt::Split(arrive, wait, body) => {
                self.note(Place::Site(wait.id), &after);
                let before = self.block(body, &after);
                self.note(Place::Site(arrive.id), &before);
                before
            }
            Stmt::Probe(id) => {
                self.note(Place::Probe(*id), &after);
                after
            }
            Stmt::Let(..)
            | Stmt::LetPair(..)
            | Stmt::LetBoth(..)
            | Stmt::Assign(..)
            | Stmt::Increase(..)
            | Stmt::AssignField(..)
            | Stmt::AssignPair(..)
            | Stmt::Copy(..)
            | Stmt::Store(..)
            | Stmt::Assert(_)
            | Stmt::StoreState(..) => after,
        };
        stmt.values().into_iter().for_each(|value| self.value(value, &before));
        before
    }

    /// Returns the loops from the loop's head, given those behind its test, and behind a `break`.
    fn repeat(&mut self, label: Label, body: &Block, tested: &Labels, left: &Labels) -> Labels {
        self.jumps.insert(Jump::Break(label), left.clone());
        let mut head = tested.clone();
        loop {
            let again: Labels = head.iter().copied().chain([label]).collect();
            self.jumps.insert(Jump::Continue(label), again.clone());
            let from_head: Labels = self.block(body, &again).union(tested).copied().collect();
            if from_head == head {
                // A thread that comes from outside begins with the first iteration.
                head.remove(&label);
                return head;
            }
            head = from_head;
        }
    }
}
