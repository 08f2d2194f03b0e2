//! Which part of shared memory something sites: whose it is, and what is chosen of it, dimension by dimension.

use std::rc::Rc;

use super::affine::{Change, Ranks};
use super::index_value::IndexValue;
use crate::check::cfg::Variable;

/// What is known of each number, or nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    /// Of a peer's memory, the peer's rank; the choices; if a call is given it, the arguments, one of which may choose a row.
    indexes: Option<Rc<[IndexValue]>>,
    choices: usize,
}

impl Path {
    pub(super) fn of(owner: IndexValue, choices: &[IndexValue], arguments: &[IndexValue]) -> Path {
        let indexes = [&[owner], choices, arguments].concat();
        Path { indexes: Some(indexes.into()), choices: choices.len() }
    }

    /// Only what both say.
    pub(super) fn join(&mut self, other: &Path) -> bool {
        let both = self.indexes.as_mut().zip(other.indexes.as_ref());
        let Some((indexes, others)) = both.filter(|(indexes, others)| indexes.len() == others.len()) else {
            return self.indexes.take().is_some();
        };
        if Rc::ptr_eq(indexes, others) {
            return false;
        }
        let both = indexes.iter().zip(&**others);
        let changes = both.clone().any(|(number, other)| number != other && number.is_known());
        if changes {
            *indexes =
                both.map(|(number, other)| if number == other { *number } else { IndexValue::UNKNOWN }).collect();
        }
        changes
    }

    /// A variable that numbers are counted from has changed.
    pub(super) fn change(&mut self, variable: Variable, change: Change) {
        let counted = |known: &&mut Rc<[IndexValue]>| known.iter().any(|number| number.is_counted_from(variable));
        if let Some(known) = self.indexes.as_mut().filter(counted) {
            let mut indexes = known.to_vec();
            indexes.iter_mut().for_each(|number| number.change(variable, change));
            *known = indexes.into();
        }
    }

    /// What is so at all times.
    pub(super) fn fixed(&self) -> Path {
        let fixed = |number: &IndexValue| number.value().map_or(IndexValue::UNKNOWN, |_| *number);
        Path { indexes: self.indexes.as_ref().map(|indexes| indexes.iter().map(fixed).collect()), ..*self }
    }

    /// The rows that a call may site alone: by which argument.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, Path)> {
        let indexes = self.indexes.as_deref().unwrap_or_default();
        let (whole, arguments) = indexes.split_at((self.choices + 1).min(indexes.len()));
        let known = arguments.iter().enumerate().filter(|(_, row)| row.is_known());
        known.map(|(by, row)| {
            let indexes = whole.iter().chain([row]).copied().collect();
            (by, Path { indexes: Some(indexes), choices: self.choices + 1 })
        })
    }

    /// Whether the same element may be chosen by the block that owns the memory, and by a peer.
    pub(super) fn meets(&self, peers: &Path, blocks: Option<u32>) -> bool {
        let ranks = Ranks { owner: peers.numbers().next().and_then(IndexValue::affine), blocks };
        !self.choices().zip(peers.choices()).any(|(own, peers)| own.is_apart(peers, ranks))
    }

    /// One of them is for a fixed element, and the other for each thread's, of which nothing is known: a halo's cells, and
    /// those between them.
    pub(super) fn is_edge(&self, other: &Path) -> bool {
        let mut both = self.choices().zip(other.choices());
        both.any(|(a, b)| a.is_fixed() && b.is_varied() || a.is_varied() && b.is_fixed())
    }

    fn choices(&self) -> impl Iterator<Item = &IndexValue> {
        self.numbers().skip(1).take(self.choices)
    }

    fn numbers(&self) -> impl Iterator<Item = &IndexValue> {
        self.indexes.iter().flat_map(|indexes| indexes.iter())
    }
}
