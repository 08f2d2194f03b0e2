//! The search for a proof: one for all arguments, whose skeleton has every run of the kernel. What keeps an array from being proved leaves it out.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::assemble::{Assembled, assemble};
use super::classes::Classes;
use super::given::{Arguments, Elements};
use super::handed::Handed;
use super::kernel::{Kernel, Refusal};
use super::objects::Objects;
use super::walk::Sites;
use super::warps::Aim;
use super::{Known, report};
use crate::rings::{self, CountFault, Fault, Op, Verdict};

/// Looks for a proof; without one, once more with loops from small numbers on as the rest of loops from 0 on.
fn prove_from_zero(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    limit: usize,
) -> Result<(Known, usize, bool), (Refusal, bool)> {
    let found = prove(kernel, objects, classes, limit);
    if found.is_ok() || !kernel.has_later_loops() {
        return found;
    }
    kernel.from_zero.set(true);
    let from_zero = prove(kernel, objects, classes, limit);
    kernel.from_zero.set(false);
    if from_zero.is_ok() { from_zero } else { found }
}

/// Looks for a proof for all arguments; without one, once more as if nothing were known of them.
pub(super) fn prove_by_tests(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    limit: usize,
) -> Result<(Known, usize, bool), (Refusal, bool)> {
    let found = prove_from_zero(kernel, objects, classes, limit);
    if found.is_ok() || !kernel.tests.ignore(true) {
        kernel.tests.ignore(false);
        return found;
    }
    let otherwise = prove(kernel, objects, classes, limit);
    kernel.tests.ignore(false);
    otherwise.or(found)
}

/// Looks for a proof with the exact number of iterations of loops that are otherwise taken to be of an unknown length.
pub(super) fn prove_long_loops(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    limit: usize,
) -> Option<(Known, usize, bool)> {
    let found = if kernel.long_loops.follow(true) { prove(kernel, objects, classes, limit).ok() } else { None };
    kernel.long_loops.follow(false);
    found
}

/// Looks for a proof in which threads decide alike about what one of them publishes.
pub(super) fn prove_by_turns(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    limit: usize,
) -> Option<(Known, usize, bool)> {
    let handed = Handed::of(kernel, objects, classes)?;
    // To which block it publishes first, a launch says; `turns` asks for more where that matters.
    Handed::hand_out(Some(&handed), kernel, objects, &Arguments::new(2, Elements::Same));
    let handed = kernel.handed.replace(None)?;
    let published = kernel.turns_of(&handed);
    let published = published?;
    let arrays = published.arrays.clone();
    kernel.handed.replace(Some(Rc::new(Handed::of_turns(published))));
    let found = prove(kernel, objects, classes, limit);
    kernel.handed.replace(None);
    let (known, number, may_be_stale) = found.ok()?;
    // It is the proof of what is read that makes the decisions the same.
    let Known::Proved { slots, .. } = &known else { return None };
    arrays.is_subset(slots).then_some((known, number, may_be_stale))
}

/// Looks for a proof for all arguments, and says for how many arrays it is one and whether a parity may be stale nevertheless. Without
/// one, says whether an index may be out of range.
fn prove(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    classes: &Classes,
    limit: usize,
) -> Result<(Known, usize, bool), (Refusal, bool)> {
    let mut are_filled = false;
    let found = prove_as(kernel, objects.clone(), classes, (limit, Aim::Proof), &mut are_filled);
    if !are_filled {
        return found;
    }
    let of_fills = prove_as(kernel, objects.clone(), classes, (limit, Aim::ProofOfFills), &mut are_filled);
    match (&found, &of_fills) {
        (Ok((_, arrays, _)), Ok((_, more, _))) if more > arrays => of_fills,
        (Err(_), Ok(_)) => of_fills,
        _ => found,
    }
}

/// Looks for a proof, and says whether it leaves out arrays that warps fill.
fn prove_as(
    kernel: &Kernel<'_, '_>,
    mut objects: Objects,
    classes: &Classes,
    (limit, aim): (usize, Aim),
    are_filled: &mut bool,
) -> Result<(Known, usize, bool), (Refusal, bool)> {
    // What keeps an array from being proved, which a copy to it then keeps from being followed.
    let mut left_out = None;
    loop {
        let sites = Sites::default();
        let (assembled, leaves_out) = assemble_most(kernel, &mut objects, classes, &sites, (None, aim))
            .map_err(|refusal| (left_out.take().unwrap_or(refusal), false))?;
        *are_filled |= leaves_out;
        match rings::prove(&assembled.skeleton, limit) {
            Verdict::Proved { states } => {
                // What a copy writes has to be followed.
                if let Some(at) = copied_unfollowed(&objects, &assembled) {
                    let at = sites.at(at).unwrap_or(kernel.whole());
                    let refusal = Refusal::new(at, "the accesses of what the copy writes are not followed");
                    return Err((left_out.take().unwrap_or(refusal), false));
                }
                let name = |array: usize| kernel.name_of(array);
                // What threads change in place is not proved to be theirs then.
                let slots: BTreeSet<usize> =
                    objects.followed().filter(|slot| !slot.in_place).map(|slot| slot.array).collect();
                let number = slots.len();
                let proved = Known::Proved {
                    barriers: objects.barriers.iter().map(|(array, ..)| name(*array)).collect(),
                    arrays: objects
                        .followed()
                        .map(|slot| slot.array)
                        .filter(|array| slots.contains(array))
                        .map(name)
                        .collect(),
                    left_out: objects.slots.iter().any(|slot| !slots.contains(&slot.array)),
                    slots,
                    states,
                };
                return Ok((proved, number, rings::may_be_stale(&assembled.skeleton)));
            }
            Verdict::NotProved(reason) => return Err((report::reason(kernel, &objects, &sites, reason), false)),
            Verdict::Fault { fault, trace } => match report::slot_of(&fault) {
                // An access that need not be a conflict keeps its array from being proved, and no other.
                Some(slot) => {
                    let refusal = report::unconfirmed(&sites, kernel.whole(), &fault, &trace);
                    let array = objects.slots[slot as usize].array;
                    if objects.gather(kernel, array) {
                        continue;
                    }
                    if !objects.leave_out(|slot| slot.array == array) {
                        return Err((refusal, false));
                    }
                    left_out = Some(refusal);
                }
                None => {
                    let is_of_index = matches!(fault, Fault::Count(CountFault::Index { .. }));
                    let refusal = report::unconfirmed(&sites, kernel.whole(), &fault, &trace);
                    if !is_of_index || !objects.leave_out_launched(kernel) {
                        return Err((refusal, is_of_index));
                    }
                    left_out = Some(refusal);
                }
            },
        }
    }
}

/// A copy into an array whose accesses are not followed.
fn copied_unfollowed(objects: &Objects, assembled: &Assembled) -> Option<u32> {
    let mut steps = assembled.skeleton.roles.iter().flat_map(|role| &role.steps);
    let is_unfollowed = |array: u32| objects.slots.get(array as usize).is_some_and(|slot| !slot.followed);
    let copy = steps.find(|step| matches!(&step.op, Op::Copy { slot, .. } if is_unfollowed(slot.array)));
    copy.map(|step| step.id)
}

/// Makes a skeleton with as many of the slots as it can have. Says whether it leaves out arrays that warps fill.
pub(super) fn assemble_most(
    kernel: &Kernel<'_, '_>,
    objects: &mut Objects,
    classes: &Classes,
    sites: &Sites,
    (arguments, aim): (Option<&Arguments>, Aim),
) -> Result<(Assembled, bool), Refusal> {
    let mut leaves_out = false;
    loop {
        match assemble(kernel, (objects, classes), sites, (arguments, aim)) {
            // For a fault, it is enough that the runs in which the lanes of a warp stay together are runs of the kernel.
            Ok(assembled) if aim == Aim::Fault || assembled.filled_by_warps.is_empty() => {
                return Ok((assembled, leaves_out));
            }
            Ok(assembled) => {
                leaves_out |= objects.leave_out(|slot| assembled.filled_by_warps.contains(&slot.array));
            }
            Err(refusal) => {
                // Without accesses of its slots, the barriers alone may be proved.
                let mut bare = objects.clone();
                let any = bare.leave_out(|_| true);
                if !any || assemble(kernel, (&bare, classes), sites, (arguments, aim)).is_err() {
                    return Err(refusal);
                }
                let last = objects.followed().last().map(|slot| slot.array);
                objects.leave_out(|slot| Some(slot.array) == last);
            }
        }
    }
}
