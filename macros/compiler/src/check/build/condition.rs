//! Branches: the conditions of `if`, `while` and `match`, and the values that live while an arm runs.

use super::{BlockId, Builder, End, Jump, Node, NodeId, Source, StepKind, TokenStep, Value, Variable};
use crate::model::LoopId;
use crate::model::expr::{Arm, BinaryOp, Block, Condition, Expr, ExprKind, Member, integer};
use crate::model::kind::Kind;
use crate::model::op::{Op, Variant};
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::token::TokenLoss;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// Builds a block during which temporaries stay alive, and drops those at its end.
    pub(super) fn holding(&mut self, held: Vec<Variable>, block: &'f Block) -> Value {
        let before = self.waiting.len();
        self.waiting.extend(&held);
        let value = self.block(block);
        self.waiting.truncate(before);
        held.into_iter().rev().for_each(|variable| self.drop_temporary(Some(variable), block.span));
        value
    }

    /// Builds the body of a loop, whose head, first block and end are these.
    pub(super) fn repeat(
        &mut self,
        id: LoopId,
        [again, inside, after]: [BlockId; 3],
        held: Vec<Variable>,
        body: &'f Block,
    ) {
        let value = self.temporary();
        let (depth, waiting) = (self.scopes.len(), self.waiting.len());
        self.jumps.push(Jump { id, after, again: Some(again), depth, waiting, value });
        self.current = inside;
        self.holding(held, body);
        self.end(End::Goto(again));
        self.jumps.pop();
        self.current = after;
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

    /// Ends the current block with a branch on `condition`. Returns the temporaries that stay alive on the `yes` arm.
    pub(super) fn condition(&mut self, condition: &'f Condition, yes: BlockId, no: BlockId) -> Vec<Variable> {
        match condition {
            Condition::Value(Expr { kind: ExprKind::Op { op: Op::Is(variant), operands, .. }, .. })
                if operands.first().is_some_and(|operand| matches!(operand.result_kind, Kind::OptionalToken(_))) =>
            {
                let value = self.value(&operands[0]);
                let on = self.is_variant(&value, *variant, self.nodes[value.node.0].at);
                self.option_branch(*variant, on, &value, yes, no);
                // The token of a tested temporary is dropped on the arm where there is one.
                let holds = if *variant == Variant::Some { yes } else { no };
                self.current = holds;
                self.drop_temporary(value.token, operands[0].span);
                Vec::new()
            }
            Condition::Value(value) => {
                let on = self.value(value).node;
                self.end(match self.truth(on) {
                    Some(holds) => End::Goto(if holds { yes } else { no }),
                    None => End::Branch { on, then: yes, otherwise: no },
                });
                Vec::new()
            }
            Condition::Let { pattern, scrutinee } => {
                let value = self.value(scrutinee);
                self.test(pattern, &value, yes, no);
                // With `if let None` on a temporary, the token is dropped before the other arm.
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

    /// Builds a chain of conditions. Where a part fails, the values that earlier parts bound are dropped.
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

    /// Builds a `match`: each arm is tried after those before it. The last one is taken without a test, because rustc knows
    /// that the arms are exhaustive.
    pub(super) fn match_arms(&mut self, expr: &'f Expr, scrutinee: &'f Expr, arms: &'f [Arm]) -> Value {
        let value = self.temporary();
        let after = self.new_block();
        let mut matched = self.value(scrutinee);
        if arms.iter().any(|arm| matches!(arm.pattern.kind, PatternKind::Variant { .. })) {
            matched = self.with_variant(&matched, scrutinee.span);
        }
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
                // The guard is tried for each alternative that binds names, until it holds.
                for left in (0..arm.pattern.tried().map_or(1, <[_]>::len)).rev() {
                    self.set_bound(&arm.pattern, &matched);
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

    /// Ends the current block with a branch on whether a pattern matches.
    pub(super) fn test(&mut self, pattern: &Pattern, value: &Value, yes: BlockId, no: BlockId) {
        if let PatternKind::Variant { variant, field } = &pattern.kind {
            let at = self.nodes[value.node.0].at;
            let on = match field {
                Some(field) if !field.is_irrefutable() => self.combined(vec![value.node], at).node,
                _ => self.is_variant(value, *variant, at),
            };
            self.option_branch(*variant, on, value, yes, no);
        } else if pattern.is_irrefutable() {
            self.end(End::Goto(yes));
        } else {
            let on = self.is_matched(pattern, value);
            let on = on.unwrap_or_else(|| self.combined(vec![value.node], self.nodes[value.node.0].at).node);
            self.end(End::Branch { on, then: yes, otherwise: no });
        }
    }

    /// The node of whether a value matches a pattern; `None` if what the pattern compares is not followed.
    fn is_matched(&mut self, pattern: &Pattern, value: &Value) -> Option<NodeId> {
        let at = self.nodes[value.node.0].at;
        let compare = |this: &mut Self, op: BinaryOp, end: &Pattern| {
            let end = match &end.kind {
                PatternKind::Int { digits, negative: false, .. } => {
                    Source::Integer(integer(digits).and_then(|number| u64::try_from(number).ok())?)
                }
                PatternKind::Constant(value) => Source::Constant(*value),
                PatternKind::Int { .. }
                | PatternKind::Error
                | PatternKind::Wild
                | PatternKind::Bind { .. }
                | PatternKind::Bool(_)
                | PatternKind::Range { .. }
                | PatternKind::Tuple { .. }
                | PatternKind::Array { .. }
                | PatternKind::Struct { .. }
                | PatternKind::Variant { .. }
                | PatternKind::Or(_) => return None,
            };
            let end = this.node(end, Vec::new(), at);
            Some(this.node(Source::Binary(op), vec![value.node, end], at))
        };
        let parts: Vec<Option<NodeId>> = match &pattern.kind {
            PatternKind::Bool(true) => vec![Some(value.node)],
            PatternKind::Bool(false) => vec![Some(self.node(Source::Not, vec![value.node], at))],
            PatternKind::Constant(constant) if self.function.values[usize::from(constant.0)].is_variant => {
                vec![Some(self.is_of_enum(value, at))]
            }
            PatternKind::Int { .. } | PatternKind::Constant(_) => vec![compare(self, BinaryOp::Eq, pattern)],
            PatternKind::Range { low, high, inclusive } => {
                let last = if *inclusive { BinaryOp::Le } else { BinaryOp::Lt };
                let low = low.iter().map(|low| compare(self, BinaryOp::Ge, low)).collect::<Vec<_>>();
                low.into_iter().chain(high.as_ref().map(|high| compare(self, last, high))).collect()
            }
            PatternKind::Bind { sub, .. } => sub.iter().map(|sub| self.is_matched(sub, value)).collect(),
            PatternKind::Tuple { elements, rest: false } => {
                let tested = elements.iter().zip(0..).filter(|(element, _)| !element.is_irrefutable());
                tested.map(|(element, index)| self.is_field_matched(element, value, &Member::Unnamed(index))).collect()
            }
            // The tests of its fields follow that of the variant.
            PatternKind::Struct { variant: Some(_), fields, .. } => {
                let is_alone = fields.iter().all(|(_, field)| field.is_irrefutable());
                vec![is_alone.then(|| self.is_of_enum(value, at))]
            }
            PatternKind::Struct { variant: None, fields, .. } => {
                let tested = fields.iter().filter(|(_, field)| !field.is_irrefutable());
                tested.map(|(member, field)| self.is_field_matched(field, value, member)).collect()
            }
            PatternKind::Or(alternatives) => {
                let tests: Option<Vec<_>> =
                    alternatives.iter().map(|alternative| self.is_matched(alternative, value)).collect();
                let or = |a, b| self.node(Source::Binary(BinaryOp::Or), vec![a, b], at);
                vec![tests.and_then(|tests| tests.into_iter().reduce(or))]
            }
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Tuple { .. }
            | PatternKind::Array { .. }
            | PatternKind::Variant { .. } => vec![None],
        };
        let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
        parts.into_iter().reduce(|a, b| self.node(Source::Binary(BinaryOp::And), vec![a, b], at))
    }

    /// Whether a field of a value matches a pattern.
    fn is_field_matched(&mut self, pattern: &Pattern, value: &Value, member: &Member) -> Option<NodeId> {
        let field = self.known_field(value, member);
        // What stands for the whole value says nothing of one field.
        (field.node != value.node).then(|| self.is_matched(pattern, &field)).flatten()
    }

    /// Sets the locals that a pattern binds to the parts of a value.
    fn set_bound(&mut self, pattern: &Pattern, value: &Value) {
        match &pattern.kind {
            PatternKind::Bind { local, sub } => {
                self.set(Variable::Local(*local), value, pattern.span);
                sub.iter().for_each(|sub| self.set_bound(sub, value));
            }
            PatternKind::Tuple { elements, .. } => {
                for (element, index) in elements.iter().zip(0..) {
                    let value = self.known_field(value, &Member::Unnamed(index));
                    self.set_bound(element, &value);
                }
            }
            PatternKind::Struct { variant, fields, .. } => {
                for (member, field) in fields {
                    let part = self.field_of_variant(variant.as_ref(), member);
                    let value = self.known_part(value, part);
                    self.set_bound(field, &value);
                }
            }
            PatternKind::Array { elements, rest: _, others } => {
                elements.iter().for_each(|element| self.set_bound(element, value));
                // Its elements have other positions than those of the whole.
                others.iter().for_each(|others| self.set_bound(others, &Value::of(value.node)));
            }
            PatternKind::Variant { field, .. } => {
                let held = self.without_variant(value);
                field.iter().for_each(|field| self.set_bound(field, &held));
            }
            // The whole value decides which alternative matches.
            PatternKind::Or(_) => {
                for local in pattern.locals() {
                    self.set(Variable::Local(local), &Value::of(value.node), pattern.span);
                }
            }
            // These patterns bind nothing.
            PatternKind::Error
            | PatternKind::Wild
            | PatternKind::Bool(_)
            | PatternKind::Int { .. }
            | PatternKind::Constant(_)
            | PatternKind::Range { .. } => {}
        }
    }

    /// A field of a value, as far as its source is known.
    fn known_field(&mut self, value: &Value, member: &Member) -> Value {
        let field = self.field(member);
        self.known_part(value, field)
    }

    pub(super) fn known_part(&mut self, value: &Value, field: u16) -> Value {
        if let Some((_, value)) = value.fields.iter().find(|(known, _)| *known == field) {
            return value.clone();
        }
        let Node { source, at, .. } = &self.nodes[value.node.0];
        let at = *at;
        match source.read() {
            Some(Variable::Local(local)) => self.read_field(local, field, at),
            Some(Variable::Field(..) | Variable::Temporary(_)) | None => Value::of(value.node),
        }
    }

    /// Sets the locals that a pattern binds, and moves a token into its local. Returns the temporary that still holds the
    /// token if no local does.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: &Value, at: SpanRange) -> Option<Variable> {
        self.set_bound(pattern, value);
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
            // No other pattern matches a token.
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

    /// Drops the token of a temporary that was only looked at.
    pub(super) fn drop_temporary(&mut self, variable: Option<Variable>, at: SpanRange) {
        if let Some(variable @ Variable::Temporary(_)) = variable {
            self.step(StepKind::Token(TokenStep::Drop { variable, how: TokenLoss::Discarded }), at);
        }
    }

    /// Ends the current block with a branch on `on`: whether a value is of a variant.
    fn option_branch(&mut self, variant: Variant, on: NodeId, value: &Value, yes: BlockId, no: BlockId) {
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
