//! The pending meetings of the threads of a warp.

use std::any::TypeId;
use std::cell::{Cell, Ref, RefCell};
use std::fmt;
use std::mem::MaybeUninit;
use std::rc::Rc;

use crate::sim::race::{Clock, PhaseRelease};
use crate::sim::site::Site;

/// A collective of a tile or a coalesced group, as one thread calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WarpCall {
    /// The collective's name in reports: `tile.shfl()`.
    pub(crate) name: &'static str,
    /// The lanes of the group.
    pub(crate) lanes: u32,
    /// The type of the value.
    pub(crate) value: TypeId,
    /// Whether the call is a barrier: it may be reached from several sites, and orders memory. No other collective does
    /// (CUDA C++ Programming Guide, Warp Shuffle Functions: "do not imply a memory barrier").
    pub(crate) barrier: bool,
    pub(crate) site: Site,
}

impl fmt::Display for WarpCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}()`", self.name)
    }
}

/// A call of a collective that not all lanes have reached yet, or, for those that have, its values.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(in crate::sim) call: WarpCall,
    pub(in crate::sim) arrived: Cell<u32>,
    pub(in crate::sim) size: usize,
    /// The values by lane.
    pub(in crate::sim) values: RefCell<Box<[MaybeUninit<u8>]>>,
    pub(in crate::sim) releases: RefCell<PhaseRelease>,
    /// What the threads of a barrier released.
    pub(in crate::sim) released: RefCell<Clock>,
}

impl Exchange {
    /// Returns the value of the thread of this lane, which is one of the group's.
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
    /// The open meetings; at most one for the same lanes.
    pub(in crate::sim) exchanges: RefCell<Vec<Rc<Exchange>>>,
    /// Whether some of its threads wait in `coalesced_threads()`.
    pub(in crate::sim) coalescing: Cell<bool>,
}

/// A thread's state in its warp.
#[derive(Debug, Default)]
pub(crate) struct LaneState {
    /// The loop iterations it has executed while others wait for it to join them; `None` if no thread does.
    pub(in crate::sim) awaited: Cell<Option<u32>>,
    /// The lanes that its `coalesced_threads()` found.
    pub(in crate::sim) coalesced: Cell<u32>,
}
