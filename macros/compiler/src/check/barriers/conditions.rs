//! Conditions of branches that are the same wherever a thread comes to them, so that what was decided by one of them is known
//! at the next: of values that are set once. Nothing is known of two conditions that are not the same word for word.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeMap;

use crate::check::cfg::{BlockId, Cfg, End, Extent, NodeId, Source, StepKind, ValueStep, Variable};
use crate::check::uniform::control::reachable;
use crate::model::LocalId;
use crate::model::expr::BinaryOp;

/// How far values are followed.
const DEEPEST: u8 = 8;

/// What a branch tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Condition {
    /// The same number for the same condition.
    pub(super) number: usize,
    /// Whether it holds where control goes on `then`.
    then: bool,
    /// Whether it is the same at each time.
    pub(super) fixed: bool,
    /// It holds for one thread of a block at most.
    pub(super) elects: bool,
}

impl Condition {
    /// What is known of it on the way to a block; `None` where both ways lead there.
    pub(super) fn on_the_way(self, end: &End, to: BlockId) -> Option<bool> {
        let (then, otherwise) = match *end {
            End::Branch { then, otherwise, .. } => (then, otherwise),
            End::Option { some, none, .. } => (some, none),
            End::Never | End::Leave | End::Goto(_) => return None,
        };
        (then != otherwise).then_some((to == then) == self.then)
    }
}

/// Of each block that ends in a branch.
pub(super) fn conditions(cfg: &Cfg<'_>) -> BTreeMap<BlockId, Condition> {
    let values = Values { cfg, set: set_once(cfg) };
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut conditions = BTreeMap::new();
    for (block, end) in cfg.blocks.iter().map(|block| &block.end).enumerate() {
        let Some(on) = end.condition() else { continue };
        let (text, then) = match end {
            End::Branch { .. } => values.condition(on, DEEPEST),
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

/// Variables that get one value, once.
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
    /// The text of a condition, and whether it is what is tested or the opposite.
    fn condition(&self, node: NodeId, deepest: u8) -> (Option<String>, bool) {
        let whole = &self.cfg.nodes[node.0];
        match (&whole.source, &whole.operands[..]) {
            (Source::Not, [operand]) => {
                let (text, holds) = self.condition(*operand, deepest);
                (text, !holds)
            }
            (Source::Read(Variable::Local(local)), _) => match self.set.get(local) {
                Some(value) if deepest > 0 => {
                    let (text, holds) = self.condition(*value, deepest - 1);
                    (text.or_else(|| self.text(node, deepest)), holds)
                }
                _ => (self.text(node, deepest), true),
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
                (self.operation(op, *first, *second, deepest), holds)
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
            ) => (self.text(node, deepest), true),
        }
    }

    fn operation(&self, op: BinaryOp, first: NodeId, second: NodeId, deepest: u8) -> Option<String> {
        let deepest = deepest.checked_sub(1)?;
        Some(format!("({} {op:?} {})", self.text(first, deepest)?, self.text(second, deepest)?))
    }

    fn text(&self, node: NodeId, deepest: u8) -> Option<String> {
        let whole = &self.cfg.nodes[node.0];
        Some(match (&whole.source, &whole.operands[..]) {
            (Source::Integer(number), _) => number.to_string(),
            (Source::Constant(value), _) => format!("constant {}", value.0),
            (Source::Param(index), _) => format!("parameter {index}"),
            (Source::ThreadRank, _) => "thread".into(),
            (Source::Binary(op) | Source::Round(_, op), [first, second]) => {
                self.operation(*op, *first, *second, deepest)?
            }
            (Source::Not, [operand]) => format!("!{}", self.text(*operand, deepest.checked_sub(1)?)?),
            (Source::Read(Variable::Local(local)), _) => {
                let value = *self.set.get(local)?;
                let followed = deepest.checked_sub(1).and_then(|deepest| self.text(value, deepest));
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
