//! Copies that one thread, or a group, makes of shared memory while others access it: a copy reads its source, or writes its destination,
//! from where it begins to where its thread has waited for it, and the block's barriers order both with what other threads do.

use super::Check;
use super::elements::Element;
use super::trace::{Made, Time, Trace, Transfer, comparable};
use crate::check::cfg::{Access, Completion, CopyStep, Region, Root};
use crate::check::runs::Thread;
use crate::diag::Diag;
use crate::messages;
use crate::model::copy::CompletionMechanism;
use crate::rules::Rule;
use crate::span::SpanRange;

/// Notes the copies that a step begins or waits for. Returns the fault of one that writes what the thread's copy before may still write.
///
/// ```text
/// bulk_copy_async(&mem[..64], from, &full[0]); bulk_copy_async(&mem[32..96], from, &full[1]);
/// ```
pub(super) fn step(
    check: &Check<'_, '_>,
    thread: &Thread<'_, '_, '_>,
    step: &CopyStep,
    now: Time,
    transfers: &mut Vec<Transfer>,
) -> Option<Diag> {
    let part = |region: &Region| match region.root {
        Root::Shared(_) => check.elements.part(thread, thread.place(region)?),
        Root::Remote(_) | Root::ReadOnly | Root::Global => None,
    };
    match step {
        CopyStep::Begin { reads, writes, completion, at, .. } => {
            let ends = match completion {
                Completion::BulkGroup | Completion::Product => (reads.as_slice(), None),
                // That a copy which completes on a barrier has written, whoever waits there may know.
                Completion::Barrier(_) => (reads.as_slice(), writes.as_ref()),
                Completion::Group => (&[][..], writes.as_ref()),
            };
            let ends = ends.0.iter().map(|read| (read, false)).chain(ends.1.map(|write| (write, true)));
            let (begin, completion) = (now, *completion);
            let new = ends.filter_map(|(region, writes)| {
                Some(Transfer { part: part(region)?, writes, completion, begin, end: None, is_of_warp: false, at: *at })
            });
            let new: Vec<Transfer> = new.collect();
            let written = new.iter().filter(|new| new.writes && matches!(completion, Completion::Barrier(_)));
            let mut pairs = written.flat_map(|new| transfers.iter().map(move |before| (new, before)));
            let fault = pairs.find_map(|(new, before)| {
                (before.is_open(now) && before.part.meets(&new.part)).then(|| {
                    let name = check.name((new.part.owner, new.part.shared, Default::default()));
                    in_flight(*at, before, &name, true)
                })
            });
            transfers.extend(new);
            fault
        }
        CopyStep::Wait { completion, but, .. } => {
            let left = but.map_or(0, |but| check.function.values[usize::from(but.0)].literal.unwrap_or(0));
            let open =
                transfers.iter_mut().filter(|transfer| transfer.completion == *completion && transfer.end.is_none());
            let mut open: Vec<&mut Transfer> = open.collect();
            let done = open.len().saturating_sub(usize::try_from(left).unwrap_or(usize::MAX));
            open[..done].iter_mut().for_each(|transfer| transfer.end = Some(now));
            None
        }
    }
}

/// Notes an asynchronous store, or a copy to a peer, if the peer is the thread's own block: nobody else has to do with it then.
pub(super) fn send(
    check: &Check<'_, '_>,
    thread: &Thread<'_, '_, '_>,
    access: &Access,
    now: Time,
    transfers: &mut Vec<Transfer>,
) {
    let part = thread.place(&access.region).and_then(|place| check.elements.part(thread, place));
    let part = part.filter(|part| thread.id.block == Some(part.owner));
    if let (Some(part), Some(completion)) = (part, access.completion) {
        let (begin, at) = (now, access.at);
        transfers.push(Transfer { part, writes: true, completion, begin, end: None, is_of_warp: false, at });
    }
}

/// The fault of an access to what the thread's own copy may still write: it has waited for nothing since, nor met others who may have.
///
/// ```text
/// cluster.map_shared_rank(&inbox, own).store_async(t, x, &there); inbox[t] = 0;
/// ```
pub(super) fn access(
    check: &Check<'_, '_>,
    transfers: &[Transfer],
    element: &Element,
    now: Time,
    (at, writes): (SpanRange, bool),
) -> Option<Diag> {
    let transfer = transfers.iter().find(|transfer| transfer.is_open(now) && transfer.part.contains(element))?;
    Some(in_flight(at, transfer, &check.name(*element), writes))
}

fn in_flight(at: SpanRange, transfer: &Transfer, name: &str, writes: bool) -> Diag {
    messages::copy_in_flight(at, transfer.at, name.trim_matches('`'), writes, true, CompletionMechanism::Barrier)
}

/// The thread may have waited for all of its copies.
pub(super) fn end_all(transfers: &mut [Transfer], now: Time) {
    transfers.iter_mut().filter(|transfer| transfer.end.is_none()).for_each(|transfer| transfer.end = Some(now));
}

/// `unsynchronized_access`: between what a copy does and another thread's access to the same element there is a barrier.
///
/// ```text
/// s[t] = x; if t == 0 { bulk_copy_async(out, &s); }        // other threads may not have written their elements yet
/// ```
pub(super) fn check(check: &Check<'_, '_>, traces: &[Trace], waived: bool) -> Option<Diag> {
    if waived && !check.function.waives(Rule::UnsynchronizedAccess) {
        return None;
    }
    let traces: Vec<(&Trace, usize)> = comparable(traces).collect();
    for (trace, limit) in &traces {
        for transfer in trace.transfers.iter().filter(|transfer| transfer.begin.barriers <= *limit) {
            let is_other = |other: &Trace| other.id != trace.id && other.id.block == trace.id.block;
            for (other, limit) in traces.iter().filter(|(other, _)| is_other(other)) {
                let in_one_warp = other.is_in_warp_of(trace);
                let meets = |made: &Made| {
                    made.time.barriers <= *limit
                        && (made.by.writes() || transfer.writes)
                        && (!in_one_warp || !transfer.is_of_warp && transfer.lasts_in_warp(trace, other, made.time))
                        && !transfer.is_ordered(made)
                        && check.function.waives_at(Rule::UnsynchronizedAccess, transfer.at) == waived
                };
                let mut made = other.made.iter().filter(|made| transfer.part.contains(&made.element));
                let within = || other.within.iter().filter(|within| transfer.part.covers(&within.part));
                let of_part = || within().map(|within| &within.made).find(|made| meets(made));
                if let Some(made) = made.find(|made| meets(made)).or_else(of_part) {
                    let (name, at) = (check.name(made.element), check.cfg.accesses[made.access.0].at);
                    let ranks = (trace.id.rank, other.id.rank);
                    return Some(match transfer.writes {
                        true => messages::unsynchronized_access(
                            at,
                            transfer.at,
                            &name,
                            !made.by.writes(),
                            (ranks.1, ranks.0),
                            in_one_warp,
                        ),
                        false => messages::unsynchronized_access(transfer.at, at, &name, true, ranks, in_one_warp),
                    });
                }
            }
        }
    }
    matrices(check, &traces, waived)
}

/// A warp stores a matrix where a copy, a product or another warp reads.
fn matrices(check: &Check<'_, '_>, traces: &[(&Trace, usize)], waived: bool) -> Option<Diag> {
    let all: Vec<(&Trace, &Transfer)> = traces
        .iter()
        .flat_map(|(trace, limit)| trace.transfers.iter().map(move |transfer| (*trace, transfer, *limit)))
        .filter(|(_, transfer, limit)| transfer.begin.barriers <= *limit)
        .map(|(trace, transfer, _)| (trace, transfer))
        .collect();
    for (writer, write) in all.iter().filter(|(_, transfer)| transfer.is_of_warp && transfer.writes) {
        let meets = |(reader, read): &&(&Trace, &Transfer)| {
            !read.writes
                && writer.id.block == reader.id.block
                && !writer.is_in_warp_of(reader)
                && read.part.meets(&write.part)
                && !read.is_ordered_with(write)
                && check.function.waives_at(Rule::UnsynchronizedAccess, read.at) == waived
        };
        if let Some((reader, read)) = all.iter().find(meets) {
            let name = check.name((read.part.owner, read.part.shared, Default::default()));
            let ranks = (reader.id.rank, writer.id.rank);
            return Some(messages::unsynchronized_access(read.at, write.at, &name, true, ranks, false));
        }
    }
    None
}

impl Transfer {
    /// Whether it may still write, for all that its own thread knows: it has waited for nothing since, nor met others who may have.
    fn is_open(&self, now: Time) -> bool {
        let is_of_barrier = matches!(self.completion, Completion::Barrier(_));
        let may_know = now.may_know || now.is_lost;
        self.writes && is_of_barrier && !may_know && self.begin.phases == now.phases
    }

    /// Whether the thread's warp, which another thread is of, has not met between the copy's end and a time of the other thread, nor
    /// between that time and the copy's beginning.
    fn lasts_in_warp(&self, own: &Trace, other: &Trace, time: Time) -> bool {
        let have_met_alike = |meetings: usize| match (own.with_warp.get(meetings), other.with_warp.get(meetings)) {
            (Some(own), Some(other)) => own == other,
            (None, _) | (_, None) => false,
        };
        let ends = self.end.is_none_or(|end| time.meetings <= end.meetings);
        self.begin.meetings <= time.meetings && ends && have_met_alike(time.meetings)
    }

    /// Whether a matrix may be stored before this begins, or after it has ended, in each run.
    fn is_ordered_with(&self, stored: &Transfer) -> bool {
        let is_after = match (self.completion, self.end) {
            (Completion::Barrier(_), _) => self.begin.comes_before(stored.begin, 0),
            (_, end) => end.is_some_and(|end| end.comes_before(stored.begin, 0)),
        };
        let may_know = |time: Time| time.may_know || time.is_lost;
        is_after || stored.begin.comes_before(self.begin, 0) || may_know(self.begin) || may_know(stored.begin)
    }

    /// Whether the access may come before the copy begins, or after it has ended, in each run.
    fn is_ordered(&self, made: &Made) -> bool {
        // Threads that have come here by the same waits have told each other nothing since.
        let is_alike = made.time.has_waited_alike(self.begin);
        let is_told = made.may_be_told && self.begin.may_know && !is_alike;
        let is_before = made.time.comes_before(self.begin, 0) || is_told;
        let is_after = match (self.completion, self.end) {
            // It may have waited at the barrier.
            (Completion::Barrier(_), _) => self.begin.comes_before(made.time, 0),
            (_, Some(end)) => end.comes_before(made.time, 0),
            (_, None) => false,
        };
        is_before || is_after || made.time.may_know && !is_alike || made.time.is_lost || self.begin.is_lost
    }
}
