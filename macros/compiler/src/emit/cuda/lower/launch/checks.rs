//! The accesses that the host may check before a launch (`phalanx::program::launch_checks`): those whose index follows from the function's
//! parameters, the ranks of a thread, and the conditions around the access; and the operations that are faster on words (`words`).
//! This is a walk over the body with what is known at each place; `terms` has what an expression is computed of, and `limits` what a
//! condition says.

use super::closures::{ClosureUses, named_by};
use super::lengths::distance;
use super::limits::{Limit, between, comparison};
use super::scattered::scattered;
use super::scope::{MOST_READ, Origin, Scope};
use crate::emit::cuda::at_launch::{AtLaunch, LaunchCall, LaunchCheck, Operation, Term, Terms, may_be_known};
use crate::emit::cuda::lower::access::{Access, AccessForm};
use crate::emit::cuda::lower::closures::{Closures, Conditions, named_closure};
use crate::emit::cuda::lower::held::Numbered;
use crate::emit::cuda::lower::nest::{last, parts};
use crate::model::expr::{BinaryOp, Block, Callee, Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::message::Test;
use crate::model::range::Range;
use crate::model::ty::ValueType;
use crate::model::walk::{Child, children, walk, walk_block};
use crate::model::{Function, LocalId, Role, SlotId};

/// The most checks of a function. A program has 64.
const MOST_CHECKS: usize = 64;

/// The most of them that ask whether a number is a word.
const MOST_WORDS: usize = 32;

/// The most comparisons among these.
const MOST_COMPARISONS: usize = 12;

/// Returns the checks of a function, and their numbers.
pub(in crate::emit::cuda::lower) fn launch_checks<'e>(
    function: &'e Function,
    closures: &'e Closures<'e>,
    conditions: &'e Conditions,
) -> (AtLaunch, Numbered) {
    let mut walk = Walk {
        scope: Scope::of(function, closures, conditions),
        uses: ClosureUses::of(function, closures),
        found: AtLaunch::default(),
        numbered: Numbered::default(),
        loops: 0,
        inside: 0,
        compared: 0,
    };
    for (param, terms) in walk.uses.params(function) {
        walk.scope.bind(param, Origin::Terms(terms));
    }
    walk.body();
    walk.found.closure_calls = walk.uses.calls();
    walk.numbered.scattered = scattered(&walk.found, function);
    (walk.found, walk.numbered)
}

/// A walk over the body, with what is known where it is, and what it has found.
struct Walk<'e> {
    scope: Scope<'e>,
    uses: ClosureUses<'e>,
    found: AtLaunch,
    numbered: Numbered,
    /// The loops around the place of which the text does not show how often they repeat.
    loops: usize,
    /// All loops around the place; none in the condition of a loop, in which the compiler of CUDA C++ looks for its counter.
    inside: usize,
    /// The comparisons that are of words.
    compared: usize,
}

impl<'e> Walk<'e> {
    /// Visits the whole body, and notes what a device function returns at its end, unless it may return before.
    fn body(&mut self) {
        let body = &self.scope.function.body;
        self.block(body);
        let mut returns = false;
        walk_block(body, &mut |expr| returns |= matches!(expr.kind, ExprKind::Return { .. }));
        let Some(result) = body.tail.as_deref().filter(|_| self.scope.function.role != Role::Kernel && !returns) else {
            return;
        };
        self.found.results = self.scope.parts(result, &mut argument);
    }

    fn block(&mut self, block: &'e Block) {
        let outer = self.scope.limits.len();
        for statement in &block.statements {
            self.statement(statement);
        }
        if let Some(tail) = &block.tail {
            self.scope.forget_changed(tail);
            self.expr(tail);
        }
        self.scope.leave(outer);
    }

    fn statement(&mut self, statement: &'e Stmt) {
        match &statement.kind {
            StmtKind::Let { local, ty, init } => {
                if let Some(init) = init {
                    self.scope.forget_changed(init);
                    self.expr(init);
                    self.declare(*local, init, ty.as_ref());
                }
            }
            StmtKind::LetPattern { pattern, init, otherwise, .. } => {
                self.scope.forget_changed(init);
                self.expr(init);
                otherwise.iter().for_each(|block| self.block(block));
                for (local, value) in parts(pattern, init) {
                    self.declare(local, value, None);
                }
                self.scope.declare_parts(pattern, init);
            }
            StmtKind::Split { halves, init } => {
                self.scope.forget_changed(init);
                self.expr(init);
                self.scope.left = MOST_READ;
                for (half, length) in halves.iter().zip(self.scope.lengths_of_halves(init).into_iter().flatten()) {
                    half.and_then(|half| self.scope.bind(half, Origin::Terms(length)));
                }
            }
            StmtKind::Discard(expr) | StmtKind::Expr(expr) => {
                self.scope.forget_changed(expr);
                self.expr(expr);
                self.assume_what_stays(expr);
            }
            StmtKind::Item(_) => {}
        }
    }

    /// Notes the value of a variable, unless it may change. A value that is computed of what may change is read here.
    fn declare(&mut self, local: LocalId, init: &'e Expr, ty: Option<&'e ValueType>) {
        self.scope.begin(local, init);
        if self.scope.function.local(local).mutable.is_some() {
            return;
        }
        if !self.changes(init) {
            self.scope.bind(local, Origin::Value(init, ty));
        } else if self.scope.function.kind(local) == Kind::Value {
            self.scope.left = MOST_READ;
            let terms = self.scope.terms(init);
            self.scope.bind(local, Origin::Terms(terms));
        }
    }

    /// Whether an expression has a variable that may change.
    fn changes(&self, expr: &Expr) -> bool {
        let mut changes = false;
        walk(expr, &mut |inner| {
            if let ExprKind::Local(local) = inner.kind {
                changes |= self.scope.function.local(local).mutable.is_some();
            }
        });
        changes
    }

    /// Notes what holds behind a statement that otherwise leaves the block.
    fn assume_what_stays(&mut self, expr: &'e Expr) {
        match &expr.kind {
            ExprKind::If { condition, then, otherwise: None, .. } => {
                if let (Condition::Value(condition), true) = (&**condition, never_ends(then)) {
                    self.scope.assume(condition, false);
                }
            }
            ExprKind::Assert(Test::Value(condition), _) => self.scope.assume(condition, true),
            ExprKind::Assert(Test::Compare(op, left, right), _) => {
                if let Some(comparison) = comparison(*op, true) {
                    let limits = between(left, comparison, right, self.scope.function);
                    self.scope.limits.extend(limits.into_iter().map(Some));
                }
            }
            _ => {}
        }
    }

    fn under(&mut self, condition: &'e Expr, holds: bool, expr: &'e Expr) {
        let outer = self.scope.enter(condition, holds, expr);
        self.expr(expr);
        self.scope.leave(outer);
    }

    fn expr(&mut self, expr: &'e Expr) {
        match &expr.kind {
            ExprKind::If { condition, then, otherwise, .. } => {
                let outer = self.scope.limits.len();
                self.condition(condition);
                self.block(then);
                self.scope.leave(outer);
                if let Some(otherwise) = otherwise {
                    match &**condition {
                        Condition::Value(condition) => self.under(condition, false, otherwise),
                        Condition::Let { .. } | Condition::All(_) => self.expr(otherwise),
                    }
                }
            }
            ExprKind::While { condition, body, .. } => {
                let outer = self.scope.limits.len();
                let inside = std::mem::take(&mut self.inside);
                self.condition(condition);
                self.loops += 1;
                self.inside = inside + 1;
                self.block(body);
                self.inside = inside;
                self.loops -= 1;
                self.scope.leave(outer);
            }
            ExprKind::For { local, range, body, .. } => {
                children(expr, &mut |child| {
                    if let Child::Expr(bound) = child {
                        self.expr(bound);
                    }
                });
                if let Some(local) = local.filter(|local| self.scope.function.local(*local).mutable.is_none()) {
                    self.count(local, range);
                }
                let repeats = usize::from(range.count().is_none());
                self.loops += repeats;
                self.inside += 1;
                self.block(body);
                self.inside -= 1;
                self.loops -= repeats;
            }
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right, .. } => {
                self.expr(left);
                self.under(left, *op == BinaryOp::And, right);
            }
            // It is called where a variable may have another value. The others keep their places, by which scopes end.
            ExprKind::Closure { body, .. } => {
                let changes = |limit: &mut Limit<'e>| !limit.changing.is_empty();
                let all = self.scope.limits.iter_mut().map(|limit| limit.take_if(changes));
                let changing: Vec<Option<Limit<'e>>> = all.collect();
                self.expr(body);
                for (limit, changing) in self.scope.limits.iter_mut().zip(changing) {
                    *limit = limit.take().or(changing);
                }
            }
            _ => {
                if let ExprKind::Call { slot, arguments, .. } = &expr.kind {
                    self.pass_closures(*slot, arguments);
                }
                let repeats = usize::from(matches!(expr.kind, ExprKind::Loop { .. }));
                self.inside += repeats;
                children(expr, &mut |child| match child {
                    Child::Expr(inner) => self.expr(inner),
                    Child::Block(block) => self.block(block),
                    Child::Condition(condition) => {
                        let outer = self.scope.limits.len();
                        self.condition(condition);
                        self.scope.leave(outer);
                    }
                });
                self.inside -= repeats;
                self.access(expr);
                self.word(expr);
                self.call(expr);
                self.call_of_closure(expr);
            }
        }
    }

    /// Visits the parts of a condition, each behind those before it, and notes what they say.
    fn condition(&mut self, condition: &'e Condition) {
        for part in condition.parts() {
            match part {
                Condition::Value(value) => {
                    self.expr(value);
                    self.scope.assume(value, true);
                }
                Condition::Let { scrutinee, .. } => self.expr(scrutinee),
                Condition::All(_) => {}
            }
        }
    }

    fn count(&mut self, local: LocalId, range: &'e Range) {
        if !self.changes(&range.start) && !self.changes(&range.end) {
            self.scope.bind(local, Origin::Range(range));
            return;
        }
        self.scope.left = MOST_READ;
        let terms = self.scope.range(range);
        self.scope.bind(local, Origin::Terms(terms));
    }

    fn access(&mut self, expr: &'e Expr) {
        let Some(access) = Access::of(expr).filter(|access| access.memory.memory().is_some()) else { return };
        let (index, distance, is_end) = match access.form {
            AccessForm::Element | AccessForm::Row => (access.index, None, false),
            // What begins with the memory ends behind its start if the end is an index at all.
            AccessForm::Range(end) if access.index.integer() == Some(0) => (end, None, true),
            AccessForm::Range(end) => match distance(access.index, end) {
                Some(distance) => (access.index, Some(distance), true),
                None => return,
            },
            AccessForm::From => (access.index, None, true),
            AccessForm::LoadVec(lanes) => return self.vector(&access, Some(vec![Term::Constant(lanes)])),
            AccessForm::StoreVec(vector) => return self.vector(&access, self.scope.lanes(vector)),
        };
        if access.is_constant() {
            return;
        }
        self.scope.left = MOST_READ;
        let Some(length) = self.scope.length(access.memory) else { return };
        let mut index = self.scope.terms(index);
        if let Some(distance) = distance {
            index.extend(self.scope.terms(distance));
            index.push(Term::Operation(Operation::End));
        }
        self.check(LaunchCheck { index, length, is_end, vector: None, sites: vec![access.site] });
    }

    /// Notes the access of a vector, which ends behind its lanes. A long loop has one test before it, behind which the assembler schedules its
    /// loads better than without.
    fn vector(&mut self, access: &Access<'e>, lanes: Option<Terms>) {
        if self.loops > 0 {
            return;
        }
        self.scope.left = MOST_READ;
        let Some((lanes, length)) = lanes.zip(self.scope.length(access.memory)) else { return };
        let mut index = self.scope.terms(access.index);
        index.extend_from_slice(&lanes);
        index.push(Term::Operation(Operation::End));
        if let Some(vector) = self.scope.vector(access.memory, access.index, lanes) {
            self.check(LaunchCheck { index, length, is_end: true, vector: Some(vector), sites: vec![access.site] });
        }
    }

    /// Notes an operation that is faster if the numbers which it is of are words, or if it is a remainder of little more than the divisor.
    fn word(&mut self, expr: &'e Expr) {
        let Numbered { words, once, .. } = &self.numbered;
        let is_comparison = matches!(&expr.kind, ExprKind::Binary { op, .. } if op.compares());
        if words.len() + once.len() >= MOST_WORDS
            || is_comparison && (self.inside == 0 || self.compared == MOST_COMPARISONS)
        {
            return;
        }
        self.scope.left = MOST_READ;
        if let Some(number) = self.scope.word(expr)
            && let Some(check) = self.number_below(number, vec![Term::Literal(1 << 32)])
        {
            self.numbered.words.insert(std::ptr::from_ref(expr), check);
            self.compared += usize::from(is_comparison);
        }
        self.scope.left = MOST_READ;
        if let Some([dividend, twice]) = self.scope.once(expr)
            && let Some(check) = self.number_below(dividend, twice)
        {
            self.numbered.once.insert(std::ptr::from_ref(expr), check);
        }
    }

    /// Adds a check of a number that is no index. Returns its number.
    fn number_below(&mut self, index: Terms, length: Terms) -> Option<u16> {
        self.check(LaunchCheck { index, length, is_end: false, vector: None, sites: Vec::new() })
    }

    /// Adds a check. Returns its number.
    fn check(&mut self, check: LaunchCheck) -> Option<u16> {
        if !may_be_known(&check.index) || !may_be_known(&check.length) {
            return None;
        }
        let known = self.found.checks.iter().position(|other| other.is_same(&check));
        let number = known.unwrap_or(self.found.checks.len());
        if number == MOST_CHECKS {
            return None;
        }
        let checked = u16::try_from(number).ok()?;
        self.numbered.accesses.extend(check.sites.iter().map(|site| (*site, checked)));
        match self.found.checks.get_mut(number) {
            Some(known) => known.sites.extend(check.sites),
            None => self.found.checks.push(check),
        }
        Some(checked)
    }

    fn call(&mut self, expr: &'e Expr) {
        let ExprKind::Call {
            callee: Callee::Function(_) | Callee::Associated(..) | Callee::Method(..),
            slot,
            arguments,
        } = &expr.kind
        else {
            return;
        };
        let arguments = arguments.iter().map(|passed| self.scope.parts(passed, &mut argument)).collect();
        self.found.calls.push(LaunchCall { callee: *slot, arguments });
    }

    /// Notes that a call has closures among its arguments, whose parameters are what the function calls them with.
    fn pass_closures(&mut self, slot: SlotId, arguments: &'e [Expr]) {
        for (index, argument) in (0..=u8::MAX).zip(arguments) {
            let passed = |param| vec![Term::OfPassedClosure(slot, index, param)];
            if let ExprKind::Closure { params, .. } = &argument.kind {
                for (number, (param, _)) in (0..=u8::MAX).zip(params) {
                    if self.scope.function.local(*param).mutable.is_none() {
                        self.scope.bind(*param, Origin::Terms(passed(number)));
                    }
                }
            } else if let Some(closure) = named_closure(argument) {
                let arguments = (0..self.uses.params_of(closure)).map(passed).collect();
                self.uses.is_called(closure, named_by(argument), arguments);
            }
        }
    }

    fn call_of_closure(&mut self, expr: &'e Expr) {
        let ExprKind::CallClosure { closure, arguments, .. } = &expr.kind else { return };
        let arguments = arguments.iter().map(|passed| argument(&mut self.scope, passed)).collect();
        self.uses.is_called(*closure, expr, arguments);
    }
}

/// Returns the integer or the length that an argument is; nothing if nothing may be known of it.
fn argument<'e>(scope: &mut Scope<'e>, argument: &'e Expr) -> Terms {
    scope.left = MOST_READ;
    let terms = match argument.result_kind {
        Kind::Memory(_) => match scope.parameter(argument) {
            Some(index) => vec![Term::Parameter(index)],
            None => scope.length(argument).unwrap_or_default(),
        },
        Kind::Value | Kind::Reference { mutable: false } => scope.terms(argument),
        _ => Terms::new(),
    };
    if may_be_known(&terms) { terms } else { Terms::new() }
}

/// Whether a block always leaves what is around it.
fn never_ends(block: &Block) -> bool {
    last(block).is_some_and(|last| {
        matches!(
            last.kind,
            ExprKind::Return { .. } | ExprKind::Break { .. } | ExprKind::Continue { .. } | ExprKind::Panic(_)
        )
    })
}
