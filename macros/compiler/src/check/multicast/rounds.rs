//! Rounds of a loop that send the same tile: of a ring of `M` stages, `k % M` in round `k`, the round that sends a tile again is at least
//! `M` rounds later. So it is none of the first rounds, which a branch on the loop's number lets pass without a wait
//! (`if k >= M { empty[k % M].wait_parity(..); }`).

use std::collections::BTreeSet;

use crate::check::cfg::{BlockId, Cfg, CountedLoop, End, Node, NodeId, Region, Select, Source, Variable};
use crate::model::expr::BinaryOp;

/// The number of operators and variables through which an index is followed.
const DEPTH: u8 = 8;

/// The edges and the block that a path cannot take if it comes back to the same tile without beginning the loop anew.
#[derive(Default)]
pub(super) struct Rounds {
    /// The block before the loop.
    pub(super) before: Option<BlockId>,
    /// The edges that only the first rounds take.
    pub(super) first_rounds: BTreeSet<(BlockId, BlockId)>,
}

impl Rounds {
    /// Returns what the paths between multicasts to this tile cannot do.
    pub(super) fn of(cfg: &Cfg<'_>, tile: &Region) -> Rounds {
        Rounds::known(cfg, tile).unwrap_or_default()
    }

    fn known(cfg: &Cfg<'_>, tile: &Region) -> Option<Rounds> {
        let Some(Select::At(index)) = tile.path.first() else { return None };
        let (counter, stages) = stage(cfg, *index, DEPTH)?;
        let counted = cfg.counted.values().find(|counted| counts(cfg, counted) == Some(counter))?;
        let start = cfg.nodes[counted.start.0].source.integer()?;
        let again = start.checked_add(stages)?;
        let edges = cfg.blocks.iter().enumerate().filter_map(|(number, block)| {
            let End::Branch { on, then, otherwise } = block.end else { return None };
            let (holds_from, is_then) = limit(cfg, on, counter)?;
            let (first, later) = if is_then { (otherwise, then) } else { (then, otherwise) };
            (holds_from <= again && first != later).then_some((BlockId(number), first))
        });
        Some(Rounds { before: Some(counted.before), first_rounds: edges.collect() })
    }
}

/// The variable that counts a loop's rounds one by one, and that the body does not change.
fn counts(cfg: &Cfg<'_>, counted: &CountedLoop) -> Option<Variable> {
    let (variable, value, _) = cfg.blocks[counted.inside.0].steps.iter().find_map(|step| step.kind.set())?;
    let is_number = matches!(cfg.nodes[value.0].source, Source::Counter { of, by: Some(1), .. } if of == variable);
    is_number.then_some(variable)
}

/// The variable and the number of stages, if a value is another one in each of as many consecutive rounds: the remainder of the loop's
/// number, or a multiple of that plus what is the same in all rounds.
fn stage(cfg: &Cfg<'_>, node: NodeId, depth: u8) -> Option<(Variable, u64)> {
    // An operator on what a cast has cut off says nothing of what was cast.
    let depth = depth.checked_sub(1).filter(|_| !cfg.cuts.contains_key(&node))?;
    let number = |node: NodeId| cfg.nodes[node.0].source.integer();
    match (&cfg.nodes[node.0].source, &cfg.nodes[node.0].operands[..]) {
        (Source::Read(variable), _) => stage(cfg, cfg.only_value(*variable)?, depth),
        (Source::Binary(BinaryOp::Rem) | Source::Round(_, BinaryOp::Rem), [of, by]) => {
            Some((round(cfg, *of)?, number(*by).filter(|stages| *stages > 0)?))
        }
        (Source::Binary(BinaryOp::Mul), [a, b]) => match (number(*a), number(*b)) {
            (None, Some(1..)) => stage(cfg, *a, depth),
            (Some(1..), None) => stage(cfg, *b, depth),
            _ => None,
        },
        (Source::Binary(BinaryOp::Add), [a, b]) => {
            let beside = |stages: NodeId, other: NodeId| {
                stage(cfg, stages, depth).filter(|_| is_same_in_all_rounds(cfg, other, depth))
            };
            beside(*a, *b).or_else(|| beside(*b, *a))
        }
        _ => None,
    }
}

/// The variable that counts rounds, if the value is its number.
fn round(cfg: &Cfg<'_>, node: NodeId) -> Option<Variable> {
    let variable = cfg.nodes[cfg.origin(node).0].source.read()?;
    cfg.counted.values().any(|counted| counts(cfg, counted) == Some(variable)).then_some(variable)
}

fn is_same_in_all_rounds(cfg: &Cfg<'_>, node: NodeId, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Node { source, operands, .. } = &cfg.nodes[node.0];
    if let Source::Read(variable) = source {
        return cfg.only_value(*variable).is_some_and(|value| is_same_in_all_rounds(cfg, value, depth));
    }
    let is_query = matches!(source, Source::Known { .. }) && cfg.queries.contains_key(&node);
    is_query
        || matches!(source, Source::Integer(_) | Source::Constant(_) | Source::ThreadRank)
        || matches!(source, Source::Binary(_))
            && operands.iter().all(|operand| is_same_in_all_rounds(cfg, *operand, depth))
}

/// The least number of a round from which on a condition has one value, and whether it holds then.
fn limit(cfg: &Cfg<'_>, on: NodeId, counter: Variable) -> Option<(u64, bool)> {
    let on = cfg.origin(on);
    let node = &cfg.nodes[on.0];
    if let (Source::Not, [negated]) = (&node.source, &node.operands[..]) {
        return limit(cfg, *negated, counter).map(|(from, holds)| (from, !holds));
    }
    let (Source::Binary(op) | Source::Round(_, op), [left, right]) = (&node.source, &node.operands[..]) else {
        return None;
    };
    if cfg.cuts.contains_key(&on) {
        return None;
    }
    let is_counter = |node: NodeId| round(cfg, node) == Some(counter);
    let number = |node: NodeId| cfg.nodes[node.0].source.integer();
    let (turned, number) = match (number(*left), number(*right)) {
        (None, Some(number)) if is_counter(*left) => (false, number),
        (Some(number), None) if is_counter(*right) => (true, number),
        _ => return None,
    };
    // Each comparison with the number, and as it is with the operands in the other order.
    let next = number.checked_add(1)?;
    let limits = [
        (BinaryOp::Ge, BinaryOp::Le, number, true),
        (BinaryOp::Gt, BinaryOp::Lt, next, true),
        (BinaryOp::Lt, BinaryOp::Gt, number, false),
        (BinaryOp::Le, BinaryOp::Ge, next, false),
    ];
    let found = limits.into_iter().find(|(plain, other, ..)| if turned { other == op } else { plain == op });
    found.map(|(.., from, holds)| (from, holds))
}
