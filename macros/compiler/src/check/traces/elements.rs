//! The elements of shared memory that are told apart: of arrays of numbers, and of slices of the dynamic memory; of other values, such as
//! structs, if no part of one is accessed alone, so that fields are not taken for one another.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::check::cfg::{Access, AccessKind, Cfg, Region, Root, Shared};
use crate::check::rings::array;
use crate::check::runs::{Number, Place, Thread};
use crate::model::expr::ExprKind;
use crate::model::kind::Kind;
use crate::model::walk::walk_block;
use crate::model::{Function, GenericParam};

/// The largest number of dimensions of an array that is followed.
const MOST_DIMENSIONS: usize = 3;

/// The types whose values are read and written as a whole, with their sizes in bytes.
const SCALARS: [(&str, u64); 18] = [
    ("u8", 1),
    ("i8", 1),
    ("bool", 1),
    ("e4m3", 1),
    ("e5m2", 1),
    ("u16", 2),
    ("i16", 2),
    ("f16", 2),
    ("bf16", 2),
    ("u32", 4),
    ("i32", 4),
    ("f32", 4),
    ("u64", 8),
    ("i64", 8),
    ("usize", 8),
    ("isize", 8),
    ("f64", 8),
    ("char", 4),
];

/// An element: the memory, its owner's rank in the cluster, and an index in each dimension.
pub(super) type Element = (u64, Shared, [u64; MOST_DIMENSIONS]);

/// A part of shared memory: from one index up to another in each dimension that selects, from the first on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) owner: u64,
    pub(super) shared: Shared,
    pub(super) ranges: Vec<(u64, u64)>,
}

impl Part {
    pub(super) fn contains(&self, (owner, shared, indexes): &Element) -> bool {
        (self.owner, self.shared) == (*owner, *shared)
            && self.ranges.iter().zip(indexes).all(|((start, end), index)| (start..end).contains(&index))
    }

    pub(super) fn meets(&self, other: &Part) -> bool {
        (self.owner, self.shared) == (other.owner, other.shared)
            && self.ranges.iter().zip(&other.ranges).all(|(a, b)| a.0 < b.1 && b.0 < a.1)
    }
}

/// The memory that is followed.
pub(super) struct Elements<'a, 'f> {
    cfg: &'a Cfg<'f>,
    /// The number of dimensions, and the size of an element in bytes if it is a number.
    shapes: BTreeMap<Shared, (usize, Option<u64>)>,
}

impl<'a, 'f> Elements<'a, 'f> {
    pub(super) fn of(function: &Function, cfg: &'a Cfg<'f>) -> Elements<'a, 'f> {
        let of_parts = accesses_parts(function);
        let arrays = function.shared.iter().enumerate();
        // A part of a value whose type is a parameter cannot be accessed.
        let is_whole = |element: &TokenStream, size: Option<u64>| size.is_some() || is_of_parameter(function, element);
        let arrays = arrays.filter_map(|(index, (element, _))| {
            let (dimensions, size) = shape(element)?;
            (is_whole(element, size) || !of_parts).then_some((Shared::Array(index), (dimensions, size)))
        });
        let slices = cfg.slices.iter().enumerate();
        let slices = slices.filter_map(|(index, slice)| Some((Shared::Slice(index), (1, Some(slice.size?)))));
        Elements { cfg, shapes: arrays.chain(slices).collect() }
    }

    /// Whether some memory is written at one place of the text and accessed at another.
    pub(super) fn may_meet(&self) -> bool {
        let followed = self.cfg.accesses.iter().filter(|access| is_followed(access));
        let accessed = followed.filter_map(|access| Some((access.region.root.party()?.1, access.kind.changes())));
        let mut all: BTreeMap<Shared, Vec<bool>> = BTreeMap::new();
        for (shared, changes) in accessed {
            all.entry(shared).or_default().push(changes);
        }
        all.iter().any(|(shared, changes)| {
            let is_followed = *shared == Shared::Any || self.shapes.contains_key(shared);
            is_followed && changes.contains(&true) && (changes.len() > 1 || *shared == Shared::Any)
        })
    }

    /// The element that a region is for a thread, if all of its indexes are known and depend on nothing that is given, and whether it
    /// is accessed as a peer's. Of a whole row, it is the first one.
    pub(super) fn element(
        &self,
        thread: &Thread<'_, '_, '_>,
        region: &Region,
        is_atomic: bool,
    ) -> Option<(Element, bool)> {
        let mut place = thread.place(region)?;
        // The caller of an atomic does not promise that each thread has an element of its own.
        if is_atomic {
            place.ranges.iter_mut().flatten().flat_map(|(start, end)| [start, end]).for_each(|of| of.is_given = false);
        }
        let is_remote = matches!(place.root, Root::Remote(_));
        let part = self.part(thread, place)?;
        let (dimensions, _) = self.shapes.get(&part.shared)?;
        let is_one =
            (1..=*dimensions).contains(&part.ranges.len()) && part.ranges.iter().all(|(start, end)| start + 1 == *end);
        let mut indexes = [0; MOST_DIMENSIONS];
        for (index, (start, _)) in indexes.iter_mut().zip(&part.ranges) {
            *index = *start;
        }
        is_one.then_some(((part.owner, part.shared, indexes), is_remote))
    }

    /// The part of the memory that a place is for a thread.
    pub(super) fn part(&self, thread: &Thread<'_, '_, '_>, place: Place) -> Option<Part> {
        let own = |number: Number| number.natural().filter(|_| !number.is_given);
        if place.part {
            return None;
        }
        let (owner, shared) = match place.root {
            Root::Shared(shared) => (thread.id.block?, shared),
            Root::Remote(shared) => (own(place.owner?)?, shared),
            Root::ReadOnly | Root::Global => return None,
        };
        let range = |range: Option<(Number, Number)>| {
            let (start, end) = range?;
            Some((own(start)?, own(end)?))
        };
        let ranges = place.ranges.into_iter().map(range).collect::<Option<Vec<_>>>()?;
        self.shapes.contains_key(&shared).then_some(Part { owner, shared, ranges })
    }

    /// The size of an element in bytes, of memory in one dimension.
    pub(super) fn size(&self, shared: Shared) -> Option<u64> {
        self.shapes.get(&shared).filter(|(dimensions, _)| *dimensions == 1).and_then(|(_, size)| *size)
    }
}

/// Whether a thread makes the access itself, as a part of the kernel.
pub(super) fn is_followed(access: &Access) -> bool {
    access.completion.is_none()
        && access.given_to.is_none()
        && match access.kind {
            AccessKind::Read | AccessKind::Write | AccessKind::AtomicRead | AccessKind::Atomic => true,
            AccessKind::Lent | AccessKind::AsyncWrite | AccessKind::Opaque | AccessKind::ByClosure => false,
        }
}

/// Whether the function accesses a part of an element of some memory alone.
fn accesses_parts(function: &Function) -> bool {
    let mut any = false;
    walk_block(&function.body, &mut |expr| {
        let (ExprKind::Field { base, .. } | ExprKind::Index { base, .. }) = &expr.kind else { return };
        any |= base.memory().is_some() && !matches!(base.result_kind, Kind::Memory(_));
    });
    any
}

/// Whether the elements of an array are of a type that the function is generic over, or rows of such.
fn is_of_parameter(function: &Function, element: &TokenStream) -> bool {
    match element.clone().into_iter().next() {
        Some(TokenTree::Ident(name)) => {
            function.generics.params.iter().any(|param| matches!(param, GenericParam::Type(known) if *known == name))
        }
        Some(TokenTree::Group(row)) => {
            array(&row.stream()).is_some_and(|(element, _)| is_of_parameter(function, &element))
        }
        Some(TokenTree::Punct(_) | TokenTree::Literal(_)) | None => false,
    }
}

/// The number of dimensions of an array with such elements, and the size of a number in bytes.
fn shape(element: &TokenStream) -> Option<(usize, Option<u64>)> {
    let mut trees = element.clone().into_iter();
    match (trees.next()?, trees.next()) {
        (TokenTree::Ident(name), None) => {
            Some((1, SCALARS.iter().find(|(scalar, _)| name == scalar).map(|(_, size)| *size)))
        }
        (TokenTree::Group(group), None) if group.delimiter() == Delimiter::Bracket => {
            let (dimensions, size) = shape(&array(&group.stream())?.0)?;
            (dimensions < MOST_DIMENSIONS).then_some((dimensions + 1, size))
        }
        _ => None,
    }
}
