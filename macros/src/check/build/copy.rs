//! Asynchronous copies: what they touch, and who comes together for them.

use super::{Builder, StepKind, Value};
use crate::check::build::memory::piece_of_kind;
use crate::check::cfg::How;
use crate::check::scope::Team;
use crate::model::copy::{CopyOp, Ends};
use crate::model::expr::Expr;
use crate::span::SpanRange;

impl Builder<'_> {
    pub(super) fn copy(
        &mut self,
        copy: CopyOp,
        operands: &[Expr],
        values: &[Value],
        team: Option<Team>,
        at: SpanRange,
    ) {
        let touch = |builder: &mut Self, index: usize, how: How| {
            let of_kind = || operands.get(index).map(|operand| piece_of_kind(operand.gives));
            let piece = values.get(index).and_then(|value| value.piece.clone()).or_else(of_kind);
            if let Some(piece) = piece {
                builder.access(piece, how, at);
            }
        };
        match copy {
            CopyOp::Together { group, .. } => {
                let team = team.unwrap_or(Team::whole(group));
                self.step(StepKind::Together { team, name: copy.name() }, at);
                touch(self, 2, How::Read);
                touch(self, 1, How::Write);
            }
            CopyOp::Bulk(ends) => {
                touch(self, 1, How::Read);
                match ends {
                    Ends::Fetch | Ends::WriteBack => touch(self, 0, How::Write),
                    Ends::Send => {
                        touch(self, 0, How::Sent);
                        touch(self, 2, How::Atomic);
                    }
                }
            }
            CopyOp::Store => {
                touch(self, 0, How::Sent);
                touch(self, 3, How::Atomic);
            }
            CopyOp::Wait { group, .. } => {
                let team = team.unwrap_or(Team::whole(group));
                self.step(StepKind::Collective { team, name: copy.name(), barrier: true }, at);
            }
            CopyOp::BulkWait { .. } => {}
        }
    }
}
