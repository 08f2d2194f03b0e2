//! Rows of shared arrays that copies write in parts of one length: the halves of a tile that two blocks multicast to each other.

use std::collections::{BTreeMap, BTreeSet};

use super::constants::inner;
use super::counters::Counters;
use super::kernel::{Kernel, Point, array_of};
use super::value::Evaluator;
use crate::check::cfg::{AccessKind, CopyStep, Region, Select};

/// A row that several copies write, each a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct InParts {
    /// The number of bytes of all parts.
    pub(super) bytes: u64,
    /// Whether threads and products read whole rows alone, so that a read overlaps with each of the parts.
    pub(super) reads_rows: bool,
}

/// The arrays of whose rows copies write such parts, which together are the row, or as much of each of the row's own rows.
pub(super) fn of_rows(
    kernel: &Kernel<'_, '_>,
    writes: &BTreeMap<usize, Vec<(Region, Point)>>,
) -> BTreeMap<usize, InParts> {
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
    let bytes_of_all = |array: usize, writes: &[(Region, Point)]| {
        let (element, rows) = inner(&kernel.function.shared.get(array)?.0)?;
        let (rows, bytes) = (kernel.constants.length(&rows)?, kernel.constants.bytes(&element)?);
        // The bytes of a part, and the number of parts.
        let part = |(region, point): &(Region, Point)| match region.path[..] {
            [Select::At(_), Select::At(_)] if !region.part => Some((bytes, rows)),
            [Select::At(_), part] if !region.part => {
                let length = length_of(&evaluator, part, Some(rows), *point).filter(|length| *length > 0)?;
                (rows % length == 0).then_some((bytes.checked_mul(u64::try_from(length).ok()?)?, rows / length))
            }
            [Select::At(_), Select::At(_), part] if !region.part => {
                let (element, columns) = inner(&element)?;
                let length = length_of(&evaluator, part, kernel.constants.length(&columns), *point)?;
                let bytes = kernel.constants.bytes(&element)?.checked_mul(u64::try_from(length).ok()?)?;
                (bytes > 0).then_some((bytes, rows))
            }
            _ => None,
        };
        let parts = writes.iter().map(part).collect::<Option<BTreeSet<_>>>()?;
        let (bytes, number) = parts.first().copied().filter(|_| parts.len() == 1)?;
        bytes.checked_mul(u64::try_from(number).ok()?)
    };
    let in_parts = writes.iter().filter_map(|(array, writes)| {
        let bytes = bytes_of_all(*array, writes)?;
        Some((*array, InParts { bytes, reads_rows: reads_rows(kernel, *array) }))
    });
    in_parts.collect()
}

/// The number of consecutive elements of an array of a length that are selected, if it is known.
pub(super) fn length_of(
    evaluator: &Evaluator<'_, '_, '_>,
    select: Select,
    length: Option<i64>,
    point: Point,
) -> Option<i64> {
    match select {
        Select::Range { start, end } => evaluator.length(start, end, point),
        Select::Half { mid, second } => {
            let mid = evaluator.value(mid, point).known()?;
            if second { length?.checked_sub(mid) } else { Some(mid) }
        }
        Select::At(_) | Select::Chunk { .. } | Select::Unknown => None,
    }
}

/// Whether what is read of an array is a row of it, or all of it.
fn reads_rows(kernel: &Kernel<'_, '_>, array: usize) -> bool {
    let is_row = |region: &Region| array_of(region) != Some(array) || region.path.len() <= 1;
    let by_threads = kernel.cfg.accesses.iter().filter(|access| access.kind != AccessKind::AsyncWrite);
    let by_copies = kernel.cfg.copies.iter().flat_map(|copy| match copy {
        CopyStep::Begin { reads, .. } => &reads[..],
        CopyStep::Wait { .. } => &[],
    });
    let mut read = by_threads.filter(|access| !access.kind.changes()).map(|access| &access.region).chain(by_copies);
    read.all(is_row)
}
