//! The steps of a thread that concern phase barriers and copies.

use super::counters::Counter;
use super::kernel::{Point, Refusal, array_of, is_by_parity};
use super::last_token;
use super::pipelines::Action;
use super::value::Value;
use super::walk::Walker;
use crate::check::cfg::{BarrierCall, Call, Region, Root, Select, StepKind, Variable};
use crate::model::barrier::{BarrierForm, PhaseAction, PhaseResult};
use crate::rings::{Element, Expr, Op, Operator};
use crate::span::SpanRange;

impl Walker<'_, '_, '_, '_> {
    /// The rank of the block whose memory a region is.
    pub(super) fn block_of(&self, region: &Region, point: Point, at: SpanRange) -> Result<Expr, Refusal> {
        let block = match (region.root, region.rank) {
            (Root::Remote(_), Some(rank)) => self.evaluator.value(rank, point).expr(),
            (Root::Remote(_), None) => None,
            _ => Some(Expr::rank()),
        };
        block.ok_or_else(|| Refusal::new(at, "the peer's rank is not a function of the block's"))
    }

    pub(super) fn element(&self, region: &Region, point: Point, at: SpanRange) -> Result<Element, Refusal> {
        let array = array_of(region).and_then(|array| self.objects.barrier(array));
        let array = array.ok_or_else(|| Refusal::new(at, "the text does not show which barrier this is"))?;
        let index = match region.path.first() {
            None => Some(Expr::constant(0)),
            Some(Select::At(index)) => self.evaluator.decisive(*index, point).expr(),
            Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) => None,
        };
        let index = index.ok_or_else(|| Refusal::new(at, "the barrier's index is not a function of the round"))?;
        Ok(Element { array, index })
    }

    fn operand(&self, call: &BarrierCall, point: Point) -> Value {
        call.operands.last().map_or(Value::Unknown, |operand| self.evaluator.decisive(*operand, point))
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
        let block = self.block_of(&call.region, point, at)?;
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
                return match next.is_some_and(|next| matches!(next.kind, StepKind::Copy(_))) {
                    // It begins at the next step.
                    true => {
                        self.copy_to = Some(index);
                        Ok(())
                    }
                    false => self.copy_to_peer(point, call, &[]),
                };
            }
            PhaseAction::TryWait => {
                let polls = self.poll(point.0).is_some_and(|(tested, _)| tested == index);
                let waits = match is_by_parity(call) {
                    _ if !polls => None,
                    true => match self.operand(call, point).expr() {
                        Some(parity) => Some(Op::Wait { barrier: barrier.clone(), parity }),
                        None => return Err(Refusal::new(at, "the parity is not a function of the round")),
                    },
                    // A later wait takes the token.
                    false if self.is_taken(call) => None,
                    false => {
                        self.check_token(call, point)?;
                        Some(Op::WaitToken { barrier: barrier.clone() })
                    }
                };
                match waits {
                    Some(waits) => waits,
                    // If the answer tells the thread nothing, `traces` compare what threads write themselves.
                    None if kernel.answers(call.result) == Some(index)
                        && self.evaluator.arguments.is_some()
                        && (is_by_parity(call) || !call.is_ignored && !kernel.asks_again(call, point.0)) =>
                    {
                        return self.test(point, index, barrier);
                    }
                    None => {
                        // Nor what they write in slots.
                        self.program.allows_more |=
                            !call.is_ignored || kernel.cfg.copies.is_empty() && !self.objects.slots.is_empty();
                        return Ok(());
                    }
                }
            }
            PhaseAction::Invalidate | PhaseAction::Init | PhaseAction::InitCollective => return Ok(()),
        };
        self.push(point, at, op);
        Ok(())
    }

    /// Whether some wait takes the token of an arrival, a loop asks for its phase until that is over or, with certain arguments, a test asks.
    fn is_waited_for(&self, arrival: &BarrierCall) -> bool {
        self.kernel().cfg.barrier_calls.iter().enumerate().any(|(index, call)| {
            let action = call.method.action;
            let is_by_token = action == PhaseAction::TryWait && !is_by_parity(call);
            let asks = is_by_token && self.evaluator.arguments.is_some();
            let polls = || {
                let at = self.kernel().evaluated(call.result);
                is_by_token
                    && !self.is_taken(call)
                    && at.and_then(|(block, _)| self.poll(block)).is_some_and(|(tested, _)| tested == index)
            };
            (action == PhaseAction::Wait || asks || polls()) && array_of(&call.region) == array_of(&arrival.region)
        })
    }

    /// Whether a wait takes the token that a test asks about.
    fn is_taken(&self, test: &BarrierCall) -> bool {
        let cfg = self.kernel().cfg;
        let token = |call: &BarrierCall| call.operands.first().map(|token| cfg.first_origin(*token));
        let mut waits = cfg.barrier_calls.iter().filter(|call| call.method.action == PhaseAction::Wait);
        waits.any(|wait| array_of(&wait.region) == array_of(&test.region) && token(wait) == token(test))
    }

    /// Checks that the token of a wait is that of the thread's last arrival at the barrier.
    pub(super) fn check_token(&self, wait: &BarrierCall, point: Point) -> Result<(), Refusal> {
        let kernel = self.kernel();
        let refuse = || Refusal::new(wait.at, "the token need not be that of the thread's last arrival");
        let given = *wait.operands.first().ok_or_else(refuse)?;
        if let Some(array) = array_of(&wait.region)
            && let Some((_, barriers, _)) = self.objects.barriers.iter().find(|(known, ..)| *known == array)
        {
            let number = last_token::number(kernel.cfg, &wait.region).filter(|_| barriers.stages() > 1);
            // Of several barriers, the token may be that of another one.
            let shows_which = barriers.stages() == 1 || number.is_some();
            if shows_which && last_token::is_last(kernel, (array, number), given, point) {
                return Ok(());
            }
        }
        let token = kernel.cfg.first_origin(given);
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
        lengths.next().map(|array| i64::from(self.objects.barriers[array as usize].1.stages()))
    }
}
