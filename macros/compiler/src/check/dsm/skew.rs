//! Variables that hold the block's rank, or a multiple of it, plus something that is the same in all blocks: the part of a ring
//! that a block works on, `part = (part + N - 1) % N` from its rank on. What is the same is a base as a variable is that is uniform
//! for the cluster, so that the parts of two blocks are compared by their ranks.
//!
//! Data and what it claims; `skew_search` finds the variables.

use std::collections::BTreeMap;

use super::affine::{Affine, Base, Change, Cycle, Wraparound};
use super::index_value::{Form, IndexValue};
use crate::check::cfg::{Variable, gcd};

/// The variables, each with the coefficient of the rank and what the rest is known modulo.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Skews(BTreeMap<Variable, Skew>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Skew {
    rank: i32,
    modulus: u32,
    cycle: Option<Cycle>,
}

/// The values that variables are set to, where they are affine.
pub(super) type Assigned = BTreeMap<Variable, Vec<Option<Affine>>>;

impl Skews {
    /// Guesses the form of variables from one of the values that each is set to.
    pub(super) fn guessed(assigned: Assigned, candidates: &[Variable]) -> Skews {
        let guesses = assigned.into_iter().filter(|(variable, _)| candidates.contains(variable));
        let guess = |(variable, values): (Variable, Vec<Option<Affine>>)| {
            Some((variable, values.into_iter().flatten().find_map(Skew::of)?))
        };
        Skews(guesses.filter_map(guess).collect())
    }

    /// Holds the guesses against all values: one that does not fit is dropped, or known modulo less.
    pub(super) fn confirmed(mut self, assigned: &Assigned) -> Skews {
        self.0.retain(|variable, skew| {
            let mut values = assigned.get(variable).into_iter().flatten();
            values.all(|value| value.is_some_and(|value| skew.covers(*variable, value)))
        });
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value that a variable holds, in terms of the part that is the same in all blocks.
    pub(super) fn read(&self, variable: Variable) -> Option<IndexValue> {
        let Skew { rank, modulus, cycle } = *self.0.get(&variable)?;
        let value = Affine { rank, ..Affine::of(Base::Variable(variable)) }.modulo(modulus)?;
        let value = cycle.map_or(Some(value), |cycle| value.modulo_cycle(cycle))?;
        Some(Form::Affine(value).into())
    }

    /// Returns the change that assigning a value makes to the variable, or to the part that is the same in all blocks.
    pub(super) fn change(&self, variable: Variable, value: &IndexValue) -> Change {
        let (Some(skew), Some(affine)) = (self.0.get(&variable), value.affine()) else {
            return value.change_of(variable);
        };
        match affine.rank.checked_sub(skew.rank) {
            Some(rank) => Affine { rank, ..affine }.change_of(variable),
            None => Change::Lost,
        }
    }
}

impl Skew {
    fn of(value: Affine) -> Option<Skew> {
        let Affine { rank, modulus, cycle, .. } = value;
        (rank != 0).then_some(Skew { rank, modulus, cycle })
    }

    /// Whether a value is of this form, perhaps known modulo less.
    fn covers(&mut self, variable: Variable, value: Affine) -> bool {
        let is_same = match value.base {
            Base::Variable(base) => base != variable || value.factor == 1,
            Base::Zero | Base::Fixed(_) => true,
        };
        self.modulus = gcd(u64::from(self.modulus), u64::from(value.modulus)) as u32;
        let in_cycle = value.cycle.is_none() || self.cycle.is_none() || value.cycle == self.cycle;
        self.cycle = self.cycle.or(value.cycle);
        value.rank == self.rank && is_same && self.modulus != 1 && in_cycle && value.wraparound == Wraparound::No
    }
}
