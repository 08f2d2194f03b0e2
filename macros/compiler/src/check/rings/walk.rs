//! The steps of one thread: the graph without the branches that its rank decides, and without what concerns neither barriers nor
//! slots.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::decision::{ByHand, Decision, Key, Looked};
use super::kernel::{Kernel, Point, Refusal, is_warp, is_within_warp};
use super::objects::Objects;
use super::out::Out;
use super::value::{Evaluator, Value};
use phalanx_contract::uniformity::Uniformity;

use crate::check::cfg::{
    AccessId, BlockId, End, Extent, GroupStep, MemoryStep, NodeId, Source, Step as GraphStep, StepKind, TokenStep,
    ValueStep,
};
use crate::model::group::Group;
use crate::rings::{Among, Condition, Expr, Op, Step};
use crate::span::SpanRange;

/// The places of the steps of a skeleton, by the number of the step.
#[derive(Debug, Default)]
pub(super) struct Sites {
    all: RefCell<Vec<(Point, SpanRange)>>,
    /// What the constants of branches say, by number.
    constants: RefCell<Vec<String>>,
}

impl Sites {
    pub(super) fn number(&self, point: Point, at: SpanRange) -> u32 {
        let mut all = self.all.borrow_mut();
        let known = all.iter().position(|(known, _)| *known == point);
        let number = known.unwrap_or_else(|| {
            all.push((point, at));
            all.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// The number of what stays the same while the kernel runs, by what it says.
    pub(super) fn constant(&self, says: String) -> u32 {
        let mut all = self.constants.borrow_mut();
        let known = all.iter().position(|known| *known == says);
        let number = known.unwrap_or_else(|| {
            all.push(says);
            all.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    pub(super) fn point(&self, number: u32) -> Option<Point> {
        self.all.borrow().get(number as usize).map(|(point, _)| *point)
    }

    pub(super) fn at(&self, number: u32) -> Option<SpanRange> {
        self.all.borrow().get(number as usize).map(|(_, at)| *at)
    }
}

/// The steps of a thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    /// What each shared decision is about, by its index among the steps.
    pub(super) keys: BTreeMap<usize, Vec<Key>>,
    /// The block whose end makes each shared decision.
    pub(super) decided_at: BTreeMap<usize, BlockId>,
    /// The branches that look ahead.
    pub(super) looked: BTreeMap<usize, Looked>,
    /// The indexes of the steps at which the thread's warp meets: they do nothing else.
    pub(super) meetings: BTreeSet<usize>,
    /// The numbers of those that order nothing: what a lane did before them need not be over when another goes on.
    pub(super) unordered: BTreeSet<u32>,
    /// Whether the warp meets beside accesses of slots where a branch is passed over: their order is not kept.
    pub(super) meets_aside: bool,
    /// The numbers of the steps that one lane takes before its warp has come so far.
    pub(super) early: BTreeSet<u32>,
    /// Whether the steps lack something that keeps the kernel from some of their runs.
    pub(super) allows_more: bool,
    /// The shared arrays with an access that may not be made.
    pub(super) uncertain: BTreeSet<usize>,
    /// The numbers that the thread hands out, by the index of the step.
    pub(super) handed_out: BTreeMap<usize, Vec<Out>>,
    /// By array of slots, the number of threads in the groups that copy to it together; none for all of the block.
    pub(super) together: BTreeMap<u32, BTreeSet<Option<u64>>>,
}

impl Program {
    /// Returns the step that follows the jumps from one on, if they do not go round.
    pub(super) fn behind_jumps(&self, mut at: usize) -> Option<usize> {
        for _ in 0..=self.steps.len() {
            match self.steps.get(at).map(|step| &step.op) {
                Some(Op::Jump(to)) => at = *to,
                _ => return Some(at),
            }
        }
        None
    }
}

/// A thread's accesses of a slot since its last step.
pub(super) struct Pending {
    pub(super) array: usize,
    pub(super) index: Expr,
    /// The rank of the block whose array it is.
    pub(super) block: Expr,
    pub(super) fills: bool,
    /// The first of the accesses.
    pub(super) access: AccessId,
    pub(super) point: Point,
    pub(super) at: SpanRange,
}

/// What control does at the end of a block.
pub(super) enum Next {
    Goes(BlockId),
    Decides { decision: Box<Decision>, then: BlockId, otherwise: BlockId },
    Ends,
}

pub(super) struct Walker<'w, 'k, 'a, 'f> {
    pub(super) evaluator: &'w Evaluator<'k, 'a, 'f>,
    pub(super) objects: &'w Objects,
    pub(super) sites: &'w Sites,
    pub(super) program: Program,
    /// The step that each block begins with that the thread has come to.
    pub(super) labels: Box<[Option<usize>]>,
    /// The jumps and branches whose targets are blocks so far.
    pub(super) targets: Vec<(usize, BlockId)>,
    pub(super) open: Vec<BlockId>,
    /// The blocks that the thread is certain to come to on arms that were passed over.
    pub(super) passed_over: BTreeSet<BlockId>,
    pub(super) pending: Vec<Pending>,
    /// The barrier of the copy that begins at the next step.
    pub(super) copy_to: Option<usize>,
    /// The group at whose split barrier the thread has arrived.
    pub(super) arrived: Option<Group>,
}

/// Follows a thread through the graph.
pub(super) fn walk(evaluator: &Evaluator<'_, '_, '_>, objects: &Objects, sites: &Sites) -> Result<Program, Refusal> {
    loop {
        let known = evaluator.counters.found();
        let mut walker = Walker {
            evaluator,
            objects,
            sites,
            program: Program::default(),
            labels: vec![None; evaluator.kernel.cfg.blocks.len()].into(),
            targets: Vec::new(),
            open: vec![evaluator.kernel.cfg.entry],
            passed_over: BTreeSet::new(),
            pending: Vec::new(),
            copy_to: None,
            arrived: None,
        };
        while let Some(block) = walker.open.pop() {
            if walker.labels[block.0].is_none() {
                walker.chain(block)?;
            }
        }
        for (step, block) in std::mem::take(&mut walker.targets) {
            let target = walker.labels[block.0].unwrap_or(usize::MAX);
            if let Op::Jump(to) | Op::Branch { otherwise: to, .. } = &mut walker.program.steps[step].op {
                *to = target;
            }
        }
        // A counter that was found to be needed has to be set from the start on, and one that was lost is none.
        if evaluator.counters.found() == known {
            return Ok(walker.program);
        }
    }
}

impl<'a, 'f> Walker<'_, '_, 'a, 'f> {
    pub(super) fn kernel(&self) -> &Kernel<'a, 'f> {
        self.evaluator.kernel
    }

    /// Whether the thread has come to a block.
    pub(super) fn has_come_to(&self, block: BlockId) -> bool {
        self.labels[block.0].is_some() || self.passed_over.contains(&block)
    }

    pub(super) fn push(&mut self, point: Point, at: SpanRange, op: Op) {
        self.between_split(&op);
        let id = self.sites.number(point, at);
        self.program.steps.push(Step { id, op });
    }

    /// Adds the steps from a block on, up to a block that has been added.
    fn chain(&mut self, mut block: BlockId) -> Result<(), Refusal> {
        loop {
            let content = &self.evaluator.kernel.cfg.blocks[block.0];
            let end = (block, content.steps.len());
            let at = content.end.condition().map_or(self.kernel().whole(), |on| self.kernel().at(on));
            if self.labels[block.0].is_some() {
                self.targets.push((self.program.steps.len(), block));
                self.push(end, at, Op::Jump(usize::MAX));
                return Ok(());
            }
            self.labels[block.0] = Some(self.program.steps.len());
            self.steps_of(block, at)?;
            match self.next(block)? {
                Next::Ends => {
                    self.push(end, at, Op::Leave);
                    return Ok(());
                }
                Next::Goes(next) => {
                    self.count(block, next);
                    block = self.enter(block, next, (end, at))?;
                }
                Next::Decides { decision, then, otherwise } => {
                    if [then, otherwise].iter().any(|next| self.kernel().cfg.counted.contains_key(next)) {
                        return Err(Refusal::new(at, "a loop is repeated from the middle of a condition"));
                    }
                    self.decide(end, at, *decision, otherwise);
                    self.open.push(otherwise);
                    block = then;
                }
            }
        }
    }

    /// Adds the steps of a block, without what control does at its end.
    pub(super) fn steps_of(&mut self, block: BlockId, at: SpanRange) -> Result<(), Refusal> {
        let kernel = self.evaluator.kernel;
        let steps = &kernel.cfg.blocks[block.0].steps;
        if kernel.cfg.assertions.iter().any(|assertion| assertion.at.0 == block) {
            for (index, step) in steps.iter().enumerate() {
                self.asserts((block, index), at)?;
                self.step((block, index), step)?;
            }
            self.asserts((block, steps.len()), at)?;
        } else {
            for (index, step) in kernel.acting(block) {
                self.step((block, index), step)?;
            }
        }
        self.flush();
        Ok(())
    }

    pub(super) fn next(&mut self, block: BlockId) -> Result<Next, Refusal> {
        let kernel = self.evaluator.kernel;
        let (on, then, otherwise) = match kernel.cfg.blocks[block.0].end {
            End::Never if self.evaluator.arguments.is_some() => {
                return Err(Refusal::of_arguments(kernel.whole(), "a thread fails"));
            }
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
        if let Some((_, over)) = self.poll(block) {
            return Ok(Next::Goes(over));
        }
        if self.evaluator.arguments.is_none()
            && let Some(waits) = self.waits_unless_over(block)
        {
            return Ok(Next::Goes(waits));
        }
        let point = (block, kernel.cfg.blocks[block.0].steps.len());
        let counted = kernel.cfg.counted.get(&block);
        let by_hand =
            if counted.is_some() || self.evaluator.arguments.is_some() { None } else { self.by_hand(block, on) };
        // What it takes to decide about a branch that is passed over need not be counted.
        let aside = Counters::default();
        let counts = |variable| self.evaluator.counter(variable).is_some();
        let passes_over = kernel.passes_over.get() && self.repeats(block);
        // With certain arguments, what counters decide is known, and so are the accesses that depend on it.
        let follows_accesses = self.evaluator.arguments.is_some() && !passes_over && self.accesses_slots(block);
        let is_aside = kernel.is_skipped(block, &counts) && !follows_accesses;
        let evaluator = if is_aside { self.evaluator.aside(&aside) } else { *self.evaluator };
        let (on, value) = match counted.is_some() || by_hand.is_some() {
            true => (on, Value::Unknown),
            false => {
                let on = evaluator.open_part(on, point);
                (on, evaluator.decisive(on, point))
            }
        };
        if !is_aside && value == Value::Unknown {
            self.lose_on_arms(block);
        }
        if let Some(known) = self.in_all_blocks(&value).or_else(|| self.by_data(on)) {
            return Ok(Next::Goes(if known { then } else { otherwise }));
        }
        // A thread that fails ends the launch.
        for (fails, goes_on) in [(then, otherwise), (otherwise, then)] {
            let is_end = matches!(kernel.cfg.blocks[fails.0].end, End::Never);
            if is_end && !kernel.acting(fails).any(|(_, step)| self.is_relevant(step)) {
                return Ok(Next::Goes(goes_on));
            }
        }
        // Where the block's rank alone decides, the blocks that take the other arm do not access what is on this one.
        let by_rank = matches!(&value, Value::Expr(on) if !on.has_counters());
        let follows_accesses = follows_accesses || by_rank && self.accesses_slots(block);
        if !(follows_accesses && matches!(value, Value::Expr(_)))
            && let Some(next) = self.skip(block)?
        {
            return Ok(Next::Goes(next));
        }
        if let Some(ByHand { key, inside: then, outside: otherwise, .. }) = by_hand {
            let keys = std::iter::once(key).chain(self.agreed(block, on).ok()).collect();
            let decision = Box::new(Decision::new(Condition::Shared, keys, None));
            return Ok(Next::Decides { decision, then, otherwise });
        }
        if let Some(counted) = counted
            && self.raise(block, counted)
        {
            return Ok(Next::Goes(otherwise));
        }
        if counted.is_none()
            && !matches!(value, Value::Expr(_))
            && let Some(next) = self.same_arms(block, [then, otherwise])
        {
            return Ok(Next::Goes(next));
        }
        let decision = match counted {
            Some(counted) => self.counted(block, on, counted)?,
            None => {
                let key = match value {
                    Value::Expr(expr) => {
                        let decision = Box::new(Decision::new(Condition::Counters(expr), Vec::new(), None));
                        return Ok(Next::Decides { decision, then, otherwise });
                    }
                    Value::Symbol(symbol) => Ok(Key::Form(format!("if {symbol}"))),
                    Value::Unknown => self.agreed(block, on),
                };
                if let Some((turn, holds)) = self.evaluator.turn(on, point) {
                    let decision = Box::new(Decision::new(Condition::Shared, vec![turn], None));
                    let (then, otherwise) = if holds { (then, otherwise) } else { (otherwise, then) };
                    return Ok(Next::Decides { decision, then, otherwise });
                }
                let keys = key.as_ref().ok().cloned().into_iter().collect();
                let looked = if self.evaluator.arguments.is_none() { self.looks_ahead(on, point, keys) } else { None };
                match looked {
                    Some((decision, true)) => decision,
                    Some((decision, false)) => {
                        let decision = Box::new(decision);
                        return Ok(Next::Decides { decision, then: otherwise, otherwise: then });
                    }
                    None => Decision::new(Condition::Shared, vec![key?], None),
                }
            }
        };
        Ok(Next::Decides { decision: Box::new(decision), then, otherwise })
    }

    /// Whether a branch is that of a loop, or a part of its condition.
    fn repeats(&self, block: BlockId) -> bool {
        let kernel = self.kernel();
        let repeats = |block: BlockId| kernel.on_arms(block).is_some_and(|on| on.repeats);
        let end = || kernel.regions.get(&block).and_then(|(_, end)| *end).filter(|end| repeats(*end));
        repeats(block) || end().is_some_and(|end| kernel.regions[&end].0.contains(block))
    }

    /// Whether a condition holds, if that is the same in all blocks of the cluster.
    fn in_all_blocks(&self, value: &Value) -> Option<bool> {
        if let Some(known) = value.known() {
            return Some(known != 0);
        }
        let Value::Expr(expr) = value else { return None };
        let in_block = |rank| if expr.has_counters() { None } else { Some(expr.value(&[], rank, 0).ok()? != 0) };
        let first = in_block(0)?;
        (1..i64::from(self.kernel().blocks)).all(|rank| in_block(rank) == Some(first)).then_some(first)
    }

    /// The key of a decision that nothing here explains, but that all threads of the scope take alike.
    pub(super) fn agreed(&self, block: BlockId, on: NodeId) -> Result<Key, Refusal> {
        let kernel = self.kernel();
        let (alike, key) = match kernel.cfg.blocks[block.0].end.condition() == Some(on) {
            true => (kernel.values.tested(block).is_uniform(kernel.scope()), Key::Branch(block)),
            false => (kernel.values.level(on).is_uniform(kernel.scope()), Key::Part(block, on)),
        };
        match alike && self.evaluator.arguments.is_none() {
            true => Ok(key),
            false => Err(Refusal::new(kernel.at(on), "a branch depends on data that threads need not share")),
        }
    }

    /// Whether a step concerns barriers, or a counter.
    pub(super) fn is_relevant(&self, step: &GraphStep) -> bool {
        let counts = |variable| self.evaluator.counter(variable).is_some();
        self.kernel().is_relevant(&step.kind, &counts)
    }

    fn step(&mut self, point: Point, step: &GraphStep) -> Result<(), Refusal> {
        let at = step.at;
        match &step.kind {
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                for field in self.evaluator.kernel.lost(point) {
                    let Some(counter) = self.evaluator.counter(*field) else { continue };
                    match self.field_handed(*field, *value) {
                        Some(number) => {
                            self.flush();
                            self.push(point, at, Op::Set(vec![(counter, number)]));
                        }
                        None => self.evaluator.lose(*field),
                    }
                }
                let Some(counter) = self.evaluator.counter(*variable) else { return Ok(()) };
                // The loop's head has done so.
                if matches!(self.kernel().cfg.nodes[value.0].source, Source::Counter { of, .. } if of == *variable) {
                    if self.evaluator.first(*variable).is_none() {
                        self.evaluator.lose(*variable);
                    }
                    return Ok(());
                }
                let value = match extent {
                    Extent::Whole => self.evaluator.set(*variable, *value, point),
                    Extent::Field | Extent::Part => Value::Unknown,
                };
                self.flush();
                match value.expr() {
                    Some(value) => self.push(point, at, Op::Set(vec![(counter, value)])),
                    // A running maximum, say. Only what depends on it may be a reason not to follow the thread.
                    None => self.evaluator.lose(*variable),
                }
            }
            StepKind::Memory(MemoryStep::Access(_)) => self.access(point, step, true)?,
            StepKind::Group(GroupStep::Collective { team, barrier, .. }) => match team.group {
                Group::ThreadBlock if *barrier => self.meet(point, at, Among::Block),
                Group::Cluster | Group::Grid if *barrier => self.meet(point, at, Among::Cluster),
                Group::ThreadBlock | Group::Cluster | Group::Grid => {}
                // A proof takes from a collective that is no barrier neither an order nor that lanes wait for each other, nor from one of
                // a part of a warp. A fault needs a run of the kernel alone, and where a warp is one actor, its lanes come to it together.
                Group::Tile if is_warp(team) && *barrier => self.meet_warp(point, at, true),
                Group::Tile | Group::Coalesced if is_within_warp(team) && self.evaluator.arguments.is_some() => {
                    self.meet_warp(point, at, *barrier);
                }
                // The waits of products are meetings, too (`copy`).
                Group::Tile if team.uniformity == Uniformity::Warpgroup => {}
                Group::Tile | Group::Coalesced => self.program.allows_more = true,
            },
            StepKind::Group(GroupStep::Arrive { group, method, .. }) => self.arrive_at_group(*group, method),
            StepKind::Group(GroupStep::Wait { group, .. }) => self.wait_at_group((point, at), *group),
            StepKind::Group(GroupStep::ArriveForgotten { .. } | GroupStep::WaitElected { .. }) => {
                self.program.allows_more = true;
            }
            StepKind::Group(GroupStep::Convergent { team, .. }) => match team.group {
                Group::Tile if team.uniformity == Uniformity::Warpgroup => {}
                Group::Tile | Group::Coalesced if is_within_warp(team) && self.evaluator.arguments.is_some() => {
                    self.meet_warp(point, at, false);
                }
                // No thread waits for another where they state that a value is the same.
                Group::ThreadBlock | Group::Cluster | Group::Grid => {}
                Group::Tile | Group::Coalesced => {
                    self.program.allows_more = true;
                }
            },
            StepKind::BarrierCall(call) => self.barrier_call(point, call.0)?,
            StepKind::Copy(copy) => self.copy(point, copy.0)?,
            StepKind::Call(id) => {
                let kernel = self.evaluator.kernel;
                let call = &kernel.cfg.calls[id.0];
                if kernel.pipelines.called(call).is_some() {
                    return self.pipeline_call(point, call);
                }
                if !call.barriers.is_empty() {
                    return Err(Refusal::new(at, "a device function is given the barrier"));
                }
                self.program.allows_more |= !kernel.is_taken_for_quiet(id.0);
            }
            StepKind::Value(ValueStep::Evaluate(node)) => {
                if self.kernel().hands(*node) {
                    self.take(point, *node, at);
                }
            }
            StepKind::Value(ValueStep::Name { .. } | ValueStep::Return(_))
            | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
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
}
