//! Slots that several blocks fill together, each a part of its own, as all blocks do with all slots in an all-gather.

use std::collections::BTreeSet;

use super::counters::Counters;
use super::kernel::{Kernel, Point};
use super::objects::Objects;
use super::reached::is_passed;
use super::slots::Slot;
use super::value::Evaluator;
use crate::check::cfg::{Access, Select};
use crate::rings::{Op, Role};

/// The values of an index, for each rank of a block.
type Places = Vec<BTreeSet<i64>>;

impl Objects {
    /// Takes the slots of an array to be filled by several blocks together, if what one block writes of a slot no other one does.
    pub(super) fn gather(&mut self, kernel: &Kernel<'_, '_>, array: usize) -> bool {
        let slot = self.slots.iter_mut().find(|slot| slot.array == array && slot.shared && !slot.gathered);
        let Some(slot) = slot.filter(|slot| !slot.whole && are_apart(kernel, slot)) else { return false };
        slot.gathered = true;
        true
    }
}

/// The number of blocks whose threads fill a slot of one block, if it is the same for all blocks.
pub(super) fn blocks_that_fill(array: u32, roles: &[Role], blocks: u32) -> u32 {
    let fills = |block: u32| {
        let by = |rank: &u32| {
            roles.iter().flat_map(|role| &role.steps).any(|step| {
                let Op::BeginFill { slot, block: filled, .. } = &step.op else { return false };
                // One that a loop counts is each in turn.
                let is_here = filled.has_counters() || filled.value(&[], i64::from(*rank), 0) == Ok(i64::from(block));
                slot.array == array && is_here
            })
        };
        (0..blocks).filter(by).count()
    };
    let all: BTreeSet<usize> = (0..blocks).map(fills).collect();
    let one = all.first().copied().filter(|_| all.len() == 1);
    one.and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
}

/// Whether an index of what threads write of a slot shows that no two blocks write the same element.
fn are_apart(kernel: &Kernel<'_, '_>, slot: &Slot) -> bool {
    let mut writes = kernel.accesses_of(slot.array);
    writes.retain(|(access, _)| access.kind.changes());
    let first = slot.selectors();
    let indexes = writes.iter().map(|(access, _)| access.region.path.len()).min().unwrap_or(0);
    (first..indexes).any(|at| {
        let mut all: Places = vec![BTreeSet::new(); kernel.blocks as usize];
        let all_known = writes.iter().all(|(access, point)| {
            let Select::At(_) = access.region.path[at] else { return false };
            (0..kernel.threads).all(|thread| note(kernel, (slot, access, at), *point, thread, &mut all).is_some())
        });
        let number: usize = all.iter().map(BTreeSet::len).sum();
        all_known && number == all.iter().flatten().collect::<BTreeSet<_>>().len()
    })
}

/// Adds the values of an index of an access that a thread makes, for each rank of its block. None if they are not known.
fn note(
    kernel: &Kernel<'_, '_>,
    (slot, access, at): (&Slot, &Access, usize),
    point: Point,
    thread: u32,
    all: &mut Places,
) -> Option<()> {
    let Select::At(index) = access.region.path[at] else { return None };
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread, after: None, inlines: false };
    let index = evaluator.inside(index, slot.tile, point)?;
    let numbers = evaluator.listed(&index, |_| false)?;
    let guards = evaluator.guards_before(point.0);
    for (rank, places) in (0..).zip(all) {
        if is_passed(&guards, rank) {
            for values in &numbers {
                places.insert(index.value(values, rank, 0).ok()?);
            }
        }
    }
    Some(())
}
