//! Branches that say whether a loop over a range has a further round: `k + 1 < n` in a loop `for k in 0..n`, or `s < n` before it, which
//! may be asserted, too. What is in flight only where there is one cannot be in flight behind the loop. Facts of the function's text, no
//! analysis of its states.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cfg::{Assertion, BlockId, Cfg, End, Extent, Formula, NodeId, Source, Variable};
use crate::check::uniform::control::reachable;
use crate::model::expr::BinaryOp;

/// A loop, by the node that decides whether there is one more round. A graph that was split has several blocks that ask it.
pub(super) type Head = NodeId;

/// The edges of a graph that say something of rounds.
#[derive(Default)]
pub(super) struct Rounds {
    /// By edge, the loops that have a further round where it is taken.
    goes_on: BTreeMap<(BlockId, BlockId), BTreeSet<Head>>,
    /// By edge, the loops whose last round it is where the edge is taken.
    is_last: BTreeMap<(BlockId, BlockId), BTreeSet<Head>>,
    /// By block in which a round begins, the loop.
    begins: BTreeMap<BlockId, Head>,
    /// By block that ends with a loop's question: the loop, the block where a round begins, and the one behind the loop.
    heads: BTreeMap<BlockId, (Head, BlockId, BlockId)>,
}

/// A loop over the numbers from `start` to before `end`.
struct Counted {
    counter: Variable,
    start: NodeId,
    end: NodeId,
    by: i64,
}

impl Rounds {
    pub(super) fn of(cfg: &Cfg<'_>) -> Rounds {
        let mut rounds = Rounds::default();
        let mut loops: BTreeMap<Head, Counted> = BTreeMap::new();
        for (number, block) in cfg.blocks.iter().enumerate() {
            let End::Branch { on, then, otherwise } = block.end else { continue };
            if let Some(counted) = counted(cfg, on, then) {
                loops.insert(on, counted);
                rounds.heads.insert(BlockId(number), (on, then, otherwise));
            }
        }
        for (head, counted) in &loops {
            let heads = || rounds.heads.iter().filter(|(_, (of, ..))| of == head);
            let rest: Vec<_> = heads().map(|(block, (_, inside, _))| reachable(cfg, *inside, Some(*block))).collect();
            for (number, block) in cfg.blocks.iter().enumerate() {
                let End::Branch { on, then, otherwise } = block.end else { continue };
                let is_inside = rest.iter().any(|rest| rest.contains(BlockId(number)));
                let (Source::Binary(op), &[left, right]) = (&cfg.nodes[on.0].source, &cfg.nodes[on.0].operands[..])
                else {
                    continue;
                };
                let Some(Further { where_true, exactly }) = goes_on(cfg, (*op, [left, right]), counted, is_inside)
                else {
                    continue;
                };
                let (further, other) = if where_true { (then, otherwise) } else { (otherwise, then) };
                let from = BlockId(number);
                rounds.goes_on.entry((from, further)).or_default().insert(*head);
                if exactly {
                    rounds.is_last.entry((from, other)).or_default().insert(*head);
                }
            }
            for assertion in &cfg.assertions {
                let (from, _) = assertion.at;
                let is_inside = rest.iter().any(|rest| rest.contains(from));
                let Some(test) = asserted(cfg, assertion) else { continue };
                if goes_on(cfg, test, counted, is_inside).is_some_and(|further| further.where_true) {
                    for to in cfg.blocks[from.0].end.successors() {
                        rounds.goes_on.entry((from, to)).or_default().insert(*head);
                    }
                }
            }
            for (number, block) in cfg.blocks.iter().enumerate() {
                if block
                    .steps
                    .iter()
                    .filter_map(|step| step.kind.set())
                    .any(|set| counts(cfg, set).is_some_and(|(counter, _)| counter == counted.counter))
                {
                    rounds.begins.insert(BlockId(number), *head);
                }
            }
        }
        rounds
    }

    /// The loops that have a further round where this edge is taken.
    pub(super) fn going_on(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = Head> {
        self.goes_on.get(&(from, to)).into_iter().flatten().copied()
    }

    /// The loops whose last round it is where this edge is taken.
    pub(super) fn last(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = Head> {
        self.is_last.get(&(from, to)).into_iter().flatten().copied()
    }

    /// The loop of which a round begins in this block.
    pub(super) fn begins(&self, block: BlockId) -> Option<Head> {
        self.begins.get(&block).copied()
    }

    /// The loop that an edge leads out of, from its head.
    pub(super) fn left(&self, from: BlockId, to: BlockId) -> Option<Head> {
        let (head, inside, after) = *self.heads.get(&from)?;
        (inside != after && to == after).then_some(head)
    }
}

/// The loop of which a branch decides whether there is one more round, if it counts up and nothing else sets its counter.
fn counted(cfg: &Cfg<'_>, on: NodeId, inside: BlockId) -> Option<Counted> {
    let (Some(Formula::GoesOn { inclusive: false }), [start, end, ..]) =
        (cfg.formulas.get(&on), &cfg.nodes[on.0].operands[..])
    else {
        return None;
    };
    let mut set = cfg.blocks[inside.0].steps.iter().filter_map(|step| step.kind.set());
    let (counter, by) = set.find_map(|set| counts(cfg, set))?;
    Some(Counted { counter, start: *start, end: *end, by })
}

/// The counter of a loop that a step sets, and by how much it grows.
fn counts(cfg: &Cfg<'_>, (variable, value, _): (Variable, NodeId, Extent)) -> Option<(Variable, i64)> {
    let Source::Counter { of, by: Some(by @ 1..), .. } = cfg.nodes[value.0].source else { return None };
    (of == variable).then_some((variable, by))
}

/// A condition that tells whether a loop has a further round.
struct Further {
    /// Whether there is a further round if the condition holds, or if it does not.
    where_true: bool,
    /// Whether there is none otherwise.
    exactly: bool,
}

/// The comparison that holds behind an assertion.
fn asserted(cfg: &Cfg<'_>, assertion: &Assertion) -> Option<(BinaryOp, [NodeId; 2])> {
    match (assertion.compares, &assertion.operands[..]) {
        (Some(op), &[left, right]) => Some((op, [left, right])),
        (None, [holds]) => match (&cfg.nodes[holds.0].source, &cfg.nodes[holds.0].operands[..]) {
            (Source::Binary(op), &[left, right]) => Some((*op, [left, right])),
            _ => None,
        },
        (Some(_) | None, _) => None,
    }
}

/// Finds out whether a condition tells that a loop has a further round. Outside of the loop, that is the first one.
fn goes_on(
    cfg: &Cfg<'_>,
    (op, [left, right]): (BinaryOp, [NodeId; 2]),
    counted: &Counted,
    is_inside: bool,
) -> Option<Further> {
    let is_number = |node: NodeId| literal(cfg, node).is_some();
    let is_turned = matches!(op, BinaryOp::Gt | BinaryOp::Ge)
        || matches!(op, BinaryOp::Ne | BinaryOp::Eq) && is_number(right) && !is_number(left);
    let (left, right) = if is_turned { (right, left) } else { (left, right) };
    let (left, ahead) = offset(cfg, left, 0);
    let (right, behind) = offset(cfg, right, 0);
    let (end, more) = offset(cfg, counted.end, 0);
    let is_end = right == end
        || cfg.nodes[right.0].source.integer().is_some_and(|at| cfg.nodes[end.0].source.integer() == Some(at));
    if !is_end {
        return None;
    }
    // The numbers ahead of the left side that are still before the end.
    let ahead = ahead.checked_sub(behind)?.checked_add(more)?;
    let by = if is_inside {
        (cfg.nodes[left.0].source.read() == Some(counted.counter)).then_some(counted.by)?
    } else {
        // What is not less than the first number is less than the end.
        literal(cfg, counted.start)?.checked_sub(least(cfg, left)?)?
    };
    let is_next = is_inside && ahead == by && by == 1;
    let (says, where_true, exactly) = if let BinaryOp::Lt | BinaryOp::Gt = op {
        (ahead >= by, true, is_inside && ahead == by)
    } else if let BinaryOp::Le | BinaryOp::Ge = op {
        (ahead > by, true, is_inside && ahead == by + 1)
    } else {
        // Before a loop from 0 on, `n != 0`.
        let is_first = !is_inside && ahead == by;
        ((is_next || is_first) && matches!(op, BinaryOp::Ne | BinaryOp::Eq), op == BinaryOp::Ne, is_inside)
    };
    says.then_some(Further { where_true, exactly })
}

fn literal(cfg: &Cfg<'_>, node: NodeId) -> Option<i64> {
    i64::try_from(cfg.nodes[cfg.origin(node).0].source.integer()?).ok()
}

/// The least number that a literal, or a counter of a loop, may be.
fn least(cfg: &Cfg<'_>, node: NodeId) -> Option<i64> {
    if let Some(number) = literal(cfg, node) {
        return Some(number);
    }
    let variable = cfg.nodes[node.0].source.read()?;
    let counts = |source: &Source<'_>| matches!(source, Source::Counter { of, by: Some(1..), .. } if *of == variable);
    let counter = cfg.nodes.iter().find(|node| counts(&node.source))?;
    literal(cfg, *counter.operands.first()?)
}

/// A value without the number that is added to it, and that number.
fn offset(cfg: &Cfg<'_>, node: NodeId, depth: u32) -> (NodeId, i64) {
    let of = &cfg.nodes[node.0];
    let number = |node: NodeId| literal(cfg, node);
    if depth > 8 {
        return (node, 0);
    }
    let (inner, by) = match (&of.source, &of.operands[..]) {
        (Source::Binary(BinaryOp::Add), [a, b]) => match (number(*a), number(*b)) {
            (_, Some(by)) => (*a, by),
            (Some(by), None) => (*b, by),
            (None, None) => return (node, 0),
        },
        (Source::Binary(BinaryOp::Sub), [a, b]) => match number(*b) {
            Some(by) => (*a, -by),
            None => return (node, 0),
        },
        (Source::Read(_), _) if cfg.origin(node) != node => (cfg.origin(node), 0),
        _ => return (node, 0),
    };
    let (inner, more) = offset(cfg, inner, depth + 1);
    (inner, by.saturating_add(more))
}
