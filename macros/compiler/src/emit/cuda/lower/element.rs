//! The types of elements and vectors in the tests of bounds, as C++ finds them from names and types that the text has.

use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind};
use crate::model::op::{Op, Part};

/// A place before which accesses are tested, where some variables are not declared yet.
pub(super) trait Before {
    /// Returns the text of memory that is the same at the place and at the access.
    fn memory(&mut self, memory: &Expr) -> Option<CuExpr>;

    /// Returns the initial value of a variable that is declared after the place: `Some(None)` if it has none that is known.
    fn declared_later(&self, local: LocalId) -> Option<Option<&Expr>>;

    fn name(&self, local: LocalId) -> String;

    /// Returns an expression whose type is that of an element of arrays of arrays. It is not evaluated.
    fn first_element(&mut self, memory: &Expr) -> Option<Vec<Fragment>> {
        let mut text = match row(memory) {
            Some(memory) => self.first_element(memory)?,
            None => match self.memory(memory)? {
                CuExpr::Atom(name) => name,
                _ => return None,
            },
        };
        text.push(".get_unchecked(0)".into());
        Some(text)
    }

    /// Returns the number of lanes of a vector, if the syntax shows where its type comes from.
    fn lanes(&self, vector: &Expr) -> Option<Vec<Fragment>> {
        let of = |ty: Vec<Fragment>| Some([vec!["lanes_of<".into()], ty, vec![">()".into()]].concat());
        match &vector.kind {
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => Some(vec![Fragment::Digits(*lanes)]),
            ExprKind::Vector { slot, .. } => of(vec![Fragment::Type(*slot)]),
            ExprKind::Local(local) => match self.declared_later(*local) {
                Some(init) => self.lanes(init?),
                None => of(vec![Fragment::Text(format!("decltype({})", self.name(*local)))]),
            },
            _ => None,
        }
    }

    /// Returns the lanes of an operation on vectors; `None` of another access.
    fn lanes_of(&self, op: Op, operands: &[Expr]) -> Option<Option<Vec<Fragment>>> {
        match op {
            Op::LoadVec(lanes) => Some(Some(vec![Fragment::Digits(lanes)])),
            Op::StoreVec => Some(Some(self.lanes(operands.get(2)?)?)),
            _ => Some(None),
        }
    }
}

/// Returns the memory of which an expression is an element that is an array.
pub(super) fn row(memory: &Expr) -> Option<&Expr> {
    match &memory.kind {
        ExprKind::Index { base, .. } => Some(base),
        ExprKind::Op { op: Op::Part { form: Part::Row, .. }, operands, .. } => operands.first(),
        _ => None,
    }
}
