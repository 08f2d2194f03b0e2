//! The shared arrays whose rows or elements, or which as a whole, are slots of the skeleton.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::constants::{array, inner, swizzled};
use super::counters::Counters;
use super::flat;
use super::kernel::{DYNAMIC, Kernel, Point, array_of};
use super::parts::{self, InParts};
use super::value::Evaluator;
use crate::check::cfg::{
    Access, AccessKind, BlockId, Completion, CopyBy, CopyStep, Covers, MemoryStep, Region, Root, Select, Shared,
    StepKind,
};

/// A shared array whose rows, or which as a whole, are slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// The index in `Function::shared`.
    pub(super) array: usize,
    /// The number of slots.
    pub(super) stages: u32,
    /// The number of indexes that select the slot: 0 if it is all of the array, 1 for a row or an element, 2 for an element of a row.
    pub(super) depth: usize,
    /// The number of slots that the first index selects together.
    pub(super) columns: u32,
    /// The number of elements of a slot, if the first index is one of elements of which several are a slot.
    pub(super) tile: Option<i64>,
    /// The number of bytes of a slot.
    pub(super) bytes: u64,
    /// The number of bytes of an element of a slot.
    pub(super) element: u64,
    /// Whether every access concerns all of a slot, or the slot is a single element: then two accesses of a slot overlap.
    pub(super) whole: bool,
    /// Whether threads of other blocks access it, other than by copies.
    pub(super) shared: bool,
    /// Whether copies fill it and threads of the block change what they brought. A proof takes such a change for a read: it is about copies
    /// alone.
    pub(super) in_place: bool,
    /// Whether several blocks fill it together, each a part of its own.
    pub(super) gathered: bool,
    /// Whether threads copy to it together, each a part.
    pub(super) together: bool,
    /// Whether its accesses are followed. Otherwise, only what copies into it tell barriers is.
    pub(super) followed: bool,
}

impl Slot {
    /// Returns an array of which nothing is followed but what copies into it tell barriers.
    fn unfollowed(array: usize) -> Slot {
        Slot { whole: false, followed: false, ..Slot::whole(array, 0, 1) }
    }

    /// The number of indexes that say nothing but which slot it is: in a flat array, one index says both that and the place in the slot.
    pub(super) fn selectors(&self) -> usize {
        if self.tile.is_none() { self.depth } else { 0 }
    }

    /// Returns a row of an array, or all of it, whose accesses each concern all of it, so that its size does not matter.
    pub(super) fn whole(array: usize, depth: usize, stages: u32) -> Slot {
        let (bytes, element, tile, columns) = (1, 1, None, 1);
        let (shared, in_place, gathered, together, followed) = (false, false, false, false, true);
        Slot {
            array,
            stages,
            depth,
            columns,
            tile,
            bytes,
            element,
            whole: true,
            shared,
            in_place,
            gathered,
            together,
            followed,
        }
    }
}

/// The numbers of slices of dynamic shared memory among the arrays begin here. Of what is in them nothing is followed: they may overlap.
const SLICES: usize = usize::MAX / 2;

/// The shared array that a copy writes a part of, or the slice of dynamic shared memory.
pub(super) fn copied_array(region: &Region) -> Option<usize> {
    match (region.root, region.via) {
        (Root::Shared(Shared::Slice(slice)) | Root::Remote(Shared::Slice(slice)), None) => SLICES.checked_add(slice),
        _ => array_of(region),
    }
}

/// The number that stands for the bytes of a tile whose type is the name of another. No other copy has as few bytes.
pub(super) const TILE: u64 = 1;

pub(super) fn length(kernel: &Kernel<'_, '_>, array: usize) -> Option<u32> {
    let (_, length) = kernel.function.shared.get(array)?;
    u32::try_from(kernel.constants.of(*length)?).ok()
}

/// Returns the arrays of which every access is one that a skeleton can express.
pub(super) fn slots(kernel: &Kernel<'_, '_>, barriers: &BTreeSet<usize>) -> Vec<Slot> {
    let cfg = kernel.cfg;
    let mut writes = writes(kernel);
    writes.retain(|array, _| !barriers.contains(array));
    // The flat arrays of whose elements copies write as many each time, with that number.
    let flat = writes.iter().filter_map(|(array, writes)| Some((*array, flat::copied(kernel, writes.iter())?)));
    let flat: BTreeMap<usize, i64> = flat.collect();
    let in_parts = parts::of_rows(kernel, &writes);
    let mut hidden: BTreeSet<usize> = barriers.clone();
    let mut accessed: BTreeSet<usize> = BTreeSet::new();
    let mut any = false;
    for access in &cfg.accesses {
        let is_plain = matches!(access.kind, AccessKind::Read | AccessKind::Write);
        let is_copied = || array_of(&access.region).is_some_and(|array| writes.contains_key(&array));
        let is_plain = is_plain || is_in_place(access) && is_copied();
        let is_copy =
            access.kind == AccessKind::AsyncWrite && matches!(access.completion, Some(Completion::Barrier(_)));
        let simple = (is_plain || is_copy) && access.given_to.is_none();
        match array_of(&access.region) {
            Some(array) if simple => drop(accessed.insert(array)),
            Some(array) => drop(hidden.insert(array)),
            // Through another name, it may be any array.
            None => any |= access.region.root.party().is_some_and(|(_, shared)| shared == Shared::Any),
        }
    }
    for copy in &cfg.copies {
        if let CopyStep::Begin { reads, writes, completion, .. } = copy {
            let is_flat = |region: &Region| array_of(region).is_some_and(|array| flat.contains_key(&array));
            let whole = |region: &Region| {
                let of_flat = matches!(region.path[..], [Select::Range { .. }]) && !region.part && is_flat(region);
                of_flat || region.path.len() <= 1 && !region.open
            };
            // What is read of a row, of which the text shows which it is, is a part of that.
            let of_row = |region: &Region| matches!(region.path[..], [Select::At(_), _, ..]);
            let is_of_peer = matches!(completion, Completion::Barrier(_)) && writes.is_none();
            let simple = *completion != Completion::Group;
            // That the source of a copy to a peer is read is not followed.
            hidden.extend(reads.iter().filter(|_| is_of_peer).filter_map(array_of));
            // So is what is read of a tile that is all of its array.
            let of_tile = |region: &Region| array_of(region).is_some_and(|array| is_copied_as_a_tile(kernel, array));
            let read = reads.iter().filter(|region| !simple || !whole(region) && !of_row(region) && !of_tile(region));
            let is_in_parts = |region: &Region| array_of(region).is_some_and(|array| in_parts.contains_key(&array));
            let written = writes.iter().filter(|region| !simple || !whole(region) && !is_in_parts(region));
            hidden.extend(read.chain(written).filter_map(array_of));
        }
    }
    let lent = cfg.calls.iter().flat_map(|call| call.regions.iter().flatten());
    hidden.extend(lent.filter_map(array_of));
    let followed = accessed.difference(&hidden).filter(|_| !any);
    let of = |array: &usize| slot(kernel, *array, flat.get(array).copied(), in_parts.get(array).copied());
    let mut slots: Vec<Slot> = followed.filter_map(of).collect();
    // The last ones are the first that are left out.
    slots.sort_by_key(|slot| slot.tile.is_some());
    let others = writes.iter().filter(|(array, _)| slots.iter().all(|slot| slot.array != **array));
    let others: Vec<Slot> = others.filter_map(|(array, writes)| unfollowed(kernel, *array, writes)).collect();
    slots.extend(others);
    slots
}

/// Whether an access reads or changes what is there and nothing else: an atomic operation, or a method of an element.
fn is_in_place(access: &Access) -> bool {
    let is_method = access.kind == AccessKind::Opaque && access.covers == Covers::Receiver;
    matches!(access.kind, AccessKind::Atomic | AccessKind::AtomicRead) || is_method
}

/// An array of which only what copies into it tell barriers is followed.
fn unfollowed(kernel: &Kernel<'_, '_>, array: usize, writes: &[(Region, Point)]) -> Option<Slot> {
    if let Some(size) = size_in_dynamic(kernel, array) {
        return Some(Slot { stages: 1, depth: 1, bytes: size, element: size, ..Slot::unfollowed(array) });
    }
    let (element, _) = kernel.function.shared.get(array)?;
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
    let shape = |(region, point): &(Region, Point)| match region.path.last() {
        Some(Select::At(_)) => Some((region.path.len(), None)),
        Some(Select::Range { start, end }) => Some((region.path.len(), Some(evaluator.length(*start, *end, *point)?))),
        Some(Select::Chunk { .. } | Select::Half { .. } | Select::Unknown) | None => None,
    };
    let shapes: BTreeSet<_> = writes.iter().map(shape).collect();
    let are_tiles =
        matches!(tile_copies(kernel, array), (Some(_), false)) && shapes.len() == 1 && !shapes.contains(&None);
    let bytes = kernel.constants.bytes(element).or(are_tiles.then_some(TILE)).unwrap_or(0);
    Some(Slot { stages: length(kernel, array)?, depth: 1, bytes, element: bytes, ..Slot::unfollowed(array) })
}

/// The number of bytes of an element of dynamic shared memory, or of a slice of it, if this is its number.
fn size_in_dynamic(kernel: &Kernel<'_, '_>, array: usize) -> Option<u64> {
    match array {
        DYNAMIC => dynamic(kernel),
        _ => kernel.cfg.slices.get(array.checked_sub(SLICES)?)?.size,
    }
}

/// The number of bytes that a copy writes, whose selections are those of a part of a shared array. Where the size of a tile is not known,
/// it is counted, if all copies to the array write as much of it.
pub(super) fn bytes_of(evaluator: &Evaluator<'_, '_, '_>, slot: &Slot, region: &Region, point: Point) -> Option<u64> {
    let kernel = evaluator.kernel;
    let array = copied_array(region)?;
    if let Some(size) = size_in_dynamic(kernel, array) {
        let ([Select::Range { start, end }], false) = (&region.path[..], region.part) else { return None };
        let open = Evaluator { arguments: None, ..*evaluator };
        let elements = u64::try_from(open.length(*start, *end, point)?).ok().filter(|elements| *elements > 0)?;
        return size.checked_mul(elements);
    }
    let (element, length) = kernel.function.shared.get(array)?;
    if region.part || region.path.is_empty() {
        return (!region.part && slot.depth == 0).then_some(slot.bytes);
    }
    let (last, first) = region.path.split_last()?;
    let (mut ty, mut length) = (element.clone(), kernel.constants.of(*length));
    for select in first {
        matches!(select, Select::At(_)).then_some(())?;
        match inner(&ty) {
            Some((inside, rows)) => (ty, length) = (inside, kernel.constants.length(&rows)),
            // The name of a type.
            None => return (slot.bytes == TILE).then_some(TILE),
        }
    }
    let elements = match last {
        Select::At(_) => 1,
        // A length that arguments decide need not be one that the kernel is made for.
        Select::Range { .. } | Select::Half { .. } => {
            let open = Evaluator { arguments: None, ..*evaluator };
            let length = parts::length_of(&open, *last, length, point)?;
            u64::try_from(length).ok().filter(|length| *length > 0)?
        }
        Select::Chunk { .. } | Select::Unknown => return None,
    };
    match kernel.constants.bytes(&ty) {
        Some(bytes) => bytes.checked_mul(elements),
        None => (slot.bytes == TILE).then_some(TILE),
    }
}

/// What copies write, by array.
fn writes(kernel: &Kernel<'_, '_>) -> BTreeMap<usize, Vec<(Region, Point)>> {
    let cfg = kernel.cfg;
    let mut writes: BTreeMap<usize, Vec<(Region, Point)>> = BTreeMap::new();
    for (block, content) in (0..).map(BlockId).zip(&cfg.blocks) {
        for (index, step) in content.steps.iter().enumerate() {
            let region = match step.kind {
                StepKind::Copy(copy) => match &cfg.copies[copy.0] {
                    CopyStep::Begin { writes, .. } => writes.as_ref(),
                    CopyStep::Wait { .. } => None,
                },
                StepKind::Memory(MemoryStep::Access(access)) => {
                    let access = &cfg.accesses[access.0];
                    (access.kind == AccessKind::AsyncWrite).then_some(&access.region)
                }
                StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
                | StepKind::Value(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::BarrierCall(_)
                | StepKind::Call(_) => None,
            };
            if let Some((array, region)) = region.and_then(|region| Some((copied_array(region)?, region))) {
                writes.entry(array).or_default().push((region.clone(), (block, index)));
            }
        }
    }
    writes
}

/// The number of stages that are followed in dynamic shared memory of which the launch says how large it is.
const LAUNCHED: u32 = 16;

/// The size of the elements of dynamic shared memory, if its uses agree on it.
fn dynamic(kernel: &Kernel<'_, '_>) -> Option<u64> {
    let (first, others) = kernel.cfg.dynamic.split_first()?;
    let agree = kernel.cfg.slices.is_empty() && others.iter().all(|other| other == first);
    first.filter(|_| agree)
}

/// The number of parts of so many elements in dynamic shared memory. Where the launch says how large it is, an index that is too large for
/// it ends the thread, as any other one out of range does, and of larger ones nothing is followed.
fn dynamic_stages(kernel: &Kernel<'_, '_>, size: u64, tile: i64) -> Option<u32> {
    let Some(bytes) = &kernel.function.options.shared_bytes else { return Some(LAUNCHED) };
    let elements = u64::try_from(kernel.constants.setting(bytes)?).ok()?.checked_div(size)?;
    u32::try_from(elements.div_ceil(u64::try_from(tile).ok()?)).ok()
}

/// The slots of an array, whose parts are a `tile` of its elements if it is flat, or of whose rows copies write parts: then with whether
/// nothing else of it is read than rows.
fn slot(kernel: &Kernel<'_, '_>, array: usize, tile: Option<i64>, in_parts: Option<InParts>) -> Option<Slot> {
    let nothing = TokenStream::new();
    let (element, stages, size) = match array {
        DYNAMIC => {
            let size = dynamic(kernel)?;
            (&nothing, dynamic_stages(kernel, size, tile?)?, Some(size))
        }
        _ => (&kernel.function.shared.get(array)?.0, length(kernel, array)?, None),
    };
    let (tiles, by_others) = tile_copies(kernel, array);
    let of_rows = is_array(element) && (in_parts.is_some() || !is_copied_as_a_tile(kernel, array));
    // The only element of an array is a row, too.
    let rows = tile.is_some() || of_rows || tiles == Some(1) || stages == 1;
    let is_of = |region: &Region| array_of(region) == Some(array);
    let peers =
        kernel.cfg.accesses.iter().filter(|access| access.kind == AccessKind::AsyncWrite && is_of(&access.region));
    let lengths: BTreeSet<usize> = peers.map(|access| access.region.path.len()).collect();
    let in_part = match in_parts {
        Some(in_parts) => !in_parts.reads_rows,
        None => lengths.iter().any(|length| *length > usize::from(rows)),
    };
    let copied = !lengths.is_empty()
        || kernel.cfg.copies.iter().any(|copy| match copy {
            CopyStep::Begin { writes, .. } => writes.as_ref().is_some_and(is_of),
            CopyStep::Wait { .. } => false,
        });
    // A copy of a tile tells the barrier of as many bytes as it brings, whatever their number is; where nothing copies, elements are counted.
    let is_tile = tiles.is_some() && !by_others;
    let bytes = match copied {
        true => size.or_else(|| kernel.constants.bytes(element)).or(is_tile.then_some(TILE))?,
        false => {
            // What is taken for granted of a size is no part of what is found, where it is known.
            let asked = kernel.constants.asked();
            kernel.constants.bytes(element)?;
            kernel.constants.forget(asked);
            elements_of(kernel, element)?
        }
    };
    let written = kernel
        .cfg
        .accesses
        .iter()
        .any(|access| access.kind.changes() && is_of(&access.region) && access.completion.is_none());
    let written = written || kernel.cfg.accesses.iter().any(|access| is_in_place(access) && is_of(&access.region));
    let by_peers = |access: &Access| access.completion.is_none() && matches!(access.region.root, Root::Remote(_));
    let shared = kernel.cfg.accesses.iter().any(|access| is_of(&access.region) && by_peers(access));
    let has_copies = copied;
    let in_place = copied && written && !shared && lengths.is_empty();
    let copied = copied && !written && !in_part;
    // Of a copy that threads make together, each brings a part.
    let together = kernel.cfg.copies.iter().any(|copy| match copy {
        CopyStep::Begin { writes, by: CopyBy::Group, .. } => writes.as_ref().is_some_and(is_of),
        CopyStep::Begin { .. } | CopyStep::Wait { .. } => false,
    });
    if together && !copied {
        return None;
    }
    if let Some(tile) = tile {
        let elements = u64::try_from(tile).ok()?;
        return Some(Slot {
            array,
            stages: if array == DYNAMIC { stages } else { u32::try_from(u64::from(stages).div_ceil(elements)).ok()? },
            depth: 1,
            columns: 1,
            tile: Some(tile),
            bytes: bytes.checked_mul(elements)?,
            element: bytes,
            whole: copied,
            shared,
            in_place,
            gathered: false,
            together,
            followed: true,
        });
    }
    Some(match rows {
        true => {
            let of_one = || inner(element).and_then(|(inner, _)| kernel.constants.bytes(&inner)).unwrap_or(bytes);
            let is_one = match is_array(element) {
                true => is_single(kernel, element) && !has_parts(kernel, array, 2),
                false => stages == 1 && !in_part && !has_parts(kernel, array, 1),
            };
            Slot {
                array,
                stages,
                depth: 1,
                columns: 1,
                tile: None,
                bytes: in_parts.map_or(bytes, |in_parts| in_parts.bytes),
                element: if has_copies { of_one() } else { 1 },
                whole: copied || is_one,
                shared,
                in_place,
                gathered: false,
                together,
                followed: true,
            }
        }
        false => Slot {
            array,
            stages: 1,
            depth: 0,
            columns: 1,
            tile: None,
            bytes: if is_tile && kernel.constants.bytes(element).is_none() { TILE } else { bytes * u64::from(stages) },
            element: bytes,
            whole: copied || stages == 1 && !in_part && !has_parts(kernel, array, 1),
            shared,
            in_place,
            gathered: false,
            together,
            followed: true,
        },
    })
}

/// The number of elements of a row, or 1 if it is none.
fn elements_of(kernel: &Kernel<'_, '_>, row: &TokenStream) -> Option<u64> {
    match inner(row).filter(|_| is_array(row)) {
        Some((_, length)) => u64::try_from(kernel.constants.length(&length)?).ok(),
        None => Some(1),
    }
}

/// Whether there is an access of a part of an element, of those that so many indexes select, that need not overlap with another one. One that reads a
/// field overlaps with each that writes the whole.
pub(super) fn has_parts(kernel: &Kernel<'_, '_>, array: usize, depth: usize) -> bool {
    let is_of = |access: &&Access| array_of(&access.region) == Some(array);
    let is_part = |access: &Access| match access.covers {
        Covers::Whole | Covers::Receiver => false,
        Covers::Field(_) | Covers::Item { .. } => access.kind.changes(),
        Covers::Vector { .. } | Covers::Matrix { .. } => true,
    };
    let mut accesses = kernel.cfg.accesses.iter().filter(is_of);
    accesses.any(|access| is_part(access) || access.region.path.len() > depth)
}

/// Returns in how many indexes the tiles that are copied to an array are selected, if all in the same, and whether other copies
/// write it.
fn tile_copies(kernel: &Kernel<'_, '_>, array: usize) -> (Option<usize>, bool) {
    let mut by_others = false;
    let mut depths = BTreeSet::new();
    for copy in &kernel.cfg.copies {
        match copy {
            CopyStep::Begin { writes: Some(region), by, .. } if array_of(region) == Some(array) => match by {
                CopyBy::Tile | CopyBy::Expected => drop(depths.insert(region.path.len())),
                CopyBy::Group | CopyBy::Thread | CopyBy::Warpgroup { .. } | CopyBy::Multicast => by_others = true,
            },
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => {}
        }
    }
    (depths.pop_first().filter(|_| depths.is_empty()), by_others)
}

/// Whether all copies into an array are of one tile, which is all of it: its rows are then no slots of their own.
fn is_copied_as_a_tile(kernel: &Kernel<'_, '_>, array: usize) -> bool {
    tile_copies(kernel, array) == (Some(0), false)
}

/// Whether an array has one element.
fn is_single(kernel: &Kernel<'_, '_>, element: &TokenStream) -> bool {
    let inside = inner(element);
    inside.is_some_and(|(element, length)| kernel.constants.length(&length) == Some(1) && !is_array(&element))
}

pub(super) fn is_array(element: &TokenStream) -> bool {
    if swizzled(element).is_some() {
        return true;
    }
    let mut trees = element.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) => {
            group.delimiter() == Delimiter::Bracket && array(&group.stream()).is_some()
        }
        _ => false,
    }
}
