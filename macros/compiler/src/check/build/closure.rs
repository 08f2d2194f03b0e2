//! Closures: they capture values and call no collective, so that what they capture and what they ask the GPU is all that
//! matters of them. Their control flow is not followed: a part of what they see is as good as all of it.

#![warn(clippy::wildcard_enum_match_arm)]

use phalanx_contract::uniformity::Uniformity;

use super::copy::touched_by_copy;
use super::memory::atomically;
use super::{Builder, NodeId, Source, Variable};
use crate::check::cfg::{AccessKind, Region, Root};
use crate::model::LocalId;
use crate::model::barrier::BarrierForm;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::ty::ValueType;
use crate::model::walk::walk;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Its value, and the memory that a call of it touches.
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
            let what = match &expr.kind {
                // Locals of the closure's own hold what it makes of the others.
                ExprKind::Local(local) | ExprKind::CallClosure { closure: local, .. }
                    if self.is_outside(*local) && !params.iter().any(|(own, _)| own == local) =>
                {
                    operands.push(self.read(Variable::Local(*local), expr.span));
                    continue;
                }
                ExprKind::Op { op, operands, .. } => self.operation_in_closure(*op, operands),
                ExprKind::Call { .. } => {
                    Some((Uniformity::Divergent, "the result of a device function that a closure calls"))
                }
                ExprKind::Cuda(_) => Some((Uniformity::Divergent, "cuda!")),
                ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } => self.in_memory_of_others(base),
                // Nothing but what is made of these.
                ExprKind::Error
                | ExprKind::Int { .. }
                | ExprKind::Float { .. }
                | ExprKind::Bool(_)
                | ExprKind::Local(_)
                | ExprKind::Constant(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary { .. }
                | ExprKind::Cast(..)
                | ExprKind::Typed(..)
                | ExprKind::Deref(_)
                | ExprKind::Axis(..)
                | ExprKind::Field { .. }
                | ExprKind::Borrow { .. }
                | ExprKind::Array { .. }
                | ExprKind::Repeat { .. }
                | ExprKind::Struct { .. }
                | ExprKind::Tuple { .. }
                | ExprKind::Some(_)
                | ExprKind::None(_)
                | ExprKind::Vector { .. }
                | ExprKind::Method { .. }
                | ExprKind::ScalarCall { .. }
                | ExprKind::FastCall { .. }
                | ExprKind::Operator(..)
                | ExprKind::CallClosure { .. }
                | ExprKind::Closure { .. }
                | ExprKind::Block(_)
                | ExprKind::Unsafe(_)
                | ExprKind::Labelled { .. }
                | ExprKind::If { .. }
                | ExprKind::Match { .. }
                | ExprKind::Loop { .. }
                | ExprKind::While { .. }
                | ExprKind::For { .. }
                | ExprKind::Assign(..)
                | ExprKind::AssignOp { .. }
                | ExprKind::Break { .. }
                | ExprKind::Continue { .. }
                | ExprKind::Return { .. }
                | ExprKind::Assert(..)
                | ExprKind::Panic(_)
                | ExprKind::Print(_) => None,
            };
            if let Some((uniformity, what)) = what {
                operands.push(self.node(Source::Known { uniformity, what }, Vec::new(), expr.span));
            }
        }
        (self.node(Source::Operands, operands, at), touches)
    }

    /// At which scope what an operation gives is uniform, and what it is called, where its operands do not decide that.
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
            // Refused in closures, as all collectives are.
            Op::Warp(_, method) => Some((Uniformity::Divergent, method.name)),
            Op::Uniform(_) => Some((Uniformity::Divergent, "uniform")),
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Sync(..)
            | Op::Arrive(..)
            | Op::Wait(..)
            | Op::Forget(_)
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
            | Op::Nanosleep
            | Op::Copy(_)
            | Op::Is(_)
            | Op::Take
            | Op::Unwrap
            | Op::UnwrapOr => None,
        }
    }

    /// An element of memory is nobody's but the thread's that reads it, unless nobody writes there.
    fn in_memory_of_others(&self, memory: &Expr) -> Option<(Uniformity, &'static str)> {
        let others = memory.memory().is_some() && self.region_unseen(memory).root != Root::ReadOnly;
        others.then_some((Uniformity::Divergent, "memory that other threads may write to"))
    }

    fn touches(&self, inside: &[&Expr]) -> Vec<(Region, AccessKind)> {
        let mut touches = Vec::new();
        for expr in inside {
            let mut touch = |memory: &Expr, how: AccessKind| touches.push((self.region_unseen(memory), how));
            match &expr.kind {
                ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } if base.memory().is_some() => {
                    touch(expr, AccessKind::Read);
                }
                ExprKind::Assign(variable, _) | ExprKind::AssignOp { place: variable, .. }
                    if local_of(variable).is_none() =>
                {
                    touch(variable, AccessKind::Write);
                }
                ExprKind::Op { op, operands, .. } => {
                    let touched = Self::touched_in_closure(*op).into_iter();
                    let touched = touched.filter_map(|(index, how)| Some((operands.get(index)?, how)));
                    touched.for_each(|(memory, how)| touch(memory, how));
                }
                ExprKind::Call { arguments, .. } => {
                    let memory = arguments.iter().filter(|argument| argument.memory().is_some());
                    memory.for_each(|memory| touch(memory, AccessKind::Lent));
                }
                ExprKind::CallClosure { closure, .. } => {
                    touches.extend(self.closures.get(closure).into_iter().flatten().cloned());
                }
                ExprKind::Cuda(by_hand) => {
                    let memory = by_hand.operands.iter().filter(|operand| operand.value.memory().is_some());
                    memory.for_each(|operand| touch(&operand.value, AccessKind::ByHand));
                }
                ExprKind::Error
                | ExprKind::Int { .. }
                | ExprKind::Float { .. }
                | ExprKind::Bool(_)
                | ExprKind::Local(_)
                | ExprKind::Constant(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary { .. }
                | ExprKind::Cast(..)
                | ExprKind::Typed(..)
                | ExprKind::Index { .. }
                | ExprKind::UncheckedPlace { .. }
                | ExprKind::Deref(_)
                | ExprKind::Axis(..)
                | ExprKind::Field { .. }
                | ExprKind::Borrow { .. }
                | ExprKind::Array { .. }
                | ExprKind::Repeat { .. }
                | ExprKind::Struct { .. }
                | ExprKind::Tuple { .. }
                | ExprKind::Some(_)
                | ExprKind::None(_)
                | ExprKind::Vector { .. }
                | ExprKind::Method { .. }
                | ExprKind::ScalarCall { .. }
                | ExprKind::FastCall { .. }
                | ExprKind::Operator(..)
                | ExprKind::Closure { .. }
                | ExprKind::Block(_)
                | ExprKind::Unsafe(_)
                | ExprKind::Labelled { .. }
                | ExprKind::If { .. }
                | ExprKind::Match { .. }
                | ExprKind::Loop { .. }
                | ExprKind::While { .. }
                | ExprKind::For { .. }
                | ExprKind::Assign(..)
                | ExprKind::AssignOp { .. }
                | ExprKind::Break { .. }
                | ExprKind::Continue { .. }
                | ExprKind::Return { .. }
                | ExprKind::Assert(..)
                | ExprKind::Panic(_)
                | ExprKind::Print(_) => {}
            }
        }
        touches
    }

    /// The operands that an operation touches, and how.
    fn touched_in_closure(op: Op) -> Vec<(usize, AccessKind)> {
        match op {
            Op::LoadVec(_) | Op::LoadUnchecked => vec![(0, AccessKind::Read)],
            Op::StoreVec => vec![(0, AccessKind::Write)],
            Op::Atomic(atomic) => vec![(0, atomically(atomic))],
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
            | Op::Forget(_)
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
            | Op::Nanosleep
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
