//! Closures: they capture values and call no collective, so that what they capture and what they ask the GPU is all that
//! matters of them. Their control flow is not followed: a part of what they see is as good as all of it.

use super::memory::atomically;
use super::{Builder, NodeId, Place, Source};
use crate::check::cfg::{How, Piece, Root};
use crate::check::scope::Scope;
use crate::model::LocalId;
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
    ) -> (NodeId, Vec<(Piece, How)>) {
        let mut inside: Vec<&Expr> = Vec::new();
        walk(body, &mut |expr| inside.push(expr));
        let mut operands = Vec::new();
        let touches = self.touches(&inside);
        for expr in inside {
            let what = match &expr.kind {
                // Locals of the closure's own hold what it makes of the others.
                ExprKind::Local(local) if self.is_outside(*local) && !params.iter().any(|(own, _)| own == local) => {
                    operands.push(self.read(Place::Local(*local), expr.span));
                    continue;
                }
                ExprKind::Op { op: Op::Query(_, query), operands: group, .. } => {
                    let team = group.first().map(|group| self.team(group));
                    team.map(|team| (Self::query_scope(team, query), query.name))
                }
                ExprKind::Op { op: Op::Atomic(_), .. } => Some((Scope::Nothing, "the result of an atomic operation")),
                ExprKind::Call { .. } => Some((Scope::Nothing, "the result of a device function that a closure calls")),
                ExprKind::Cuda(_) => Some((Scope::Nothing, "cuda!")),
                ExprKind::Index { base, .. }
                    if base.memory().is_some() && self.piece_unseen(base).root != Root::ReadOnly =>
                {
                    Some((Scope::Nothing, "memory that other threads may write to"))
                }
                _ => None,
            };
            if let Some((scope, what)) = what {
                operands.push(self.node(Source::Known { scope, what }, Vec::new(), expr.span));
            }
        }
        (self.node(Source::Operands, operands, at), touches)
    }

    fn touches(&self, inside: &[&Expr]) -> Vec<(Piece, How)> {
        let mut touches = Vec::new();
        for expr in inside {
            let (memory, how) = match &expr.kind {
                ExprKind::Index { base, .. } if base.memory().is_some() => (&**expr, How::Read),
                ExprKind::Assign(place, _) | ExprKind::AssignOp { place, .. } => (&**place, How::Write),
                ExprKind::Op { op: Op::LoadVec(_) | Op::LoadUnchecked, operands, .. } => (&operands[0], How::Read),
                ExprKind::Op { op: Op::StoreVec, operands, .. } => (&operands[0], How::Write),
                ExprKind::Op { op: Op::Atomic(atomic), operands, .. } => (&operands[0], atomically(*atomic)),
                ExprKind::Call { arguments, .. } => {
                    let memory = arguments.iter().filter(|argument| argument.memory().is_some());
                    touches.extend(memory.map(|memory| (self.piece_unseen(memory), How::Lent)));
                    continue;
                }
                _ => continue,
            };
            if local_of(memory).is_none() {
                touches.push((self.piece_unseen(memory), how));
            }
        }
        touches
    }

    fn is_outside(&self, local: LocalId) -> bool {
        self.scopes.iter().flatten().any(|known| *known == local)
    }
}
