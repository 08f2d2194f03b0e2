//! Memory: which piece an expression is a part of, and who may have changed it.

use super::{Builder, Place, Root, Source, StepKind, Value};
use crate::check::cfg::{NodeId, Shared};
use crate::check::scope::Scope;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::Op;
use crate::model::ty::{Kind, Memory};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// What a kernel was launched with is the same for all of the grid; what a device function was called with, its
    /// caller knows.
    pub(super) fn params(&mut self) {
        let function = self.function;
        for (index, param) in function.params.iter().enumerate() {
            let at = SpanRange::of(&function.local(param.local).name);
            let node = self.node(Source::Param(index), Vec::new(), at);
            self.set(Place::Local(param.local), &Value::of(node), at);
            if let Some(team) = self.team_of_param(index) {
                self.teams.insert(param.local, team);
            }
        }
    }

    pub(super) fn root(&self, expr: &Expr) -> Root {
        match &expr.kind {
            ExprKind::Local(local) => {
                self.roots.get(local).copied().unwrap_or_else(|| match self.function.kind(*local) {
                    Kind::Memory(memory) | Kind::OptionalMemory(memory) => given(memory),
                    _ => Root::Global,
                })
            }
            ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } => self.root(base),
            ExprKind::Borrow { target, .. } | ExprKind::Deref(target) => self.root(target),
            ExprKind::Op { op, operands, .. } => match (op, operands.first()) {
                (Op::SharedArray(index), _) => Root::Shared(Shared::Array(*index)),
                (Op::DynamicShared | Op::DynamicSharedSlice, _) => Root::Shared(Shared::Dynamic),
                (Op::MapSharedRank(_), _) => match operands.get(1).map(|array| self.root(array)) {
                    Some(Root::Shared(shared)) => Root::Remote(shared),
                    _ => Root::Remote(Shared::Given),
                },
                (_, Some(memory)) => self.root(memory),
                (_, None) => Root::Global,
            },
            _ => match expr.memory() {
                // Which of several, nobody here knows.
                Some(Memory::Global | Memory::GlobalMut) | None => Root::Global,
                Some(memory) => given(memory),
            },
        }
    }

    /// Memory is written to, through this expression.
    pub(super) fn write(&mut self, memory: &Expr, at: SpanRange) {
        let root = self.root(memory);
        self.step(StepKind::Write(root), at);
    }

    /// What a device function sees of an argument: of memory, what is in it.
    pub(super) fn seen(&mut self, argument: &Expr, node: NodeId) -> NodeId {
        match (argument.memory(), self.root(argument)) {
            (Some(_), Root::Global) => self.node(
                Source::Known { scope: Scope::Nothing, what: "memory that others may write to" },
                vec![node],
                argument.span,
            ),
            (Some(_), Root::ReadOnly | Root::Shared(_) | Root::Remote(_)) | (None, _) => node,
        }
    }
}

/// Memory of a parameter.
fn given(memory: Memory) -> Root {
    match memory {
        Memory::Global => Root::ReadOnly,
        Memory::GlobalMut => Root::Global,
        Memory::SharedArray | Memory::SharedSlice => Root::Shared(Shared::Given),
        Memory::RemoteArray | Memory::RemoteSlice => Root::Remote(Shared::Given),
    }
}
