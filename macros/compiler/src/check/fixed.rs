//! Values that are the same wherever a thread computes them: what they are made of, as text. Two values with the same text are
//! equal for each thread; nothing is known about the relation of two different texts.

use std::collections::BTreeMap;

use super::cfg::{BlockId, Cfg, Extent, NodeId, Source, StepKind, ValueStep, Variable};
use super::uniform::control::Control;
use crate::model::LocalId;
use crate::model::expr::BinaryOp;

/// The number of variables and operators through which a text is built.
pub(super) const MAX_DEPTH: u8 = 8;

/// The variables that are set once, outside of loops, each with its value.
fn set_once(cfg: &Cfg<'_>, control: &Control) -> BTreeMap<LocalId, NodeId> {
    let mut set: BTreeMap<LocalId, Option<NodeId>> = BTreeMap::new();
    for (block, steps) in cfg.blocks.iter().map(|block| &block.steps).enumerate() {
        let is_in_loop = control.following(BlockId(block)).contains(BlockId(block));
        for step in steps {
            if let StepKind::Value(ValueStep::Set { variable: Variable::Local(local), value, extent }) = step.kind {
                let is_first = extent == Extent::Whole && !set.contains_key(&local);
                let once = (is_first && !is_in_loop).then_some(value);
                set.insert(local, once);
            }
        }
    }
    set.into_iter().filter_map(|(local, value)| Some((local, value?))).collect()
}

/// The values of a function that are made of literals, parameters, queries and variables that are set once.
pub(super) struct FixedValues<'a, 'f> {
    cfg: &'a Cfg<'f>,
    set: BTreeMap<LocalId, NodeId>,
}

impl<'a, 'f> FixedValues<'a, 'f> {
    pub(super) fn of(cfg: &'a Cfg<'f>, control: &Control) -> FixedValues<'a, 'f> {
        FixedValues { cfg, set: set_once(cfg, control) }
    }

    /// The value of a variable that is set once.
    pub(super) fn of_variable(&self, variable: Variable) -> Option<NodeId> {
        match variable {
            Variable::Local(local) => self.set.get(&local).copied(),
            Variable::Field(..) | Variable::Temporary(_) => None,
        }
    }

    pub(super) fn operation(&self, op: BinaryOp, first: NodeId, second: NodeId, depth: u8) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        Some(format!("({} {op:?} {})", self.text(first, depth)?, self.text(second, depth)?))
    }

    /// The text of a value; `None` if it may differ from one place to the next.
    pub(super) fn text(&self, node: NodeId, depth: u8) -> Option<String> {
        let uncut = self.text_of_source(node, depth)?;
        let cut = self.cfg.cuts.get(&node).map_or(uncut.clone(), |bits| format!("{uncut} of {bits} bits"));
        // Of a negative number, or of one that the type does not hold, a cast makes another one.
        Some(self.cfg.recast.get(&node).map_or(cut.clone(), |cast| format!("{cut}{cast}")))
    }

    fn text_of_source(&self, node: NodeId, depth: u8) -> Option<String> {
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
            (Source::Known { .. }, []) => match (self.cfg.queries.get(&node), self.cfg.positions.get(&node)) {
                (Some((group, query)), _) => format!("{group:?}.{}", query.name),
                (None, position) => format!("{:?}", position?.digit),
            },
            (Source::Operands, [operand]) if self.cfg.cuts.contains_key(&node) => {
                self.text(*operand, depth.checked_sub(1)?)?
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
