//! Holds the events of a run for a timeline.

use std::sync::{Arc, Mutex};

use crate::report::timeline::EventKind;
use crate::sim::site::Site;

/// Collects the events of all runs that it is given to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(pub(in crate::sim) Arc<Mutex<Vec<RecordedEvent>>>);

#[derive(Debug)]
pub(in crate::sim) struct RecordedEvent {
    pub(in crate::sim) block: u64,
    pub(in crate::sim) thread: u32,
    pub(in crate::sim) what: EventKey,
    pub(in crate::sim) start: u64,
    pub(in crate::sim) end: u64,
}

/// What threads of a warp do together, if each of them does it as often.
pub(in crate::sim) type EventKey = (EventKind, &'static str, Option<Site>);
