//! Smaller versions of a kernel, so that a failure is shown by the least that still fails.

use super::tree::{Block, Stmt};

/// The smallest kernel that one reduction after another reaches while `fails` holds.
pub(super) fn shrink(mut kernel: Block, fails: impl Fn(&Block) -> bool) -> Block {
    while let Some(smaller) = reductions(&kernel).into_iter().find(|smaller| fails(smaller)) {
        kernel = smaller;
    }
    kernel
}

/// Each version that has one statement less, or one statement's insides in its place.
fn reductions(block: &Block) -> Vec<Block> {
    let mut out = Vec::new();
    for at in 0..block.len() {
        let mut replace = |by: Block| {
            let mut smaller = block.clone();
            smaller.splice(at..=at, by);
            out.push(smaller);
        };
        if matches!(block[at], Stmt::Probe(_)) {
            continue;
        }
        replace(Block::new());
        let mut stmt = block[at].clone();
        stmt.blocks().into_iter().for_each(|inner| replace(inner.clone()));
        for inner in 0..stmt.blocks().len() {
            for smaller in reductions(stmt.clone().blocks()[inner]) {
                let mut stmt = stmt.clone();
                *stmt.blocks()[inner] = smaller;
                replace(vec![stmt]);
            }
        }
    }
    out
}
