//! The values that the index of an access takes in all iterations of a loop, as the text of an interval (interval.cuh): by
//! arithmetic on the variables of the loop and of loops inside of it, and on what the loop does not change. The conditions
//! before an access limit the values of the variables that they compare.
//!
//! Not done here: which accesses are tested (`hoist`), and how tests are put together (`loop_tests`).

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::access::{Access, AccessForm, LARGEST_INDEX, Region, row};
use super::counter::{Counter, InnerCounter};
use super::guards::{Limit, Limitable, Relation};
use super::loop_tests::{Distance, Shifted, Test, displacement};
use super::nest::Nest;
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::{cast, template};
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::place::may_write;
use crate::model::ty::{TypeShape, ValueType};
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId};

/// A value in a test.
#[derive(Clone)]
pub(super) enum Value {
    /// A value that the loops do not change.
    Fixed(CuExpr),
    /// An interval, and what of the loops' variables it depends on.
    Varying(Shifted, Vec<Source>),
}

/// A variable of which a value is computed, and the divisions that lead to it: by what, and whether it is the remainder.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) variable: LocalId,
    pub(super) divisions: Vec<(CuExpr, bool)>,
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
    pub(super) fn interval(self) -> CuExpr {
        match self {
            Value::Fixed(value) => CuExpr::call("values_of", vec![value]),
            Value::Varying(values, _) => values.text(),
        }
    }

    fn shifted(self) -> Shifted {
        match self {
            Value::Varying(values, _) => values,
            fixed @ Value::Fixed(_) => Shifted::of(fixed.interval()),
        }
    }

    pub(super) fn varying(values: CuExpr, sources: Vec<Source>) -> Value {
        Value::Varying(Shifted::of(values), sources)
    }

    pub(super) fn sources(&self) -> Vec<Source> {
        match self {
            Value::Fixed(_) => Vec::new(),
            Value::Varying(_, sources) => sources.clone(),
        }
    }

    pub(super) fn text(self) -> CuExpr {
        match self {
            Value::Fixed(text) => text,
            Value::Varying(values, _) => values.text(),
        }
    }
}

/// The values of expressions in a nest of loops.
pub(super) struct Values<'l, 'f, 'e> {
    pub(super) lower: &'l mut Lower<'f>,
    pub(super) nest: Nest<'e>,
    /// The range of the outer loop.
    pub(super) steps: CuExpr,
    /// The intervals of the variables of the loops, and what they depend on.
    intervals: BTreeMap<LocalId, (CuExpr, Vec<Source>)>,
    /// The values of the parameters of the closure that computes an index.
    pub(super) arguments: BTreeMap<LocalId, Value>,
    /// The access whose index is computed.
    site: Option<SiteId>,
    pub(super) guarded: Guarded<'e>,
    /// The statement of the body with the access whose conditions are looked at.
    pub(super) statement: usize,
}

/// What the conditions before the access say whose index is computed.
#[derive(Default)]
pub(super) struct Guarded<'e> {
    pub(super) limits: Vec<Limit<'e>>,
    /// The variables whose limits count in the index.
    pub(super) used: BTreeSet<LocalId>,
    /// Whether the access is a vector's, whose test needs to know of what the thread's own values are multiples.
    pub(super) has_lanes: bool,
    /// Whether the index is computed of a value that the kernel computes before the loop. It may depend on a limited variable.
    pub(super) depends: bool,
}

impl<'l, 'f, 'e> Values<'l, 'f, 'e> {
    pub(super) fn new(lower: &'l mut Lower<'f>, nest: Nest<'e>, steps: CuExpr) -> Self {
        let (intervals, arguments) = (BTreeMap::new(), BTreeMap::new());
        Values { lower, nest, steps, intervals, arguments, site: None, guarded: Guarded::default(), statement: 0 }
    }

    pub(super) fn insert(&mut self, local: LocalId, values: CuExpr, mut sources: Vec<Source>) {
        let is_counter = self.nest.variable == Some(local) && !self.nest.declared.contains(&local);
        if is_counter || !self.is_assigned(local) || self.nest.counters.contains_key(&local) {
            sources.push(Source { variable: local, divisions: Vec::new() });
            self.intervals.insert(local, (values, sources));
        }
    }

    /// Returns the values of a counter.
    pub(super) fn counted(&mut self, counter: &Counter<'_>) -> Option<CuExpr> {
        if !self.lower.integers.has(counter.local) || self.nest.receivers.contains(&counter.local) {
            return None;
        }
        let first = CuExpr::name(self.lower.names.local(counter.local));
        let arguments = vec![first, self.fixed(counter.end)?, self.fixed(counter.step)?];
        Some(CuExpr::call(if counter.inclusive { "counting_through" } else { "counting" }, arguments))
    }

    /// Returns the site of an access in a statement of the body, and the tests that it is within bounds.
    pub(super) fn tests(&mut self, access: &'e Expr, statement: usize) -> Option<(SiteId, Vec<Test>)> {
        let mut access = Access::of(access)?;
        self.site = Some(access.site);
        if let Some(row) = self.row_of(access.memory) {
            access.memory = row;
        }
        let tests = match access.form {
            AccessForm::Range(end) => self.range(&access, end, statement)?,
            AccessForm::From => return None,
            AccessForm::Element | AccessForm::Row | AccessForm::LoadVec(_) | AccessForm::StoreVec(_) => {
                let values = self.index(access.index, statement)?.shifted();
                vec![self.test(&access, values)?]
            }
        };
        Some((access.site, tests))
    }

    /// Returns the test of an access at these values of its index.
    fn test(&self, access: &Access<'e>, values: Shifted) -> Option<Test> {
        let (callee, memory) = match (access.lanes(self), row(access.memory)) {
            (None, None) => {
                let memory = Some(self.memory(access.memory)?);
                // Both ends of a range are compared alike, so that one test is about both.
                let (callee, values) = match access.form {
                    AccessForm::Range(_) => (vec!["covers".into()], values),
                    AccessForm::Element
                    | AccessForm::Row
                    | AccessForm::LoadVec(_)
                    | AccessForm::StoreVec(_)
                    | AccessForm::From => values.converted("covers"),
                };
                return Some(Test { callee, memory, values, condition: None });
            }
            (None, Some(rows)) => (self.of_rows("covers_row", rows)?, None),
            (Some(lanes), rows) => {
                let name = if rows.is_some() { "covers_row_vectors" } else { "covers_vectors" };
                (template(name, lanes?), Some(self.memory(rows.unwrap_or(access.memory))?))
            }
        };
        Some(Test { callee, memory, values, condition: None })
    }

    /// Returns the tests of the first and the last element of a range, if the syntax shows that it does not end before it starts: of
    /// `i..i + length` and `i * length..(i + 1) * length`. They do not hold for an empty range at either end of the memory.
    fn range(&mut self, access: &Access<'e>, end: &'e Expr, statement: usize) -> Option<Vec<Test>> {
        let end = self.index(end, statement)?.shifted();
        let last = self.test(access, end.clone().shifted(true, CuExpr::name("1")))?;
        if access.index.integer() == Some(0) {
            return Some(vec![last]);
        }
        let start = self.index(access.index, statement)?.shifted();
        let distance = end.distance_from(&start)?;
        let mut tests = vec![self.test(access, start)?, last];
        if let Distance::Length(length) = distance {
            tests.push(Test {
                callee: vec!["is_natural".into()],
                memory: None,
                values: Shifted::of(length),
                condition: None,
            });
        }
        Some(tests)
    }

    /// Returns the values of an index.
    pub(super) fn index(&mut self, index: &Expr, statement: usize) -> Option<Value> {
        self.interval(index, statement, &mut LARGEST_INDEX.clone())
    }

    /// Returns the row of memory that a variable of the loop is a name of.
    fn row_of(&self, memory: &Expr) -> Option<&'e Expr> {
        let ExprKind::Local(local) = memory.kind else { return None };
        let (_, init) = *self.nest.lets.get(&local)?;
        row(init).map(|_| init).filter(|_| !self.is_assigned(local) && matches!(init.result_kind, Kind::Memory(_)))
    }

    /// Returns the values of a variable that the loop or its body declares, or changes in each iteration.
    fn variable(&mut self, local: LocalId, statement: usize, left: &mut usize) -> Option<Value> {
        if let Some((values, sources)) = self.intervals.get(&local) {
            // Elsewhere, the counter of an inner loop may be at its bound.
            let is_below = |inner: &InnerCounter<'_>| self.site.is_some_and(|site| inner.sites.contains(&site));
            let is_valid = self.nest.counters.get(&local).is_none_or(is_below);
            return is_valid.then(|| Value::varying(values.clone(), sources.clone()));
        }
        if self.is_assigned(local) {
            return self.induction(local, statement, left);
        }
        let (statement, init) = *self.nest.lets.get(&local)?;
        self.interval(init, statement, left)
    }

    /// Returns those of a variable's values for which an access is made. The variable of a loop has few values, of which those are
    /// tested that pass the comparisons; for others, what is compared with says enough, which all threads know.
    fn limited(&mut self, local: LocalId, value: Value) -> Option<Value> {
        let limits = std::mem::take(&mut self.guarded.limits);
        let of_local = limits.iter().filter(|limit| limit.variable == local);
        let texts: Option<Vec<CuExpr>> =
            of_local.map(|limit| self.limit(limit)).collect::<Option<Vec<_>>>().map(|all| all.concat());
        self.guarded.limits = limits;
        let texts = texts?;
        if texts.is_empty() {
            return Some(value);
        }
        self.guarded.used.insert(local);
        let is_narrow = self.intervals.contains_key(&local) || self.guarded.has_lanes;
        let callee = if is_narrow { "limited" } else { "confined" };
        let mut sources = value.sources();
        sources.push(Source { variable: local, divisions: Vec::new() });
        Some(Value::varying(CuExpr::call(callee, [value.interval()].into_iter().chain(texts).collect()), sources))
    }

    /// Returns `less_than(n, up_by(1))` for `variable + 1 < n`.
    fn limit(&mut self, limit: &Limit<'e>) -> Option<Vec<CuExpr>> {
        let terms = limit.terms.iter().map(|(is_minus, term)| Some((*is_minus, self.fixed(term)?)));
        let terms = terms.collect::<Option<Vec<_>>>()?;
        let bound = self.fixed(limit.bound)?;
        let shift = (!terms.is_empty()).then(|| displacement(&terms));
        let callees: &[&'static str] = match limit.relation {
            Relation::Below => &["less_than"],
            Relation::UpTo => &["at_most"],
            Relation::From => &["at_least"],
            Relation::Above => &["more_than"],
            Relation::Equal => &["at_least", "at_most"],
            Relation::Other => &["other_than"],
        };
        let text =
            |callee: &&'static str| CuExpr::call(callee, [bound.clone()].into_iter().chain(shift.clone()).collect());
        Some(callees.iter().map(text).collect())
    }

    /// Whether an expression has a variable that conditions limit.
    fn has_limits(&self, expr: &Expr) -> bool {
        let limits = &self.guarded.limits;
        let mut found = false;
        walk(expr, &mut |inner| {
            let ExprKind::Local(local) = inner.kind else { return };
            found |= limits.iter().any(|limit| limit.variable == local);
        });
        found
    }

    /// Whether an expression has a variable that is no parameter.
    fn is_computed(&self, expr: &Expr) -> bool {
        let params = &self.lower.function.params;
        let mut found = false;
        walk(expr, &mut |inner| {
            let ExprKind::Local(local) = inner.kind else { return };
            found |= !params.iter().any(|param| param.local == local);
        });
        found
    }

    /// Returns the values of an expression in a statement of the loop's body, by arithmetic on those of its variables, if
    /// each variable occurs once.
    pub(super) fn interval(&mut self, expr: &Expr, statement: usize, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        if !self.has_limits(expr)
            && let Some(value) = self.fixed(expr)
        {
            self.guarded.depends |= self.is_computed(expr);
            return Some(Value::Fixed(value));
        }
        if let ExprKind::Local(local) = &expr.kind {
            if let Some(argument) = self.arguments.get(local) {
                return Some(argument.clone());
            }
            let value = match self.keeps(*local) {
                true => Value::Fixed(CuExpr::name(self.lower.names.local(*local))),
                false => self.variable(*local, statement, left)?,
            };
            return self.limited(*local, value);
        }
        match &expr.kind {
            // Any of its elements, if they are integers, as what an index is computed of without a cast.
            ExprKind::Index { base, .. } if base.memory().is_none() => {
                let ExprKind::Local(array) = base.kind else { return None };
                let sources = vec![Source { variable: array, divisions: Vec::new() }];
                let name = CuExpr::name(self.lower.names.local(array));
                self.keeps(array).then(|| Value::varying(CuExpr::call("values_in", vec![name]), sources))
            }
            ExprKind::Cast(value, ty) => {
                if has_elements(value, self) {
                    return None;
                }
                let value = self.interval(value, statement, left)?;
                let sources = value.sources();
                let cast = |value| Some(CuExpr::Call { callee: integer_cast(ty)?, arguments: vec![value], site: None });
                Some(match value {
                    Value::Fixed(value) => Value::Fixed(cast(value)?),
                    varying @ Value::Varying(..) => Value::varying(cast(varying.interval())?, sources),
                })
            }
            ExprKind::Method { method, operands, .. } if method.bounds() => {
                let [first, second] = &operands[..] else { return None };
                let [first, second] = match [first, second].map(|operand| self.interval(operand, statement, left)) {
                    [Some(first), Some(second)] => [first, second],
                    [None, Some(bound)] => [self.anything_like(&bound, second)?, bound],
                    [Some(bound), None] => [self.anything_like(&bound, first)?, bound],
                    [None, None] => return None,
                };
                let (mut sources, others) = (first.sources(), second.sources());
                if are_together(&sources, &others) {
                    return None;
                }
                sources.extend(others);
                // The receiver says of what type they are.
                let arguments = vec![first.interval(), second.text()];
                Some(Value::varying(CuExpr::call(method.name, arguments), sources))
            }
            ExprKind::Method { method, operands, .. } if method.name == "count_ones" => {
                let is_mask = operands.first().is_some_and(|operand| self.is_mask(operand));
                is_mask.then(|| Value::varying(CuExpr::call("threads_of_warp", Vec::new()), Vec::new()))
            }
            // It fails where the bounds have no value between them, and the access is not made.
            ExprKind::Method { method, operands, .. } if method.name == "clamp" => {
                let [value, least, most] = &operands[..] else { return None };
                let value = self.interval(value, statement, left)?;
                let (least, most) = (self.fixed(least)?, self.fixed(most)?);
                let sources = value.sources();
                let raised = CuExpr::call("max", vec![value.interval(), least]);
                Some(Value::varying(CuExpr::call("min", vec![raised, most]), sources))
            }
            ExprKind::CallClosure { closure, arguments, .. } => self.called(*closure, arguments, statement, left),
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
                    // Neither of them wraps or fails where the program does not.
                    (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, Value::Fixed(left), Value::Fixed(right)) => {
                        let (left, right) = (Box::new(left), Box::new(right));
                        return Some(Value::Fixed(CuExpr::Infix { op: op.symbol(), left, right, site: None }));
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

    /// Returns all values of the type of a bound: what is not understood, as what memory has, is within bounds where another value limits it.
    fn anything_like(&self, bound: &Value, text: &Expr) -> Option<Value> {
        let Value::Fixed(bound) = bound else { return None };
        // The compiler of CUDA C++ sees what a literal limits.
        let is_limit = text.integer().is_none() && self.lower.integers.contains(text);
        is_limit.then(|| Value::varying(CuExpr::call("anything_like", vec![bound.clone()]), Vec::new()))
    }

    fn is_assigned(&self, local: LocalId) -> bool {
        self.lower.function.local(local).mutable.is_some()
    }
}

impl<'e> Limitable<'e> for Values<'_, '_, 'e> {
    fn condition_of(&self, site: SiteId) -> Option<&'e Expr> {
        self.nest.conditions.get(&site)
    }

    fn named(&self, local: LocalId) -> Option<&'e Expr> {
        let (_, init) = *self.nest.lets.get(&local)?;
        (!self.is_assigned(local)).then_some(init)
    }

    fn is_limitable(&self, local: LocalId) -> bool {
        let is_counter = self.nest.variable == Some(local);
        let has_one = self.keeps(local) || is_counter || !self.is_assigned(local);
        self.lower.integers.has(local) && (has_one || self.steps_after(local, self.statement))
    }

    fn counts(&self, local: LocalId) -> bool {
        self.intervals.contains_key(&local)
    }
}

impl Region for Values<'_, '_, '_> {
    fn lower(&self) -> &Lower<'_> {
        self.lower
    }

    fn lowered(&mut self, expr: &Expr) -> CuExpr {
        self.lower.beforehand(|lower| lower.value(expr))
    }

    fn changes(&self, local: LocalId) -> bool {
        self.is_assigned(local) && (self.nest.receivers.contains(&local) || may_write(self.nest.whole, local))
    }

    fn init(&self, local: LocalId) -> Option<&Expr> {
        self.nest.lets.get(&local).map(|(_, init)| *init)
    }

    fn declares(&self, local: LocalId) -> bool {
        self.nest.declared.contains(&local) || self.arguments.contains_key(&local)
    }
}

/// Whether an expression has an element of a local array, also by way of what a variable is set to.
fn has_elements(expr: &Expr, region: &impl Region) -> bool {
    let mut found = false;
    walk(expr, &mut |inner| match &inner.kind {
        ExprKind::Index { base, .. } => found |= base.memory().is_none(),
        ExprKind::Local(local) => found |= region.init(*local).is_some_and(|init| has_elements(init, region)),
        _ => {}
    });
    found
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
