//! Branches whose arms are the same for a proof, whatever decides about them: a thread that copies from one of two sources and does the same
//! with its barriers either way.
//!
//! ```text
//! if from_a[k] != 0 { bulk_copy_async(&stages[s], &a[..], &full[s]); } else { bulk_copy_async(&stages[s], &b[..], &full[s]); }
//! ```
//!
//! It knows only arms without loops, and without branches but those that are passed over, or that are such ones themselves.

use super::kernel::Refusal;
use super::walk::{Next, Program, Walker};
use crate::check::cfg::BlockId;
use crate::rings::{Op, Step};

impl Walker<'_, '_, '_, '_> {
    /// Adds the steps of one arm of a branch if those of the other one are the same, but for accesses of slots that it lacks: a proof may have
    /// more of them than the kernel. Returns the block where the arms have merged.
    pub(super) fn same_arms(&mut self, block: BlockId, [then, otherwise]: [BlockId; 2]) -> Option<BlockId> {
        let kernel = self.evaluator.kernel;
        let (_, Some(end)) = kernel.regions.get(&block)? else { return None };
        let repeats = kernel.on_arms(block).is_none_or(|on| on.repeats);
        if repeats || self.evaluator.arguments.is_some() || self.copy_to.is_some() || self.arrived.is_some() {
            return None;
        }
        let before = self.program.clone();
        let [one, other] = [then, otherwise].map(|arm| {
            let comes = self.arm(arm, *end);
            let steps = std::mem::replace(&mut self.program, before.clone());
            // What is left of an arm that is not followed to its end.
            (self.copy_to, self.arrived) = (None, None);
            self.pending.clear();
            comes.is_ok_and(|comes| comes).then_some(steps)
        });
        let (one, other) = (one?, other?);
        let from = before.steps.len();
        let (more, fewer) = if one.steps.len() >= other.steps.len() { (one, other) } else { (other, one) };
        let lacking = lacking(&more.steps[from..], &fewer.steps[from..])?;
        let is_followed = [&more, &fewer].iter().all(|program| {
            let same = |of: fn(&Program) -> usize| of(program) == of(&before);
            same(|of| of.handed_out.len()) && same(|of| of.keys.len()) && same(|of| of.meetings.len())
        });
        if !is_followed {
            return None;
        }
        self.program = more;
        self.program.allows_more |= fewer.allows_more;
        // Those need not be made.
        let arrays = lacking.into_iter().map(|slot| self.objects.slots[slot as usize].array);
        self.program.uncertain.extend(fewer.uncertain.into_iter().chain(arrays));
        Some(*end)
    }

    /// Adds the steps of an arm up to the end of a branch; says whether the thread comes there in one way.
    fn arm(&mut self, mut block: BlockId, end: BlockId) -> Result<bool, Refusal> {
        while block != end {
            if self.labels[block.0].is_some() {
                return Ok(false);
            }
            self.steps_of(block, self.kernel().whole())?;
            let Next::Goes(next) = self.next(block)? else { return Ok(false) };
            block = next;
        }
        Ok(self.copy_to.is_none() && self.arrived.is_none())
    }
}

/// The arrays of slots that some steps access beyond others that are the same; none if they are not.
fn lacking(more: &[Step], fewer: &[Step]) -> Option<Vec<u32>> {
    let mut lacking = Vec::new();
    let mut fewer = fewer.iter().peekable();
    for step in more {
        if fewer.next_if(|other| other.op == step.op).is_some() {
            continue;
        }
        match &step.op {
            Op::BeginFill { slot, .. }
            | Op::EndFill { slot, .. }
            | Op::BeginRead { slot, .. }
            | Op::EndRead { slot, .. } => lacking.push(slot.array),
            Op::Wait { .. }
            | Op::WaitToken { .. }
            | Op::Arrive { .. }
            | Op::Expect { .. }
            | Op::Copy { .. }
            | Op::Share { .. }
            | Op::Store { .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. }
            | Op::Set(_)
            | Op::NextRound
            | Op::Branch { .. }
            | Op::Jump(_)
            | Op::Leave => return None,
        }
    }
    fewer.next().is_none().then_some(lacking)
}
