//! Holds the events that are recorded for a timeline.

use std::sync::{Arc, Mutex};

use crate::report::timeline::EventKind;
use crate::sim::site::Site;

/// Collects the events of all runs that it is given to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(pub(in crate::sim) Arc<Mutex<Vec<RecordedEvent>>>);

/// An event of one thread.
#[derive(Debug)]
pub(in crate::sim) struct RecordedEvent {
    /// The block's rank in the grid, and the thread's rank in the block.
    pub(in crate::sim) block: u64,
    pub(in crate::sim) thread: u32,
    pub(in crate::sim) key: EventKey,
    pub(in crate::sim) start: u64,
    pub(in crate::sim) end: u64,
}

/// Identifies an event by its kind, its barrier and its site. The n-th events of a key in the threads of a warp are one
/// event of the timeline.
pub(in crate::sim) type EventKey = (EventKind, &'static str, Option<Site>);
