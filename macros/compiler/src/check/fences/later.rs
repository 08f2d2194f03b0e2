//! What may happen after a step: the effects of all steps that control may reach from it. Of these, only accesses to global memory
//! matter, and the calls that may make some.

use super::effects::{EffectSet, StepEffects};
use crate::check::cfg::{BasicBlock, BlockId, Cfg};

/// The effects that may follow each block.
pub(super) struct Later(Vec<EffectSet>);

impl Later {
    // bottom = nothing; join = union; backward
    pub(super) fn of(cfg: &Cfg<'_>, effects: &StepEffects) -> Later {
        let mut after: Vec<EffectSet> = cfg.blocks.iter().map(|_| effects.none()).collect();
        let in_block = |BasicBlock { steps, .. }: &BasicBlock| {
            let mut set = effects.none();
            set.extend(steps.iter().filter_map(|step| effects.number(step)));
            set
        };
        let own: Vec<EffectSet> = cfg.blocks.iter().map(in_block).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in cfg.blocks.iter().enumerate().rev() {
                let mut here = std::mem::replace(&mut after[index], effects.none());
                for BlockId(next) in block.end.successors() {
                    changed |= here.insert_all(&after[next]);
                    changed |= here.insert_all(&own[next]);
                }
                after[index] = here;
            }
        }
        Later(after)
    }

    /// The effects that may follow a step of a block.
    pub(super) fn after(
        &self,
        cfg: &Cfg<'_>,
        effects: &StepEffects,
        BlockId(block): BlockId,
        step: usize,
    ) -> EffectSet {
        let mut set = self.0[block].clone();
        let later = cfg.blocks[block].steps.iter().skip(step + 1);
        set.extend(later.filter_map(|step| effects.number(step)));
        set
    }
}
