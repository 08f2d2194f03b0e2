//! Rows of shared arrays that copies write in parts of one length: the halves of a tile that two blocks multicast to each other.

use std::collections::{BTreeMap, BTreeSet};

use super::constants::inner;
use super::counters::Counters;
use super::kernel::{Kernel, Point, array_of};
use super::value::Evaluator;
use crate::check::cfg::{AccessKind, CopyStep, Region, Select};

/// The arrays of whose rows copies write such parts, which together are the row; each with whether threads and products read whole rows
/// alone, so that a read overlaps with each of the parts.
pub(super) fn of_rows(
    kernel: &Kernel<'_, '_>,
    writes: &BTreeMap<usize, Vec<(Region, Point)>>,
) -> BTreeMap<usize, bool> {
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
    let is_in_parts = |array: usize, writes: &[(Region, Point)]| {
        let (element, rows) = inner(&kernel.function.shared.get(array)?.0)?;
        let (rows, bytes) = (kernel.constants.length(&rows)?, kernel.constants.bytes(&element));
        let length = |(region, point): &(Region, Point)| match region.path[..] {
            [Select::At(_), part] if !region.part => length_of(&evaluator, part, Some(rows), *point),
            _ => None,
        };
        let lengths = writes.iter().map(length).collect::<Option<BTreeSet<i64>>>()?;
        let part = lengths.first().copied().filter(|part| lengths.len() == 1 && *part > 0)?;
        (bytes.is_some() && rows % part == 0).then_some(())
    };
    let in_parts = writes.iter().filter(|(array, writes)| is_in_parts(**array, writes).is_some());
    in_parts.map(|(array, _)| (*array, reads_rows(kernel, *array))).collect()
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
