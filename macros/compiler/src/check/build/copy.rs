//! Asynchronous copies: what they touch, and who comes together for them.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{Builder, StepKind, Value};
use crate::check::build::memory::piece_of_kind;
use crate::check::cfg::{CopyId, CopyStep, How, PhaseCall, PhaseId, Piece};
use crate::check::team::Team;
use crate::model::barrier::{BarrierForm, COPY};
use crate::model::copy::{BulkDirection, CompletionMechanism, CopyOp};
use crate::model::expr::Expr;
use crate::model::kind::Kind;
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
        let piece = |index: usize| {
            let of_kind = || operands.get(index).map(|operand| piece_of_kind(operand.result_kind));
            values.get(index).and_then(|value| value.piece.clone()).or_else(of_kind)
        };
        let touch = |builder: &mut Self| {
            for (index, how) in touched_by_copy(copy) {
                if let Some(piece) = piece(*index) {
                    builder.access(piece, *how, at);
                }
            }
        };
        let tell = |builder: &mut Self| {
            if let Some(index) = copy.barrier() {
                builder.phase_of_copy(operands[index].result_kind, piece(index), at);
            }
        };
        match copy {
            CopyOp::Cooperative { group, to_barrier } => {
                let team = team.unwrap_or(Team::whole(group));
                self.step(StepKind::Together { team, name: copy.name() }, at);
                touch(self);
                tell(self);
                let told = if to_barrier { CompletionMechanism::Barrier } else { CompletionMechanism::Group };
                self.copy_step(CopyStep::Begin { reads: None, writes: piece(1), told, at }, at);
            }
            CopyOp::Bulk(ends) => {
                touch(self);
                tell(self);
                let (reads, writes, told) = match ends {
                    BulkDirection::GlobalToShared => (None, piece(0), CompletionMechanism::Barrier),
                    // The peer tells that it has come: by what, only the run knows.
                    BulkDirection::SharedToPeer => return,
                    BulkDirection::SharedToGlobal => (piece(1), None, CompletionMechanism::BulkGroup),
                };
                self.copy_step(CopyStep::Begin { reads, writes, told, at }, at);
            }
            CopyOp::Store => {
                touch(self);
                tell(self);
            }
            CopyOp::Wait { group, .. } => {
                let team = team.unwrap_or(Team::whole(group));
                self.copy_step(CopyStep::Wait(CompletionMechanism::Group), at);
                self.step(StepKind::Collective { team, name: copy.name(), barrier: true }, at);
            }
            CopyOp::BulkWait { .. } => self.copy_step(CopyStep::Wait(CompletionMechanism::BulkGroup), at),
        }
    }

    /// The barrier that is told of a copy's end is in use from its beginning.
    fn phase_of_copy(&mut self, of: Kind, piece: Option<Piece>, at: SpanRange) {
        let (Kind::Barrier(barrier), Some(piece)) = (of, piece) else { return };
        if barrier.form == BarrierForm::Remote {
            self.access(piece.clone(), How::Atomic, at);
        }
        let gives = self.nothing(at).node;
        self.phases.push(PhaseCall { barrier, method: &COPY, piece, operands: Vec::new(), gives, at });
        self.step(StepKind::Phase(PhaseId(self.phases.len() - 1)), at);
    }

    fn copy_step(&mut self, step: CopyStep, at: SpanRange) {
        self.copies.push(step);
        self.step(StepKind::Copy(CopyId(self.copies.len() - 1)), at);
    }
}

/// The operands that a copy touches, and how.
pub(super) fn touched_by_copy(copy: CopyOp) -> &'static [(usize, How)] {
    match copy {
        CopyOp::Cooperative { .. } => &[(2, How::Read), (1, How::Write)],
        CopyOp::Bulk(BulkDirection::GlobalToShared | BulkDirection::SharedToGlobal) => {
            &[(1, How::Read), (0, How::Write)]
        }
        CopyOp::Bulk(BulkDirection::SharedToPeer) => &[(1, How::Read), (0, How::Sent)],
        CopyOp::Store => &[(0, How::Sent)],
        CopyOp::Wait { .. } | CopyOp::BulkWait { .. } => &[],
    }
}
