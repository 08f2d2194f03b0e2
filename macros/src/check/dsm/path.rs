//! Which part of shared memory something touches: whose it is, and what is chosen of it, dimension by dimension.

use std::rc::Rc;

use super::linear::{Change, Ranks};
use super::number::{Form, Number};
use crate::check::cfg::Place;

/// The rank of the peer whose memory it is, if it is a peer's, and the choices; `None` if nobody knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(Option<Rc<[Number]>>);

impl Path {
    pub(super) fn of(owner: Number, choices: impl Iterator<Item = Number>) -> Path {
        Path(Some(std::iter::once(owner).chain(choices).collect()))
    }

    /// Only what both say.
    pub(super) fn join(&mut self, other: &Path) -> bool {
        let (Some(numbers), Some(others)) = (&mut self.0, &other.0) else { return self.0.take().is_some() };
        if Rc::ptr_eq(numbers, others) {
            return false;
        }
        if numbers.len() != others.len() {
            return self.0.take().is_some();
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
        if let Some(known) = self.0.as_mut().filter(|known| known.iter().any(|number| number.is_counted_from(place))) {
            let mut numbers = known.to_vec();
            numbers.iter_mut().for_each(|number| number.change(place, change));
            *known = numbers.into();
        }
    }

    /// What is so at all times.
    pub(super) fn fixed(&self) -> Path {
        let fixed = |number: &Number| number.value().map_or(Number::UNKNOWN, |_| *number);
        Path(self.0.as_ref().map(|numbers| numbers.iter().map(fixed).collect()))
    }

    /// Whether the same element may be chosen by the block that owns the memory, and by a peer.
    pub(super) fn meets(&self, peers: &Path, blocks: Option<u32>) -> bool {
        let owner = match peers.numbers().next().map(|owner| owner.form) {
            Some(Form::Linear(owner)) => Some(owner),
            Some(Form::Unknown | Form::Scaled { .. } | Form::Half { .. }) | None => None,
        };
        let ranks = Ranks { owner, blocks };
        !self.choices().zip(peers.choices()).any(|(own, peers)| own.is_apart(peers, ranks))
    }

    /// One of them is for a fixed element, and the other for each thread's, of which nothing is known: a halo's cells, and
    /// those between them.
    pub(super) fn is_edge(&self, other: &Path) -> bool {
        let both = self.choices().zip(other.choices());
        both.into_iter().any(|(a, b)| a.is_fixed() && b.is_varied() || a.is_varied() && b.is_fixed())
    }

    fn choices(&self) -> impl Iterator<Item = &Number> {
        self.numbers().skip(1)
    }

    fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.0.iter().flat_map(|numbers| numbers.iter())
    }
}
