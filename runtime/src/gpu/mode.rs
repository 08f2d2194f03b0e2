//! How a kernel is started, and how work uses memory: what a caller says with or without a GPU.

use crate::report::timeline::Timeline;

/// What the host does after it has started a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The host does not wait for the end. Who next waits for the stream gets a failure.
    Enqueue,
    /// The host does not wait for the end, and the launch's failure is kept for who has its handle.
    Keep,
    Launch,
    /// The host waits, and the launch records its barriers.
    Timeline,
}

/// A launch that has been started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Its number in its stream.
    pub(crate) number: u64,
    pub(crate) timeline: Option<Timeline>,
}

impl Started {
    /// A launch that has been captured into a graph, and does not run.
    pub(crate) const CAPTURED: Started = Started { number: 0, timeline: None };
}

/// How work uses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}
