//! Lowers patterns to tests and declarations: a `match` becomes a chain of `if`s over a value that has a name. The last
//! arm needs no test, because rustc checks that the arms are exhaustive.

use proc_macro2::Ident;

use super::control::Test;
use super::literal::bare_integer;
use super::{Dest, Lower};
use crate::emit::cuda::ast::{CuExpr, CuStmt, Fragment};
use crate::emit::cuda::name::{field_name, variant_name};
use crate::emit::cuda::signature::shape;
use crate::model::LocalId;
use crate::model::effect::effect;
use crate::model::expr::{Arm, Block, Condition, Expr, ExprKind, LiteralType, Member};
use crate::model::facts::Effect;
use crate::model::kind::{Kind, Memory};
use crate::model::op::Variant;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty::ValueType;

impl Lower<'_> {
    pub(super) fn match_expr(&mut self, scrutinee: &Expr, arms: &[Arm], dest: &Dest) {
        if *dest == Dest::Discard && self.continued_match(scrutinee, arms) {
            return;
        }
        let value = self.taken_apart(scrutinee, arms.iter().map(|arm| &arm.pattern));
        let value = self.spill_unless_name(value);
        self.arms(&value, arms, dest);
    }

    /// Lowers the value that patterns are compared with. An element of global memory that one of them takes apart is loaded as a whole, as
    /// Rust reads it: the compiler of CUDA C++ would load a part only where it is used, behind a branch and another wait.
    pub(super) fn taken_apart<'p>(&mut self, value: &Expr, patterns: impl IntoIterator<Item = &'p Pattern>) -> CuExpr {
        let lowered = self.value(value);
        let ExprKind::Index { base, site, .. } = &value.kind else { return lowered };
        let is_global = matches!(base.memory(), Some(Memory::Global | Memory::GlobalMut));
        let is_alone = !self.loaded.contains_key(site) && !self.adjacent.contains_key(site);
        match is_global && is_alone && patterns.into_iter().any(takes_apart) {
            true => CuExpr::call("at_once", vec![lowered]),
            false => lowered,
        }
    }

    /// Lowers arms that are plain values to `test ? a : b`.
    pub(super) fn selection(&mut self, expr: &Expr, scrutinee: &Expr, arms: &[Arm], dest: &Dest) -> Option<CuExpr> {
        let is_value = *dest != Dest::Discard && expr.result_kind == Kind::Value;
        if !is_value || effect(self.function, expr) == Effect::Changes {
            return None;
        }
        let value = self.value(scrutinee);
        let mut tests = Vec::new();
        let mut last = None;
        for (index, arm) in arms.iter().enumerate() {
            match self.test(&arm.pattern, &value) {
                Some(test) if index + 1 < arms.len() => tests.push((test, self.value(&arm.body))),
                _ => {
                    last = Some(self.value(&arm.body));
                    break;
                }
            }
        }
        let choose = |otherwise, (test, then)| CuExpr::Ternary(Box::new(test), Box::new(then), Box::new(otherwise));
        Some(tests.into_iter().rev().fold(last?, choose))
    }

    fn arms(&mut self, value: &CuExpr, arms: &[Arm], dest: &Dest) {
        let Some((arm, rest)) = arms.split_first() else { return };
        let test = self.test(&arm.pattern, value);
        match (&arm.guard, test) {
            (None, None) => self.arm(value, arm, dest),
            (None, Some(_)) if rest.is_empty() => self.arm(value, arm, dest),
            (None, Some(condition)) => {
                let ((), then) = self.nested(|lower| lower.arm(value, arm, dest));
                let ((), otherwise) = self.nested(|lower| lower.arms(value, rest, dest));
                self.out.push(CuStmt::If { condition, then, otherwise });
            }
            (Some(Condition::Value(guard)), _) if arm.pattern.has_choice() => {
                let (condition, bindings) = self.tried(arm.pattern.tried().unwrap_or_default(), value, guard);
                let ((), mut then) = self.nested(|lower| lower.into(&arm.body, dest));
                then.splice(0..0, bindings);
                let ((), otherwise) = self.nested(|lower| lower.arms(value, rest, dest));
                self.out.push(CuStmt::If { condition, then, otherwise });
            }
            (Some(Condition::Value(guard)), test) => {
                // The guard uses the names that the pattern binds. Where the pattern does not match, nothing reads
                // them.
                let bindings = self.bindings(&arm.pattern, value);
                self.out.extend(bindings);
                let condition = self.guarded(test, guard);
                let ((), then) = self.nested(|lower| lower.into(&arm.body, dest));
                let ((), otherwise) = self.nested(|lower| lower.arms(value, rest, dest));
                self.out.push(CuStmt::If { condition, then, otherwise });
            }
            (Some(guard @ (Condition::Let { .. } | Condition::All(_))), test) => {
                let ((), body) = self.nested(|lower| lower.into(&arm.body, dest));
                let ((), otherwise) = self.nested(|lower| lower.arms(value, rest, dest));
                let bindings = self.bindings(&arm.pattern, value);
                let holds = test.unwrap_or_else(|| CuExpr::name("true"));
                let first = Test { before: Vec::new(), holds, bind: bindings };
                self.choose(Some(first), guard.parts(), body, otherwise);
            }
        }
    }

    fn arm(&mut self, value: &CuExpr, arm: &Arm, dest: &Dest) {
        let bindings = self.bindings(&arm.pattern, value);
        self.out.extend(bindings);
        self.into(&arm.body, dest);
    }

    /// Lowers `test && guard`. A guard that needs statements runs them only where the test holds.
    fn guarded(&mut self, test: Option<CuExpr>, guard: &Expr) -> CuExpr {
        let (guard, mut statements) = self.nested(|lower| lower.value(guard));
        let Some(test) = test else {
            self.out.append(&mut statements);
            return guard;
        };
        if statements.is_empty() {
            return CuExpr::and(test, guard);
        }
        let name = self.names.fresh("matches");
        self.out.push(CuStmt::Declare { ty: vec!["bool".into()], name: name.clone(), init: Some(test) });
        let place = Box::new(CuExpr::name(&name));
        statements.push(CuStmt::Expr(CuExpr::Assign { op: "=", place, value: Box::new(guard), site: None }));
        self.out.push(CuStmt::If { condition: CuExpr::name(&name), then: statements, otherwise: Vec::new() });
        CuExpr::name(&name)
    }

    /// Returns whether one of the alternatives matches and the guard holds for its bindings, and the bindings of the
    /// first such alternative.
    fn tried(&mut self, alternatives: &[Pattern], value: &CuExpr, guard: &Expr) -> (CuExpr, Vec<CuStmt>) {
        let mut chosen: Vec<(CuExpr, Vec<(LocalId, CuExpr)>)> = Vec::new();
        for alternative in alternatives {
            let name = self.names.fresh("matches");
            let matches = CuExpr::name(&name);
            let earlier = chosen.iter().map(|(earlier, _)| Some(earlier.clone().not()));
            let test = all(earlier.chain([self.test(alternative, value)])).unwrap_or_else(|| CuExpr::name("true"));
            self.out.push(CuStmt::Declare { ty: vec!["bool".into()], name, init: Some(test) });
            let ((), then) = self.nested(|lower| {
                let bindings = lower.bindings(alternative, value);
                lower.out.extend(bindings);
                let (place, value) = (Box::new(matches.clone()), Box::new(lower.value(guard)));
                lower.out.push(CuStmt::Expr(CuExpr::Assign { op: "=", place, value, site: None }));
            });
            self.out.push(CuStmt::If { condition: matches.clone(), then, otherwise: Vec::new() });
            chosen.push((matches, self.parts(alternative, value)));
        }
        let condition = chosen.iter().map(|(matches, _)| matches.clone()).reduce(or);
        let bindings = chosen.into_iter().rev().reduce(|(_, others), (matches, parts)| {
            let parts = select(&matches, parts, &others);
            (matches, parts)
        });
        let bindings = bindings.map(|(_, parts)| self.declared(parts)).unwrap_or_default();
        (condition.unwrap_or_else(|| CuExpr::name("false")), bindings)
    }

    pub(super) fn let_pattern(
        &mut self,
        pattern: &Pattern,
        ty: Option<&ValueType>,
        init: &Expr,
        otherwise: Option<&Block>,
    ) {
        if let (None, None) = (ty, otherwise)
            && self.let_parts(pattern, init)
        {
            return;
        }
        let value = self.taken_apart(init, [pattern]);
        let value = match ty {
            Some(ty) => {
                let name = self.names.fresh("value");
                self.out.push(CuStmt::Declare { ty: shape(&ty.shape), name: name.clone(), init: Some(value) });
                CuExpr::name(&name)
            }
            None => self.spill_unless_name(value),
        };
        if let (Some(otherwise), Some(test)) = (otherwise, self.test(pattern, &value)) {
            let ((), then) = self.nested(|lower| lower.block_into(otherwise, &Dest::Discard));
            self.out.push(CuStmt::If { condition: test.not(), then, otherwise: Vec::new() });
        }
        let bindings = self.bindings(pattern, &value);
        self.out.extend(bindings);
    }

    /// Lowers `let (a, b) = (x, y);` to two declarations. Returns whether the statement had that form.
    fn let_parts(&mut self, pattern: &Pattern, init: &Expr) -> bool {
        let (PatternKind::Tuple { elements, rest: false }, ExprKind::Tuple { elements: values, .. }) =
            (&pattern.kind, &init.kind)
        else {
            return false;
        };
        let is_name =
            |pattern: &Pattern| matches!(pattern.kind, PatternKind::Bind { sub: None, .. } | PatternKind::Wild);
        // A bare literal takes its type from the tuple.
        let is_typed = |value: &Expr| !is_bare(value);
        if elements.len() != values.len() || !elements.iter().all(is_name) || !values.iter().all(is_typed) {
            return false;
        }
        let values = self.operands(&values.iter().collect::<Vec<_>>());
        for (element, value) in elements.iter().zip(values) {
            match element.kind {
                PatternKind::Bind { local, .. } => {
                    let name = self.names.local(local).to_string();
                    self.out.push(CuStmt::Declare { ty: vec!["auto".into()], name, init: Some(value) });
                }
                _ => self.finish(value, &Dest::Discard),
            }
        }
        true
    }

    /// Returns the test whether a value matches, or `None` if every value does.
    pub(super) fn test(&self, pattern: &Pattern, value: &CuExpr) -> Option<CuExpr> {
        let compare = |op, right| {
            let (left, right) = (Box::new(value.clone()), Box::new(right));
            Some(CuExpr::Infix { op, left, right, site: None })
        };
        match &pattern.kind {
            PatternKind::Error | PatternKind::Wild => None,
            PatternKind::Bind { sub, .. } => self.test(sub.as_ref()?, value),
            PatternKind::Bool(true) => Some(value.clone()),
            PatternKind::Bool(false) => Some(value.clone().not()),
            PatternKind::Int { .. } | PatternKind::Constant(_) => compare("==", self.end(pattern)),
            PatternKind::Range { low, high, inclusive } => {
                let low = low.as_ref().and_then(|low| compare(">=", self.end(low)));
                let below = if *inclusive { "<=" } else { "<" };
                let high = high.as_ref().and_then(|high| compare(below, self.end(high)));
                all([low, high])
            }
            PatternKind::Tuple { elements, .. } => {
                let tests = elements.iter().enumerate().map(|(index, element)| {
                    let part = value.field(field_name(&Member::Unnamed(index as u32)));
                    self.test(element, &part)
                });
                all(tests.collect::<Vec<_>>())
            }
            PatternKind::Array { elements, rest, .. } => {
                let items = items(value, elements, *rest);
                let tests = items.map(|(element, item)| self.test(element, &item));
                all(tests.collect::<Vec<_>>())
            }
            PatternKind::Struct { variant, fields, .. } => {
                let is = variant.as_ref().map(|variant| value.field(format!("is_{}()", variant_name(variant))));
                let value = within(variant.as_ref(), value);
                let tests = fields.iter().map(|(member, field)| self.test(field, &value.field(field_name(member))));
                all([is].into_iter().chain(tests).collect::<Vec<_>>())
            }
            PatternKind::Variant { variant, field } => {
                let base = Box::new(value.clone());
                let is = CuExpr::Method { base, name: variant.test(), arguments: Vec::new(), site: None };
                let field = field.as_ref().and_then(|field| self.test(field, &payload(*variant, value)));
                all([Some(is), field])
            }
            PatternKind::Or(alternatives) => {
                let mut tests = Vec::new();
                for alternative in alternatives {
                    tests.push(self.test(alternative, value)?);
                }
                tests.into_iter().reduce(or)
            }
        }
    }

    /// Lowers a literal or a constant.
    fn end(&self, pattern: &Pattern) -> CuExpr {
        match &pattern.kind {
            PatternKind::Int { digits, negative, .. } => {
                let literal = CuExpr::name(&bare_integer(digits, *negative));
                if *negative { CuExpr::Prefix("-", Box::new(literal)) } else { literal }
            }
            PatternKind::Constant(value) => CuExpr::Atom(vec![Fragment::Constant(*value)]),
            // The parser makes no other pattern here.
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Bind { .. }
            | PatternKind::Bool(_)
            | PatternKind::Range { .. }
            | PatternKind::Tuple { .. }
            | PatternKind::Array { .. }
            | PatternKind::Struct { .. }
            | PatternKind::Variant { .. }
            | PatternKind::Or(_) => CuExpr::name("0"),
        }
    }

    /// Declares the names that a pattern binds, as copies of the value's parts.
    pub(super) fn bindings(&mut self, pattern: &Pattern, value: &CuExpr) -> Vec<CuStmt> {
        self.declared(self.parts(pattern, value))
    }

    fn declared(&self, parts: Vec<(LocalId, CuExpr)>) -> Vec<CuStmt> {
        let declare = |(local, part)| CuStmt::Declare {
            ty: vec!["auto".into()],
            name: self.names.local(local).to_string(),
            init: Some(part),
        };
        parts.into_iter().map(declare).collect()
    }

    /// Returns the parts of a value to which a pattern gives names.
    fn parts(&self, pattern: &Pattern, value: &CuExpr) -> Vec<(LocalId, CuExpr)> {
        match &pattern.kind {
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_)
            | PatternKind::Range { .. } => Vec::new(),
            PatternKind::Bind { local, sub } => {
                let sub = sub.iter().flat_map(|sub| self.parts(sub, value));
                [(*local, value.clone())].into_iter().chain(sub).collect()
            }
            PatternKind::Tuple { elements, .. } => {
                let elements = elements.iter().zip(0..);
                elements
                    .flat_map(|(element, i)| self.parts(element, &value.field(field_name(&Member::Unnamed(i)))))
                    .collect()
            }
            PatternKind::Array { elements, rest, others } => {
                let items = items(value, elements, *rest).flat_map(|(element, item)| self.parts(element, &item));
                let others = others.iter().flat_map(|others| {
                    let front = rest.unwrap_or(elements.len());
                    let name = format!("rest_of<{front}, {}>", elements.len() - front);
                    let callee = vec![name.as_str().into()];
                    self.parts(others, &CuExpr::Call { callee, arguments: vec![value.clone()], site: None })
                });
                items.chain(others).collect()
            }
            PatternKind::Struct { variant, fields, .. } => {
                let value = within(variant.as_ref(), value);
                fields.iter().flat_map(|(member, field)| self.parts(field, &value.field(field_name(member)))).collect()
            }
            PatternKind::Variant { variant, field } => {
                field.iter().flat_map(|field| self.parts(field, &payload(*variant, value))).collect()
            }
            PatternKind::Or(alternatives) => self.chosen(alternatives, value),
        }
    }

    /// Returns the parts that the first matching alternative binds. One of them matches where the names are used.
    fn chosen(&self, alternatives: &[Pattern], value: &CuExpr) -> Vec<(LocalId, CuExpr)> {
        let Some((alternative, others)) = alternatives.split_first() else { return Vec::new() };
        let mut parts = self.parts(alternative, value);
        if let (false, false, Some(test)) = (others.is_empty(), parts.is_empty(), self.test(alternative, value)) {
            parts = select(&test, parts, &self.chosen(others, value));
        }
        parts
    }
}

/// Whether the expression is a literal without a type of its own.
pub(super) fn is_bare(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int { ty, .. } | ExprKind::Float { ty, .. } => *ty == LiteralType::Beside,
        ExprKind::Unary(_, value) => is_bare(value),
        _ => false,
    }
}

/// Returns the value that has the fields of a variant, or of a struct.
fn within(variant: Option<&Ident>, value: &CuExpr) -> CuExpr {
    match variant {
        Some(variant) => value.field(format!("as_{}", variant_name(variant))),
        None => value.clone(),
    }
}

/// Returns the value inside an `Option` or a `Result`.
fn payload(variant: Variant, value: &CuExpr) -> CuExpr {
    match variant {
        Variant::Some | Variant::None | Variant::Ok => value.field("value".into()),
        Variant::Err => value.field("error".into()),
    }
}

/// Returns the elements of an array that a pattern matches; rustc checks that there are as many.
fn items<'p>(
    value: &CuExpr,
    elements: &'p [Pattern],
    rest: Option<usize>,
) -> impl Iterator<Item = (&'p Pattern, CuExpr)> {
    let method = |name, arguments| CuExpr::Method { base: Box::new(value.clone()), name, arguments, site: None };
    elements.iter().enumerate().map(move |(index, element)| {
        let index = match rest {
            Some(rest) if index >= rest => {
                let (left, right) = (method("len", Vec::new()), CuExpr::name(&(elements.len() - index).to_string()));
                CuExpr::Infix { op: "-", left: Box::new(left), right: Box::new(right), site: None }
            }
            _ => CuExpr::name(&index.to_string()),
        };
        (element, method("get_unchecked", vec![index]))
    })
}

fn or(left: CuExpr, right: CuExpr) -> CuExpr {
    CuExpr::Infix { op: "||", left: Box::new(left), right: Box::new(right), site: None }
}

/// Selects the parts of one alternative if `test` holds, and those of the others if not.
fn select(test: &CuExpr, mut parts: Vec<(LocalId, CuExpr)>, others: &[(LocalId, CuExpr)]) -> Vec<(LocalId, CuExpr)> {
    for (local, part) in &mut parts {
        if let Some((_, other)) = others.iter().find(|(other, _)| other == local) {
            let (test, then) = (Box::new(test.clone()), Box::new(part.clone()));
            *part = CuExpr::Ternary(test, then, Box::new(other.clone()));
        }
    }
    parts
}

/// Returns the conjunction of the tests, or `None` if there are none.
fn all(tests: impl IntoIterator<Item = Option<CuExpr>>) -> Option<CuExpr> {
    tests.into_iter().flatten().reduce(CuExpr::and)
}

/// Whether a pattern names parts of a value.
fn takes_apart(pattern: &Pattern) -> bool {
    matches!(pattern.kind, PatternKind::Struct { .. } | PatternKind::Tuple { .. } | PatternKind::Array { .. })
}
