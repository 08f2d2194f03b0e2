//! What the launches of a stream leave for the host: for each, a record of its failure in pinned memory and two words in device
//! memory. They come in segments; a segment is used again when all of its launches have ended. At most [`MOST`]
//! segments are in flight, as many launches as the driver itself queues.

use std::collections::VecDeque;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream};

use super::block::LaunchBlock;
use super::ffi::pinned::PinnedRecords;
use super::ffi::{self, Allocation, driver};
use super::record::Record;
use crate::report::error::Result;
use crate::report::unreported::Unreported;

/// The number of launches of a segment.
const LAUNCHES: usize = 128;
/// The largest number of segments, and of the segments whose launches are known to have ended only from their event.
const MOST: usize = 8;
/// The bytes of a launch in device memory: the claim, and the word of the grid's barrier.
const BYTES: usize = 2 * size_of::<u32>();

/// The segments of a stream.
#[derive(Default)]
pub(super) struct Slots {
    /// Those that are used up, in the order of their launches.
    full: VecDeque<Segment>,
    /// `None` before the first launch: another library may be capturing the stream when it becomes one of ours.
    current: Option<Segment>,
    /// Records for the first segment.
    prepared: Option<PinnedRecords>,
    /// The number of the last launch, counted from 1.
    issued: u64,
}

struct Segment {
    records: PinnedRecords,
    words: Allocation,
    /// The number of the first launch.
    first: u64,
    /// The number of launches so far, and of those whose records have been read.
    used: usize,
    read: usize,
    /// Whether a launch may have left its words at other values than zero.
    changed: bool,
    /// Recorded when the segment is used up.
    ended: CudaEvent,
}

impl Slots {
    /// Allocates the first records, so that the first launch need not: the driver's first allocation of pinned memory takes a millisecond.
    pub(super) fn prepare(&mut self, context: &Arc<CudaContext>) -> Result<()> {
        self.prepared = Some(PinnedRecords::new(context, LAUNCHES)?);
        Ok(())
    }

    /// Returns the number of the last launch.
    pub(super) fn issued(&self) -> u64 {
        self.issued
    }

    /// Returns the block for the next launch. If it takes the memory of an earlier launch, it first adds that one's failure
    /// to `failures`.
    pub(super) fn next(
        &mut self,
        stream: &Arc<CudaStream>,
        failures: &mut Unreported<Record>,
        has_grid_barrier: bool,
    ) -> Result<LaunchBlock> {
        if self.current.as_ref().is_none_or(|segment| segment.used == LAUNCHES) {
            if let Some(used_up) = &self.current {
                used_up.ended.record(stream).map_err(driver("cuEventRecord"))?;
            }
            let next = self.segment(stream, failures)?;
            self.full.extend(self.current.replace(next));
        }
        self.issued += 1;
        let segment = self.current.as_mut().expect("there is one from the first launch on");
        let (slot, words) = (segment.used, segment.words.address() + (segment.used * BYTES) as u64);
        segment.used += 1;
        segment.changed |= has_grid_barrier;
        Ok(LaunchBlock {
            record: segment.records.address(slot),
            claim: words,
            grid_barrier: words + size_of::<u32>() as u64,
            number: self.issued,
            ..LaunchBlock::default()
        })
    }

    /// Returns whether the next launch would wait for an earlier one.
    pub(super) fn are_taken(&self) -> Result<bool> {
        let is_used_up = self.current.as_ref().is_some_and(|segment| segment.used == LAUNCHES);
        match self.full.front().filter(|_| is_used_up && self.full.len() + 1 >= MOST) {
            Some(oldest) => oldest.has_ended().map(|has_ended| !has_ended),
            None => Ok(false),
        }
    }

    /// Returns a segment for the launches after the last: the oldest, if its launches have ended or no more may be made, or a new one.
    fn segment(&mut self, stream: &Arc<CudaStream>, failures: &mut Unreported<Record>) -> Result<Segment> {
        let first = self.issued + 1;
        let again = match self.full.front() {
            Some(oldest) => self.full.len() + 1 >= MOST || oldest.has_ended()?,
            None => false,
        };
        match again.then(|| self.full.pop_front()).flatten() {
            None => Segment::new(stream, first, self.prepared.take()),
            Some(mut oldest) => {
                let ended = oldest.ended.synchronize().map_err(driver("cuEventSynchronize"));
                oldest.collect(u64::MAX, failures);
                ended?;
                oldest.begin(stream, first)?;
                Ok(oldest)
            }
        }
    }

    /// Returns the state of the record of a launch that the stream has issued.
    pub(super) fn state(&self, launch: u64) -> u32 {
        let segment =
            self.full.iter().chain(&self.current).find(|segment| segment.first + segment.used as u64 > launch);
        let index = segment.and_then(|segment| Some((segment, launch.checked_sub(segment.first)? as usize)));
        // Those that were read have ended.
        index
            .filter(|(segment, index)| *index >= segment.read)
            .map_or(Record::ENDED, |(segment, index)| segment.records.state(index))
    }

    /// Adds the failures of the launches up to this number, which have ended.
    pub(super) fn collect(&mut self, upto: u64, failures: &mut Unreported<Record>) {
        for segment in self.full.iter_mut().chain(&mut self.current) {
            segment.collect(upto, failures);
        }
    }
}

impl Segment {
    fn new(stream: &Arc<CudaStream>, first: u64, prepared: Option<PinnedRecords>) -> Result<Segment> {
        let words = ffi::allocate(stream, LAUNCHES * BYTES)?;
        ffi::clear(stream, words.region())?;
        let records = prepared.map_or_else(|| PinnedRecords::new(stream.context(), LAUNCHES), Ok)?;
        let ended = stream.context().new_event(None).map_err(driver("cuEventCreate"))?;
        Ok(Segment { records, words, first, used: 0, read: 0, changed: false, ended })
    }

    /// Returns whether all launches have ended, of one that is used up.
    fn has_ended(&self) -> Result<bool> {
        self.ended.try_is_complete().map_err(driver("cuEventQuery"))
    }

    /// Starts again, in the order of the stream.
    fn begin(&mut self, stream: &Arc<CudaStream>, first: u64) -> Result<()> {
        if std::mem::take(&mut self.changed) {
            ffi::clear(stream, self.words.region())?;
        }
        (self.first, self.used, self.read) = (first, 0, 0);
        Ok(())
    }

    fn collect(&mut self, upto: u64, failures: &mut Unreported<Record>) {
        while self.read < self.used && self.first + self.read as u64 <= upto {
            let state = self.records.state(self.read);
            if state == Record::FAILED {
                failures.add(self.first + self.read as u64, self.records.read(self.read));
                self.changed = true;
            }
            if state != Record::EMPTY {
                self.records.clear(self.read);
            }
            self.read += 1;
        }
    }
}
