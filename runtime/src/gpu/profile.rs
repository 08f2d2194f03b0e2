//! The memory in which a launch records its barriers, and its conversion to a timeline. `profile.cuh` defines the
//! layout.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use super::block::LaunchBlock;
use super::ffi::{self, Allocation};
use crate::program::Program;
use crate::report::error::Result;
use crate::report::timeline::{Event, EventKind, TimeUnit, Timeline};
use crate::shape::Shape;

/// The size of all records in bytes, except that each warp has room for at least one.
const BYTES: u64 = 256 << 20;
/// The largest number of records of a warp.
const MOST: u64 = 4096;
/// The size of `profile_record` in `u64`s.
const WORDS: u64 = 3;

/// The memory for the records of one launch.
pub(super) struct Profile {
    records: Allocation,
    counts: Allocation,
    /// The number of records that a warp may have.
    room: u64,
    /// The number of warps of a block, and of the launch.
    warps: u64,
    all: u64,
}

impl Profile {
    pub(super) fn new(stream: &Arc<CudaStream>, shape: &Shape) -> Result<Self> {
        let warps = shape.block.count().div_ceil(32);
        let all = shape.grid.count() * warps;
        let room = (BYTES / (8 * WORDS * all)).clamp(1, MOST);
        let records = ffi::allocate(stream, (8 * WORDS * room * all) as usize)?;
        let counts = ffi::allocate(stream, 4 * all as usize)?;
        ffi::clear(stream, counts.region())?;
        Ok(Profile { records, counts, room, warps, all })
    }

    /// Tells a launch where to record.
    pub(super) fn write(&self, block: &mut LaunchBlock) {
        (block.records, block.counts) = (self.records.address(), self.counts.address());
        (block.room, block.warps) = (self.room as u32, self.warps as u32);
    }

    /// Returns the timeline of the launch, which must have ended.
    pub(super) fn timeline(&self, stream: &Arc<CudaStream>, program: &Program) -> Result<Timeline> {
        let counts = ffi::read::<u32>(stream, self.counts.region().part(0, 4 * self.all as usize))?;
        // Unwritten records are not read.
        let words = ffi::read::<u64>(stream, self.records.region())?;
        let (mut events, mut lost) = (Vec::new(), 0);
        for (at, &count) in counts.iter().enumerate() {
            let kept = u64::from(count).min(self.room);
            lost += u64::from(count) - kept;
            let first = at * (WORDS * self.room) as usize;
            let records = words[first..first + (WORDS * kept) as usize].chunks_exact(WORDS as usize);
            let (block, warp) = (at as u64 / self.warps, (at as u64 % self.warps) as u32);
            let all: Vec<Event> = records.filter_map(|record| event(record, block, warp, program)).collect();
            // A warp is only observed from its first barrier to its last.
            if let (Some(first), Some(last)) = (all.first(), all.last()) {
                let (start, end) = (first.start, last.end);
                events.push(Event { block, warp, kind: EventKind::Run, barrier: "", location: None, start, end });
            }
            events.extend(all);
        }
        Ok(Timeline::new(program.name(), TimeUnit::Nanoseconds, events, lost))
    }
}

fn event(record: &[u64], block: u64, warp: u32, program: &Program) -> Option<Event> {
    let [start, end, last] = *record else { return None };
    let (site, code) = (last as u32, last >> 32);
    let kind = match code & 0xff {
        1 => EventKind::Arrive,
        2 => EventKind::Wait,
        3 => EventKind::Sync,
        _ => return None,
    };
    let barrier = *["block", "cluster", "grid", "bar"].get((code >> 8) as usize)?;
    Some(Event { block, warp, kind, barrier, location: program.sites().find(site), start, end: end.max(start) })
}
