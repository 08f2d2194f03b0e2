//! Values that are limited by conditions of what is computed of them: behind `if i % width != 0`, `i` is not 0, and behind `if column % 2 == 0 &&
//! column != 0`, where `column` is `2 * x + odd`, `x` is not 0. A first or last part of the values is left out if the condition cannot hold for any of
//! them, whatever the other numbers are.

use std::collections::BTreeSet;

use super::{AllNumbers, AsIntegers, Graph, Id, Node, Numbers, computed};
use crate::program::launch_terms::Comparison;

/// How often a condition is looked at for parts of the values.
const MOST_TRIES: u32 = 64;

impl Graph {
    /// Adds the values for which a condition may hold: whether two expressions that are computed of `conditioned` compare so.
    pub(super) fn limit_by_condition(
        &mut self,
        comparison: Comparison,
        [value, side, bound]: [Id; 3],
        conditioned: Id,
    ) -> Option<Id> {
        let mut needed = BTreeSet::from([side, bound]);
        for id in (conditioned + 1..=side.max(bound)).rev() {
            if needed.contains(&id) {
                needed.extend(self.parts(id));
            }
        }
        let mut computed = vec![conditioned];
        for id in needed.range(conditioned + 1..) {
            if self.parts(*id).iter().any(|part| computed.contains(part)) {
                computed.push(*id);
            }
        }
        let id = self.node(Node::ByCondition(comparison, [value, side, bound]))?;
        self.sides.insert(id, computed);
        Some(id)
    }

    /// Returns the expressions of which the values of another one are computed here.
    fn parts(&self, id: Id) -> Vec<Id> {
        match self.nodes[id] {
            Node::Operation(_, parts) => parts.to_vec(),
            Node::Clamp(parts) | Node::Limited(_, parts) => parts.to_vec(),
            // It is limited where its own condition is.
            Node::Cast(_, part)
            | Node::Rounded(_, part)
            | Node::Conditioned(part)
            | Node::ByCondition(_, [part, ..]) => {
                vec![part]
            }
            Node::Integers(_)
            | Node::Float(..)
            | Node::Parameter(..)
            | Node::Length(_)
            | Node::Start(_)
            | Node::Launch(_)
            | Node::TileRank(_) => Vec::new(),
        }
    }

    /// Returns the values for which a condition may hold, but for those between the first and the last of them.
    pub(super) fn limited_by_condition(
        &self,
        id: Id,
        (comparison, [value, side, bound]): (Comparison, [Id; 3]),
        values: &mut AllNumbers,
    ) -> Numbers {
        let all = values[value];
        let (AsIntegers(integers), Some([conditioned, rest @ ..])) = (all, self.sides.get(&id).map(Vec::as_slice))
        else {
            return all;
        };
        let Some((low, high)) = integers.interval() else { return all };
        let mut tries = 0..MOST_TRIES;
        let mut may_hold = |low: i128, high: i128| {
            if tries.next().is_none() {
                return true;
            }
            values[*conditioned] = AsIntegers(integers.between(low, high));
            for &id in rest {
                values[id] = computed(self.nodes[id], values);
            }
            match (values[side], values[bound]) {
                (AsIntegers(side), AsIntegers(bound)) => side.may_compare(comparison, bound),
                _ => true,
            }
        };
        let first = first_that_may(low, high, &mut may_hold);
        let last = -first_that_may(-high, -first, |low, high| may_hold(-high, -low));
        AsIntegers(integers.between(first, last))
    }
}

/// Returns the first number of an interval behind those of which `may_hold` says that none has a property; the one behind the last if there is none.
fn first_that_may(low: i128, high: i128, mut may_hold: impl FnMut(i128, i128) -> bool) -> i128 {
    let (mut first, mut step) = (low, 1);
    // Parts that double, and then the halves of the one that may have it.
    let mut end = loop {
        if first > high {
            return first;
        }
        let last = high.min(first + step - 1);
        if may_hold(first, last) {
            break last;
        }
        (first, step) = (last + 1, step * 2);
    };
    while first < end {
        let middle = first + (end - first) / 2;
        match may_hold(first, middle) {
            true => end = middle,
            false => first = middle + 1,
        }
    }
    first
}

#[cfg(test)]
mod tests;
