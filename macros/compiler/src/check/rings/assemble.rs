//! The skeleton of a kernel: threads with the same steps are a role, and roles that decide alike share a stream.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::Classes;
use super::counters::Counters;
use super::gathered;
use super::given::Arguments;
use super::kernel::{Kernel, Refusal, WARP};
use super::objects::Objects;
use super::races::{self, Guard};
use super::same_turns::come_to_the_same;
use super::settled::{constant_of, decisions, settle, target};
use super::slots::Slot;
use super::unread::leave_out_unread;
use super::value::Evaluator;
use super::walk::{Program, Sites, walk};
use super::warps::{Actors, Aim, Unit, join};
use crate::rings::{Condition, Expr, Op, Role, Skeleton, SlotArray, Step};

/// The largest number of different programs of a block's threads. With as many roles, nothing is proved.
const PROGRAMS: usize = 32;

/// A skeleton, with what is known of it beyond its steps.
pub(super) struct Assembled {
    pub(super) skeleton: Skeleton,
    /// The ranks of the threads of each role, or of the leaders if its actors are warps.
    pub(super) threads: Vec<(Vec<u32>, Unit)>,
    /// Whether it may have runs that the kernel does not have.
    pub(super) allows_more: bool,
    /// What the arrays of slots stand for.
    pub(super) guards: Vec<Guard>,
    /// The numbers of the steps that one lane takes before its warp has come so far.
    pub(super) early: BTreeSet<u32>,
    /// The shared arrays that warps fill: the skeleton does not show conflicts between their own threads.
    pub(super) filled_by_warps: BTreeSet<usize>,
}

/// Makes the skeleton of a kernel, for certain arguments or for all: for a fault, or for a proof.
pub(super) fn assemble(
    kernel: &Kernel<'_, '_>,
    (objects, classes): (&Objects, &Classes),
    sites: &Sites,
    (arguments, aim): (Option<&Arguments>, Aim),
) -> Result<Assembled, Refusal> {
    let walked = |passes_over| {
        let counters = Counters::default();
        kernel.passes_over.set(passes_over);
        let programs = programs(kernel, (objects, classes), sites, (arguments, &counters));
        kernel.passes_over.set(false);
        programs.map(|programs| programs.map(|programs| (programs, counters)))
    };
    // What data decides in a loop need not be followed where the loop may be passed over.
    let known = match walked(false) {
        Ok(None) if arguments.is_some() => walked(true)?,
        Err(refusal) if arguments.is_some() && !refusal.is_of_arguments() => walked(true).map_err(|_| refusal)?,
        known => known?,
    };
    let too_many = || Refusal::new(kernel.whole(), "too many threads do different things");
    let (programs, counters) = known.ok_or_else(too_many)?;
    let mut actors = join(programs, aim);
    actors.retain(|actors| actors.program.steps.iter().any(|step| matters(&step.op)));
    copied_by_one_group(kernel, &actors)?;
    let (mut guards, further) = match arguments {
        Some(arguments) => races::separate(kernel, objects, (arguments, &counters, sites), &mut actors),
        None => (Vec::new(), Vec::new()),
    };
    let uncertain: BTreeSet<usize> =
        actors.iter().flat_map(|actors| actors.program.uncertain.iter().copied()).collect();
    guards.iter_mut().for_each(|guard| guard.certain &= !uncertain.contains(&objects.slots[guard.slot].array));
    let mut streams: Vec<Vec<usize>> = Vec::new();
    let mut roles: Vec<Role> = Vec::new();
    for (number, Actors { program, threads, .. }) in actors.iter().enumerate() {
        let agrees = |stream: &Vec<usize>| {
            stream.iter().all(|other| decide_alike(program, &actors[*other].program, kernel.blocks))
        };
        // The threads of a role have the decisions of one stream in all blocks.
        if !come_to_the_same(program, program, &BTreeMap::new(), kernel.blocks) {
            return Err(Refusal::new(kernel.whole(), "a branch depends on data that threads need not share"));
        }
        let stream = streams.iter().position(agrees).unwrap_or_else(|| {
            streams.push(Vec::new());
            streams.len() - 1
        });
        streams[stream].push(number);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        roles.push(Role { threads: count(threads.len()), stream: count(stream), steps: program.steps.clone() });
    }
    let by_warps = actors.iter().filter(|actors| actors.unit == Unit::Warp);
    let filled = by_warps.flat_map(|actors| {
        let steps = actors.program.steps.iter();
        let filled =
            steps.filter_map(|step| if let Op::BeginFill { slot, .. } = &step.op { Some(slot.array) } else { None });
        let is_shown = |array: &u32| fills_for_others(&actors.program.steps, *array, kernel.blocks);
        filled.filter(move |array| !is_shown(array)).collect::<Vec<_>>()
    });
    // A further array of slots stands for a part of what a slot of the kernel does.
    let slot_of = |array: u32| guards.get(array as usize).map_or(array as usize, |guard| guard.slot);
    // Their lanes may be apart where they copy together and read, too.
    let copied_and_read = actors.iter().filter(|actors| actors.unit == Unit::Warp).flat_map(|actors| {
        let read: BTreeSet<u32> = actors.program.steps.iter().filter_map(read_by).collect();
        actors.program.together.keys().copied().filter(move |array| read.contains(array))
    });
    let filled_by_warps = filled.chain(copied_and_read).map(|array| objects.slots[slot_of(array)].array).collect();
    let is_apart = |slot: usize| guards.get(slot).is_some_and(|guard| guard.certain && !objects.slots[slot].whole);
    let slots = objects.slots.iter().enumerate().map(|(number, slot)| match !slot.followed || is_apart(number) {
        true => SlotArray { stages: slot.stages, parts: 0 },
        false => slot_array(slot, u32::try_from(number).unwrap_or(u32::MAX), (&roles, kernel.blocks)),
    });
    let slots = slots.chain(further).collect();
    Ok(Assembled {
        skeleton: Skeleton {
            // Blocks that have nothing to do with each other do the same, each for itself.
            blocks: if roles.iter().flat_map(|role| &role.steps).all(|step| is_of_own_block(&step.op)) {
                1
            } else {
                kernel.blocks
            },
            barriers: objects.barriers.iter().map(|(_, barriers, _)| barriers.clone()).collect(),
            slots,
            roles,
        },
        // Streams of their own allow more trip counts than there are.
        allows_more: streams.len() > 1 || actors.iter().any(|actors| actors.program.allows_more),
        guards,
        early: actors.iter().flat_map(|actors| actors.program.early.iter().copied()).collect(),
        filled_by_warps,
        threads: actors.into_iter().map(|actors| (actors.threads, actors.unit)).collect(),
    })
}

/// Whether a step concerns the own block alone, and is the same in all blocks.
fn is_of_own_block(op: &Op) -> bool {
    let own = |block: &Expr| *block == Expr::rank();
    let same = |expr: &Expr| !expr.has_rank();
    match op {
        Op::Wait { barrier, parity } | Op::Branch { condition: Condition::Over { barrier, parity }, .. } => {
            same(&barrier.index) && same(parity)
        }
        Op::WaitToken { barrier }
        | Op::Expect { barrier, .. }
        | Op::Branch { condition: Condition::Past { barrier }, .. } => same(&barrier.index),
        Op::Arrive { barrier, block, .. } => same(&barrier.index) && own(block),
        Op::Copy { slot, barrier, block, signals, .. } => {
            same(&slot.index) && same(&barrier.index) && own(block) && own(signals)
        }
        Op::Share { slot, barrier, .. } => same(&slot.index) && same(&barrier.index),
        Op::BeginFill { slot, block, .. }
        | Op::EndFill { slot, block }
        | Op::BeginRead { slot, block, .. }
        | Op::EndRead { slot, block } => same(&slot.index) && own(block),
        Op::Store { slot, .. } => same(&slot.index),
        Op::Set(values) => values.iter().all(|(_, value)| same(value)),
        Op::Branch { condition: Condition::Counters(condition) | Condition::Ahead(condition), .. } => same(condition),
        Op::Branch { condition: Condition::Shared | Condition::Constant(_) | Condition::Free, .. }
        | Op::WaitStores { .. }
        | Op::Sync { .. }
        | Op::NextRound
        | Op::Jump(_)
        | Op::Leave => true,
    }
}

/// Programs, each with the threads that have it.
type Programs = Vec<(Program, Vec<u32>)>;

/// The different programs of a block's threads, unless there are too many.
fn programs(
    kernel: &Kernel<'_, '_>,
    (objects, classes): (&Objects, &Classes),
    sites: &Sites,
    (arguments, counters): (Option<&Arguments>, &Counters),
) -> Result<Option<Programs>, Refusal> {
    let evaluator = |thread| Evaluator { kernel, counters, arguments, thread, after: None, inlines: false };
    // The program of each class, with the number of counters that it was made with.
    let mut walked: Vec<(Program, usize)> = Vec::new();
    loop {
        let known = counters.len();
        // The classes with the different programs, each with all threads that have it.
        let mut different: Vec<(usize, Vec<u32>)> = Vec::new();
        for (number, class) in classes.all.iter().enumerate() {
            // With as many counters, it would be the same.
            if walked.get(number).is_none_or(|(_, known)| *known != counters.len()) {
                let mut program = walk(&evaluator(class.threads[0]), objects, sites)?;
                let made_with = counters.len();
                settle(&mut program)?;
                // What they compare with what they have read need not be a value of the class.
                let is_alike = |thread: &u32| evaluator(*thread).decides_by_turns_like(&program);
                if !class.threads.iter().all(is_alike) {
                    return Err(Refusal::new(kernel.whole(), "a branch depends on data that threads need not share"));
                }
                match walked.get_mut(number) {
                    Some(before) => *before = (program, made_with),
                    None => walked.push((program, made_with)),
                }
            }
            let program = &walked[number].0;
            match different.iter_mut().find(|(known, _)| is_same(&walked[*known].0, program)) {
                Some((_, threads)) => threads.extend(&class.threads),
                None => different.push((number, class.threads.clone())),
            }
            if different.len() > PROGRAMS {
                return Ok(None);
            }
        }
        // The numbers of counters are those of all roles.
        if counters.len() == known {
            let programs =
                different.into_iter().map(|(number, threads)| (std::mem::take(&mut walked[number].0), threads));
            let mut programs: Programs = programs.collect();
            leave_out_unread(&mut programs, counters);
            return Ok(Some(without_equal(programs)));
        }
    }
}

fn is_same(one: &Program, other: &Program) -> bool {
    one.steps == other.steps && one.keys == other.keys
}

/// Gives each program once, with the threads of all that are equal.
fn without_equal(programs: Programs) -> Programs {
    let mut different = Programs::new();
    for (program, threads) in programs {
        match different.iter_mut().find(|(known, _)| is_same(known, &program)) {
            Some((_, others)) => others.extend(threads),
            None => different.push((program, threads)),
        }
    }
    different
}

/// Whether a warp's lanes have no conflict with each other in an array: one step fills its slots, of other blocks than those in which the warp
/// does anything else with the array.
fn fills_for_others(steps: &[Step], array: u32, blocks: u32) -> bool {
    let (mut fills, mut others) = (Vec::new(), Vec::new());
    for step in steps {
        if let Op::BeginFill { slot, block, .. } = &step.op
            && slot.array == array
        {
            fills.push((step.id, block));
        }
        if let Op::BeginRead { slot, block, .. } | Op::Copy { slot, block, .. } = &step.op
            && slot.array == array
        {
            others.push(block);
        }
        if let Op::Store { slot, .. } | Op::Share { slot, .. } = &step.op
            && slot.array == array
        {
            return false;
        }
    }
    let [(_, filled)] = fills[..] else { return false };
    let differ = |other: &&Expr| {
        (0..i64::from(blocks)).all(|rank| match (filled.value(&[], rank, 0), other.value(&[], rank, 0)) {
            (Ok(one), Ok(other)) => one != other,
            _ => false,
        })
    };
    let is_fixed = |expr: &Expr| !expr.has_counters();
    is_fixed(filled) && others.iter().all(|other| is_fixed(other) && differ(other))
}

/// The array of slots that a step reads.
fn read_by(step: &Step) -> Option<u32> {
    let (Op::BeginRead { slot, .. } | Op::Store { slot, .. }) = &step.op else { return None };
    Some(slot.array)
}

/// Refuses an array that several groups of threads copy to: each would fill a slot alone.
fn copied_by_one_group(kernel: &Kernel<'_, '_>, actors: &[Actors]) -> Result<(), Refusal> {
    let mut arrays: BTreeMap<u32, (BTreeSet<Option<u64>>, BTreeSet<u32>)> = BTreeMap::new();
    for Actors { program, threads, unit } in actors {
        let lanes = if *unit == Unit::Warp { WARP } else { 1 };
        for (array, sizes) in &program.together {
            let (all, ranks) = arrays.entry(*array).or_default();
            all.extend(sizes);
            // The leader need not be the first of its warp.
            ranks.extend(threads.iter().flat_map(|thread| (0..lanes).map(move |lane| thread / lanes * lanes + lane)));
        }
    }
    let fits = |(sizes, ranks): &(BTreeSet<Option<u64>>, BTreeSet<u32>)| {
        let number = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
        let (Some(first), Some(last)) = (ranks.first(), ranks.last()) else { return true };
        match sizes.iter().collect::<Vec<_>>()[..] {
            [None] => number == kernel.threads,
            [Some(size)] => u64::from(number) == *size && first.is_multiple_of(number) && last - first + 1 == number,
            _ => false,
        }
    };
    match arrays.values().all(fits) {
        true => Ok(()),
        false => Err(Refusal::new(kernel.whole(), "several groups of threads copy to one array")),
    }
}

/// Whether a thread with such a step has to be in the skeleton.
fn matters(op: &Op) -> bool {
    match op {
        Op::Set(_) | Op::NextRound | Op::Branch { .. } | Op::Jump(_) | Op::Leave => false,
        Op::Wait { .. }
        | Op::WaitToken { .. }
        | Op::Arrive { .. }
        | Op::Expect { .. }
        | Op::Copy { .. }
        | Op::Share { .. }
        | Op::BeginFill { .. }
        | Op::EndFill { .. }
        | Op::BeginRead { .. }
        | Op::EndRead { .. }
        | Op::Store { .. }
        | Op::WaitStores { .. }
        | Op::Sync { .. } => true,
    }
}

/// The array of slots. The threads of one block fill a slot that peers access, and not those of two at the same time. A slot that copies alone fill is full when they have written its bytes, and a single element when anything has
/// written it; any other slot, when each thread and each copy that fills it has done so once.
fn slot_array(slot: &Slot, number: u32, (roles, blocks): (&[Role], u32)) -> SlotArray {
    let fills =
        |step: &Step| matches!(&step.op, Op::BeginFill { slot, .. } | Op::Share { slot, .. } if slot.array == number);
    let shares = |step: &Step| matches!(&step.op, Op::Share { slot, .. } if slot.array == number);
    let copied = |step: &Step| {
        if let Op::Copy { slot, bytes, .. } = &step.op { Some(*bytes).filter(|_| slot.array == number) } else { None }
    };
    let sizes: BTreeSet<u32> = roles.iter().flat_map(|role| &role.steps).filter_map(copied).collect();
    let is_written = roles.iter().flat_map(|role| &role.steps).any(fills);
    let parts = match (is_written, &sizes.iter().collect::<Vec<_>>()[..]) {
        (true, _) if slot.whole && !roles.iter().flat_map(|role| &role.steps).any(shares) => 1,
        (false, [bytes]) if **bytes > 0 && slot.bytes.is_multiple_of(u64::from(**bytes)) => {
            u32::try_from(slot.bytes / u64::from(**bytes)).unwrap_or(u32::MAX)
        }
        _ => {
            // Threads that fill by the same steps fill together.
            let mut parts: BTreeMap<(Vec<u32>, Option<usize>), u32> = BTreeMap::new();
            for (number, role) in roles.iter().enumerate() {
                let copies = u32::from(role.steps.iter().any(|step| copied(step).is_some()));
                let by: Vec<u32> = role.steps.iter().filter(|step| fills(step)).map(|step| step.id).collect();
                let threads = if by.is_empty() { 0 } else { role.threads };
                let alone = by.is_empty().then_some(number);
                *parts.entry((by, alone)).or_default() += threads + copies;
            }
            let all = if slot.shared { parts.values().copied().max() } else { Some(parts.values().sum()) };
            let blocks = if slot.gathered { gathered::blocks_that_fill(number, roles, blocks) } else { 1 };
            all.unwrap_or(0).max(1) * blocks
        }
    };
    SlotArray { stages: slot.stages, parts }
}

/// The largest number of constants whose values are told apart where decisions are compared.
const CONSTANTS: usize = 6;

/// Whether the n-th shared decisions of two threads are the same, for all n.
fn decide_alike(one: &Program, other: &Program, blocks: u32) -> bool {
    let constants = |program: &Program| program.steps.iter().filter_map(constant_of).collect::<BTreeSet<u32>>();
    let mut all = constants(one);
    all.extend(constants(other));
    // All threads find the same value of a constant.
    let known: Vec<u32> = all.into_iter().take(CONSTANTS).collect();
    (0..1_usize << known.len()).all(|values| {
        let value = |(at, constant): (usize, &u32)| (*constant, values >> at & 1 == 1);
        let known = known.iter().enumerate().map(value).collect();
        agree_on_decisions(one, other, &known) && come_to_the_same(one, other, &known, blocks)
    })
}

/// Whether two threads agree on all decisions if the constants of their branches have these values.
fn agree_on_decisions(one: &Program, other: &Program, constants: &BTreeMap<u32, bool>) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![(0, 0)];
    while let Some((from, and)) = work.pop() {
        for first in decisions(one, from, constants) {
            for second in decisions(other, and, constants) {
                let keys = |program: &Program, step: usize| program.keys.get(&step).cloned().unwrap_or_default();
                let known = keys(other, second);
                if !keys(one, first).iter().any(|key| known.contains(key)) {
                    return false;
                }
                if seen.insert((first, second)) {
                    work.push((first + 1, second + 1));
                    work.push((target(one, first), target(other, second)));
                }
            }
        }
    }
    true
}
