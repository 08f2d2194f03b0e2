//! The conditions of branches. Two conditions with the same text over values that are set once have the same outcome wherever
//! a thread evaluates them, so that the outcome of the first is known at the second. Nothing is known about the relation of two
//! conditions with different texts.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use crate::check::cfg::{BlockId, Cfg, End, Extent, NodeId, Source, StepKind, ValueStep, Variable};
use crate::check::uniform::control::reachable;
use crate::model::LocalId;
use crate::model::expr::BinaryOp;

/// The number of variables and operators through which a condition's text is built.
const MAX_DEPTH: u8 = 8;

/// The condition that a branch tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Condition {
    /// The number of the condition: conditions with the same text have the same number.
    pub(super) number: usize,
    /// Whether the condition holds on the `then` edge; otherwise the branch tests its negation.
    then: bool,
    /// Whether its outcome is the same each time it is evaluated.
    pub(super) fixed: bool,
    /// Whether it elects a thread: it holds for at most one thread of a block.
    pub(super) elects: bool,
}

impl Condition {
    /// The outcome of the condition on the edge to a block; `None` if both edges lead there.
    pub(super) fn value_on_edge(self, end: &End, to: BlockId) -> Option<bool> {
        let (then, otherwise) = match *end {
            End::Branch { then, otherwise, .. } => (then, otherwise),
            End::Option { some, none, .. } => (some, none),
            End::Never | End::Leave | End::Goto(_) => return None,
        };
        (then != otherwise).then_some((to == then) == self.then)
    }
}

/// The condition of each block that ends in a branch.
pub(super) fn conditions(cfg: &Cfg<'_>) -> BTreeMap<BlockId, Condition> {
    let values = Values { cfg, set: set_once(cfg) };
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut conditions = BTreeMap::new();
    for (block, end) in cfg.blocks.iter().map(|block| &block.end).enumerate() {
        let Some(on) = end.condition() else { continue };
        let (text, then) = match end {
            End::Branch { .. } => values.condition(on, MAX_DEPTH),
            End::Option { .. } | End::Never | End::Leave | End::Goto(_) => (None, true),
        };
        let fixed = text.is_some();
        let elects = text.as_ref().is_some_and(|text| text.starts_with("(thread Eq ") || text.ends_with(" Eq thread)"));
        let next = numbers.len();
        let number = *numbers.entry(text.unwrap_or_else(|| format!("at {block}"))).or_insert(next);
        conditions.insert(BlockId(block), Condition { number, then, fixed, elects });
    }
    conditions
}

/// The variables that are set once, outside of loops, each with its value.
fn set_once(cfg: &Cfg<'_>) -> BTreeMap<LocalId, NodeId> {
    let mut set: BTreeMap<LocalId, Option<NodeId>> = BTreeMap::new();
    for (block, steps) in cfg.blocks.iter().map(|block| &block.steps).enumerate() {
        let again = cfg.blocks[block].end.successors().any(|next| reachable(cfg, next, None).contains(BlockId(block)));
        for step in steps {
            if let StepKind::Value(ValueStep::Set { variable: Variable::Local(local), value, extent }) = step.kind {
                let once = (extent == Extent::Whole && !again && !set.contains_key(&local)).then_some(value);
                set.insert(local, once);
            }
        }
    }
    set.into_iter().filter_map(|(local, value)| Some((local, value?))).collect()
}

struct Values<'a, 'f> {
    cfg: &'a Cfg<'f>,
    set: BTreeMap<LocalId, NodeId>,
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
            (Source::Read(Variable::Local(local)), _) => match self.set.get(local) {
                Some(value) if depth > 0 => {
                    let (text, holds) = self.condition(*value, depth - 1);
                    (text.or_else(|| self.text(node, depth)), holds)
                }
                _ => (self.text(node, depth), true),
            },
            (Source::Binary(op) | Source::Round(_, op), [first, second]) => {
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
                (self.operation(op, *first, *second, depth), holds)
            }
            (
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Read(_)
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..)
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => (self.text(node, depth), true),
        }
    }

    fn operation(&self, op: BinaryOp, first: NodeId, second: NodeId, depth: u8) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        Some(format!("({} {op:?} {})", self.text(first, depth)?, self.text(second, depth)?))
    }

    fn text(&self, node: NodeId, depth: u8) -> Option<String> {
        let whole = &self.cfg.nodes[node.0];
        Some(match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number), _) => number.to_string(),
            (Source::Constant(value), _) => format!("constant {}", value.0),
            (Source::Param(index), _) => format!("parameter {index}"),
            (Source::ThreadRank, _) => "thread".into(),
            (Source::Binary(op) | Source::Round(_, op), [first, second]) => {
                self.operation(*op, *first, *second, depth)?
            }
            (Source::Not, [operand]) => format!("!{}", self.text(*operand, depth.checked_sub(1)?)?),
            (Source::Read(Variable::Local(local)), _) => {
                let value = *self.set.get(local)?;
                let followed = depth.checked_sub(1).and_then(|depth| self.text(value, depth));
                followed.unwrap_or_else(|| format!("variable {}", local.0))
            }
            (Source::Known { .. }, []) => {
                let (group, query) = self.cfg.queries.get(&node)?;
                format!("{group:?}.{}", query.name)
            }
            (
                Source::Operands
                | Source::Binary(_)
                | Source::Round(..)
                | Source::Not
                | Source::Counter { .. }
                | Source::Read(_)
                | Source::Known { .. }
                | Source::Load(_)
                | Source::Agreed { .. }
                | Source::Shuffled { .. }
                | Source::Call { .. },
                _,
            ) => return None,
        })
    }
}
