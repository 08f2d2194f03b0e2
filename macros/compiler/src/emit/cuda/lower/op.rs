//! Lowers operations, one arm each. They are matched without a wildcard, so that a new operation does not compile until
//! it is lowered.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{Lower, memory, peers};
use crate::emit::cuda::ast::{AtLaunchForm, CuExpr, CuStmt, Fragment};
use crate::emit::cuda::signature::{shape, template};
use crate::model::barrier::PhaseMethod;
use crate::model::copy::CopyOp;
use crate::model::expr::{Expr, ExprKind};
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::model::op::{Op, Part, Stored};
use crate::model::ty::ValueType;
use crate::model::walk::walk;
use crate::model::{SiteId, ValueId};
use crate::span::SpanRange;

impl Lower<'_> {
    pub(super) fn op(
        &mut self,
        op: Op,
        operands: &[Expr],
        (site, at): (Option<SiteId>, SpanRange),
        types: Option<&(ValueType, Option<ValueId>)>,
    ) -> CuExpr {
        let fence = site.and_then(|site| self.fences.inferred(site));
        let of_peer = operands.first().and_then(Expr::memory).is_some_and(peers::is_remote);
        let mut values = self.operands(&operands.iter().collect::<Vec<_>>());
        if may_be_of_warp(op) && self.whole_warps.contains(at) {
            let first = values.remove(0);
            values.insert(
                0,
                CuExpr::Method { base: Box::new(first), name: "whole_warp", arguments: Vec::new(), site: None },
            );
        }
        // What a stored vector is made of is evaluated before the condition is looked at.
        let guard = self.store_guard.clone().filter(|_| op == Op::StoreVec);
        if guard.is_some() {
            values = values.into_iter().map(|value| self.spill(value)).collect();
        }
        let mut values = values.into_iter();
        let mut method = |name: &'static str, site: Option<SiteId>| {
            let base = Box::new(values.next().unwrap_or_else(|| CuExpr::name("0")));
            CuExpr::Method { base, name, arguments: values.by_ref().collect(), site }
        };
        let unchecked = site.is_some_and(|site| self.unchecked.contains(&site));
        let call = match op {
            Op::This(group) => CuExpr::call(group.origin(), Vec::new()),
            Op::TiledPartition(_, size) => {
                let callee = template(Group::Tile.origin(), vec![Fragment::Digits(size)]);
                CuExpr::Call { callee, arguments: values.collect(), site }
            }
            Op::Partition(_, name) => CuExpr::call(name, values.collect()),
            Op::Warp(_, warp) => {
                let call = method(warp.name, None);
                if warp.name == "reduce" { marked(call, operands) } else { call }
            }
            Op::Query(_, query) => method(query.name, None),
            Op::Sync(_, BarrierMethod { name, .. })
            | Op::Arrive(_, BarrierMethod { name, .. })
            | Op::Wait(_, BarrierMethod { name, .. })
            | Op::Barrier(_, PhaseMethod { name, .. }) => match fence {
                Some(index) => {
                    let base = Box::new(values.next().unwrap_or_else(|| CuExpr::name("0")));
                    let arguments = values.chain(self.reads_before(index)).collect();
                    CuExpr::Barrier { base, name, index: index as u16, arguments }
                }
                // Where a launch waits that is past its deadline.
                None => method(name, site),
            },
            Op::Uniform(_) => method("uniform", None),
            // The token holds nothing that must be given back.
            Op::Forget(_) => CuExpr::call("static_cast<void>", values.collect()),
            Op::MapSharedRank(_) | Op::MapBarrier(_) => method("map_shared_rank", site),
            Op::QuerySharedRank => method("query_shared_rank", None),
            Op::Length => method("len", None),
            Op::IsEmpty => method("is_empty", None),
            Op::LoadUnchecked => self.read_of_peer(of_peer, method("get_unchecked", None)),
            Op::Is(variant) => method(variant.test(), None),
            Op::Take => method("take", None),
            Op::Unwrap => method("unwrap", site),
            Op::UnwrapOr => method("unwrap_or", None),
            Op::DynamicShared | Op::DynamicSharedSlice => {
                let name = if op == Op::DynamicShared { "dynamic_shared" } else { "dynamic_shared_slice" };
                let element = types.map(|(element, _)| shape(&element.shape)).unwrap_or_default();
                CuExpr::Call { callee: template(name, element), arguments: values.collect(), site }
            }
            Op::Part { form: Part::Array, mutable: true, .. } => {
                memory::function("slice_of_mut", values.collect(), None)
            }
            Op::Part { form, .. } if unchecked => memory::unchecked_part(form, values.collect(), site),
            Op::Part { form, .. } => {
                let operands: Vec<CuExpr> = values.collect();
                match site.and_then(|site| self.held_check(site)) {
                    Some(number) => {
                        let unchecked = memory::unchecked_part(form, operands.clone(), None);
                        let checked = memory::part(form, operands, site);
                        let form = AtLaunchForm::Otherwise(Box::new(unchecked));
                        CuExpr::AtLaunch { checks: vec![number], form, of: Box::new(checked) }
                    }
                    None => memory::part(form, operands, site),
                }
            }
            Op::SplitAt { .. } => memory::function("split_at", values.collect(), site),
            Op::LoadVec(lanes) if unchecked => {
                let vector = memory::load_vec("load_vec_unchecked", lanes, values.collect(), None);
                self.read_of_peer(of_peer, vector)
            }
            Op::LoadVec(lanes) if site.is_some_and(|site| self.deferred.contains_key(&site)) => {
                let (memory, index) = (values.next(), values.next());
                let (Some(memory), Some(index), Some(site)) = (memory, index, site) else { return CuExpr::name("0") };
                let index =
                    self.noted(template("deferred_vector", vec![Fragment::Digits(lanes)]), memory.clone(), index, site);
                let vector = memory::load_vec("load_vec_unchecked", lanes, vec![memory, index], None);
                self.read_of_peer(of_peer, vector)
            }
            Op::LoadVec(lanes) => {
                let vector = memory::load_vec("load_vec", lanes, self.held_index(values, site), site);
                self.read_of_peer(of_peer, vector)
            }
            Op::StoreVec if unchecked => memory::function("store_vec_unchecked", values.collect(), None),
            Op::StoreVec => memory::function("store_vec", self.held_index(values, site), site),
            Op::LoadMatrix { stored, matrix } => {
                let callee = template(stored.load(), vec![Fragment::Type(matrix)]);
                CuExpr::Call { callee, arguments: values.collect(), site }
            }
            Op::StoreMatrix { stored } => memory::function(stored.store(), values.collect(), site),
            Op::MmaAsync { product, left, right } => {
                let callee = template("mma_async", vec![Fragment::Type(product)]);
                let mut arguments: Vec<CuExpr> = values.collect();
                for (index, stored) in [(2, left.stored()), (3, right)] {
                    if let (Stored::Transposed, Some(tile)) = (stored, arguments.get_mut(index)) {
                        *tile = CuExpr::call("transposed", vec![std::mem::replace(tile, CuExpr::name("0"))]);
                    }
                }
                CuExpr::Call { callee, arguments, site }
            }
            Op::MmaWait { prior: None } => memory::function("wait_mma", values.collect(), None),
            Op::MmaWaitExceptLast { .. } => memory::function("wait_mma_except_last", values.collect(), None),
            Op::MmaWait { prior: Some(prior) } => {
                let callee = template("wait_mma_prior", vec![Fragment::Digits(prior)]);
                CuExpr::Call { callee, arguments: values.collect(), site: None }
            }
            Op::ChangeRegisters { change, count } => {
                let callee = template(change.name(), vec![Fragment::Digits(count)]);
                CuExpr::Call { callee, arguments: values.collect(), site: None }
            }
            // A `let` declares it: an array without a name cannot be used.
            Op::SharedArray(_) | Op::SharedBarrier(..) => CuExpr::name("0"),
            Op::Atomic(atomic) => memory::atomic(atomic, values.collect(), site),
            Op::Copy(copy) => memory::copy(copy, values.collect(), site),
            Op::Nanosleep => CuExpr::call("nanosleep", values.collect()),
            Op::LaunchDependents => CuExpr::call("launch_dependents", Vec::new()),
            Op::WaitPrevious => CuExpr::call("wait_previous", Vec::new()),
            Op::Fence(order, scope) => {
                CuExpr::call("fence", vec![CuExpr::name(order.cuda_name()), CuExpr::name(scope.cuda_name())])
            }
        };
        if guard.is_some() {
            self.store_if(guard, call);
            return CuExpr::name("0");
        }
        match op.recorded().filter(|_| self.function.options.profile) {
            Some((doing, group)) => recorded(doing, group, call, site),
            None => call,
        }
    }
}

/// Marks the closure that a reduction joins values by, if its text shows all that it does.
fn marked(mut reduction: CuExpr, operands: &[Expr]) -> CuExpr {
    let is_shown = operands.last().is_some_and(|operator| {
        let mut is_shown = matches!(operator.kind, ExprKind::Closure { .. });
        walk(operator, &mut |inner| {
            is_shown &= !matches!(inner.kind, ExprKind::CallClosure { .. } | ExprKind::Cuda(_));
        });
        is_shown
    });
    if let CuExpr::Method { arguments, .. } = &mut reduction
        && is_shown
        && let Some(closure) = arguments.pop()
    {
        arguments.push(CuExpr::Operator(Box::new(closure)));
    }
    reduction
}

/// Whether an operation has a form for whole warps: the lanes of the tile that is its first operand do it together, and it is no matter
/// if others join them, or threads wait at the barrier that is its first operand.
fn may_be_of_warp(op: Op) -> bool {
    matches!(
        op,
        Op::Warp(Group::Tile, _)
            | Op::Sync(Group::Tile, _)
            | Op::Copy(CopyOp::Wait { group: Group::Tile, .. })
            | Op::Barrier(..)
    )
}

/// Wraps an operation in `profiled<doing, group>([&]() { return call; })`, of profile.cuh.
fn recorded(doing: u32, group: u32, call: CuExpr, site: Option<SiteId>) -> CuExpr {
    let body = vec![CuStmt::Return(Some(call))];
    let lambda = CuExpr::Lambda { capture: "[&]".into(), params: Vec::new(), body };
    CuExpr::Call { callee: vec![Fragment::Text(format!("profiled<{doing}, {group}>"))], arguments: vec![lambda], site }
}
