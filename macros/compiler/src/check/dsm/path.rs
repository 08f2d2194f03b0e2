//! Which part of shared memory something touches: whose it is, and what is chosen of it, dimension by dimension.

use std::rc::Rc;

use super::linear::{Change, Ranks};
use super::number::Number;
use crate::check::cfg::Place;

/// What is known of each number, or nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    /// Of a peer's memory, the peer's rank; the choices; if a call is given it, the arguments, one of which may choose a row.
    numbers: Option<Rc<[Number]>>,
    choices: usize,
}

impl Path {
    pub(super) fn of(owner: Number, choices: &[Number], arguments: &[Number]) -> Path {
        let numbers = [&[owner], choices, arguments].concat();
        Path { numbers: Some(numbers.into()), choices: choices.len() }
    }

    /// Only what both say.
    pub(super) fn join(&mut self, other: &Path) -> bool {
        let both = self.numbers.as_mut().zip(other.numbers.as_ref());
        let Some((numbers, others)) = both.filter(|(numbers, others)| numbers.len() == others.len()) else {
            return self.numbers.take().is_some();
        };
        if Rc::ptr_eq(numbers, others) {
            return false;
        }
        let both = numbers.iter().zip(&**others);
        let changes = both.clone().any(|(number, other)| number != other && number.is_known());
        if changes {
            *numbers = both.map(|(number, other)| if number == other { *number } else { Number::UNKNOWN }).collect();
        }
        changes
    }

    /// A place that numbers are counted from has changed.
    pub(super) fn change(&mut self, place: Place, change: Change) {
        let counted = |known: &&mut Rc<[Number]>| known.iter().any(|number| number.is_counted_from(place));
        if let Some(known) = self.numbers.as_mut().filter(counted) {
            let mut numbers = known.to_vec();
            numbers.iter_mut().for_each(|number| number.change(place, change));
            *known = numbers.into();
        }
    }

    /// What is so at all times.
    pub(super) fn fixed(&self) -> Path {
        let fixed = |number: &Number| number.value().map_or(Number::UNKNOWN, |_| *number);
        Path { numbers: self.numbers.as_ref().map(|numbers| numbers.iter().map(fixed).collect()), ..*self }
    }

    /// The rows that a call may touch alone: by which argument.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Path)> {
        let numbers = self.numbers.as_deref().unwrap_or_default();
        let (whole, arguments) = numbers.split_at((self.choices + 1).min(numbers.len()));
        let known = arguments.iter().enumerate().filter(|(_, row)| row.is_known());
        known.map(|(by, row)| {
            let numbers = whole.iter().chain([row]).copied().collect();
            (by, Path { numbers: Some(numbers), choices: self.choices + 1 })
        })
    }

    /// Whether the same element may be chosen by the block that owns the memory, and by a peer.
    pub(super) fn meets(&self, peers: &Path, blocks: Option<u32>) -> bool {
        let ranks = Ranks { owner: peers.numbers().next().and_then(Number::linear), blocks };
        !self.choices().zip(peers.choices()).any(|(own, peers)| own.is_apart(peers, ranks))
    }

    /// One of them is for a fixed element, and the other for each thread's, of which nothing is known: a halo's cells, and
    /// those between them.
    pub(super) fn is_edge(&self, other: &Path) -> bool {
        let mut both = self.choices().zip(other.choices());
        both.any(|(a, b)| a.is_fixed() && b.is_varied() || a.is_varied() && b.is_fixed())
    }

    fn choices(&self) -> impl Iterator<Item = &Number> {
        self.numbers().skip(1).take(self.choices)
    }

    fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.numbers.iter().flat_map(|numbers| numbers.iter())
    }
}
