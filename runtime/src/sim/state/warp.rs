//! The state of a warp and of its threads' pending collectives.

use std::any::TypeId;
use std::cell::{Cell, Ref, RefCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::rc::Rc;

use crate::sim::race::{Clock, PhaseRelease};
use crate::sim::site::Site;

/// A thread's call of a collective of a tile or a coalesced group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WarpCall {
    /// The collective's name in reports: `tile.shfl()`.
    pub(crate) name: &'static str,
    /// The lanes of the group.
    pub(crate) lanes: u32,
    /// The type of the value.
    pub(crate) value: TypeId,
    /// Whether the call is a barrier, which threads may call from several sites, and which orders memory. No other
    /// collective does (CUDA C++ Programming Guide, Warp Shuffle Functions: "do not imply a memory barrier").
    pub(crate) barrier: bool,
    pub(crate) site: Site,
}

impl fmt::Display for WarpCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}()`", self.name)
    }
}

/// An exchange of values between the lanes of a group: pending until all lanes have contributed theirs, and then a
/// source of all values.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(in crate::sim) call: WarpCall,
    /// The lanes that have contributed a value.
    pub(in crate::sim) arrived: Cell<u32>,
    /// The size of a value in bytes.
    pub(in crate::sim) size: usize,
    /// The values by lane.
    pub(in crate::sim) values: RefCell<Box<[MaybeUninit<u8>]>>,
    /// What the threads of a barrier have released so far, and what they released when all have arrived.
    pub(in crate::sim) releases: RefCell<PhaseRelease>,
    pub(in crate::sim) released: RefCell<Clock>,
}

impl Exchange {
    /// Returns the value of this lane, which must be one of the group's.
    pub(crate) fn value(&self, lane: u32) -> Ref<'_, [MaybeUninit<u8>]> {
        let at = lane as usize * self.size;
        Ref::map(self.values.borrow(), |values| &values[at..at + self.size])
    }

    pub(in crate::sim) fn contribute(&self, lane: u32, value: &[MaybeUninit<u8>]) {
        let at = lane as usize * self.size;
        self.values.borrow_mut()[at..at + self.size].copy_from_slice(value);
        self.arrived.set(self.arrived.get() | 1 << lane);
    }
}

/// The pending operations of a warp.
#[derive(Debug, Default)]
pub(crate) struct Warp {
    /// The pending exchanges, of which at most one has the same lanes.
    pub(in crate::sim) exchanges: RefCell<Vec<Rc<Exchange>>>,
    /// Whether some of the warp's threads wait in `coalesced_threads()`.
    pub(in crate::sim) coalescing: Cell<bool>,
}

/// A thread's state in its warp.
#[derive(Debug, Default)]
pub(crate) struct LaneState {
    /// The number of loop iterations that the thread has executed while others wait in `coalesced_threads()`; `None` if
    /// no thread does.
    pub(in crate::sim) awaited: Cell<Option<u32>>,
    /// The lanes of the group that the thread's `coalesced_threads()` formed.
    pub(in crate::sim) coalesced: Cell<u32>,
}
