//! Faults of skeletons as messages, and reasons why there is neither a fault nor a proof.

use super::assemble::Assembled;
use super::copies::PRODUCTS;
use super::given::{Arguments, Elements, Given};
use super::kernel::{Kernel, Refusal, WARP};
use super::launch::Depends;
use super::mend::{self, Lack};
use super::objects::Objects;
use super::slots::Slot;
use super::walk::Sites;
use super::warps::Unit;
use crate::diag::Diag;
use crate::messages::rings as messages;
use crate::rings::{
    BarrierState, CountFault, Event, EventAction, Fault, Object, Op, Reason, Stale, Threads, UndrainedFault, Use,
    Waiting,
};
use crate::span::SpanRange;

/// Returns the array of slots that a fault is about.
pub(super) fn slot_of(fault: &Fault) -> Option<u32> {
    match fault {
        Fault::Overwrite { slot, .. } | Fault::Read { slot, .. } => Some(slot.array),
        Fault::Undrained(UndrainedFault::Copy { slot } | UndrainedFault::Store { slot, .. }) => Some(slot.array),
        Fault::Deadlock { .. }
        | Fault::Count(_)
        | Fault::Overtaken { .. }
        | Fault::Undrained(UndrainedFault::Arrival { .. }) => None,
    }
}

/// Returns why a fault that the kernel need not have keeps it from being proved.
pub(super) fn unconfirmed(sites: &Sites, whole: SpanRange, fault: &Fault, trace: &[Event]) -> Refusal {
    let last = trace.iter().rev().find_map(|event| match event.action {
        EventAction::Step { step, .. } => sites.at(step),
        EventAction::Lands { .. } | EventAction::Stored { .. } => None,
    });
    let family = match fault {
        Fault::Deadlock { .. } => "a deadlock",
        Fault::Overwrite { .. } => "an overwritten slot",
        Fault::Read { .. } => "a read of an unfilled slot",
        Fault::Count(_) => "an arrival too many, or an index out of range",
        Fault::Overtaken { .. } => "a wait that is overtaken",
        Fault::Undrained(_) => "an exit that is too early",
    };
    Refusal::new(last.unwrap_or(whole), format!("{family} is not excluded"))
}

/// Returns why a skeleton is neither proved nor faulty.
pub(super) fn reason(kernel: &Kernel<'_, '_>, objects: &Objects, sites: &Sites, reason: Reason) -> Refusal {
    let whole = kernel.whole();
    let at = |step: u32| sites.at(step).unwrap_or(whole);
    match reason {
        Reason::Data { step } => Refusal::new(at(step), "the step depends on data"),
        Reason::Arithmetic { step } => Refusal::new(at(step), "an index, a parity or a number is not followed"),
        Reason::Counters { .. } => Refusal::new(whole, "a role's counters take too many values"),
        Reason::Lead { .. } => Refusal::new(whole, "nothing bounds how far some threads run ahead of the others"),
        Reason::Stores { .. } => Refusal::new(whole, "nothing bounds the bulk copies in flight"),
        Reason::FreeDecision { step } => Refusal::new(at(step), "threads of one role decide for themselves"),
        Reason::ManyThreads { step } => Refusal::new(at(step), "several threads copy or expect bytes alike"),
        Reason::Arrivals { barrier } => {
            let at = objects.barriers.get(barrier as usize).map_or(whole, |(.., at)| *at);
            Refusal::new(at, "the phases are not completed by the same threads each time")
        }
        Reason::Unpaired { step } => Refusal::new(at(step), "an access does not end"),
        Reason::Size => Refusal::new(whole, "there are too many barriers or threads"),
        Reason::States => Refusal::new(whole, "there are too many states"),
    }
}

/// Returns the arguments on which a kernel's rings depend, each with its value in a certain launch.
pub(super) fn arguments(kernel: &Kernel<'_, '_>, depends: &Depends, arguments: &Arguments) -> Vec<(String, String)> {
    let Arguments { number, elements, clusters, cluster, .. } = *arguments;
    let mut named: Vec<(String, String)> = Vec::new();
    for node in &depends.given {
        let (Some(given), Some(name)) = (kernel.given(*node), kernel.name_of_given(*node)) else { continue };
        let value = match given {
            Given::Number { index: Some(_), .. } if elements == Elements::Alternating => "0 and 1 in turn".to_string(),
            Given::Number { most: 1, .. } => (number > 0 && elements != Elements::Alternating).to_string(),
            Given::Number { index: Some(_), .. } if elements == Elements::Ascending => {
                format!("0, {number}, {} and so on", number * 2)
            }
            Given::Number { .. } | Given::Length => {
                kernel.number_of(*node).map_or(number, |number| arguments.value(number)).to_string()
            }
        };
        if named.iter().all(|(known, _)| *known != name) {
            named.push((name, value));
        }
    }
    for (number, value) in arguments.others() {
        if let Some(name) = kernel.name_of_number(number).filter(|name| named.iter().all(|(known, _)| known != name)) {
            named.push((name, value.to_string()));
        }
    }
    if clusters > 1 {
        named.push(("this_grid().num_blocks()".to_string(), (clusters * i64::from(kernel.blocks)).to_string()));
    }
    if cluster > 0 {
        let which = if kernel.blocks == 1 { "this_grid().block_rank()" } else { "this_grid().cluster_rank()" };
        named.push((which.to_string(), cluster.to_string()));
    }
    named
}

/// The words of a fault.
struct Words<'w, 'a, 'f> {
    kernel: &'w Kernel<'a, 'f>,
    objects: &'w Objects,
    sites: &'w Sites,
    assembled: &'w Assembled,
}

/// Makes the message of a fault.
pub(super) fn fault(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    sites: &Sites,
    assembled: &Assembled,
    fault: &Fault,
    trace: &[Event],
) -> Diag {
    let words = Words { kernel, objects, sites, assembled };
    let whole = kernel.whole();
    let last = trace.iter().rev().find_map(|event| words.place(event)).unwrap_or(whole);
    let diag = match fault {
        Fault::Deadlock { waiting } => {
            let waits = waiting.iter().map(|wait| {
                let at = sites.at(wait.step).unwrap_or(whole);
                (at, words.does(words.op(wait.threads, wait.index), wait.threads, (wait.barrier, None)))
            });
            let lacking = mend::lacking(assembled, waiting, trace);
            let at = lacking.map(|(wait, ..)| wait).or(waiting.first()).and_then(|wait| sites.at(wait.step));
            let diag = messages::deadlock(at.unwrap_or(last));
            let diag = match lacking {
                Some((_, state, Lack::Fewer { came, expected })) => {
                    let init = words.init(state.barrier);
                    messages::fewer_arrivals(diag, &words.barrier(state.barrier), (came, expected), init)
                }
                Some((_, state, Lack::All)) => messages::no_arrival(diag, &words.array_of(state.barrier)),
                None if waiting.iter().any(lacks_bytes_alone) => messages::wrong_bytes(diag),
                None => messages::wrong_parity(diag),
            };
            return words.with_trace(diag, trace, waits.collect());
        }
        Fault::Overwrite { threads, slot, by } => {
            let by_lane = *by == Use::Read && mend::reads_behind_a_lane(assembled, *slot, trace);
            let diag = messages::overwrite(last, &words.slot(*slot), words.who(*threads), *by == Use::Fill);
            let is_stored = assembled.guards.get(slot.array as usize).is_some_and(|guard| guard.stored);
            let is_sent = |op: &Op| matches!(op, Op::Copy { from: Some(from), .. } if from.array == slot.array);
            let mut steps = assembled.skeleton.roles.iter().flat_map(|role| &role.steps);
            if let Some(begun) = words.product_of(*slot, trace).filter(|_| *by == Use::Read) {
                return words.with_trace(messages::still_multiplied(diag, begun), trace, Vec::new());
            }
            match () {
                () if is_stored && steps.any(|step| is_sent(&step.op)) => messages::still_sent(diag),
                () if is_stored => messages::still_stored(diag),
                () if by_lane => messages::not_met(diag),
                () => diag,
            }
        }
        Fault::Read { threads, slot, .. } => {
            let message = match words.does_any(trace, |op, of| {
                of == *threads && matches!(op, Op::Wait { .. } | Op::WaitToken { .. } | Op::Sync { .. })
            }) {
                false if mend::may_wait_by_a_lane(assembled, *threads) => messages::no_wait_of_all,
                false => messages::no_wait,
                true if words.copies_unexpected(trace) => messages::no_bytes,
                true => messages::read,
            };
            message(last, &words.slot(*slot), words.who(*threads))
        }
        Fault::Count(CountFault::Arrivals { threads, barrier, arrivals, lacks }) => messages::count(
            last,
            &words.barrier(*barrier),
            &words.who(*threads).0,
            *arrivals,
            *lacks,
            words.init(*barrier),
        ),
        Fault::Count(CountFault::Index { step, .. }) => messages::index(sites.at(*step).unwrap_or(last)),
        Fault::Overtaken { threads, barrier, .. } => {
            let waiting = words.standing(*threads, trace).unwrap_or(last);
            let diag = messages::overtaken(waiting, &words.barrier(*barrier), words.who(*threads));
            if mend::is_led(assembled, *threads, trace) { messages::not_met(diag) } else { diag }
        }
        Fault::Undrained(UndrainedFault::Arrival { barrier, .. }) => {
            messages::undrained(last, &format!("an arrival at {}", words.barrier(*barrier)))
        }
        Fault::Undrained(UndrainedFault::Copy { slot }) => {
            let awaited = words.does_any(trace, |op, _| matches!(op, Op::Wait { .. } | Op::WaitToken { .. }));
            let message = if awaited { messages::undrained } else { messages::not_awaited };
            let begun = words.begun(trace, |op, of| matches!(op, Op::Copy { .. }) && of == *slot);
            message(begun.unwrap_or(last), &format!("a copy into {}", words.slot(*slot)))
        }
        Fault::Undrained(UndrainedFault::Store { slot, .. }) => {
            let begun = words.begun(trace, |op, of| matches!(op, Op::Store { .. }) && of == *slot);
            messages::undrained(begun.unwrap_or(last), &format!("a copy out of {}", words.slot(*slot)))
        }
    };
    let diag = if mend::arrives_early(assembled, trace) { messages::not_met(diag) } else { diag };
    words.with_trace(diag, trace, Vec::new())
}

/// Makes the message of a stale parity.
pub(super) fn stale(
    kernel: &Kernel<'_, '_>,
    objects: &Objects,
    sites: &Sites,
    assembled: &Assembled,
    stale: &Stale,
) -> Diag {
    let words = Words { kernel, objects, sites, assembled };
    let at = |step: u32| sites.at(step).unwrap_or_else(|| kernel.whole());
    let who = words.who(stale.threads);
    let (barrier, partner) = (words.barrier(stale.barrier), words.barrier(stale.partner));
    messages::stale(at(stale.again), (&barrier, at(stale.first)), (&partner, at(stale.answer)), who)
}

/// Whether a barrier at which threads wait in the end lacks bytes, and no arrivals.
fn lacks_bytes_alone(wait: &Waiting) -> bool {
    wait.barrier.is_some_and(|state| state.arrivals == 0 && state.bytes != 0)
}

impl Words<'_, '_, '_> {
    fn place(&self, event: &Event) -> Option<SpanRange> {
        match event.action {
            EventAction::Step { step, .. } => self.sites.at(step),
            EventAction::Lands { .. } | EventAction::Stored { .. } => None,
        }
    }

    /// The place where threads stand after an interleaving: that of their last step.
    fn standing(&self, threads: Threads, trace: &[Event]) -> Option<SpanRange> {
        trace.iter().rev().find_map(|event| match event.action {
            EventAction::Step { threads: other, step, .. } if other == threads => self.sites.at(step),
            EventAction::Step { .. } | EventAction::Lands { .. } | EventAction::Stored { .. } => None,
        })
    }

    /// The operation of a step by its index.
    fn op(&self, threads: Threads, index: usize) -> Option<&Op> {
        self.assembled.skeleton.op(threads, index)
    }

    /// The place where the last such operation on a slot begins.
    fn begun(&self, trace: &[Event], is_meant: impl Fn(&Op, Object) -> bool) -> Option<SpanRange> {
        trace.iter().rev().find_map(|event| match (event.action, event.slot) {
            (EventAction::Step { threads, step, index }, Some(slot)) => {
                self.op(threads, index).is_some_and(|op| is_meant(op, slot)).then(|| self.sites.at(step))?
            }
            (EventAction::Step { .. }, None) | (EventAction::Lands { .. } | EventAction::Stored { .. }, _) => None,
        })
    }

    /// Where a product begins that still reads a slot in the end of an interleaving.
    fn product_of(&self, slot: Object, trace: &[Event]) -> Option<SpanRange> {
        let mut over: Vec<Threads> = Vec::new();
        trace.iter().rev().find_map(|event| match event.action {
            EventAction::Stored { threads, queue: PRODUCTS, slot: of } => {
                over.extend((of == slot).then_some(threads));
                None
            }
            EventAction::Step { threads, step, index } if event.slot == Some(slot) && !over.contains(&threads) => {
                let is_product = matches!(self.op(threads, index), Some(Op::Store { queue: PRODUCTS, .. }));
                is_product.then(|| self.sites.at(step))?
            }
            EventAction::Step { .. } | EventAction::Lands { .. } | EventAction::Stored { .. } => None,
        })
    }

    /// Whether an interleaving has such an operation of some threads.
    fn does_any(&self, trace: &[Event], is_meant: impl Fn(&Op, Threads) -> bool) -> bool {
        trace.iter().any(|event| match event.action {
            EventAction::Step { threads, index, .. } => self.op(threads, index).is_some_and(|op| is_meant(op, threads)),
            EventAction::Lands { .. } | EventAction::Stored { .. } => false,
        })
    }

    /// Whether an interleaving begins a copy, and no thread expects bytes.
    fn copies_unexpected(&self, trace: &[Event]) -> bool {
        self.does_any(trace, |op, _| matches!(op, Op::Copy { .. }))
            && !self.does_any(trace, |op, _| matches!(op, Op::Expect { .. }))
    }

    /// A number of bytes that a barrier of an array expects.
    fn expected(&self, array: u32, bytes: i64) -> String {
        self.objects.expected(self.kernel, array, bytes)
    }

    fn init(&self, barrier: Object) -> Option<SpanRange> {
        self.objects.barriers.get(barrier.array as usize).map(|(.., at)| *at)
    }

    /// The name of an array of barriers.
    fn array_of(&self, barrier: Object) -> String {
        let array = self.objects.barriers.get(barrier.array as usize);
        format!("`{}`", self.kernel.name_of(array.map_or(usize::MAX, |(array, ..)| *array)))
    }

    fn barrier(&self, barrier: Object) -> String {
        let array = self.objects.barriers.get(barrier.array as usize);
        let (array, stages) = array.map_or((usize::MAX, 1), |(array, barriers, _)| (*array, barriers.stages()));
        self.element(array, (stages > 1).then(|| barrier.index.to_string()), barrier)
    }

    fn guarded(&self, array: u32) -> Option<&Slot> {
        let guard = self.assembled.guards.get(array as usize)?;
        self.objects.slots.get(guard.slot)
    }

    fn slot(&self, slot: Object) -> String {
        let array = self.guarded(slot.array);
        let index = |of: &Slot| match of.tile {
            _ if of.depth == 0 => None,
            Some(tile) => Some(format!("{}..{}", i64::from(slot.index) * tile, (i64::from(slot.index) + 1) * tile)),
            None if of.depth == 2 => Some(format!("{}][{}", slot.index / of.columns, slot.index % of.columns)),
            None => Some(slot.index.to_string()),
        };
        let (array, index) = array.map_or((usize::MAX, None), |of| (of.array, index(of)));
        self.element(array, index, slot)
    }

    fn element(&self, array: usize, index: Option<String>, object: Object) -> String {
        let name = self.kernel.name_of(array);
        let name = index.map_or_else(|| format!("`{name}`"), |index| format!("`{name}[{index}]`"));
        if self.kernel.blocks > 1 { format!("{name} of block {}", object.block) } else { name }
    }

    /// The threads, with whether they are several.
    fn who(&self, threads: Threads) -> (String, bool) {
        let (all, unit) = &self.assembled.threads[threads.role as usize];
        let of_block = if self.kernel.blocks > 1 { format!(" of block {}", threads.block) } else { String::new() };
        let first = (threads.representative as usize).min(all.len().saturating_sub(1));
        let several = &all[first..all.len().min(first + threads.number as usize)];
        match (several, unit) {
            ([one], Unit::Thread) => (format!("thread {one}{of_block}"), false),
            ([one], Unit::Warp) => {
                let first = one / WARP * WARP;
                (format!("the warp of threads {first} to {}{of_block}", first + WARP - 1), false)
            }
            ([first, .., last], Unit::Thread) if (last - first) as usize + 1 == several.len() => {
                (format!("threads {first} to {last}{of_block}"), true)
            }
            (_, unit) => {
                let (several, first) = (several.len(), several.first().unwrap_or(&0));
                let like = match unit {
                    Unit::Thread => format!("{several} threads like {first}{of_block}"),
                    Unit::Warp => {
                        let first = first / WARP * WARP;
                        format!("{several} warps like that of threads {first} to {}{of_block}", first + WARP - 1)
                    }
                };
                (like, true)
            }
        }
    }

    /// The sentence of a step: the threads, and what they do.
    fn does(&self, op: Option<&Op>, threads: Threads, about: (Option<BarrierState>, Option<Object>)) -> String {
        let (who, several) = self.who(threads);
        let (verb, rest) = self.what(op, about);
        let ending = if several { "" } else { "s" };
        format!("{who} {verb}{ending}{rest}")
    }

    /// The verb of what a thread does, and the rest of the sentence.
    fn what(&self, op: Option<&Op>, (state, slot): (Option<BarrierState>, Option<Object>)) -> (&'static str, String) {
        let barrier = |array: u32| match state {
            Some(state) => self.barrier(state.barrier),
            None => {
                let array = self.objects.barriers.get(array as usize).map_or(usize::MAX, |(array, ..)| *array);
                format!("`{}`", self.kernel.name_of(array))
            }
        };
        let slot = |array: u32| {
            slot.map_or_else(
                || {
                    let array = self.guarded(array).map_or(usize::MAX, |slot| slot.array);
                    format!("`{}`", self.kernel.name_of(array))
                },
                |slot| self.slot(slot),
            )
        };
        match op {
            Some(Op::Wait { barrier: of, .. } | Op::WaitToken { barrier: of }) => {
                ("wait", format!(" at {}", barrier(of.array)))
            }
            Some(Op::Arrive { barrier: of, .. }) => ("arrive", format!(" at {}", barrier(of.array))),
            Some(Op::Expect { barrier: of, bytes }) => {
                ("expect", format!(" {} at {}", self.expected(of.array, i64::from(*bytes)), barrier(of.array)))
            }
            Some(Op::Copy { slot: of, .. }) => ("begin", format!(" a copy into {}", slot(of.array))),
            Some(Op::Share { slot: of, .. }) => ("begin", format!(" a part of a copy into {}", slot(of.array))),
            Some(Op::BeginFill { slot: of, .. } | Op::EndFill { slot: of, .. }) => {
                ("write", format!(" to {}", slot(of.array)))
            }
            Some(Op::BeginRead { slot: of, .. } | Op::EndRead { slot: of, .. }) => {
                ("read", format!(" {}", slot(of.array)))
            }
            Some(Op::Store { slot: of, queue: PRODUCTS }) => {
                ("begin", format!(" a product of matrices that reads {}", slot(of.array)))
            }
            Some(Op::Store { slot: of, .. }) => ("begin", format!(" a copy out of {}", slot(of.array))),
            Some(Op::WaitStores { queue: PRODUCTS, .. }) => ("wait", " for products of matrices".into()),
            Some(Op::WaitStores { .. }) => ("wait", " for bulk copies".into()),
            Some(Op::Sync { .. }) => ("synchronize", String::new()),
            Some(Op::Set(_) | Op::NextRound | Op::Branch { .. } | Op::Jump(_) | Op::Leave) | None => {
                ("exit", String::new())
            }
        }
    }

    /// Adds the interleaving, and the threads that wait in its end.
    fn with_trace(&self, diag: Diag, trace: &[Event], waits: Vec<(SpanRange, String)>) -> Diag {
        let mut steps: Vec<(Option<SpanRange>, String)> = Vec::new();
        let mut landed: Option<(EventAction, Object)> = None;
        let begins = |event: &&Event| match event.action {
            EventAction::Step { threads, index, .. } => matches!(self.op(threads, index), Some(Op::Sync { .. })),
            EventAction::Lands { .. } | EventAction::Stored { .. } => false,
        };
        for event in trace.iter().skip_while(begins) {
            let state = event.barrier.map(|state| {
                let bytes = match state.bytes {
                    0 => String::new(),
                    bytes @ ..0 => format!(", and has {} too many,", self.expected(state.barrier.array, -bytes)),
                    bytes => format!(" and {}", self.expected(state.barrier.array, bytes)),
                };
                let (parity, lacks) = (u8::from(state.parity), state.arrivals);
                let arrivals = if lacks == 1 { "arrival" } else { "arrivals" };
                format!(", which then lacks {lacks} {arrivals}{bytes} of a phase of parity {parity}")
            });
            let state = state.unwrap_or_default();
            let text = match event.action {
                EventAction::Step { threads, index, .. } => {
                    let op = self.op(threads, index);
                    format!("{}{state}", self.does(op, threads, (event.barrier, event.slot)))
                }
                EventAction::Lands { slot } => {
                    let completes = event.barrier.map(|state| format!(" and signals {}", self.barrier(state.barrier)));
                    format!("the copy into {} completes{}{state}", self.slot(slot), completes.unwrap_or_default())
                }
                EventAction::Stored { slot, queue: PRODUCTS, .. } => {
                    format!("the product that reads {} has read it", self.slot(slot))
                }
                EventAction::Stored { slot, .. } => format!("the copy out of {} has read it", self.slot(slot)),
            };
            let step = (self.place(event), text);
            // Of several copies that land, the last one tells what the phase then lacks.
            let landing = event.barrier.map(|state| (event.action, state.barrier));
            let lands = landing.filter(|(action, _)| matches!(action, EventAction::Lands { .. }));
            if lands.is_some() && lands == landed {
                steps.pop();
            }
            landed = lands;
            // The end of an access follows its beginning.
            if steps.last().is_none_or(|(_, last)| *last != step.1) {
                steps.push(step);
            }
        }
        messages::interleaving(diag, steps, waits)
    }
}
