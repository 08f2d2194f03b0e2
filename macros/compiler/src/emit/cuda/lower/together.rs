//! Lowers the checks of accesses that follow each other. A check is an exit between two accesses, which keeps the compiler
//! from starting several loads before it uses the first one. In statements that are executed one after another, the checks of
//! all accesses whose index is known at the first one stand together before it, as one test; if it fails, the checks are
//! made one by one, in the order of the accesses, so that the report is that of the first one that fails.
//!
//! Nothing in between can fail, return, or take part in what threads do together: such an operation ends the run, and the
//! next statement begins another one. A thread that fails has not made the accesses before the failing one, which nobody
//! sees, because a failed launch has no results.

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::element::Before;
use super::nest::site as site_of;
use crate::emit::cuda::ast::{CuExpr, CuStmt, Fragment};
use crate::emit::cuda::signature::shape;
use crate::model::expr::{BinaryOp, Block, Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::op::{Op, Part};
use crate::model::pattern::PatternKind;
use crate::model::place::local_of;
use crate::model::{LocalId, SiteId};

/// The most checks that one test replaces.
const MOST_CHECKS: usize = 16;

/// The checks of several accesses, made together.
pub(super) struct Together {
    /// The statement before which they are made, by its position; the block's tail follows its statements.
    pub(super) before: usize,
    pub(super) statement: CuStmt,
    /// The accesses that need no check of their own.
    pub(super) sites: Vec<SiteId>,
}

/// The check of an access.
struct Check {
    site: SiteId,
    /// Whether it holds.
    test: CuExpr,
    /// The check itself, as a statement.
    check: CuExpr,
}

/// Accesses that are executed together, and what is known at the first of them.
struct Run<'l, 'f, 'e> {
    lower: &'l mut Lower<'f>,
    checks: Vec<Check>,
    /// The variables that the run declares, with their values.
    declared: BTreeMap<LocalId, Option<&'e Expr>>,
    /// The variables that the run assigns to.
    written: BTreeSet<LocalId>,
}

/// The end of a run: what follows may not be executed, or may fail.
struct End;

impl Lower<'_> {
    /// Returns the checks of a block's statements that are made together.
    pub(super) fn together(&mut self, block: &Block) -> Vec<Together> {
        let mut found = Vec::new();
        let count = block.statements.len() + usize::from(block.tail.is_some());
        let mut next = 0;
        while next < count {
            let start = next;
            let mut run = Run::new(self);
            let mut first = None;
            while next < count {
                let checks = run.checks.len();
                let end = match block.statements.get(next) {
                    Some(statement) => run.statement(statement),
                    None => block.tail.as_deref().map_or(Ok(()), |tail| run.expr(tail)),
                };
                let has_checks = run.checks.len() > checks;
                if end.is_err() && !has_checks && next > start {
                    // Its first access may begin another run.
                    break;
                }
                if has_checks && first.is_none() {
                    first = Some(next);
                }
                next += 1;
                if end.is_err() {
                    break;
                }
                if first.is_none() {
                    // What comes before the first access is known there.
                    run = Run::new(run.lower);
                }
            }
            found.extend(first.and_then(|before| Together::of(before, run.checks)));
        }
        found
    }

    /// Lowers the checks that are made before a statement. The last ones come first in the list.
    pub(super) fn check_together(&mut self, checks: &mut Vec<Together>, before: usize, line: u32) {
        if let Some(Together { statement, .. }) = checks.pop_if(|next| next.before == before) {
            self.out.extend([CuStmt::Line(line), statement]);
        }
    }
}

impl Together {
    /// Returns the checks as one statement, if there are several.
    fn of(before: usize, checks: Vec<Check>) -> Option<Together> {
        let sites = checks.iter().map(|check| check.site).collect();
        let mut different: Vec<Check> = Vec::new();
        for check in checks {
            if different.iter().all(|known| known.test != check.test) {
                different.push(check);
            }
        }
        let [_, _, ..] = &different[..] else { return None };
        let (tests, checks): (Vec<CuExpr>, Vec<CuStmt>) =
            different.into_iter().map(|Check { test, check, .. }| (test, CuStmt::Expr(check))).unzip();
        let and = |left, right| CuExpr::Infix { op: "&", left: Box::new(left), right: Box::new(right), site: None };
        let condition = tests.into_iter().reduce(and)?.not();
        let unreachable = CuStmt::Expr(CuExpr::call("unreachable", Vec::new()));
        let then = checks.into_iter().chain([unreachable]).collect();
        Some(Together { before, statement: CuStmt::If { condition, then, otherwise: Vec::new() }, sites })
    }
}

impl Before for Run<'_, '_, '_> {
    fn memory(&mut self, memory: &Expr) -> Option<CuExpr> {
        match (&memory.kind, memory.result_kind) {
            (ExprKind::Local(local), Kind::Memory(_)) if self.keeps(*local) => Some(CuExpr::name(&self.name(*local))),
            (ExprKind::Op { op: Op::Part { form: Part::Row, .. }, operands, .. }, _) => {
                let arguments = vec![self.memory(operands.first()?)?, self.known(operands.get(1)?)?];
                Some(CuExpr::call("row_of_unchecked", arguments))
            }
            _ => None,
        }
    }

    fn declared_later(&self, local: LocalId) -> Option<Option<&Expr>> {
        self.declared.get(&local).copied()
    }

    fn name(&self, local: LocalId) -> String {
        self.lower.names.local(local).into()
    }
}

impl<'l, 'f, 'e> Run<'l, 'f, 'e> {
    fn new(lower: &'l mut Lower<'f>) -> Self {
        Run { lower, checks: Vec::new(), declared: BTreeMap::new(), written: BTreeSet::new() }
    }

    fn statement(&mut self, statement: &'e Stmt) -> Result<(), End> {
        match &statement.kind {
            StmtKind::Let { local, init, .. } => {
                init.iter().try_for_each(|init| self.expr(init))?;
                self.declared.insert(*local, init.as_ref());
                Ok(())
            }
            StmtKind::Discard(expr) | StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Item(_) => Ok(()),
            StmtKind::LetPattern { pattern, init, otherwise: None, .. } => {
                self.expr(init)?;
                self.declared.extend(pattern.locals().into_iter().map(|local| (local, None)));
                // `let (a, b) = (x, y);` is two declarations.
                if let (PatternKind::Tuple { elements, rest: false }, ExprKind::Tuple { elements: values, .. }) =
                    (&pattern.kind, &init.kind)
                {
                    let parts = elements.iter().zip(values).filter_map(|(pattern, value)| match pattern.kind {
                        PatternKind::Bind { local, sub: None } => Some((local, Some(value))),
                        _ => None,
                    });
                    self.declared.extend(parts);
                }
                Ok(())
            }
            StmtKind::Split { .. } | StmtKind::LetPattern { .. } => Err(End),
        }
    }

    /// Adds the accesses of an expression, in the order of their evaluation.
    fn expr(&mut self, expr: &'e Expr) -> Result<(), End> {
        match &expr.kind {
            ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_)
            | ExprKind::None(_)
            | ExprKind::Operator(..)
            | ExprKind::Closure { .. } => Ok(()),
            ExprKind::Unary(_, value)
            | ExprKind::Cast(value, _)
            | ExprKind::Typed(value, _)
            | ExprKind::Axis(value, _)
            | ExprKind::Some(value)
            | ExprKind::Deref(value)
            | ExprKind::Field { base: value, .. }
            | ExprKind::Borrow { mutable: false, target: value }
            | ExprKind::Repeat { element: value, .. }
            | ExprKind::Vector { argument: value, .. } => self.expr(value),
            ExprKind::Array { elements: operands, .. }
            | ExprKind::Tuple { elements: operands, .. }
            | ExprKind::FastCall { operands, .. } => self.all(operands),
            ExprKind::Struct { fields, base, .. } => {
                fields.iter().map(|(_, field)| field).chain(base.as_deref()).try_for_each(|field| self.expr(field))
            }
            ExprKind::Method { method, operands, .. } => {
                self.all(operands)?;
                unless(method.fails.is_some())
            }
            ExprKind::ScalarCall { operands, site, .. } => {
                self.all(operands)?;
                unless(site.is_some())
            }
            ExprKind::Binary { op, left, right, .. } => {
                self.expr(left)?;
                match op.short_circuits() {
                    true => self.harmless(|run| run.expr(right)),
                    false => self.expr(right),
                }?;
                unless(may_fail(*op, right))
            }
            ExprKind::Index { base, index, .. } => {
                self.expr(base)?;
                self.expr(index)?;
                self.access(expr)
            }
            ExprKind::UncheckedPlace { base, index } => {
                self.expr(base)?;
                self.expr(index)
            }
            ExprKind::Op { op, operands, .. } => {
                self.all(operands)?;
                match op {
                    Op::LoadVec(_) | Op::StoreVec | Op::Part { form: Part::Row, .. } => self.access(expr),
                    Op::This(_) | Op::Query(..) | Op::Length | Op::IsEmpty | Op::Is(_) | Op::LoadUnchecked => Ok(()),
                    _ => Err(End),
                }
            }
            ExprKind::Block(block) | ExprKind::Unsafe(block) => self.block(block),
            ExprKind::If { condition, then, otherwise, .. } => match &**condition {
                Condition::Value(condition) => {
                    self.expr(condition)?;
                    self.harmless(|run| {
                        run.block(then)?;
                        otherwise.iter().try_for_each(|otherwise| run.expr(otherwise))
                    })
                }
                Condition::Let { .. } | Condition::All(_) => Err(End),
            },
            // Rust and C++ evaluate the value before the place.
            ExprKind::Assign(place, value) => {
                self.expr(value)?;
                self.assign_to(place)
            }
            ExprKind::AssignOp { op, place, value, .. } => {
                self.expr(value)?;
                self.assign_to(place)?;
                unless(may_fail(*op, value))
            }
            ExprKind::Error
            | ExprKind::Borrow { mutable: true, .. }
            | ExprKind::Call { .. }
            | ExprKind::CallClosure { .. }
            | ExprKind::Labelled { .. }
            | ExprKind::Match { .. }
            | ExprKind::Loop { .. }
            | ExprKind::While { .. }
            | ExprKind::For { .. }
            | ExprKind::Break { .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { .. }
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_)
            | ExprKind::Cuda(_) => Err(End),
        }
    }

    fn all(&mut self, operands: &'e [Expr]) -> Result<(), End> {
        operands.iter().try_for_each(|operand| self.expr(operand))
    }

    fn block(&mut self, block: &'e Block) -> Result<(), End> {
        block.statements.iter().try_for_each(|statement| self.statement(statement))?;
        block.tail.as_deref().map_or(Ok(()), |tail| self.expr(tail))
    }

    /// Adds what need not be executed, which must neither access memory nor end the run.
    fn harmless(&mut self, add: impl FnOnce(&mut Self) -> Result<(), End>) -> Result<(), End> {
        let before = self.checks.len();
        let result = add(self);
        let accesses = self.checks.len() > before;
        self.checks.truncate(before);
        result?;
        unless(accesses)
    }

    fn assign_to(&mut self, place: &'e Expr) -> Result<(), End> {
        let written = local_of(place);
        // It may refer to any variable.
        unless(written.is_some_and(|local| matches!(self.lower.function.kind(local), Kind::Reference { .. })))?;
        self.written.extend(written);
        self.expr(place)
    }

    /// Adds an access, whose operands are added already.
    fn access(&mut self, access: &'e Expr) -> Result<(), End> {
        if site_of(access).is_some_and(|site| self.lower.unchecked.contains(&site)) {
            return Ok(());
        }
        let check = self.check(access).filter(|_| self.checks.len() < MOST_CHECKS);
        self.checks.push(check.ok_or(End)?);
        Ok(())
    }

    fn check(&mut self, access: &Expr) -> Option<Check> {
        let site = site_of(access)?;
        let (memory, index, lanes) = match &access.kind {
            ExprKind::Index { base, index, .. } => (&**base, &**index, None),
            ExprKind::Op { op, operands, .. } => (operands.first()?, operands.get(1)?, self.lanes_of(*op, operands)?),
            _ => return None,
        };
        let index = self.known(index)?;
        let (suffix, argument) = match (lanes, &memory.kind) {
            (None, ExprKind::Index { base, .. }) => {
                let mut row = vec![Fragment::from("_row<decltype(")];
                row.extend(self.first_element(base)?);
                row.push(")>".into());
                (row, None)
            }
            (None, _) => (Vec::new(), Some(self.memory(memory)?)),
            (Some(lanes), _) => {
                let mut vectors = vec![Fragment::from("_vector<")];
                vectors.extend(lanes);
                vectors.push(">".into());
                (vectors, Some(self.memory(memory)?))
            }
        };
        let call = |name: &str, site| {
            let callee = std::iter::once(name.into()).chain(suffix.iter().cloned()).collect();
            CuExpr::Call { callee, arguments: argument.iter().cloned().chain([index.clone()]).collect(), site }
        };
        Some(Check { site, test: call("within", None), check: call("check", Some(site)) })
    }

    /// Returns the value of an expression before the run, in terms of what is known there. Its evaluation cannot fail.
    fn known(&mut self, expr: &Expr) -> Option<CuExpr> {
        if self.is_kept(expr) {
            return Some(self.lower.value(expr));
        }
        match &expr.kind {
            ExprKind::Local(local) => {
                let init = (*self.declared.get(local)?)?;
                let is_fixed = self.lower.function.local(*local).mutable.is_none();
                // The type of a literal comes from its declaration.
                let is_typed = !matches!(init.kind, ExprKind::Int { .. } | ExprKind::Typed(..));
                if is_fixed && is_typed { self.known(init) } else { None }
            }
            ExprKind::Cast(value, ty) => {
                let callee = [vec!["as<".into()], shape(&ty.shape), vec![">".into()]].concat();
                Some(CuExpr::Call { callee, arguments: vec![self.known(value)?], site: None })
            }
            ExprKind::Binary { op, left, right, .. } if op.is_arithmetic() && !may_fail(*op, right) => {
                let (left, right) = (Box::new(self.known(left)?), Box::new(self.known(right)?));
                Some(CuExpr::Infix { op: op.symbol(), left, right, site: None })
            }
            _ => None,
        }
    }

    /// Whether an expression has one value throughout the run, and its evaluation cannot fail.
    fn is_kept(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int { .. } | ExprKind::Constant(_) => true,
            ExprKind::Local(local) => self.keeps(*local),
            ExprKind::Field { base: value, .. } | ExprKind::Axis(value, _) | ExprKind::Cast(value, _) => {
                self.is_kept(value)
            }
            ExprKind::Binary { op, left, right, .. } => {
                op.is_arithmetic() && !may_fail(*op, right) && self.is_kept(left) && self.is_kept(right)
            }
            ExprKind::Op { op: Op::Query(..) | Op::Length, operands, .. } => {
                operands.iter().all(|operand| self.is_kept(operand))
            }
            _ => false,
        }
    }

    /// Whether a variable has one value throughout the run.
    fn keeps(&self, local: LocalId) -> bool {
        !self.declared.contains_key(&local)
            && !self.written.contains(&local)
            && !matches!(self.lower.function.kind(local), Kind::Reference { .. })
    }
}

/// Whether an operator may fail: a division, unless it is by a literal other than zero.
fn may_fail(op: BinaryOp, right: &Expr) -> bool {
    op.divides() && right.integer().is_none_or(|divisor| divisor == 0)
}

fn unless(fails: bool) -> Result<(), End> {
    if fails { Err(End) } else { Ok(()) }
}
