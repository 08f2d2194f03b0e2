//! The conditions of branches. Two conditions with the same text over values that are set once have the same outcome wherever
//! a thread evaluates them (`fixed`), so that the outcome of the first is known at the second. Nothing is known about the relation of two
//! conditions with different texts.

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use crate::check::cfg::{BlockId, Cfg, End, NodeId, Source};
use crate::check::election::Election;
use crate::check::fixed::{FixedValues, MAX_DEPTH};
use crate::check::uniform;
use crate::model::expr::BinaryOp;

/// The condition that a branch tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    /// The number of the condition: conditions with the same text have the same number.
    pub(super) number: usize,
    /// Whether the condition holds on the `then` edge; otherwise the branch tests its negation.
    then: bool,
    /// Whether its outcome is the same each time it is evaluated.
    pub(super) fixed: bool,
    /// For each outcome, conditions of the block that have to have theirs for some thread of the block to have this one.
    pub(super) requires: [Vec<Requirement>; 2],
}

/// A condition that is the same for all threads of a block, with its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Requirement {
    pub(super) number: usize,
    pub(super) holds: bool,
    /// Whether its outcome is the same each time it is evaluated.
    pub(super) fixed: bool,
}

impl Condition {
    /// The outcome of the condition on the edge to a block; `None` if both edges lead there.
    pub(super) fn value_on_edge(&self, end: &End, to: BlockId) -> Option<bool> {
        let (then, otherwise) = match *end {
            End::Branch { then, otherwise, .. } => (then, otherwise),
            End::Option { some, none, .. } => (some, none),
            End::Never | End::Leave | End::Goto(_) => return None,
        };
        (then != otherwise).then_some((to == then) == self.then)
    }
}

/// The condition of each block that ends in a branch.
pub(super) fn conditions(
    cfg: &Cfg<'_>,
    values: &uniform::values::Values<'_, '_>,
    election: &Election<'_, '_>,
) -> BTreeMap<BlockId, Condition> {
    let texts = Values { cfg, values, fixed: &values.fixed };
    let mut numbers = ConditionNumbers::default();
    let mut conditions = BTreeMap::new();
    for (at, end) in cfg.blocks.iter().map(|block| &block.end).enumerate() {
        let (Some(on), block) = (end.condition(), BlockId(at)) else { continue };
        let (text, then) = match end {
            End::Branch { .. } => texts.condition(on, MAX_DEPTH),
            End::Option { .. } | End::Never | End::Leave | End::Goto(_) => (None, true),
        };
        let fixed = text.is_some();
        let number = numbers.of(text.unwrap_or_else(|| format!("at {at}")));
        let requires = [false, true].map(|holds| {
            let taken = holds == then;
            let mut requires = texts.required(on, taken, MAX_DEPTH, &mut numbers);
            if election.is_never(block, taken) {
                requires.push(Requirement { number: numbers.of("never".into()), holds: true, fixed: true });
            } else if let Some((group, rank)) = election.one_block(block, taken) {
                // The rank of the block, if the text shows it.
                let known = rank.map_or_else(|| format!("of {number}"), |rank| rank.to_string());
                let number = numbers.of(format!("({group:?}.block_rank Eq {known})"));
                requires.push(Requirement { number, holds: true, fixed: fixed || rank.is_some() });
            }
            requires
        });
        conditions.insert(block, Condition { number, then, fixed, requires });
    }
    conditions
}

/// The numbers of conditions, by their texts.
#[derive(Default)]
struct ConditionNumbers(BTreeMap<String, usize>);

impl ConditionNumbers {
    fn of(&mut self, text: String) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }
}

struct Values<'a, 'f> {
    cfg: &'a Cfg<'f>,
    values: &'a uniform::values::Values<'a, 'f>,
    fixed: &'a FixedValues<'a, 'f>,
}

impl Values<'_, '_> {
    /// The text of a condition, and whether the value is the condition or its negation.
    fn condition(&self, node: NodeId, depth: u8) -> (Option<String>, bool) {
        let whole = &self.cfg.nodes[node.0];
        match (&whole.source, &whole.operands[..]) {
            (Source::Not, [operand]) => {
                let (text, holds) = self.condition(*operand, depth);
                (text, !holds)
            }
            (Source::Read(variable), _) => match self.fixed.of_variable(*variable) {
                Some(value) if depth > 0 => {
                    let (text, holds) = self.condition(value, depth - 1);
                    (text.or_else(|| self.fixed.text(node, depth)), holds)
                }
                _ => (self.fixed.text(node, depth), true),
            },
            (Source::Binary(op) | Source::Round(_, op), [first, second]) if !self.cfg.cuts.contains_key(&node) => {
                let (op, holds) = match op {
                    BinaryOp::Ne => (BinaryOp::Eq, false),
                    BinaryOp::Ge => (BinaryOp::Lt, false),
                    BinaryOp::Gt => (BinaryOp::Le, false),
                    BinaryOp::Eq
                    | BinaryOp::Lt
                    | BinaryOp::Le
                    | BinaryOp::Add
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
                    | BinaryOp::Or => (*op, true),
                };
                (self.fixed.operation(op, *first, *second, depth), holds)
            }
            (
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
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
                | Source::Call { .. },
                _,
            ) => (self.fixed.text(node, depth), true),
        }
    }

    /// Conditions that are the same for all threads of a block, and that have these outcomes where a value has this one.
    fn required(&self, node: NodeId, holds: bool, depth: u8, numbers: &mut ConditionNumbers) -> Vec<Requirement> {
        let Some(less) = depth.checked_sub(1) else { return Vec::new() };
        let is_uniform = self.values.level(node).is_uniform(Uniformity::Block);
        let (text, is_it) = self.condition(node, depth);
        let own = text.filter(|_| is_uniform);
        let own = own.map(|text| Requirement { number: numbers.of(text), holds: is_it == holds, fixed: true });
        own.into_iter().chain(self.required_of_operands(node, holds, less, numbers)).collect()
    }

    fn required_of_operands(
        &self,
        node: NodeId,
        holds: bool,
        depth: u8,
        numbers: &mut ConditionNumbers,
    ) -> Vec<Requirement> {
        let whole = &self.cfg.nodes[node.0];
        match (&whole.source, &whole.operands[..], holds) {
            (Source::Not, [operand], _) => self.required(*operand, !holds, depth, numbers),
            (Source::Read(variable), ..) => match self.fixed.of_variable(*variable) {
                Some(value) => self.required(value, holds, depth, numbers),
                None => Vec::new(),
            },
            (Source::Binary(BinaryOp::And), [a, b], true) | (Source::Binary(BinaryOp::Or), [a, b], false) => {
                let mut both = self.required(*a, holds, depth, numbers);
                both.extend(self.required(*b, holds, depth, numbers));
                both
            }
            (
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
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
                | Source::Call { .. },
                ..,
            ) => Vec::new(),
        }
    }
}
