//! Launches with a deadline, which end by themselves when they are late (deadline.cuh). What does not is found by whoever waits for its
//! stream: it cannot be ended, and the stream is lost. To look asks no driver, whose calls may wait for such a launch themselves: the kernel and
//! the stream leave what is to be known in the launch's record.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::CudaStream;

use super::super::block::LaunchBlock;
use super::super::ffi::{self, Allocation};
use super::super::record::Record;
use super::{Queue, State};
use crate::program::types::bytes_of;
use crate::report::error::Result;

/// The time that a launch has to end once it is late. Waits poll every few microseconds.
const GRACE: Duration = Duration::from_secs(2);

/// The time between the first two looks, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_millis(1)];

/// A launch with a deadline.
pub(in crate::gpu) struct Watch {
    launch: u64,
    kernel: u32,
    limit: Duration,
    /// When the host first saw that it runs.
    begun: Option<Instant>,
}

/// What a launch with a deadline has in device memory until it ends.
pub(in crate::gpu) struct TimedRecord {
    memory: Allocation,
    /// The record in pinned memory.
    watched: u64,
    watch: Watch,
}

impl TimedRecord {
    /// Prepares the record of a launch that comes next on the stream.
    pub(in crate::gpu) fn begin(
        stream: &Arc<CudaStream>,
        block: &mut LaunchBlock,
        limit: Duration,
    ) -> Result<TimedRecord> {
        let words = Record::timed(limit);
        let memory = ffi::allocate(stream, size_of_val(&words))?;
        ffi::write(stream, memory.region(), bytes_of(&words))?;
        block.watched = std::mem::replace(&mut block.record, memory.address());
        let watch = Watch { launch: block.number, kernel: block.kernel, limit, begun: None };
        Ok(TimedRecord { memory, watched: block.watched, watch })
    }

    /// Hands the record to the host when the launch has ended. The memory is freed behind that.
    pub(in crate::gpu) fn end(self, stream: &CudaStream, state: &mut State) -> Result<()> {
        ffi::copy_record(stream, self.memory.region().part(0, size_of::<Record>()), self.watched)?;
        // A program that never waits keeps no more than what is in flight.
        state.forget_ended();
        state.watches.push_back(self.watch);
        Ok(())
    }
}

impl Queue {
    /// Waits until something is over, no launch with a deadline is left, or one has not ended at its own.
    pub(super) fn wait_until(&self, is_over: impl Fn() -> Result<bool>) -> Result<()> {
        let [mut pause, longest] = PAUSES;
        while self.has_watches() && !is_over()? {
            // After an error of the context nothing ends.
            ffi::is_idle(&self.stream)?;
            thread::sleep(pause);
            pause = (2 * pause).min(longest);
        }
        Ok(())
    }

    /// Waits until no launch with a deadline is left, or one has not ended at its own.
    pub(in crate::gpu) fn wait_for_deadlines(&self) -> Result<()> {
        self.wait_until(|| Ok(false))
    }

    /// Returns whether there are launches with a deadline that may still end, and notes one that does not.
    pub(super) fn has_watches(&self) -> bool {
        if self.is_lost() {
            return false;
        }
        let mut state = self.state();
        state.forget_ended();
        let State { watches, slots, .. } = &mut *state;
        let Some(first) = watches.front_mut() else { return false };
        if slots.state(first.launch) == Record::RUNS {
            let begun = *first.begun.get_or_insert_with(Instant::now);
            if begun.elapsed() >= first.limit.saturating_add(GRACE) {
                let _ = self.lost.set(Record::of_ignored_deadline(first.kernel, first.limit));
                return false;
            }
        }
        true
    }
}

impl State {
    /// Forgets the first launches with a deadline, if they have ended.
    fn forget_ended(&mut self) {
        while let Some(first) = self.watches.front()
            && !matches!(self.slots.state(first.launch), Record::EMPTY | Record::RUNS)
        {
            self.watches.pop_front();
        }
    }
}
