//! `uninit_shared_read`: shared memory that is read, and that no thread can have written to by then.
//!
//! A write counts that may come before the read on some way, or that another thread may make on another way. Memory
//! that leaves the function's sight is taken to be written to.

use std::collections::BTreeMap;

use super::conflict::overlap;
use super::name_of;
use super::phases::side_of;
use crate::check::bits::Blocks;
use crate::check::cfg::{AccessId, BlockId, Cfg, How, Shared, StepKind};
use crate::check::uniform::control::reachable;
use crate::diag::Diags;
use crate::messages;
use crate::model::Function;

/// An access, and where it is.
struct Point {
    id: AccessId,
    shared: Shared,
    block: BlockId,
    step: usize,
}

/// ```text
/// let sums = shared_array::<f32, 32>();
/// block.sync();
/// let first = sums[0];                    // nobody has written to it
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, is_reached: impl Fn(BlockId) -> bool, diags: &mut Diags) {
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for block in (0..cfg.blocks.len()).map(BlockId).filter(|block| is_reached(*block)) {
        for (step, kind) in cfg.blocks[block.0].steps.iter().map(|step| &step.kind).enumerate() {
            let StepKind::Access(id) = *kind else { continue };
            let access = &cfg.accesses[id.0];
            let Some((_, shared @ (Shared::Array(_) | Shared::Dynamic | Shared::Slice(_) | Shared::Any))) =
                side_of(access.piece.root)
            else {
                continue;
            };
            let point = Point { id, shared, block, step };
            match access.how {
                How::Read | How::AtomicRead => reads.push(point),
                How::Write | How::Lent | How::ByHand => writes.push(point),
                // What it adds to must have been there: `store` and `swap` begin.
                How::Atomic => writes.push(point),
            }
        }
    }
    let mut ways: BTreeMap<BlockId, Blocks> = BTreeMap::new();
    let mut leads = |from: &Point, to: &Point| {
        let after = ways.entry(from.block).or_insert_with(|| {
            let next = cfg.blocks[from.block.0].end.successors().map(|next| reachable(cfg, next, None));
            next.fold(Blocks::none(cfg.blocks.len()), |all, way| all.or(&way))
        });
        after.contains(to.block) || from.block == to.block && from.step < to.step
    };
    let mut told: Vec<Shared> = Vec::new();
    for read in reads.iter().filter(|read| read.shared != Shared::Any) {
        // Dynamic memory is one: its parts may overlap.
        let of = |write: &&Point| overlap(write.shared.whole(), read.shared.whole());
        let may = writes.iter().filter(of).any(|write| leads(write, read) || !leads(read, write));
        if !may && !told.contains(&read.shared) {
            told.push(read.shared);
            let at = cfg.accesses[read.id.0].at;
            diags.push(messages::uninit_shared_read(at, &name_of(function, cfg, read.shared)));
        }
    }
}
