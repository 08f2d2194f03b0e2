//! What may happen after a step: the effects of all steps that control may reach from it. Of these, only accesses to global memory
//! matter, and the calls that may make some.

#![warn(clippy::wildcard_enum_match_arm)]

use super::Effects;
use crate::check::cfg::{BlockId, Cfg};

/// The effects that may follow each block.
pub(super) struct Later(Vec<Effects>);

impl Later {
    // bottom = nothing; join = union; backward
    pub(super) fn of(cfg: &Cfg<'_>) -> Later {
        let mut after: Vec<Effects> = cfg.blocks.iter().map(|_| Effects::default()).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in cfg.blocks.iter().enumerate().rev() {
                let mut here = std::mem::take(&mut after[index]);
                for next in block.end.successors() {
                    changed |= here.join(&after[next.0]);
                    for step in &cfg.blocks[next.0].steps {
                        changed |= here.add_step(cfg, step);
                    }
                }
                after[index] = here;
            }
        }
        Later(after)
    }

    /// The effects that may follow a step of a block.
    pub(super) fn after(&self, cfg: &Cfg<'_>, BlockId(block): BlockId, step: usize) -> Effects {
        let mut effects = self.0[block].clone();
        for later in cfg.blocks[block].steps.iter().skip(step + 1) {
            effects.add_step(cfg, later);
        }
        effects
    }
}
