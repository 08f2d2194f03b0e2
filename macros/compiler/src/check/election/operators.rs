//! Operators: where in its block a thread is by the result of one, and what threads have in common for which a comparison holds.

use phalanx_contract::uniformity::Uniformity;

use super::Election;
use super::equalities::{Equalities, Equality};
use super::state::{Known, and, or};
use crate::check::cfg::{Digit, Granule, NodeId, Offset, Position, Source};
use crate::check::fixed::MAX_DEPTH;
use crate::model::expr::BinaryOp;

impl Election<'_, '_> {
    /// Returns the abstract value of an operator's result.
    pub(super) fn operation(&self, node: NodeId, op: BinaryOp, nodes: [NodeId; 2], operands: [Known; 2]) -> Known {
        let [a, b] = &operands;
        let within = self.scope(nodes[0]);
        let outcomes = match op {
            BinaryOp::And | BinaryOp::BitAnd => {
                [or(&a.outcomes[0], &b.outcomes[0], within), and(&a.outcomes[1], &b.outcomes[1])]
            }
            BinaryOp::Or | BinaryOp::BitOr => {
                [and(&a.outcomes[0], &b.outcomes[0]), or(&a.outcomes[1], &b.outcomes[1], within)]
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                return Known { position: None, outcomes: self.comparison(node, op, nodes, &operands) };
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => Known::nothing().outcomes,
        };
        let position = self.arithmetic(node, op, nodes, &operands);
        Known { position, outcomes }
    }

    /// Returns the abstract value of arithmetic, which may determine a thread's position in its block.
    fn arithmetic(
        &self,
        node: NodeId,
        op: BinaryOp,
        nodes: [NodeId; 2],
        operands: &[Known; 2],
    ) -> Option<(Position, Uniformity)> {
        let turned = operands[0].position.is_none();
        let (of, by) = if turned { (1, 0) } else { (0, 1) };
        let (position, within) = operands[of].position?;
        let position = match self.cfg.cuts.get(&node) {
            Some(bits) => position.cut(*bits)?,
            None => position,
        };
        if operands[by].position.is_some() {
            return None;
        }
        let number = self.number(nodes[by]);
        let within = within.meet(self.scope(nodes[by]));
        let commutes = matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::BitAnd | BinaryOp::BitXor);
        let result = match (op, number) {
            (BinaryOp::Add, Some(Granule::Number(number @ 0..0x10_0000))) => position.plus(number),
            // A difference may wrap.
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitXor, _) => self.displaced(position, nodes[by]),
            (BinaryOp::Mul, Some(Granule::Number(1..0x10_0000))) => Position { rank_in: None, ..position }.displaced(),
            (BinaryOp::Shl, Some(Granule::Number(0..=20))) if !turned => {
                Position { rank_in: None, ..position }.displaced()
            }
            _ if turned && !commutes => return None,
            (BinaryOp::Div, Some(by)) => position.over(by)?,
            (BinaryOp::Rem, Some(by)) => position.modulo(by)?,
            (BinaryOp::Shr, Some(Granule::Number(bits @ 0..32))) => position.over(Granule::Number(1 << bits))?,
            (BinaryOp::BitAnd, Some(Granule::Number(mask))) if mask.checked_add(1)?.is_power_of_two() => {
                position.modulo(Granule::Number(mask + 1))?
            }
            _ => return None,
        };
        Some((result, within))
    }

    /// The position plus or minus a value that is the same in the block. It stays a rank among the threads of several blocks if
    /// the value is the same for those.
    fn displaced(&self, position: Position, by: NodeId) -> Position {
        let rank_in = position.rank_in.filter(|_| self.scope(by).covers(Uniformity::Cluster));
        Position { rank_in, ..position }.displaced()
    }

    /// A literal or a constant, through variables that are set once.
    fn number(&self, node: NodeId) -> Option<Granule> {
        match self.cfg.nodes[node.0].source {
            Source::Integer(number) => Some(Granule::Number(number)),
            Source::Constant(value) => Some(Granule::Constant(value)),
            Source::Read(variable) => self.number(self.fixed.of_variable(variable)?),
            Source::Operands
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }

    /// Returns the facts that hold for each outcome of a comparison.
    fn comparison(
        &self,
        node: NodeId,
        op: BinaryOp,
        nodes: [NodeId; 2],
        operands: &[Known; 2],
    ) -> [Option<Equalities>; 2] {
        let unknown = Known::nothing().outcomes;
        let turned = operands[0].position.is_none();
        let (of, with) = if turned { (1, 0) } else { (0, 1) };
        let Some((position, within)) = operands[of].position.filter(|_| operands[with].position.is_none()) else {
            return unknown;
        };
        let cut = |position: Position| match self.cfg.cuts.get(&node) {
            Some(bits) => position.cut(*bits),
            None => Some(position),
        };
        let Some(position) = cut(position) else { return unknown };
        let number = self.number(nodes[with]);
        let within = within.meet(self.scope(nodes[with]));
        let one = |holds: bool, equal: Option<(Digit, Equality)>| {
            let Some((digit, equality)) = equal else { return Known::nothing().outcomes };
            let mut outcomes = Known::nothing().outcomes;
            outcomes[usize::from(holds)] = Some(Equalities::one(digit, equality));
            outcomes
        };
        // Those below a number of threads are the first of as many.
        let first = |extra: u64| {
            let below = match number? {
                Granule::Number(number) => Granule::Number(number.checked_add(extra)?),
                Granule::Constant(_) if extra > 0 => return None,
                number @ Granule::Constant(_) => number,
            };
            let position = position.over(below)?;
            let is_rank = position.offset == Offset::Zero || position.rank_in.is_some();
            let equality = Equality { one_block_of: position.rank_in, ..equality("0".into(), within, Some(0)) };
            is_rank.then_some((position.digit, equality))
        };
        match (op, turned) {
            (BinaryOp::Eq | BinaryOp::Ne, _) => {
                let one_block_of = position.rank_in.filter(|_| self.scope(nodes[with]).covers(Uniformity::Cluster));
                let literal = match number {
                    Some(Granule::Number(number)) if position.offset == Offset::Zero || one_block_of.is_some() => {
                        Some(number)
                    }
                    _ => None,
                };
                let exact = position.offset == Offset::Zero;
                let text = match exact {
                    true => self.fixed.text(nodes[with], MAX_DEPTH),
                    false => self.fixed.operation(BinaryOp::Eq, nodes[0], nodes[1], MAX_DEPTH),
                };
                let value = text.map(|text| (text, within));
                let equal = (position.digit, Equality { value, together: within, literal, one_block_of });
                one(op == BinaryOp::Eq, Some(equal).filter(|_| within != Uniformity::Divergent))
            }
            (BinaryOp::Lt, false) | (BinaryOp::Gt, true) => one(true, first(0)),
            (BinaryOp::Ge, false) | (BinaryOp::Le, true) => one(false, first(0)),
            (BinaryOp::Le, false) | (BinaryOp::Ge, true) => one(true, first(1)),
            (BinaryOp::Gt, false) | (BinaryOp::Lt, true) => one(false, first(1)),
            (
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr
                | BinaryOp::And
                | BinaryOp::Or,
                _,
            ) => unknown,
        }
    }
}

/// A value that is the same wherever a thread computes it.
pub(super) fn equality(value: String, within: Uniformity, literal: Option<u64>) -> Equality {
    Equality { value: Some((value, within)), together: within, literal, one_block_of: None }
}
