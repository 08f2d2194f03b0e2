//! The skeleton of a kernel: threads with the same steps are a role, and roles that decide alike share a stream.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::given::Arguments;
use super::kernel::{Kernel, Point, Refusal, WARP};
use super::launch::Depends;
use super::objects::{Objects, Slot, array_of};
use super::races::{self, Guard};
use super::value::{Evaluator, Value, differing};
use super::walk::{Program, Sites, walk};
use super::warps::{Actors, Aim, Unit, join};
use crate::check::cfg::{BlockId, CopyStep, MemoryStep, NodeId, Region, Select, StepKind, Variable};
use crate::rings::{Condition, Op, Role, Skeleton, SlotArray, Step};

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
    /// The shared arrays that warps fill: the skeleton does not show conflicts between their own threads.
    pub(super) filled_by_warps: BTreeSet<usize>,
}

/// The threads that compute the same values where their ranks matter.
#[derive(Clone)]
struct Class {
    values: Vec<Value>,
    threads: Vec<u32>,
}

/// A value on which a thread's steps may depend.
#[derive(Clone, Copy)]
struct Asked {
    node: NodeId,
    point: Point,
    /// If the node is an index into a flat array, what it selects, and the length of a stage: only the stage matters.
    part: Option<(Select, i64)>,
}

impl Asked {
    fn of(node: NodeId, point: Point) -> Asked {
        Asked { node, point, part: None }
    }
}

/// The threads of a block by the values that their ranks decide.
pub(super) struct Classes {
    /// The nodes on which a thread's steps may depend.
    asked: Vec<Asked>,
    /// The asked values that may differ between threads; all threads of a class have the same.
    differing: Vec<Asked>,
    /// For each differing value, whether it depends on what a launch is given.
    given: Vec<bool>,
    all: Vec<Class>,
}

/// Makes the skeleton of a kernel, for certain arguments or for all.
pub(super) fn assemble(
    kernel: &Kernel<'_, '_>,
    (objects, classes): (&Objects, &Classes),
    sites: &Sites,
    arguments: Option<&Arguments>,
) -> Result<Assembled, Refusal> {
    let counters = Counters::default();
    let evaluator = |thread| Evaluator { kernel, counters: &counters, arguments, thread, after: None };
    let mut programs: Vec<(Program, Vec<u32>)> = Vec::new();
    loop {
        let known = counters.len();
        programs.clear();
        for class in &classes.all {
            let Some(first) = class.threads.first() else { continue };
            let program = walk(&evaluator(*first), objects, sites)?;
            match programs.iter_mut().find(|(known, _)| known.steps == program.steps) {
                Some((_, threads)) => threads.extend(&class.threads),
                None => programs.push((program, class.threads.clone())),
            }
            if programs.len() > PROGRAMS {
                return Err(Refusal::new(kernel.whole(), "too many threads do different things"));
            }
        }
        // The numbers of counters are those of all roles.
        if counters.len() == known {
            break;
        }
    }
    let mut actors = join(programs, if arguments.is_some() { Aim::Fault } else { Aim::Proof });
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
        let agrees = |stream: &Vec<usize>| stream.iter().all(|other| decide_alike(program, &actors[*other].program));
        let stream = streams.iter().position(agrees).unwrap_or_else(|| {
            streams.push(Vec::new());
            streams.len() - 1
        });
        streams[stream].push(number);
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        roles.push(Role { threads: count(threads.len()), stream: count(stream), steps: program.steps.clone() });
    }
    let by_warps = actors.iter().filter(|actors| actors.unit == Unit::Warp).flat_map(|actors| &actors.program.steps);
    let filled =
        by_warps.filter_map(|step| if let Op::BeginFill { slot, .. } = &step.op { Some(slot.array) } else { None });
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
        false => slot_array(slot, u32::try_from(number).unwrap_or(u32::MAX), &roles),
    });
    let slots = slots.chain(further).collect();
    Ok(Assembled {
        skeleton: Skeleton {
            blocks: kernel.blocks,
            barriers: objects.barriers.iter().map(|(_, barriers, _)| *barriers).collect(),
            slots,
            roles,
        },
        // Streams of their own allow more trip counts than there are.
        allows_more: streams.len() > 1 || actors.iter().any(|actors| actors.program.allows_more),
        guards,
        filled_by_warps,
        threads: actors.into_iter().map(|actors| (actors.threads, actors.unit)).collect(),
    })
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
fn slot_array(slot: &Slot, number: u32, roles: &[Role]) -> SlotArray {
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
            let parts = roles.iter().map(|role| {
                let copies = u32::from(role.steps.iter().any(|step| copied(step).is_some()));
                if role.steps.iter().any(fills) { role.threads + copies } else { copies }
            });
            let parts = if slot.shared { parts.max().unwrap_or(0) } else { parts.sum::<u32>() };
            parts.max(1)
        }
    };
    SlotArray { stages: slot.stages, parts }
}

impl Classes {
    /// Returns the threads by the values that depend on their ranks. They hold for fewer slots, too.
    pub(super) fn of(kernel: &Kernel<'_, '_>, objects: &Objects) -> Classes {
        let differing = differing(kernel);
        let asked = asked(kernel, objects);
        let differing: Vec<Asked> = asked.iter().copied().filter(|asked| differing.contains(&asked.node)).collect();
        let mut all: Vec<Class> = Vec::new();
        (0..kernel.threads).for_each(|thread| join_class(&mut all, values(kernel, &differing, None, thread), thread));
        let given = differing.iter().map(|asked| {
            let depends = kernel.depends(&[(asked.node, asked.point)]);
            depends.on_numbers || depends.on_queries
        });
        let given = given.collect();
        Classes { asked, differing, given, all }
    }

    /// Returns the threads by the values that they have for certain arguments, too.
    pub(super) fn with(&self, kernel: &Kernel<'_, '_>, arguments: &Arguments) -> Classes {
        let mut all = Vec::new();
        for class in &self.all {
            let nodes = self.differing.iter().zip(&class.values).zip(&self.given);
            let open = nodes.filter(|((_, value), given)| **given && **value == Value::Unknown);
            let open: Vec<Asked> = open.map(|((asked, _), _)| *asked).collect();
            if open.is_empty() {
                all.push(class.clone());
                continue;
            }
            let mut parts: Vec<Class> = Vec::new();
            for thread in &class.threads {
                join_class(&mut parts, values(kernel, &open, Some(arguments), *thread), *thread);
            }
            all.extend(parts);
        }
        Classes { asked: self.asked.clone(), differing: self.differing.clone(), given: self.given.clone(), all }
    }

    /// Returns how the threads' steps depend on what a launch is given.
    pub(super) fn depends(&self, kernel: &Kernel<'_, '_>) -> Depends {
        let asked: Vec<(NodeId, Point)> = self.asked.iter().map(|asked| (asked.node, asked.point)).collect();
        kernel.depends(&asked)
    }
}

fn values(kernel: &Kernel<'_, '_>, nodes: &[Asked], arguments: Option<&Arguments>, thread: u32) -> Vec<Value> {
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments, thread, after: None };
    let value = |asked: &Asked| match asked.part {
        Some((select, tile)) => evaluator.part(select, tile, asked.point),
        None => evaluator.value(asked.node, asked.point),
    };
    nodes.iter().map(value).collect()
}

/// Adds a thread to the class of those with the same values.
fn join_class(classes: &mut Vec<Class>, values: Vec<Value>, thread: u32) {
    match classes.iter_mut().find(|class| class.values == values) {
        Some(class) => class.threads.push(thread),
        None => classes.push(Class { values, threads: vec![thread] }),
    }
}

/// The nodes whose values a thread's steps may depend on, with the points where they do.
fn asked(kernel: &Kernel<'_, '_>, objects: &Objects) -> Vec<Asked> {
    let cfg = kernel.cfg;
    let mut counters: BTreeSet<Variable> = BTreeSet::new();
    // Which loops are followed depends on the variables that matter, and these on what is in the loops.
    loop {
        let is_skipped = |head: &BlockId| kernel.is_skipped(*head, &|variable| counters.contains(&variable));
        let (skipped, followed): (Vec<BlockId>, Vec<BlockId>) = cfg.counted.keys().partition(|head| is_skipped(head));
        let inside = |block: BlockId| {
            let arms = skipped.iter().filter_map(|head| kernel.regions.get(head));
            arms.into_iter().any(|(arms, _)| arms.contains(block))
        };
        let mut asked = asked_by_steps(kernel, objects);
        for (number, content) in cfg.blocks.iter().enumerate() {
            let block = BlockId(number);
            if !cfg.counted.contains_key(&block) && !inside(block) {
                asked.extend(content.end.condition().map(|on| Asked::of(on, (block, content.steps.len()))));
            }
        }
        for counted in followed.iter().filter_map(|head| cfg.counted.get(head)) {
            let before = (counted.before, cfg.blocks[counted.before.0].steps.len());
            asked.extend([Asked::of(counted.start, before), Asked::of(counted.end, before)]);
        }
        let needed = kernel.needed_by(asked.iter().map(|asked| asked.node));
        if needed.is_subset(&counters) {
            for variable in counters.iter().filter(|variable| cfg.only_value(**variable).is_none()) {
                asked.extend(kernel.sets(*variable).iter().map(|(point, value, _)| Asked::of(*value, *point)));
            }
            return asked;
        }
        counters.extend(needed);
    }
}

/// The nodes that steps depend on.
fn asked_by_steps(kernel: &Kernel<'_, '_>, objects: &Objects) -> Vec<Asked> {
    let cfg = kernel.cfg;
    let mut asked = Vec::new();
    for (number, content) in cfg.blocks.iter().enumerate() {
        let block = BlockId(number);
        for (index, step) in content.steps.iter().enumerate() {
            let point = (block, index);
            let asks = |node: NodeId| Asked::of(node, point);
            let first =
                |path: &[Select]| path.first().into_iter().flat_map(Select::nodes).map(asks).collect::<Vec<_>>();
            let slot = |region: &Region| array_of(region).and_then(|array| objects.slot(array)).map(|(_, slot)| slot);
            // Of an index into a flat array, the stage matters alone.
            let of_slot = |region: &Region| match (slot(region).and_then(|slot| slot.tile), region.path.first()) {
                (Some(tile), Some(select)) => {
                    let node = select.nodes().next();
                    node.map(|node| Asked { node, point, part: Some((*select, tile)) }).into_iter().collect()
                }
                _ => first(&region.path),
            };
            let mut nodes = Vec::new();
            if let StepKind::BarrierCall(call) = &step.kind {
                let call = &cfg.barrier_calls[call.0];
                nodes.extend(call.operands.iter().copied().chain(call.region.rank).map(asks));
                nodes.extend(first(&call.region.path));
            }
            if let StepKind::Memory(MemoryStep::Access(id)) = &step.kind {
                let region = &cfg.accesses[id.0].region;
                nodes.extend(slot(region).filter(|slot| slot.rows).map_or(Vec::new(), |_| of_slot(region)));
            }
            if let StepKind::Copy(copy) = step.kind
                && let CopyStep::Begin { reads, writes, .. } = &cfg.copies[copy.0]
            {
                let shared = reads.iter().chain(writes).filter(|region| region.root.party().is_some());
                nodes.extend(shared.flat_map(of_slot));
            }
            asked.extend(nodes);
        }
    }
    asked
}

/// The largest number of constants whose values are told apart where decisions are compared.
const CONSTANTS: usize = 6;

/// Whether the n-th shared decisions of two threads are the same, for all n.
fn decide_alike(one: &Program, other: &Program) -> bool {
    let constants = |program: &Program| program.steps.iter().filter_map(constant_of).collect::<BTreeSet<u32>>();
    let mut all = constants(one);
    all.extend(constants(other));
    // All threads find the same value of a constant.
    let known: Vec<u32> = all.into_iter().take(CONSTANTS).collect();
    (0..1_usize << known.len()).all(|values| {
        let value = |(at, constant): (usize, &u32)| (*constant, values >> at & 1 == 1);
        agree_on_decisions(one, other, &known.iter().enumerate().map(value).collect())
    })
}

/// The constant that a step asks for.
fn constant_of(step: &Step) -> Option<u32> {
    if let Op::Branch { condition: Condition::Constant(number), .. } = step.op { Some(number) } else { None }
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

/// The shared decisions that come next after a step.
fn decisions(program: &Program, from: usize, constants: &BTreeMap<u32, bool>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let Some(step) = program.steps.get(at).filter(|_| seen.insert(at)) else { continue };
        if let Op::Branch { condition: Condition::Shared, .. } = step.op {
            found.insert(at);
        } else if let Op::Branch { otherwise, .. } = step.op {
            match constant_of(step).and_then(|constant| constants.get(&constant)) {
                Some(known) => work.push(if *known { at + 1 } else { otherwise }),
                None => work.extend([at + 1, otherwise]),
            }
        } else if let Op::Jump(to) = step.op {
            work.push(to);
        } else if !matches!(step.op, Op::Leave) {
            work.push(at + 1);
        }
    }
    found
}

fn target(program: &Program, branch: usize) -> usize {
    if let Op::Branch { otherwise, .. } = program.steps[branch].op { otherwise } else { branch + 1 }
}
