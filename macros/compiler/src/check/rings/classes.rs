//! The threads of a block by the values that their ranks decide: those with the same ones take the same steps.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::given::Arguments;
use super::kernel::{Kernel, Point, array_of};
use super::launch::Depends;
use super::objects::Objects;
use super::ranks::Ranks;
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
    /// For each differing value, the groups of threads that cannot differ in it.
    groups: Vec<Box<[u32]>>,
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
        let mut ranks = Ranks::new(kernel);
        let groups: Vec<Box<[u32]>> = differing
            .iter()
            .map(|asked| {
                let guards = guards.get(&asked.point.0).into_iter().flatten();
                let conditions = guards.filter_map(|(branch, _)| kernel.cfg.blocks[branch.0].end.condition());
                ranks.groups(asked.nodes().chain(conditions))
            })
            .collect();
        let (each, threads): (Vec<usize>, Vec<u32>) = ((0..differing.len()).collect(), (0..kernel.threads).collect());
        let all = Values::new(kernel, (&differing, &groups, &guards), None).classes(&each, &threads);
        let given = differing.iter().map(|asked| {
            let depends = kernel.depends(&[(asked.node, asked.point)]);
            depends.on_numbers || depends.on_queries
        });
        let given = given.collect();
        Classes { asked, differing, groups, given, guards, all }
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
        let mut values = Values::new(kernel, (&self.differing, &self.groups, &self.guards), Some(arguments));
        let is_given: Vec<bool> =
            self.differing.iter().zip(&self.given).map(|(of, given)| *given || is_handed(of)).collect();
        for class in &self.all {
            let is_open = |number: &usize| is_given[*number] && matches!(class.values[*number], Decided::Open(_));
            let open: Vec<usize> = (0..self.differing.len()).filter(is_open).collect();
            match open.is_empty() {
                true => all.push(class.clone()),
                false => all.extend(values.classes(&open, &class.threads)),
            }
        }
        let (asked, differing, given) = (self.asked.clone(), self.differing.clone(), self.given.clone());
        Classes { asked, differing, groups: self.groups.clone(), given, guards: self.guards.clone(), all }
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

/// The values that threads compute, each evaluated for one thread of a group that cannot differ in it.
struct Values<'v, 'a, 'f> {
    kernel: &'v Kernel<'a, 'f>,
    asked: &'v [Asked],
    groups: &'v [Box<[u32]>],
    guards: &'v Guards,
    arguments: Option<&'v Arguments>,
    /// For each value that is asked for, the different ones.
    different: Vec<Vec<Decided>>,
    /// The index, among the different values, of the one that each group of threads has.
    known: Vec<BTreeMap<u32, usize>>,
    /// The index, among the different values, of each number: a rank has many.
    numbers: Vec<BTreeMap<i64, usize>>,
    counters: Counters,
}

impl<'v, 'a, 'f> Values<'v, 'a, 'f> {
    fn new(
        kernel: &'v Kernel<'a, 'f>,
        (asked, groups, guards): (&'v [Asked], &'v [Box<[u32]>], &'v Guards),
        arguments: Option<&'v Arguments>,
    ) -> Self {
        Values {
            kernel,
            asked,
            groups,
            guards,
            arguments,
            different: vec![Vec::new(); asked.len()],
            known: vec![BTreeMap::new(); asked.len()],
            numbers: vec![BTreeMap::new(); asked.len()],
            counters: Counters::default(),
        }
    }

    /// Returns threads by some of the values.
    fn classes(&mut self, asked: &[usize], threads: &[u32]) -> Vec<Class> {
        // What is handed out, a thread may come to by its rank.
        let is_apart = self.kernel.handed.borrow().is_some();
        let mut classes: Vec<Class> = Vec::new();
        let mut by_values: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        for thread in threads {
            let mut values = Vec::with_capacity(asked.len());
            for number in asked {
                let group = if is_apart { *thread } else { self.groups[*number][*thread as usize] };
                values.push(self.number(*number, group, *thread));
            }
            match by_values.get(&values) {
                Some(class) => classes[*class].threads.push(*thread),
                None => {
                    let of = asked.iter().zip(&values).map(|(number, value)| self.different[*number][*value].clone());
                    classes.push(Class { values: of.collect(), threads: vec![*thread] });
                    by_values.insert(values, classes.len() - 1);
                }
            }
        }
        classes
    }

    /// Returns the index of the value that a group of threads has, of which one is given.
    fn number(&mut self, asked: usize, group: u32, thread: u32) -> usize {
        if let Some(known) = self.known[asked].get(&group) {
            return *known;
        }
        let value = self.value(self.asked[asked], thread);
        let different = &mut self.different[asked];
        let constant = if let Decided::Value(value) = &value { value.known() } else { None };
        let before = match constant {
            Some(constant) => self.numbers[asked].get(&constant).copied(),
            None => different.iter().position(|other| *other == value),
        };
        let number = before.unwrap_or_else(|| {
            different.push(value);
            different.len() - 1
        });
        constant.into_iter().for_each(|constant| _ = self.numbers[asked].insert(constant, number));
        self.known[asked].insert(group, number);
        number
    }

    /// The value that a thread computes. One that it never comes to is none.
    fn value(&self, asked: Asked, thread: u32) -> Decided {
        let (kernel, arguments) = (self.kernel, self.arguments);
        let evaluator = Evaluator { kernel, counters: &self.counters, arguments, thread, after: None, inlines: true };
        let passes = |(branch, first): &(BlockId, bool)| {
            let content = &kernel.cfg.blocks[branch.0];
            let on = content.end.condition();
            let decided = on.and_then(|on| evaluator.value(on, (*branch, content.steps.len())).known());
            decided.is_some_and(|decided| (decided != 0) != *first)
        };
        let value = match asked.part {
            _ if self.guards.get(&asked.point.0).is_some_and(|guards| guards.iter().any(passes)) => Value::constant(0),
            Some((select, tile)) => evaluator.part(select, tile, asked.point),
            None => evaluator.value(asked.node, asked.point),
        };
        match value {
            Value::Unknown => Decided::Open(evaluator.open_part(asked.node, asked.point)),
            value @ (Value::Expr(_) | Value::Symbol(_)) => Decided::Value(value),
        }
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
