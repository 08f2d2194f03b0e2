//! `access_before_previous`: a kernel that calls `wait_previous()` may begin before the launches in front of it on its stream have ended.
//! Until a thread has waited for them, it leaves global memory alone, which they may read and write; and each thread waits before it
//! leaves the kernel, so that the end of this launch is the end of those, too.
//!
//! Whether a thread has waited is a fact of each point of the graph, which holds where it holds on all paths. That another thread has waited
//! says nothing. Parameters that the option `early` names may be read before: the launch sees to it that nothing before it that may still
//! run writes them. Prefetches change nothing, and shared memory is the block's own.
//!
//! Not checked here: memory that inline CUDA accesses and that is none of its operands.

use std::collections::BTreeSet;

use super::cfg::{AccessKind, Cfg, MemoryStep, Root, Step, StepKind};
use super::engine::{self, Analysis, Join};
use crate::diag::Diags;
use crate::messages;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::ty::ParamType;
use crate::model::walk::walk_block;
use crate::model::{Function, Role};
use crate::span::SpanRange;

/// Whether the thread has waited for the earlier launches, on all paths.
#[derive(Clone, Copy)]
struct Waited(bool);

impl Join for Waited {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.0;
        self.0 &= other.0;
        self.0 != before
    }
}

struct Previous;

impl Analysis for Previous {
    type State = Waited;

    fn entry(&self) -> Waited {
        Waited(false)
    }

    fn transfer(&self, state: &mut Waited, step: &Step) {
        match step.kind {
            StepKind::Memory(MemoryStep::WaitPrevious) => state.0 = true,
            StepKind::Memory(MemoryStep::Access(_) | MemoryStep::Fence)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    fn edge(&self, _: &mut Waited, _: &Cfg<'_>, _: super::cfg::BlockId, _: super::cfg::BlockId) {}
}

/// `access_before_previous`: global memory is accessed, and the kernel left, after `wait_previous()`.
///
/// ```text
/// let x = input[i];       // the launch before may still write it
/// wait_previous();
/// output[i] = x + 1.0;
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, diags: &mut Diags) {
    let Some(wait) = first_wait(function) else {
        if let Some(name) = function.options.early.first() {
            diags.push(messages::early_without_wait(SpanRange::of(name)));
        }
        return;
    };
    let early = early(function, diags);
    let states = engine::solve(&Previous, cfg);
    let mut reported = BTreeSet::new();
    engine::visit(&Previous, cfg, &states, |state, step| {
        let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return };
        let access = &cfg.accesses[id.0];
        if state.0 || !may_be_of_others(access.region.root, access.kind) {
            return;
        }
        let param = access.region.param.filter(|_| access.region.root == Root::ReadOnly);
        if param.is_some_and(|param| early.contains(&param)) {
            return;
        }
        if reported.insert((access.at.line(), access.at.column())) {
            let name = access.region.param.and_then(|param| function.params.get(param));
            let name = name.map(|param| function.local(param.local).name.to_string());
            diags.push(messages::access_before_previous(access.at, name.as_deref(), param.is_some(), wait));
        }
    });
    let left = engine::leaves(&Previous, cfg, &states).into_iter().find(|(_, state)| !state.0);
    if let (Some((block, _)), true) = (left, reported.is_empty()) {
        let at = block.steps.last().map_or(function.body.span, |step| step.at);
        diags.push(messages::exit_before_previous(at, wait));
    }
}

/// Whether an access may be one of memory that earlier launches use.
fn may_be_of_others(root: Root, kind: AccessKind) -> bool {
    match kind {
        // A kernel has no parameters that are closures.
        AccessKind::ByClosure => false,
        AccessKind::Read
        | AccessKind::Write
        | AccessKind::AtomicRead
        | AccessKind::Atomic
        | AccessKind::Lent
        | AccessKind::AsyncWrite
        | AccessKind::Opaque => root.party().is_none(),
    }
}

/// The place of the first `wait_previous()` of a kernel.
fn first_wait(function: &Function) -> Option<SpanRange> {
    let mut first = None;
    if function.role == Role::Kernel {
        walk_block(&function.body, &mut |expr: &Expr| {
            if let ExprKind::Op { op: Op::WaitPrevious, .. } = expr.kind {
                first.get_or_insert(expr.span);
            }
        });
    }
    first
}

/// The parameters that `early` names. One that does not exist, or that it cannot name, is reported.
fn early(function: &Function, diags: &mut Diags) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    for name in &function.options.early {
        let at = SpanRange::of(name);
        let position = function.params.iter().position(|param| function.local(param.local).name == *name);
        match position.map(|position| (position, &function.params[position].ty)) {
            None => diags.push(messages::no_early_parameter(at, &name.to_string())),
            Some((position, ParamType::Slice { mutable: false, .. } | ParamType::TensorMap { mutable: false, .. })) => {
                if !found.insert(position) {
                    diags.push(messages::repeated_early_parameter(at, &name.to_string()));
                }
            }
            Some((
                _,
                ParamType::Slice { .. }
                | ParamType::TensorMap { .. }
                | ParamType::OptionalSlice { .. }
                | ParamType::Value(_)
                | ParamType::Reference { .. }
                | ParamType::Group(_)
                | ParamType::Tile { .. }
                | ParamType::Memory { .. }
                | ParamType::Barrier { .. }
                | ParamType::Closure { .. },
            )) => diags.push(messages::wrong_early_parameter(at, &name.to_string())),
        }
    }
    found
}

/// The positions of a kernel's parameters that may be read before `wait_previous()`.
pub(crate) fn early_parameters(function: &Function) -> impl Iterator<Item = usize> {
    let is_early = |name: &proc_macro2::Ident| function.options.early.contains(name);
    let params = function.params.iter().enumerate();
    params.filter(move |(_, param)| is_early(&function.local(param.local).name)).map(|(position, _)| position)
}
