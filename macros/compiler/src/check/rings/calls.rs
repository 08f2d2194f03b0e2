//! The steps of a thread that concern phase barriers and copies.

use super::kernel::{Point, Refusal};
use super::objects::array_of;
use super::pipelines::Action;
use super::value::{Counter, Value};
use super::walk::Walker;
use crate::check::cfg::{BarrierCall, Call, Completion, CopyBy, CopyStep, Region, Root, Select, StepKind, Variable};
use crate::model::barrier::{BarrierForm, PhaseAction, PhaseResult};
use crate::rings::{Data, Element, Expr, Op, Operator};
use crate::span::SpanRange;

impl Walker<'_, '_, '_, '_> {
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

    pub(super) fn barrier_call(&mut self, point: Point, index: usize) -> Result<(), Refusal> {
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

    pub(super) fn copy(&mut self, point: Point, index: usize) -> Result<(), Refusal> {
        let kernel = self.evaluator.kernel;
        let call = self.copy_to.take().map(|call| &kernel.cfg.barrier_calls[call]);
        match &kernel.cfg.copies[index] {
            CopyStep::Begin { completion: Completion::Barrier(_), by: CopyBy::Group, at, .. } => {
                return Err(Refusal::new(*at, "threads copy together"));
            }
            CopyStep::Begin { writes: Some(region), completion: Completion::Barrier(_), by, at, .. } => {
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
                if *by == CopyBy::Tile {
                    // The call on the barrier is the step before.
                    self.push((point.0, point.1 - 1), *at, Op::Expect { barrier: barrier.clone(), bytes });
                }
                self.push(point, *at, Op::Copy { slot, barrier, block: Expr::rank(), bytes, data: Data::Fixed(0) });
            }
            CopyStep::Begin { completion: Completion::Barrier(_), at, .. } => {
                return Err(Refusal::new(*at, "the copy writes a peer's memory"));
            }
            CopyStep::Begin { reads: Some(region), completion: Completion::BulkGroup, at, .. } => {
                if let Some((array, _)) = array_of(region).and_then(|array| self.objects.slot(array)) {
                    let slot = Element { array, index: self.slot_index(region, point, *at)? };
                    self.flush();
                    self.push(point, *at, Op::Store { slot });
                }
            }
            CopyStep::Wait { completion: Completion::BulkGroup, but } if self.objects.are_stored(kernel) => {
                let but = but.and_then(|but| kernel.constants.of(but));
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

    /// Adds the steps of a call of a pipeline's method, or of the call that makes one.
    pub(super) fn pipeline_call(&mut self, point: Point, call: &Call<'_>) -> Result<(), Refusal> {
        let at = call.at;
        let Some((variable, method)) = self.kernel().pipelines.called(call) else { return Ok(()) };
        let number = |counter| self.evaluator.counters.number(counter);
        let (stage, parity) = (number(Counter::Stage(variable)), number(Counter::Parity(variable)));
        self.flush();
        let Some(method) = method else {
            self.push(point, at, Op::Set(vec![(stage, Expr::constant(0)), (parity, Expr::constant(0))]));
            return Ok(());
        };
        let counter = |number: u32| Expr::counter(number);
        if let (Some(action), Some((_, region))) = (method.at_stage, call.barriers.first()) {
            let whole = |region: &Region| region.path.is_empty() && !region.open;
            let array = array_of(region).filter(|_| whole(region)).and_then(|array| self.objects.barrier(array));
            let array = array.ok_or_else(|| Refusal::new(at, "the text does not show which barriers these are"))?;
            let barrier = Element { array, index: counter(stage) };
            let op = match action {
                Action::Arrive => Op::Arrive { barrier, block: Expr::rank(), count: 1, drops: false, token: false },
                Action::Wait { inverted: false } => Op::Wait { barrier, parity: counter(parity) },
                Action::Wait { inverted: true } => {
                    Op::Wait { barrier, parity: Expr::constant(1).apply(Operator::Sub, counter(parity)) }
                }
            };
            self.push(point, at, op);
        }
        if method.advances {
            let stages = self.stages(variable).ok_or_else(|| {
                Refusal::new(at, "the number of a pipeline's stages is not known where the kernel is compiled")
            })?;
            let next = counter(stage).apply(Operator::Add, Expr::constant(1));
            let ends = next.clone().apply(Operator::Eq, Expr::constant(stages));
            let flipped = counter(parity).apply(Operator::Add, ends).apply(Operator::Rem, Expr::constant(2));
            let next = next.apply(Operator::Rem, Expr::constant(stages));
            self.push(point, at, Op::Set(vec![(stage, next), (parity, flipped)]));
        }
        Ok(())
    }

    /// The number of stages: that of the barriers that the pipeline's methods are given, whose type says so.
    fn stages(&self, pipeline: Variable) -> Option<i64> {
        let kernel = self.kernel();
        let of = |call: &&Call<'_>| kernel.pipelines.called(call).is_some_and(|(of, _)| of == pipeline);
        let arrays = kernel.cfg.calls.iter().filter(of).filter_map(|call| array_of(&call.barriers.first()?.1));
        let mut lengths = arrays.filter_map(|array| self.objects.barrier(array));
        lengths.next().map(|array| i64::from(self.objects.barriers[array as usize].1.stages))
    }
}
