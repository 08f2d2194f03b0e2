//! The threads of a block by the values that their ranks decide: those with the same ones take the same steps.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::given::Arguments;
use super::kernel::{Kernel, Point, array_of};
use super::launch::Depends;
use super::objects::Objects;
use super::ranks;
use super::value::{Evaluator, Value, differing};
use crate::check::cfg::{BlockId, CopyStep, MemoryStep, NodeId, Region, Select, StepKind, Variable};

/// The threads that compute the same values where their ranks matter.
#[derive(Clone)]
pub(super) struct Class {
    values: Vec<Decided>,
    pub(super) threads: Vec<u32>,
}

/// A value as far as a thread's rank decides it.
#[derive(Clone, PartialEq)]
enum Decided {
    Value(Value),
    /// It leaves this part open, which may be all of it: another part of a condition for another thread.
    Open(NodeId),
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

    /// The nodes that it is about.
    fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.part.into_iter().flat_map(|(select, _)| select.nodes()).chain([self.node])
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
    guards: Guards,
    pub(super) all: Vec<Class>,
}

/// For each block of a differing value, the branches that lead there, each with whether it has to go to its first arm.
type Guards = BTreeMap<BlockId, Vec<(BlockId, bool)>>;

impl Classes {
    /// Returns the threads by the values that depend on their ranks. They hold for fewer slots, too.
    pub(super) fn of(kernel: &Kernel<'_, '_>, objects: &Objects) -> Classes {
        let differing = differing(kernel);
        let (asked, _) = asked(kernel, objects);
        let differing: Vec<Asked> = asked.iter().copied().filter(|asked| differing.contains(&asked.node)).collect();
        let guards: Guards =
            differing.iter().map(|asked_at| (asked_at.point.0, guards(kernel, &asked, asked_at.point.0))).collect();
        let conditions = guards.values().flatten().filter_map(|(branch, _)| kernel.cfg.blocks[branch.0].end.condition());
        let mut all: Vec<Class> = Vec::new();
        for threads in ranks::alike(kernel, differing.iter().flat_map(Asked::nodes).chain(conditions)) {
            join_class(&mut all, values(kernel, (&differing, &guards), None, threads[0]), &threads);
        }
        all.iter_mut().for_each(|class| class.threads.sort_unstable());
        let given = differing.iter().map(|asked| {
            let depends = kernel.depends(&[(asked.node, asked.point)]);
            depends.on_numbers || depends.on_queries
        });
        let given = given.collect();
        Classes { asked, differing, given, guards, all }
    }

    /// The nodes on which a thread's steps may depend.
    pub(super) fn asked(&self) -> impl Iterator<Item = NodeId> {
        self.asked.iter().map(|asked| asked.node)
    }

    /// Returns the threads by the values that they have for certain arguments, and by what they are handed then.
    pub(super) fn with(&self, kernel: &Kernel<'_, '_>, arguments: &Arguments) -> Classes {
        let mut all = Vec::new();
        let handed = kernel.handed.borrow().clone();
        let is_handed = |asked: &Asked| handed.as_ref().is_some_and(|handed| handed.depending.contains(&asked.node));
        for class in &self.all {
            let nodes = self.differing.iter().zip(&class.values).zip(&self.given);
            let is_given = |asked: &Asked, given: bool| given || is_handed(asked);
            let open =
                nodes.filter(|((asked, value), given)| is_given(asked, **given) && matches!(value, Decided::Open(_)));
            let open: Vec<Asked> = open.map(|((asked, _), _)| *asked).collect();
            if open.is_empty() {
                all.push(class.clone());
                continue;
            }
            let mut parts: Vec<Class> = Vec::new();
            for thread in &class.threads {
                join_class(&mut parts, values(kernel, (&open, &self.guards), Some(arguments), *thread), &[*thread]);
            }
            all.extend(parts);
        }
        let (asked, differing, given) = (self.asked.clone(), self.differing.clone(), self.given.clone());
        Classes { asked, differing, given, guards: self.guards.clone(), all }
    }

    /// Returns how the threads' steps depend on what a launch is given.
    pub(super) fn depends(&self, kernel: &Kernel<'_, '_>) -> Depends {
        let asked: Vec<(NodeId, Point)> = self.asked.iter().map(|asked| (asked.node, asked.point)).collect();
        kernel.depends(&asked)
    }
}

/// The branches on whose arms a block is, of those whose conditions are asked.
fn guards(kernel: &Kernel<'_, '_>, asked: &[Asked], block: BlockId) -> Vec<(BlockId, bool)> {
    let condition = |branch: BlockId| kernel.cfg.blocks[branch.0].end.condition();
    let is_asked =
        |branch: BlockId| asked.iter().any(|asked| Some(asked.node) == condition(branch) && asked.point.0 == branch);
    kernel.guards_of(block).into_iter().filter(|(branch, _)| is_asked(*branch)).collect()
}

/// The values that a thread computes. One that it never comes to has none.
fn values(
    kernel: &Kernel<'_, '_>,
    (nodes, guards): (&[Asked], &Guards),
    arguments: Option<&Arguments>,
    thread: u32,
) -> Vec<Decided> {
    let counters = Counters::default();
    let evaluator = Evaluator { kernel, counters: &counters, arguments, thread, after: None, inlines: true };
    let mut known: BTreeMap<BlockId, Option<i64>> = BTreeMap::new();
    let mut passes = |(branch, first): &(BlockId, bool)| {
        let content = &kernel.cfg.blocks[branch.0];
        let decide =
            || content.end.condition().and_then(|on| evaluator.value(on, (*branch, content.steps.len())).known());
        known.entry(*branch).or_insert_with(decide).is_some_and(|decided| (decided != 0) != *first)
    };
    let value = |asked: &Asked| {
        let value = match asked.part {
            _ if guards.get(&asked.point.0).is_some_and(|guards| guards.iter().any(&mut passes)) => Value::constant(0),
            Some((select, tile)) => evaluator.part(select, tile, asked.point),
            None => evaluator.value(asked.node, asked.point),
        };
        match value {
            Value::Unknown => Decided::Open(evaluator.open_part(asked.node, asked.point)),
            value @ (Value::Expr(_) | Value::Symbol(_)) => Decided::Value(value),
        }
    };
    nodes.iter().map(value).collect()
}

/// Adds threads to the class of those with the same values.
fn join_class(classes: &mut Vec<Class>, values: Vec<Decided>, threads: &[u32]) {
    match classes.iter_mut().find(|class| class.values == values) {
        Some(class) => class.threads.extend(threads),
        None => classes.push(Class { values, threads: threads.to_vec() }),
    }
}

/// The variables that a thread's steps may depend on.
pub(super) fn needed(kernel: &Kernel<'_, '_>, objects: &Objects) -> BTreeSet<Variable> {
    asked(kernel, objects).1
}

/// The nodes whose values a thread's steps may depend on, with the points where they do, and the variables.
fn asked(kernel: &Kernel<'_, '_>, objects: &Objects) -> (Vec<Asked>, BTreeSet<Variable>) {
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
            asked
                .extend([counted.start, counted.end].into_iter().chain(counted.step).map(|end| Asked::of(end, before)));
        }
        let needed = kernel.needed_by(asked.iter().map(|asked| asked.node));
        if needed.is_subset(&counters) {
            for variable in counters.iter().filter(|variable| cfg.only_value(**variable).is_none()) {
                asked.extend(kernel.sets(*variable).iter().map(|(point, value, _)| Asked::of(*value, *point)));
            }
            return (asked, counters);
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
                match slot(region).map_or(0, |slot| slot.depth) {
                    0 => {}
                    1 => nodes.extend(of_slot(region)),
                    depth => nodes.extend(region.path[..depth].iter().flat_map(Select::nodes).map(asks)),
                }
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
