//! Branches: what `if`, `while` and `match` test, and what lives while an arm runs.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{BlockId, Builder, End, Node, StepKind, TokenStep, Value, Variable};
use crate::model::expr::{Arm, Block, Condition, Expr, ExprKind, Member};
use crate::model::kind::Kind;
use crate::model::op::{Op, Variant};
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::token::TokenLoss;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// A block during which a value without a name lives.
    pub(super) fn holding(&mut self, held: Vec<Variable>, block: &'f Block) -> Value {
        let before = self.waiting.len();
        self.waiting.extend(&held);
        let value = self.block(block);
        self.waiting.truncate(before);
        held.into_iter().rev().for_each(|variable| self.drop_temporary(Some(variable), block.span));
        value
    }

    pub(super) fn branch(
        &mut self,
        expr: &'f Expr,
        condition: &'f Condition,
        then: &'f Block,
        otherwise: Option<&'f Expr>,
    ) -> Value {
        let value = self.temporary();
        let (yes, no, after) = (self.new_block(), self.new_block(), self.new_block());
        let held = self.condition(condition, yes, no);
        self.current = yes;
        let first = self.holding(held, then);
        self.move_to(value, &first, then.span);
        self.goto(after);
        self.current = no;
        if let Some(otherwise) = otherwise {
            let second = self.value(otherwise);
            self.move_to(value, &second, expr.span);
        }
        self.goto(after);
        self.joined(expr, value)
    }

    /// BulkDirection the current block with a branch on `condition`.
    /// Gives what lives on, without a name, while the `yes` side runs.
    pub(super) fn condition(&mut self, condition: &'f Condition, yes: BlockId, no: BlockId) -> Vec<Variable> {
        match condition {
            Condition::Value(Expr { kind: ExprKind::Op { op: Op::Is(variant), operands, .. }, .. })
                if operands.first().is_some_and(|operand| matches!(operand.result_kind, Kind::OptionalToken(_))) =>
            {
                let value = self.value(&operands[0]);
                self.option_branch(*variant, &value, yes, no);
                // The value that was asked is dropped where it is one.
                let holds = if *variant == Variant::Some { yes } else { no };
                self.current = holds;
                self.drop_temporary(value.token, operands[0].span);
                Vec::new()
            }
            Condition::Value(value) => {
                let on = self.value(value).node;
                self.end(End::Branch { on, then: yes, otherwise: no });
                Vec::new()
            }
            Condition::Let { pattern, scrutinee } => {
                let value = self.value(scrutinee);
                self.test(pattern, &value, yes, no);
                // `if let None` of a value on its way: that is gone before the other arm.
                if matches!(pattern.kind, PatternKind::Variant { variant: Variant::None, .. }) {
                    self.current = no;
                    self.drop_temporary(value.token, scrutinee.span);
                }
                self.current = yes;
                self.bind(pattern, &value, scrutinee.span).into_iter().collect()
            }
            Condition::All(parts) => self.all(parts, yes, no),
        }
    }

    /// Where a part does not hold, what those before it bound is dropped.
    fn all(&mut self, parts: &'f [Condition], yes: BlockId, no: BlockId) -> Vec<Variable> {
        let (depth, waiting) = (self.scopes.len(), self.waiting.len());
        let mut held = Vec::new();
        self.scopes.push(Vec::new());
        for part in parts {
            let (holds, fails) = (self.new_block(), self.new_block());
            let variable = self.condition(part, holds, fails);
            self.current = fails;
            let at = match part {
                Condition::Value(value) | Condition::Let { scrutinee: value, .. } => value.span,
                Condition::All(_) => continue,
            };
            self.abandon(waiting, depth, TokenLoss::EndOfScope, at);
            self.end(End::Goto(no));
            self.current = holds;
            self.waiting.extend(&variable);
            held.extend(variable);
            if let Condition::Let { pattern, .. } = part {
                pattern.locals().into_iter().for_each(|local| self.declare(local));
            }
        }
        self.scopes.pop();
        self.waiting.truncate(waiting);
        self.end(End::Goto(yes));
        held
    }

    /// An arm is tried after those before it; the last one is taken without a test, because rustc knows that the arms
    /// cover everything.
    pub(super) fn match_arms(&mut self, expr: &'f Expr, scrutinee: &'f Expr, arms: &'f [Arm]) -> Value {
        let value = self.temporary();
        let after = self.new_block();
        let matched = self.value(scrutinee);
        for (index, arm) in arms.iter().enumerate() {
            let (yes, no) = (self.new_block(), self.new_block());
            match arm.guard {
                None if index + 1 == arms.len() => self.end(End::Goto(yes)),
                _ => self.test(&arm.pattern, &matched, yes, no),
            }
            self.current = yes;
            let mut guarded = Vec::new();
            if let Some(guard) = &arm.guard {
                let before = self.waiting.len();
                self.waiting.extend(matched.token.filter(|variable| matches!(variable, Variable::Temporary(_))));
                let bound = self.new_block();
                // For each alternative that binds names, until it holds.
                for left in (0..arm.pattern.tried().map_or(1, <[_]>::len)).rev() {
                    self.see(&arm.pattern, &matched);
                    let fails = if left == 0 { no } else { self.new_block() };
                    guarded = self.condition(guard, bound, fails);
                    if left > 0 {
                        let again = self.new_block();
                        self.current = fails;
                        self.test(&arm.pattern, &matched, again, no);
                        self.current = again;
                    }
                }
                self.waiting.truncate(before);
                self.current = bound;
            }
            let held = guarded.into_iter().chain(self.bind(&arm.pattern, &matched, scrutinee.span)).collect();
            let ExprKind::Block(body) = &arm.body.kind else { continue };
            let result = self.holding(held, body);
            self.move_to(value, &result, arm.body.span);
            self.end(End::Goto(after));
            self.current = no;
        }
        self.current = after;
        self.joined(expr, value)
    }

    /// BulkDirection the current block with a branch on whether a pattern matches.
    pub(super) fn test(&mut self, pattern: &Pattern, value: &Value, yes: BlockId, no: BlockId) {
        if let PatternKind::Variant { variant, .. } = &pattern.kind {
            self.option_branch(*variant, value, yes, no);
        } else if pattern.is_irrefutable() {
            self.end(End::Goto(yes));
        } else {
            self.end(End::Branch { on: value.node, then: yes, otherwise: no });
        }
    }

    /// The names that a pattern gives to parts of a value.
    fn see(&mut self, pattern: &Pattern, value: &Value) {
        match &pattern.kind {
            PatternKind::Bind { local, sub } => {
                self.set(Variable::Local(*local), value, pattern.span);
                sub.iter().for_each(|sub| self.see(sub, value));
            }
            PatternKind::Tuple { elements, .. } => {
                for (element, index) in elements.iter().zip(0..) {
                    let value = self.known_field(value, &Member::Unnamed(index));
                    self.see(element, &value);
                }
            }
            PatternKind::Struct { fields, .. } => {
                for (member, field) in fields {
                    let value = self.known_field(value, member);
                    self.see(field, &value);
                }
            }
            PatternKind::Array { elements, .. } => elements.iter().for_each(|element| self.see(element, value)),
            PatternKind::Variant { field, .. } => field.iter().for_each(|field| self.see(field, value)),
            // Which alternative it is, the whole value decides.
            PatternKind::Or(_) => {
                for local in pattern.locals() {
                    self.set(Variable::Local(local), &Value::of(value.node), pattern.span);
                }
            }
            // They bind nothing.
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_)
            | PatternKind::Range { .. } => {}
        }
    }

    /// A field of a value, as far as it is known from the others.
    fn known_field(&mut self, value: &Value, member: &Member) -> Value {
        let field = self.field(member);
        if let Some((_, value)) = value.fields.iter().find(|(known, _)| *known == field) {
            return value.clone();
        }
        let Node { source, at, .. } = &self.nodes[value.node.0];
        let at = *at;
        match source.read() {
            Some(Variable::Local(local)) => Value::of(self.read(Variable::Field(local, field), at)),
            Some(Variable::Field(..) | Variable::Temporary(_)) | None => Value::of(value.node),
        }
    }

    /// The same, and a token moves into its name. Gives what lives on without a name where it has none.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: &Value, at: SpanRange) -> Option<Variable> {
        self.see(pattern, value);
        self.bind_token(pattern, value.token?, at)
    }

    fn bind_token(&mut self, pattern: &Pattern, variable: Variable, at: SpanRange) -> Option<Variable> {
        match &pattern.kind {
            PatternKind::Bind { local, .. } => {
                self.step(StepKind::Token(TokenStep::Move { from: variable, into: Variable::Local(*local) }), at);
                None
            }
            PatternKind::Variant { field: Some(field), .. } => self.bind_token(field, variable, at),
            PatternKind::Variant { field: None, .. } => None,
            // Nothing else is a pattern of tokens.
            PatternKind::Wild
            | PatternKind::Error
            | PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_)
            | PatternKind::Range { .. }
            | PatternKind::Tuple { .. }
            | PatternKind::Array { .. }
            | PatternKind::Struct { .. }
            | PatternKind::Or(_) => Some(variable).filter(|variable| matches!(variable, Variable::Temporary(_))),
        }
    }

    /// A token that is only looked at, and held by no variable, is lost.
    pub(super) fn drop_temporary(&mut self, variable: Option<Variable>, at: SpanRange) {
        if let Some(variable @ Variable::Temporary(_)) = variable {
            self.step(StepKind::Token(TokenStep::Drop { variable, how: TokenLoss::Discarded }), at);
        }
    }

    fn option_branch(&mut self, variant: Variant, value: &Value, yes: BlockId, no: BlockId) {
        let on = value.node;
        let end = match (variant, value.token) {
            (Variant::Some, Some(variable)) => End::Option { on, variable, some: yes, none: no },
            (Variant::None, Some(variable)) => End::Option { on, variable, some: no, none: yes },
            (Variant::Some | Variant::None | Variant::Ok | Variant::Err, _) => {
                End::Branch { on, then: yes, otherwise: no }
            }
        };
        self.end(end);
    }
}
