//! Small arrays whose elements are slots: those of which each access names one element that its round decides, as the tiles that a scheduler
//! hands out are, or the two ends of a halo.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;

use super::classes::needed;
use super::constants::inner;
use super::counters::Counters;
use super::kernel::{DYNAMIC, Kernel, Point, array_of};
use super::objects::Objects;
use super::slots::{Slot, has_parts, is_array, length};
use super::value::{Evaluator, Value};
use crate::check::cfg::{Access, AccessKind, CopyStep, NodeId, Region, Select};

/// The largest number of elements that are told apart.
const ELEMENTS: u32 = 64;

/// Takes the elements of such arrays for slots, in the place of their rows or of all of them.
pub(super) fn split(kernel: &Kernel<'_, '_>, mut objects: Objects) -> Objects {
    let shapes: Vec<_> = objects.slots.iter().map(|slot| shape(kernel, slot)).collect();
    if shapes.iter().any(Option::is_some) {
        let needed = needed(kernel, &objects);
        for (slot, shape) in objects.slots.iter_mut().zip(shapes) {
            let Some((depth, columns, element)) = shape else { continue };
            let accesses = kernel.accesses_of(slot.array);
            let indexes: BTreeSet<NodeId> =
                accesses.iter().flat_map(|(access, _)| access.region.path.iter().flat_map(Select::nodes)).collect();
            // Rounds of loops that the steps pass over would have to be followed.
            if !kernel.needed_by(indexes.iter().copied()).is_subset(&needed) {
                continue;
            }
            if accesses.iter().all(|(access, point)| is_one_element(kernel, access, *point)) {
                let rows = length(kernel, slot.array).unwrap_or(1);
                // Two threads may name two fields of one element.
                let whole = !has_parts(kernel, slot.array, depth);
                let stages = rows.saturating_mul(columns);
                *slot = Slot { stages, depth, columns, bytes: element, element, whole, ..*slot };
            }
        }
    }
    objects
}

/// The number of indexes that select an element, that of the elements of a row, and their bytes, or 1 where nothing counts them, if an
/// array's accesses are all of elements.
fn shape(kernel: &Kernel<'_, '_>, slot: &Slot) -> Option<(usize, u32, u64)> {
    if !slot.followed || slot.tile.is_some() || slot.array == DYNAMIC {
        return None;
    }
    let (element, rows) = (&kernel.function.shared.get(slot.array)?.0, length(kernel, slot.array)?);
    let is_of = |region: &Region| array_of(region) == Some(slot.array);
    let is_sent = |access: &Access| access.completion.is_some() && is_of(&access.region);
    let bytes = match kernel.cfg.accesses.iter().any(is_sent) {
        true => |kernel: &Kernel<'_, '_>, of: &TokenStream| kernel.constants.bytes(of),
        false => |_: &Kernel<'_, '_>, _: &TokenStream| Some(1),
    };
    let (depth, columns, bytes) = match inner(element).filter(|_| is_array(element)) {
        None => (1, 1, bytes(kernel, element)?),
        Some((inside, columns)) if !is_array(&inside) => {
            (2, u32::try_from(kernel.constants.length(&columns)?).ok()?, bytes(kernel, &inside)?)
        }
        Some(_) => return None,
    };
    let number = rows.checked_mul(columns).filter(|number| (2..=ELEMENTS).contains(number))?;
    let of_elements = |access: &Access| {
        let region = &access.region;
        let are_indexes = region.path.iter().all(|select| matches!(select, Select::At(_)));
        region.path.len() == depth && are_indexes && !region.open && !region.part
    };
    let mut accesses = kernel.cfg.accesses.iter().filter(|access| is_of(&access.region));
    let copied = kernel.cfg.copies.iter().any(|copy| match copy {
        CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).any(is_of),
        CopyStep::Wait { .. } => false,
    });
    let all_known = accesses.all(|access| of_elements(access) && access.kind != AccessKind::Lent);
    (number > slot.stages && !copied && all_known).then_some((depth, columns, bytes))
}

/// Whether all threads that make an access name the same element. What one thread names alone is one.
fn is_one_element(kernel: &Kernel<'_, '_>, access: &Access, point: Point) -> bool {
    let mut known: Option<Vec<Value>> = None;
    let mut is_one = true;
    for thread in 0..kernel.threads {
        let counters = Counters::default();
        let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread, after: None, inlines: true };
        if !evaluator.may_come_to(point.0) {
            continue;
        }
        let nodes = access.region.path.iter().flat_map(Select::nodes);
        let named: Vec<Value> = nodes.map(|node| evaluator.value(node, point)).collect();
        let is_expr = named.iter().all(|value| matches!(value, Value::Expr(_)));
        let is_same = known.as_ref().is_none_or(|known| *known == named);
        if known.is_some() && !(is_one && is_expr && is_same) {
            return false;
        }
        is_one &= is_expr;
        known = Some(named);
    }
    true
}
