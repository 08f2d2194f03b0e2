//! Lowers a loop over memory to two: one without checks of the accesses that a test before it shows to be within
//! bounds, for all of its iterations, and one with them, which runs if the test fails and reports the first access that
//! is out of bounds. The test computes with intervals of values (interval.cuh). It is about an access whose index comes,
//! by arithmetic, from the variables of the loop and of loops inside of it, and from values that the loop does not
//! change. The tests never fail themselves. What is not understood keeps its check.
//!
//! A loop in which threads do something together is printed once, after a variable with the value of the same test. If
//! it is true, the tests inside of the loop, of its loops and of its straight-line code, are not made: they hold in all
//! iterations. If it is false, they are made in each iteration, as if it were not there.

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::access::{Access, LARGEST_INDEX, Region, row};
use super::nest::{Form, Nest};
use crate::emit::cuda::ast::{CuExpr, Fragment};
use crate::emit::cuda::signature::{cast, template};
use crate::model::expr::{BinaryOp, Expr, ExprKind};
use crate::model::op::Op;
use crate::model::place::may_write;
use crate::model::range::{Adaptor, Range};
use crate::model::ty::{TypeShape, ValueType};
use crate::model::{LocalId, SiteId, SlotId};

/// The most tests before a loop.
const MOST_TESTS: usize = 12;

/// The test before a loop, and what it shows.
pub(super) struct Hoisted {
    pub(super) test: CuExpr,
    /// The accesses that need no check where the test holds.
    pub(super) accesses: Vec<SiteId>,
    /// Whether the loop is printed once or twice.
    pub(super) form: Form,
    /// The slots of the functions that the loop calls. The loop is printed twice only if in none of them threads do
    /// something together, which the runtime knows.
    pub(super) callees: Vec<SlotId>,
}

/// A value in a test.
enum Value {
    /// A value that the loops do not change.
    Fixed(CuExpr),
    /// An interval, and the variables of the loops that it depends on.
    Varying(CuExpr, BTreeSet<LocalId>),
}

impl Value {
    fn interval(self) -> CuExpr {
        match self {
            Value::Fixed(value) => CuExpr::call("values_of", vec![value]),
            Value::Varying(values, _) => values,
        }
    }

    fn variables(&self) -> BTreeSet<LocalId> {
        match self {
            Value::Fixed(_) => BTreeSet::new(),
            Value::Varying(_, variables) => variables.clone(),
        }
    }

    fn text(self) -> CuExpr {
        match self {
            Value::Fixed(text) | Value::Varying(text, _) => text,
        }
    }
}

impl Lower<'_> {
    /// Returns the test before a loop whose range is in the variable `steps`, if it shows anything.
    pub(super) fn hoist(&mut self, whole: &Expr, steps: &str) -> Option<Hoisted> {
        let ExprKind::For { local, body, .. } = &whole.kind else { return None };
        let nest = Nest::of(whole, *local, body, self.closures)?;
        let loops: Vec<(LocalId, &Range)> = nest.loops.iter().map(|(local, range)| (*local, *range)).collect();
        let (form, candidates, callees) = (nest.form, nest.accesses.clone(), nest.callees.clone());
        let mut known = Values { lower: self, nest, intervals: BTreeMap::new() };
        if let Some(local) = local {
            known.insert(*local, CuExpr::name(steps));
        }
        for (local, range) in loops {
            if let Some(range) = known.inner_range(range) {
                known.insert(local, range);
            }
        }
        let mut tests: Vec<(Option<String>, CuExpr)> = Vec::new();
        let mut accesses = Vec::new();
        for access in candidates.into_iter().filter(|access| !is_plain(whole, access)) {
            let Some((site, test)) = known.test(access) else { continue };
            if known.lower.unchecked.contains(&site) || known.nest.conditional.contains(&site) {
                continue;
            }
            let all_within = known.lower.all_within.get(&site).cloned();
            // What an outer loop has tested for all of its iterations, or the compiler of CUDA C++ decides.
            if form == Form::Once && (all_within.is_some() || Access::of(access).is_some_and(|of| of.is_constant())) {
                continue;
            }
            // The same test is about the same indexes, and holds if it is known to hold of one access.
            if !tests.iter().any(|(_, known)| *known == test) {
                if tests.len() == MOST_TESTS {
                    continue;
                }
                tests.push((all_within, test));
            }
            accesses.push(site);
        }
        Some(Hoisted { test: conjunction(tests)?, accesses, form, callees })
    }
}

/// Returns the conjunction of tests, of which those with a variable hold if the variable is true.
fn conjunction(tests: Vec<(Option<String>, CuExpr)>) -> Option<CuExpr> {
    let mut groups: BTreeMap<Option<String>, CuExpr> = BTreeMap::new();
    for (all_within, test) in tests {
        let group = groups.remove(&all_within);
        groups.insert(all_within, group.into_iter().fold(test, |test, group| group.and(test)));
    }
    let rest = groups.remove(&None);
    let known = groups.into_iter().filter_map(|(all_within, test)| Some(CuExpr::name(&all_within?).or(test)));
    known.chain(rest).reduce(CuExpr::and)
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
    /// The intervals of the variables of the loops.
    intervals: BTreeMap<LocalId, CuExpr>,
}

impl Values<'_, '_, '_> {
    fn insert(&mut self, local: LocalId, range: CuExpr) {
        if !self.is_assigned(local) {
            self.intervals.insert(local, CuExpr::call("values_of", vec![range]));
        }
    }

    /// Returns the range of an inner loop, if it can be evaluated before the outer one.
    fn inner_range(&mut self, range: &Range) -> Option<CuExpr> {
        let ends = vec![self.fixed(&range.start)?, self.fixed(&range.end)?];
        let whole = CuExpr::call("range", ends);
        match (range.inclusive, &range.adaptors[..]) {
            (false, []) => Some(whole),
            // A step of zero fails where it is evaluated.
            (false, [Adaptor::StepBy(step, _)]) if step.integer().is_some_and(|step| step > 0) => {
                let arguments = vec![self.lower.value(step)];
                Some(CuExpr::Method { base: Box::new(whole), name: "step_by", arguments, site: None })
            }
            _ => None,
        }
    }

    /// Returns the site of an access, and the test that it is within bounds.
    fn test(&mut self, access: &Expr) -> Option<(SiteId, CuExpr)> {
        let access = Access::of(access)?;
        let mut left = LARGEST_INDEX;
        let values = self.interval(access.index, &mut left)?.interval();
        let (callee, arguments) = match (access.lanes(self), row(access.memory)) {
            (None, None) => (vec!["covers".into()], vec![self.memory(access.memory)?, values]),
            (None, Some(rows)) => (self.of_rows("covers_row", rows)?, vec![values]),
            (Some(lanes), rows) => {
                let name = if rows.is_some() { "covers_row_vectors" } else { "covers_vectors" };
                (template(name, lanes?), vec![self.memory(rows.unwrap_or(access.memory))?, values])
            }
        };
        Some((access.site, CuExpr::Call { callee, arguments, site: None }))
    }

    /// Returns the values of an expression in a nest of loops, by arithmetic on those of its variables, if each variable
    /// occurs once.
    fn interval(&mut self, expr: &Expr, left: &mut usize) -> Option<Value> {
        *left = left.checked_sub(1)?;
        if let Some(value) = self.fixed(expr) {
            return Some(Value::Fixed(value));
        }
        match &expr.kind {
            ExprKind::Local(local) => match self.intervals.get(local) {
                Some(values) => Some(Value::Varying(values.clone(), BTreeSet::from([*local]))),
                None if self.is_assigned(*local) => None,
                None => {
                    let init = *self.nest.lets.get(local)?;
                    self.interval(init, left)
                }
            },
            ExprKind::Cast(value, ty) => {
                let value = self.interval(value, left)?;
                let variables = value.variables();
                let cast = CuExpr::Call { callee: integer_cast(ty)?, arguments: vec![value.interval()], site: None };
                Some(Value::Varying(cast, variables))
            }
            ExprKind::Binary { op, left: first, right: second, .. } => {
                let first = self.interval(first, left)?;
                let second = self.interval(second, left)?;
                let mut variables = first.variables();
                // The interval of `2 * i - i % n` would be too large, and the test would fail for no reason.
                if !variables.is_disjoint(&second.variables()) {
                    return None;
                }
                variables.extend(second.variables());
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
                Some(Value::Varying(CuExpr::Infix { op: op.symbol(), left, right, site: None }, variables))
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
        self.nest.lets.get(&local).copied()
    }

    fn declares(&self, local: LocalId) -> bool {
        self.nest.declared.contains(&local)
    }
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
