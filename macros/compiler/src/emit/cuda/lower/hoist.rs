//! Lowers a loop over memory to two: one without checks of the accesses that a test before it shows to be within
//! bounds, for all of its iterations, and one with them, which runs if the test fails and reports the first access that
//! is out of bounds. The test computes with intervals of values (interval.cuh). It is about an access whose index comes,
//! by arithmetic, from the variables of the loop and of loops inside of it, and from values that the loop does not
//! change. The tests never fail themselves. What is not understood keeps its check.
//!
//! A loop in which threads do something together is printed once, after a variable with the value of the same test. If
//! it is true, the tests inside of the loop, of its loops and of its straight-line code, are not made: they hold in all
//! iterations. If it is false, they are made in each iteration, as if it were not there.

use std::collections::BTreeMap;

use super::Lower;
use super::access::{Access, AccessForm, LARGEST_INDEX, Region, row};
use super::counter::Counter;
use super::deferred::{Deferred, deferred};
use super::loop_tests::{Shifted, Test, Tests};
use super::nest::{Form, Nest};
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::{cast, template};
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::place::{may_write, writes};
use crate::model::range::{Adaptor, Range};
use crate::model::ty::{TypeShape, ValueType};
use crate::model::{LocalId, SiteId, SlotId};

/// The test before a loop, and what it shows.
pub(super) struct Hoisted<'e> {
    pub(super) test: CuExpr,
    /// The accesses that need no check where the test holds.
    pub(super) accesses: Vec<SiteId>,
    /// Whether the loop is printed once or twice.
    pub(super) form: Form,
    /// The slots of the functions that the loop calls. The loop is printed twice only if in none of them threads do
    /// something together, which the runtime knows.
    pub(super) callees: Vec<SlotId>,
    /// The accesses that are reported after the loop.
    pub(super) deferred: Option<Deferred<'e>>,
    /// The values of the counter of a `while`.
    pub(super) counted: Option<CuExpr>,
}

/// A value in a test.
enum Value {
    /// A value that the loops do not change.
    Fixed(CuExpr),
    /// An interval, and what of the loops' variables it depends on.
    Varying(Shifted, Vec<Source>),
}

/// A variable of which a value is computed, and the divisions that lead to it: by what, and whether it is the remainder.
#[derive(Clone)]
struct Source {
    variable: LocalId,
    divisions: Vec<(CuExpr, bool)>,
}

impl Source {
    /// Whether the values of both vary together. A quotient and the remainder by the same divisor do not.
    fn meets(&self, other: &Source) -> bool {
        let mut divisions = self.divisions.iter().zip(&other.divisions);
        let differs = divisions.find(|(first, second)| first != second);
        let is_apart = differs.is_some_and(|((first, _), (second, _))| first == second);
        self.variable == other.variable && !is_apart
    }
}

impl Value {
    fn interval(self) -> CuExpr {
        match self {
            Value::Fixed(value) => CuExpr::call("values_of", vec![value]),
            Value::Varying(values, _) => values.text(),
        }
    }

    fn varying(values: CuExpr, sources: Vec<Source>) -> Value {
        Value::Varying(Shifted::of(values), sources)
    }

    fn sources(&self) -> Vec<Source> {
        match self {
            Value::Fixed(_) => Vec::new(),
            Value::Varying(_, sources) => sources.clone(),
        }
    }

    fn text(self) -> CuExpr {
        match self {
            Value::Fixed(text) => text,
            Value::Varying(values, _) => values.text(),
        }
    }
}

impl Lower<'_> {
    /// Returns the test before a loop whose range is in the variable `steps`, if it shows anything.
    pub(super) fn hoist<'e>(&mut self, whole: &'e Expr, steps: &str) -> Option<Hoisted<'e>>
    where
        Self: 'e,
    {
        let nest = Nest::of(whole, self.closures)?;
        let variable = nest.variable;
        let loops: Vec<(LocalId, &Range)> = nest.loops.iter().map(|(local, range)| (*local, *range)).collect();
        let (form, candidates, callees) = (nest.form, nest.accesses.clone(), nest.callees.clone());
        let mut known = Values { lower: self, nest, steps: CuExpr::name(steps), intervals: BTreeMap::new() };
        let counted = match Counter::of(whole) {
            Some(counter) => Some(known.counted(&counter)?),
            None => None,
        };
        if let Some(variable) = variable {
            known.insert(variable, CuExpr::name(steps));
        }
        for (local, range) in loops {
            if let Some(range) = known.inner_range(range) {
                known.insert(local, range);
            }
        }
        let mut tests = Tests::default();
        let mut accesses = Vec::new();
        let mut conditional = Vec::new();
        for (statement, access) in candidates.into_iter().filter(|(_, access)| !is_plain(whole, access)) {
            let Some((site, test)) = known.test(access, statement) else { continue };
            if known.lower.unchecked.contains(&site) {
                continue;
            }
            if known.nest.conditional.contains(&site) {
                conditional.push((site, test));
                continue;
            }
            let all_within = known.lower.all_within.get(&site).cloned();
            // What an outer loop has tested for all of its iterations, or the compiler of CUDA C++ decides.
            if form == Form::Once && (all_within.is_some() || Access::of(access).is_some_and(|of| of.is_constant())) {
                continue;
            }
            // The same test is about the same indexes, and holds if it is known to hold of one access.
            if tests.add(all_within, test) {
                accesses.push(site);
            }
        }
        // What an access that happens in each iteration needs anyway.
        accesses.extend(conditional.iter().filter(|(_, test)| tests.contains(test)).map(|(site, _)| *site));
        let is_known =
            |expr, site| accesses.contains(&site) || known.lower.unchecked.contains(&site) || is_plain(whole, expr);
        let deferred = deferred(&known, &known.nest, is_known);
        // The first element takes the place of others.
        let first = |access: &Access<'_>| {
            let callee = match access.form {
                AccessForm::LoadVec(lanes) => template("covers_vectors", vec![Fragment::Digits(lanes)]),
                AccessForm::Element | AccessForm::Row | AccessForm::StoreVec(_) => vec!["covers".into()],
            };
            let values = Shifted::of(CuExpr::call("values_of", vec![CuExpr::name("0")]));
            Some(Test { callee, memory: Some(known.memory(access.memory)?), values })
        };
        for test in deferred.iter().flat_map(|deferred| &deferred.accesses).filter_map(first) {
            tests.require(test);
        }
        Some(Hoisted { test: tests.conjunction()?, accesses, form, callees, deferred, counted })
    }
}

/// Whether an access is `memory[i]` in a loop over `0..memory.len()`, whose check the compiler of CUDA C++ removes.
fn is_plain(whole: &Expr, access: &Expr) -> bool {
    let ExprKind::For { local: Some(variable), range, .. } = &whole.kind else { return false };
    let ExprKind::Index { base, index, .. } = &access.kind else { return false };
    let ExprKind::Op { op: Op::Length, operands, .. } = &range.end.kind else { return false };
    let [ExprKind::Local(bound)] = operands.iter().map(|memory| &memory.kind).collect::<Vec<_>>()[..] else {
        return false;
    };
    let is = |expr: &Expr, local: &LocalId| matches!(&expr.kind, ExprKind::Local(other) if other == local);
    range.adaptors.is_empty() && !range.inclusive && is(base, bound) && is(index, variable)
}

/// The values of expressions in a nest of loops.
struct Values<'l, 'f, 'e> {
    lower: &'l mut Lower<'f>,
    nest: Nest<'e>,
    /// The range of the outer loop.
    steps: CuExpr,
    /// The intervals of the variables of the loops.
    intervals: BTreeMap<LocalId, CuExpr>,
}

impl<'e> Values<'_, '_, 'e> {
    fn insert(&mut self, local: LocalId, range: CuExpr) {
        let is_counter = self.nest.variable == Some(local) && !self.nest.declared.contains(&local);
        if is_counter || !self.is_assigned(local) {
            self.intervals.insert(local, CuExpr::call("values_of", vec![range]));
        }
    }

    /// Returns the values of a counter.
    fn counted(&mut self, counter: &Counter<'_>) -> Option<CuExpr> {
        if !self.lower.integers.has(counter.local) || self.nest.receivers.contains(&counter.local) {
            return None;
        }
        let first = CuExpr::name(self.lower.names.local(counter.local));
        let arguments = vec![first, self.fixed(counter.end)?, self.fixed(counter.step)?];
        Some(CuExpr::call(if counter.inclusive { "counting_through" } else { "counting" }, arguments))
    }

    /// Returns the range of an inner loop, if it can be evaluated before the outer one.
    fn inner_range(&mut self, range: &Range) -> Option<CuExpr> {
        let ends = vec![self.fixed(&range.start)?, self.fixed(&range.end)?];
        let whole = CuExpr::call("range", ends);
        match (range.inclusive, &range.adaptors[..]) {
            (false, []) => Some(whole),
            (false, [Adaptor::StepBy(step, _)]) => {
                // A step of zero fails where it is evaluated, and not here.
                let is_literal = step.integer().is_some_and(|step| step > 0);
                let name = if is_literal { "step_by" } else { "stepped" };
                let arguments = vec![self.fixed(step)?];
                Some(CuExpr::Method { base: Box::new(whole), name, arguments, site: None })
            }
            _ => None,
        }
    }

    /// Returns the site of an access in a statement of the body, and the test that it is within bounds.
    fn test(&mut self, access: &'e Expr, statement: usize) -> Option<(SiteId, Test)> {
        let mut access = Access::of(access)?;
        if let Some(row) = self.row_of(access.memory) {
            access.memory = row;
        }
        let mut left = LARGEST_INDEX;
        let values = match self.interval(access.index, statement, &mut left)? {
            Value::Varying(values, _) => values,
            fixed @ Value::Fixed(_) => Shifted::of(fixed.interval()),
        };
        let (callee, memory) = match (access.lanes(self), row(access.memory)) {
            (None, None) => (vec!["covers".into()], Some(self.memory(access.memory)?)),
            (None, Some(rows)) => (self.of_rows("covers_row", rows)?, None),
            (Some(lanes), rows) => {
                let name = if rows.is_some() { "covers_row_vectors" } else { "covers_vectors" };
                (template(name, lanes?), Some(self.memory(rows.unwrap_or(access.memory))?))
            }
        };
        Some((access.site, Test { callee, memory, values }))
    }

    /// Returns the row of memory that a variable of the loop is a name of.
    fn row_of(&self, memory: &Expr) -> Option<&'e Expr> {
        let ExprKind::Local(local) = memory.kind else { return None };
        let (_, init) = *self.nest.lets.get(&local)?;
        row(init).map(|_| init).filter(|_| !self.is_assigned(local) && matches!(init.result_kind, Kind::Memory(_)))
    }

    /// Returns the values that a variable takes to which a statement of the loop's body adds a step: those before the
    /// statement, or after it.
    fn induction(&mut self, local: LocalId, statement: usize) -> Option<Value> {
        let induction = self.nest.inductions.get(&local)?;
        let (step, is_decrease, is_after) = (induction.step, induction.is_decrease, statement > induction.statement);
        let is_only_write = writes(self.nest.whole, local) == 1 && !self.nest.receivers.contains(&local);
        if !is_only_write || self.nest.declared.contains(&local) || !self.lower.integers.has(local) {
            return None;
        }
        let name = CuExpr::name(self.lower.names.local(local));
        let step = self.fixed(step)?;
        let first = match is_after {
            true => {
                let (left, right) = (Box::new(name), Box::new(step.clone()));
                CuExpr::Infix { op: if is_decrease { "-" } else { "+" }, left, right, site: None }
            }
            false => name,
        };
        let values =
            CuExpr::call(if is_decrease { "decreased" } else { "increased" }, vec![first, step, self.steps.clone()]);
        // It varies with the variable of the loop.
        let sources = [Some(local), self.nest.variable].into_iter().flatten();
        Some(Value::varying(values, sources.map(|variable| Source { variable, divisions: Vec::new() }).collect()))
    }

    /// Returns the values of an expression in a statement of the loop's body, by arithmetic on those of its variables, if
    /// each variable occurs once.
    fn interval(&mut self, expr: &Expr, statement: usize, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        if let Some(value) = self.fixed(expr) {
            return Some(Value::Fixed(value));
        }
        match &expr.kind {
            ExprKind::Local(local) => match self.intervals.get(local) {
                Some(values) => {
                    let source = Source { variable: *local, divisions: Vec::new() };
                    Some(Value::varying(values.clone(), vec![source]))
                }
                None if self.is_assigned(*local) => self.induction(*local, statement),
                None => {
                    let (statement, init) = *self.nest.lets.get(local)?;
                    self.interval(init, statement, left)
                }
            },
            ExprKind::Cast(value, ty) => {
                let value = self.interval(value, statement, left)?;
                let sources = value.sources();
                let cast = CuExpr::Call { callee: integer_cast(ty)?, arguments: vec![value.interval()], site: None };
                Some(Value::varying(cast, sources))
            }
            ExprKind::Method { method, operands, .. } if method.bounds() => {
                let [first, second] = &operands[..] else { return None };
                let first = self.interval(first, statement, left)?;
                let second = self.interval(second, statement, left)?;
                let (mut sources, others) = (first.sources(), second.sources());
                if are_together(&sources, &others) {
                    return None;
                }
                sources.extend(others);
                // The receiver says of what type they are.
                let arguments = vec![first.interval(), second.text()];
                Some(Value::varying(CuExpr::call(method.name, arguments), sources))
            }
            ExprKind::Binary { op, left: first, right: second, .. } => {
                let mut first = self.interval(first, statement, left)?;
                let mut second = self.interval(second, statement, left)?;
                let (mut sources, others) = (first.sources(), second.sources());
                if are_together(&sources, &others) {
                    return None;
                }
                sources.extend(others);
                if let (BinaryOp::Div | BinaryOp::Rem, Value::Fixed(divisor)) = (op, &second) {
                    for source in &mut sources {
                        source.divisions.push((divisor.clone(), *op == BinaryOp::Rem));
                    }
                }
                match (op, first, second) {
                    (BinaryOp::Add | BinaryOp::Sub, Value::Varying(values, _), Value::Fixed(by)) => {
                        return Some(Value::Varying(values.shifted(*op == BinaryOp::Sub, by), sources));
                    }
                    (BinaryOp::Add, Value::Fixed(by), Value::Varying(values, _)) => {
                        return Some(Value::Varying(values.shifted_before(by), sources));
                    }
                    (_, other, others) => (first, second) = (other, others),
                }
                // Division of a fixed value fails where it is evaluated, and that of an interval does not.
                let (first, second) = match (op, first, second) {
                    (BinaryOp::Div | BinaryOp::Rem, first, second) => (first.interval(), second.text()),
                    (BinaryOp::Shl | BinaryOp::Shr, first, Value::Fixed(amount)) => (first.interval(), amount),
                    (
                        BinaryOp::Add
                        | BinaryOp::Sub
                        | BinaryOp::Mul
                        | BinaryOp::BitAnd
                        | BinaryOp::BitOr
                        | BinaryOp::BitXor,
                        first,
                        second,
                    ) => match (&first, &second) {
                        // Of two values that the loop binds, one has to be an interval.
                        (Value::Fixed(_), Value::Fixed(_)) => (first.interval(), second.text()),
                        _ => (first.text(), second.text()),
                    },
                    _ => return None,
                };
                let (left, right) = (Box::new(first), Box::new(second));
                Some(Value::varying(CuExpr::Infix { op: op.symbol(), left, right, site: None }, sources))
            }
            _ => None,
        }
    }

    fn is_assigned(&self, local: LocalId) -> bool {
        self.lower.function.local(local).mutable.is_some()
    }
}

impl Region for Values<'_, '_, '_> {
    fn lower(&self) -> &Lower<'_> {
        self.lower
    }

    fn lowered(&mut self, expr: &Expr) -> CuExpr {
        self.lower.value(expr)
    }

    fn changes(&self, local: LocalId) -> bool {
        self.is_assigned(local) && (self.nest.receivers.contains(&local) || may_write(self.nest.whole, local))
    }

    fn init(&self, local: LocalId) -> Option<&Expr> {
        self.nest.lets.get(&local).map(|(_, init)| *init)
    }

    fn declares(&self, local: LocalId) -> bool {
        self.nest.declared.contains(&local)
    }
}

/// Whether values of two parts of an expression vary together. The interval of `2 * i - i % n` would be too large, and the test would
/// fail for no reason.
fn are_together(sources: &[Source], others: &[Source]) -> bool {
    sources.iter().any(|source| others.iter().any(|other| source.meets(other)))
}

/// Returns the conversion to an integer type of at most 64 bits.
fn integer_cast(ty: &ValueType) -> Option<Vec<Fragment>> {
    match ty.shape {
        TypeShape::Scalar("i8" | "i16" | "i32" | "i64" | "isize" | "u8" | "u16" | "u32" | "u64" | "usize", _) => {
            Some(cast(ty))
        }
        _ => None,
    }
}
