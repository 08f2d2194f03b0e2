//! Forward dataflow over the graph: `solve` finds the state before each block, `visit` walks the solved states once
//! more. Transfer functions never report; only a visitor does, so that no fault is found twice by a loop's
//! iterations. After rustc's `rustc_mir_dataflow`, with one effect a step.

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use super::cfg::{BasicBlock, BlockId, Cfg, End, Step};

/// A lattice whose bottom is "not reached", which the engine keeps as `None`.
pub(crate) trait Join: Clone {
    /// Makes `self` the least state above both; says whether it changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// What is known at each point, as a function of what was known before.
///
/// > If the state before a step grows, the state after it grows too.
///
/// This, and a lattice of finite height, is why `solve` ends.
pub(crate) trait Analysis {
    type State: Join;

    /// The state at the function's start.
    fn entry(&self) -> Self::State;

    /// The state after a step.
    fn transfer(&self, state: &mut Self::State, step: &Step);

    /// Where control goes besides, as far as this analysis is concerned.
    fn beyond(&self, _from: BlockId) -> &[BlockId] {
        &[]
    }

    /// What is known beyond that when control goes from `from` to `to`.
    fn edge(&self, state: &mut Self::State, cfg: &Cfg<'_>, from: BlockId, to: BlockId);
}

/// The state before each block; `None` where control never comes.
pub(crate) fn solve<A: Analysis>(analysis: &A, cfg: &Cfg<'_>) -> Vec<Option<A::State>> {
    let mut states: Vec<Option<A::State>> = cfg.blocks.iter().map(|_| None).collect();
    states[cfg.entry.0] = Some(analysis.entry());
    let (order, rank) = order(cfg);
    let mut work = BTreeSet::from([0]);
    while let Some(first) = work.pop_first() {
        let block = order[first];
        let Some(mut state) = states[block.0].clone() else { continue };
        for step in &cfg.blocks[block.0].steps {
            analysis.transfer(&mut state, step);
        }
        let mut left = Some(state);
        let mut ways = cfg.blocks[block.0].end.successors().chain(analysis.beyond(block).iter().copied()).peekable();
        while let Some(next) = ways.next() {
            let state = if ways.peek().is_some() { left.clone() } else { left.take() };
            let Some(mut state) = state else { break };
            analysis.edge(&mut state, cfg, block, next);
            let changed = match &mut states[next.0] {
                Some(known) => known.join(&state),
                unreached => {
                    *unreached = Some(state);
                    true
                }
            };
            if changed {
                work.insert(rank[next.0]);
            }
        }
    }
    states
}

/// The blocks that control reaches, each before those that it leads to but for loops, and the place of each in this
/// order: what comes later is looked at when all before it is settled.
fn order(cfg: &Cfg<'_>) -> (Vec<BlockId>, Vec<usize>) {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut order = Vec::new();
    // Each block twice: to go on from it, and to leave it behind.
    let mut stack = vec![(cfg.entry, false)];
    while let Some((block, left)) = stack.pop() {
        if left {
            order.push(block);
        } else if !std::mem::replace(&mut seen[block.0], true) {
            stack.push((block, true));
            stack.extend(cfg.blocks[block.0].end.successors().map(|next| (next, false)));
        }
    }
    order.reverse();
    let mut rank = vec![0; cfg.blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| rank[block.0] = at);
    (order, rank)
}

/// The blocks where control leaves the function, with the state that it leaves with.
pub(crate) fn leaves<'c, A: Analysis>(
    analysis: &A,
    cfg: &'c Cfg<'_>,
    states: &[Option<A::State>],
) -> Vec<(&'c BasicBlock, A::State)> {
    let leaving = cfg.blocks.iter().zip(states).filter(|(block, _)| matches!(block.end, End::Leave));
    let reached = leaving.filter_map(|(block, state)| Some((block, state.clone()?)));
    let ends = reached.map(|(block, mut state)| {
        block.steps.iter().for_each(|step| analysis.transfer(&mut state, step));
        (block, state)
    });
    ends.collect()
}

/// Shows every step that can be reached with the state before it.
pub(crate) fn visit<A: Analysis>(
    analysis: &A,
    cfg: &Cfg<'_>,
    states: &[Option<A::State>],
    mut visitor: impl FnMut(&A::State, &Step),
) {
    for (block, state) in cfg.blocks.iter().zip(states) {
        let Some(mut state) = state.clone() else { continue };
        for step in &block.steps {
            visitor(&state, step);
            analysis.transfer(&mut state, step);
        }
    }
}
