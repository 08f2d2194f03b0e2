//! The phase barriers of a kernel and the shared arrays that they guard, as arrays of the skeleton.

use std::collections::{BTreeMap, BTreeSet};

use super::counters::Counters;
use super::kernel::{DYNAMIC, Kernel, Refusal, array_of};
use super::slots::{Slot, TILE, length, slots};
use super::value::Evaluator;
use crate::check::cfg::{Access, AccessKind, BlockId, Completion, CopyStep, Shared, StepKind};
use crate::model::barrier::PhaseAction;
use crate::rings::BarrierArray;
use crate::span::SpanRange;

/// The barriers and slots of a kernel.
#[derive(Debug, Clone)]
pub(super) struct Objects {
    /// The arrays of barriers, by their index in `Function::shared`, with the place of an `init`.
    pub(super) barriers: Vec<(usize, BarrierArray, SpanRange)>,
    /// The shared arrays whose accesses are followed, and those of which only the copies into them are.
    pub(super) slots: Vec<Slot>,
}

/// An `init`: the number of arrivals, and for which elements of the array it may be, if that is known: from one in steps to another.
struct Counted {
    count: u32,
    elements: Option<(i64, i64, i64)>,
    at: SpanRange,
}

/// Returns so many barriers, each of which expects what the `init`s say that may be of it. Where not all of them say the same, it has to be
/// known of each for which barriers it is.
fn barrier_array(stages: u32, counted: &[Counted]) -> Result<BarrierArray, Refusal> {
    if let [first, others @ ..] = counted
        && others.iter().all(|other| other.count == first.count)
    {
        return Ok(BarrierArray::new(stages, first.count));
    }
    let is_of = |of: &Counted, index: u32| {
        let index = i64::from(index);
        of.elements.is_none_or(|(first, step, last)| {
            (first..=last).contains(&index) && (first == i64::MIN || (index - first) % step == 0)
        })
    };
    let last = counted.last();
    let count = |index: u32| {
        let counts: BTreeSet<u32> = counted.iter().filter(|of| is_of(of, index)).map(|of| of.count).collect();
        match (&counts.into_iter().collect::<Vec<_>>()[..], last) {
            ([count], _) => Ok(*count),
            (_, Some(last)) => {
                Err(Refusal::new(last.at, "which of the barriers expect which number of arrivals is not known"))
            }
            (_, None) => Ok(0),
        }
    };
    Ok(BarrierArray { counts: (0..stages).map(count).collect::<Result<_, _>>()? })
}

impl Objects {
    /// Returns a number of bytes that a barrier of this array expects, in words. Where the sizes of the tiles or parts that its copies
    /// write are not known, those are counted.
    pub(super) fn expected(&self, kernel: &Kernel<'_, '_>, barrier: u32, number: i64) -> String {
        let array = self.barriers.get(barrier as usize).map(|(array, ..)| Completion::Barrier(Shared::Array(*array)));
        let copied = kernel.cfg.copies.iter().filter_map(|copy| match copy {
            CopyStep::Begin { writes, completion, .. } if Some(*completion) == array => {
                self.copied(array_of(writes.as_ref()?)?)
            }
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => None,
        });
        let copied: Vec<&Slot> = copied.map(|(_, slot)| slot).collect();
        let unit = match () {
            () if copied.iter().any(|slot| slot.together) => "part",
            () if copied.iter().any(|slot| slot.bytes == TILE) => "tile",
            () => "byte",
        };
        let several = if number == 1 { "" } else { "s" };
        format!("{number} {unit}{several}")
    }

    pub(super) fn of(kernel: &Kernel<'_, '_>) -> Result<Objects, Refusal> {
        let counters = Counters::default();
        let evaluator =
            Evaluator { kernel, counters: &counters, arguments: None, thread: 0, after: None, inlines: false };
        let mut counts: BTreeMap<usize, Vec<Counted>> = BTreeMap::new();
        let mut used: BTreeMap<usize, SpanRange> = BTreeMap::new();
        for step in kernel.cfg.blocks.iter().enumerate().flat_map(|(block, content)| {
            let calls = content.steps.iter().enumerate();
            calls.filter_map(move |(index, step)| {
                if let StepKind::BarrierCall(call) = step.kind { Some(((block, index), call)) } else { None }
            })
        }) {
            let ((block, index), call) = step;
            let call = &kernel.cfg.barrier_calls[call.0];
            let array = array_of(&call.region)
                .ok_or_else(|| Refusal::new(call.at, "the text does not show which barrier this is"))?;
            used.entry(array).or_insert(call.at);
            match call.method.action {
                PhaseAction::Init | PhaseAction::InitCollective => {
                    let point = (BlockId(block), index);
                    let count = call.operands.last().and_then(|count| evaluator.value(*count, point).known());
                    let count = count.and_then(|count| u32::try_from(count).ok()).ok_or_else(|| {
                        Refusal::new(call.at, "the number of arrivals is not known where the kernel is compiled")
                    })?;
                    let elements = match call.region.path[..] {
                        [select] => evaluator.indexes(select, point),
                        [] => Some((i64::MIN, 1, i64::MAX)),
                        _ => None,
                    };
                    counts.entry(array).or_default().push(Counted { count, elements, at: call.at });
                }
                PhaseAction::Invalidate => {
                    return Err(Refusal::new(call.at, "the barrier is invalidated, and may be initialized anew"));
                }
                PhaseAction::Arrive
                | PhaseAction::ArriveN
                | PhaseAction::ArriveAndDrop
                | PhaseAction::Wait
                | PhaseAction::WaitParity
                | PhaseAction::ArriveAndWait
                | PhaseAction::TryWait
                | PhaseAction::ExpectTx
                | PhaseAction::Copy => {}
            }
        }
        let by_hand = |access: &&Access| access.kind == AccessKind::Opaque;
        for access in kernel.cfg.accesses.iter().filter(by_hand) {
            if array_of(&access.region).is_some_and(|array| used.contains_key(&array)) {
                return Err(Refusal::new(access.at, "what `cuda!` does to the barrier is not followed"));
            }
        }
        for call in kernel.cfg.calls.iter().filter(|call| kernel.pipelines.called(call).is_some()) {
            for array in call.barriers.iter().filter_map(|(_, region)| array_of(region)) {
                used.entry(array).or_insert(call.at);
            }
        }
        let barriers = used.into_iter().map(|(array, at)| {
            let counted = counts.get(&array).ok_or_else(|| Refusal::new(at, "no `init` is seen"))?;
            let stages = length(kernel, array)
                .ok_or_else(|| Refusal::new(at, "the number of barriers is not known where the kernel is compiled"))?;
            let init = counted.last().map_or(at, |counted| counted.at);
            Ok((array, barrier_array(stages, counted)?, init))
        });
        let barriers: Vec<_> = barriers.collect::<Result<_, Refusal>>()?;
        let slots = slots(kernel, &barriers.iter().map(|(array, ..)| *array).collect());
        Ok(Objects { barriers, slots })
    }

    pub(super) fn barrier(&self, array: usize) -> Option<u32> {
        let at = self.barriers.iter().position(|(known, ..)| *known == array)?;
        u32::try_from(at).ok()
    }

    /// Whether a bulk copy to global memory reads a slot.
    pub(super) fn are_stored(&self, kernel: &Kernel<'_, '_>, by: Completion) -> bool {
        self.read_by(kernel, by).any(|slots| slots > 0)
    }

    /// The number of reads of slots that may go on while as many of the last copies to global memory, or products, do: if each of those
    /// that complete in this way reads a slot.
    pub(super) fn reads_of_last(&self, kernel: &Kernel<'_, '_>, by: Completion, last: i64) -> Option<i64> {
        // Nothing goes on then, however much each of them reads.
        if last == 0 {
            return Some(0);
        }
        let is_read = self.read_by(kernel, by).all(|slots| slots > 0);
        last.checked_mul(i64::try_from(self.most_reads(kernel, by)).ok()?).filter(|_| is_read)
    }

    /// The most slots that one of the copies to global memory, or products, reads that complete in this way.
    pub(super) fn most_reads(&self, kernel: &Kernel<'_, '_>, by: Completion) -> usize {
        self.read_by(kernel, by).max().unwrap_or(0)
    }

    /// The numbers of slots that the copies read, or the products, that complete in one way.
    fn read_by<'k>(&'k self, kernel: &'k Kernel<'_, '_>, by: Completion) -> impl Iterator<Item = usize> + 'k {
        kernel.cfg.copies.iter().filter_map(move |copy| match copy {
            CopyStep::Begin { reads, completion, .. } if *completion == by => {
                Some(reads.iter().filter_map(array_of).filter(|array| self.slot(*array).is_some()).count())
            }
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => None,
        })
    }

    /// The array whose accesses are followed.
    pub(super) fn slot(&self, array: usize) -> Option<(u32, &Slot)> {
        self.copied(array).filter(|(_, slot)| slot.followed)
    }

    /// The array that copies write, whether or not its accesses are followed.
    pub(super) fn copied(&self, array: usize) -> Option<(u32, &Slot)> {
        let at = self.slots.iter().position(|slot| slot.array == array)?;
        Some((u32::try_from(at).ok()?, &self.slots[at]))
    }

    /// The arrays whose accesses are followed.
    pub(super) fn followed(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.followed)
    }

    /// Follows no accesses of dynamic shared memory any more if only the launch says how large it is; says whether it did so until now.
    /// Then an index may be out of the range that is followed.
    pub(super) fn leave_out_launched(&mut self, kernel: &Kernel<'_, '_>) -> bool {
        kernel.function.options.shared_bytes.is_none() && self.leave_out(|slot| slot.array == DYNAMIC)
    }

    /// Follows no accesses of such arrays any more; says whether there were any.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(&Slot) -> bool) -> bool {
        let mut left_out = self.slots.iter_mut().filter(|slot| slot.followed && is_left_out(slot)).peekable();
        let any = left_out.peek().is_some();
        left_out.for_each(|slot| (slot.followed, slot.whole) = (false, false));
        any
    }
}
