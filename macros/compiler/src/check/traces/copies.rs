//! The copies of a block that a thread has begun and not waited for, counted as `wait_prior` counts them.

use super::Check;
use super::elements::{Element, Part};
use super::trace::{Made, Time};
use crate::check::cfg::{Completion, CopyBy, CopyStep, Region, Root};
use crate::check::runs::{Number, Thread};
use crate::diag::Diag;
use crate::messages;
use crate::model::copy::CompletionMechanism;
use crate::span::SpanRange;

/// The number of bytes that sizes and places of bulk copies are multiples of.
const BULK: u64 = 16;

/// A copy that the block has begun.
#[derive(Debug)]
struct Flight {
    /// What it writes, if that is known.
    to: Option<Part>,
    /// Whether it writes to shared memory.
    into_shared: bool,
    at: SpanRange,
}

/// The copies in flight, from the oldest one on.
#[derive(Debug, Default)]
pub(super) struct Flights(Vec<Flight>);

impl Flights {
    /// Which copies are in flight is unknown.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// The fault of a thread that exits, where arguments of the kernel may be this number.
    ///
    /// ```text
    /// memcpy_async(&block, &tile, &input[..64]); for k in 0..n { block.wait_async(); .. }     // there may be no round
    /// ```
    pub(super) fn left(&self, argument: Option<u64>) -> Option<Diag> {
        let flight = self.0.iter().find(|flight| flight.into_shared)?;
        Some(messages::copy_left_for(flight.at, CompletionMechanism::Group, argument))
    }

    /// The fault of an access to what a copy writes.
    pub(super) fn access(&self, check: &Check<'_, '_>, element: &Element, at: SpanRange, writes: bool) -> Option<Diag> {
        let meets = |flight: &&Flight| flight.to.as_ref().is_some_and(|to| to.contains(element));
        let flight = self.0.iter().find(meets)?;
        let name = check.name(*element);
        let name = name.trim_matches('`');
        Some(messages::copy_in_flight(at, flight.at, name, writes, true, CompletionMechanism::Group))
    }

    /// The fault of a load or a store of a matrix by a warp, of which all matrices have such a part.
    pub(super) fn matrix(&self, check: &Check<'_, '_>, part: &Part, at: SpanRange, writes: bool) -> Option<Diag> {
        let meets = |flight: &&Flight| flight.to.as_ref().is_some_and(|to| to.meets(part));
        let flight = self.0.iter().find(meets)?;
        let name = check.cfg.name_of(check.function, part.shared)?.to_string();
        Some(messages::copy_in_flight(at, flight.at, &name, writes, true, CompletionMechanism::Group))
    }

    pub(super) fn copy(
        &mut self,
        check: &Check<'_, '_>,
        thread: &Thread<'_, '_, '_>,
        step: &CopyStep,
        made: &[Made],
        now: Time,
    ) -> Option<Diag> {
        match step {
            CopyStep::Begin { writes, completion: Completion::Group, by: CopyBy::Group, at, .. } => {
                let to = writes.as_ref().and_then(|region| check.elements.part(thread, thread.place(region)?));
                let fault = to.as_ref().and_then(|to| self.begin(check, to, *at, made, now));
                let into_shared = writes.as_ref().is_some_and(|region| region.root.party().is_some());
                self.0.push(Flight { to, into_shared, at: *at });
                fault
            }
            CopyStep::Begin { writes, reads, by: CopyBy::Thread, at, .. } => {
                let ends = writes.iter().chain(reads);
                ends.filter_map(|end| bulk_end(check, thread, end, *at)).next()
            }
            CopyStep::Wait { completion: Completion::Group, but, .. } => {
                let left = match but {
                    None => 0,
                    Some(but) => check.function.values[usize::from(but.0)].literal.unwrap_or(0),
                };
                let done = self.0.len().saturating_sub(usize::try_from(left).unwrap_or(usize::MAX));
                self.0.drain(..done);
                None
            }
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => None,
        }
    }

    /// A copy begins: what it writes is written by no other, and no thread accesses it any more.
    fn begin(&self, check: &Check<'_, '_>, to: &Part, at: SpanRange, made: &[Made], now: Time) -> Option<Diag> {
        let shared = check.cfg.name_of(check.function, to.shared)?.to_string();
        if let Some(other) = self.0.iter().find(|flight| flight.to.as_ref().is_some_and(|other| other.meets(to))) {
            return Some(messages::copy_in_flight(at, other.at, &shared, true, true, CompletionMechanism::Group));
        }
        // Another thread of the block may come to the copy before this one has made its access.
        let is_unordered = |made: &&Made| {
            to.contains(&made.element)
                && !made.time.may_know
                && !now.may_know
                && made.time.with_warp == now.with_warp
                && !made.time.comes_before(now, 0)
        };
        let early = made.iter().rev().find(is_unordered).filter(|_| check.threads > 32)?;
        let other = check.cfg.accesses[early.access.0].at;
        Some(messages::copy_overtakes(at, other, &format!("`{shared}`"), early.by.writes()))
    }
}

/// `copy_length`: an end of a bulk copy in shared memory is at a multiple of 16 bytes, and has as many.
///
/// ```text
/// let first = 3; bulk_copy_async(&s[first..first + 16], &input[..16], &bar);
/// ```
fn bulk_end(check: &Check<'_, '_>, thread: &Thread<'_, '_, '_>, region: &Region, at: SpanRange) -> Option<Diag> {
    let place = thread.place(region).filter(|place| !place.part)?;
    let (Root::Shared(shared) | Root::Remote(shared), [Some((start, end))]) = (place.root, &place.ranges[..]) else {
        return None;
    };
    let own = |number: &Number| number.natural().filter(|_| !number.is_given);
    let (size, start, end) = (check.elements.size(shared)?, own(start)?, own(end)?);
    let bytes = end.checked_sub(start)?.checked_mul(size)?;
    let first = start.checked_mul(size)?;
    if !bytes.is_multiple_of(BULK) {
        return Some(messages::copy_bytes(at, bytes, BULK));
    }
    (!first.is_multiple_of(BULK)).then(|| messages::copy_place(at, first, BULK))
}
