//! The numbers of loops that are known, and those that an index takes in the loops that a thread's steps pass over.

use std::collections::BTreeSet;

use super::counters::Counter;
use super::value::Evaluator;
use crate::check::cfg::Variable;
use crate::rings::Expr;

/// The longest loop whose numbers are listed.
const LONGEST: i64 = 1024;

/// The largest number of values of one index.
const VALUES: usize = 1024;

impl Evaluator<'_, '_, '_> {
    /// The values of the counters of an index, one row for each iteration of the loops that count them. None if one of them is of a loop that
    /// is not known, or that the steps follow.
    pub(super) fn listed(&self, index: &Expr, is_followed: impl Fn(Variable) -> bool) -> Option<Vec<Vec<i64>>> {
        let mut all: Vec<Vec<i64>> = vec![vec![0; self.counters.len()]];
        for counter in index.counters().collect::<BTreeSet<_>>() {
            let Counter::Variable(variable) = self.counters.all().get(counter as usize).copied()? else { return None };
            if is_followed(variable) {
                return None;
            }
            let numbers = self.numbers(variable).filter(|numbers| numbers.len() * all.len() <= VALUES)?;
            let counter = counter as usize;
            let with = |values: &Vec<i64>, number: i64| {
                let mut values = values.clone();
                values[counter] = number;
                values
            };
            all = all.iter().flat_map(|values| numbers.iter().map(|number| with(values, *number))).collect();
        }
        Some(all)
    }

    /// Returns the numbers of a loop's variable, if all of them are known.
    pub(super) fn numbers(&self, variable: Variable) -> Option<Vec<i64>> {
        let (first, by) = self.first(variable)?;
        let counted = self.kernel.loop_of(variable)?;
        let trips = self.trips(counted).filter(|trips| *trips <= LONGEST)?;
        let first = first.known()?;
        Some((0..trips).map(|trip| first + trip * by).collect())
    }
}
