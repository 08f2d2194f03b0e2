//! Smaller versions of a kernel, so that a failure is shown by the least that still fails.

use super::tree::{Block, Kernel, Stmt};

/// The smallest kernel that one reduction after another reaches while `fails` holds.
pub(super) fn shrink(mut kernel: Kernel, fails: impl Fn(&Kernel) -> bool) -> Kernel {
    let with = |kernel: &Kernel, body: Block| Kernel { body, ..kernel.clone() };
    while let Some(smaller) =
        reductions(&kernel.body).into_iter().map(|body| with(&kernel, body)).find(|smaller| fails(smaller))
    {
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
        replace(Block::new());
        let mut stmt = block[at].clone();
        blocks(&mut stmt).into_iter().for_each(|inner| replace(inner.clone()));
        for inner in 0..blocks(&mut stmt).len() {
            for smaller in reductions(blocks(&mut stmt.clone())[inner]) {
                let mut stmt = stmt.clone();
                *blocks(&mut stmt)[inner] = smaller;
                replace(vec![stmt]);
            }
        }
    }
    out
}

/// The blocks inside of a statement, those in its values too.
fn blocks(stmt: &mut Stmt) -> Vec<&mut Block> {
    let (mut blocks, values) = stmt.parts();
    blocks.extend(values.into_iter().flat_map(|value| value.blocks()));
    blocks
}
