//! Finds the values that branches take for truth values, and those that they are made of.

use std::collections::BTreeSet;

use crate::check::cfg::{Cfg, Formula, NodeId, Source};
use crate::model::expr::BinaryOp;

pub(super) fn of(cfg: &Cfg<'_>) -> BTreeSet<NodeId> {
    let sets = cfg.values_of_variables();
    let mut found = BTreeSet::new();
    let mut work: Vec<NodeId> = cfg.blocks.iter().filter_map(|block| block.end.condition()).collect();
    while let Some(node) = work.pop() {
        if !found.insert(node) {
            continue;
        }
        let of = &cfg.nodes[node.0];
        match &of.source {
            Source::Not
            | Source::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor) => {
                work.extend(&of.operands);
            }
            Source::Operands if matches!(cfg.formulas.get(&node), Some(Formula::Pick | Formula::Replaced { .. })) => {
                work.extend(&of.operands[1..]);
            }
            Source::Read(variable) => work.extend(sets.get(variable).into_iter().flatten()),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => {}
        }
    }
    found
}
