//! The steps of one thread: the graph without the branches that its rank decides, and without what concerns neither barriers nor
//! slots.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Kernel, Point, Refusal, is_warp};
use super::objects::{Objects, array_of};
use super::value::{Counter, Evaluator, Value};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessKind, BlockId, CountedLoop, End, Extent, GroupStep, MemoryStep, NodeId, Region, Select, Source,
    Step as GraphStep, StepKind, TokenStep, ValueStep, Variable,
};
use crate::model::expr::Callee;
use crate::model::group::Group;
use crate::rings::{Among, Condition, Data, Element, Expr, Op, Operator, Step};
use crate::span::SpanRange;

/// The largest number of iterations that is followed exactly where arguments are open. The iterations of longer loops are taken
/// to be open, too.
const LONGEST: i64 = 8;

/// The places of the steps of a skeleton, by the number of the step.
#[derive(Debug, Default)]
pub(super) struct Sites(RefCell<Vec<(Point, SpanRange)>>);

impl Sites {
    fn number(&self, point: Point, at: SpanRange) -> u32 {
        let mut all = self.0.borrow_mut();
        let known = all.iter().position(|(known, _)| *known == point);
        let number = known.unwrap_or_else(|| {
            all.push((point, at));
            all.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    pub(super) fn at(&self, number: u32) -> Option<SpanRange> {
        self.0.borrow().get(number as usize).map(|(_, at)| *at)
    }
}

/// What makes two decisions the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// All threads of the scope decide alike at this branch.
    Branch(BlockId),
    /// The canonical form of what is decided.
    Form(String),
}

/// The steps of a thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// What each shared decision is about, by its index among the steps.
    pub(super) keys: BTreeMap<usize, Vec<Key>>,
    /// The indexes of the steps at which the thread's warp meets: they do nothing else.
    pub(super) meetings: BTreeSet<usize>,
    /// Whether the steps lack something that keeps the kernel from some of their runs.
    pub(super) allows_more: bool,
    /// The shared arrays with an access that may not be made.
    pub(super) uncertain: BTreeSet<usize>,
}

/// A thread's accesses of a slot since its last step.
struct Pending {
    array: usize,
    index: Expr,
    fills: bool,
    point: Point,
    at: SpanRange,
}

/// What control does at the end of a block.
enum Next {
    Goes(BlockId),
    Decides { condition: Condition, keys: Vec<Key>, then: BlockId, otherwise: BlockId, counts: Option<u32> },
    Ends,
}

pub(super) struct Walker<'w, 'k, 'a, 'f> {
    pub(super) evaluator: &'w Evaluator<'k, 'a, 'f>,
    pub(super) objects: &'w Objects,
    sites: &'w Sites,
    pub(super) program: Program,
    labels: BTreeMap<BlockId, usize>,
    /// The jumps and branches whose targets are blocks so far.
    targets: Vec<(usize, BlockId)>,
    open: Vec<BlockId>,
    pending: Vec<Pending>,
    /// The barrier of the copy that begins at the next step.
    pub(super) copy_to: Option<usize>,
}

/// Follows a thread through the graph.
pub(super) fn walk(evaluator: &Evaluator<'_, '_, '_>, objects: &Objects, sites: &Sites) -> Result<Program, Refusal> {
    loop {
        let known = evaluator.counters.len();
        let mut walker = Walker {
            evaluator,
            objects,
            sites,
            program: Program::default(),
            labels: BTreeMap::new(),
            targets: Vec::new(),
            open: vec![evaluator.kernel.cfg.entry],
            pending: Vec::new(),
            copy_to: None,
        };
        while let Some(block) = walker.open.pop() {
            if !walker.labels.contains_key(&block) {
                walker.chain(block)?;
            }
        }
        for (step, block) in std::mem::take(&mut walker.targets) {
            let target = walker.labels.get(&block).copied().unwrap_or(usize::MAX);
            if let Op::Jump(to) | Op::Branch { otherwise: to, .. } = &mut walker.program.steps[step].op {
                *to = target;
            }
        }
        // A counter that was found to be needed has to be set from the start on.
        if evaluator.counters.len() == known {
            return Ok(walker.program);
        }
    }
}

impl<'a, 'f> Walker<'_, '_, 'a, 'f> {
    pub(super) fn kernel(&self) -> &Kernel<'a, 'f> {
        self.evaluator.kernel
    }

    pub(super) fn push(&mut self, point: Point, at: SpanRange, op: Op) {
        let id = self.sites.number(point, at);
        self.program.steps.push(Step { id, op });
    }

    /// Adds the steps from a block on, up to a block that has been added.
    fn chain(&mut self, mut block: BlockId) -> Result<(), Refusal> {
        loop {
            let content = &self.evaluator.kernel.cfg.blocks[block.0];
            let end = (block, content.steps.len());
            let at = content.end.condition().map_or(self.kernel().whole(), |on| self.kernel().at(on));
            if self.labels.contains_key(&block) {
                self.targets.push((self.program.steps.len(), block));
                self.push(end, at, Op::Jump(usize::MAX));
                return Ok(());
            }
            self.labels.insert(block, self.program.steps.len());
            for (index, step) in content.steps.iter().enumerate() {
                self.step((block, index), step)?;
            }
            self.flush();
            match self.next(block)? {
                Next::Ends => {
                    self.push(end, at, Op::Leave);
                    return Ok(());
                }
                Next::Goes(next) => {
                    self.count(block, next);
                    block = next;
                }
                Next::Decides { condition, keys, then, otherwise, counts } => {
                    if [then, otherwise].iter().any(|next| self.kernel().cfg.counted.contains_key(next)) {
                        return Err(Refusal::new(at, "a loop is repeated from the middle of a condition"));
                    }
                    let branch = self.program.steps.len();
                    self.targets.push((branch, otherwise));
                    self.program.keys.extend((!keys.is_empty()).then_some((branch, keys)));
                    self.push(end, at, Op::Branch { condition, otherwise: usize::MAX });
                    if let Some(counter) = counts {
                        let next = Expr::counter(counter).apply(Operator::Add, Expr::constant(1));
                        self.push(end, at, Op::Set(vec![(counter, next)]));
                    }
                    self.open.push(otherwise);
                    block = then;
                }
            }
        }
    }

    /// Counts where control comes to the head of a loop: resets the number of iterations of one that begins, and goes on to the next
    /// number of one that is repeated.
    fn count(&mut self, from: BlockId, to: BlockId) {
        let cfg = self.evaluator.kernel.cfg;
        if let Some(counted) = cfg.counted.get(&to).filter(|counted| counted.before != from) {
            let inside = &cfg.blocks[counted.inside.0].steps;
            let variable = inside.iter().find_map(|step| step.kind.set()).map(|(variable, ..)| variable);
            if let Some((variable, counter)) = variable
                .and_then(|variable| Some((variable, self.evaluator.counters.get(Counter::Variable(variable))?)))
                && let Some((_, by)) = self.evaluator.first(variable)
            {
                let now = Expr::counter(counter);
                // A range that is counted down may end at 0.
                let next = match by {
                    0.. => now.apply(Operator::Add, Expr::constant(by)),
                    _ => now.clone().apply(Operator::Sub, now.apply(Operator::Ne, Expr::constant(0))),
                };
                let at = self.kernel().whole();
                self.push((from, cfg.blocks[from.0].steps.len()), at, Op::Set(vec![(counter, next)]));
            }
        }
        let head =
            cfg.counted.iter().find(|(head, counted)| counted.before == from && (**head == to || counted.inside == to));
        if let Some((head, _)) = head
            && let Some(counter) = self.evaluator.counters.get(Counter::Iterations(*head))
        {
            let begun = i64::from(*head != to);
            let at = self.kernel().whole();
            let point = (from, cfg.blocks[from.0].steps.len());
            self.push(point, at, Op::Set(vec![(counter, Expr::constant(begun))]));
        }
    }

    fn next(&mut self, block: BlockId) -> Result<Next, Refusal> {
        let kernel = self.evaluator.kernel;
        let (on, then, otherwise) = match kernel.cfg.blocks[block.0].end {
            End::Never | End::Leave => return Ok(Next::Ends),
            End::Goto(next) => return Ok(Next::Goes(next)),
            End::Branch { on, then, otherwise } => (on, then, otherwise),
            End::Option { on, some, none, .. } => {
                return match self.skip(block)? {
                    Some(next) => Ok(Next::Goes(next)),
                    None if some == none => Ok(Next::Goes(some)),
                    None => Err(Refusal::new(kernel.at(on), "a branch depends on whether an `Option` holds a token")),
                };
            }
        };
        let point = (block, kernel.cfg.blocks[block.0].steps.len());
        let counted = kernel.cfg.counted.get(&block);
        let value = if counted.is_some() { Value::Unknown } else { self.evaluator.value(on, point) };
        if let Some(known) = value.known() {
            return Ok(Next::Goes(if known != 0 { then } else { otherwise }));
        }
        // A thread that fails ends the launch.
        for (fails, goes_on) in [(then, otherwise), (otherwise, then)] {
            let fails = &kernel.cfg.blocks[fails.0];
            if matches!(fails.end, End::Never) && !fails.steps.iter().any(|step| self.is_relevant(step)) {
                return Ok(Next::Goes(goes_on));
            }
        }
        if let Some(next) = self.skip(block)? {
            return Ok(Next::Goes(next));
        }
        let (condition, keys, counts) = match counted {
            Some(counted) => self.counted(block, on, counted)?,
            None => match value {
                Value::Expr(expr) => (Condition::Counters(expr), Vec::new(), None),
                Value::Symbol(symbol) => (Condition::Shared, vec![Key::Form(format!("if {symbol}"))], None),
                Value::Unknown => (Condition::Shared, vec![self.agreed(block, on)?], None),
            },
        };
        Ok(Next::Decides { condition, keys, then, otherwise, counts })
    }

    /// The key of a decision that nothing here explains, but that all threads of the scope take alike.
    fn agreed(&self, block: BlockId, on: NodeId) -> Result<Key, Refusal> {
        let kernel = self.kernel();
        let alike = kernel.values.tested(block).is_uniform(kernel.scope());
        match alike && self.evaluator.arguments.is_none() {
            true => Ok(Key::Branch(block)),
            false => Err(Refusal::new(kernel.at(on), "a branch depends on data that threads need not share")),
        }
    }

    /// The decision of a loop over a range.
    fn counted(
        &self,
        block: BlockId,
        on: NodeId,
        counted: &CountedLoop,
    ) -> Result<(Condition, Vec<Key>, Option<u32>), Refusal> {
        let kernel = self.kernel();
        let before = (counted.before, kernel.cfg.blocks[counted.before.0].steps.len());
        let value = |node| self.evaluator.value(node, before);
        let (start, end) = (value(counted.start), value(counted.end));
        let Some(by) = counted.by.map(i64::abs).filter(|by| *by > 0) else {
            return Ok((Condition::Shared, vec![self.agreed(block, on)?], None));
        };
        let more = i64::from(counted.inclusive);
        let iterations = |length: i64| (length + more).max(0).checked_add(by - 1).map(|length| length / by);
        let length = end.symbol().zip(start.symbol()).and_then(|(end, start)| end.plus(-1, &start));
        match length.as_ref().and_then(|length| length.known()) {
            Some(length) if self.evaluator.arguments.is_none() && length > LONGEST => {
                let form = format!("for {}", iterations(length).unwrap_or(0));
                return Ok((Condition::Shared, vec![Key::Form(form)], None));
            }
            Some(length) => {
                let counter = self.evaluator.counters.number(Counter::Iterations(block));
                let most = Expr::constant(iterations(length).unwrap_or(0));
                let condition = Condition::Counters(Expr::counter(counter).apply(Operator::Lt, most));
                return Ok((condition, Vec::new(), Some(counter)));
            }
            None => {}
        }
        if let Some(length) = length {
            let form = format!("for {length} by {by} and {more}");
            let keys = std::iter::once(Key::Form(form)).chain(self.agreed(block, on).ok());
            return Ok((Condition::Shared, keys.collect(), None));
        }
        if let (Some(start), Some(end)) = (start.expr(), end.expr())
            && !start.has_counters()
            && !end.has_counters()
        {
            let counter = self.evaluator.counters.number(Counter::Iterations(block));
            let next = Expr::counter(counter).apply(Operator::Mul, Expr::constant(by)).apply(Operator::Add, start);
            let condition =
                Condition::Counters(next.apply(Operator::Lt, end.apply(Operator::Add, Expr::constant(more))));
            return Ok((condition, Vec::new(), Some(counter)));
        }
        Ok((Condition::Shared, vec![self.agreed(block, on)?], None))
    }

    /// Returns the block where the arms of a branch have merged if nothing on them concerns barriers. What they access is taken to be
    /// accessed.
    fn skip(&mut self, block: BlockId) -> Result<Option<BlockId>, Refusal> {
        let kernel = self.evaluator.kernel;
        let counts = |variable| self.evaluator.counters.get(Counter::Variable(variable)).is_some();
        let Some((arms, Some(end))) = kernel.regions.get(&block).filter(|_| kernel.is_skipped(block, &counts)) else {
            return Ok(None);
        };
        let (arms, end): (BlockSet, BlockId) = (arms.clone(), *end);
        for arm in arms.iter() {
            for (index, step) in kernel.cfg.blocks[arm.0].steps.iter().enumerate() {
                if let StepKind::Memory(MemoryStep::Access(_)) = step.kind {
                    self.access((arm, index), step, false)?;
                }
                if let StepKind::Call(call) = step.kind {
                    self.program.allows_more |= matches!(kernel.cfg.calls[call.0].callee, Callee::Function(_));
                }
                self.program.allows_more |= matches!(step.kind, StepKind::Group(GroupStep::Collective { .. }));
            }
        }
        self.flush();
        Ok(Some(end))
    }

    /// Whether a step concerns barriers, or a counter.
    fn is_relevant(&self, step: &GraphStep) -> bool {
        let counts = |variable| self.evaluator.counters.get(Counter::Variable(variable)).is_some();
        self.kernel().is_relevant(&step.kind, &counts)
    }

    fn step(&mut self, point: Point, step: &GraphStep) -> Result<(), Refusal> {
        let at = step.at;
        match &step.kind {
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                let is_counter = |field: &Variable| self.evaluator.counters.get(Counter::Variable(*field)).is_some();
                if self.kernel().lost(point).iter().any(is_counter) {
                    return Err(Refusal::new(
                        at,
                        "stages or parities depend on a field that is set in an unknown way here",
                    ));
                }
                let Some(counter) = self.evaluator.counters.get(Counter::Variable(*variable)) else { return Ok(()) };
                // The loop's head has done so.
                if matches!(self.kernel().cfg.nodes[value.0].source, Source::Counter { of, .. } if of == *variable) {
                    return match self.evaluator.first(*variable) {
                        Some(_) => Ok(()),
                        None => Err(Refusal::new(at, "the numbers of a loop do not begin at a known one")),
                    };
                }
                let value = match extent {
                    Extent::Whole => self.evaluator.set(*variable, *value, point),
                    Extent::Field | Extent::Part => Value::Unknown,
                };
                self.flush();
                match value.expr() {
                    Some(value) => self.push(point, at, Op::Set(vec![(counter, value)])),
                    None => {
                        return Err(Refusal::new(
                            at,
                            "a value that stages or parities depend on is not counted by rounds",
                        ));
                    }
                }
            }
            StepKind::Memory(MemoryStep::Access(_)) => self.access(point, step, true)?,
            StepKind::Group(GroupStep::Collective { team, barrier, .. }) => match team.group {
                Group::ThreadBlock if *barrier => self.meet(point, at, Among::Block),
                Group::Cluster | Group::Grid if *barrier => self.meet(point, at, Among::Cluster),
                Group::ThreadBlock | Group::Cluster | Group::Grid => {}
                Group::Tile if *barrier && is_warp(team) => {
                    self.flush();
                    self.program.meetings.insert(self.program.steps.len());
                    self.push(point, at, Op::Set(Vec::new()));
                }
                Group::Tile | Group::Coalesced => self.program.allows_more = true,
            },
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::Wait { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::WaitElected { .. }
                | GroupStep::Convergent { .. },
            ) => self.program.allows_more = true,
            StepKind::BarrierCall(call) => self.barrier_call(point, call.0)?,
            StepKind::Copy(copy) => self.copy(point, copy.0)?,
            StepKind::Call(call) => {
                let kernel = self.evaluator.kernel;
                let call = &kernel.cfg.calls[call.0];
                if kernel.pipelines.called(call).is_some() {
                    return self.pipeline_call(point, call);
                }
                if !call.barriers.is_empty() {
                    return Err(Refusal::new(at, "a device function is given the barrier"));
                }
                // It may synchronize the block.
                self.program.allows_more |= matches!(call.callee, Callee::Function(_));
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence)
            | StepKind::Group(GroupStep::Aligned { .. } | GroupStep::FormGroup(_))
            | StepKind::Token(
                TokenStep::Move { .. }
                | TokenStep::HandOver { .. }
                | TokenStep::Forget { .. }
                | TokenStep::Clear { .. }
                | TokenStep::Drop { .. },
            ) => {}
        }
        Ok(())
    }

    fn meet(&mut self, point: Point, at: SpanRange, among: Among) {
        self.flush();
        let meeting = self.sites.number(point, at);
        self.push(point, at, Op::Sync { meeting, among });
    }

    /// Notes an access of a slot, which is `certain` if the thread makes it whenever it comes here.
    fn access(&mut self, point: Point, step: &GraphStep, certain: bool) -> Result<(), Refusal> {
        let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return Ok(()) };
        let access = &self.evaluator.kernel.cfg.accesses[id.0];
        let Some(array) = array_of(&access.region).filter(|array| self.objects.slot(*array).is_some()) else {
            return Ok(());
        };
        // A copy accesses the slot when it lands, not where it begins.
        if access.completion.is_some() {
            return Ok(());
        }
        let fills = match access.kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write
            | AccessKind::Atomic
            | AccessKind::Lent
            | AccessKind::AsyncWrite
            | AccessKind::Opaque
            | AccessKind::ByClosure => true,
        };
        // In a run with certain arguments, what need not be read is not.
        if !certain && self.evaluator.arguments.is_some() {
            if fills {
                self.program.uncertain.insert(array);
            } else {
                return Ok(());
            }
        }
        let index = self.slot_index(&access.region, point, step.at)?;
        match self.pending.iter_mut().find(|pending| pending.array == array && pending.index == index) {
            Some(pending) => pending.fills |= fills,
            None => self.pending.push(Pending { array, index, fills, point, at: step.at }),
        }
        Ok(())
    }

    pub(super) fn slot_index(&self, region: &Region, point: Point, at: SpanRange) -> Result<Expr, Refusal> {
        let slot = array_of(region).and_then(|array| self.objects.slot(array));
        if slot.is_some_and(|(_, slot)| !slot.rows) {
            return Ok(Expr::constant(0));
        }
        let index = match region.path.first() {
            Some(Select::At(index)) => self.evaluator.value(*index, point).expr(),
            Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None => None,
        };
        index.ok_or_else(|| Refusal::new(at, "the row is not a function of the round"))
    }

    /// Adds the accesses since the last step.
    pub(super) fn flush(&mut self) {
        for Pending { array, index, fills, point, at } in std::mem::take(&mut self.pending) {
            let Some((array, _)) = self.objects.slot(array) else { continue };
            let (slot, data) = (Element { array, index }, Data::Fixed(0));
            let (begin, end) = match fills {
                true => (Op::BeginFill { slot: slot.clone(), data }, Op::EndFill { slot }),
                false => (Op::BeginRead { slot: slot.clone(), data }, Op::EndRead { slot }),
            };
            self.push(point, at, begin);
            self.push(point, at, end);
        }
    }
}
