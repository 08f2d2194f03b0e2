//! The steps of one thread: the graph without the branches that its rank decides, and without what concerns neither barriers nor
//! slots.

#![warn(clippy::wildcard_enum_match_arm)]

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::kernel::{Kernel, Point, Refusal};
use super::objects::{Objects, array_of, is_of_copy};
use super::value::{Counter, Evaluator, Value};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    AccessKind, BarrierCall, BlockId, CopyStep, CountedLoop, End, Extent, GroupStep, MemoryStep, NodeId, Region, Root,
    Select, Source, Step as GraphStep, StepKind, TokenStep, ValueStep,
};
use crate::model::barrier::{BarrierForm, PhaseAction, PhaseResult};
use crate::model::copy::CompletionMechanism;
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

struct Walker<'w, 'k, 'a, 'f> {
    evaluator: &'w Evaluator<'k, 'a, 'f>,
    objects: &'w Objects,
    sites: &'w Sites,
    program: Program,
    labels: BTreeMap<BlockId, usize>,
    /// The jumps and branches whose targets are blocks so far.
    targets: Vec<(usize, BlockId)>,
    open: Vec<BlockId>,
    pending: Vec<Pending>,
    /// The barrier of the copy that begins at the next step.
    copy_to: Option<usize>,
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
            match &mut walker.program.steps[step].op {
                Op::Jump(to) | Op::Branch { otherwise: to, .. } => *to = target,
                _ => {}
            }
        }
        // A counter that was found to be needed has to be set from the start on.
        if evaluator.counters.len() == known {
            return Ok(walker.program);
        }
    }
}

impl<'a, 'f> Walker<'_, '_, 'a, 'f> {
    fn kernel(&self) -> &Kernel<'a, 'f> {
        self.evaluator.kernel
    }

    fn push(&mut self, point: Point, at: SpanRange, op: Op) {
        let id = self.sites.number(point, at);
        self.program.steps.push(Step { id, op });
    }

    /// Adds the steps from a block on, up to a block that has been added.
    fn chain(&mut self, mut block: BlockId) -> Result<(), Refusal> {
        loop {
            let content = &self.evaluator.kernel.cfg.blocks[block.0];
            let end = (block, content.steps.len());
            let at = content
                .end
                .condition()
                .map_or(SpanRange::at(self.kernel().function.name.span()), |on| self.kernel().at(on));
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
                let next = Expr::counter(counter).apply(Operator::Add, Expr::constant(by));
                let at = SpanRange::at(self.kernel().function.name.span());
                self.push((from, cfg.blocks[from.0].steps.len()), at, Op::Set(vec![(counter, next)]));
            }
        }
        let head =
            cfg.counted.iter().find(|(head, counted)| counted.before == from && (**head == to || counted.inside == to));
        if let Some((head, _)) = head
            && let Some(counter) = self.evaluator.counters.get(Counter::Iterations(*head))
        {
            let begun = i64::from(*head != to);
            let at = SpanRange::at(self.kernel().function.name.span());
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
        if let (Some(start), Some(end), 1) = (start.expr(), end.expr(), by)
            && !start.has_counters()
            && !end.has_counters()
        {
            let counter = self.evaluator.counters.number(Counter::Iterations(block));
            let next = Expr::counter(counter).apply(Operator::Add, start);
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
        let Some((arms, Some(end))) = kernel.regions.get(&block) else { return Ok(None) };
        let steps = |block: BlockId| kernel.cfg.blocks[block.0].steps.iter();
        let leaves = |block: BlockId| matches!(kernel.cfg.blocks[block.0].end, End::Leave);
        if arms.iter().any(|block| leaves(block) || steps(block).any(|step| self.is_relevant(step))) {
            return Ok(None);
        }
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
        match &step.kind {
            StepKind::BarrierCall(call) => {
                let call = &self.kernel().cfg.barrier_calls[call.0];
                !matches!(call.method.action, PhaseAction::Init | PhaseAction::InitCollective)
            }
            StepKind::Copy(_) => true,
            StepKind::Group(GroupStep::Collective { team, barrier, .. }) => *barrier && !team.group.is_of_a_warp(),
            StepKind::Group(
                GroupStep::Arrive { .. }
                | GroupStep::Wait { .. }
                | GroupStep::ArriveForgotten { .. }
                | GroupStep::WaitElected { .. },
            ) => true,
            StepKind::Call(call) => !self.kernel().cfg.calls[call.0].barriers.is_empty(),
            StepKind::Value(ValueStep::Set { variable, .. }) => {
                self.evaluator.counters.get(Counter::Variable(*variable)).is_some()
            }
            StepKind::Value(ValueStep::Evaluate(_) | ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(_)
            | StepKind::Group(GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_))
            | StepKind::Token(_) => false,
        }
    }

    fn step(&mut self, point: Point, step: &GraphStep) -> Result<(), Refusal> {
        let at = step.at;
        match &step.kind {
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
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
                let call = &self.kernel().cfg.calls[call.0];
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
        if is_of_copy(self.kernel(), access.at) {
            return Ok(());
        }
        if !certain {
            self.program.uncertain.insert(array);
        }
        let index = self.slot_index(&access.region, point, step.at)?;
        let fills = match access.kind {
            AccessKind::Read | AccessKind::AtomicRead => false,
            AccessKind::Write
            | AccessKind::Atomic
            | AccessKind::Lent
            | AccessKind::AsyncWrite
            | AccessKind::Opaque
            | AccessKind::ByClosure => true,
        };
        match self.pending.iter_mut().find(|pending| pending.array == array && pending.index == index) {
            Some(pending) => pending.fills |= fills,
            None => self.pending.push(Pending { array, index, fills, point, at: step.at }),
        }
        Ok(())
    }

    fn slot_index(&self, region: &Region, point: Point, at: SpanRange) -> Result<Expr, Refusal> {
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
    fn flush(&mut self) {
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

    fn element(&self, region: &Region, point: Point, at: SpanRange) -> Result<Element, Refusal> {
        let array = array_of(region).and_then(|array| self.objects.barrier(array));
        let array = array.ok_or_else(|| Refusal::new(at, "the text does not show which barrier this is"))?;
        let index = match region.path.first() {
            None => Some(Expr::constant(0)),
            Some(Select::At(index)) => self.evaluator.value(*index, point).expr(),
            Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) => None,
        };
        let index = index.ok_or_else(|| Refusal::new(at, "the barrier's index is not a function of the round"))?;
        Ok(Element { array, index })
    }

    fn operand(&self, call: &BarrierCall, point: Point) -> Value {
        call.operands.last().map_or(Value::Unknown, |operand| self.evaluator.value(*operand, point))
    }

    fn number(&self, call: &BarrierCall, point: Point) -> Result<u32, Refusal> {
        let number = self.operand(call, point).known().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| Refusal::new(call.at, "the number is not known where the kernel is compiled"))
    }

    fn barrier_call(&mut self, point: Point, index: usize) -> Result<(), Refusal> {
        let kernel = self.evaluator.kernel;
        let call = &kernel.cfg.barrier_calls[index];
        let at = call.at;
        if call.method.action.begins() {
            return Ok(());
        }
        self.flush();
        let barrier = self.element(&call.region, point, at)?;
        let block = match (call.region.root, call.region.rank) {
            (Root::Remote(_), Some(rank)) => self.evaluator.value(rank, point).expr(),
            (Root::Remote(_), None) => None,
            _ => Some(Expr::rank()),
        };
        let block = block.ok_or_else(|| Refusal::new(at, "the peer's rank is not a function of the block's"))?;
        let remote = call.barrier.form == BarrierForm::Remote;
        let token = !remote && call.method.result == PhaseResult::Token && self.is_waited_for(call);
        let arrive = |barrier, count, drops, token| Op::Arrive { barrier, block, count, drops, token };
        let op = match call.method.action {
            PhaseAction::Arrive => arrive(barrier, 1, false, token),
            PhaseAction::ArriveN => arrive(barrier, self.number(call, point)?, false, token),
            PhaseAction::ArriveAndDrop => arrive(barrier, 1, true, false),
            PhaseAction::ArriveAndWait => {
                self.push(point, at, arrive(barrier.clone(), 1, false, true));
                Op::WaitToken { barrier }
            }
            PhaseAction::Wait => {
                self.check_token(call, point)?;
                Op::WaitToken { barrier }
            }
            PhaseAction::WaitParity => match self.operand(call, point).expr() {
                Some(parity) => Op::Wait { barrier, parity },
                None => return Err(Refusal::new(at, "the parity is not a function of the round")),
            },
            PhaseAction::ExpectTx => Op::Expect { barrier, bytes: self.number(call, point)? },
            PhaseAction::Copy => {
                let next = kernel.cfg.blocks[point.0.0].steps.get(point.1 + 1);
                if !next.is_some_and(|next| matches!(next.kind, StepKind::Copy(_))) {
                    return Err(Refusal::new(at, "the copy writes a peer's memory"));
                }
                self.copy_to = Some(index);
                return Ok(());
            }
            PhaseAction::TryWait => return Err(Refusal::new(at, "the thread tests whether a phase is over")),
            PhaseAction::Invalidate | PhaseAction::Init | PhaseAction::InitCollective => return Ok(()),
        };
        self.push(point, at, op);
        Ok(())
    }

    /// Whether some wait takes the token of an arrival.
    fn is_waited_for(&self, arrival: &BarrierCall) -> bool {
        let cfg = self.kernel().cfg;
        cfg.barrier_calls
            .iter()
            .any(|call| call.method.action == PhaseAction::Wait && array_of(&call.region) == array_of(&arrival.region))
    }

    /// Checks that the token of a wait is that of the thread's last arrival at the barrier.
    fn check_token(&self, wait: &BarrierCall, point: Point) -> Result<(), Refusal> {
        let kernel = self.kernel();
        let refuse = || Refusal::new(wait.at, "the token need not be that of the thread's last arrival");
        let token = wait.operands.first().map(|token| kernel.cfg.origin(*token)).ok_or_else(refuse)?;
        let arrival = kernel.cfg.barrier_calls.iter().find(|call| call.result == token).ok_or_else(refuse)?;
        let from = kernel.evaluated(token).ok_or_else(refuse)?;
        let others = kernel.cfg.barrier_calls.iter().filter(|call| {
            call.method.action.arrives()
                && array_of(&call.region) == array_of(&wait.region)
                && call.result != arrival.result
        });
        let between = |other: &BarrierCall| match kernel.evaluated(other.result) {
            Some((block, index)) if from.0 == point.0 => block == from.0 && from.1 < index && index < point.1,
            Some(_) | None => true,
        };
        let is_between = others.into_iter().any(between);
        if is_between || array_of(&arrival.region) != array_of(&wait.region) { Err(refuse()) } else { Ok(()) }
    }

    fn copy(&mut self, point: Point, index: usize) -> Result<(), Refusal> {
        let kernel = self.evaluator.kernel;
        let call = self.copy_to.take().map(|call| &kernel.cfg.barrier_calls[call]);
        match &kernel.cfg.copies[index] {
            CopyStep::Begin { writes: Some(region), completion: CompletionMechanism::Barrier, at, .. } => {
                let is_cooperative = |step: &GraphStep| match step.kind {
                    StepKind::Group(GroupStep::Collective { name, .. }) => {
                        name == "memcpy_async" && step.at.line() == at.line() && step.at.column() == at.column()
                    }
                    _ => false,
                };
                if kernel.cfg.blocks[point.0.0].steps.iter().any(is_cooperative) {
                    return Err(Refusal::new(*at, "threads copy together"));
                }
                let slot = array_of(region).and_then(|array| self.objects.slot(array));
                let (Some(call), Some((array, slot))) = (call, slot) else {
                    return Err(Refusal::new(*at, "the accesses of what the copy writes are not followed"));
                };
                let bytes = u32::try_from(slot.bytes).ok().filter(|_| region.path.len() == usize::from(slot.rows));
                let Some(bytes) = bytes else {
                    return Err(Refusal::new(*at, "the copy writes a part of the array"));
                };
                let slot = Element { array, index: self.slot_index(region, point, *at)? };
                let barrier = self.element(&call.region, point, *at)?;
                self.flush();
                self.push(point, *at, Op::Copy { slot, barrier, block: Expr::rank(), bytes, data: Data::Fixed(0) });
            }
            CopyStep::Begin { completion: CompletionMechanism::Barrier, at, .. } => {
                return Err(Refusal::new(*at, "the copy writes a peer's memory"));
            }
            CopyStep::Begin { reads: Some(region), completion: CompletionMechanism::BulkGroup, at, .. } => {
                if let Some((array, _)) = array_of(region).and_then(|array| self.objects.slot(array)) {
                    let slot = Element { array, index: self.slot_index(region, point, *at)? };
                    self.flush();
                    self.push(point, *at, Op::Store { slot });
                }
            }
            CopyStep::Wait { completion: CompletionMechanism::BulkGroup, but } => {
                let but = but.and_then(|but| kernel.constants.of(kernel.function, but));
                let at = kernel.cfg.blocks[point.0.0].steps[point.1].at;
                match but.and_then(|but| u32::try_from(but).ok()) {
                    Some(but) => {
                        self.flush();
                        self.push(point, at, Op::WaitStores { but });
                    }
                    None => self.program.allows_more = true,
                }
            }
            // No slot is accessed by such a copy.
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => {}
        }
        Ok(())
    }
}
