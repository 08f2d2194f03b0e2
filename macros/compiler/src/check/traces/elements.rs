//! The elements of memory that are told apart: of shared arrays of numbers and of other values, such as structs, of the dynamic memory, and
//! of slices of numbers that the host passes.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::slices::{self, Lies};
use crate::check::cfg::{Access, AccessId, AccessKind, Cfg, Covers, NodeId, Region, Root, Select, Shared};
use crate::check::rings::array;
use crate::check::runs::{Number, Place, Thread};
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::ty::{ParamType, TypeShape};

/// The largest number of dimensions of an array that is followed.
const MOST_DIMENSIONS: usize = 3;

/// The largest number of elements of a vector that are followed.
const MOST_LANES: u64 = 8;

/// The number of rows and columns that each matrix has at least.
const SIDE: i64 = 8;

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

/// An element: the memory, its owner's rank in the cluster, and an index in each dimension. A parameter of a kernel is global memory.
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

    /// Whether all of another part is in this one.
    pub(super) fn covers(&self, other: &Part) -> bool {
        (self.owner, self.shared) == (other.owner, other.shared)
            && self.ranges.len() <= other.ranges.len()
            && self.ranges.iter().zip(&other.ranges).all(|(all, part)| all.0 <= part.0 && part.1 <= all.1)
    }

    pub(super) fn meets(&self, other: &Part) -> bool {
        (self.owner, self.shared) == (other.owner, other.shared)
            && self.ranges.iter().zip(&other.ranges).all(|(a, b)| a.0 < b.1 && b.0 < a.1)
    }
}

/// An element by one index in each dimension of its memory.
#[derive(Debug)]
struct ByIndexes {
    root: Root,
    shared: Shared,
    /// The rank of the block that has it, if it is a peer's.
    rank: Option<NodeId>,
    indexes: Vec<NodeId>,
}

/// How an access selects its elements, as far as the graph shows it before any thread makes the access.
#[derive(Debug)]
enum Way {
    /// It is of no memory that is followed.
    None,
    ByIndexes(ByIndexes),
    Other,
}

/// The elements that an access is of.
pub(super) enum Accessed {
    One(Element),
    Several(Vec<Element>),
}

impl Accessed {
    pub(super) fn all(&self) -> &[Element] {
        match self {
            Accessed::One(element) => std::slice::from_ref(element),
            Accessed::Several(elements) => elements,
        }
    }
}

/// What an array is made of.
#[derive(Debug, Clone, Copy)]
struct Shape {
    dimensions: usize,
    /// The size of an element in bytes, if it is a number.
    size: Option<u64>,
    /// The number of elements of a row in the last dimension, if there are several and the text shows the number.
    row: Option<u64>,
}

impl Shape {
    fn of_one_dimension(size: u64) -> Shape {
        Shape { dimensions: 1, size: Some(size), row: None }
    }
}

/// The memory that is followed.
pub(super) struct Elements<'a, 'f> {
    cfg: &'a Cfg<'f>,
    shapes: BTreeMap<Shared, Shape>,
    /// The slices of dynamic memory that have bytes in common.
    slices: BTreeMap<Shared, Lies>,
    /// By access.
    ways: Vec<Way>,
}

impl<'a, 'f> Elements<'a, 'f> {
    pub(super) fn of(function: &Function, cfg: &'a Cfg<'f>) -> Elements<'a, 'f> {
        let arrays = function.shared.iter().enumerate();
        let arrays = arrays.filter_map(|(index, (element, _))| {
            let (shared, shape) = (Shared::Array(index), shape(element)?);
            // What an alias stands for shows where it is indexed.
            let deepest =
                if shape.size.is_some() { shape.dimensions } else { shape.dimensions.max(depth(cfg, shared)) };
            let row = shape.row.filter(|_| deepest == shape.dimensions);
            (deepest <= MOST_DIMENSIONS).then_some((shared, Shape { dimensions: deepest, row, ..shape }))
        });
        let slices = cfg.slices.iter().enumerate();
        let slices =
            slices.filter_map(|(index, slice)| Some((Shared::Slice(index), Shape::of_one_dimension(slice.size?))));
        // All of the dynamic memory, if it has one type.
        let whole = cfg.dynamic.first().copied().flatten();
        let whole = whole.filter(|size| cfg.slices.is_empty() && cfg.dynamic.iter().all(|of| *of == Some(*size)));
        let whole = whole.map(|size| (Shared::Dynamic, Shape::of_one_dimension(size)));
        // A kernel that says nothing of its block may be for one thread.
        let params = function.params.iter().enumerate().filter(|_| function.options.block.is_some());
        let params = params.filter_map(|(position, param)| {
            let ParamType::Slice { mutable: true, element } = &param.ty else { return None };
            let TypeShape::Scalar(name, _) = element.shape else { return None };
            Some((Shared::Param(position), Shape { dimensions: 1, size: size_of(name), row: None }))
        });
        let shapes = arrays.chain(slices).chain(whole).chain(params).collect();
        let mut elements = Elements { cfg, shapes, slices: slices::of(cfg), ways: Vec::new() };
        elements.ways = cfg.accesses.iter().map(|access| elements.way(access)).collect();
        elements
    }

    fn way(&self, access: &Access) -> Way {
        let region = &access.region;
        let by_name = region.via.is_some();
        let shared = Self::memory(region);
        let Some(shape) = shared.and_then(|shared| self.shapes.get(&shared)) else {
            return if by_name { Way::Other } else { Way::None };
        };
        let index = |select: &Select| if let Select::At(index) = select { Some(*index) } else { None };
        let indexes = region.path.iter().map(index).collect::<Option<Vec<NodeId>>>();
        match (shared, indexes) {
            (Some(shared), Some(indexes))
                if !(by_name
                    || region.part
                    || self.slices.contains_key(&shared)
                    || matches!(access.covers, Covers::Vector { .. }))
                    && indexes.len() == shape.dimensions =>
            {
                Way::ByIndexes(ByIndexes { root: region.root, shared, rank: region.rank, indexes })
            }
            _ => Way::Other,
        }
    }

    /// The memory of a region, and of global memory the parameter of the kernel.
    pub(super) fn memory(region: &Region) -> Option<Shared> {
        match region.root {
            Root::Shared(shared) | Root::Remote(shared) => Some(shared),
            Root::Global => region.param.map(Shared::Param),
            Root::ReadOnly => None,
        }
    }

    /// Whether some memory is written at one place of the text and accessed at another.
    pub(super) fn may_meet(&self) -> bool {
        let followed = self.cfg.accesses.iter().filter(|access| is_followed(access));
        let accessed = followed.filter_map(|access| Some((Self::memory(&access.region)?, access.kind.changes())));
        let mut all: BTreeMap<Shared, Vec<bool>> = BTreeMap::new();
        for (shared, changes) in accessed {
            let shared = self.slices.get(&shared).map_or(shared, |lies| lies.shared);
            all.entry(shared).or_default().push(changes);
        }
        all.iter().any(|(shared, changes)| {
            let is_followed = *shared == Shared::Any || self.shapes.contains_key(shared);
            is_followed && changes.contains(&true) && (changes.len() > 1 || *shared == Shared::Any)
        })
    }

    /// Whether an access is of one element, by one index in each dimension.
    pub(super) fn is_one(&self, id: AccessId) -> bool {
        matches!(self.ways[id.0], Way::ByIndexes(_))
    }

    /// The elements that an access certainly accesses, if all of its indexes are known and depend on nothing that is given, and whether
    /// they are accessed as a peer's. Threads that share an element by atomics may meet there, whatever gives the index.
    pub(super) fn elements(
        &self,
        thread: &Thread<'_, '_, '_>,
        id: AccessId,
        accepts_given: bool,
    ) -> Option<(Accessed, bool)> {
        let access = &self.cfg.accesses[id.0];
        let may_be_given = access.atomic.is_some() || accepts_given;
        match &self.ways[id.0] {
            Way::None => None,
            Way::ByIndexes(of) => {
                let element = of.element(thread, may_be_given)?;
                Some((Accessed::One(element), matches!(of.root, Root::Remote(_))))
            }
            Way::Other => {
                let (elements, is_remote) = self.other_elements(thread, access, may_be_given)?;
                Some((Accessed::Several(elements), is_remote))
            }
        }
    }

    fn other_elements(
        &self,
        thread: &Thread<'_, '_, '_>,
        access: &Access,
        may_be_given: bool,
    ) -> Option<(Vec<Element>, bool)> {
        let mut place = thread.place(&access.region)?;
        let is_remote = matches!(place.root, Root::Remote(_));
        let mut several = 1;
        if let Covers::Vector { first, lanes } = access.covers {
            let first = thread.known(first)?;
            let end = first.operate(BinaryOp::Add, Number { value: i64::try_from(lanes).ok()?, is_given: false })?;
            *place.ranges.last_mut()? = Some((first, end));
            several = lanes.min(MOST_LANES);
        }
        let part = self.part_of(thread, place, access.region.param, may_be_given)?;
        let Shape { dimensions, row, .. } = *self.shapes.get(&part.shared)?;
        let (last, rows) = part.ranges.split_last()?;
        let is_one = |(start, end): &(u64, u64)| start + 1 == *end;
        let units = access.region.root.party().and_then(|(_, shared)| Some(self.slices.get(&shared)?.each));
        // An element, or a vector of some, is as many units of the memory that it has in common with others.
        if let Some(units) = units {
            several = last.1.checked_sub(last.0).filter(|length| length.is_multiple_of(units))?.min(MOST_LANES);
        }
        // Of a whole row, it is each element, or the first one.
        let has_all = match several {
            1 => part.ranges.len() <= dimensions && is_one(last),
            _ => part.ranges.len() == dimensions,
        };
        if part.ranges.len() + 1 == dimensions {
            several = row.unwrap_or(1).min(MOST_LANES);
        }
        if !has_all || !rows.iter().all(is_one) {
            return None;
        }
        let of_lane = |lane: u64| {
            let mut indexes = [0; MOST_DIMENSIONS];
            for (index, (start, _)) in indexes.iter_mut().zip(&part.ranges) {
                *index = *start;
            }
            indexes[dimensions - 1] += lane;
            (part.owner, part.shared, indexes)
        };
        Some(((0..several).map(of_lane).collect(), is_remote))
    }

    /// What every matrix has that lies at a row and a column of memory.
    pub(super) fn matrix(&self, thread: &Thread<'_, '_, '_>, region: &Region, from: [NodeId; 2]) -> Option<Part> {
        let mut place = thread.place(region)?;
        place.ranges.pop()?;
        for first in from {
            let first = thread.known(first)?;
            let end = first.operate(BinaryOp::Add, Number { value: SIDE, is_given: false })?;
            place.ranges.push(Some((first, end)));
        }
        let part = self.part(thread, place)?;
        let dimensions = self.shapes.get(&part.shared)?.dimensions;
        (part.ranges.len() <= dimensions).then_some(part)
    }

    /// The part of the block's shared memory that a place certainly lies in, as far as the thread knows its indexes.
    pub(super) fn part_around(&self, thread: &Thread<'_, '_, '_>, mut place: Place) -> Option<Part> {
        let known = place.ranges.iter().take_while(|range| range.is_some()).count();
        place.ranges.truncate(known);
        match place.root {
            Root::Shared(_) => self.part(thread, place),
            Root::Remote(_) | Root::Global | Root::ReadOnly => None,
        }
    }

    /// The part of the memory that a place is for a thread.
    pub(super) fn part(&self, thread: &Thread<'_, '_, '_>, place: Place) -> Option<Part> {
        self.part_of(thread, place, None, false)
    }

    fn part_of(
        &self,
        thread: &Thread<'_, '_, '_>,
        place: Place,
        param: Option<usize>,
        may_be_given: bool,
    ) -> Option<Part> {
        let own = |number: Number| own(number, may_be_given);
        if place.part {
            return None;
        }
        let (owner, shared) = match place.root {
            Root::Shared(shared) => (thread.id.block?, shared),
            Root::Remote(shared) => (own(place.owner?)?, shared),
            Root::Global => (0, Shared::Param(param?)),
            Root::ReadOnly => return None,
        };
        let range = |range: Option<(Number, Number)>| {
            let (start, end) = range?;
            Some((own(start)?, own(end)?))
        };
        let ranges = place.ranges.into_iter().map(range).collect::<Option<Vec<_>>>()?;
        self.shapes.get(&shared)?;
        match (self.slices.get(&shared), &ranges[..]) {
            (Some(lies), &[range]) => Some(Part { owner, shared: lies.shared, ranges: vec![lies.units(range)?] }),
            (_, _) => Some(Part { owner, shared, ranges }),
        }
    }

    /// The size of an element in bytes, of memory in one dimension.
    pub(super) fn size(&self, shared: Shared) -> Option<u64> {
        self.shapes.get(&shared).filter(|shape| shape.dimensions == 1).and_then(|shape| shape.size)
    }
}

impl ByIndexes {
    fn element(&self, thread: &Thread<'_, '_, '_>, may_be_given: bool) -> Option<Element> {
        let number = |node: NodeId| own(thread.known(node)?, may_be_given);
        let owner = match self.root {
            Root::Shared(_) => thread.id.block?,
            Root::Remote(_) => number(self.rank?)?,
            Root::Global => 0,
            Root::ReadOnly => return None,
        };
        let mut indexes = [0; MOST_DIMENSIONS];
        for (dimension, node) in self.indexes.iter().enumerate() {
            indexes[dimension] = number(*node)?;
        }
        Some((owner, self.shared, indexes))
    }
}

/// A number of which the thread is certain, unless it may be given.
fn own(number: Number, may_be_given: bool) -> Option<u64> {
    if number.is_given && !may_be_given { None } else { number.natural() }
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

/// The largest number of indexes that lead to an element.
fn depth(cfg: &Cfg<'_>, shared: Shared) -> usize {
    let of_array = cfg.accesses.iter().filter(|access| access.region.root.party().is_some_and(|of| of.1 == shared));
    let depths = of_array.map(|access| match access.covers {
        Covers::Whole | Covers::Field(_) | Covers::Item { .. } | Covers::Receiver | Covers::Vector { .. } => {
            access.region.path.len()
        }
        Covers::Matrix { .. } => access.region.path.len() + 1,
    });
    depths.max().unwrap_or(0)
}

fn size_of(scalar: &str) -> Option<u64> {
    SCALARS.iter().find(|(name, _)| *name == scalar).map(|(_, size)| *size)
}

/// The shape of an array with such elements.
fn shape(element: &TokenStream) -> Option<Shape> {
    let mut trees = element.clone().into_iter();
    match (trees.next()?, trees.next()) {
        (TokenTree::Ident(name), None) => Some(Shape { dimensions: 1, size: size_of(&name.to_string()), row: None }),
        (TokenTree::Group(group), None) if group.delimiter() == Delimiter::Bracket => {
            let (inner, length) = array(&group.stream())?;
            let shape = shape(&inner)?;
            let row = if shape.dimensions == 1 { length.to_string().parse().ok() } else { shape.row };
            (shape.dimensions < MOST_DIMENSIONS).then_some(Shape { dimensions: shape.dimensions + 1, row, ..shape })
        }
        // A tuple is a value like a struct.
        (TokenTree::Group(group), None) if group.delimiter() == Delimiter::Parenthesis => {
            Some(Shape { dimensions: 1, size: None, row: None })
        }
        // A path, such as `Swizzled<bf16, 64>`.
        (TokenTree::Ident(_), Some(_)) => Some(Shape { dimensions: 1, size: None, row: None }),
        _ => None,
    }
}
