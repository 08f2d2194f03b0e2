//! Tests the accesses of straight-line code together, before the first of them. A run is a sequence of statements of a
//! block that are all executed if the first is, unless the thread fails at an access. Its accesses, whose indexes are
//! known before it, are tested by one condition, and need no checks of their own: no exit stands between its loads. An
//! access on the arm of a branch is tested if the branch's condition is known before the run, too: the test counts only
//! `when` the condition holds. The first test that does not hold reports what its access would report. The accesses of a
//! closure are tested at each call, with its arguments: such a call is one of a second closure, without checks.
//!
//! A thread that fails does so before it executes the run instead of in the middle of it. Nothing shows the difference:
//! other threads see no store of a run until the thread synchronizes with them, and the host gets an error. Barriers of
//! the hardware are part of a run, because a failing thread says so before it exits, and the others go on behind that:
//! whatever they read then, the report is of the first failure. So a test stands before the barrier, too, and the
//! compiler of CUDA C++ may load what nobody writes ahead of it. What else could show the difference ends the run:
//! whatever may fail, leave the run, wait otherwise, print, or is not understood.

use super::Lower;
use super::access::{Access, AccessForm};
use super::known::{Test, Values};
use super::nest::parts;
use super::pattern::is_bare;
use super::tested::{Guarded, Tested, both, conjunction};
use crate::emit::cuda::ast::{CuExpr, CuStmt};
use crate::model::expr::{Arm, BinaryOp, Block, Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::group::Group;
use crate::model::op::Op;
use crate::model::place::local_of;
use crate::model::walk::walk;
use crate::model::{LocalId, SiteId};
use crate::span::SpanRange;

/// The most tests before a run.
const MOST_TESTS: usize = 16;

/// The largest `if` whose accesses are tested before it, in expressions.
const LARGEST_ARMS: usize = 128;

/// A run of statements, and the test before it.
pub(super) struct Run {
    /// The index of the first statement.
    start: usize,
    tested: Tested,
    /// Whether all threads of a warp come to it together.
    is_of_warp: bool,
}

impl Lower<'_> {
    /// Returns the runs of a block.
    pub(super) fn runs<'e>(&mut self, statements: &'e [Stmt], tail: Option<&'e Expr>) -> Vec<Run>
    where
        Self: 'e,
    {
        let mut runs = Vec::new();
        let count = statements.len() + usize::from(tail.is_some());
        let mut start = 0;
        while start < count {
            let mut scan = Scan::new(self);
            let mut next = start;
            while next < count {
                let before = scan.found();
                let goes_on = match statements.get(next) {
                    Some(statement) => scan.statement(statement).is_some(),
                    None => tail.is_none_or(|tail| scan.expr(tail).is_some()),
                };
                // A statement whose first access is not known before the run begins a run of its own.
                if !goes_on && scan.found() == before && next > start {
                    break;
                }
                next += 1;
                if !goes_on {
                    break;
                }
                if scan.found() == 0 && !scan.has_meeting {
                    scan.values.restart();
                    start = next;
                }
            }
            runs.extend(scan.run(start));
            start = next;
        }
        runs
    }

    /// Prints the test of the run that begins with a statement, and lowers its accesses without checks from here on.
    pub(super) fn front(&mut self, runs: &[Run], statement: usize, span: SpanRange) {
        let Some(run) = runs.iter().find(|run| run.start == statement) else { return };
        self.out.push(CuStmt::Line(span.line()));
        let ending = if run.is_of_warp { self.meetings.name_of_warp("_of_warp") } else { Vec::new() };
        let name = [vec!["require".into()], ending].concat();
        let require = |test: &CuExpr| {
            CuStmt::Expr(CuExpr::Call { callee: name.clone(), arguments: vec![test.clone()], site: None })
        };
        let test = require(&run.tested.test);
        self.out.push(match run.tested.all_within() {
            Some(all_within) => CuStmt::If { condition: all_within.not(), then: vec![test], otherwise: Vec::new() },
            None => test,
        });
        self.out.extend(run.tested.constant.as_ref().map(require));
        self.begin_tested(&run.tested);
    }

    pub(super) fn end_runs(&mut self, runs: &[Run]) {
        runs.iter().for_each(|run| self.end_tested(&run.tested));
    }
}

/// When a part of a run is executed.
enum Guard {
    /// It is executed if the run is.
    Always,
    /// It is executed if the condition holds before the run.
    If(CuExpr),
    /// It depends on what is not known before the run.
    Unknown,
}

/// What a test is about.
struct Tests {
    site: SiteId,
    is_of_warp: bool,
    /// Whether the compiler of CUDA C++ decides it, or it is none of memory.
    is_constant: bool,
    loads: bool,
}

/// A run, statement by statement. Its methods return `None` where it ends.
pub(super) struct Scan<'l, 'f, 'e> {
    pub(super) values: Values<'l, 'f, 'e>,
    /// When the run gets to where the scan is.
    guard: Guard,
    pub(super) tests: Vec<Guarded>,
    /// The number of loads whose test the compiler of CUDA C++ cannot decide.
    pub(super) loads: usize,
    pub(super) accesses: Vec<SiteId>,
    /// The calls of closures, other than pure ones, whose accesses are tested.
    pub(super) calls: Vec<(SiteId, LocalId)>,
    /// Whether the scan is in the body of such a closure.
    pub(super) in_closure: bool,
    /// Whether threads meet in the run: at a barrier, or to exchange values.
    pub(super) has_meeting: bool,
    /// Whether all threads of a warp come to one that is executed whenever the run is.
    pub(super) meets: bool,
}

impl<'l, 'f: 'e, 'e> Scan<'l, 'f, 'e> {
    pub(super) fn new(lower: &'l mut Lower<'f>) -> Self {
        let (values, guard) = (Values::new(lower), Guard::Always);
        let (tests, accesses, calls) = (Vec::new(), Vec::new(), Vec::new());
        Scan { values, guard, tests, loads: 0, accesses, calls, in_closure: false, has_meeting: false, meets: false }
    }

    /// The number of tests, and of what they are about.
    fn found(&self) -> usize {
        self.tests.len() + self.accesses.len() + self.calls.len()
    }

    /// Returns the run, if two loads meet in it that are not both on one arm, whose own run tests them, or if a test
    /// before a loop may make that of an access unnecessary.
    fn run(self, start: usize) -> Option<Run> {
        let first = self.tests.first()?;
        let is_of_warp = self.is_of_warp();
        if self.loads < 2 && !is_of_warp && self.tests.iter().all(|test| test.all_within.is_none()) {
            return None;
        }
        if first.guard.is_some() && self.tests.iter().all(|test| test.guard == first.guard) {
            return None;
        }
        Some(Run { start, tested: self.tested()?, is_of_warp })
    }

    /// Whether all threads of a warp come to the run together: they do so to an access or a barrier that is executed whenever the run is,
    /// and what makes the test unnecessary does so for all of them.
    fn is_of_warp(&self) -> bool {
        let is_agreed =
            |test: &Guarded| test.all_within.as_ref().is_none_or(|name| self.values.lower.agreed.contains(name));
        let meets = self.meets || self.tests.iter().any(|test| test.is_of_warp && test.guard.is_none());
        meets && self.tests.iter().all(is_agreed)
    }

    /// Returns the test of the accesses, if there are any.
    pub(super) fn tested(self) -> Option<Tested> {
        let all = |guarded: &Guarded| guarded.all_within.is_some() || guarded.is_constant;
        let mut unless = Vec::new();
        if self.tests.iter().all(all) {
            unless.extend(self.tests.iter().filter_map(|guarded| guarded.all_within.clone()));
            unless.sort();
            unless.dedup();
        }
        let test = conjunction(self.tests.iter(), unless.is_empty())?;
        let constant = if unless.is_empty() {
            None
        } else {
            conjunction(self.tests.iter().filter(|guarded| guarded.all_within.is_none()), false)
        };
        Some(Tested { unless, test, constant, accesses: self.accesses, calls: self.calls })
    }

    /// Scans what is executed only if a condition holds, whose value before the run is unknown if it is `None`.
    fn under(&mut self, condition: Option<CuExpr>, scan: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        let guard = match (&self.guard, condition) {
            (Guard::Unknown, _) | (_, None) => Guard::Unknown,
            (Guard::Always, Some(condition)) => Guard::If(condition),
            (Guard::If(outer), Some(condition)) => Guard::If(both(outer.clone(), condition)),
        };
        let outer = std::mem::replace(&mut self.guard, guard);
        let result = scan(self);
        self.guard = outer;
        result
    }

    pub(super) fn statement(&mut self, statement: &'e Stmt) -> Option<()> {
        match &statement.kind {
            StmtKind::Let { local, ty, init } => {
                if let Some(init) = init {
                    self.expr(init)?;
                }
                self.values.declare(*local, ty.as_ref(), init.as_ref());
                Some(())
            }
            StmtKind::LetPattern { pattern, init, otherwise, .. } => {
                self.expr(init)?;
                self.values.variables.declared.extend(pattern.locals());
                // A bare literal takes its type from the tuple.
                let parts = parts(pattern, init).filter(|(_, init)| !is_bare(init));
                parts.for_each(|(local, init)| self.values.declare(local, None, Some(init)));
                otherwise.is_none().then_some(())
            }
            StmtKind::Split { init, .. } => self.expr(init),
            StmtKind::Discard(expr) | StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Item(_) => Some(()),
        }
    }

    pub(super) fn block(&mut self, block: &'e Block) -> Option<()> {
        block.statements.iter().try_for_each(|statement| self.statement(statement))?;
        block.tail.as_ref().map_or(Some(()), |tail| self.expr(tail))
    }

    fn all(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<()> {
        exprs.into_iter().try_for_each(|expr| self.expr(expr))
    }

    /// Adds an expression, its operands in the order of their evaluation. Returns `None`, which ends the run, if the
    /// expression may fail, leave the run, wait, or be observed by other threads or the host.
    pub(super) fn expr(&mut self, expr: &'e Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Unary(_, inner)
            | ExprKind::Cast(inner, _)
            | ExprKind::Typed(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Axis(inner, _)
            | ExprKind::Field { base: inner, .. }
            | ExprKind::Some(inner)
            | ExprKind::Borrow { target: inner, .. }
            | ExprKind::Repeat { element: inner, .. }
            | ExprKind::Vector { argument: inner, .. } => self.expr(inner),
            ExprKind::Binary { op, left, right, .. } => {
                self.expr(left)?;
                match op {
                    BinaryOp::And => {
                        let holds = self.values.condition(left);
                        self.under(holds, |scan| scan.expr(right))
                    }
                    BinaryOp::Or => {
                        let fails = self.values.condition(left).map(CuExpr::not);
                        self.under(fails, |scan| scan.expr(right))
                    }
                    _ => self.expr(right),
                }?;
                goes_on(!self.values.lower.may_fail(*op, left, right))
            }
            ExprKind::Index { base, index, .. } if self.is_element(base, index) => Some(()),
            ExprKind::Index { base, index, .. } => {
                self.indexed(base, index)?;
                self.access(expr, true)
            }
            ExprKind::UncheckedPlace { base, index } => self.all([&**base, &**index]),
            ExprKind::Array { elements, .. } | ExprKind::Tuple { elements, .. } => self.all(elements),
            ExprKind::Struct { fields, base, .. } => {
                self.all(fields.iter().map(|(_, field)| field).chain(base.as_deref()))
            }
            ExprKind::Op { op, operands, .. } => {
                self.all(operands)?;
                match Access::of(expr) {
                    Some(access) => self.access(expr, matches!(access.form, AccessForm::LoadVec(_))),
                    None if is_meeting(*op) => {
                        self.has_meeting = true;
                        self.meets |= matches!(self.guard, Guard::Always) && self.values.lower.is_of_warp(expr);
                        Some(())
                    }
                    None => goes_on(!op.facts().fails && op.facts().effect != Effect::Changes),
                }
            }
            ExprKind::Method { method, operands, site } => {
                self.all(operands)?;
                match (method.fails, &operands[..], site) {
                    (None, ..) => Some(()),
                    (Some(_), [_, low, high], Some(site)) if method.name == "clamp" => {
                        let test = self.values.ordered(low, high)?;
                        self.test(test, Tests { site: *site, is_of_warp: false, is_constant: true, loads: false })
                    }
                    (Some(_), ..) => None,
                }
            }
            ExprKind::ScalarCall { operands, site, .. } => {
                self.all(operands)?;
                goes_on(site.is_none())
            }
            ExprKind::Intrinsic { function, .. } if !function.is_pure() => None,
            ExprKind::Intrinsic { operands, .. } => self.all(operands),
            ExprKind::CallClosure { closure, arguments, site } => {
                self.all(arguments)?;
                if self.values.lower.is_pure(*closure) { Some(()) } else { self.closure(*closure, arguments, *site) }
            }
            ExprKind::Call { callee, arguments, .. } => {
                self.all(arguments)?;
                goes_on(self.only_maps(callee, arguments))
            }
            ExprKind::Block(block) | ExprKind::Unsafe(block) => self.block(block),
            ExprKind::If { condition, then, otherwise, .. } => {
                let holds = self.condition(condition)?;
                let mut nodes = 0;
                walk(expr, &mut |_| nodes += 1);
                let holds = holds.filter(|_| nodes <= LARGEST_ARMS);
                let fails = holds.clone().map(CuExpr::not);
                self.under(holds, |scan| scan.block(then))?;
                otherwise.as_ref().map_or(Some(()), |otherwise| self.under(fails, |scan| scan.expr(otherwise)))
            }
            ExprKind::Match { scrutinee, arms, .. } => {
                self.expr(scrutinee)?;
                arms.iter().try_for_each(|arm| self.arm(arm))
            }
            // As in Rust, the value is evaluated before the place.
            ExprKind::Assign(place, value) => {
                self.expr(value)?;
                match &place.kind {
                    ExprKind::Index { base, index, .. } if self.is_element(base, index) => {}
                    ExprKind::Index { base, index, .. } => {
                        self.indexed(base, index)?;
                        self.access(place, false)?;
                    }
                    _ => self.expr(place)?,
                }
                self.assign(place)
            }
            ExprKind::AssignOp { op, place, value, function, .. } => {
                self.all([&**value, &**place])?;
                self.assign(place)?;
                goes_on(function.is_none() && !self.values.lower.may_fail(*op, place, value))
            }
            ExprKind::For { range, .. } => {
                self.all([&range.start, &range.end])?;
                if self.only_computes(expr) {
                    self.pass(expr);
                    return Some(());
                }
                self.iterations(expr)
            }
            ExprKind::Return { value: Some(value), .. } | ExprKind::Break { value: Some(value), .. } => {
                self.expr(value)?;
                None
            }
            // The body of a closure is evaluated where it is called.
            ExprKind::Closure { .. }
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_)
            | ExprKind::Operator(..)
            | ExprKind::None(_) => Some(()),
            ExprKind::Error
            | ExprKind::Labelled { .. }
            | ExprKind::Loop { .. }
            | ExprKind::While { .. }
            | ExprKind::Break { value: None, .. }
            | ExprKind::Continue { .. }
            | ExprKind::Return { value: None, .. }
            | ExprKind::Cuda(_)
            | ExprKind::Assert(..)
            | ExprKind::Panic(_)
            | ExprKind::Print(_) => None,
        }
    }

    /// Adds the operands of an access. A row of memory is a place, and not loaded.
    fn indexed(&mut self, base: &'e Expr, index: &'e Expr) -> Option<()> {
        match &base.kind {
            ExprKind::Index { base: rows, index: row, .. } => {
                self.indexed(rows, row)?;
                self.access(base, false)?;
            }
            _ => self.expr(base)?,
        }
        self.expr(index)
    }

    /// Adds the parts of a condition, each of which is evaluated if those before it hold. Returns the value that the
    /// condition has before the run, inside, if it is known.
    fn condition(&mut self, condition: &'e Condition) -> Option<Option<CuExpr>> {
        let mut holds: Option<Option<CuExpr>> = None;
        for part in condition.parts() {
            let (value, part) = match part {
                Condition::Value(value) => (value, true),
                Condition::Let { pattern, scrutinee } => {
                    self.values.variables.declared.extend(pattern.locals());
                    (scrutinee, false)
                }
                // The parser flattens nested conditions.
                Condition::All(_) => return None,
            };
            match holds.clone() {
                None => self.expr(value),
                Some(before) => self.under(before, |scan| scan.expr(value)),
            }?;
            let part = if part { self.values.condition(value) } else { None };
            holds = Some(match holds {
                None => part,
                Some(before) => before.zip(part).map(|(before, part)| both(before, part)),
            });
        }
        Some(holds.flatten())
    }

    fn arm(&mut self, arm: &'e Arm) -> Option<()> {
        self.values.variables.declared.extend(arm.pattern.locals());
        if let Some(guard) = &arm.guard {
            self.under(None, |scan| scan.condition(guard).map(drop))?;
        }
        self.under(None, |scan| scan.expr(&arm.body))
    }

    fn assign(&mut self, place: &Expr) -> Option<()> {
        if let Some(local) = local_of(place) {
            self.values.assign(local);
            return Some(());
        }
        // Memory, and what a reference refers to.
        matches!(
            place.kind,
            ExprKind::Index { .. } | ExprKind::UncheckedPlace { .. } | ExprKind::Field { .. } | ExprKind::Deref(_)
        )
        .then_some(())
    }

    /// Adds an access to the tests, or ends the run if it keeps its check.
    fn access(&mut self, expr: &'e Expr, loads: bool) -> Option<()> {
        let access = Access::of(expr)?;
        let lower = &self.values.lower;
        // It fails nobody, or only after the loop around the run.
        let fails_later = lower.unchecked.contains(&access.site) || lower.deferred.contains_key(&access.site);
        if fails_later || access.is_constant_range() {
            return Some(());
        }
        let test = self.values.test(&access)?;
        let is_of_warp = !self.in_closure && self.values.lower.is_of_warp(expr);
        self.test(test, Tests { site: access.site, is_of_warp, is_constant: access.is_constant(), loads })
    }

    /// Adds a test, unless it is made already, or ends the run if it cannot be made before the run.
    fn test(&mut self, test: Test, of: Tests) -> Option<()> {
        let Tests { site, is_of_warp, is_constant, loads } = of;
        let (guard, is_known) = match &self.guard {
            Guard::Always => (None, true),
            Guard::If(condition) => (Some(condition.clone()), true),
            // It needs no test where the same is tested anyway, as a value that is loaded, compared and stored.
            Guard::Unknown => (None, false),
        };
        let covers = |known: &Guarded| known.test == test && (known.guard.is_none() || known.guard == guard);
        if !self.tests.iter().any(covers) {
            if !is_known || self.tests.len() == MOST_TESTS {
                return None;
            }
            let lower = &self.values.lower;
            // A loop with checks runs because the test before an outer one did not hold, either.
            let all_within = lower.all_within.get(&site).filter(|_| !lower.checks_all).cloned();
            let text = lower.unless_held(site, test.at(site));
            self.tests.push(Guarded { guard, all_within, test, text, is_of_warp, is_constant });
            self.loads += usize::from(loads && !is_constant);
        }
        // Other calls of a closure make other accesses.
        if !self.in_closure {
            self.accesses.push(site);
        }
        Some(())
    }
}

/// Whether threads meet in an operation that waits for no thread that has exited.
fn is_meeting(op: Op) -> bool {
    matches!(op, Op::Sync(Group::Tile | Group::ThreadBlock | Group::Cluster, _) | Op::Warp(Group::Tile, _))
}

/// Ends the run after the operands of an expression unless it goes on.
fn goes_on(goes_on: bool) -> Option<()> {
    goes_on.then_some(())
}
