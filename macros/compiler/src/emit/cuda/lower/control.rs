//! Lowers branches, loops and jumps. C++ has no labelled loops: a jump past the innermost one is a `goto` to a label
//! after the loop (`break`) or at the end of its body (`continue`).

use super::{Dest, Lower};
use crate::emit::cuda::ast::{CuExpr, CuStmt, Unrolling};
use crate::model::LoopId;
use crate::model::effect::effect;
use crate::model::expr::{Block, Condition, Expr, ExprKind, Stmt};
use crate::model::facts::Effect;
use crate::model::range::{Adaptor, Range};

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
                    let value = lower.taken_apart(scrutinee, [pattern]);
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
    pub(super) fn plain_while(&mut self, unroll: Option<Unrolling>, condition: &Condition, body: &Block) -> CuStmt {
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

    pub(super) fn return_value(&mut self, value: Option<&Expr>) {
        match value {
            Some(value) if self.function.ret.is_some() => self.into(value, &Dest::Return),
            Some(value) => {
                self.into(value, &Dest::Discard);
                self.out.push(CuStmt::Return(None));
            }
            None => self.out.push(CuStmt::Return(None)),
        }
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
pub(super) fn plain_tail(block: &Block) -> Option<&Expr> {
    block.tail.as_deref().filter(|_| block.statements.is_empty())
}

fn name(label: &Option<proc_macro2::Ident>) -> String {
    label.as_ref().map_or_else(|| "loop".into(), ToString::to_string)
}
