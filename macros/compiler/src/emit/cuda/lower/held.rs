//! How the text says what the host may know before a launch (`launch`): around the index of an access, around a check, and around an operand of
//! an operation on words.

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use crate::emit::cuda::ast::{AtLaunchForm, CuExpr};
use crate::model::SiteId;
use crate::model::expr::Expr;

/// The numbers of checks in a function.
#[derive(Default)]
pub(super) struct Numbered {
    /// The numbers of checks of accesses, by their sites.
    pub(super) accesses: BTreeMap<SiteId, u16>,
    /// The numbers of checks whether numbers are words, by the operations that are faster if they are.
    pub(super) words: BTreeMap<*const Expr, u16>,
    /// The numbers of checks whether dividends are less than twice the divisor, by the operations.
    pub(super) once: BTreeMap<*const Expr, u16>,
    /// The accesses whose index is to be a word where it is known to be within bounds.
    pub(super) scattered: BTreeSet<SiteId>,
    /// Whether what is lowered is evaluated before its place.
    is_beforehand: bool,
}

impl Lower<'_> {
    /// Returns an index or a check, which is unnecessary if the host's check of the access holds.
    pub(super) fn unless_held(&self, site: SiteId, of: CuExpr) -> CuExpr {
        self.unless_held_as(AtLaunchForm::Index, site, of)
    }

    fn unless_held_as(&self, form: AtLaunchForm, site: SiteId, of: CuExpr) -> CuExpr {
        match self.held_check(site) {
            Some(number) => CuExpr::AtLaunch { checks: vec![number], form, of: Box::new(of) },
            None => of,
        }
    }

    /// Returns the index of an access that is within bounds, which is a word if no other is next to it.
    pub(super) fn word_if_scattered(&self, site: SiteId, index: CuExpr) -> CuExpr {
        match self.at_launch.scattered.contains(&site) {
            true => CuExpr::call("word_of", vec![index]),
            false => index,
        }
    }

    /// Returns the index of an access that has a check unless the host's holds.
    pub(super) fn checked_index(&self, site: SiteId, index: CuExpr) -> CuExpr {
        let is_scattered = self.at_launch.scattered.contains(&site);
        let form = if is_scattered { AtLaunchForm::ScatteredIndex } else { AtLaunchForm::Index };
        self.unless_held_as(form, site, index)
    }

    /// Returns the number of the host's check of an access.
    pub(super) fn held_check(&self, site: SiteId) -> Option<u16> {
        self.at_launch.accesses.get(&site).copied()
    }

    /// Returns the operands of a vector's access, of which the second is the index.
    pub(super) fn held_index(&self, operands: impl Iterator<Item = CuExpr>, site: Option<SiteId>) -> Vec<CuExpr> {
        let mut operands: Vec<CuExpr> = operands.collect();
        if let (Some(site), Some(index)) = (site, operands.get_mut(1)) {
            *index = self.unless_held(site, index.clone());
        }
        operands
    }

    /// Lowers what is evaluated before its place, as in a test before a loop. What conditions say there, it cannot rely on.
    pub(super) fn beforehand<R>(&mut self, lower: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.at_launch.is_beforehand, true);
        let result = lower(self);
        self.at_launch.is_beforehand = outer;
        result
    }

    /// Returns the first operand of an operation, which is faster if the host knows that its numbers are words, or that it is a dividend of which at
    /// most one divisor is taken.
    pub(super) fn word(&self, operation: &Expr, of: CuExpr) -> CuExpr {
        let Numbered { words, once, is_beforehand, .. } = &self.at_launch;
        let forms = [(words, AtLaunchForm::Word), (once, AtLaunchForm::Once)];
        forms.into_iter().fold(of, |of, (numbers, form)| {
            match numbers.get(&std::ptr::from_ref(operation)).filter(|_| !is_beforehand) {
                Some(number) => CuExpr::AtLaunch { checks: vec![*number], form, of: Box::new(of) },
                None => of,
            }
        })
    }
}
