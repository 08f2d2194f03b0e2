//! Accesses to memory whose bounds are checked, and the values that a region of a body, a loop or straight-line code,
//! does not change. `hoist` and `straight` test such accesses before the region.

use super::Lower;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::template;
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::facts::Effect;
use crate::model::kind::{Kind, Memory};
use crate::model::op::{Op, Part};
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId, ValueId};

/// The largest index that is tested, in expressions, with the `let`s that it names.
pub(super) const LARGEST_INDEX: usize = 40;

/// An access, which fails if its index is out of bounds.
pub(super) struct Access<'e> {
    pub(super) site: SiteId,
    pub(super) memory: &'e Expr,
    pub(super) index: &'e Expr,
    pub(super) form: AccessForm<'e>,
}

/// The form of an access.
pub(super) enum AccessForm<'e> {
    /// `memory[index]`
    Element,
    /// `&memory[index]`, a row of an array of arrays.
    Row,
    /// `memory.load_vec::<LANES>(index)`
    LoadVec(ValueId),
    /// `memory.store_vec(index, vector)`, with the vector.
    StoreVec(&'e Expr),
    /// `&memory[index..end]`, with the end.
    Range(&'e Expr),
    /// `&memory[index..]`
    From,
}

impl<'e> Access<'e> {
    pub(super) fn of(expr: &'e Expr) -> Option<Access<'e>> {
        match &expr.kind {
            ExprKind::Index { base, index, site } => {
                Some(Access { site: *site, memory: base, index, form: AccessForm::Element })
            }
            ExprKind::Op { op, operands, site: Some(site), .. } => {
                let form = match op {
                    Op::LoadVec(lanes) => AccessForm::LoadVec(*lanes),
                    Op::StoreVec => AccessForm::StoreVec(operands.get(2)?),
                    Op::Part { form: Part::Row, .. } => AccessForm::Row,
                    Op::Part { form: Part::Range, .. } => AccessForm::Range(operands.get(2)?),
                    Op::Part { form: Part::From, .. } => AccessForm::From,
                    _ => return None,
                };
                Some(Access { site: *site, memory: operands.first()?, index: operands.get(1)?, form })
            }
            _ => None,
        }
    }

    /// Whether the index and the length are constants.
    pub(super) fn is_constant(&self) -> bool {
        self.is_of_array() && self.index.integer().is_some() && self.range_end().is_none_or(is_constant)
    }

    /// Whether it is a range whose check the compiler of CUDA C++ decides.
    pub(super) fn is_constant_range(&self) -> bool {
        self.range_end().is_some() && self.is_constant()
    }

    fn range_end(&self) -> Option<&'e Expr> {
        match self.form {
            AccessForm::Range(end) => Some(end),
            AccessForm::Element
            | AccessForm::Row
            | AccessForm::LoadVec(_)
            | AccessForm::StoreVec(_)
            | AccessForm::From => None,
        }
    }

    /// Whether the length is a constant.
    pub(super) fn is_of_array(&self) -> bool {
        match self.memory.memory() {
            Some(Memory::SharedArray | Memory::RemoteArray) => true,
            Some(Memory::Global | Memory::GlobalMut | Memory::SharedSlice | Memory::RemoteSlice) | None => {
                row(self.memory).is_some()
            }
        }
    }

    /// Returns the number of lanes of a vector's access: `None` inside if the syntax does not show where the vector's
    /// type comes from.
    pub(super) fn lanes(&self, region: &impl Region) -> Option<Option<Vec<Fragment>>> {
        match self.form {
            AccessForm::Element | AccessForm::Row | AccessForm::Range(_) | AccessForm::From => None,
            AccessForm::LoadVec(lanes) => Some(Some(vec![Fragment::Digits(lanes)])),
            AccessForm::StoreVec(vector) => Some(region.lanes(vector)),
        }
    }
}

/// A region of a body, before which accesses inside of it are tested.
pub(super) trait Region {
    fn lower(&self) -> &Lower<'_>;

    /// Lowers an expression that the region does not change.
    fn lowered(&mut self, expr: &Expr) -> CuExpr;

    /// Whether the region may change a variable that exists before it.
    fn changes(&self, local: LocalId) -> bool;

    /// Returns the initial value of a variable that the region declares.
    fn init(&self, local: LocalId) -> Option<&Expr>;

    /// Whether the region declares a variable.
    fn declares(&self, local: LocalId) -> bool;

    /// Whether a variable exists before the region, and has one value throughout it. A reference refers to a variable of
    /// the caller.
    fn keeps(&self, local: LocalId) -> bool {
        let is_reference = matches!(self.lower().function.kind(local), Kind::Reference { .. });
        !self.declares(local) && !is_reference && !self.changes(local)
    }

    /// Returns the value of an expression that the region does not change, and whose evaluation cannot fail.
    fn fixed(&mut self, expr: &Expr) -> Option<CuExpr> {
        self.is_evaluable(expr).then(|| self.lowered(expr))
    }

    /// Whether the region does not change an expression, and its evaluation cannot fail.
    fn is_evaluable(&self, expr: &Expr) -> bool {
        let mut is_fixed = true;
        walk(expr, &mut |inner| is_fixed &= self.is_fixed(inner));
        is_fixed
    }

    /// Whether the region does not change an expression, and its evaluation does not fail, apart from its operands.
    fn is_fixed(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(local) => self.keeps(*local),
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Field { .. }
            | ExprKind::Axis(..) => true,
            ExprKind::Binary { op, right, .. } => op.is_arithmetic() && !may_fail(*op, right),
            ExprKind::Op { op, .. } => op.facts().effect == Effect::Pure,
            ExprKind::Method { method, .. } => method.bounds(),
            // A pure body reads only variables that are never assigned; what it declares itself is not printed here.
            ExprKind::CallClosure { closure, .. } => self.keeps(*closure) && self.lower().is_pure(*closure),
            _ => false,
        }
    }

    /// Returns the name of memory that is the same throughout the region. Instead of a peer's array it is the block's own, which is as long.
    fn memory(&self, memory: &Expr) -> Option<CuExpr> {
        let memory = match &memory.kind {
            ExprKind::Op { op: Op::MapSharedRank(Memory::SharedArray), operands, .. } => operands.get(1)?,
            _ => memory,
        };
        match (&memory.kind, memory.result_kind) {
            (ExprKind::Local(local), Kind::Memory(_)) if self.keeps(*local) => {
                Some(CuExpr::name(self.lower().names.local(*local)))
            }
            _ => None,
        }
    }

    /// Returns an expression whose type is that of an element of arrays of arrays. It is not evaluated.
    fn first_element(&self, memory: &Expr) -> Option<Vec<Fragment>> {
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

    /// Returns `callee<T>`, where `T` is the type of the rows of memory.
    fn of_rows(&self, callee: &str, memory: &Expr) -> Option<Vec<Fragment>> {
        let row = [vec!["decltype(".into()], self.first_element(memory)?, vec![")".into()]].concat();
        Some(template(callee, row))
    }

    /// Returns the number of lanes of a vector, if the syntax shows where its type comes from.
    fn lanes(&self, vector: &Expr) -> Option<Vec<Fragment>> {
        let of = |ty| Some([template("lanes_of", ty), vec!["()".into()]].concat());
        match &vector.kind {
            ExprKind::Op { op: Op::LoadVec(lanes), .. } => Some(vec![Fragment::Digits(*lanes)]),
            ExprKind::Vector { slot, .. } | ExprKind::Typed(_, slot) => of(vec![Fragment::Type(*slot)]),
            ExprKind::Local(local) => match self.init(*local) {
                Some(init) => self.lanes(init),
                None if self.declares(*local) => None,
                None => of(vec![Fragment::Text(format!("decltype({})", self.lower().names.local(*local)))]),
            },
            _ => None,
        }
    }
}

/// Returns the name of a test and what it is about. The test of `as<usize>(i)` is one of `i`, which knows the type of `i`.
pub(super) fn converted(callee: &'static str, index: CuExpr) -> (Vec<Fragment>, CuExpr) {
    match index {
        CuExpr::Call { callee: cast, mut arguments, .. }
            if cast.first() == Some(&"as<".into()) && arguments.len() == 1 =>
        {
            let ty = cast[1..].to_vec();
            ([vec![Fragment::Text(format!("{callee}_as<"))], ty].concat(), arguments.remove(0))
        }
        index => (vec![callee.into()], index),
    }
}

impl Lower<'_> {
    /// Whether an operation of numbers may fail in some launches.
    pub(super) fn may_fail(&self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let is_of_floats = self.floats.contains(left) || self.floats.contains(right);
        may_fail(op, right) && !divides_by_constant(op, right) && !is_of_floats
    }
}

/// Whether an operation of integers divides by a constant that has a name. It fails in each launch or in none.
pub(super) fn divides_by_constant(op: BinaryOp, right: &Expr) -> bool {
    op.divides() && matches!(right.kind, ExprKind::Constant(_))
}

/// Whether an operation of integers may fail. A literal is no divisor of -1.
pub(super) fn may_fail(op: BinaryOp, right: &Expr) -> bool {
    op.divides() && right.integer().is_none_or(|divisor| divisor == 0)
}

fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int { .. } | ExprKind::Constant(_))
}

/// Returns the memory of which an expression is an element that is an array.
pub(super) fn row(memory: &Expr) -> Option<&Expr> {
    match &memory.kind {
        ExprKind::Index { base, .. } => Some(base),
        ExprKind::Op { op: Op::Part { form: Part::Row, .. }, operands, .. } => operands.first(),
        _ => None,
    }
}
