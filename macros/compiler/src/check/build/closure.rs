//! Closures. They capture values and execute no collective, so that only the captured values and the operations inside
//! matter. Their control flow is not followed: a closure is assumed to execute all of its body, in text order.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::uniformity::Uniformity;

use super::copy::touched_by_copy;
use super::memory::atomic_access;
use super::{Builder, NodeId, Source, Variable};
use crate::check::cfg::{AccessKind, Region, Root};
use crate::model::LocalId;
use crate::model::barrier::BarrierForm;
use crate::model::expr::Expr;
use crate::model::form::ExprForm;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::ty::ValueType;
use crate::model::walk::walk;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Builds a closure: its value, and the memory that a call of it accesses.
    pub(super) fn closure(
        &mut self,
        body: &'f Expr,
        params: &[(LocalId, Option<ValueType>)],
        at: SpanRange,
    ) -> (NodeId, Vec<(Region, AccessKind)>) {
        let mut inside: Vec<&Expr> = Vec::new();
        walk(body, &mut |expr| inside.push(expr));
        let mut operands = Vec::new();
        let touches = self.touches(&inside);
        for expr in inside {
            let what = match expr.kind.form() {
                // The closure's own locals hold what it computes from the others.
                ExprForm::Variable(local) | ExprForm::CallClosure(local) => {
                    if self.is_outside(local) && !params.iter().any(|(own, _)| *own == local) {
                        operands.push(self.read(Variable::Local(local), expr.span));
                    }
                    None
                }
                ExprForm::Operation { op, operands } => self.operation_in_closure(op, operands),
                ExprForm::Call { .. } => {
                    Some((Uniformity::Divergent, "the result of a device function that a closure calls"))
                }
                ExprForm::Cuda(_) => Some((Uniformity::Divergent, "cuda!")),
                ExprForm::Element { base } => self.in_memory_of_others(base),
                ExprForm::Plain | ExprForm::Prelude(_) | ExprForm::Store { .. } => None,
            };
            if let Some((uniformity, what)) = what {
                operands.push(self.node(Source::Known { uniformity, what }, Vec::new(), expr.span));
            }
        }
        (self.node(Source::Operands, operands, at), touches)
    }

    /// The scope at which the result of an operation inside a closure is uniform, with a name for it; `None` if its
    /// operands decide.
    fn operation_in_closure(&mut self, op: Op, operands: &[Expr]) -> Option<(Uniformity, &'static str)> {
        match op {
            Op::Query(_, query) => {
                let team = operands.first().map(|group| self.team(group))?;
                Some((Self::query_uniformity(team, query), query.name))
            }
            Op::Atomic(_) => Some((Uniformity::Divergent, "the result of an atomic operation")),
            Op::LoadVec(_) | Op::LoadUnchecked => self.in_memory_of_others(operands.first()?),
            Op::QuerySharedRank => Some((Uniformity::Block, "query_shared_rank")),
            Op::Barrier(_, method) => Some((Uniformity::Divergent, method.name)),
            // Collectives are refused in closures.
            Op::Warp(_, method) => Some((Uniformity::Divergent, method.name)),
            Op::Uniform(_) => Some((Uniformity::Divergent, "uniform")),
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Sync(..)
            | Op::Arrive(..)
            | Op::Wait(..)
            | Op::MapSharedRank(_)
            | Op::SharedArray(_)
            | Op::SharedBarrier(..)
            | Op::MapBarrier(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::Part { .. }
            | Op::SplitAt { .. }
            | Op::StoreVec
            | Op::Length
            | Op::IsEmpty
            | Op::Fence(..)
            | Op::Copy(_)
            | Op::Is(_)
            | Op::Take
            | Op::Unwrap
            | Op::UnwrapOr => None,
        }
    }

    /// A load is divergent, unless nothing writes the memory while the kernel runs.
    fn in_memory_of_others(&self, memory: &Expr) -> Option<(Uniformity, &'static str)> {
        let others = memory.memory().is_some() && self.region_in_closure(memory).root != Root::ReadOnly;
        others.then_some((Uniformity::Divergent, "memory that other threads may write to"))
    }

    fn touches(&self, inside: &[&Expr]) -> Vec<(Region, AccessKind)> {
        let mut touches = Vec::new();
        for expr in inside {
            let mut touch = |memory: &Expr, how: AccessKind| touches.push((self.region_in_closure(memory), how));
            match expr.kind.form() {
                ExprForm::Element { base } => {
                    if base.memory().is_some() {
                        touch(expr, AccessKind::Read);
                    }
                }
                ExprForm::Store { place } => {
                    if local_of(place).is_none() {
                        touch(place, AccessKind::Write);
                    }
                }
                ExprForm::Operation { op, operands } => {
                    let touched = Self::touched_in_closure(op).into_iter();
                    let touched = touched.filter_map(|(index, how)| Some((operands.get(index)?, how)));
                    touched.for_each(|(memory, how)| touch(memory, how));
                }
                ExprForm::Call { arguments } => {
                    let memory = arguments.iter().filter(|argument| argument.memory().is_some());
                    memory.for_each(|memory| touch(memory, AccessKind::Lent));
                }
                ExprForm::CallClosure(closure) => {
                    touches.extend(self.closures.get(&closure).into_iter().flatten().cloned());
                }
                ExprForm::Cuda(inline_cuda) => {
                    let memory = inline_cuda.operands.iter().filter(|operand| operand.value.memory().is_some());
                    memory.for_each(|operand| touch(&operand.value, AccessKind::Opaque));
                }
                ExprForm::Plain | ExprForm::Prelude(_) | ExprForm::Variable(_) => {}
            }
        }
        touches
    }

    /// The operands that an operation accesses, each with the kind of access.
    fn touched_in_closure(op: Op) -> Vec<(usize, AccessKind)> {
        match op {
            Op::LoadVec(_) | Op::LoadUnchecked => vec![(0, AccessKind::Read)],
            Op::StoreVec => vec![(0, AccessKind::Write)],
            Op::Atomic(atomic) => vec![(0, atomic_access(atomic))],
            Op::Copy(copy) => touched_by_copy(copy).to_vec(),
            Op::Barrier(barrier, _) => match barrier.form {
                BarrierForm::Remote => vec![(0, AccessKind::Atomic)],
                BarrierForm::One | BarrierForm::Array => Vec::new(),
            },
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Warp(..)
            | Op::Query(..)
            | Op::Uniform(_)
            | Op::Sync(..)
            | Op::Arrive(..)
            | Op::Wait(..)
            | Op::MapSharedRank(_)
            | Op::QuerySharedRank
            | Op::SharedArray(_)
            | Op::SharedBarrier(..)
            | Op::MapBarrier(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::Part { .. }
            | Op::SplitAt { .. }
            | Op::Length
            | Op::IsEmpty
            | Op::Fence(..)
            | Op::Is(_)
            | Op::Take
            | Op::Unwrap
            | Op::UnwrapOr => Vec::new(),
        }
    }

    fn is_outside(&self, local: LocalId) -> bool {
        self.scopes.iter().flatten().any(|known| *known == local)
    }
}
