//! Finds what one thread hands out to others, for certain arguments: the tickets that it takes from a queue in global memory, and the numbers
//! that it publishes in elements of a shared array, as a scheduler does that hands out tiles one by one until there are none.
//!
//! A launch with a queue that is 0 at first gives the n-th ticket the number n. What the thread publishes then follows from its own steps. The
//! n-th number that a reader reads is taken for the n-th one that was published: rounds of the skeleton's data hold it against each run, and a
//! run in which a reader gets another number counts for nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::classes::Classes;
use super::counters::{Counter, Counters};
use super::given::Arguments;
use super::handed::{By, Handed, Published};
use super::kernel::{Kernel, Point, WARP, array_of, is_warp};
use super::objects::Objects;
use super::slots::Slot;
use super::value::{Evaluator, Value, reached_from};
use super::walk::{Program, Sites, Walker, walk};
use crate::check::cfg::{
    Access, AccessKind, BlockId, CopyStep, Covers, MemoryStep, NodeId, Region, Root, Shared, Source, StepKind,
};
use crate::model::atomic::AtomicAccess;
use crate::rings::{Condition, Expr, Op, Operator};
use crate::span::SpanRange;

/// The largest number of numbers that are published.
const PUBLISHED: usize = 24;

/// The largest number of steps in which they are.
const STEPS: usize = 4000;

impl Handed {
    /// Returns what threads hand out, if their steps depend on it.
    pub(super) fn of(kernel: &Kernel<'_, '_>, objects: &Objects, classes: &Classes) -> Option<Handed> {
        let loads = loads(kernel);
        let mut tickets = tickets(kernel);
        if loads.is_empty() && tickets.is_empty() {
            return None;
        }
        let sources = sources(kernel, classes.asked());
        let mut arrays = objects.followed().filter_map(|slot| {
            let loads = loads.iter().filter(|(array, ..)| *array == slot.array);
            let loads: BTreeMap<NodeId, BlockId> = loads.map(|(_, node, block)| (*node, *block)).collect();
            loads.keys().any(|load| sources.contains(load)).then_some((slot, loads))
        });
        let array = arrays.next().map(|(slot, loads)| published(kernel, slot, loads, classes));
        if arrays.next().is_some() || matches!(array, Some(None)) {
            return None;
        }
        let array = array.flatten();
        let sites = tickets.values().map(|(.., block)| *block);
        if kernel.blocks > 1 || only_thread(kernel, classes, sites).is_none() {
            tickets.clear();
        }
        let tickets: BTreeMap<NodeId, (usize, NodeId)> =
            tickets.into_iter().map(|(node, (queue, by, _))| (node, (queue, by))).collect();
        let is_load = |node: &NodeId| array.as_ref().is_some_and(|array| array.loads.contains_key(node));
        let depending = reached_from(kernel, |node| tickets.contains_key(&node) || is_load(&node));
        if depending.is_disjoint(&sources) {
            return None;
        }
        let given = given(kernel, |node| depending.contains(&node) && sources.contains(&node));
        Some(Handed { tickets, array, given, depending, numbers: BTreeMap::new(), is_own: false })
    }

    /// Lets the threads of a launch have what is handed out to them.
    pub(super) fn hand_out(this: Option<&Handed>, kernel: &Kernel<'_, '_>, objects: &Objects, arguments: &Arguments) {
        kernel.handed.replace(None);
        let Some(this) = this else { return };
        let mut handed = this.clone();
        // What lanes give may come from what is published.
        let publisher = handed.array.iter().map(|of| (of.by, By::Publisher));
        let lanes = handed.given.iter().flat_map(|(node, (_, lane))| {
            let warps = 0..kernel.threads / WARP;
            warps.map(move |warp| (warp * WARP + lane, By::Lane(*node, warp)))
        });
        for (thread, by) in publisher.chain(lanes).collect::<Vec<_>>() {
            kernel.handed.replace(Some(Rc::new(Handed { is_own: true, ..handed.clone() })));
            let counters = Counters::default();
            let arguments = Some(arguments);
            let evaluator = Evaluator { kernel, counters: &counters, arguments, thread, after: None, inlines: false };
            let program = walk(&evaluator, objects, &Sites::default());
            handed.numbers.extend(program.ok().and_then(|program| Some((by, numbers(&program, by)?))));
        }
        kernel.handed.replace(Some(Rc::new(handed)));
    }
}

impl Evaluator<'_, '_, '_> {
    /// The value of a node that the thread has been handed; what it hands out itself, the closure computes.
    pub(super) fn handed(&self, node: NodeId, own: impl Fn(NodeId) -> Value) -> Option<Value> {
        self.arguments?;
        let handed = self.kernel.handed.borrow().clone()?;
        let counter = |counter| Expr::counter(self.counters.number(counter));
        if let Some((queue, by)) = handed.tickets.get(&node) {
            let by = self.added(*by)?;
            return Some(Value::Expr(counter(Counter::Tickets(*queue)).apply(Operator::Sub, Expr::constant(by))));
        }
        let (by, had) = handed.from(node, self.thread / WARP)?;
        match (handed.given.get(&node), &handed.array) {
            (Some((value, lane)), _) if handed.is_own && self.thread % WARP == *lane => return Some(own(*value)),
            (None, Some(of)) if handed.is_own && self.thread == of.by => {
                return Some(Value::Expr(counter(Counter::Published)));
            }
            _ => {}
        }
        // Each number, if it is the turn of that one.
        let had = counter(had);
        let mut value = Expr::constant(0);
        for (turn, number) in (1..).zip(handed.numbers.get(&by)?) {
            let is_it = had.clone().apply(Operator::Eq, Expr::constant(turn));
            value = value.apply(Operator::Add, is_it.apply(Operator::Mul, Expr::constant(*number)));
        }
        Some(Value::Expr(value))
    }

    /// The counter that a thread sets where it is handed something, with its new value.
    pub(super) fn takes(&self, node: NodeId) -> Option<(u32, Expr)> {
        let handed = self.kernel.handed.borrow().clone()?;
        let (counter, by) = match handed.tickets.get(&node) {
            Some((queue, by)) => (Counter::Tickets(*queue), self.added(*by)?),
            None => (handed.from(node, self.thread / WARP)?.1, 1),
        };
        let counter = self.counters.get(counter)?;
        Some((counter, Expr::counter(counter).apply(Operator::Add, Expr::constant(by))))
    }

    /// Returns by how much the queue grows until the thread takes its next ticket: in a grid of several clusters, each takes its turn.
    fn added(&self, by: NodeId) -> Option<i64> {
        let counters = Counters::default();
        let by = self.aside(&counters).value(by, self.kernel.evaluated(by)?).known().filter(|by| *by > 0)?;
        by.checked_mul(self.arguments?.clusters)
    }
}

/// The nodes that are loads of elements of the block's own arrays, each with the array and its block.
fn loads(kernel: &Kernel<'_, '_>) -> Vec<(usize, NodeId, BlockId)> {
    let of = |node: NodeId| {
        let Source::Load(Root::Shared(Shared::Array(array))) = kernel.cfg.nodes[node.0].source else { return None };
        Some((array, node, kernel.evaluated(node)?.0))
    };
    (0..kernel.cfg.nodes.len()).map(NodeId).filter_map(of).collect()
}

/// The results of `fetch_add` on queues that nothing else accesses, each with the parameter, what it adds, and its block.
fn tickets(kernel: &Kernel<'_, '_>) -> BTreeMap<NodeId, (usize, NodeId, BlockId)> {
    let cfg = kernel.cfg;
    let is_global = |access: &&Access| access.region.root == Root::Global;
    if cfg.added.is_empty() || cfg.accesses.iter().filter(is_global).any(|access| access.region.param.is_none()) {
        return BTreeMap::new();
    }
    let of = |(node, by): (&NodeId, &NodeId)| {
        let (block, index) = kernel.evaluated(*node)?;
        let before = &cfg.blocks[block.0].steps.get(index.checked_sub(1)?)?.kind;
        let StepKind::Memory(MemoryStep::Access(access)) = before else { return None };
        let region = &cfg.accesses[access.0].region;
        (region.root == Root::Global).then_some((*node, (region.param?, *by, block)))
    };
    let mut found: BTreeMap<_, _> = cfg.added.iter().filter_map(of).collect();
    let queues: BTreeSet<usize> = found.values().map(|(queue, ..)| *queue).collect();
    // Another element would be another queue.
    let is_one = |queue: &usize| {
        let accesses = || cfg.accesses.iter().filter(|access| is_global(access) && access.region.param == Some(*queue));
        let taken = found.values().filter(|(of, ..)| of == queue).count();
        let first = accesses().next().map(|access| &access.region.path);
        let zero = |access: &Access| {
            access.region.path.iter().flat_map(|select| select.nodes()).all(|index| is_zero(kernel, index))
        };
        accesses().count() == taken
            && accesses().all(|access| access.atomic == Some(AtomicAccess::Update) && zero(access))
            && first.is_some()
    };
    let alone: BTreeSet<usize> = queues.into_iter().filter(is_one).collect();
    found.retain(|_, (queue, ..)| alone.contains(queue));
    found
}

fn is_zero(kernel: &Kernel<'_, '_>, node: NodeId) -> bool {
    kernel.cfg.nodes[kernel.cfg.first_origin(node).0].source.integer() == Some(0)
}

/// The results of the operations by which a lane gives a number to its warp, each with the number and the lane, if the number is one of these.
fn given(kernel: &Kernel<'_, '_>, is: impl Fn(NodeId) -> bool) -> BTreeMap<NodeId, (NodeId, u32)> {
    let of = |node: NodeId| {
        let of = &kernel.cfg.nodes[node.0];
        let (Source::Shuffled { team }, [value, lane]) = (&of.source, &of.operands[..]) else { return None };
        let lane = kernel.cfg.nodes[kernel.cfg.first_origin(*lane).0].source.integer()?;
        let lane = u32::try_from(lane).ok().filter(|lane| *lane < WARP && is_warp(team) && is(node))?;
        Some((node, (*value, lane)))
    };
    (0..kernel.cfg.nodes.len()).map(NodeId).filter_map(of).collect()
}

/// The values that others are computed from.
fn sources(kernel: &Kernel<'_, '_>, nodes: impl Iterator<Item = NodeId>) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::new();
    let mut work: Vec<NodeId> = nodes.collect();
    while let Some(node) = work.pop() {
        if seen.insert(node) {
            let of = &kernel.cfg.nodes[node.0];
            work.extend(&of.operands);
            let sets = of.source.read().map(|variable| kernel.sets(variable)).unwrap_or_default();
            work.extend(sets.iter().map(|(_, value, _)| *value));
        }
    }
    seen
}

/// The numbers that a thread publishes in an array, if no other one does, and elements are all that is accessed.
fn published(
    kernel: &Kernel<'_, '_>,
    slot: &Slot,
    loads: BTreeMap<NodeId, BlockId>,
    classes: &Classes,
) -> Option<Published> {
    let accesses = kernel.accesses_of(slot.array);
    let is_plain = |access: &Access| {
        let is_own = matches!(access.region.root, Root::Shared(_)) && access.covers == Covers::Whole;
        is_own && matches!((access.kind, access.stored), (AccessKind::Read, _) | (AccessKind::Write, Some(_)))
    };
    let is_of = |region: &Region| array_of(region) == Some(slot.array);
    let copied = kernel.cfg.copies.iter().any(|copy| match copy {
        CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).any(is_of),
        CopyStep::Wait { .. } => false,
    });
    let reads = accesses.iter().filter(|(access, _)| access.kind == AccessKind::Read).count();
    let stores = accesses.iter().filter(|(access, _)| access.kind == AccessKind::Write).map(|(_, point)| point.0);
    let by = only_thread(kernel, classes, stores)?;
    let is_followed = slot.whole && !slot.shared && !slot.in_place && !copied;
    let is_known = reads == loads.len() && accesses.iter().all(|(access, _)| is_plain(access));
    (is_followed && is_known).then_some(Published { array: slot.array, by, loads })
}

/// The thread that comes to some of these blocks, if it is the only one of its block.
fn only_thread(
    kernel: &Kernel<'_, '_>,
    classes: &Classes,
    blocks: impl Iterator<Item = BlockId> + Clone,
) -> Option<u32> {
    let counters = Counters::default();
    let comes = |thread: u32| {
        let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread, after: None, inlines: false };
        blocks.clone().any(|block| evaluator.may_come_to(block))
    };
    let mut those = classes.all.iter().filter(|class| class.threads.first().is_some_and(|first| comes(*first)));
    match (those.next().map(|class| &class.threads[..]), those.next()) {
        (Some([thread]), None) => Some(*thread),
        _ => None,
    }
}

/// The numbers that a thread hands out whose steps depend on nothing that others do.
fn numbers(program: &Program, by: By) -> Option<Vec<i64>> {
    let named = program.steps.iter().flat_map(|step| step.op.counters()).max();
    let mut counters = vec![0; named.map_or(0, |last| last as usize + 1)];
    let (mut numbers, mut at) = (Vec::new(), 0);
    for _ in 0..STEPS {
        let Some(step) = program.steps.get(at) else { return Some(numbers) };
        let value = |expr: &Expr| expr.value(&counters, 0, step.id).ok();
        if let Some((_, number)) = program.handed_out.get(&at).filter(|(of, _)| *of == by) {
            numbers.push(value(number)?);
            (numbers.len() <= PUBLISHED).then_some(())?;
        }
        at = match &step.op {
            Op::Set(values) => {
                let values: Option<Vec<_>> =
                    values.iter().map(|(counter, expr)| Some((*counter as usize, value(expr)?))).collect();
                values?.into_iter().for_each(|(counter, value)| counters[counter] = value);
                at + 1
            }
            Op::Branch { condition: Condition::Counters(test), otherwise } => {
                if value(test)? != 0 {
                    at + 1
                } else {
                    *otherwise
                }
            }
            Op::Branch { .. } => return None,
            Op::Jump(to) => *to,
            Op::Leave => return Some(numbers),
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
            | Op::Sync { .. }
            | Op::NextRound => at + 1,
        };
    }
    None
}

impl Walker<'_, '_, '_, '_> {
    /// Whether numbers are published in an array.
    pub(super) fn hands_out(&self, array: usize) -> bool {
        self.kernel().handed.borrow().as_ref().is_some_and(|handed| handed.array() == Some(array))
    }

    /// Adds the steps of an access of a number that is published.
    pub(super) fn publish(&mut self, access: &Access, point: Point, at: SpanRange) {
        let number = access.stored.filter(|_| access.kind == AccessKind::Write);
        let number = number.and_then(|number| self.evaluator.value(number, point).expr());
        let is_write = access.kind == AccessKind::Write;
        self.flush();
        let Some(number) = number else {
            self.program.allows_more |= is_write;
            return;
        };
        self.program.handed_out.insert(self.program.steps.len(), (By::Publisher, number.clone()));
        let last = self.evaluator.counters.get(Counter::Published).map(|counter| (counter, number));
        self.push(point, at, Op::Set(last.into_iter().collect()));
        // Its round ends where it reads, if it does.
        if !self.reads_published() {
            self.push(point, at, Op::NextRound);
        }
    }

    /// Adds the steps of a thread that is handed something.
    pub(super) fn take(&mut self, point: Point, node: NodeId, at: SpanRange) {
        let Some(handed) = self.kernel().handed.borrow().clone() else { return };
        self.flush();
        if let Some((value, lane)) = handed.given.get(&node)
            && handed.is_own
            && self.evaluator.thread % WARP == *lane
            && let Some(number) = self.evaluator.value(*value, point).expr()
        {
            let by = By::Lane(node, self.evaluator.thread / WARP);
            self.program.handed_out.insert(self.program.steps.len(), (by, number));
        }
        self.push(point, at, Op::Set(self.evaluator.takes(node).into_iter().collect()));
        if handed.is_load(node) {
            self.push(point, at, Op::NextRound);
        }
    }

    fn reads_published(&self) -> bool {
        let handed = self.kernel().handed.borrow().clone();
        handed.is_some_and(|handed| handed.blocks_of_loads().any(|block| self.evaluator.may_come_to(block)))
    }
}
