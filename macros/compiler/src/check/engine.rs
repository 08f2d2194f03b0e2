//! Forward dataflow over the graph: `solve` computes the state before each block, and `visit` walks the solved states once
//! more. Transfer functions never report; only a visitor does, so that no fault is found once per iteration of a loop. After
//! rustc's `rustc_mir_dataflow`, with one effect per step.

use std::collections::BTreeSet;

use super::cfg::{BasicBlock, BlockId, Cfg, End, Step};

/// A lattice whose bottom is "not reached", which the engine keeps as `None`.
pub(crate) trait Join: Clone {
    /// Makes `self` the least upper bound of both, and returns whether it changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// A dataflow analysis: the state after each step as a function of the state before it.
///
/// > If the state before a step grows, the state after it grows too.
///
/// This law and the finite height of the lattice make `solve` terminate.
pub(crate) trait Analysis {
    type State: Join;

    /// The state at the function's start.
    fn entry(&self) -> Self::State;

    /// The state after a step.
    fn transfer(&self, state: &mut Self::State, step: &Step);

    /// Successors of a block that only this analysis has.
    fn extra_successors(&self, _from: BlockId) -> &[BlockId] {
        &[]
    }

    /// The effect of the edge from `from` to `to`.
    fn edge(&self, state: &mut Self::State, cfg: &Cfg<'_>, from: BlockId, to: BlockId);
}

/// Solves the analysis: the state before each block, `None` where control never comes.
pub(crate) fn solve<A: Analysis>(analysis: &A, cfg: &Cfg<'_>) -> Vec<Option<A::State>> {
    let mut states: Vec<Option<A::State>> = cfg.blocks.iter().map(|_| None).collect();
    states[cfg.entry.0] = Some(analysis.entry());
    let (order, rank) = order(cfg);
    let mut work = BTreeSet::from([0]);
    while let Some(first) = work.pop_first() {
        let block = order[first];
        let Some(state) = states[block.0].clone() else { continue };
        flow(
            analysis,
            cfg,
            block,
            state,
            |_| true,
            |next, state| {
                if join(&mut states[next.0], state) {
                    work.insert(rank[next.0]);
                }
            },
        );
    }
    states
}

/// Computes the states of a solution once more: what reaches each block if the loops around it begin as they were solved.
/// The result claims no less. Where a state names what a variable held before a loop, `solve` joins claims about that with
/// claims about what it holds in the loop, and keeps neither; here the second remains.
pub(crate) fn narrow<A: Analysis>(analysis: &A, cfg: &Cfg<'_>, solved: Vec<Option<A::State>>) -> Vec<Option<A::State>> {
    let (order, rank) = order(cfg);
    let goes_back = |from: BlockId, to: BlockId| rank[to.0] <= rank[from.0];
    let has_back_edge = |block: BlockId| successors(analysis, cfg, block).any(|next| goes_back(block, next));
    let around: Vec<BlockId> = order.iter().copied().filter(|block| has_back_edge(*block)).collect();
    if around.is_empty() {
        return solved;
    }
    let mut coming_back: Vec<Vec<A::State>> = cfg.blocks.iter().map(|_| Vec::new()).collect();
    for block in around {
        if let Some(state) = solved[block.0].clone() {
            let is_back = |next| goes_back(block, next);
            flow(analysis, cfg, block, state, is_back, |next, state| coming_back[next.0].push(state));
        }
    }
    let mut states: Vec<Option<A::State>> = cfg.blocks.iter().map(|_| None).collect();
    states[cfg.entry.0] = Some(analysis.entry());
    for block in order {
        for state in coming_back[block.0].drain(..) {
            join(&mut states[block.0], state);
        }
        if let Some(state) = states[block.0].clone() {
            let is_forward = |next| !goes_back(block, next);
            flow(analysis, cfg, block, state, is_forward, |next, state| {
                join(&mut states[next.0], state);
            });
        }
    }
    states
}

fn successors<A: Analysis>(analysis: &A, cfg: &Cfg<'_>, block: BlockId) -> impl Iterator<Item = BlockId> {
    cfg.blocks[block.0].end.successors().chain(analysis.extra_successors(block).iter().copied())
}

/// Calls `reach` with the states after the edges from a block to the successors that are `wanted`.
fn flow<A: Analysis>(
    analysis: &A,
    cfg: &Cfg<'_>,
    block: BlockId,
    mut state: A::State,
    wanted: impl Fn(BlockId) -> bool,
    mut reach: impl FnMut(BlockId, A::State),
) {
    for step in &cfg.blocks[block.0].steps {
        analysis.transfer(&mut state, step);
    }
    let mut left = Some(state);
    let mut successors = successors(analysis, cfg, block).filter(|next| wanted(*next)).peekable();
    while let Some(next) = successors.next() {
        let state = if successors.peek().is_some() { left.clone() } else { left.take() };
        let Some(mut state) = state else { break };
        analysis.edge(&mut state, cfg, block, next);
        reach(next, state);
    }
}

/// Joins a state into a block's; says whether that changed.
fn join<State: Join>(known: &mut Option<State>, state: State) -> bool {
    match known {
        Some(known) => known.join(&state),
        unreached => {
            *unreached = Some(state);
            true
        }
    }
}

/// The reachable blocks in reverse post-order, and the position of each block in it.
fn order(cfg: &Cfg<'_>) -> (Vec<BlockId>, Vec<usize>) {
    let mut seen = vec![false; cfg.blocks.len()];
    let mut order = Vec::new();
    // Each block is on the stack twice: to visit its successors, and to number it after them.
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

/// The reachable blocks where control leaves the function, each with the state at its end.
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

/// Calls the visitor with every reachable step and the state before it.
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
