//! The steps on the arms of a branch as walks ask for them. They are found once, because there are many walks, each of which asks at each branch.

use super::steps::{Point, array_of, meets};
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{Cfg, End, MemoryStep, Step, StepKind, Variable};
use crate::span::SpanRange;

/// The facts of the steps on the arms of a branch, before the arms have merged.
pub(super) struct OnArms {
    /// Whether a thread may leave the kernel there, or a step concerns barriers, whatever variables count and threads hand out.
    pub(super) is_relevant: bool,
    /// The variables that are set there, or lose their value.
    pub(super) set: Vec<Variable>,
    /// The shared arrays that are accessed.
    pub(super) accessed: Vec<usize>,
    /// The first collective of a warp, or of a part of one.
    pub(super) meeting: Option<(Point, SpanRange)>,
    /// Whether a thread may come to some block again.
    pub(super) repeats: bool,
}

impl OnArms {
    /// Returns what is on some arms, whose steps that do more than compute are these, each with the fields that lose their value.
    pub(super) fn of<'s>(
        cfg: &Cfg<'_>,
        (arms, repeats): (&BlockSet, bool),
        steps: impl Iterator<Item = (Point, &'s Step, &'s [Variable])>,
        is_relevant: impl Fn(&StepKind) -> bool,
    ) -> OnArms {
        let leaves = arms.iter().any(|arm| matches!(cfg.blocks[arm.0].end, End::Leave));
        let mut on = OnArms { is_relevant: leaves, set: Vec::new(), accessed: Vec::new(), meeting: None, repeats };
        for (point, step, lost) in steps {
            on.is_relevant |= is_relevant(&step.kind);
            on.set.extend(step.kind.set().map(|(variable, ..)| variable));
            on.set.extend(lost);
            if let StepKind::Memory(MemoryStep::Access(access)) = step.kind {
                on.accessed.extend(array_of(&cfg.accesses[access.0].region));
            }
            if on.meeting.is_none() && meets(step) {
                on.meeting = Some((point, step.at));
            }
        }
        on.set.sort_unstable();
        on.set.dedup();
        on.accessed.sort_unstable();
        on.accessed.dedup();
        on
    }
}
