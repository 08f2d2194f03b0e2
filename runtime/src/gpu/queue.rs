//! A stream of a GPU with what its launches share: their records and words (`slots`), the buffer for prints, the counters of
//! failed threads. Work that uses memory waits for the work on it that other streams have. `context` launches.

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::sys::CUstreamCaptureStatus_enum::CU_STREAM_CAPTURE_STATUS_NONE;
use cudarc::driver::{CudaEvent, CudaStream};

use super::block::LaunchBlock;
use super::ffi::{self, Allocation, driver};
use super::mode::Access;
use super::print::{Prints, Records};
use super::record::Record;
use super::slots::Slots;
use crate::program::Program;
use crate::report::error::{Error, Result};
use crate::report::graph::GraphError;
use crate::report::output::PRINT_BYTES;
use crate::report::unreported::Unreported;
use crate::shape::Shape;

mod event;
mod host_copy;
mod mark;
mod memory;
mod unfinished;
mod watch;

pub(crate) use event::GpuEvent;
pub(crate) use host_copy::GpuCopy;
pub(crate) use mark::Mark;
pub(crate) use memory::GpuMemory;
use unfinished::MOST_COUNTED;
pub(super) use unfinished::Unfinished;
pub(super) use watch::TimedRecord;
use watch::Watch;

/// A stream.
pub(crate) struct Queue {
    id: u64,
    stream: Arc<CudaStream>,
    /// Whether the device has other streams than the default one. Until then, nobody notes which stream uses which memory.
    several: Arc<AtomicBool>,
    /// The number of pieces of work so far.
    ticks: AtomicU64,
    /// Recorded whenever another stream is to wait for the work so far. A later record waits for more, never for less.
    so_far: CudaEvent,
    /// The failure of a launch that has ignored its deadline, so that the stream does not end.
    lost: OnceLock<Record>,
    state: Mutex<State>,
}

/// The state that launches change.
pub(super) struct State {
    slots: Slots,
    failures: Unreported<Record>,
    /// The counts of failed threads, one word per block of the largest grid with clusters so far; as many times as there may be
    /// launches at once.
    failed_threads: Option<Allocation>,
    blocks: u32,
    at_once: usize,
    /// The launches that the next one may overlap with.
    unfinished: Unfinished,
    /// Allocated at the first launch of a kernel that prints.
    prints: Option<Prints>,
    /// How much of the work of other streams this one is known to wait for, by their ids.
    waited: Vec<(u64, u64)>,
    /// The launches with a deadline, in order.
    watches: VecDeque<Watch>,
}

/// What has ended on a stream: a failure to report, with the text that kernels printed.
pub(super) struct Ended {
    pub(super) failure: Option<Record>,
    pub(super) printed: Result<Records>,
}

impl Queue {
    pub(super) fn new(stream: Arc<CudaStream>, several: Arc<AtomicBool>) -> Result<Queue> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        let so_far = stream.context().new_event(None).map_err(driver("cuEventCreate"))?;
        let state = State {
            slots: Slots::default(),
            failures: Unreported::default(),
            failed_threads: None,
            blocks: 0,
            at_once: 1,
            unfinished: Unfinished::default(),
            prints: None,
            waited: Vec::new(),
            watches: VecDeque::new(),
        };
        let (ticks, lost) = (AtomicU64::new(0), OnceLock::new());
        Ok(Queue { id, stream, several, ticks, so_far, lost, state: Mutex::new(state) })
    }

    pub(crate) fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held leaves no inconsistent state that matters here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates what the first launch would wait for.
    pub(super) fn prepare(&self) -> Result<()> {
        self.state().slots.prepare(self.stream.context())
    }

    /// Waits until the next launch has a record, as long as launches with a deadline may be in its way.
    fn room(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.watches.is_empty() {
            return Ok(state);
        }
        drop(state);
        self.wait_until(|| self.state().slots.are_taken().map(|taken| !taken))?;
        Ok(self.state())
    }

    /// Enqueues work that uses this memory, after the work of other streams that it must not overtake. No launch behind it overlaps with
    /// those in front of it.
    pub(super) fn enqueue<M: Borrow<GpuMemory>, R>(
        self: &Arc<Self>,
        uses: &[(M, Access)],
        work: impl FnOnce(&mut State) -> Result<R>,
    ) -> Result<R> {
        self.enqueue_on(self.state(), uses, |state| {
            state.unfinished.clear();
            work(state)
        })
    }

    /// Does as [`Queue::enqueue`] for a launch, which may overlap with those in front of it, and leaves those that the next one may overlap
    /// with.
    pub(super) fn enqueue_launch<M: Borrow<GpuMemory>, R>(
        self: &Arc<Self>,
        uses: &[(M, Access)],
        work: impl FnOnce(&mut State) -> Result<R>,
    ) -> Result<R> {
        self.enqueue_on(self.room()?, uses, work)
    }

    fn enqueue_on<M: Borrow<GpuMemory>, R>(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        uses: &[(M, Access)],
        work: impl FnOnce(&mut State) -> Result<R>,
    ) -> Result<R> {
        self.check_not_lost()?;
        // Read under the lock, which `context` takes between setting it and waiting for what was enqueued before.
        let several = self.several.load(Ordering::SeqCst);
        let mut waits = false;
        if several {
            for (memory, access) in uses {
                for (other, tick) in memory.borrow().before(*access) {
                    waits |= self.follow(&mut state, &other, tick)?;
                }
            }
        }
        if waits {
            state.unfinished.clear();
        }
        let borrowed = || uses.iter().map(|(memory, _)| memory.borrow()).filter(|memory| memory.is_borrowed());
        let result = match borrowed().next() {
            None => work(&mut state),
            Some(_) => self.enqueue_borrowing(&mut state, borrowed().collect(), work),
        };
        if result.is_err() {
            state.unfinished.clear();
        }
        if several {
            // Also after an error, when part of the work may have been enqueued.
            let tick = self.ticks.fetch_add(1, Ordering::SeqCst) + 1;
            uses.iter().for_each(|(memory, access)| memory.borrow().note(self, tick, *access));
        }
        result
    }

    /// Enqueues work that uses memory of other users of cudarc, between the work that they have enqueued and what they will.
    fn enqueue_borrowing<R>(
        &self,
        state: &mut State,
        mut borrowed: Vec<&GpuMemory>,
        work: impl FnOnce(&mut State) -> Result<R>,
    ) -> Result<R> {
        borrowed.sort_by_key(|memory| std::ptr::from_ref(*memory).addr());
        borrowed.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let _borrows = borrowed.iter().map(|memory| memory.keep_borrow()).collect::<Result<Vec<_>>>()?;
        let owners = || borrowed.iter().filter_map(|memory| memory.owner());
        owners().try_for_each(|owner| owner.precedes(&self.stream))?;
        if owners().next().is_some() {
            state.unfinished.clear();
        }
        let result = work(state);
        let followed = owners().try_for_each(|owner| owner.follows(&self.stream));
        followed.and(result)
    }

    /// Lets later work of this stream wait for what `other` had enqueued up to `tick`. Returns whether it did not already.
    fn follow(&self, state: &mut State, other: &Queue, tick: u64) -> Result<bool> {
        let known = state.waited.iter().any(|(queue, upto)| *queue == other.id && *upto >= tick);
        if self.id == other.id || known {
            return Ok(false);
        }
        other.check_not_lost()?;
        let upto = other.ticks();
        other.so_far.record(&other.stream).map_err(driver("cuEventRecord"))?;
        self.stream.wait(&other.so_far).map_err(driver("cuStreamWaitEvent"))?;
        Queue::has_followed(state, other, upto);
        Ok(true)
    }

    /// Returns an error if nothing on the stream will ever run again.
    fn check_not_lost(&self) -> Result<()> {
        if self.is_lost() { Err(Error::StreamLost) } else { Ok(()) }
    }

    /// Returns whether a launch has ignored its deadline.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    fn has_followed(state: &mut State, other: &Queue, tick: u64) {
        match state.waited.iter_mut().find(|(queue, _)| *queue == other.id) {
            Some((_, upto)) => *upto = tick.max(*upto),
            None => state.waited.push((other.id, tick)),
        }
    }

    /// Lets later work of this stream wait for the work of others on `memory`, which is about to be freed here.
    pub(super) fn outlive(self: &Arc<Self>, memory: &GpuMemory) -> Result<()> {
        match self.several.load(Ordering::SeqCst) {
            true => self.enqueue(&[(memory, Access::Write)], |_| Ok(())),
            false => self.check_not_lost(),
        }
    }

    /// Waits for the stream, and leaves failures to those who wait for them.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.wait_for_deadlines()?;
        self.check_not_lost()?;
        self.stream.synchronize().map_err(driver("cuStreamSynchronize"))
    }

    /// Returns whether another library captures the stream, which ours are not.
    pub(super) fn is_capturing(&self) -> Result<bool> {
        // The default stream cannot be captured.
        if self.stream.cu_stream().is_null() {
            return Ok(false);
        }
        self.stream.context().bind_to_thread().map_err(driver("cuCtxSetCurrent"))?;
        let status = self.stream.capture_status().map_err(driver("cuStreamIsCapturing"))?;
        Ok(status != CU_STREAM_CAPTURE_STATUS_NONE)
    }

    /// Returns an error if another library captures the stream: its graph would not keep the memory that work here uses.
    pub(super) fn check_not_capturing(&self) -> Result<()> {
        if self.is_capturing()? { Err(GraphError::LaunchesAlone.into()) } else { Ok(()) }
    }

    fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::SeqCst)
    }

    /// Gives the failure of a launch to who next waits for the stream.
    pub(crate) fn release(&self, launch: u64) {
        self.state().failures.release(launch);
    }

    /// Waits for the work so far, and returns the failure of the launch `own`, or else the first that nobody waits for
    /// if `any` is set. If the driver fails, the failure of a kernel is returned nevertheless, because it may be the cause.
    pub(super) fn finish(&self, own: Option<u64>, any: bool) -> Ended {
        let upto = self.state().slots.issued();
        let ended = self.synchronize();
        if let Some(record) = self.lost.get() {
            return Ended { failure: Some(*record), printed: Ok(Records::default()) };
        }
        // After an error of the driver there is nothing to read.
        let printed = ended.and_then(|()| match &mut self.state().prints {
            None => Ok(Records::default()),
            Some(prints) => prints.take(&self.stream),
        });
        self.collect(upto, own, any, printed)
    }

    /// Returns the failure of the launch `own`, or else the first that nobody waits for if `any` is set, of the launches up to `upto`, which
    /// have ended.
    fn collect(&self, upto: u64, own: Option<u64>, any: bool, printed: Result<Records>) -> Ended {
        let mut state = self.state();
        let State { slots, failures, .. } = &mut *state;
        slots.collect(upto, failures);
        let failure = own.and_then(|launch| failures.own(launch));
        let failure = if any { failure.or_else(|| failures.first()) } else { failure };
        Ended { failure, printed }
    }

    /// Returns whether kernels of the stream have printed.
    pub(super) fn prints(&self) -> bool {
        self.state().prints.is_some()
    }

    /// Returns whether the stream has nothing to do and nothing to report.
    pub(super) fn is_done(&self) -> bool {
        // To ask for an event in the capture of another library would end that.
        if self.is_capturing().unwrap_or(true) {
            return false;
        }
        let mut state = self.state();
        if !self.so_far.record(&self.stream).and_then(|()| self.so_far.try_is_complete()).unwrap_or(false) {
            return false;
        }
        let State { slots, failures, .. } = &mut *state;
        slots.collect(u64::MAX, failures);
        failures.is_empty() && state.prints.is_none()
    }
}

impl State {
    /// Returns the words that count the failed threads of so many blocks, for a launch that is to overlap with the unfinished ones; `None` if
    /// memory for them has to come first, so that the launch cannot.
    fn counts_beside(&mut self, stream: &Arc<CudaStream>, blocks: u32) -> Result<Option<u64>> {
        let had_room = self.make_room(stream, blocks, MOST_COUNTED)?;
        let place = self.unfinished.counted() as u64 * u64::from(self.blocks) * size_of::<u64>() as u64;
        Ok(had_room.then(|| self.failed_threads() + place))
    }

    /// Returns the address of the counts, if there are some.
    fn failed_threads(&self) -> u64 {
        self.failed_threads.as_ref().map_or(0, Allocation::address)
    }

    /// Allocates the counts, and returns whether that was done before.
    fn make_room(&mut self, stream: &Arc<CudaStream>, blocks: u32, at_once: usize) -> Result<bool> {
        let had_room = blocks <= self.blocks && at_once <= self.at_once;
        if !had_room {
            let (blocks, at_once) = (blocks.max(self.blocks), at_once.max(self.at_once));
            // The old memory is freed in the stream's order, after the kernels that use it.
            let counts = ffi::allocate(stream, at_once * blocks as usize * size_of::<u64>())?;
            ffi::clear(stream, counts.region())?;
            self.failed_threads = Some(counts);
            (self.blocks, self.at_once) = (blocks, at_once);
        }
        Ok(had_room)
    }

    /// Returns the block for the next launch of the stream, which starts `program`, and whether it may begin beside the unfinished ones, if it
    /// is to. The host may change the launch's words.
    pub(super) fn block(
        &mut self,
        stream: &Arc<CudaStream>,
        program: &Program,
        kernel: usize,
        shape: &Shape,
        changes_words: bool,
        mut overlaps: bool,
    ) -> Result<(LaunchBlock, bool)> {
        let blocks = counted_blocks(shape);
        let mut counts = None;
        if blocks > 0 {
            if overlaps {
                counts = self.counts_beside(stream, blocks)?;
                overlaps = counts.is_some();
            } else {
                self.make_room(stream, blocks, 1)?;
            }
        }
        let mut block = self.slots.next(stream, &mut self.failures, changes_words || program.has_grid_barrier())?;
        block.kernel = kernel as u32;
        if blocks > 0 {
            (block.failed_threads, block.blocks) = (counts.unwrap_or(self.failed_threads()), self.blocks);
        }
        if program.prints() {
            let prints = match &mut self.prints {
                Some(prints) => prints,
                None => self.prints.insert(Prints::new(stream)?),
            };
            (block.prints, block.print_bytes) = (prints.address(), PRINT_BYTES as u32);
        }
        Ok((block, overlaps))
    }

    /// The launches that the next one may overlap with.
    pub(super) fn unfinished(&mut self) -> &mut Unfinished {
        &mut self.unfinished
    }

    /// Returns the block for the next launch of the stream, which is one of a graph, whose kernels have their own.
    pub(super) fn slot(&mut self, stream: &Arc<CudaStream>) -> Result<LaunchBlock> {
        self.slots.next(stream, &mut self.failures, false)
    }

    /// Keeps the failure of a launch for the one who waits for it.
    pub(super) fn keep(&mut self, launch: u64) {
        self.failures.keep(launch);
    }
}

/// Returns the number of blocks whose failed threads are counted: only those with peers.
pub(super) fn counted_blocks(shape: &Shape) -> u32 {
    if shape.cluster.count() > 1 { u32::try_from(shape.grid.count()).unwrap_or(u32::MAX) } else { 0 }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // Kernels may still be writing to the pinned records. One that has ignored its deadline keeps its stream forever (`Gpu::finish`).
        let _ = self.wait_for_deadlines();
        let _ = self.stream.synchronize();
    }
}
