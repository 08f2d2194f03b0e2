//! The fences of a program's barriers: each function's template says what the function does, and here the effects of callees and of
//! callers are added. Which fence orders which effects is `phalanx_contract::fence`.

use phalanx_contract::fence::{Cause, ChosenFence, FunctionFences, MemoryEffects, PlaceEffects};

use super::order::Resolved;
use crate::report::barrier_fence::{BarrierFence, FencesByPlace};

/// What the callers of a function may have done to memory since the last arrival before it, and what they may do after it.
#[derive(Debug, Clone, Copy)]
struct Around {
    before: MemoryEffects,
    after: MemoryEffects,
}

/// A function with the effects of all functions before it, by their indices.
#[derive(Clone, Copy)]
struct Caller<'p> {
    function: &'p Resolved,
    /// Whatever each function does.
    all: &'p [MemoryEffects],
    /// What each function does without an arrival after it.
    left: &'p [MemoryEffects],
}

/// Returns the fences of each function's barriers.
pub(super) fn choose(functions: &[Resolved]) -> Vec<Vec<ChosenFence>> {
    let (mut all, mut left) = (Vec::new(), Vec::new());
    for function in functions {
        let caller = Caller { function, all: &all, left: &left };
        let fences = caller.fences();
        let own = (caller.all_of(&fences.all), caller.left_of(&fences.left));
        all.push(own.0.for_callers());
        left.push(own.1.for_callers());
    }
    let nothing = Around { before: MemoryEffects::empty(), after: MemoryEffects::empty() };
    let mut around = vec![nothing; functions.len()];
    // Callers come after their callees.
    for (index, function) in functions.iter().enumerate().rev() {
        let caller = Caller { function, all: &all, left: &left };
        let own = around[index];
        for call in caller.fences().calls {
            let since = if call.follows_entry { own.before } else { MemoryEffects::empty() };
            let Some(callee) = function.callee(call.slot) else { continue };
            let of = &mut around[callee];
            of.before |= caller.left_of(&call.before).for_callers() | since;
            of.after |= caller.all_of(&call.after) | own.after;
        }
    }
    let keeps_full = functions.last().is_some_and(|kernel| kernel.definition.template.fences.keeps_full);
    let of_each = functions.iter().zip(around).enumerate().map(|(index, (function, around))| {
        let is_called = keeps_full && index + 1 < functions.len();
        Caller { function, all: &all, left: &left }.chosen(around, is_called)
    });
    of_each.collect()
}

/// Returns the arrivals of a program with the fences that were chosen.
pub(super) fn arrivals(functions: &[Resolved], chosen: &[Vec<ChosenFence>]) -> Vec<BarrierFence> {
    let arrivals = barriers(functions, chosen).filter(|(_, barrier)| !barrier.waits);
    arrivals.map(|(file, barrier)| BarrierFence::new(file, barrier)).collect()
}

/// Returns the fences by place. The instances of a generic function share their places, and have the strongest fence there.
pub(super) fn by_place(functions: &[Resolved], chosen: &[Vec<ChosenFence>]) -> FencesByPlace {
    let mut fences = FencesByPlace::new();
    for (file, barrier) in barriers(functions, chosen) {
        let fence = fences.entry((file, barrier.line, barrier.column)).or_insert(barrier.fence);
        *fence = barrier.fence.max(*fence);
    }
    fences
}

/// All barriers, each with its file.
fn barriers<'p>(
    functions: &'p [Resolved],
    chosen: &'p [Vec<ChosenFence>],
) -> impl Iterator<Item = (&'static str, &'p ChosenFence)> {
    functions.iter().zip(chosen).flat_map(|(function, chosen)| {
        let file = function.definition.template.file;
        chosen.iter().map(move |barrier| (file, barrier))
    })
}

impl Caller<'_> {
    fn fences(&self) -> &'static FunctionFences {
        &self.function.definition.template.fences
    }

    fn together(&self, effects: &PlaceEffects, of: &[MemoryEffects]) -> MemoryEffects {
        let in_range =
            |(first, last): &(u16, u16)| self.function.callees.range(usize::from(*first)..=usize::from(*last));
        let callees = effects.calls.iter().flat_map(in_range);
        callees.fold(effects.own, |together, (_, callee)| together | of[*callee])
    }

    fn all_of(&self, effects: &PlaceEffects) -> MemoryEffects {
        self.together(effects, self.all)
    }

    fn left_of(&self, effects: &PlaceEffects) -> MemoryEffects {
        self.together(effects, self.left)
    }

    /// The causes with the effects of the functions that are called.
    fn causes(&self, causes: &[Cause], of: &[MemoryEffects]) -> Vec<Cause> {
        let with_callee = |cause: &Cause| {
            let called = cause.call.and_then(|slot| self.function.callee(slot)).map(|callee| of[callee]);
            Cause { effects: cause.effects | called.unwrap_or(MemoryEffects::empty()), ..*cause }
        };
        causes.iter().map(with_callee).collect()
    }

    /// The fences of the barriers, in a function that is called as `around` says, by a kernel of which `is_full` says whether it keeps
    /// all fences full.
    fn chosen(&self, around: Around, is_full: bool) -> Vec<ChosenFence> {
        let barriers = self.fences().barriers.iter().map(|barrier| {
            let mut before = self.causes(barrier.before, self.left);
            let of_caller = |effects, what| Cause { effects, call: None, line: barrier.line, what };
            if is_full {
                before.push(of_caller(MemoryEffects::all(), "is called by a kernel whose fences are full"));
            }
            if barrier.follows_entry {
                before.push(of_caller(around.before, "follows what a caller has accessed"));
            }
            let between = self.causes(barrier.between, self.all);
            let after = self.all_of(&barrier.after) | around.after;
            ChosenFence::inferred(
                (barrier.line, barrier.column),
                barrier.method,
                barrier.waits,
                (&before, &between, after),
            )
        });
        barriers.collect()
    }
}
