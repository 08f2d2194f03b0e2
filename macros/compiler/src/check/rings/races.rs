//! Conflicts between the threads' own accesses of an array, for certain arguments. Of two accesses it is known here which elements of
//! the array each thread names, so that they are a conflict for certain or are left out.
//!
//! Each step that writes becomes an array of slots of its own, which the threads that take the step fill, and which those read that
//! read one of the same elements. Where bulk copies and products read whole slots that threads write, they read such an array, too. Threads of a role
//! take the same steps: what one of them can meet, any of them can.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::{Counter, Counters};
use super::given::Arguments;
use super::kernel::{Kernel, Point, array_of};
use super::objects::Objects;
use super::slots::Slot;
use super::value::Evaluator;
use super::walk::{Program, Sites};
use super::warps::Actors;
use crate::check::cfg::{Completion, CopyStep, Covers, MemoryStep, NodeId, Region, Select, StepKind};
use crate::rings::{Data, Element, Op, SlotArray, Step};

/// The largest number of elements of a row that threads access as a whole.
const WHOLE: i64 = 4096;

/// What an array of slots of a skeleton stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    /// The index among the slots of the kernel.
    pub(super) slot: usize,
    /// Whether a fill and a read of a slot at the same time are of the same memory.
    pub(super) certain: bool,
    /// Whether only bulk copies to global memory read it.
    pub(super) stored: bool,
}

/// The part of an element that a thread accesses: all of it, a field, or an element of an array that is one.
#[derive(Debug, Clone, Copy, Default)]
struct Item {
    field: Option<u16>,
    index: Option<i64>,
}

impl Item {
    fn of_field(field: u16) -> Item {
        Item { field: Some(field), index: None }
    }

    /// Whether the two have something in common, of one element.
    fn meets(self, other: Item) -> bool {
        self.field.zip(other.field).is_none_or(|(one, other)| one == other)
            && self.index.zip(other.index).is_none_or(|(one, other)| one == other)
    }
}

/// An access: a role, and the number of the step.
type Access = (usize, u32);

/// Replaces the accesses of arrays that threads access in part by accesses of slots of their own, which follow those of the kernel.
/// Returns what all arrays of slots stand for, and the further ones.
pub(super) fn separate(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    (arguments, counters, sites): (&Arguments, &Counters, &Sites),
    actors: &mut [Actors],
) -> (Vec<Guard>, Vec<SlotArray>) {
    let mut guards: Vec<Guard> =
        objects.slots.iter().enumerate().map(|(slot, of)| Guard { slot, certain: of.whole, stored: false }).collect();
    let mut arrays = Vec::new();
    let mut read_whole: BTreeMap<(Access, u32), u32> = BTreeMap::new();
    for (slot, of) in objects.slots.iter().enumerate().filter(|(_, of)| !of.whole) {
        let number = narrow(slot);
        let is_stored = |op: &Op| {
            let (Op::Store { slot, .. } | Op::Copy { from: Some(slot), .. }) = op else { return false };
            slot.array == number
        };
        let is_copied = |op: &Op| matches!(op, Op::Copy { slot, .. } if slot.array == number);
        let is_any = |of: &dyn Fn(&Op) -> bool| steps(actors).any(|(_, step)| of(&step.op));
        // What is written in place, and stored from there, is in the way of copies to it.
        if is_any(&is_stored) && !is_any(&is_copied) {
            continue;
        }
        let named = |access: Access, thread: u32| {
            let point = sites.point(access.1)?;
            elements(kernel, (arguments, counters), thread, point, of)
        };
        let copies: BTreeSet<Access> =
            steps(actors).filter(|(_, step)| is_copied(&step.op)).map(|(role, step)| (role, step.id)).collect();
        // Where some copy is still in flight, it may be the one of any element that copies write.
        let in_part: Vec<Access> =
            copies.iter().copied().filter(|copy| is_access(kernel, sites.point(copy.1))).collect();
        let each = in_part.iter().flat_map(|copy| actors[copy.0].threads.iter().map(|thread| named(*copy, *thread)));
        let copied: Option<Vec<Vec<(i64, Item)>>> = each.collect();
        let copied: BTreeSet<i64> = copied.into_iter().flatten().flatten().map(|(element, _)| element).collect();
        let copied = copied.len();
        guards[slot].certain = (in_part.is_empty() || copied as u64 == of.bytes / of.element.max(1))
            && tell_one_barrier(objects, of, steps(actors).map(|(_, step)| &step.op).filter(|op| is_copied(op)));
        let copied = !copies.is_empty();
        let mut writes: BTreeSet<Access> = BTreeSet::new();
        let mut reads: BTreeSet<Access> = BTreeSet::new();
        for (role, step) in steps(actors) {
            if let Op::BeginFill { slot, .. } = &step.op
                && slot.array == number
            {
                writes.insert((role, step.id));
            } else if let Op::BeginRead { slot, .. } = &step.op
                && slot.array == number
            {
                reads.insert((role, step.id));
            }
        }
        // By access, the arrays that it fills or reads.
        let mut filled: BTreeMap<Access, Vec<u32>> = BTreeMap::new();
        let mut read: BTreeMap<Access, Vec<u32>> = BTreeMap::new();
        // Whatever a write is of, it is in the way of what reads all of the slot.
        let stores =
            steps(actors).filter(|(_, step)| matches!(&step.op, Op::Store { slot, .. } if slot.array == number));
        let stores = stores.filter(|(_, step)| reads_all(kernel, sites.point(step.id), of));
        let stores: Vec<(Access, u32)> = stores.map(|(role, step)| ((role, step.id), number)).collect();
        if copied && !stores.is_empty() && !writes.is_empty() {
            let array = narrow(objects.slots.len() + arrays.len());
            writes.iter().for_each(|write| filled.entry(*write).or_default().push(array));
            read_whole.extend(stores.into_iter().map(|store| (store, array)));
            guards.push(Guard { slot, certain: true, stored: false });
            arrays.push(SlotArray { stages: of.stages, parts: 0 });
        }
        for write in writes {
            let mut by_element: BTreeMap<i64, Vec<(Item, u32)>> = BTreeMap::new();
            for thread in &actors[write.0].threads {
                for (element, item) in named(write, *thread).unwrap_or_default() {
                    by_element.entry(element).or_default().push((item, *thread));
                }
            }
            let meets = |read: &Access| {
                // Threads of two blocks may have the same rank.
                let others = of_another_block(kernel, actors, write) != of_another_block(kernel, actors, *read);
                actors[read.0].threads.iter().any(|thread| {
                    let mut elements = named(*read, *thread).unwrap_or_default().into_iter();
                    elements.any(|(at, item)| {
                        let mut by = by_element.get(&at).into_iter().flatten();
                        by.any(|(other, by)| other.meets(item) && (others || by != thread))
                    })
                })
            };
            let met: Vec<Access> = reads.iter().copied().filter(meets).collect();
            if !met.is_empty() {
                let array = narrow(objects.slots.len() + arrays.len());
                filled.entry(write).or_default().push(array);
                met.into_iter().for_each(|access| read.entry(access).or_default().push(array));
                guards.push(Guard { slot, certain: true, stored: false });
                arrays.push(SlotArray { stages: of.stages, parts: 0 });
            }
        }
        for (role, actors) in actors.iter_mut().enumerate() {
            rewrite(&mut actors.program, |step| {
                let access = (role, step.id);
                let data = Data::Fixed(0);
                let begins = matches!(step.op, Op::BeginFill { .. } | Op::BeginRead { .. });
                let (Op::BeginFill { slot: element, block, .. }
                | Op::BeginRead { slot: element, block, .. }
                | Op::EndFill { slot: element, block }
                | Op::EndRead { slot: element, block }) = &step.op
                else {
                    return vec![step.clone()];
                };
                if element.array != number {
                    return vec![step.clone()];
                }
                let of = |array| Element { array, ..element.clone() };
                let fill = filled.get(&access).into_iter().flatten().map(|array| match begins {
                    true => Op::BeginFill { slot: of(*array), block: block.clone(), data },
                    false => Op::EndFill { slot: of(*array), block: block.clone() },
                });
                // All accesses conflict with copies.
                let read = read.get(&access).into_iter().flatten().copied().chain(copied.then_some(number));
                let read = read.map(|array| match begins {
                    true => Op::BeginRead { slot: of(array), block: block.clone(), data },
                    false => Op::EndRead { slot: of(array), block: block.clone() },
                });
                fill.chain(read).map(|op| Step { id: step.id, op }).collect()
            });
        }
    }
    read_twice(actors, &read_whole);
    (guards, arrays)
}

/// Lets bulk copies and products, by the step and the array that they read, read another array of slots, too. Waits count what is read: so all
/// of the same threads that completes in the same way reads two slots in the place of one.
fn read_twice(actors: &mut [Actors], of: &BTreeMap<(Access, u32), u32>) {
    let queue = |(role, step): (usize, &Step)| {
        let Op::Store { slot, queue } = &step.op else { return None };
        of.contains_key(&((role, step.id), slot.array)).then_some((role, *queue))
    };
    let queues: BTreeSet<(usize, u8)> = steps(actors).filter_map(queue).collect();
    for (role, actors) in actors.iter_mut().enumerate().filter(|_| !queues.is_empty()) {
        rewrite(&mut actors.program, |step| {
            let mut step = step.clone();
            if let Op::WaitStores { queue, but } = &mut step.op
                && queues.contains(&(role, *queue))
            {
                *but = but.saturating_mul(2);
            }
            let Op::Store { slot, queue } = &step.op else { return vec![step] };
            if !queues.contains(&(role, *queue)) {
                return vec![step];
            }
            let array = of.get(&((role, step.id), slot.array)).copied().unwrap_or(slot.array);
            let other = Op::Store { slot: Element { array, ..slot.clone() }, queue: *queue };
            vec![step.clone(), Step { id: step.id, op: other }]
        });
    }
}

/// Whether a bulk copy or a product certainly reads all of a slot of this array. The warps of a warpgroup share the left operand of a product:
/// each reads rows of its own.
fn reads_all(kernel: &Kernel<'_, '_>, point: Option<Point>, of: &Slot) -> bool {
    let step = point.and_then(|point| kernel.cfg.blocks[point.0.0].steps.get(point.1));
    let Some(StepKind::Copy(copy)) = step.map(|step| &step.kind) else { return false };
    let CopyStep::Begin { reads, completion, .. } = &kernel.cfg.copies[copy.0] else { return false };
    let is_of = |region: &&Region| array_of(region) == Some(of.array);
    let own: Vec<&Region> = reads.iter().filter(is_of).collect();
    let is_right = *completion != Completion::Product || reads.last().as_ref().is_some_and(is_of) && own.len() == 1;
    let is_whole = |region: &&Region| region.path.len() == of.depth && !region.open && !region.part;
    is_right && of.tile.is_none() && own.iter().all(is_whole)
}

/// Whether copies that fill a slot, perhaps part by part, tell one barrier: what has to wait for one part then has to wait for all of them.
fn tell_one_barrier<'s>(objects: &Objects, of: &Slot, copies: impl Iterator<Item = &'s Op>) -> bool {
    let part = copies.filter_map(|op| {
        let Op::Copy { barrier, bytes, .. } = op else { return None };
        (u64::from(*bytes) < of.bytes).then_some(barrier.array)
    });
    let arrays: BTreeSet<u32> = part.collect();
    let stages = |array: &u32| objects.barriers.get(*array as usize).map_or(0, |(_, barriers, _)| barriers.stages());
    arrays.len() < 2 && arrays.iter().all(|array| stages(array) <= of.stages)
}

/// Whether the place of a copy is that of an access: then it writes one element.
fn is_access(kernel: &Kernel<'_, '_>, point: Option<Point>) -> bool {
    let step = point.and_then(|point| kernel.cfg.blocks[point.0.0].steps.get(point.1));
    step.is_some_and(|step| matches!(step.kind, StepKind::Memory(MemoryStep::Access(_))))
}

/// Whether the slot of an access is always one of another block.
fn of_another_block(kernel: &Kernel<'_, '_>, actors: &[Actors], access: Access) -> bool {
    let block = actors[access.0].program.steps.iter().filter(|step| step.id == access.1).find_map(|step| {
        if let Op::BeginFill { block, .. } | Op::BeginRead { block, .. } = &step.op { Some(block) } else { None }
    });
    let differs = |rank| block.is_some_and(|block| block.value(&[], rank, 0).is_ok_and(|of| of != rank));
    block.is_some_and(|block| !block.has_counters()) && (0..i64::from(kernel.blocks)).all(differs)
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn steps(actors: &[Actors]) -> impl Iterator<Item = (usize, &Step)> {
    actors.iter().enumerate().flat_map(|(role, actors)| actors.program.steps.iter().map(move |step| (role, step)))
}

/// Puts other steps in the place of each step.
fn rewrite(program: &mut Program, of: impl Fn(&Step) -> Vec<Step>) {
    let mut steps = Vec::new();
    let mut starts = Vec::new();
    for step in &program.steps {
        starts.push(steps.len());
        steps.extend(of(step));
    }
    starts.push(steps.len());
    let moved = |at: usize| starts.get(at).copied().unwrap_or(at);
    for step in &mut steps {
        if let Op::Jump(to) | Op::Branch { otherwise: to, .. } = &mut step.op {
            *to = moved(*to);
        }
    }
    program.steps = steps;
    program.keys = std::mem::take(&mut program.keys).into_iter().map(|(at, keys)| (moved(at), keys)).collect();
    program.meetings = program.meetings.iter().map(|at| moved(*at)).collect();
}

/// The elements that a thread accesses at a step for certain, each with what of it, if they are known.
fn elements(
    kernel: &Kernel<'_, '_>,
    (arguments, walked): (&Arguments, &Counters),
    thread: u32,
    point: Point,
    slot: &Slot,
) -> Option<Vec<(i64, Item)>> {
    let step = kernel.cfg.blocks[point.0.0].steps.get(point.1)?;
    let StepKind::Memory(MemoryStep::Access(access)) = step.kind else { return None };
    let access = &kernel.cfg.accesses[access.0];
    let region = &access.region;
    let inside = slot.selectors();
    let counters = Counters::default();
    let evaluator =
        Evaluator { kernel, counters: &counters, arguments: Some(arguments), thread, after: None, inlines: false };
    let indexes = |index: NodeId, tile: Option<i64>| {
        let index = evaluator.inside(index, tile, point)?;
        // A loop that is followed has one of its numbers at a time, whether or not anything else depends on it.
        let counts = |variable| walked.get(Counter::Variable(variable)).is_some();
        let all = evaluator.listed(&index, |variable| counts(variable) || kernel.follows_loop_of(variable, &counts))?;
        // The ranks of blocks are not followed here.
        if index.has_rank() {
            return None;
        }
        all.iter().map(|values| index.value(values, 0, 0).ok()).collect::<Option<Vec<i64>>>()
    };
    let items = match access.covers {
        Covers::Field(Some(field)) => vec![Item::of_field(field)],
        Covers::Item { field: Some(field), index: Some(index) } => {
            let of = |index: i64| Item { index: Some(index), ..Item::of_field(field) };
            indexes(index, None)?.into_iter().map(of).collect()
        }
        Covers::Field(None) | Covers::Item { .. } | Covers::Receiver | Covers::Matrix { .. } => return None,
        Covers::Whole | Covers::Vector { .. } => vec![Item::default()],
    };
    let is_vector = matches!(access.covers, Covers::Vector { .. });
    let (first, number) = match (region.path.get(inside..)?, access.covers) {
        ([Select::At(index)], _) if !region.open && !is_vector => (indexes(*index, slot.tile)?, 1),
        // All of a row, or the element that is the slot.
        ([], _) if !region.open && !region.part && !is_vector => {
            let number = i64::try_from(slot.bytes / slot.element.max(1)).ok()?;
            (vec![0], if number == 1 || access.covers == Covers::Whole { number } else { return None })
        }
        // The first of the lanes is selected, too.
        ([] | [Select::At(_) | Select::Unknown], Covers::Vector { first, lanes }) => {
            (indexes(first, slot.tile)?, i64::try_from(lanes).ok()?)
        }
        _ => return None,
    };
    // Which of them go together is not followed.
    if number > WHOLE || first.len() > 1 && items.len() > 1 {
        return None;
    }
    let elements = first.into_iter().flat_map(|first| first..first + number);
    Some(elements.flat_map(|element| items.iter().map(move |item| (element, *item))).collect())
}
