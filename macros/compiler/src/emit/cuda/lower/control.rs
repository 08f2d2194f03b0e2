//! Lowers branches, loops and jumps. C++ has no labelled loops: a jump past the innermost one is a `goto` to a label
//! after the loop (`break`) or at the end of its body (`continue`).

use super::convergence::agreed;
use super::deferred::Reported;
use super::hoist::Hoisted;
use super::nest::Form;
use super::rest::Joined;
use super::{Dest, Lower};
use crate::emit::cuda::ast::{CuExpr, CuStmt, Unrolling};
use crate::model::effect::effect;
use crate::model::expr::{Block, Condition, Expr, ExprKind, Stmt};
use crate::model::facts::Effect;
use crate::model::range::{Adaptor, Range};
use crate::model::{LoopId, SiteId, SlotId};

/// A loop or labelled block that `break` can leave.
pub(super) struct JumpTarget {
    id: LoopId,
    /// Whether it is a loop in C++, and not a labelled block.
    is_loop: bool,
    label: String,
    /// The destination of a value that `break` carries.
    dest: Dest,
    /// The labels to which there are jumps.
    breaks: Option<String>,
    continues: Option<String>,
}

/// A loop without checks, which runs if the test holds, and the same loop with checks.
struct Choice {
    test: CuExpr,
    callees: Vec<SlotId>,
    unchecked: CuStmt,
    checked: CuStmt,
    is_of_warp: bool,
}

/// A test of one part of a condition.
pub(super) struct Test {
    pub(super) before: Vec<CuStmt>,
    pub(super) holds: CuExpr,
    /// The bindings of the part, valid where the test holds.
    pub(super) bind: Vec<CuStmt>,
}

impl Test {
    fn or_break(self) -> Vec<CuStmt> {
        let mut out = self.before;
        out.push(CuStmt::If { condition: self.holds.not(), then: vec![CuStmt::Break], otherwise: Vec::new() });
        out.extend(self.bind);
        out
    }
}

impl Lower<'_> {
    /// Lowers the parts of a condition, which must all hold, in the order of their evaluation.
    fn tests(&mut self, parts: &[Condition]) -> Vec<Test> {
        let mut tests = Vec::new();
        for part in parts {
            let ((holds, bind), before) = self.nested(|lower| match part {
                Condition::Value(condition) => (lower.branch_condition(condition), Vec::new()),
                Condition::Let { pattern, scrutinee } => {
                    let value = lower.value(scrutinee);
                    let value = lower.spill_unless_name(value);
                    let test = lower.test(pattern, &value).unwrap_or_else(|| CuExpr::name("true"));
                    (test, lower.bindings(pattern, &value))
                }
                // The parser flattens nested conditions.
                Condition::All(_) => (CuExpr::name("true"), Vec::new()),
            });
            tests.push(Test { before, holds, bind });
        }
        tests
    }

    /// Lowers to `then` if `first` and all parts of the condition hold, and to `otherwise` if not; `otherwise` is printed
    /// once.
    pub(super) fn choose(
        &mut self,
        first: Option<Test>,
        parts: &[Condition],
        then: Vec<CuStmt>,
        otherwise: Vec<CuStmt>,
    ) {
        let mut tests = self.tests(parts);
        tests.splice(0..0, first);
        if tests.len() == 1 {
            let Some(Test { before, holds, mut bind }) = tests.pop() else { return };
            bind.extend(then);
            self.out.extend(before);
            self.out.push(CuStmt::If { condition: holds, then: bind, otherwise });
            return;
        }
        let fails = (!otherwise.is_empty()).then(|| self.names.fresh("otherwise"));
        let mut inside = then;
        if let Some(name) = &fails {
            let (ty, init) = (vec!["bool".into()], Some(CuExpr::name("true")));
            self.out.push(CuStmt::Declare { ty, name: name.clone(), init });
            let (place, value) = (Box::new(CuExpr::name(name)), Box::new(CuExpr::name("false")));
            inside.insert(0, CuStmt::Expr(CuExpr::Assign { op: "=", place, value, site: None }));
        }
        for Test { mut before, holds, mut bind } in tests.into_iter().rev() {
            bind.extend(inside);
            before.push(CuStmt::If { condition: holds, then: bind, otherwise: Vec::new() });
            inside = before;
        }
        self.out.extend(inside);
        if let Some(name) = fails {
            self.out.push(CuStmt::If { condition: CuExpr::name(&name), then: otherwise, otherwise: Vec::new() });
        }
    }

    pub(super) fn branch(&mut self, condition: &Condition, then: &Block, otherwise: Option<&Expr>, dest: &Dest) {
        if otherwise.is_none() && self.continued_if(condition, then) {
            return;
        }
        let ((), then) = self.nested(|lower| lower.block_into(then, dest));
        let otherwise = match otherwise {
            Some(otherwise) => {
                self.nested(|lower| match &otherwise.kind {
                    ExprKind::Block(block) => lower.block_into(block, dest),
                    _ => lower.into(otherwise, dest),
                })
                .1
            }
            None => Vec::new(),
        };
        self.choose(None, condition.parts(), then, otherwise);
    }

    /// Lowers a loop or a labelled block, and with a loop perhaps the statements after it. Returns whether it did.
    pub(super) fn jump_target(&mut self, expr: &Expr, dest: &Dest, rest: &[Stmt]) -> bool {
        let mut joins = false;
        match &expr.kind {
            ExprKind::Labelled { id, label, block, .. } => {
                self.enter(*id, false, &label.to_string(), dest);
                let ((), statements) = self.nested(|lower| lower.block_into(block, dest));
                self.out.push(CuStmt::Block(statements));
                self.leave();
            }
            ExprKind::Loop { id, label, body, .. } => {
                self.enter(*id, true, &name(label), dest);
                let body = self.loop_body(Vec::new(), body);
                let unroll = self.unroll(*id);
                self.out.push(CuStmt::While { unroll, condition: CuExpr::name("true"), body });
                self.leave();
            }
            ExprKind::While { id, label, condition, body } => {
                self.enter(*id, true, &name(label), dest);
                if let Some(joins) = self.counting_while(expr, *id, condition, body, rest) {
                    self.leave();
                    return joins;
                }
                if !self.searching_while(expr, self.unroll(*id)) {
                    self.unrolled_while(*id, expr, |lower, unroll| {
                        let whole = lower.plain_while(unroll, condition, body);
                        lower.out.push(whole);
                    });
                }
                self.leave();
                return false;
            }
            ExprKind::For { id, label, local, range, body } => {
                let steps = self.range(range);
                let (variable, used) = match local {
                    Some(local) => (
                        self.names.local(*local).to_string(),
                        !self.function.local(*local).name.to_string().starts_with('_'),
                    ),
                    None => (self.names.fresh("i"), false),
                };
                self.enter(*id, true, &name(label), dest);
                joins = self.unrolled_for(*id, expr, |lower, unroll| {
                    lower.counted_loop(expr, (unroll, variable, used), steps, body, rest)
                });
                self.leave();
            }
            _ => {}
        }
        joins
    }

    /// Lowers a `while` loop as it is.
    fn plain_while(&mut self, unroll: Option<Unrolling>, condition: &Condition, body: &Block) -> CuStmt {
        let tests = self.tests(condition.parts());
        let (condition, before) = match &tests[..] {
            [Test { before, holds, bind }] if before.is_empty() && bind.is_empty() => match condition {
                Condition::Value(value) => (self.loop_condition(value), Vec::new()),
                Condition::Let { .. } | Condition::All(_) => (holds.clone(), Vec::new()),
            },
            // The tests need statements, which move into the loop.
            _ => (CuExpr::name("true"), tests.into_iter().flat_map(Test::or_break).collect()),
        };
        let body = self.loop_body(before, body);
        CuStmt::While { unroll, condition, body }
    }

    /// Lowers a loop over a range: twice if its checks can move to before it, once with a test of all of its iterations
    /// before it if the loop cannot be printed twice. Returns whether it lowered the statements after it, too.
    fn counted_loop(
        &mut self,
        whole: &Expr,
        (unroll, name, used): (Option<Unrolling>, String, bool),
        range: CuExpr,
        body: &Block,
        rest: &[Stmt],
    ) -> bool {
        let steps = self.names.free("steps");
        // The number of rounds takes a division, which is made once.
        let divides = matches!(&whole.kind, ExprKind::For { range, .. } if divides(range));
        let values = divides.then(|| self.names.free("values"));
        let hoisted = if self.checks_all { None } else { self.hoist(whole, &steps, values.as_deref()) };
        let Some(Hoisted {
            test,
            accesses,
            widened,
            form,
            callees,
            deferred,
            unroll: ahead,
            counted: _,
            is_left,
            is_of_slices,
            is_of_warp,
        }) = hoisted
        else {
            let range = if self.is_tested(whole) { CuExpr::call("unclamped", vec![range]) } else { range };
            let body = self.loop_body(Vec::new(), body);
            self.out.push(CuStmt::For { unroll, name, used, range, body });
            return false;
        };
        let steps = self.declare_constant(&steps, range);
        let mut unclamped = CuExpr::call("unclamped", vec![CuExpr::name(&steps)]);
        if let Some(values) = values {
            unclamped = CuExpr::name(&self.declare_constant("rounds", unclamped));
            let of = vec![CuExpr::name(&steps), unclamped.clone()];
            self.declare_constant(&values, CuExpr::call("values_of", of));
        }
        if form != Form::Twice {
            self.declare_all_within(agreed(test, is_of_warp), accesses, is_of_warp);
            let body = self.loop_body(Vec::new(), body);
            self.out.push(CuStmt::For { unroll: unroll.or(ahead), name, used, range: CuExpr::name(&steps), body });
            return false;
        }
        let reported = deferred.map(|deferred| self.defer(&deferred, test.clone()));
        self.widened.extend(widened);
        let unchecked = self.without_checks(&accesses, is_of_warp, |lower| lower.loop_body(Vec::new(), body));
        let ahead = unroll.or(ahead);
        let unchecked = CuStmt::For { unroll: ahead, name: name.clone(), used, range: unclamped, body: unchecked };
        if let Some(reported) = &reported {
            self.end_deferral(reported);
        }
        let checked = self.with_checks(is_of_warp, |lower| lower.loop_body(Vec::new(), body));
        self.store_guard = None;
        let checked = CuStmt::For { unroll, name, used, range: CuExpr::name(&steps), body: checked };
        match reported {
            None => {
                let rest = if is_of_slices && !is_left { rest } else { &[] };
                self.choice(whole, rest, Choice { test, callees, unchecked, checked, is_of_warp })
            }
            Some(Reported { outside, .. }) => {
                let outside = CuExpr::name(&outside);
                let is_within = outside.clone().not();
                self.out.push(CuStmt::If { condition: is_within, then: vec![unchecked], otherwise: Vec::new() });
                self.out.push(CuStmt::If { condition: outside, then: vec![checked], otherwise: Vec::new() });
                false
            }
        }
    }

    /// Lowers a `while` loop that counts, if a test before it shows anything: to a loop over the values of its counter without
    /// checks and to itself with checks, or once after the test. Returns whether it lowered the statements after it, too, if it did.
    fn counting_while(
        &mut self,
        whole: &Expr,
        id: LoopId,
        condition: &Condition,
        body: &Block,
        rest: &[Stmt],
    ) -> Option<bool> {
        let steps = self.names.free("steps");
        let hoisted = if self.checks_all { None } else { self.hoist(whole, &steps, None) };
        let Hoisted {
            test, accesses, form, callees, unroll: ahead, counted, is_left, is_of_slices, is_of_warp, ..
        } = hoisted?;
        let counted = counted?;
        let unroll = self.unroll(id);
        let steps = self.declare_constant(&steps, counted);
        if form != Form::Twice {
            self.declare_all_within(agreed(test, is_of_warp), accesses, is_of_warp);
            let whole = self.plain_while(unroll.or(ahead), condition, body);
            self.out.push(whole);
            return Some(false);
        }
        let ahead = unroll.or(ahead);
        let unchecked = self.without_checks(&accesses, is_of_warp, |lower| {
            if is_left {
                return lower.plain_while(ahead, condition, body);
            }
            let range = CuExpr::call("unclamped", vec![CuExpr::name(&steps)]);
            let name = lower.names.fresh("i");
            CuStmt::For { unroll: ahead, name, used: false, range, body: lower.loop_body(Vec::new(), body) }
        });
        let checked = self.with_checks(is_of_warp, |lower| lower.plain_while(unroll, condition, body));
        let counts = CuExpr::call("is_counting", vec![CuExpr::name(&steps)]);
        let rest = if is_of_slices && !is_left { rest } else { &[] };
        Some(self.choice(whole, rest, Choice { test: counts.and(test), callees, unchecked, checked, is_of_warp }))
    }

    /// Lowers the choice between a loop without checks and one with them, and with it the statements after the loop that
    /// share its test. Returns whether there are any.
    fn choice(&mut self, whole: &Expr, rest: &[Stmt], choice: Choice) -> bool {
        let Choice { mut test, mut callees, unchecked, checked, is_of_warp } = choice;
        let (mut unchecked, mut checked) = (vec![unchecked], vec![checked]);
        let joined = if rest.is_empty() { None } else { self.join(whole, rest) };
        let joins = joined.is_some();
        if let Some(Joined { tested, callees: called }) = joined {
            test = test.and(tested.holds());
            callees.extend(called);
            let ((), without) = self.nested(|lower| {
                lower.begin_tested(&tested);
                lower.apart(!is_of_warp, |lower| lower.all_statements(rest));
                lower.end_tested(&tested);
            });
            unchecked.extend(without);
            self.checks_all = true;
            let ((), with) = self.nested(|lower| lower.apart(!is_of_warp, |lower| lower.all_statements(rest)));
            self.checks_all = false;
            checked.extend(with);
        }
        let test = agreed(test, is_of_warp);
        self.out.push(CuStmt::Hoisted { test, callees, unchecked, checked });
        joins
    }

    /// Lowers what is printed twice without the checks of these accesses.
    pub(super) fn without_checks<R>(
        &mut self,
        accesses: &[SiteId],
        is_of_warp: bool,
        lower: impl FnOnce(&mut Self) -> R,
    ) -> R {
        self.unchecked.extend(accesses);
        let lowered = self.apart(!is_of_warp, lower);
        accesses.iter().for_each(|site| {
            self.unchecked.remove(site);
            self.widened.remove(site);
        });
        lowered
    }

    /// Lowers what is printed twice with all checks.
    pub(super) fn with_checks<R>(&mut self, is_of_warp: bool, lower: impl FnOnce(&mut Self) -> R) -> R {
        self.checks_all = true;
        let lowered = self.apart(!is_of_warp, lower);
        self.checks_all = false;
        lowered
    }

    /// Declares a variable of this name or a similar one, and returns its name.
    fn declare_constant(&mut self, name: &str, value: CuExpr) -> String {
        let name = self.names.fresh(name);
        self.out.push(CuStmt::Declare { ty: vec!["const auto".into()], name: name.clone(), init: Some(value) });
        name
    }

    /// Declares a variable with the value of a test, without which the accesses in all iterations of a loop are tested.
    fn declare_all_within(&mut self, test: CuExpr, accesses: Vec<SiteId>, is_of_warp: bool) {
        let all_within = self.names.fresh("all_within");
        self.agreed.extend(is_of_warp.then(|| all_within.clone()));
        let ty = vec!["const bool".into()];
        self.out.push(CuStmt::Declare { ty, name: all_within.clone(), init: Some(test) });
        // Threads that vote do so where the vote is.
        if !is_of_warp {
            self.out.push(CuStmt::Expr(CuExpr::call("keep_test", vec![CuExpr::name(&all_within)])));
        }
        self.all_within.extend(accesses.into_iter().map(|site| (site, all_within.clone())));
    }

    fn enter(&mut self, id: LoopId, is_loop: bool, label: &str, dest: &Dest) {
        self.jump_targets.push(JumpTarget {
            id,
            is_loop,
            label: label.into(),
            dest: dest.clone(),
            breaks: None,
            continues: None,
        });
    }

    /// Ends a jump target, with the label after it if there are jumps to it.
    fn leave(&mut self) {
        if let Some(label) = self.jump_targets.pop().and_then(|jump| jump.breaks) {
            self.out.push(CuStmt::Label(label));
        }
    }

    pub(super) fn loop_body(&mut self, before: Vec<CuStmt>, body: &Block) -> Vec<CuStmt> {
        let ((), mut statements) = self.nested(|lower| {
            lower.out.extend(before);
            lower.block_into(body, &Dest::Discard);
        });
        // Braces make sure that no jump to the label passes over a declaration.
        if let Some(label) = self.jump_targets.last_mut().and_then(|jump| jump.continues.take()) {
            statements = vec![CuStmt::Block(statements), CuStmt::Label(label)];
        }
        statements
    }

    fn range(&mut self, range: &Range) -> CuExpr {
        let mut operands = vec![&range.start, &range.end];
        operands.extend(range.adaptors.iter().filter_map(Adaptor::step));
        let mut values = self.operands(&operands).into_iter();
        let ends = values.by_ref().take(2).collect();
        let mut out = CuExpr::call(if range.inclusive { "range_inclusive" } else { "range" }, ends);
        for adaptor in &range.adaptors {
            let (name, site) = match adaptor {
                Adaptor::Rev => ("rev", None),
                Adaptor::StepBy(_, site) => ("step_by", Some(*site)),
            };
            let arguments = values.by_ref().take(usize::from(site.is_some())).collect();
            out = CuExpr::Method { base: Box::new(out), name, arguments, site };
        }
        out
    }

    pub(super) fn break_to(&mut self, target: LoopId, value: Option<&Expr>) {
        let Some(index) = self.jump_targets.iter().position(|jump| jump.id == target) else { return };
        if let Some(value) = value {
            let dest = self.jump_targets[index].dest.clone();
            self.into(value, &dest);
        }
        if self.jump_targets[index].dest == Dest::Return && value.is_some() {
            return;
        }
        if self.is_innermost(index) {
            self.out.push(CuStmt::Break);
            return;
        }
        let label = match self.jump_targets[index].breaks.clone() {
            Some(label) => label,
            None => self.names.fresh(&format!("{}_break", self.jump_targets[index].label)),
        };
        self.jump_targets[index].breaks = Some(label.clone());
        self.out.push(CuStmt::Goto(label));
    }

    pub(super) fn continue_to(&mut self, target: LoopId) {
        let Some(index) = self.jump_targets.iter().position(|jump| jump.id == target) else { return };
        if self.is_innermost(index) {
            self.out.push(CuStmt::Continue);
            return;
        }
        let label = match self.jump_targets[index].continues.clone() {
            Some(label) => label,
            None => self.names.fresh(&format!("{}_continue", self.jump_targets[index].label)),
        };
        self.jump_targets[index].continues = Some(label.clone());
        self.out.push(CuStmt::Goto(label));
    }

    /// Whether C++'s own `break` and `continue` have this target.
    fn is_innermost(&self, index: usize) -> bool {
        self.jump_targets.iter().rposition(|jump| jump.is_loop) == Some(index)
    }

    /// Lowers two arms that are plain values to `c ? a : b`.
    pub(super) fn ternary(&mut self, condition: &Condition, then: &Block, otherwise: &Expr) -> Option<CuExpr> {
        let Condition::Value(test) = condition else { return None };
        let then = plain_tail(then)?;
        let other = match &otherwise.kind {
            ExprKind::Block(block) => plain_tail(block)?,
            _ => otherwise,
        };
        if [test, then, other].iter().any(|expr| effect(self.function, expr) == Effect::Changes) {
            return None;
        }
        let condition = self.branch_condition(test);
        let then = self.value(then);
        let other = self.value(other);
        Some(CuExpr::Ternary(Box::new(condition), Box::new(then), Box::new(other)))
    }
}

/// Returns the value of a block that has no statements.
fn plain_tail(block: &Block) -> Option<&Expr> {
    block.tail.as_deref().filter(|_| block.statements.is_empty())
}

/// Whether it takes a division by a variable to know how often a loop over a range runs.
fn divides(range: &Range) -> bool {
    let is_variable = |step: &Expr| step.integer().is_none() && !matches!(step.kind, ExprKind::Constant(_));
    range.adaptors.iter().filter_map(Adaptor::step).any(is_variable)
}

fn name(label: &Option<proc_macro2::Ident>) -> String {
    label.as_ref().map_or_else(|| "loop".into(), ToString::to_string)
}
