//! Launches with a deadline. While the host waits for a stream, it looks at the time of those that run, on all streams: it may be one of
//! another stream that it waits for, by an event or for a buffer. It ends one that is late by its
//! claim, which waits poll (deadline.cuh), and reads where they were. What ignores that cannot be ended: the stream is lost.

use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::{CudaEvent, CudaStream};

use super::super::block::LaunchBlock;
use super::super::ffi::{self, Allocation, driver};
use super::super::record::Record;
use super::{Queue, State};
use crate::report::error::Result;

/// The time that a launch has to end once it is told to. Waits poll every few microseconds.
const GRACE: Duration = Duration::from_secs(2);

/// The time between the first two looks, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// The streams that have had launches with a deadline, of all GPUs.
static WATCHED: Mutex<Vec<Weak<Queue>>> = Mutex::new(Vec::new());

/// A launch with a deadline.
pub(in crate::gpu) struct Watch {
    launch: u64,
    kernel: u32,
    limit: Duration,
    /// The record in which waits note where they are.
    table: Allocation,
    /// The address of the launch's claim, which is in the stream's slots.
    claim: u64,
    /// A stream that does not wait for the launch.
    side: Arc<CudaStream>,
    started: CudaEvent,
    ended: CudaEvent,
    /// When the host first saw that it runs, and when it told the launch to end.
    begun: Option<Instant>,
    told: Option<Instant>,
}

impl Watch {
    /// Prepares the table of a launch that comes next on the stream.
    pub(in crate::gpu) fn begin(
        stream: &Arc<CudaStream>,
        state: &mut State,
        block: &mut LaunchBlock,
        limit: Duration,
    ) -> Result<Watch> {
        // Made before the launch: cudarc's first `new_stream` waits for the whole context, and a fork for what came before it.
        let side = match &state.side {
            Some(side) => side.clone(),
            None => state.side.insert(stream.fork().map_err(driver("cuStreamCreate"))?).clone(),
        };
        let event = || stream.context().new_event(None).map_err(driver("cuEventCreate"));
        let table = ffi::allocate(stream, size_of::<Record>())?;
        ffi::clear(stream, table.region())?;
        let (started, ended) = (event()?, event()?);
        started.record(stream).map_err(driver("cuEventRecord"))?;
        block.deadline = table.address();
        let (launch, kernel, claim) = (block.number, block.kernel, block.claim);
        Ok(Watch { launch, kernel, limit, table, claim, side, started, ended, begun: None, told: None })
    }

    /// Notes the end of the launch.
    pub(in crate::gpu) fn end(self, stream: &Arc<CudaStream>, state: &mut State) -> Result<()> {
        self.ended.record(stream).map_err(driver("cuEventRecord"))?;
        // A program that never waits keeps no more than what is in flight.
        while let Some(first) = state.watches.front()
            && first.told.is_none()
            && is_complete(&first.ended)?
        {
            state.watches.pop_front();
        }
        state.watches.push_back(self);
        Ok(())
    }

    /// Returns the record of what was waited at, or `None` if nothing was and the launch has ended by itself.
    fn table(&self) -> Result<Option<Record>> {
        let words = ffi::read::<u64>(&self.side, self.table.region())?;
        Ok(Record::of_deadline(&words, self.kernel, self.limit))
    }
}

impl Queue {
    /// Has whoever waits for any stream look at the launches of this one.
    pub(in crate::gpu) fn watch(self: &Arc<Self>) {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|queue| queue.strong_count() > 0);
        if !watched.iter().any(|queue| std::ptr::eq(queue.as_ptr(), Arc::as_ptr(self))) {
            watched.push(Arc::downgrade(self));
        }
    }

    /// Waits until no launch with a deadline is left, and ends those that are late.
    pub(in crate::gpu) fn end_late_launches(&self) -> Result<()> {
        let [mut pause, longest] = PAUSES;
        while self.lost.get().is_none() && self.look()? {
            look_at_all();
            thread::sleep(pause);
            pause = (2 * pause).min(longest);
        }
        Ok(())
    }

    /// Returns whether there is a launch with a deadline that has not ended.
    pub(super) fn look(&self) -> Result<bool> {
        self.look_in(&mut self.state())
    }

    /// The same for who must not wait for a thread that has the state: that may wait in the driver for a late launch of another stream.
    fn look_if_free(&self) -> Result<bool> {
        match self.state.try_lock() {
            Ok(mut state) => self.look_in(&mut state),
            Err(TryLockError::Poisoned(state)) => self.look_in(&mut state.into_inner()),
            Err(TryLockError::WouldBlock) => Ok(true),
        }
    }

    fn look_in(&self, state: &mut State) -> Result<bool> {
        let State { watches, failures, .. } = state;
        loop {
            let Some(first) = watches.front_mut() else { return Ok(false) };
            if !is_complete(&first.ended)? {
                break;
            }
            let Some(ended) = watches.pop_front() else { return Ok(false) };
            if ended.told.is_some()
                && let Some(record) = ended.table()?
            {
                failures.add(ended.launch, record);
            }
        }
        let Some(first) = watches.front_mut() else { return Ok(false) };
        let now = Instant::now();
        if first.begun.is_none() && is_complete(&first.started)? {
            first.begun = Some(now);
        }
        let late = first.begun.is_some_and(|begun| now.duration_since(begun) >= first.limit);
        match first.told {
            None if late => {
                // The claim comes last: a wait that sees it looks for the cause.
                ffi::write_word(&first.side, first.table.address() + Record::CAUSE, Record::DEADLINE)?;
                ffi::write_word(&first.side, first.claim, 1)?;
                first.told = Some(now);
            }
            Some(told) if now.duration_since(told) >= GRACE => {
                let _ = self.lost.set(Record::of_ignored_deadline(first.kernel, first.limit));
            }
            None | Some(_) => {}
        }
        Ok(true)
    }
}

/// Looks at all streams, and returns whether there are launches with a deadline that have not ended. Errors are for those who wait for
/// the stream that has them.
pub(super) fn look_at_all() -> bool {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let mut any = false;
    for queue in watched.iter().filter_map(Weak::upgrade) {
        any |= !queue.is_lost() && queue.look_if_free().unwrap_or(false);
    }
    any
}

/// Ends launches that are late, on all streams, until something is over, or no launch has a deadline any longer.
pub(super) fn end_late_launches_until(is_over: impl Fn() -> Result<bool>) -> Result<()> {
    let [mut pause, longest] = PAUSES;
    while look_at_all() && !is_over()? {
        thread::sleep(pause);
        pause = (2 * pause).min(longest);
    }
    Ok(())
}

fn is_complete(event: &CudaEvent) -> Result<bool> {
    event.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
    event.try_is_complete().map_err(driver("cuEventQuery"))
}
