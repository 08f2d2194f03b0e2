//! Memory: the region that an expression stands for, and the accesses to it.

use phalanx_contract::uniformity::Uniformity;

use super::{Builder, MemoryStep, Source, StepKind, Value, ValueStep, Variable};
use crate::check::cfg::{
    Access, AccessId, AccessKind, Completion, Content, Covers, NodeId, Region, Root, Select, Shared, Slice,
};
use crate::model::LocalId;
use crate::model::atomic::{AtomicAccess, AtomicUse};
use crate::model::barrier::{Barrier, BarrierForm};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::model::ty::ValueType;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Builds the parameters. A kernel's arguments are uniform in the grid; a device function's are known to its caller.
    pub(super) fn params(&mut self) {
        let function = self.function;
        for (index, param) in function.params.iter().enumerate() {
            let at = SpanRange::of(&function.local(param.local).name);
            let node = self.node(Source::Param(index), Vec::new(), at);
            self.set(Variable::Local(param.local), &Value::of(node), at);
            if let Some(team) = self.parameter_team(index) {
                self.teams.insert(param.local, team);
            }
            if let Kind::Memory(memory) = function.kind(param.local) {
                self.names.insert(Shared::Param(index), param.local);
                let region = Region::of(given(memory, Shared::Param(index)));
                let is_global = region.root.party().is_none();
                let region = Region { param: Some(index).filter(|_| is_global), ..region };
                self.stand_for(param.local, region, at);
            }
            if let Kind::Barrier(barrier) = function.kind(param.local) {
                self.names.insert(Shared::Param(index), param.local);
                self.stand_for(param.local, Region::of(barrier_root(barrier, Shared::Param(index))), at);
            }
        }
    }

    /// Binds a local to a region, until it is assigned anew.
    pub(super) fn stand_for(&mut self, local: LocalId, region: Region, at: SpanRange) {
        // What another name stands for now, it need not stand for later.
        if region.via.is_some() || self.reassigned.contains(&local) {
            self.reassigned.insert(local);
            self.step(StepKind::Value(ValueStep::Name { local, region }), at);
        } else {
            self.regions.insert(local, region);
        }
    }

    /// The region that a local of memory stands for.
    pub(super) fn region_of_local(&self, local: LocalId) -> Region {
        let kind = self.function.kind(local);
        if self.reassigned.contains(&local) {
            return Region { via: Some(local), ..region_of_kind(kind) };
        }
        self.regions.get(&local).cloned().unwrap_or_else(|| {
            // Memory without a region was taken out of an optional parameter.
            let Kind::Memory(memory) = kind else { return region_of_kind(kind) };
            Region::of(given(memory, Shared::Any))
        })
    }

    /// The region of an operation's result, if that is memory.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the kind of any other result gives a region that covers it")]
    pub(super) fn result_region(
        &mut self,
        op: Op,
        values: &[Value],
        element: Option<&ValueType>,
        result_kind: Kind,
    ) -> Option<Region> {
        let operand = |index: usize| values.get(index).and_then(|value| value.region.clone());
        let node = |index: usize| values.get(index).map(|value| value.node);
        Some(match op {
            Op::SharedArray(index) | Op::SharedBarrier(_, index) => Region::of(Root::Shared(Shared::Array(index))),
            Op::DynamicShared => {
                self.dynamic.push(element.and_then(|element| element.shape.bytes()));
                Region::of(Root::Shared(Shared::Dynamic))
            }
            Op::DynamicSharedSlice => {
                let size = element.and_then(|element| element.shape.bytes());
                self.slices.push(Slice { start: node(0)?, length: node(1)?, size });
                Region::of(Root::Shared(Shared::Slice(self.slices.len() - 1)))
            }
            Op::MapSharedRank(_) | Op::MapBarrier(_) => remote(operand(1)?, node(2)),
            // Nobody else writes an array of the thread's own while a function reads it.
            Op::Part { form: Part::Array, .. } => Region::of(Root::ReadOnly),
            Op::Part { form, .. } => {
                let (whole, first) = (operand(0)?, node(1)?);
                match (form, node(2)) {
                    (Part::Row, _) => whole.at(Select::At(first)),
                    // All of it, as a slice.
                    (Part::From, _) if matches!(self.nodes[first.0].source, Source::Integer(0)) => whole,
                    (Part::Range, Some(end)) => whole.several(Select::Range { start: first, end }),
                    (Part::Chunk | Part::ExactChunk, Some(index)) => {
                        whole.several(Select::Chunk { size: first, index })
                    }
                    (Part::From, _) => whole.several(Select::Half { mid: first, second: true }),
                    (Part::Range | Part::Chunk | Part::ExactChunk | Part::Inclusive | Part::Array, _) => {
                        whole.several(Select::Unknown)
                    }
                }
            }
            _ if matches!(result_kind, Kind::Memory(_) | Kind::Barrier(_)) => region_of_kind(result_kind),
            _ => return None,
        })
    }

    /// Adds an access to memory.
    pub(super) fn access(&mut self, region: Region, kind: AccessKind, at: SpanRange) {
        self.access_until(region, kind, None, at);
    }

    /// Accesses memory, in an asynchronous copy if the access is over only at its completion.
    pub(super) fn access_until(
        &mut self,
        region: Region,
        kind: AccessKind,
        completion: Option<Completion>,
        at: SpanRange,
    ) {
        self.accesses.push(Access {
            region,
            kind,
            given_to: self.given_to,
            completion,
            atomic: None,
            stored: None,
            covers: Covers::Whole,
            reads_value: false,
            at,
        });
        self.step(StepKind::Memory(MemoryStep::Access(AccessId(self.accesses.len() - 1))), at);
    }

    /// Accesses a part of a region, of which its path does not tell.
    pub(super) fn access_part(&mut self, region: Region, kind: AccessKind, covers: Covers, at: SpanRange) {
        self.access(region, kind, at);
        self.last_access_covers(covers);
    }

    /// The last access is one of a part of its region.
    pub(super) fn last_access_covers(&mut self, covers: Covers) {
        if let Some(access) = self.accesses.last_mut() {
            access.covers = covers;
        }
    }

    /// Notes what the last access writes.
    pub(super) fn last_access_writes(&mut self, value: &Value) {
        let fields = value.fields.iter().map(|(field, value)| (*field, value.node)).collect();
        let last = self.accesses.len().checked_sub(1).map(AccessId);
        self.contents.extend(last.map(|last| (last, Content { value: value.node, fields })));
    }

    /// Accesses memory by an atomic operation.
    pub(super) fn access_atomically(&mut self, region: Region, atomic: AtomicUse, at: SpanRange) {
        self.access(region, atomic_access(atomic), at);
        if let Some(access) = self.accesses.last_mut() {
            access.atomic = Some(atomic.method.access);
        }
    }

    /// Reads the elements that are passed by reference: a function that gets such a reference accesses no memory by it.
    pub(super) fn lend_elements(&mut self, arguments: &[Expr], values: &mut [Value]) {
        for (argument, value) in arguments.iter().zip(values) {
            if let ExprKind::Op { op, .. } = &argument.kind
                && op.lends_element()
            {
                *value = self.load(value.region.clone(), vec![value.node], argument.span);
            }
        }
    }

    /// Reads an element whose value is an expression of the source.
    pub(super) fn read_value(&mut self, region: Option<Region>, operands: Vec<NodeId>, at: SpanRange) -> Value {
        let value = self.load(region, operands, at);
        if let Some(access) = self.accesses.last_mut() {
            access.reads_value = true;
        }
        value
    }

    /// Reads an element, and returns its value.
    pub(super) fn load(&mut self, region: Option<Region>, operands: Vec<NodeId>, at: SpanRange) -> Value {
        let region = region.unwrap_or(Region::of(Root::Global));
        let root = region.root;
        self.access(region.clone(), AccessKind::Read, at);
        Value::of(self.node(Source::Load(root), operands, at)).in_memory(region)
    }

    /// Evaluates the operands of a place in memory, without reading it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other expression is evaluated as a value")]
    pub(super) fn variable(&mut self, expr: &'f Expr) -> Value {
        match &expr.kind {
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                let is_memory = base.memory().is_some();
                let base = self.variable(base);
                let index = self.value(index).node;
                let variable = self.combined(vec![base.node, index], expr.span);
                match base.region {
                    Some(region) if is_memory => variable.in_memory(region.at(Select::At(index))),
                    // A place within an element.
                    Some(region) => variable.in_memory(region),
                    None => variable,
                }
            }
            ExprKind::Field { base, .. } => self.variable(base),
            _ => self.value(expr),
        }
    }

    /// The value of an argument as a device function sees it: for memory, the value of its elements.
    pub(super) fn argument_node(&mut self, argument: &Expr, value: &Value) -> NodeId {
        match (argument.memory(), &value.region) {
            (Some(_), Some(Region { root: Root::Global, .. }) | None) => self.node(
                Source::Known { uniformity: Uniformity::Divergent, what: "memory that other threads may write to" },
                vec![value.node],
                argument.span,
            ),
            _ => value.node,
        }
    }
}

/// The kind of access of an atomic operation.
fn atomic_access(atomic: AtomicUse) -> AccessKind {
    // For a peer, an atomic of a narrower scope is a plain access (PTX ISA, Memory Consistency Model: morally strong).
    let for_peers = atomic.scope.is_none_or(|scope| scope.includes_cluster());
    match (atomic.method.access, for_peers) {
        (AtomicAccess::Load, true) => AccessKind::AtomicRead,
        (AtomicAccess::Load, false) => AccessKind::Read,
        (AtomicAccess::Store | AtomicAccess::Exchange | AtomicAccess::Update, true) => AccessKind::Atomic,
        (AtomicAccess::Store | AtomicAccess::Exchange | AtomicAccess::Update, false) => AccessKind::Write,
    }
}

/// Returns the same region in the shared memory of the block of this rank.
pub(super) fn remote(region: Region, rank: Option<NodeId>) -> Region {
    let root = match region.root {
        Root::Shared(shared) | Root::Remote(shared) => Root::Remote(shared),
        Root::ReadOnly | Root::Global => Root::Remote(Shared::Any),
    };
    Region { root, rank, ..region }
}

/// The region of an expression of which only the kind is known: it may be any object of that kind.
pub(super) fn region_of_kind(kind: Kind) -> Region {
    Region::of(match kind {
        Kind::OptionalMemory(memory) => given(memory, Shared::Any),
        // One of the objects that it may be could be written to.
        Kind::Memory(Memory::Global) => Root::Global,
        Kind::Memory(memory) => given(memory, Shared::Any),
        Kind::Barrier(barrier) => barrier_root(barrier, Shared::Any),
        Kind::TensorMap { mutable: false } => Root::ReadOnly,
        Kind::TensorMap { mutable: true } => Root::Global,
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

/// A barrier lies in shared memory as an object of its own.
fn barrier_root(barrier: Barrier, shared: Shared) -> Root {
    match barrier.form {
        BarrierForm::One | BarrierForm::Array => Root::Shared(shared),
        BarrierForm::Remote => Root::Remote(shared),
    }
}

/// The root of memory that a parameter refers to.
fn given(memory: Memory, shared: Shared) -> Root {
    match memory {
        Memory::Global => Root::ReadOnly,
        Memory::GlobalMut => Root::Global,
        Memory::SharedArray | Memory::SharedSlice => Root::Shared(shared),
        Memory::RemoteArray | Memory::RemoteSlice => Root::Remote(shared),
    }
}
