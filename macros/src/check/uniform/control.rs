//! Which branches decide whether control comes to a block, and where the ways from a branch meet again. Facts of the graph
//! alone: what the branches test is not looked at.
//!
//! Control dependence is that of Ferrante, Ottenstein and Warren (1987), by post-dominators; where ways meet is where
//! a variable that was set on one of them has a value that depends on the branch, inside of loops and behind them. A
//! thread that fails ends the launch, so no way leads from there to anywhere.

use std::collections::BTreeSet;

use crate::check::cfg::{BlockId, Cfg, End, Place, StepKind};

pub(super) struct Control {
    /// For each block, the blocks whose branches decide whether control comes to it, at once or through others.
    pub(super) deciders: Vec<BTreeSet<BlockId>>,
    /// For each block, the branches whose ways meet at its start.
    pub(super) merges: Vec<Vec<BlockId>>,
    /// For each branch, the places that are set before its ways have met.
    pub(super) assigned: Vec<BTreeSet<Place>>,
    /// For each block, what control can come to from its start.
    reach: Vec<Vec<bool>>,
}

impl Control {
    pub(super) fn of(cfg: &Cfg<'_>) -> Control {
        let after = post_dominators(cfg);
        let reach: Vec<Vec<bool>> = (0..cfg.blocks.len()).map(|block| reachable(cfg, BlockId(block), None)).collect();
        let mut control = Control {
            deciders: deciders(cfg, &after, &reach),
            merges: vec![Vec::new(); cfg.blocks.len()],
            assigned: vec![BTreeSet::new(); cfg.blocks.len()],
            reach,
        };
        let mut entries = vec![0; cfg.blocks.len()];
        for next in cfg.blocks.iter().flat_map(|block| block.end.successors()) {
            entries[next.0] += 1;
        }
        for branch in branches(cfg) {
            control.meet(cfg, branch, nearest(&after, branch), &entries);
        }
        control
    }

    /// What is set on the ways from `branch` to `end`, where all of them have met, and where some meet before.
    fn meet(&mut self, cfg: &Cfg<'_>, branch: BlockId, end: Option<BlockId>, entries: &[usize]) {
        let ways: Vec<Vec<bool>> =
            cfg.blocks[branch.0].end.successors().map(|next| reachable(cfg, next, end)).collect();
        let between = (0..cfg.blocks.len()).filter(|block| Some(BlockId(*block)) != end);
        for block in between {
            let met = ways.iter().filter(|way| way[block]).count();
            if met > 0 {
                self.assigned[branch.0].extend(cfg.blocks[block].steps.iter().filter_map(|step| match step.kind {
                    StepKind::Set { place, .. } => Some(place),
                    _ => None,
                }));
            }
            if met == ways.len() && entries[block] > 1 {
                self.merges[block].push(branch);
            }
        }
        if let Some(end) = end {
            self.merges[end.0].push(branch);
        }
    }

    /// The side of `branch` that control has to take to come to `block`, and the one from which it does not, if there is
    /// one of each.
    pub(super) fn away(&self, cfg: &Cfg<'_>, branch: BlockId, block: BlockId) -> Option<BlockId> {
        cfg.blocks[branch.0].end.successors().find(|next| !self.reach[next.0][block.0])
    }

    /// The ends of the function to which control comes from the start of `block`.
    pub(super) fn exits(&self, cfg: &Cfg<'_>, block: BlockId) -> impl Iterator<Item = BlockId> {
        let leaves = |block: &usize| matches!(cfg.blocks[*block].end, End::Leave);
        let reach = &self.reach[block.0];
        (0..reach.len()).filter(|block| reach[*block]).filter(leaves).map(BlockId).collect::<Vec<_>>().into_iter()
    }
}

/// Blocks that end in a choice.
fn branches<'c>(cfg: &'c Cfg<'_>) -> impl Iterator<Item = BlockId> + 'c {
    let chooses = |block: &usize| {
        let mut next = cfg.blocks[*block].end.successors();
        matches!((next.next(), next.next()), (Some(first), Some(second)) if first != second)
    };
    (0..cfg.blocks.len()).filter(chooses).map(BlockId)
}

/// What control can come to from the start of `from`, without passing `end`.
fn reachable(cfg: &Cfg<'_>, from: BlockId, end: Option<BlockId>) -> Vec<bool> {
    let mut reached = vec![false; cfg.blocks.len()];
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        if Some(block) != end && !std::mem::replace(&mut reached[block.0], true) {
            work.extend(cfg.blocks[block.0].end.successors());
        }
    }
    reached
}

/// For each block, the blocks that control passes on every way from it to the function's end, itself among them. A
/// block from which no way leads there has all of them.
fn post_dominators(cfg: &Cfg<'_>) -> Vec<Vec<bool>> {
    let count = cfg.blocks.len();
    let mut after = vec![vec![true; count]; count];
    for (block, row) in after.iter_mut().enumerate() {
        if matches!(cfg.blocks[block].end, End::Leave) {
            *row = vec![false; count];
            row[block] = true;
        }
    }
    loop {
        let mut changed = false;
        for block in (0..count).rev() {
            for next in cfg.blocks[block].end.successors().filter(|next| next.0 != block) {
                for other in (0..count).filter(|other| *other != block) {
                    if after[block][other] && !after[next.0][other] {
                        after[block][other] = false;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            return after;
        }
    }
}

/// The first block that all ways from the branch's two sides pass.
fn nearest(after: &[Vec<bool>], branch: BlockId) -> Option<BlockId> {
    if after[branch.0].iter().all(|passed| *passed) {
        return None;
    }
    let strictly = (0..after.len()).filter(|other| *other != branch.0 && after[branch.0][*other]);
    strictly.max_by_key(|other| after[*other].iter().filter(|passed| **passed).count()).map(BlockId)
}

fn deciders(cfg: &Cfg<'_>, after: &[Vec<bool>], reach: &[Vec<bool>]) -> Vec<BTreeSet<BlockId>> {
    let mut deciders = vec![BTreeSet::new(); cfg.blocks.len()];
    for branch in branches(cfg) {
        for next in cfg.blocks[branch.0].end.successors() {
            for (block, deciders) in deciders.iter_mut().enumerate() {
                let always = after[branch.0][block] && block != branch.0;
                if reach[next.0][block] && after[next.0][block] && !always {
                    deciders.insert(branch);
                }
            }
        }
    }
    loop {
        let mut changed = false;
        for block in 0..deciders.len() {
            let further: BTreeSet<BlockId> =
                deciders[block].iter().flat_map(|branch| deciders[branch.0].iter().copied()).collect();
            let before = deciders[block].len();
            deciders[block].extend(further);
            changed |= deciders[block].len() != before;
        }
        if !changed {
            return deciders;
        }
    }
}
