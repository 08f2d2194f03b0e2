//! Asynchronous copies: the memory that they access, and the threads that execute them together.

use super::{Builder, GroupStep, StepKind, Value};
use crate::check::build::memory::{region_of_kind, remote};
use crate::check::cfg::{
    AccessKind, BarrierCall, BarrierCallId, Completion, CopyBy, CopyId, CopyStep, NodeId, Region, Select, Shared, Team,
};
use crate::model::ValueId;
use crate::model::barrier::{Barrier, BarrierForm, COPY};
use crate::model::copy::{BulkDirection, CopyOp, TensorCopy};
use crate::model::expr::{Expr, ExprKind};
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
        let region = |index: usize| {
            let of_kind = || operands.get(index).map(|operand| region_of_kind(operand.result_kind));
            values.get(index).and_then(|value| value.region.clone()).or_else(of_kind)
        };
        let barrier = copy.barrier().and_then(region).and_then(|region| Some(region.root.party()?.1));
        // Global memory counts if the text shows which it is.
        let known =
            |index: usize| region(index).filter(|region| region.root.party().is_some() || region.param.is_some());
        let completion = match copy {
            CopyOp::Cooperative { to_barrier: false, .. } | CopyOp::Wait { .. } => Completion::Group,
            CopyOp::Bulk(BulkDirection::SharedToGlobal)
            | CopyOp::Tensor(TensorCopy::Store | TensorCopy::Reduce(_) | TensorCopy::Prefetch)
            | CopyOp::BulkWait { .. } => Completion::BulkGroup,
            CopyOp::Cooperative { to_barrier: true, .. }
            | CopyOp::Bulk(_)
            | CopyOp::Tensor(TensorCopy::Load | TensorCopy::Multicast | TensorCopy::Expect)
            | CopyOp::Store => Completion::Barrier(barrier.unwrap_or(Shared::Any)),
        };
        let touch = |builder: &mut Self| {
            for (index, how) in touched_by_copy(copy) {
                if let Some(region) = region(*index) {
                    let param = operands.get(*index).and_then(|operand| builder.parameter_of_map(operand));
                    let region = Region { param: param.or(region.param), ..region };
                    builder.access_until(region, *how, Some(completion), at);
                }
            }
        };
        let complete_on_barrier = |builder: &mut Self| {
            if let Some(index) = copy.barrier() {
                builder.barrier_call_of_copy(operands[index].result_kind, region(index), at);
            }
        };
        match copy {
            CopyOp::Cooperative { group, .. } => {
                let team = team.unwrap_or(Team::whole(group));
                self.step(StepKind::Group(GroupStep::Collective { team, name: copy.name(), barrier: false }), at);
                touch(self);
                complete_on_barrier(self);
                self.copy_step(
                    CopyStep::Begin { reads: list(known(2)), writes: region(1), completion, by: CopyBy::Group, at },
                    at,
                );
            }
            CopyOp::Bulk(ends) => {
                touch(self);
                complete_on_barrier(self);
                let (reads, writes) = match ends {
                    BulkDirection::GlobalToShared => (known(1), region(0)),
                    BulkDirection::SharedToPeer => (region(1), None),
                    BulkDirection::SharedToGlobal => (region(1), known(0)),
                };
                self.copy_step(CopyStep::Begin { reads: list(reads), writes, completion, by: CopyBy::Thread, at }, at);
            }
            CopyOp::Tensor(TensorCopy::Load) => {
                touch(self);
                complete_on_barrier(self);
                let begin = CopyStep::Begin { reads: Vec::new(), writes: region(2), completion, by: CopyBy::Tile, at };
                self.copy_step(begin, at);
            }
            CopyOp::Tensor(TensorCopy::Store | TensorCopy::Reduce(_)) => {
                touch(self);
                let begin = CopyStep::Begin { reads: list(region(2)), writes: None, completion, by: CopyBy::Tile, at };
                self.copy_step(begin, at);
            }
            CopyOp::Tensor(TensorCopy::Multicast) => {
                touch(self);
                let (Some(tile), Some(bar)) = (region(2), region(3)) else { return };
                let Kind::Barrier(own) = operands[3].result_kind else { return };
                let of_peer = Kind::Barrier(Barrier { form: BarrierForm::Remote, ..own });
                let ranks = self.nodes[values[4].node.0].operands.clone();
                // It is a copy to each receiver, on that one's barrier.
                for rank in ranks {
                    let (tile, bar) = (remote(tile.clone(), Some(rank)), remote(bar.clone(), Some(rank)));
                    self.access_until(tile, AccessKind::AsyncWrite, Some(completion), at);
                    self.barrier_call_of_copy(of_peer, Some(bar), at);
                    let by = CopyBy::Multicast;
                    self.copy_step(CopyStep::Begin { reads: Vec::new(), writes: None, completion, by, at }, at);
                }
            }
            // The bytes arrive by the copy of another thread.
            CopyOp::Tensor(TensorCopy::Expect) => {
                complete_on_barrier(self);
                let (writes, by) = (region(1), CopyBy::Expected);
                self.copy_step(CopyStep::Begin { reads: Vec::new(), writes, completion, by, at }, at);
            }
            // What is read changes nothing but times.
            CopyOp::Tensor(TensorCopy::Prefetch) => {}
            CopyOp::Store => {
                // The index is an operand of its own.
                if let (Some(region), Some(index)) = (region(0), values.get(1)) {
                    let element = region.at(Select::At(index.node));
                    self.access_until(element, AccessKind::AsyncWrite, Some(completion), at);
                    if let Some(value) = values.get(2) {
                        self.last_access_writes(value);
                    }
                }
                complete_on_barrier(self);
            }
            CopyOp::Wait { group, prior: but } => {
                let team = team.unwrap_or(Team::whole(group));
                self.copy_step(CopyStep::Wait { completion, but, of_reads: false, sums_of: None }, at);
                self.step(StepKind::Group(GroupStep::Collective { team, name: copy.name(), barrier: true }), at);
            }
            CopyOp::BulkWait { prior, read } => {
                self.copy_step(CopyStep::Wait { completion, but: Some(prior), of_reads: read, sums_of: None }, at);
            }
        }
    }

    /// The parameter that a tensor's map is.
    pub(super) fn parameter_of_map(&self, operand: &Expr) -> Option<usize> {
        let (ExprKind::Local(local), Kind::TensorMap { .. }) = (&operand.kind, operand.result_kind) else {
            return None;
        };
        self.function.params.iter().position(|param| param.local == *local)
    }

    /// A product of matrices reads its tiles until the warpgroup has waited for it.
    pub(super) fn product(&mut self, team: Team, tiles: &[Value], of_registers: bool, at: SpanRange) {
        let completion = Completion::Product;
        let reads: Vec<Region> = tiles.iter().filter_map(|tile| tile.region.clone()).collect();
        self.step(StepKind::Group(GroupStep::Collective { team, name: "mma_async", barrier: false }), at);
        for region in &reads {
            self.access_until(region.clone(), AccessKind::Read, Some(completion), at);
        }
        self.copy_step(
            CopyStep::Begin { reads, writes: None, completion, by: CopyBy::Warpgroup { of_registers }, at },
            at,
        );
    }

    /// The warpgroup waits for its products, but for the last ones if `but` says how many, and then gets the sums of one.
    pub(super) fn wait_for_products(
        &mut self,
        team: Team,
        but: Option<ValueId>,
        sums_of: Option<NodeId>,
        at: SpanRange,
    ) {
        self.copy_step(CopyStep::Wait { completion: Completion::Product, but, of_reads: false, sums_of }, at);
        self.step(StepKind::Group(GroupStep::Collective { team, name: "wait_mma", barrier: false }), at);
    }

    /// The barrier on which a copy completes is in use from the beginning of the copy.
    fn barrier_call_of_copy(&mut self, of: Kind, region: Option<Region>, at: SpanRange) {
        let (Kind::Barrier(barrier), Some(region)) = (of, region) else { return };
        if barrier.form == BarrierForm::Remote {
            self.access(region.clone(), AccessKind::Atomic, at);
        }
        let result = self.nothing(at).node;
        self.barrier_calls.push(BarrierCall {
            barrier,
            method: &COPY,
            region,
            operands: Vec::new(),
            result,
            is_ignored: false,
            at,
        });
        self.step(StepKind::BarrierCall(BarrierCallId(self.barrier_calls.len() - 1)), at);
    }

    fn copy_step(&mut self, step: CopyStep, at: SpanRange) {
        self.copies.push(step);
        self.step(StepKind::Copy(CopyId(self.copies.len() - 1)), at);
    }
}

/// Returns the region that a copy reads as a list, which is empty if it is not followed.
fn list(read: Option<Region>) -> Vec<Region> {
    read.into_iter().collect()
}

/// The operands that a copy accesses, each with the kind of access.
fn touched_by_copy(copy: CopyOp) -> &'static [(usize, AccessKind)] {
    match copy {
        CopyOp::Cooperative { .. } => &[(2, AccessKind::Read), (1, AccessKind::Write)],
        CopyOp::Bulk(BulkDirection::GlobalToShared | BulkDirection::SharedToGlobal) => {
            &[(1, AccessKind::Read), (0, AccessKind::Write)]
        }
        CopyOp::Bulk(BulkDirection::SharedToPeer) => &[(1, AccessKind::Read), (0, AccessKind::AsyncWrite)],
        CopyOp::Tensor(TensorCopy::Load) => &[(0, AccessKind::Read), (2, AccessKind::Write)],
        CopyOp::Tensor(TensorCopy::Store | TensorCopy::Reduce(_)) => &[(2, AccessKind::Read), (0, AccessKind::Write)],
        CopyOp::Tensor(TensorCopy::Multicast) => &[(0, AccessKind::Read)],
        CopyOp::Tensor(TensorCopy::Prefetch | TensorCopy::Expect)
        | CopyOp::Store
        | CopyOp::Wait { .. }
        | CopyOp::BulkWait { .. } => &[],
    }
}
