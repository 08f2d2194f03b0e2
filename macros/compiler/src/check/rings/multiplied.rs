//! Tiles that threads write and products of warpgroups read: which they are, and which writes are in the way of a product. Each warp of the
//! warpgroup reads all of the right operand, and of the left one rows of its own.

use std::collections::BTreeSet;

use super::assemble::Assembled;
use super::counters::Counters;
use super::given::Arguments;
use super::kernel::{Kernel, Point, WARP, array_of};
use super::slots::Slot;
use super::value::Evaluator;
use super::walk::Sites;
use super::warps::Unit;
use crate::check::cfg::{Access, Completion, CopyStep, MemoryStep, Region, Select, StepKind};
use crate::rings::{Op, Step};

/// The threads of a warpgroup.
const WARPGROUP: u32 = 128;

/// The rows of the left operand that a warp reads.
const ROWS: i64 = 16;

/// The tiles that products read, as regions.
pub(super) fn operands<'k>(kernel: &'k Kernel<'_, '_>) -> impl Iterator<Item = &'k Region> {
    products(kernel).flatten()
}

fn products<'k>(kernel: &'k Kernel<'_, '_>) -> impl Iterator<Item = &'k [Region]> {
    kernel.cfg.copies.iter().filter_map(|copy| match copy {
        CopyStep::Begin { reads, completion: Completion::Product, .. } => Some(&reads[..]),
        CopyStep::Begin { .. } | CopyStep::Wait { .. } => None,
    })
}

/// Whether products read an array as their left operand, and none as its right one.
pub(super) fn is_left_alone(kernel: &Kernel<'_, '_>, array: usize) -> bool {
    let is_of = |region: Option<&Region>| region.and_then(array_of) == Some(array);
    products(kernel).all(|reads| !is_of(reads.last())) && operands(kernel).any(|region| is_of(Some(region)))
}

/// Whether copies write an array.
pub(super) fn is_copied(kernel: &Kernel<'_, '_>, array: usize) -> bool {
    kernel.cfg.copies.iter().any(|copy| match copy {
        CopyStep::Begin { writes, .. } => writes.as_ref().and_then(array_of) == Some(array),
        CopyStep::Wait { .. } => false,
    })
}

/// The arrays that products read, and that nothing writes but threads of the block.
pub(super) fn arrays(kernel: &Kernel<'_, '_>) -> BTreeSet<usize> {
    let is_written = |array: &usize| {
        let is_of = |access: &&Access| array_of(&access.region) == Some(*array);
        let mut writes = kernel.cfg.accesses.iter().filter(is_of).filter(|access| access.kind.changes()).peekable();
        writes.peek().is_some() && writes.all(|access| access.completion.is_none()) && !is_copied(kernel, *array)
    };
    operands(kernel).filter_map(array_of).filter(is_written).collect()
}

/// Leaves out the writes of a slot, whose array has this number in the skeleton, that may be in no product's way: each warp may write the rows
/// of the left operand that it alone reads.
pub(super) fn leave_out_own_rows(
    kernel: &Kernel<'_, '_>,
    assembled: &mut Assembled,
    sites: &Sites,
    (slot, number): (&Slot, u32),
    arguments: &Arguments,
) {
    if !is_left_alone(kernel, slot.array) {
        return;
    }
    let threads: Vec<Vec<u32>> = assembled.threads.iter().map(all_threads).collect();
    let roles = || assembled.skeleton.roles.iter().zip(&threads);
    let is_read = |step: &Step| matches!(&step.op, Op::Store { slot, .. } if slot.array == number);
    let reading = roles().filter(|(role, _)| role.steps.iter().any(is_read)).flat_map(|(_, threads)| threads);
    let reading: BTreeSet<u32> = reading.map(|thread| thread / WARPGROUP).collect();
    let is_of_others = |step: &Step, threads: &[u32]| {
        threads.iter().any(|thread| {
            let reads_none = reading.iter().any(|warpgroup| *warpgroup != thread / WARPGROUP);
            let own = i64::from(thread % WARPGROUP / WARP);
            let rows = || rows(kernel, (sites.point(step.id)?, slot), *thread, arguments);
            reads_none || rows().is_some_and(|rows| rows.iter().any(|row| row / ROWS != own))
        })
    };
    for (role, threads) in assembled.skeleton.roles.iter_mut().zip(&threads) {
        for step in &mut role.steps {
            if let Op::BeginFill { slot, .. } | Op::EndFill { slot, .. } = &step.op
                && slot.array == number
                && !is_of_others(step, threads)
            {
                step.op = Op::Set(Vec::new());
            }
        }
    }
}

/// All threads of a role, of which the leaders are known if its actors are warps.
fn all_threads((threads, unit): &(Vec<u32>, Unit)) -> Vec<u32> {
    match unit {
        Unit::Thread => threads.clone(),
        Unit::Warp => threads.iter().flat_map(|leader| *leader..leader / WARP * WARP + WARP).collect(),
    }
}

/// The rows of a slot that a thread writes at a step, if they are known.
fn rows(
    kernel: &Kernel<'_, '_>,
    (point, slot): (Point, &Slot),
    thread: u32,
    arguments: &Arguments,
) -> Option<Vec<i64>> {
    let step = kernel.cfg.blocks[point.0.0].steps.get(point.1)?;
    let StepKind::Memory(MemoryStep::Access(access)) = step.kind else { return None };
    let Some(Select::At(row)) = kernel.cfg.accesses[access.0].region.path.get(slot.selectors()) else { return None };
    let counters = Counters::default();
    let evaluator =
        Evaluator { kernel, counters: &counters, arguments: Some(arguments), thread, after: None, inlines: false };
    let row = evaluator.inside(*row, None, point)?;
    let all = evaluator.listed(&row, |_| false).filter(|_| !row.has_rank())?;
    all.iter().map(|values| row.value(values, 0, 0).ok()).collect()
}
