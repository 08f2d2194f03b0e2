//! Locals that the text shows to be arrays: by their type, by their value, or by what their pattern takes apart. Arrays have methods of
//! their own, as `map`, which other values have, too.

use super::Parser;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::Variant;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty::{ParamType, TypeShape};

/// A value as the source shows it: by its expression, or by its type alone.
#[derive(Clone, Copy)]
enum Shown<'a> {
    Value(&'a Expr),
    Type(&'a TypeShape),
}

impl Parser<'_> {
    /// Notes which of the locals are arrays that a pattern binds to parts of a value.
    pub(super) fn note_arrays(&mut self, pattern: &Pattern, value: &Expr) {
        let hint = self.hint(value);
        self.hint_parts(pattern, &hint);
        let mut arrays = Vec::new();
        self.arrays_of(pattern, Shown::Value(value), &mut arrays);
        for local in arrays {
            self.function.locals[local.0].is_array = true;
        }
    }

    fn arrays_of(&self, pattern: &Pattern, shown: Shown<'_>, arrays: &mut Vec<LocalId>) {
        let stated = match shown {
            Shown::Value(Expr { kind: ExprKind::Local(local), .. }) => self.function.local(*local).ty.as_ref(),
            Shown::Value(_) | Shown::Type(_) => None,
        };
        let shown = stated.map_or(shown, |ty| Shown::Type(&ty.shape));
        match &pattern.kind {
            PatternKind::Bind { local, sub } => {
                let is_array = match shown {
                    Shown::Value(value) => self.is_array(value),
                    Shown::Type(shape) => matches!(shape, TypeShape::Array(..)),
                };
                arrays.extend(is_array.then_some(*local));
                sub.iter().for_each(|sub| self.arrays_of(sub, shown, arrays));
            }
            PatternKind::Array { others: Some(others), .. } => {
                arrays.extend(others.locals());
            }
            PatternKind::Tuple { elements, .. } => {
                let parts: Vec<Shown<'_>> = match shown {
                    Shown::Value(Expr { kind: ExprKind::Tuple { elements, .. }, .. }) => {
                        elements.iter().map(Shown::Value).collect()
                    }
                    Shown::Type(TypeShape::Tuple(shapes)) => shapes.iter().map(Shown::Type).collect(),
                    Shown::Value(_) | Shown::Type(_) => return,
                };
                for (element, part) in elements.iter().zip(parts) {
                    self.arrays_of(element, part, arrays);
                }
            }
            PatternKind::Variant { variant: Variant::Some, field: Some(field) } => match shown {
                Shown::Value(Expr { kind: ExprKind::Some(inner), .. }) => {
                    self.arrays_of(field, Shown::Value(inner), arrays);
                }
                Shown::Type(TypeShape::Option(inner)) => self.arrays_of(field, Shown::Type(inner), arrays),
                Shown::Value(_) | Shown::Type(_) => {}
            },
            _ => {}
        }
    }

    /// Whether syntax shows that a value is an array, or a reference to one.
    pub(super) fn is_array(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Array { .. } | ExprKind::Repeat { .. } => true,
            ExprKind::Local(local) => {
                let local = self.function.local(*local);
                local.is_array && local.kind == Kind::Value
            }
            ExprKind::Borrow { target, .. } => {
                matches!(target.kind, ExprKind::Local(local) if self.function.local(local).is_array)
            }
            // A row of shared memory, or of a parameter.
            ExprKind::Index { base, .. } => {
                let ExprKind::Local(local) = base.kind else { return false };
                self.function.local(local).rows.is_some() || self.has_rows(local)
            }
            _ => false,
        }
    }

    /// Whether a local is a parameter whose elements are arrays.
    fn has_rows(&self, local: LocalId) -> bool {
        let params = self.function.params.iter();
        params.filter(|param| param.local == local).any(|param| match &param.ty {
            ParamType::Slice { element, .. } | ParamType::Memory { element, .. } => {
                matches!(element.shape, TypeShape::Array(..))
            }
            ParamType::Value(_)
            | ParamType::Reference { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => false,
        })
    }
}
