//! Asynchronous copies: what they touch, and who comes together for them.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{Builder, GroupStep, StepKind, Value};
use crate::check::build::memory::region_of_kind;
use crate::check::cfg::Team;
use crate::check::cfg::{AccessKind, BarrierCall, BarrierCallId, CopyId, CopyStep, Region};
use crate::model::barrier::{BarrierForm, COPY};
use crate::model::copy::{CopyOp, Ends, Told};
use crate::model::expr::Expr;
use crate::model::ty::Kind;
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
        let region = |index: usize| {
            let of_kind = || operands.get(index).map(|operand| region_of_kind(operand.gives));
            values.get(index).and_then(|value| value.region.clone()).or_else(of_kind)
        };
        let touch = |builder: &mut Self| {
            for (index, how) in touched_by_copy(copy) {
                if let Some(region) = region(*index) {
                    builder.access(region, *how, at);
                }
            }
        };
        let tell = |builder: &mut Self| {
            if let Some(index) = copy.barrier() {
                builder.phase_of_copy(operands[index].gives, region(index), at);
            }
        };
        match copy {
            CopyOp::Together { group, to_barrier } => {
                let team = team.unwrap_or(Team::whole(group));
                self.step(StepKind::Group(GroupStep::Convergent { team, name: copy.name() }), at);
                touch(self);
                tell(self);
                let told = if to_barrier { Told::Barrier } else { Told::Group };
                self.copy_step(CopyStep::Begin { reads: None, writes: region(1), told, at }, at);
            }
            CopyOp::Bulk(ends) => {
                touch(self);
                tell(self);
                let (reads, writes, told) = match ends {
                    Ends::Fetch => (None, region(0), Told::Barrier),
                    // The peer tells that it has come: by what, only the run knows.
                    Ends::Send => return,
                    Ends::WriteBack => (region(1), None, Told::Bulk),
                };
                self.copy_step(CopyStep::Begin { reads, writes, told, at }, at);
            }
            CopyOp::Store => {
                touch(self);
                tell(self);
            }
            CopyOp::Wait { group, .. } => {
                let team = team.unwrap_or(Team::whole(group));
                self.copy_step(CopyStep::Wait(Told::Group), at);
                self.step(StepKind::Group(GroupStep::Collective { team, name: copy.name(), barrier: true }), at);
            }
            CopyOp::BulkWait { .. } => self.copy_step(CopyStep::Wait(Told::Bulk), at),
        }
    }

    /// The barrier that is told of a copy's end is in use from its beginning.
    fn phase_of_copy(&mut self, of: Kind, region: Option<Region>, at: SpanRange) {
        let (Kind::Barrier(barrier), Some(region)) = (of, region) else { return };
        if barrier.form == BarrierForm::Remote {
            self.access(region.clone(), AccessKind::Atomic, at);
        }
        let gives = self.nothing(at).node;
        self.barrier_calls.push(BarrierCall { barrier, method: &COPY, region, operands: Vec::new(), gives, at });
        self.step(StepKind::BarrierCall(BarrierCallId(self.barrier_calls.len() - 1)), at);
    }

    fn copy_step(&mut self, step: CopyStep, at: SpanRange) {
        self.copies.push(step);
        self.step(StepKind::Copy(CopyId(self.copies.len() - 1)), at);
    }
}

/// The operands that a copy touches, and how.
pub(super) fn touched_by_copy(copy: CopyOp) -> &'static [(usize, AccessKind)] {
    match copy {
        CopyOp::Together { .. } => &[(2, AccessKind::Read), (1, AccessKind::Write)],
        CopyOp::Bulk(Ends::Fetch | Ends::WriteBack) => &[(1, AccessKind::Read), (0, AccessKind::Write)],
        CopyOp::Bulk(Ends::Send) => &[(1, AccessKind::Read), (0, AccessKind::Sent)],
        CopyOp::Store => &[(0, AccessKind::Sent)],
        CopyOp::Wait { .. } | CopyOp::BulkWait { .. } => &[],
    }
}
