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
use super::handed::{By, Handed};
use super::kernel::{Kernel, Point, WARP, array_of, is_warp};
use super::objects::Objects;
use super::out::Out;
use super::part::Part;
use super::published::{loads, only_thread, published};
use super::slots::Slot;
use super::value::{Evaluator, Value, reached_from};
use super::walk::{Program, Sites, Walker, walk};
use crate::check::cfg::{Access, AccessId, AccessKind, BlockId, MemoryStep, NodeId, Root, Source, StepKind, Variable};
use crate::model::atomic::AtomicAccess;
use crate::rings::{Condition, Expr, Op, Operator};
use crate::span::SpanRange;

/// The largest number of numbers that are published, of all blocks and fields.
const PUBLISHED: usize = 96;

/// The largest number of turns in which they are.
const TURNS: i64 = 24;

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
        let is_source =
            |slot: &&Slot| loads.get(&slot.array).is_some_and(|loads| loads.keys().any(|load| sources.contains(load)));
        let slots: Vec<&Slot> = objects.followed().filter(is_source).collect();
        let published = match slots[..] {
            [] => None,
            _ => {
                let loads = slots.iter().flat_map(|slot| &loads[&slot.array]).map(|(node, load)| (*node, *load));
                Some(published(kernel, &slots, loads.collect(), classes)?)
            }
        };
        let sites = tickets.values().map(|(.., block)| *block);
        let takers = only_thread(kernel, classes, sites).map(|(_, ranks)| ranks);
        if takers.is_none() {
            tickets.clear();
        }
        let in_each_block = takers.is_some_and(|ranks| ranks.len() > 1);
        let tickets: BTreeMap<NodeId, (usize, NodeId)> =
            tickets.into_iter().map(|(node, (queue, by, _))| (node, (queue, by))).collect();
        let is_load = |node: &NodeId| published.as_ref().is_some_and(|of| of.loads.contains_key(node));
        let depending = reached_from(kernel, |node| tickets.contains_key(&node) || is_load(&node));
        if depending.is_disjoint(&sources) {
            return None;
        }
        let given = given(kernel, |node| depending.contains(&node) && sources.contains(&node));
        Some(Handed { tickets, in_each_block, published, given, depending, numbers: BTreeMap::new(), is_own: false })
    }

    /// Lets the threads of a launch have what is handed out to them.
    pub(super) fn hand_out(this: Option<&Handed>, kernel: &Kernel<'_, '_>, objects: &Objects, arguments: &Arguments) {
        kernel.handed.replace(None);
        let Some(this) = this else { return };
        let mut handed = this.clone();
        let program = |handed: &Handed, thread: u32| {
            kernel.handed.replace(Some(Rc::new(Handed { is_own: true, ..handed.clone() })));
            let counters = Counters::default();
            let arguments = Some(arguments);
            let evaluator = Evaluator { kernel, counters: &counters, arguments, thread, after: None, inlines: false };
            walk(&evaluator, objects, &Sites::default()).ok()
        };
        let is_published = |by: &By| matches!(by, By::Publisher(_));
        let publishes = |handed: &Handed| {
            let of = handed.published.as_ref()?;
            let program = program(handed, of.by)?;
            of.ranks.iter().map(|rank| numbers(&program, is_published, *rank)).collect::<Option<Vec<_>>>()
        };
        // Where a turn begins depends on the block to which the thread publishes first.
        let first = publishes(&handed).and_then(|of| Some(of.first()?.first()?.block));
        if let (Some(of), Some(_)) = (&mut handed.published, first) {
            of.first = first.filter(|_| of.ranks.len() == 1);
        }
        let mut all = BTreeMap::new();
        if publishes(&handed).is_some_and(|of| of.into_iter().flatten().all(|number| number.joins(&mut all))) {
            handed.numbers = all;
        }
        // What lanes give may come from what is published.
        let lanes = handed.given.iter().flat_map(|(node, (_, lane))| {
            let warps = 0..kernel.threads / WARP;
            warps.map(move |warp| (warp * WARP + lane, By::Lane(*node, warp)))
        });
        for (thread, by) in lanes.collect::<Vec<_>>() {
            let Some(program) = program(&handed, thread) else { continue };
            let of = (0..kernel.blocks).map(|rank| numbers(&program, |other| *other == by, rank));
            let Some(of) = of.collect::<Option<Vec<_>>>() else { continue };
            let mut all = BTreeMap::new();
            if of.into_iter().flatten().all(|number| number.joins(&mut all)) {
                handed.numbers.extend(all);
            }
        }
        kernel.handed.replace(Some(Rc::new(handed)));
    }
}

impl Evaluator<'_, '_, '_> {
    /// The value of a node that the thread has been handed; what it hands out itself, the closure computes.
    pub(super) fn handed(&self, node: NodeId, own: impl Fn(NodeId) -> Value) -> Option<Value> {
        self.arguments?;
        let handed = self.kernel.handed.borrow().clone()?;
        if let Some((queue, by)) = handed.tickets.get(&node) {
            let by = self.added(*by)?;
            let counter = Expr::counter(self.counters.number(Counter::Tickets(*queue)));
            return Some(Value::Expr(counter.apply(Operator::Sub, Expr::constant(by))));
        }
        if let Some((value, lane)) = handed.given.get(&node)
            && handed.is_own
            && self.thread % WARP == *lane
        {
            return Some(own(*value));
        }
        let (by, had) = handed.from(node, self.thread / WARP)?;
        self.had(&handed, (by, had), handed.load(node).and_then(|load| load.rank))
    }

    /// The value of a field of a struct that is published, which a thread has loaded as a whole.
    pub(super) fn handed_field(&self, node: NodeId, field: u16) -> Option<Value> {
        self.arguments?;
        let handed = self.kernel.handed.borrow().clone()?;
        let load = handed.load(node).filter(|load| load.part.field.is_none())?;
        let part = Part { field: Some(field), ..load.part };
        self.had(&handed, (By::Publisher(part), Counter::Taken), load.rank)
    }

    /// Whether a value of one operand is a field that a thread has loaded of a struct that is published.
    pub(super) fn is_field_handed(&self, operands: &[NodeId]) -> bool {
        let [load] = operands else { return false };
        let handed = self.kernel.handed.borrow();
        let load = handed.as_ref().filter(|_| self.arguments.is_some()).and_then(|handed| handed.load(*load));
        load.is_some_and(|load| load.part.field.is_some())
    }

    /// The number of the turn that the thread has come to, in its own block, or in that of a rank.
    fn had(&self, handed: &Handed, (by, had): (By, Counter), rank: Option<NodeId>) -> Option<Value> {
        let counter = |counter| Expr::counter(self.counters.number(counter));
        if let (By::Publisher(part), Some(of), true) = (by, &handed.published, handed.is_own)
            && self.thread == of.by
        {
            return Some(Value::Expr(counter(Counter::Published(part))));
        }
        let by_block = handed.numbers.get(&by)?;
        let had = counter(had);
        let is = |one: &Expr, number: i64| one.clone().apply(Operator::Eq, Expr::constant(number));
        // Each number, if it is the turn of that one.
        let of_block = |numbers: &BTreeMap<i64, i64>| {
            numbers.iter().fold(Expr::constant(0), |value, (turn, number)| {
                value.apply(Operator::Add, is(&had, *turn).apply(Operator::Mul, Expr::constant(*number)))
            })
        };
        let blocks = 0..self.kernel.blocks;
        let mut all = blocks.clone().map(|rank| by_block.get(&rank));
        if let Some(Some(first)) = all.next()
            && all.all(|other| other == Some(first))
        {
            return Some(Value::Expr(of_block(first)));
        }
        let block = match rank {
            Some(rank) => self.value(rank, self.kernel.evaluated(rank)?).expr()?,
            None => Expr::rank(),
        };
        let value = by_block.iter().fold(Expr::constant(0), |value, (rank, numbers)| {
            value.apply(Operator::Add, is(&block, i64::from(*rank)).apply(Operator::Mul, of_block(numbers)))
        });
        Some(Value::Expr(value))
    }

    /// The counter that a thread sets where it is handed something, with its new value.
    fn takes(&self, node: NodeId) -> Option<(u32, Expr)> {
        let handed = self.kernel.handed.borrow().clone()?;
        let (counter, by) = match handed.tickets.get(&node) {
            Some((queue, by)) => (Counter::Tickets(*queue), self.added(*by)?),
            None if handed.load(node).is_some_and(|load| !handed.begins(load)) => return None,
            None => (handed.from(node, self.thread / WARP)?.1, 1),
        };
        let counter = self.counters.get(counter)?;
        Some((counter, Expr::counter(counter).apply(Operator::Add, Expr::constant(by))))
    }

    /// Returns by how much the queue grows until the thread takes its next ticket: in a grid of several clusters, each takes its turn.
    fn added(&self, by: NodeId) -> Option<i64> {
        let counters = Counters::default();
        let by = self.aside(&counters).value(by, self.kernel.evaluated(by)?).known().filter(|by| *by > 0)?;
        let in_each_block = self.kernel.handed.borrow().as_ref().is_some_and(|handed| handed.in_each_block);
        let takers =
            self.arguments?.clusters.checked_mul(if in_each_block { i64::from(self.kernel.blocks) } else { 1 });
        by.checked_mul(takers?)
    }
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

/// A number that a thread hands out.
struct Number {
    by: By,
    /// The rank of the block that has it.
    block: u32,
    turn: i64,
    number: i64,
}

impl Number {
    /// Adds the number to the others, unless there is one for its turn.
    fn joins(self, all: &mut BTreeMap<By, BTreeMap<u32, BTreeMap<i64, i64>>>) -> bool {
        all.entry(self.by).or_default().entry(self.block).or_default().insert(self.turn, self.number).is_none()
    }
}

/// The numbers that a thread of the block of a rank hands out, whose steps depend on nothing that others do.
fn numbers(program: &Program, is_sought: impl Fn(&By) -> bool, rank: u32) -> Option<Vec<Number>> {
    let handed_out = program.handed_out.values().flatten().map(|out| &out.number);
    let named = program.steps.iter().flat_map(|step| step.op.counters()).chain(handed_out.flat_map(Expr::counters));
    let mut counters = vec![0; named.max().map_or(0, |last| last as usize + 1)];
    let (mut numbers, mut at, mut rounds) = (Vec::new(), 0, 0);
    for _ in 0..STEPS {
        let Some(step) = program.steps.get(at) else { return Some(numbers) };
        let value = |expr: &Expr| expr.value(&counters, i64::from(rank), step.id).ok();
        for out in program.handed_out.get(&at).into_iter().flatten().filter(|out| is_sought(&out.by)) {
            let block = u32::try_from(value(&out.block)?).ok()?;
            let given = i64::try_from(numbers.len()).ok()? + 1;
            let turn = if let By::Publisher(_) = out.by { rounds } else { given };
            numbers.push(Number { by: out.by, block, turn, number: value(&out.number)? });
            (numbers.len() <= PUBLISHED && rounds <= TURNS).then_some(())?;
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
            Op::NextRound => {
                rounds += 1;
                at + 1
            }
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
            | Op::Sync { .. } => at + 1,
        };
    }
    None
}

impl Walker<'_, '_, '_, '_> {
    /// Whether numbers are published in an array.
    pub(super) fn hands_out(&self, array: usize) -> bool {
        self.kernel().handed.borrow().as_ref().is_some_and(|handed| handed.is_published(array))
    }

    /// Begins a turn where an access of what is published is the first one in it.
    pub(super) fn begin_turn(&mut self, id: AccessId, block: &Expr, (point, at): (Point, SpanRange)) {
        let handed = self.kernel().handed.borrow().clone();
        let Some(of) = handed.as_ref().and_then(|handed| handed.published.as_ref()) else { return };
        if of.turns.get(&id) != Some(&true) {
            return;
        }
        let is_block = |operator, block: Expr, rank: u32| block.apply(operator, Expr::constant(i64::from(rank)));
        let begins = match self.kernel().cfg.accesses[id.0].kind {
            // Who publishes reads in the turn in which it has done so.
            AccessKind::Read if self.evaluator.thread == of.by => {
                let others = of.ranks.iter().map(|rank| is_block(Operator::Ne, Expr::rank(), *rank));
                others.reduce(|all, one| all.apply(Operator::Mul, one))
            }
            AccessKind::Read => None,
            AccessKind::Write
            | AccessKind::AtomicRead
            | AccessKind::Atomic
            | AccessKind::Lent
            | AccessKind::AsyncWrite
            | AccessKind::Opaque
            | AccessKind::ByClosure => of.first.map(|first| is_block(Operator::Eq, block.clone(), first)),
        };
        self.flush();
        if let Some(begins) = begins {
            let otherwise = self.program.steps.len() + 2;
            self.push(point, at, Op::Branch { condition: Condition::Counters(begins), otherwise });
        }
        self.push(point, at, Op::NextRound);
    }

    /// Adds the steps behind a store of what is published.
    pub(super) fn publish(&mut self, id: AccessId, block: &Expr, (point, at): (Point, SpanRange)) {
        let cfg = self.kernel().cfg;
        let access = &cfg.accesses[id.0];
        let Some(array) = array_of(&access.region) else { return };
        self.flush();
        let content = cfg.contents.get(&id);
        let stored = access.stored.or(content.map(|content| content.value)).map(|value| (None, value));
        let fields = content.into_iter().flat_map(|content| &content.fields);
        let (mut out, mut sets) = (Vec::new(), Vec::new());
        for (field, value) in stored.into_iter().chain(fields.map(|(field, value)| (Some(*field), *value))) {
            let Some(number) = self.evaluator.value(value, point).expr() else { continue };
            let part = Part { array, field };
            // The thread reads what is in its own block.
            if let Some(counter) = self.evaluator.counters.get(Counter::Published(part)) {
                let is_own = |operator| block.clone().apply(operator, Expr::rank());
                let last = is_own(Operator::Ne).apply(Operator::Mul, Expr::counter(counter));
                let next = is_own(Operator::Eq).apply(Operator::Mul, number.clone());
                sets.push((counter, last.apply(Operator::Add, next)));
            }
            out.push(Out { by: By::Publisher(part), number, block: block.clone() });
        }
        self.program.allows_more |= out.is_empty();
        self.program.handed_out.insert(self.program.steps.len(), out);
        self.push(point, at, Op::Set(sets));
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
            let out = Out { by, number, block: Expr::rank() };
            self.program.handed_out.insert(self.program.steps.len(), vec![out]);
        }
        self.push(point, at, Op::Set(self.evaluator.takes(node).into_iter().collect()));
    }

    /// The value of a field of what a step sets a variable to, if that has been published.
    pub(super) fn field_handed(&self, field: Variable, value: NodeId) -> Option<Expr> {
        let Variable::Field(_, number) = field else { return None };
        self.evaluator.handed_field(value, number)?.expr()
    }
}
