//! The abstract state at a point: the threads that are there, and the values that they hold. Data and its order, no analysis.

use phalanx_contract::uniformity::Uniformity;

use super::equalities::Equalities;
use crate::check::cfg::{NodeId, Offset, Position, Variable};
use crate::check::engine::Join;
use crate::check::sorted_map::SortedMap;

/// Something that holds a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Variable(Variable),
    Node(NodeId),
}

/// The abstract value of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// Where in the block a thread is by the value, and in which groups the rest of it is the same.
    pub(super) position: Option<(Position, Uniformity)>,
    /// The facts that hold where it is false, and where it is true.
    pub(super) outcomes: [Option<Equalities>; 2],
}

impl Known {
    pub(super) fn nothing() -> Known {
        Known { position: None, outcomes: [Some(Equalities::default()), Some(Equalities::default())] }
    }

    fn is_nothing(&self) -> bool {
        let says_nothing = |held: &Option<Equalities>| held.as_ref().is_some_and(|held| held.0.is_empty());
        self.position.is_none() && self.outcomes.iter().all(says_nothing)
    }

    /// Forgets what was known of threads that are together, beyond a group that chose the same path.
    pub(super) fn demote(&mut self, within: Uniformity) {
        let is_exact = |position: &Position| position.offset == Offset::Zero;
        self.position = self.position.map(|(position, of)| match is_exact(&position) {
            true => (position, of),
            false => (position, of.meet(within)),
        });
        self.outcomes.iter_mut().flatten().for_each(|equalities| equalities.demote(within));
    }

    fn join(&mut self, other: &Known) {
        self.position = match (self.position, other.position) {
            (Some((own, a)), Some((others, b))) if own == others => Some((own, a.meet(b))),
            _ => None,
        };
        for (own, others) in self.outcomes.iter_mut().zip(&other.outcomes) {
            join(own, others);
        }
    }
}

fn join(held: &mut Option<Equalities>, other: &Option<Equalities>) {
    match (held.as_mut(), other) {
        (Some(held), Some(other)) => held.join(other),
        (None, other) => *held = other.clone(),
        (Some(_), None) => {}
    }
}

pub(super) fn and(a: &Option<Equalities>, b: &Option<Equalities>) -> Option<Equalities> {
    Some(a.clone()?.and(b.as_ref()?))
}

/// Returns what holds where one of two conditions does. The threads of `within` agree about the first.
pub(super) fn or(a: &Option<Equalities>, b: &Option<Equalities>, within: Uniformity) -> Option<Equalities> {
    let [mut a, mut b] = [a.clone(), b.clone()];
    [&mut a, &mut b].into_iter().flatten().for_each(|equalities| equalities.demote(within));
    join(&mut a, &b);
    a
}

/// The abstract state at a point.
#[derive(Debug, Clone)]
pub(in crate::check) struct State {
    /// What the threads that are here have in common.
    pub(super) here: Option<Equalities>,
    pub(super) values: SortedMap<Holder, Known>,
}

impl Join for State {
    // bottom = no thread; join = what is known of the threads of both paths
    fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        join(&mut self.here, &other.here);
        self.values.retain(|holder, known| match (other.values.get(holder), holder) {
            (Some(others), _) => {
                known.join(others);
                !known.is_nothing()
            }
            // An operand that is not evaluated on one of the paths is used on none of its continuations.
            (None, Holder::Node(_)) => true,
            (None, Holder::Variable(_)) => false,
        });
        for (holder, known) in other.values.iter().filter(|(holder, _)| matches!(holder, Holder::Node(_))) {
            if !self.values.contains_key(holder) {
                self.values.insert(*holder, known.clone());
            }
        }
        before.here != self.here || before.values != self.values
    }
}

impl State {
    pub(super) fn put(&mut self, holder: Holder, known: Known) {
        match known.is_nothing() {
            true => _ = self.values.remove(&holder),
            false => self.values.insert(holder, known),
        }
    }
}
