//! What is on the arms of a branch, found once: walks ask for it at each branch, and there are many walks.

use super::kernel::{Kernel, array_of};
use super::skipped;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{BlockId, End, MemoryStep, StepKind, Variable};
use crate::span::SpanRange;

/// What is on the arms of a branch, before they have merged.
pub(super) struct OnArms {
    /// Whether a thread may leave the kernel there, or a step concerns barriers, whatever variables count and threads hand out.
    pub(super) is_relevant: bool,
    /// The variables that are set there, or lose their value.
    pub(super) set: Vec<Variable>,
    /// The shared arrays that are accessed.
    pub(super) accessed: Vec<usize>,
    /// The first collective of a warp, or of a part of one.
    pub(super) meeting: Option<((BlockId, usize), SpanRange)>,
    /// Whether a thread may come to some block again.
    pub(super) repeats: bool,
}

impl OnArms {
    pub(super) fn of(kernel: &Kernel<'_, '_>, branch: BlockId, (arms, end): (&BlockSet, Option<BlockId>)) -> OnArms {
        let repeats = end.is_none_or(|end| kernel.repeats(branch, arms, end));
        let mut on = OnArms { is_relevant: false, set: Vec::new(), accessed: Vec::new(), meeting: None, repeats };
        for arm in arms.iter() {
            on.is_relevant |= matches!(kernel.cfg.blocks[arm.0].end, End::Leave);
            for (index, step) in kernel.acting(arm) {
                on.is_relevant |= kernel.is_relevant(&step.kind, &|_| false);
                on.set.extend(step.kind.set().map(|(variable, ..)| variable));
                on.set.extend(kernel.lost((arm, index)));
                if let StepKind::Memory(MemoryStep::Access(access)) = step.kind {
                    on.accessed.extend(array_of(&kernel.cfg.accesses[access.0].region));
                }
                if on.meeting.is_none() && skipped::meets(step) {
                    on.meeting = Some(((arm, index), step.at));
                }
            }
        }
        on.set.sort_unstable();
        on.set.dedup();
        on.accessed.sort_unstable();
        on.accessed.dedup();
        on
    }
}
