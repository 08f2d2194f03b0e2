//! Numbers for the barriers and slots of all blocks, and for the kinds of copies that the roles begin.

use super::counters::gcd;
use super::skeleton::{BarrierArray, Op, Skeleton};
use super::verdict::{Object, Reason};

/// The largest number of barriers, and of slots.
const LARGEST: u64 = 512;

#[derive(Clone)]
pub(super) struct Barrier {
    pub(super) object: Object,
    pub(super) count: u16,
}

#[derive(Clone)]
pub(super) struct Slot {
    pub(super) object: Object,
    pub(super) parts: u16,
    /// Whether bulk copies read it.
    pub(super) stored: bool,
}

/// Copies that do the same when they land.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct CopyKind {
    pub(super) slot: usize,
    pub(super) barrier: usize,
    pub(super) units: u32,
    /// The slot that is read until they land.
    pub(super) from: Option<usize>,
    /// The role whose threads begin it, but for those that are single, if it is their share of a copy that they make together.
    pub(super) rest_of: Option<u32>,
}

#[derive(Clone)]
pub(super) struct Places {
    pub(super) blocks: u32,
    pub(super) barriers: Vec<Barrier>,
    pub(super) slots: Vec<Slot>,
    pub(super) copies: Vec<CopyKind>,
    /// The number of bytes that all numbers of bytes are multiples of.
    pub(super) unit: u32,
    /// Where the arrays of a block begin, with their lengths.
    barrier_arrays: Vec<(usize, u32)>,
    slot_arrays: Vec<(usize, u32)>,
}

impl Places {
    pub(super) fn new(skeleton: &Skeleton) -> Result<Places, Reason> {
        let starts = |stages: Vec<u32>| {
            let arrays = stages.into_iter().scan(0, |next, stages| {
                let start = *next;
                *next += stages as usize;
                Some((start, stages))
            });
            arrays.collect::<Vec<_>>()
        };
        let stages: Vec<u32> = skeleton.barriers.iter().map(BarrierArray::stages).collect();
        let slot_stages: Vec<u32> = skeleton.slots.iter().map(|array| array.stages).collect();
        let size =
            |stages: &[u32]| u64::from(skeleton.blocks) * stages.iter().map(|stages| u64::from(*stages)).sum::<u64>();
        if size(&stages) > LARGEST || size(&slot_stages) > LARGEST || skeleton.blocks > 16 {
            return Err(Reason::Size);
        }
        let (mut barriers, mut slots) = (Vec::new(), Vec::new());
        for block in 0..skeleton.blocks {
            for (array, data) in (0..).zip(&skeleton.barriers) {
                for (index, count) in (0..).zip(&data.counts) {
                    let count = u16::try_from(*count).ok().filter(|count| *count < 1 << 15).ok_or(Reason::Size)?;
                    barriers.push(Barrier { object: Object { array, index, block }, count });
                }
            }
            for (array, data) in (0..).zip(&skeleton.slots) {
                let parts = u16::try_from(data.parts).map_err(|_| Reason::Size)?;
                let stores = |op: &Op| match op {
                    Op::Store { slot, .. } | Op::Copy { from: Some(slot), .. } => slot.array == array,
                    _ => false,
                };
                let stored = skeleton.roles.iter().flat_map(|role| &role.steps).any(|step| stores(&step.op));
                slots.extend((0..data.stages).map(|index| Slot {
                    object: Object { array, index, block },
                    parts,
                    stored,
                }));
            }
        }
        let bytes = skeleton.roles.iter().flat_map(|role| &role.steps).filter_map(|step| match step.op {
            Op::Expect { bytes, .. } | Op::Copy { bytes, .. } => Some(i64::from(bytes)),
            _ => None,
        });
        let unit = u32::try_from(bytes.fold(0, |unit, bytes| if unit == 0 { bytes } else { gcd(unit, bytes) }).max(1));
        Ok(Places {
            blocks: skeleton.blocks,
            barriers,
            slots,
            copies: Vec::new(),
            unit: unit.unwrap_or(1),
            barrier_arrays: starts(stages),
            slot_arrays: starts(slot_stages),
        })
    }

    pub(super) fn barrier(&self, (array, index): (u32, i64), block: i64) -> Option<usize> {
        self.element(&self.barrier_arrays, array, index, block)
    }

    pub(super) fn slot(&self, (array, index): (u32, i64), block: i64) -> Option<usize> {
        self.element(&self.slot_arrays, array, index, block)
    }

    fn element(&self, arrays: &[(usize, u32)], array: u32, index: i64, block: i64) -> Option<usize> {
        let (start, stages) = *arrays.get(array as usize)?;
        let block = u32::try_from(block).ok().filter(|block| *block < self.blocks)?;
        let index = u32::try_from(index).ok().filter(|index| *index < stages)?;
        let (last, stages) = *arrays.last()?;
        Some(block as usize * (last + stages as usize) + start + index as usize)
    }

    pub(super) fn units(&self, bytes: u32) -> u32 {
        bytes / self.unit
    }

    pub(super) fn copy(&self, slot: usize, barrier: usize, bytes: u32) -> CopyKind {
        CopyKind { slot, barrier, units: self.units(bytes), from: None, rest_of: None }
    }

    /// Returns the copies that are a thread's share of one that a role makes together, and those that are the share of several threads.
    pub(super) fn shares(&mut self, slot: usize, barrier: usize, role: u32) -> (usize, usize) {
        let of_one = CopyKind { slot, barrier, units: 1, from: None, rest_of: None };
        (self.kind(of_one), self.kind(CopyKind { rest_of: Some(role), ..of_one }))
    }

    pub(super) fn kind(&mut self, kind: CopyKind) -> usize {
        let known = self.copies.iter().position(|known| *known == kind);
        known.unwrap_or_else(|| {
            self.copies.push(kind);
            self.copies.len() - 1
        })
    }
}
