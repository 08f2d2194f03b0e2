//! Which part of a shared object is selected: the owner's rank, and an index for each dimension.

use std::rc::Rc;

use super::affine::{Affine, Change, Ranks, Wraparound};
use super::guards::RankBounds;
use super::index_value::{Form, IndexValue};
use super::overlap::Overlap;
use crate::check::cfg::Variable;

/// The indexes that select a part of a shared object.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexPath {
    /// The owner's rank, as a peer computes it; then the index of each dimension; then, if the part is given to a call, the call's
    /// arguments, one of which may select a row. `None` if nothing is known of any of them.
    values: Option<Rc<[IndexValue]>>,
    /// The number of dimensions that have an index.
    dimensions: usize,
    /// Bounds of the rank of the block that makes the access.
    ranks: RankBounds,
}

impl IndexPath {
    /// The path of an access by a block whose rank is within these bounds.
    pub(super) fn of(
        owner: IndexValue,
        indexes: &[IndexValue],
        arguments: &[IndexValue],
        ranks: RankBounds,
    ) -> IndexPath {
        let values = [&[owner], indexes, arguments].concat();
        IndexPath { values: Some(values.into()), dimensions: indexes.len(), ranks }
    }

    /// Keeps what holds of both; says whether this path changed.
    pub(super) fn join(&mut self, other: &IndexPath) -> bool {
        let changed = self.ranks.join(&other.ranks);
        let both = self.values.as_mut().zip(other.values.as_ref());
        let Some((values, others)) = both.filter(|(values, others)| values.len() == others.len()) else {
            return self.values.take().is_some() || changed;
        };
        if Rc::ptr_eq(values, others) {
            return changed;
        }
        let mut joined = values.to_vec();
        let changes =
            joined.iter_mut().zip(&**others).fold(false, |changes, (value, other)| value.join(other) | changes);
        if changes {
            *values = joined.into();
        }
        changes || changed
    }

    /// States the values in terms of what the variable holds after the change.
    pub(super) fn rewrite(&mut self, variable: Variable, change: Change) {
        self.ranks.rewrite(variable, change);
        let depends = |values: &&mut Rc<[IndexValue]>| values.iter().any(|value| value.depends_on(variable));
        if let Some(values) = self.values.as_mut().filter(depends) {
            let mut rewritten = values.to_vec();
            rewritten.iter_mut().for_each(|value| value.rewrite(variable, change));
            *values = rewritten.into();
        }
    }

    /// Whether both select memory of the same owner, whose rank is known exactly.
    pub(super) fn has_owner_of(&self, other: &IndexPath) -> bool {
        let owner = |path: &IndexPath| path.values.as_ref().and_then(|values| values.first().copied()?.affine());
        owner(self).is_some_and(|rank| rank.wraparound == Wraparound::No && owner(other) == Some(rank))
    }

    /// Whether two paths of one access are known to select different elements, because the indexes count from different numbers.
    pub(super) fn is_elsewhere(&self, other: &IndexPath) -> bool {
        let mut pairs = self.indexes().zip(other.indexes());
        pairs.any(|(a, b)| a.overlap(b, Ranks::default()) == Overlap::Never)
    }

    /// The path with only those values that are literals, which hold at every call of the function.
    pub(super) fn literals(&self) -> IndexPath {
        let literal = |value: &IndexValue| value.number().map_or(IndexValue::UNKNOWN, |_| *value);
        let values = self.values.as_ref().map(|values| values.iter().map(literal).collect());
        IndexPath { values, ranks: RankBounds::default(), ..*self }
    }

    /// The rows of the part that the arguments of a call may select, with the position of the argument.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, IndexPath)> {
        let values = self.values.as_deref().unwrap_or_default();
        let (whole, arguments) = values.split_at((self.dimensions + 1).min(values.len()));
        let known = arguments.iter().enumerate().filter(|(_, row)| row.is_known());
        known.map(|(by, row)| {
            let values = whole.iter().chain([row]).copied().collect();
            (by, IndexPath { values: Some(values), dimensions: self.dimensions + 1, ranks: self.ranks })
        })
    }

    /// The owner's rank, as the peer computes it.
    pub(super) fn owner(&self) -> Option<&IndexValue> {
        self.values().next()
    }

    /// Bounds of the rank of the block that makes the access.
    pub(super) fn ranks(&self) -> &RankBounds {
        &self.ranks
    }

    /// Whether it selects the same element of the same block, whichever block of the cluster makes the access.
    pub(super) fn is_same_in_all_blocks(&self) -> bool {
        let mut values = self.values().take(self.dimensions + 1);
        self.values.is_some() && values.all(|value| value.affine().is_some_and(Affine::is_exact))
    }

    /// Whether in some dimension one index is fixed and the other varies with the thread, as for the cells of a halo and those
    /// between them, and its bounds do not show that it takes the fixed value. The two are then taken to be disjoint, though
    /// nothing shows it.
    pub(super) fn is_halo_pair(&self, other: &IndexPath) -> bool {
        let is_halo = |a: &IndexValue, b: &IndexValue| a.is_fixed() && b.is_varied() && !b.includes(a);
        self.indexes().zip(other.indexes()).any(|(a, b)| is_halo(a, b) || is_halo(b, a))
    }

    /// Whether in each dimension that both select, the two indexes are known well enough to be compared.
    pub(super) fn is_followed_beside(&self, other: &IndexPath) -> bool {
        let is_followed = |value: &IndexValue| value.form != Form::Unknown || value.upper.is_some();
        let base = |value: &IndexValue| value.affine().map(|affine| affine.base);
        let are_comparable =
            |(a, b): (&IndexValue, &IndexValue)| is_followed(a) && is_followed(b) && base(a) == base(b);
        self.values.is_some() && other.values.is_some() && self.indexes().zip(other.indexes()).all(are_comparable)
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = &IndexValue> {
        self.values().skip(1).take(self.dimensions)
    }

    fn values(&self) -> impl Iterator<Item = &IndexValue> {
        self.values.iter().flat_map(|values| values.iter())
    }
}
