//! Branches: what `if`, `if let`, `while` and `while let` test, and what lives while an arm runs.

use super::{BlockId, Builder, End, Place, StepKind};
use crate::messages::Loss;
use crate::model::expr::{Block, Condition, Expr, ExprKind};
use crate::model::op::{Op, Variant};
use crate::model::ty::Kind;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// A block during which a value without a name lives.
    pub(super) fn holding(&mut self, held: Option<Place>, block: &'f Block) -> Option<Place> {
        let before = self.waiting.len();
        self.waiting.extend(held);
        let value = self.block(block);
        self.waiting.truncate(before);
        self.drop_temporary(held, block.span);
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
    pub(super) fn condition(&mut self, condition: &'f Condition, yes: BlockId, no: BlockId) -> Option<Place> {
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
                None
            }
            Condition::Value(value) => {
                self.value(value);
                self.end(End::Branch { then: yes, otherwise: no });
                None
            }
            Condition::Let { variant, binding, scrutinee } => {
                let place = self.value(scrutinee);
                self.option_branch(*variant, place, yes, no);
                self.current = yes;
                match (binding, place) {
                    (Some(local), Some(from)) => {
                        self.step(StepKind::Move { from, into: Place::Local(*local) }, scrutinee.span);
                        None
                    }
                    // `Some(_)` of a value on its way: it lives as long as the arm.
                    (None, Some(Place::Temporary(_))) if *variant == Variant::Some => place,
                    // `None`: it is gone before the other arm.
                    (None, place) if *variant == Variant::None => {
                        self.current = no;
                        self.drop_temporary(place, scrutinee.span);
                        None
                    }
                    _ => None,
                }
            }
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
