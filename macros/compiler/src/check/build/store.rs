//! Stores to variables, to parts of them and to memory, by the function itself and by functions that it lends them to.

use phalanx_contract::uniformity::Uniformity;

use super::fields::{has_index_within, is_part_of_memory};
use super::memory::region_of_kind;
use super::{Builder, NodeId, Value, Variable};
use crate::check::cfg::{AccessKind, Covers, Extent, Region, Root, Source};
use crate::model::LocalId;
use crate::model::expr::{Callee, Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Stores a value to a place: a variable, a part of one, or memory.
    pub(super) fn store(&mut self, place: &'f Expr, value: &Value, at: SpanRange) {
        let behind = local_of(place);
        // The value may be computed of what the reference itself holds, which has to be so until the element is set.
        let first = behind.filter(|local| self.refers_to_element(*local));
        if let Some(local) = first {
            self.write_behind(local, value.node, at);
        }
        self.store_to(place, value, at);
        if let Some(local) = behind.filter(|_| first.is_none()) {
            self.write_behind(local, value.node, at);
        }
    }

    fn store_to(&mut self, variable: &'f Expr, value: &Value, at: SpanRange) {
        if let ExprKind::Local(local) = variable.kind {
            if let Kind::Memory(_) | Kind::Barrier(_) = variable.result_kind {
                let region = value.region.clone().unwrap_or_else(|| region_of_kind(variable.result_kind));
                self.stand_for(local, region, at);
            }
            return self.set(self.variable_of(local), value, at);
        }
        if let ExprKind::Field { base, member } = &variable.kind
            && let ExprKind::Local(local) = base.kind
        {
            let field = self.field(member);
            let variable = self.field_variable(local, field);
            if let Variable::Temporary(_) = variable {
                return self.set_node(variable, value.node, Extent::Part, at);
            }
            self.set_node(Variable::Local(local), value.node, Extent::Field, at);
            return self.set(variable, value, at);
        }
        if self.store_element(variable, value, at) {
            return;
        }
        // The place has operands of its own: indexes, and references.
        let value_place = self.variable(variable);
        let at_place = value_place.node;
        match (&variable.kind, local_of(variable)) {
            (ExprKind::Deref(target), Some(local)) if matches!(target.kind, ExprKind::Local(_)) => {
                self.set(self.variable_of(local), value, at);
            }
            (_, Some(local)) => {
                let value = self.combined(vec![value.node, at_place], at).node;
                self.set_node(self.variable_of(local), value, Extent::Part, at);
            }
            (_, None) => {
                let region = value_place.region.unwrap_or(Region::of(Root::Global));
                self.access(region, AccessKind::Write, variable.span);
                let covers = self.part_of_element(variable, at_place);
                if let Some(access) = self.accesses.last_mut() {
                    access.stored = Some(value.node);
                    if let Some(covers) = covers {
                        access.covers = covers;
                    }
                }
                if !value.fields.is_empty() {
                    self.last_access_writes(value);
                }
            }
        }
    }

    /// Returns which part of an element an assignment to a place covers, if the place is one.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other place is a part that nothing more is known of")]
    fn part_of_element(&mut self, variable: &'f Expr, place: NodeId) -> Option<Covers> {
        match &variable.kind {
            _ if variable.memory().is_some() => None,
            ExprKind::UncheckedPlace { .. } => None,
            ExprKind::Field { base, member } if base.memory().is_some() => {
                Some(Covers::Field(Some(self.field(member))))
            }
            ExprKind::Index { base, .. } if is_part_of_memory(base) => {
                let index = self.nodes[place.0].operands.get(1).copied();
                Some(index.map_or(Covers::Item { field: None, index: None }, |index| self.item_of(base, index)))
            }
            ExprKind::Field { base, .. } if has_index_within(base) => Some(Covers::Item { field: None, index: None }),
            _ => Some(Covers::Field(None)),
        }
    }

    /// Sets the variables that a device function may change through its arguments, and accesses the memory that it is lent.
    pub(super) fn lent(
        &mut self,
        callee: &Callee,
        arguments: &'f [Expr],
        values: &[Value],
        node: NodeId,
        at: SpanRange,
    ) {
        let how = if let Callee::Function(_) = callee { AccessKind::Lent } else { AccessKind::Opaque };
        for (position, (argument, value)) in arguments.iter().zip(values).enumerate() {
            let receiver = position == 0 && matches!(callee, Callee::Method(..));
            if let Some(local) = self.lent_local(argument, receiver) {
                // A function's summary does not say what it writes to a slice.
                let node = if let Kind::Memory(_) = argument.result_kind {
                    let what = "what a function writes to a slice";
                    self.node(Source::Known { uniformity: Uniformity::Divergent, what }, vec![node], at)
                } else {
                    node
                };
                self.set_node(self.variable_of(local), node, Extent::Part, at);
                self.write_behind(local, node, at);
            }
            let is_element = !matches!(argument.result_kind, Kind::Memory(_));
            if let (Some(_), Some(region)) = (argument.memory(), &value.region) {
                // Of memory that nothing writes, a method can learn nothing of other threads.
                let is_read = region.root == Root::ReadOnly && !matches!(callee, Callee::Function(_));
                let how = if is_read { AccessKind::Read } else { how };
                match (is_element, callee, receiver) {
                    // What is passed as a copy has been read.
                    (true, _, false) => {}
                    (true, Callee::Method(..), true) => {
                        self.access(region.clone(), how, at);
                        self.last_access_covers(Covers::Receiver);
                    }
                    _ => self.access(region.clone(), how, at),
                }
            } else if let Kind::TensorMap { .. } | Kind::OptionalMemory(Memory::Global | Memory::GlobalMut) =
                argument.result_kind
            {
                let param = self.parameter_of_map(argument);
                self.access(Region { param, ..region_of_kind(argument.result_kind) }, how, at);
            }
        }
    }

    /// The variable that a device function may change through this argument. A method may borrow its receiver; another value
    /// is passed as a copy.
    fn lent_local(&self, argument: &Expr, receiver: bool) -> Option<LocalId> {
        if let ExprKind::Borrow { mutable, target } = &argument.kind {
            return local_of(target).filter(|_| *mutable);
        }
        // A part of an array, as memory.
        if let ExprKind::Op { op: Op::Part { mutable: true, .. }, operands, .. } = &argument.kind {
            return self.lent_local(operands.first()?, false);
        }
        let local = local_of(argument)?;
        let may_change = if let Kind::Reference { mutable } = self.function.kind(local) {
            mutable
        } else {
            receiver && self.function.local(local).mutable.is_some()
        };
        may_change.then_some(local)
    }
}
