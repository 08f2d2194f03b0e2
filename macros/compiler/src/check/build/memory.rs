//! Memory: which piece an expression is a part of, and what is done to it.

use phalanx_contract::uniformity::Uniformity;

use super::{Builder, Place, Source, StepKind, Value};
use crate::check::cfg::{Access, AccessId, How, NodeId, Piece, Root, Select, Shared, Slice};
use crate::model::LocalId;
use crate::model::atomic::{AtomicAccess, AtomicUse};
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::model::ty::ValueType;
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
            if let Kind::Memory(memory) = function.kind(param.local) {
                self.names.insert(Shared::Param(index), param.local);
                self.pieces.insert(param.local, Piece::of(given(memory, Shared::Param(index))));
            }
            if let Kind::Barrier(barrier) = function.kind(param.local) {
                self.names.insert(Shared::Param(index), param.local);
                self.pieces.insert(param.local, Piece::of(barrier_root(barrier, Shared::Param(index))));
            }
        }
    }

    /// What a local that is memory names.
    pub(super) fn piece_of_local(&self, local: LocalId) -> Piece {
        self.pieces.get(&local).cloned().unwrap_or_else(|| match self.function.kind(local) {
            // Taken out of an optional parameter.
            Kind::Memory(memory) => Piece::of(given(memory, Shared::Any)),
            kind => piece_of_kind(kind),
        })
    }

    /// What memory an expression is a part of, where nothing of it is evaluated: in the body of a closure.
    pub(super) fn piece_unseen(&self, expr: &Expr) -> Piece {
        match &expr.kind {
            ExprKind::Local(local) => self.piece_of_local(*local),
            ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } | ExprKind::Field { base, .. } => {
                self.piece_unseen(base).at(Select::Unknown)
            }
            ExprKind::Borrow { target, .. } | ExprKind::Deref(target) => self.piece_unseen(target),
            ExprKind::Op { op: Op::MapSharedRank(_) | Op::MapBarrier(_), operands, .. } => match operands.get(1) {
                Some(array) => remote(self.piece_unseen(array), None),
                None => piece_of_kind(expr.result_kind),
            },
            ExprKind::Op { operands, .. } => match operands.first() {
                Some(memory) => self.piece_unseen(memory).several(Select::Unknown),
                None => piece_of_kind(expr.result_kind),
            },
            _ => piece_of_kind(expr.result_kind),
        }
    }

    /// What an operation gives that gives memory.
    pub(super) fn piece_of_op(
        &mut self,
        op: Op,
        values: &[Value],
        element: Option<&ValueType>,
        gives: Kind,
    ) -> Option<Piece> {
        let operand = |index: usize| values.get(index).and_then(|value| value.piece.clone());
        let node = |index: usize| values.get(index).map(|value| value.node);
        Some(match op {
            Op::SharedArray(index) | Op::SharedBarrier(_, index) => Piece::of(Root::Shared(Shared::Array(index))),
            Op::DynamicShared => Piece::of(Root::Shared(Shared::Dynamic)),
            Op::DynamicSharedSlice => {
                let size = element.and_then(|element| element.shape.bytes());
                self.slices.push(Slice { start: node(0)?, length: node(1)?, size });
                Piece::of(Root::Shared(Shared::Slice(self.slices.len() - 1)))
            }
            Op::MapSharedRank(_) | Op::MapBarrier(_) => remote(operand(1)?, node(2)),
            Op::Part { form, .. } => {
                let (whole, first) = (operand(0)?, node(1)?);
                match (form, node(2)) {
                    (Part::Row, _) => whole.at(Select::At(first)),
                    (Part::Range, Some(end)) => whole.several(Select::Range { start: first, end }),
                    (Part::Chunk, Some(index)) => whole.several(Select::Chunk { size: first, index }),
                    (Part::Range | Part::Chunk | Part::Inclusive | Part::From, _) => whole.several(Select::Unknown),
                }
            }
            _ if matches!(gives, Kind::Memory(_)) => piece_of_kind(gives),
            _ => return None,
        })
    }

    /// Memory is touched.
    pub(super) fn access(&mut self, piece: Piece, how: How, at: SpanRange) {
        self.accesses.push(Access { piece, how, at });
        self.step(StepKind::Access(AccessId(self.accesses.len() - 1)), at);
    }

    /// An element is read: its value.
    pub(super) fn load(&mut self, piece: Option<Piece>, operands: Vec<NodeId>, at: SpanRange) -> Value {
        let piece = piece.unwrap_or(Piece::of(Root::Global));
        let root = piece.root;
        self.access(piece.clone(), How::Read, at);
        Value::of(self.node(Source::Load(root), operands, at)).in_memory(piece)
    }

    /// A place in memory: what leads to it is evaluated, and nothing is read.
    pub(super) fn place(&mut self, expr: &'f Expr) -> Value {
        match &expr.kind {
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                let is_memory = base.memory().is_some();
                let base = self.place(base);
                let index = self.value(index).node;
                let place = self.combined(vec![base.node, index], expr.span);
                match base.piece {
                    Some(piece) if is_memory => place.in_memory(piece.at(Select::At(index))),
                    // In an element.
                    Some(piece) => place.in_memory(piece),
                    None => place,
                }
            }
            ExprKind::Field { base, .. } => self.place(base),
            _ => self.value(expr),
        }
    }

    /// What a device function sees of an argument: of memory, what is in it.
    pub(super) fn seen(&mut self, argument: &Expr, value: &Value) -> NodeId {
        match (argument.memory(), &value.piece) {
            (Some(_), Some(Piece { root: Root::Global, .. }) | None) => self.node(
                Source::Known { uniformity: Uniformity::Divergent, what: "memory that others may write to" },
                vec![value.node],
                argument.span,
            ),
            _ => value.node,
        }
    }
}

/// What an atomic operation does.
pub(super) fn atomically(atomic: AtomicUse) -> How {
    match atomic.method.access {
        AtomicAccess::Load => How::AtomicRead,
        AtomicAccess::Store | AtomicAccess::Update => How::Atomic,
    }
}

/// The same piece, of the peer of this rank.
fn remote(piece: Piece, rank: Option<NodeId>) -> Piece {
    let root = match piece.root {
        Root::Shared(shared) | Root::Remote(shared) => Root::Remote(shared),
        Root::ReadOnly | Root::Global => Root::Remote(Shared::Any),
    };
    Piece { root, rank, ..piece }
}

/// Which of several, nobody here knows.
pub(super) fn piece_of_kind(kind: Kind) -> Piece {
    Piece::of(match kind {
        Kind::OptionalMemory(memory) => given(memory, Shared::Any),
        // Of several: one may be written to.
        Kind::Memory(Memory::Global) => Root::Global,
        Kind::Memory(memory) => given(memory, Shared::Any),
        Kind::Barrier(barrier) => barrier_root(barrier, Shared::Any),
        Kind::Unknown
        | Kind::Value
        | Kind::Reference { .. }
        | Kind::Extent
        | Kind::Unit
        | Kind::Never
        | Kind::Group(_)
        | Kind::Token(_)
        | Kind::OptionalToken(_)
        | Kind::Closure => Root::Global,
    })
}

/// A barrier lies in shared memory of its own.
fn barrier_root(barrier: Barrier, shared: Shared) -> Root {
    match barrier.form {
        BarrierForm::One | BarrierForm::Array => Root::Shared(shared),
        BarrierForm::Remote => Root::Remote(shared),
    }
}

/// Memory of a parameter.
fn given(memory: Memory, shared: Shared) -> Root {
    match memory {
        Memory::Global => Root::ReadOnly,
        Memory::GlobalMut => Root::Global,
        Memory::SharedArray | Memory::SharedSlice => Root::Shared(shared),
        Memory::RemoteArray | Memory::RemoteSlice => Root::Remote(shared),
    }
}
