//! The values that the indexes of straight-line code have before it, and the tests of its accesses (`straight`).

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::access::{Access, AccessForm, LARGEST_INDEX, Region, divides_by_constant, may_fail, row};
use super::memory::unchecked_part;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::name::field_name;
use crate::emit::cuda::signature::{cast, shape, template};
use crate::model::expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::model::op::{Op, Part};
use crate::model::ty::{TypeShape, ValueType};
use crate::model::walk::walk;
use crate::model::{LocalId, Role, SiteId};

/// The value of an expression before a run, and its size in expressions.
#[derive(Clone)]
struct Known {
    text: CuExpr,
    size: usize,
}

/// The test of an access, a call.
#[derive(PartialEq)]
pub(super) struct Test {
    callee: Vec<Fragment>,
    arguments: Vec<CuExpr>,
}

impl Test {
    /// Returns the text of the test, which fails at this site.
    pub(super) fn at(&self, site: SiteId) -> CuExpr {
        CuExpr::Call { callee: self.callee.clone(), arguments: self.arguments.clone(), site: Some(site) }
    }
}

/// The values of variables before a run, and whether they still have them where the run has got to.
pub(super) struct Values<'l, 'f, 'e> {
    pub(super) lower: &'l mut Lower<'f>,
    pub(super) variables: Variables<'e>,
}

/// The variables that the run has declared or assigned so far, with what is known of their values.
#[derive(Clone, Default)]
pub(super) struct Variables<'e> {
    pub(super) declared: BTreeSet<LocalId>,
    assigned: BTreeSet<LocalId>,
    /// The values of variables that the run has declared.
    lets: BTreeMap<LocalId, Known>,
    /// The initial expressions of these variables.
    inits: BTreeMap<LocalId, &'e Expr>,
    /// The parts of memory that variables name, of memory that exists before the run.
    parts: BTreeMap<LocalId, CuExpr>,
    /// The numbers that the variables of loops have in the iteration where the run is.
    numbers: BTreeMap<LocalId, u64>,
}

impl<'l, 'f, 'e> Values<'l, 'f, 'e> {
    pub(super) fn new(lower: &'l mut Lower<'f>) -> Self {
        Values { lower, variables: Variables::default() }
    }

    /// Begins the run anew after what it has seen so far.
    pub(super) fn restart(&mut self) {
        self.variables = Variables::default();
    }

    /// Declares the variable of a loop with the number that it has in an iteration, whose text is `value`.
    pub(super) fn declare_number(&mut self, local: LocalId, number: u64, value: CuExpr) {
        self.variables.lets.insert(local, Known { text: value, size: 1 });
        self.variables.numbers.insert(local, number);
        self.variables.declared.insert(local);
    }

    /// Returns the number that an index is in the iterations of loops where the run is, if the text gives it.
    pub(super) fn number(&self, index: &Expr) -> Option<u64> {
        match &index.kind {
            ExprKind::Local(local) => self.variables.numbers.get(local).copied(),
            ExprKind::Binary { op: BinaryOp::Add, left, right, .. } => {
                self.number(left)?.checked_add(self.number(right)?)
            }
            ExprKind::Binary { op: BinaryOp::Mul, left, right, .. } => {
                self.number(left)?.checked_mul(self.number(right)?)
            }
            _ => index.integer(),
        }
    }

    pub(super) fn declare(&mut self, local: LocalId, ty: Option<&ValueType>, init: Option<&'e Expr>) {
        // A closure declares its variables at each call.
        self.variables.lets.remove(&local);
        self.variables.parts.remove(&local);
        if let Some(init) = init {
            self.variables.inits.insert(local, init);
            if let ExprKind::Op { op: Op::Part { .. }, .. } = init.kind
                && !self.lower.borrowed.contains(&local)
                && let Some(part) = self.part(init)
            {
                self.variables.parts.insert(local, part);
            }
            if !self.lower.borrowed.contains(&local)
                && let Some(value) = self.typed(init, ty)
            {
                self.variables.lets.insert(local, value);
            }
        }
        self.variables.declared.insert(local);
    }

    pub(super) fn assign(&mut self, local: LocalId) {
        self.variables.assigned.insert(local);
        self.variables.lets.remove(&local);
        self.variables.numbers.remove(&local);
        self.variables.parts.remove(&local);
    }

    /// Returns the test of an access.
    pub(super) fn test(&mut self, access: &Access<'_>) -> Option<Test> {
        let index = self.index(access.index)?;
        if let AccessForm::From = access.form {
            let callee = vec!["from_within".into()];
            return Some(Test { callee, arguments: vec![self.part(access.memory)?, index] });
        }
        if let AccessForm::Range(end) = access.form {
            let ends = [index, self.index(end)?];
            let (callee, memory) = match row(access.memory) {
                None => (vec!["range_within".into()], Some(self.part(access.memory)?)),
                Some(rows) => (self.of_rows("row_range_within", rows)?, None),
            };
            return Some(Test { callee, arguments: memory.into_iter().chain(ends).collect() });
        }
        let (name, memory) = match (access.lanes(self), row(access.memory)) {
            (None, None) => (vec!["within".into()], vec![self.part(access.memory)?]),
            (None, Some(rows)) => (self.of_rows("within_row", rows)?, Vec::new()),
            (Some(lanes), None) => (template("vector_within", lanes?), vec![self.part(access.memory)?]),
            (Some(lanes), Some(rows)) => {
                let row = self.index(Access::of(access.memory)?.index)?;
                (template("row_vector_within", lanes?), vec![self.memory(rows)?, row])
            }
        };
        Some(Test { callee: name, arguments: memory.into_iter().chain([index]).collect() })
    }

    /// Returns the text of memory that exists before the run, or is a part of such memory. It reads nothing, and does not fail.
    fn part(&mut self, memory: &Expr) -> Option<CuExpr> {
        match &memory.kind {
            ExprKind::Local(local) if self.variables.parts.contains_key(local) => {
                self.variables.parts.get(local).cloned()
            }
            ExprKind::Op { op: Op::Part { form: form @ (Part::Range | Part::From), .. }, operands, .. } => {
                let (memory, bounds) = operands.split_first()?;
                let memory = self.part(memory)?;
                let bounds = bounds.iter().map(|bound| self.index(bound)).collect::<Option<Vec<_>>>()?;
                Some(unchecked_part(*form, std::iter::once(memory).chain(bounds).collect(), None))
            }
            _ => self.memory(memory),
        }
    }

    /// Returns the test of the bounds of `clamp`, which fails unless they are in order.
    pub(super) fn ordered(&mut self, low: &Expr, high: &Expr) -> Option<Test> {
        let arguments = vec![self.index(low)?, self.index(high)?];
        Some(Test { callee: vec!["ordered".into()], arguments })
    }

    /// Returns the value of a variable's initial value, which has the type that the declaration gives it.
    fn typed(&mut self, init: &Expr, ty: Option<&ValueType>) -> Option<Known> {
        let value = self.same(init)?;
        let Some(ty) = ty else { return Some(value) };
        match ty.shape {
            TypeShape::Scalar(..) => {
                // A literal has a type of its own otherwise, which tells two of the same number apart.
                let literal = small_literal(init).map(|literal| CuExpr::name(&literal.to_string()));
                let value = Known { text: literal.unwrap_or(value.text), size: value.size };
                let text = CuExpr::Call { callee: shape(&ty.shape), arguments: vec![value.text], site: None };
                Some(Known { text, size: value.size })
            }
            TypeShape::Named(_)
            | TypeShape::Array(..)
            | TypeShape::Option(_)
            | TypeShape::Tuple(_)
            | TypeShape::Token(_)
            | TypeShape::BarrierToken(_)
            | TypeShape::OptionalToken(_) => None,
        }
    }

    fn index(&mut self, index: &Expr) -> Option<CuExpr> {
        self.same(index).map(|index| index.text)
    }

    /// Returns the value of a condition before the run, which is the same where the run evaluates it.
    pub(super) fn condition(&mut self, condition: &Expr) -> Option<CuExpr> {
        self.same(condition).map(|condition| condition.text)
    }

    /// Returns the value of an expression before the run, which is the same where the run evaluates it. Two evaluations
    /// of floats may differ if one of them is contracted to a fused operation, and only a cast makes an index of them,
    /// only a comparison a condition.
    fn same(&mut self, expr: &Expr) -> Option<Known> {
        let is_computed = |inner: &Expr| match &inner.kind {
            // The text of a method may multiply and add.
            ExprKind::Binary { .. } | ExprKind::Method { .. } | ExprKind::CallClosure { .. } => true,
            ExprKind::Local(local) => self.variables.lets.get(local).is_some_and(|value| value.size > 1),
            _ => false,
        };
        let mut may_differ = false;
        let mut differs = |value| {
            walk(value, &mut |inner| may_differ |= is_computed(inner) && !self.lower.integers.contains(inner));
        };
        walk(expr, &mut |inner| match &inner.kind {
            ExprKind::Cast(value, _) => differs(value),
            ExprKind::Binary { op, left, right, .. } if !op.is_arithmetic() && !op.short_circuits() => {
                differs(left);
                differs(right);
            }
            _ => {}
        });
        let function = self.lower.function;
        // A device function is contracted if its kernel is.
        let contracts = function.role != Role::Kernel || function.options.fmad || function.options.fast_math;
        if contracts && may_differ { None } else { self.known(expr) }
    }

    fn known(&mut self, expr: &Expr) -> Option<Known> {
        let operation = |parts: &[&Known]| 1 + parts.iter().map(|part| part.size).sum::<usize>();
        let known = match &expr.kind {
            ExprKind::Local(local) if self.variables.declared.contains(local) => {
                self.variables.lets.get(local)?.clone()
            }
            ExprKind::Cast(value, ty) => {
                let value = self.known(value)?;
                let size = operation(&[&value]);
                Known { text: CuExpr::Call { callee: cast(ty), arguments: vec![value.text], site: None }, size }
            }
            ExprKind::Field { base, member } => {
                let base = self.known(base)?;
                Known { text: base.text.field(field_name(member)), size: base.size + 1 }
            }
            ExprKind::Unary(UnaryOp::Not, value) => {
                let value = self.known(value)?;
                Known { size: operation(&[&value]), text: value.text.not() }
            }
            ExprKind::Binary { op, left, right, .. } if !may_fail(*op, right) => {
                let (left, right) = (self.known(left)?, self.known(right)?);
                let size = operation(&[&left, &right]);
                // Neither operand has an effect or can fail, so that none is worth a branch.
                let op = match op {
                    BinaryOp::And => "&",
                    BinaryOp::Or => "|",
                    _ => op.symbol(),
                };
                Known { text: CuExpr::infix(op, left.text, right.text, None), size }
            }
            ExprKind::Binary { op, left, right, .. } if divides_by_constant(*op, right) => {
                let (left, right) = (self.known(left)?, self.known(right)?);
                let size = operation(&[&left, &right]);
                let callee = if *op == BinaryOp::Div { "constant_quotient" } else { "constant_remainder" };
                Known { text: CuExpr::call(callee, vec![left.text, right.text]), size }
            }
            ExprKind::Method { method, operands, .. } if method.fails.is_none() || method.name == "clamp" => {
                let operands = operands.iter().map(|operand| self.known(operand)).collect::<Option<Vec<_>>>()?;
                let size = operation(&operands.iter().collect::<Vec<_>>());
                let arguments = operands.into_iter().map(|operand| operand.text).collect();
                let name = if method.fails.is_none() { method.name } else { "clamped" };
                Known { text: CuExpr::Call { callee: vec![name.into()], arguments, site: None }, size }
            }
            ExprKind::CallClosure { closure, arguments, .. }
                if self.keeps(*closure) && self.lower.is_pure(*closure) =>
            {
                let arguments = arguments.iter().map(|argument| self.known(argument)).collect::<Option<Vec<_>>>()?;
                let size = operation(&arguments.iter().collect::<Vec<_>>());
                let callee = vec![Fragment::Text(self.lower.names.local(*closure).to_string())];
                let arguments = arguments.into_iter().map(|argument| argument.text).collect();
                Known { text: CuExpr::Call { callee, arguments, site: None }, size }
            }
            _ => Known { text: self.fixed(expr)?, size: 1 },
        };
        (known.size <= LARGEST_INDEX).then_some(known)
    }
}

/// Returns the value of a literal that is an `int` in C++, too.
fn small_literal(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Neg, inner) => Some(-small_literal(inner)?),
        _ => expr.integer().and_then(|value| i32::try_from(value).ok()).map(i64::from),
    }
}

impl Region for Values<'_, '_, '_> {
    fn lower(&self) -> &Lower<'_> {
        self.lower
    }

    fn lowered(&mut self, expr: &Expr) -> CuExpr {
        self.lower.beforehand(|lower| lower.value(expr))
    }

    // What a reference refers to may change where the variable is not named.
    fn changes(&self, local: LocalId) -> bool {
        self.variables.assigned.contains(&local) || self.lower.borrowed.contains(&local)
    }

    fn init(&self, local: LocalId) -> Option<&Expr> {
        self.variables.inits.get(&local).copied()
    }

    fn declares(&self, local: LocalId) -> bool {
        self.variables.declared.contains(&local)
    }
}
