//! The statements after a loop that is printed twice, where they share the test before the loop: a filter adds what it loads in
//! a loop, and stores the sum after it. Both copies of the loop are followed by a copy of these statements, so that no branch
//! stands between the loop and the store, and one test decides for both:
//!
//! ```text
//! if (covers(a, values_of(steps) + i) && holds(within(b, i))) {
//!     for (auto k : unclamped(steps)) { sum += a.get_unchecked(k + i); }
//!     b.get_unchecked(i) = sum;
//! } else { /* the loop and the store, with checks */ }
//! ```
//!
//! The test fails nobody. An access may be among those that it is about if its index is known before the loop, whatever
//! happens in between: where the test holds, the access is within bounds if it is made at all.

use super::Lower;
use super::closures::named_closure;
use super::collectives::is_collective;
use super::straight::Scan;
use super::tested::Tested;
use crate::model::expr::{Callee, Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::place::{local_of, may_write};
use crate::model::walk::{Node, statement_nodes, walk};
use crate::model::{LocalId, SlotId};

/// The most that is printed twice, in expressions.
const LARGEST_REST: usize = 80;

/// The test of the accesses of the statements after a loop, and the functions that these call.
pub(super) struct Joined {
    pub(super) tested: Tested,
    pub(super) callees: Vec<SlotId>,
}

/// Returns those of the statements after a loop, which are the rest of a block if `is_whole` is true, that are printed twice: all of
/// them, or those before one that cannot be. Others would be torn from a run of statements that are tested together.
pub(super) fn rest(statements: &[Stmt], is_whole: bool) -> &[Stmt] {
    let mut size = 0;
    let mut repeats = |statement: &Stmt| {
        let (mut repeats, mut own) = (true, 0);
        statement_nodes(statement, &mut |node| {
            if let Node::Expr(expr) = node {
                own += 1;
                repeats &= is_repeatable(expr);
            }
        });
        size += if repeats { own } else { 0 };
        repeats
    };
    let count = statements.iter().position(|statement| !repeats(statement)).unwrap_or(statements.len());
    let rest = &statements[..count];
    // What is declared is in scope in what follows.
    let declares = |statement: &Stmt| !matches!(statement.kind, StmtKind::Expr(_) | StmtKind::Discard(_));
    let is_whole = is_whole && count == statements.len();
    let ends_here = is_whole || (count < statements.len() && !rest.iter().any(declares));
    if ends_here && size <= LARGEST_REST { rest } else { &[] }
}

/// Whether an expression may be printed twice, apart from its operands: threads do nothing together in it, and it leads nowhere else.
pub(super) fn is_repeatable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Op { op, .. } => !is_collective(*op),
        // What a closure does that a function is given, the function does not say.
        ExprKind::Call { arguments, .. } => !arguments.iter().any(|argument| named_closure(argument).is_some()),
        ExprKind::Loop { .. }
        | ExprKind::Labelled { .. }
        | ExprKind::Break { .. }
        | ExprKind::Continue { .. }
        | ExprKind::Return { .. }
        | ExprKind::Closure { .. }
        | ExprKind::Cuda(_)
        | ExprKind::Print(_)
        | ExprKind::Error => false,
        _ => true,
    }
}

impl Lower<'_> {
    /// Returns the test of the accesses of the statements after a loop, if any of them can be made before the loop.
    pub(super) fn join(&mut self, whole: &Expr, statements: &[Stmt]) -> Option<Joined> {
        let mut scan = Scan::new(self);
        scan.pass(whole);
        for statement in statements {
            if scan.statement(statement).is_none() {
                if !scan.may_pass(statement) {
                    break;
                }
                scan.pass_statement(statement);
            }
        }
        let tested = scan.tested()?;
        let mut callees = Vec::new();
        for statement in statements {
            statement_nodes(statement, &mut |node| {
                if let Node::Expr(expr) = node {
                    callees.extend(expr.called());
                }
            });
        }
        Some(Joined { tested, callees })
    }

    /// Lowers all of some statements.
    pub(super) fn all_statements(&mut self, statements: &[Stmt]) {
        let runs = self.runs(statements, None);
        self.statements(statements, &runs, true);
        self.end_runs(&runs);
    }
}

impl<'l, 'f: 'e, 'e> Scan<'l, 'f, 'e> {
    /// Whether what follows a statement is executed if the statement is, and what it writes is seen.
    fn may_pass(&self, statement: &Stmt) -> bool {
        let mut may_pass = true;
        statement_nodes(statement, &mut |node| {
            let Node::Expr(Expr { kind: ExprKind::CallClosure { closure, .. }, .. }) = node else { return };
            let effect = self.values.lower.closures.get(closure).map(|closure| closure.effect);
            may_pass &= matches!(effect, Some(Effect::Pure | Effect::Reads));
        });
        may_pass
    }

    /// Goes on after a statement of which only is known what it may write.
    fn pass_statement(&mut self, statement: &'e Stmt) {
        match &statement.kind {
            StmtKind::Let { local, init, .. } => {
                self.values.variables.declared.insert(*local);
                init.iter().for_each(|init| self.pass(init));
            }
            StmtKind::LetPattern { pattern, init, .. } => {
                self.values.variables.declared.extend(pattern.locals());
                self.pass(init);
            }
            StmtKind::Split { halves, init } => {
                self.values.variables.declared.extend(halves.iter().flatten());
                self.pass(init);
            }
            StmtKind::Discard(expr) | StmtKind::Expr(expr) => self.pass(expr),
            StmtKind::Item(_) => {}
        }
    }

    /// Forgets the values of the variables that an expression may write.
    pub(super) fn pass(&mut self, expr: &Expr) {
        let locals = (0..self.values.lower.function.locals.len()).map(LocalId);
        let written: Vec<LocalId> = locals.filter(|local| may_write(expr, *local)).collect();
        written.into_iter().for_each(|local| self.values.assign(local));
        // A method may take its receiver by `&mut`.
        walk(expr, &mut |inner| {
            if let ExprKind::Call { callee: Callee::Method(..), arguments, .. } = &inner.kind {
                arguments.first().and_then(local_of).into_iter().for_each(|local| self.values.assign(local));
            }
        });
    }
}
