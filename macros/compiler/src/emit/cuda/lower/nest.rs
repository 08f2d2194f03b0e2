//! What a loop does, as far as it matters to `hoist`: its accesses to memory, the variables that it declares and of which an
//! index is computed, and how often its body may be printed.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::{BTreeMap, BTreeSet};

use super::closures::{Closure, Closures, Conditions, named_closure};
use super::collectives::{is_collective, may_spin};
use super::counter::{Counter, InnerCounter, site};
use super::induction::Induction;
use crate::model::expr::{BinaryOp, Block, Callee, Condition, Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::group::Group;
use crate::model::op::{Op, Part};
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::place::{local_of, writes};
use crate::model::range::Range;
use crate::model::walk::{Node, nodes, statement_nodes, walk, walk_block};
use crate::model::{LocalId, SiteId, SlotId};

/// The most iterations of a short loop, and of a short one with loops inside.
const SHORT: u64 = 4;
const SHORT_NEST: u64 = 16;

/// The largest body that is printed twice, in expressions.
const LARGEST_BODY: usize = 200;

/// What a loop allows a test before it to do. The least of what its expressions allow is what it allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// There can be no test before it: it may be left early, or changes what is not understood.
    Untested,
    /// The body is printed once, because it is large, or because threads do something together in it, who could be in different copies.
    Once,
    /// The body may be printed twice if whole warps run the same copy: threads do something together in it, all of them of one warp.
    OfWarp,
    /// It only computes and accesses memory, so that its body may be printed twice.
    Twice,
}

/// A condition before an access.
#[derive(Clone, Copy)]
pub(super) enum Guard<'e> {
    /// The expression has this value.
    Is(&'e Expr, bool),
    /// The same, where the loop is left otherwise. It is no reason to expect that the access is not made.
    Stays(&'e Expr, bool),
    /// It is none of an expression, or not understood.
    Unknown,
}

impl<'e> Guard<'e> {
    fn of(part: &'e Condition) -> Guard<'e> {
        match part {
            Condition::Value(value) => Guard::Is(value, true),
            Condition::Let { .. } | Condition::All(_) => Guard::Unknown,
        }
    }
}

/// A loop and the loops inside of it.
pub(super) struct Nest<'e> {
    pub(super) whole: &'e Expr,
    /// The variable of the loop: a new one in each iteration of a `for`, and the counter of a `while`.
    pub(super) variable: Option<LocalId>,
    pub(super) form: Form,
    closures: &'e Closures<'e>,
    /// The conditions that calls of closures stand for.
    pub(super) conditions: &'e Conditions,
    /// The accesses, each with the number of the statement of the body that it is in.
    pub(super) accesses: Vec<(usize, &'e Expr)>,
    /// The sites of what need not happen in each iteration, with the conditions before it. Where a condition guards a bound, a
    /// test that does not know it would fail for the threads at the bound, and their warp would run both loops.
    pub(super) conditional: BTreeMap<SiteId, Vec<Guard<'e>>>,
    /// The initial values of variables, with the numbers of their statements.
    pub(super) lets: BTreeMap<LocalId, (usize, &'e Expr)>,
    /// The steps by which statements of the body change variables.
    pub(super) inductions: BTreeMap<LocalId, Induction<'e>>,
    /// The number of the statement that is looked at.
    statement: usize,
    /// The loops inside, by their variables, each with the number of the statement that it is in.
    pub(super) loops: BTreeMap<LocalId, (usize, &'e Range)>,
    /// The `while` loops inside that count, by their counters.
    pub(super) counters: BTreeMap<LocalId, InnerCounter<'e>>,
    /// The slots of the functions that are called.
    pub(super) callees: Vec<SlotId>,
    /// The variables of which a method is called.
    pub(super) receivers: BTreeSet<LocalId>,
    /// All variables that are declared inside.
    pub(super) declared: BTreeSet<LocalId>,
    /// The number of jumps, and of those whose conditions guard what follows them.
    jumps: usize,
    skips: usize,
    /// Whether the loop, or one inside of it, may be left before its end.
    pub(super) is_left: bool,
}

impl<'e> Nest<'e> {
    /// Returns the loop, unless there can be no test before it.
    pub(super) fn of(whole: &'e Expr, closures: &'e Closures<'e>, conditions: &'e Conditions) -> Option<Nest<'e>> {
        let (variable, own, body, counter) = if let ExprKind::For { local, body, .. } = &whole.kind {
            (*local, *local, body, None)
        } else {
            let ExprKind::While { body, .. } = &whole.kind else { return None };
            let counter = Counter::of(whole)?;
            (Some(counter.local), None, body, Some(counter))
        };
        let mut nest = Nest {
            whole,
            variable,
            form: Form::Twice,
            closures,
            conditions,
            accesses: Vec::new(),
            conditional: BTreeMap::new(),
            lets: BTreeMap::new(),
            inductions: BTreeMap::new(),
            statement: 0,
            loops: BTreeMap::new(),
            counters: BTreeMap::new(),
            callees: Vec::new(),
            receivers: BTreeSet::new(),
            declared: own.into_iter().collect(),
            jumps: 0,
            skips: 0,
            is_left: counter.as_ref().is_some_and(|counter| !counter.is_only_condition()),
        };
        nest.skip(whole, body);
        let mut size = 0;
        let mut add = |nest: &mut Nest<'e>, node| match node {
            Node::Statement(statement) => match &statement.kind {
                StmtKind::Let { local, init, .. } => {
                    nest.declared.insert(*local);
                    nest.lets.extend(init.as_ref().map(|init| (*local, (nest.statement, init))));
                }
                StmtKind::Split { halves, .. } => nest.declared.extend(halves.iter().flatten()),
                StmtKind::LetPattern { pattern, init, .. } => {
                    nest.declared.extend(pattern.locals());
                    let bound = parts(pattern, init).map(|(local, init)| (local, (nest.statement, init)));
                    nest.lets.extend(bound);
                }
                StmtKind::Discard(_) | StmtKind::Expr(_) | StmtKind::Item(_) => {}
            },
            Node::Expr(expr) => {
                size += 1;
                nest.form = nest.form.min(nest.add(expr));
            }
        };
        if let Some(counter) = &counter {
            let parts = counter.before.iter().chain(&counter.after);
            parts.for_each(|part| nodes(part, &mut |node| add(&mut nest, node)));
            nest.guard_by_conditions(counter, body);
        }
        for statement in &body.statements {
            nest.inductions.extend(Induction::all_of(statement, nest.statement));
            statement_nodes(statement, &mut |node| add(&mut nest, node));
            nest.statement += 1;
        }
        if let Some(tail) = &body.tail {
            nest.inductions.extend(Induction::under_conditions(tail, nest.statement));
            nodes(tail, &mut |node| add(&mut nest, node));
        }
        if size > LARGEST_BODY {
            nest.form = nest.form.min(Form::Once);
        }
        if nest.jumps != nest.skips {
            nest.form = Form::Untested;
        }
        // A statement that is skipped changes nothing.
        if nest.jumps != 0 {
            nest.inductions.clear();
        }
        (nest.form > Form::Untested).then_some(nest)
    }

    /// Adds an expression, and returns what it allows, apart from its operands.
    fn add(&mut self, expr: &'e Expr) -> Form {
        match &expr.kind {
            ExprKind::Index { base, .. } => {
                if base.memory().is_some() {
                    self.accesses.push((self.statement, expr));
                }
                Form::Twice
            }
            ExprKind::Op {
                op: Op::LoadVec(_) | Op::StoreVec | Op::Part { form: Part::Row | Part::Range | Part::From, .. },
                ..
            } => {
                self.accesses.push((self.statement, expr));
                Form::Twice
            }
            ExprKind::Op { op: Op::Warp(group, _) | Op::Sync(group, _), .. }
                if matches!(group, Group::Coalesced | Group::Tile) =>
            {
                Form::OfWarp
            }
            ExprKind::Op { op, .. } if is_collective(*op) => Form::Once,
            ExprKind::Op { .. } => Form::Twice,
            ExprKind::For { local, range, body, .. } => {
                self.skip(expr, body);
                self.declared.extend(local);
                self.loops.extend(local.map(|local| (local, (self.statement, &**range))));
                Form::Twice
            }
            ExprKind::If { condition, then, otherwise, .. } => {
                let parts: Vec<Guard<'e>> = self.bind(condition);
                walk_block(then, &mut |expr| self.guard(expr, &parts));
                let fails = match parts[..] {
                    [Guard::Is(condition, holds)] => Guard::Is(condition, !holds),
                    _ => Guard::Unknown,
                };
                otherwise.iter().for_each(|otherwise| self.add_conditional(otherwise, &[fails]));
                Form::Twice
            }
            ExprKind::Match { arms, .. } => {
                for arm in arms {
                    self.declared.extend(arm.pattern.locals());
                    arm.guard.iter().for_each(|guard| drop(self.bind(guard)));
                    self.add_conditional(&arm.body, &[Guard::Unknown]);
                }
                Form::Twice
            }
            ExprKind::Binary { op, left, right, .. } => {
                let is_of_counter = self.counters.values().any(|inner| inner.counter.joins(expr));
                if op.short_circuits() && !is_of_counter {
                    self.add_conditional(right, &[Guard::Is(left, *op == BinaryOp::And)]);
                }
                Form::Twice
            }
            ExprKind::Call { callee, slot, arguments } => {
                self.callees.push(*slot);
                // It may take its receiver by `&mut`.
                if let (Callee::Method(..), Some(receiver)) = (callee, arguments.first()) {
                    self.receivers.extend(local_of(receiver));
                }
                let closures = arguments.iter().filter_map(named_closure);
                closures.map(|closure| self.called(closure)).min().unwrap_or(Form::Twice)
            }
            ExprKind::AssignOp { function: Some(function), .. } => {
                self.callees.push(function.1);
                Form::Twice
            }
            ExprKind::CallClosure { closure, .. } => self.called(*closure),
            ExprKind::Loop { body, .. } => {
                walk_block(body, &mut |inner| self.guard(inner, &[Guard::Unknown]));
                Form::Once
            }
            ExprKind::While { condition, body, .. } => {
                self.skip(expr, body);
                if let Some(counter) = Counter::of(expr)
                    && let Some(init) = self.lets.get(&counter.local).copied()
                    && writes(self.whole, counter.local) == 1
                {
                    self.is_left |= !counter.is_only_condition();
                    self.guard_by_conditions(&counter, body);
                    let inner = InnerCounter::new(counter, self.statement, init, body);
                    self.counters.insert(inner.counter.local, inner);
                    return Form::Twice;
                }
                self.bind(condition);
                walk_block(body, &mut |inner| self.guard(inner, &[Guard::Unknown]));
                Form::Once
            }
            ExprKind::Print(_) => Form::Once,
            ExprKind::Continue { .. } | ExprKind::Break { .. } | ExprKind::Return { .. } => {
                self.jumps += 1;
                Form::Twice
            }
            // How often it is called, the function knows that gets it.
            ExprKind::Closure { params, body, .. } => {
                self.declared.extend(params.iter().map(|(param, _)| *param));
                self.add_conditional(body, &[Guard::Unknown]);
                if may_spin(expr) { Form::Untested } else { Form::Twice }
            }
            ExprKind::Cuda(_) => Form::Untested,
            ExprKind::Error
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Local(_)
            | ExprKind::Constant(_)
            | ExprKind::Unary(..)
            | ExprKind::Cast(..)
            | ExprKind::Typed(..)
            | ExprKind::UncheckedPlace { .. }
            | ExprKind::Deref(_)
            | ExprKind::Axis(..)
            | ExprKind::Field { .. }
            | ExprKind::Borrow { .. }
            | ExprKind::Array { .. }
            | ExprKind::Repeat { .. }
            | ExprKind::Struct { .. }
            | ExprKind::Tuple { .. }
            | ExprKind::Some(_)
            | ExprKind::None(_)
            | ExprKind::Vector { .. }
            | ExprKind::Method { .. }
            | ExprKind::ScalarCall { .. }
            | ExprKind::Intrinsic { .. }
            | ExprKind::Operator(..)
            | ExprKind::Block(_)
            | ExprKind::Unsafe(_)
            | ExprKind::Labelled { .. }
            | ExprKind::Assign(..)
            | ExprKind::AssignOp { .. }
            | ExprKind::Assert(..)
            | ExprKind::Panic(_) => Form::Twice,
        }
    }

    /// Returns what a closure with a name allows that is called. Its body is printed where it is declared. What that of a parameter does is
    /// unknown.
    fn called(&mut self, closure: LocalId) -> Form {
        let Some(Closure { effect, body, .. }) = self.closures.get(&closure) else { return Form::Untested };
        let (mut form, mut declared) = (Form::Twice, BTreeSet::new());
        if *effect != Effect::Changes {
            return form;
        }
        nodes(body, &mut |node| {
            let expr = match node {
                Node::Statement(Stmt { kind: StmtKind::Let { local, .. }, .. }) => {
                    declared.insert(*local);
                    return;
                }
                Node::Statement(_) => return,
                Node::Expr(expr) => expr,
            };
            let is_own = |place: &Expr| local_of(place).is_none_or(|local| declared.contains(&local));
            let written = if let ExprKind::Assign(place, _)
            | ExprKind::AssignOp { place, .. }
            | ExprKind::Borrow { mutable: true, target: place } = &expr.kind
            {
                Some(place)
            } else {
                None
            };
            let is_unknown = if let ExprKind::Op { op, .. } = expr.kind {
                is_collective(op) || matches!(op, Op::Atomic(_) | Op::Fence(..))
            } else {
                matches!(expr.kind, ExprKind::Cuda(_))
            };
            let calls = matches!(
                expr.kind,
                ExprKind::Call { .. }
                    | ExprKind::CallClosure { .. }
                    | ExprKind::AssignOp { function: Some(_), .. }
                    | ExprKind::Print(_)
            );
            // It may change a variable around it.
            form = form.min(if is_unknown || written.is_some_and(|place| !is_own(place)) {
                Form::Untested
            } else if calls {
                self.add(expr)
            } else {
                Form::Twice
            });
        });
        form
    }

    /// Whether it has few iterations, with those of the loops inside, as literals show.
    pub(super) fn is_short(&self) -> bool {
        let ExprKind::For { range, .. } = &self.whole.kind else { return false };
        let ranges = [&**range].into_iter().chain(self.loops.values().map(|(_, range)| *range));
        let Some(counts) = ranges.map(Range::count).collect::<Option<Vec<u64>>>() else { return false };
        let most = if counts.len() > 1 { SHORT_NEST } else { SHORT };
        counts.into_iter().fold(1, u64::saturating_mul) <= most
    }

    /// Notes that what follows `if condition { continue; }` in a loop's body is made under the opposite of the condition, and what
    /// follows `if condition { break; }`, too.
    fn skip(&mut self, whole: &Expr, body: &'e Block) {
        for (index, statement) in body.statements.iter().enumerate() {
            let StmtKind::Expr(expr) = &statement.kind else { continue };
            let ExprKind::If { condition, then, otherwise: None, .. } = &expr.kind else { continue };
            let Some(jump) = last(then) else { continue };
            let is_exit = match (&jump.kind, &whole.kind) {
                (ExprKind::Continue { target, .. }, ExprKind::For { id, .. }) if target == id => false,
                (ExprKind::Break { value: None, .. } | ExprKind::Return { .. }, _) => true,
                _ => continue,
            };
            self.skips += 1;
            self.is_left |= is_exit;
            let fails = match &**condition {
                Condition::Value(condition) if is_exit => Some(Guard::Stays(condition, false)),
                Condition::Value(condition) => Some(Guard::Is(condition, false)),
                Condition::Let { .. } | Condition::All(_) => (!is_exit).then_some(Guard::Unknown),
            };
            let guards: Vec<Guard<'e>> = fails.into_iter().collect();
            self.guard_block(&body.statements[index + 1..], body.tail.as_deref(), &guards);
        }
    }

    /// Notes that each further condition of a `while` that counts, and its body, is made under those before it.
    fn guard_by_conditions(&mut self, counter: &Counter<'e>, body: &'e Block) {
        let mut guards: Vec<Guard<'e>> = counter.before.iter().map(|part| Guard::Stays(part, true)).collect();
        for part in &counter.after {
            self.add_conditional(part, &guards);
            guards.push(Guard::Stays(part, true));
        }
        self.guard_block(&body.statements, body.tail.as_deref(), &guards);
    }

    fn guard_block(&mut self, statements: &'e [Stmt], tail: Option<&'e Expr>, guards: &[Guard<'e>]) {
        for statement in statements {
            statement_nodes(statement, &mut |node| {
                if let Node::Expr(expr) = node {
                    self.guard(expr, guards);
                }
            });
        }
        tail.iter().for_each(|tail| self.add_conditional(tail, guards));
    }

    /// Adds the variables that a condition binds, and what it evaluates only if its first part holds. Returns its parts.
    fn bind(&mut self, condition: &'e Condition) -> Vec<Guard<'e>> {
        let mut guards = Vec::new();
        for part in condition.parts() {
            let value = match part {
                Condition::Let { pattern, scrutinee } => {
                    self.declared.extend(pattern.locals());
                    scrutinee
                }
                Condition::Value(value) => value,
                // The parser flattens nested conditions.
                Condition::All(_) => continue,
            };
            if !guards.is_empty() {
                self.add_conditional(value, &guards);
            }
            guards.push(Guard::of(part));
        }
        guards
    }

    fn add_conditional(&mut self, expr: &'e Expr, guards: &[Guard<'e>]) {
        walk(expr, &mut |inner| self.guard(inner, guards));
    }

    fn guard(&mut self, access: &Expr, guards: &[Guard<'e>]) {
        if let Some(site) = site(access).filter(|_| !guards.is_empty()) {
            self.conditional.entry(site).or_default().extend(guards);
        }
    }
}

/// Returns the variables that `let (a, b) = (x, y);` binds, with their initial values.
pub(super) fn parts<'e>(pattern: &Pattern, init: &'e Expr) -> impl Iterator<Item = (LocalId, &'e Expr)> {
    let (patterns, values) = match (&pattern.kind, &init.kind) {
        (PatternKind::Tuple { elements, rest: false }, ExprKind::Tuple { elements: values, .. }) => {
            (&elements[..], &values[..])
        }
        _ => (&[][..], &[][..]),
    };
    patterns.iter().zip(values).filter_map(|(pattern, value)| {
        let PatternKind::Bind { local, sub: None } = pattern.kind else { return None };
        Some((local, value))
    })
}

/// Returns the expression that a block ends with.
pub(super) fn last(block: &Block) -> Option<&Expr> {
    match (&block.tail, block.statements.last().map(|last| &last.kind)) {
        (Some(tail), _) => Some(tail),
        (None, Some(StmtKind::Expr(last))) => Some(last),
        _ => None,
    }
}
