//! Tests whether a phase is over: loops that ask until it is are waits, and so is a test with a wait for the case that it is not. Other tests decide
//! which way a thread takes: one on which the phase is over, or one on which it may not be.

use std::collections::BTreeSet;

use super::counters::Counter;
use super::kernel::{Kernel, Point, Refusal, array_of, is_by_parity};
use super::value::{Evaluator, Value};
use super::walk::Walker;
use crate::check::cfg::{
    AccessKind, BarrierCall, BlockId, CountedLoop, End, MemoryStep, NodeId, Source, Step, StepKind,
};
use crate::model::barrier::PhaseAction;
use crate::rings::{Condition, Element, Expr, Op};

impl Kernel<'_, '_> {
    /// The number of the test whose answer a node is.
    pub(super) fn answers(&self, node: NodeId) -> Option<usize> {
        self.tested.get(&node).copied()
    }

    /// Whether a thread may come to a test again before it arrives anew. A test that asks about one token again and again has too many runs to
    /// follow.
    pub(super) fn asks_again(&self, test: &BarrierCall, block: BlockId) -> bool {
        let arrives = |block: BlockId| {
            self.cfg.blocks[block.0].steps.iter().any(|step| match step.kind {
                StepKind::BarrierCall(call) => {
                    let call = &self.cfg.barrier_calls[call.0];
                    call.method.action.arrives() && array_of(&call.region) == array_of(&test.region)
                }
                StepKind::Value(_)
                | StepKind::Memory(_)
                | StepKind::Group(_)
                | StepKind::Token(_)
                | StepKind::Copy(_)
                | StepKind::Call(_) => false,
            })
        };
        // From one block to another, not by way of those that stop it.
        let leads = |from: BlockId, to: BlockId, stops: &dyn Fn(BlockId) -> bool| {
            let mut seen: BTreeSet<BlockId> = BTreeSet::new();
            let mut work: Vec<BlockId> = self.cfg.blocks[from.0].end.successors().collect();
            while let Some(next) = work.pop() {
                if next == to {
                    return true;
                }
                if !stops(next) && seen.insert(next) {
                    work.extend(self.cfg.blocks[next.0].end.successors());
                }
            }
            false
        };
        let is_within = |head: BlockId, counted: &CountedLoop, inner: BlockId| {
            let leaves = |block: BlockId| block == head || block == counted.before;
            (counted.inside == inner || leads(counted.inside, inner, &leaves)) && leads(inner, head, &leaves)
        };
        let around = self.cfg.counted.iter().filter(|(head, counted)| is_within(**head, counted, block));
        let around: Vec<(BlockId, &CountedLoop)> = around.map(|(head, counted)| (*head, counted)).collect();
        let is_innermost = |(head, counted): &&(BlockId, &CountedLoop)| {
            !around.iter().any(|(other, _)| other != head && is_within(*head, counted, *other))
        };
        // The rounds of a loop that may arrive are not those of one that only asks.
        let may_arrive = around.iter().find(is_innermost).is_some_and(|(head, counted)| {
            (0..self.cfg.blocks.len()).map(BlockId).any(|block| arrives(block) && is_within(*head, counted, block))
        });
        !may_arrive && !arrives(block) && leads(block, block, &arrives)
    }
}

impl Evaluator<'_, '_, '_> {
    /// The answer of a test, with certain arguments.
    pub(super) fn answer(&self, node: NodeId) -> Option<Value> {
        self.arguments?;
        let test = self.kernel.answers(node)?;
        Some(Value::Expr(Expr::counter(self.counters.number(Counter::Tested(test)))))
    }
}

impl Walker<'_, '_, '_, '_> {
    /// Adds the steps of a test whose answer, with certain arguments, a thread keeps: it is that of the moment. One that nobody asks for
    /// is none.
    pub(super) fn test(&mut self, point: Point, index: usize, barrier: Element) -> Result<(), Refusal> {
        let call = &self.evaluator.kernel.cfg.barrier_calls[index];
        let Some(answer) = self.evaluator.counters.get(Counter::Tested(index)) else { return Ok(()) };
        let condition = match is_by_parity(call) {
            true => {
                let parity = call.operands.last().and_then(|parity| self.evaluator.decisive(*parity, point).expr());
                let parity =
                    parity.ok_or_else(|| Refusal::new(call.at, "the parity is not a function of the round"))?;
                Condition::Over { barrier, parity }
            }
            false => {
                self.check_token(call, point)?;
                Condition::Past { barrier }
            }
        };
        let begin = self.program.steps.len();
        let is = |answers: i64| Op::Set(vec![(answer, Expr::constant(answers))]);
        self.push(point, call.at, Op::Branch { condition, otherwise: begin + 3 });
        self.push(point, call.at, is(1));
        self.push(point, call.at, Op::Jump(begin + 4));
        self.push(point, call.at, is(0));
        Ok(())
    }

    /// If a block asks, again and again, whether a phase is over, and does nothing else meanwhile that concerns others: the number of the
    /// test, and where control goes when it is.
    pub(super) fn poll(&self, block: BlockId) -> Option<(usize, BlockId)> {
        let cfg = self.kernel().cfg;
        let End::Branch { on, then, otherwise } = cfg.blocks[block.0].end else { return None };
        let acting = self.kernel().acting(block).map(|(_, step)| step);
        let mut relevant = acting.filter(|step| self.is_relevant(step));
        let (Some(step), None) = (relevant.next(), relevant.next()) else { return None };
        let StepKind::BarrierCall(call) = step.kind else { return None };
        let (over, again) = match self.is_over(on, &cfg.barrier_calls[call.0])? {
            true => (then, otherwise),
            false => (otherwise, then),
        };
        // All ways round the loop come back, and nothing on them concerns others.
        let mut seen = vec![again];
        let mut at = 0;
        while let Some(next) = seen.get(at).copied() {
            at += 1;
            if next == block {
                continue;
            }
            let content = &cfg.blocks[next.0];
            let leaves = matches!(content.end, End::Leave | End::Never) || next == over;
            if leaves || content.steps.iter().any(|step| self.concerns_others(step)) {
                return None;
            }
            for successor in content.end.successors() {
                if !seen.contains(&successor) {
                    seen.push(successor);
                }
            }
        }
        (seen.contains(&block) && !seen.contains(&over)).then_some((call.0, over))
    }

    /// Whether a step concerns barriers or counters, accesses a slot, or may order what comes after it.
    fn concerns_others(&self, step: &Step) -> bool {
        let orders = match step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                matches!(self.kernel().cfg.accesses[id.0].kind, AccessKind::Atomic | AccessKind::AtomicRead)
            }
            StepKind::Memory(MemoryStep::Fence) | StepKind::Group(_) | StepKind::Call(_) => true,
            StepKind::Memory(MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_) => false,
        };
        orders || self.is_relevant(step) || self.is_access(step)
    }

    /// Whether a condition is the answer of a test (`true`) or its negation, if it is one of them.
    fn is_over(&self, on: NodeId, test: &BarrierCall) -> Option<bool> {
        let cfg = self.kernel().cfg;
        let node = &cfg.nodes[on.0];
        match test.method.action == PhaseAction::TryWait {
            true if cfg.origin(on) == test.result => Some(true),
            true if matches!(node.source, Source::Not) && cfg.origin(node.operands[0]) == test.result => Some(false),
            _ => None,
        }
    }

    /// If a branch follows a test by parity, waits for the same phase where it is not over, and does nothing where it is: the arm with the
    /// wait, which then stands for both.
    pub(super) fn waits_unless_over(&self, block: BlockId) -> Option<BlockId> {
        let cfg = self.kernel().cfg;
        let content = &cfg.blocks[block.0];
        let End::Branch { on, then, otherwise } = content.end else { return None };
        let (index, step) = content.steps.iter().enumerate().rfind(|(_, step)| self.is_relevant(step))?;
        let StepKind::BarrierCall(call) = step.kind else { return None };
        let test = &cfg.barrier_calls[call.0];
        let (over, not_over) = match self.is_over(on, test)? {
            true => (then, otherwise),
            false => (otherwise, then),
        };
        let (_, Some(end)) = self.kernel().regions.get(&block)? else { return None };
        (is_by_parity(test) && self.waits_until(over, *end)?.is_empty()).then_some(())?;
        let waits = self.waits_until(not_over, *end)?;
        let [(point, wait)] = waits[..] else { return None };
        let phase = |call: &BarrierCall, point: Point| {
            let element = self.element(&call.region, point, call.at).ok()?;
            Some((element, self.evaluator.value(*call.operands.last()?, point).expr()?))
        };
        (phase(test, (block, index))? == phase(wait, point)?).then_some(not_over)
    }

    /// The waits by parity from a block up to another one, if there is one way and nothing else on it concerns others.
    fn waits_until(&self, mut at: BlockId, end: BlockId) -> Option<Vec<(Point, &BarrierCall)>> {
        let cfg = self.kernel().cfg;
        let mut waits = Vec::new();
        for _ in 0..cfg.blocks.len() {
            if at == end {
                return Some(waits);
            }
            for (index, step) in cfg.blocks[at.0].steps.iter().enumerate() {
                if let StepKind::BarrierCall(call) = step.kind
                    && cfg.barrier_calls[call.0].method.action == PhaseAction::WaitParity
                {
                    waits.push(((at, index), &cfg.barrier_calls[call.0]));
                } else if self.concerns_others(step) {
                    return None;
                }
            }
            let End::Goto(next) = cfg.blocks[at.0].end else { return None };
            at = next;
        }
        None
    }
}
