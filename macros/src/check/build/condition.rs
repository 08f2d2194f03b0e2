//! Branches: what `if`, `while` and `match` test, and what lives while an arm runs.

use super::{BlockId, Builder, End, Place, StepKind};
use crate::messages::Loss;
use crate::model::expr::{Arm, Block, Condition, Expr, ExprKind};
use crate::model::op::{Op, Variant};
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty::Kind;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// A block during which a value without a name lives.
    pub(super) fn holding(&mut self, held: Vec<Place>, block: &'f Block) -> Option<Place> {
        let before = self.waiting.len();
        self.waiting.extend(&held);
        let value = self.block(block);
        self.waiting.truncate(before);
        held.into_iter().rev().for_each(|place| self.drop_temporary(Some(place), block.span));
        value
    }

    pub(super) fn branch(
        &mut self,
        expr: &'f Expr,
        condition: &'f Condition,
        then: &'f Block,
        otherwise: Option<&'f Expr>,
    ) -> Option<Place> {
        let value = self.temporary();
        let (yes, no, after) = (self.new_block(), self.new_block(), self.new_block());
        let held = self.condition(condition, yes, no);
        self.current = yes;
        let first = self.holding(held, then);
        self.move_to(value, first, then.span);
        self.goto(after);
        self.current = no;
        let second = otherwise.and_then(|otherwise| self.value(otherwise));
        self.move_to(value, second, expr.span);
        self.goto(after);
        self.token_of(expr, value)
    }

    /// Ends the current block with a branch on `condition`.
    /// Gives what lives on, without a name, while the `yes` side runs.
    pub(super) fn condition(&mut self, condition: &'f Condition, yes: BlockId, no: BlockId) -> Vec<Place> {
        match condition {
            Condition::Value(Expr { kind: ExprKind::Op { op: Op::Is(variant), operands, .. }, .. })
                if operands.first().is_some_and(|operand| matches!(operand.gives, Kind::OptionalToken(_))) =>
            {
                let place = self.values(operands).into_iter().flatten().next();
                self.option_branch(*variant, place, yes, no);
                // The value that was asked is dropped where it is one.
                let holds = if *variant == Variant::Some { yes } else { no };
                self.current = holds;
                self.drop_temporary(place, operands[0].span);
                Vec::new()
            }
            Condition::Value(value) => {
                self.value(value);
                self.end(End::Branch { then: yes, otherwise: no });
                Vec::new()
            }
            Condition::Let { pattern, scrutinee } => {
                let place = self.value(scrutinee);
                self.test(pattern, place, yes, no);
                // `if let None` of a value on its way: that is gone before the other arm.
                if matches!(pattern.kind, PatternKind::Variant { variant: Variant::None, .. }) {
                    self.current = no;
                    self.drop_temporary(place, scrutinee.span);
                }
                self.current = yes;
                self.bind(pattern, place, scrutinee.span).into_iter().collect()
            }
            Condition::All(parts) => self.all(parts, yes, no),
        }
    }

    /// Where a part does not hold, what those before it bound is dropped.
    fn all(&mut self, parts: &'f [Condition], yes: BlockId, no: BlockId) -> Vec<Place> {
        let (depth, waiting) = (self.scopes.len(), self.waiting.len());
        let mut held = Vec::new();
        self.scopes.push(Vec::new());
        for part in parts {
            let (holds, fails) = (self.new_block(), self.new_block());
            let place = self.condition(part, holds, fails);
            self.current = fails;
            let at = match part {
                Condition::Value(value) | Condition::Let { scrutinee: value, .. } => value.span,
                Condition::All(_) => continue,
            };
            self.abandon(waiting, depth, Loss::EndOfScope, at);
            self.end(End::Goto(no));
            self.current = holds;
            self.waiting.extend(&place);
            held.extend(place);
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
    pub(super) fn match_arms(&mut self, expr: &'f Expr, scrutinee: &'f Expr, arms: &'f [Arm]) -> Option<Place> {
        let value = self.temporary();
        let after = self.new_block();
        let place = self.value(scrutinee);
        for (index, arm) in arms.iter().enumerate() {
            let (yes, no) = (self.new_block(), self.new_block());
            match arm.guard {
                None if index + 1 == arms.len() => self.end(End::Goto(yes)),
                _ => self.test(&arm.pattern, place, yes, no),
            }
            self.current = yes;
            let mut guarded = Vec::new();
            if let Some(guard) = &arm.guard {
                let before = self.waiting.len();
                self.waiting.extend(place.filter(|place| matches!(place, Place::Temporary(_))));
                let bound = self.new_block();
                guarded = self.condition(guard, bound, no);
                self.waiting.truncate(before);
                self.current = bound;
            }
            let held = guarded.into_iter().chain(self.bind(&arm.pattern, place, scrutinee.span)).collect();
            let ExprKind::Block(body) = &arm.body.kind else { continue };
            let result = self.holding(held, body);
            self.move_to(value, result, arm.body.span);
            self.end(End::Goto(after));
            self.current = no;
        }
        self.current = after;
        self.token_of(expr, value)
    }

    /// Ends the current block with a branch on whether a pattern matches.
    pub(super) fn test(&mut self, pattern: &Pattern, place: Option<Place>, yes: BlockId, no: BlockId) {
        match (&pattern.kind, place) {
            (PatternKind::Variant { variant, .. }, place) => self.option_branch(*variant, place, yes, no),
            _ if pattern.is_irrefutable() => self.end(End::Goto(yes)),
            _ => self.end(End::Branch { then: yes, otherwise: no }),
        }
    }

    /// A token moves into the name that a pattern gives it. Gives what lives on without a name where it gives none.
    pub(super) fn bind(&mut self, pattern: &Pattern, place: Option<Place>, at: SpanRange) -> Option<Place> {
        let place = place?;
        match &pattern.kind {
            PatternKind::Bind { local, .. } => {
                self.step(StepKind::Move { from: place, into: Place::Local(*local) }, at);
                None
            }
            PatternKind::Variant { field: Some(field), .. } => self.bind(field, Some(place), at),
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
            | PatternKind::Or(_) => Some(place).filter(|place| matches!(place, Place::Temporary(_))),
        }
    }

    /// A token that is only looked at, and held by no variable, is lost.
    pub(super) fn drop_temporary(&mut self, place: Option<Place>, at: SpanRange) {
        if let Some(place @ Place::Temporary(_)) = place {
            self.step(StepKind::Drop { place, how: Loss::Discarded }, at);
        }
    }

    fn option_branch(&mut self, variant: Variant, place: Option<Place>, yes: BlockId, no: BlockId) {
        let end = match (variant, place) {
            (Variant::Some, Some(place)) => End::Option { place, some: yes, none: no },
            (Variant::None, Some(place)) => End::Option { place, some: no, none: yes },
            (Variant::Some | Variant::None | Variant::Ok | Variant::Err, _) => End::Branch { then: yes, otherwise: no },
        };
        self.end(end);
    }
}
