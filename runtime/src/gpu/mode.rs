//! How a kernel is started, and how work uses memory: what a caller says with or without a GPU.

use std::ffi::c_void;
use std::time::Duration;

use smallvec::SmallVec;

use crate::program::Program;
use crate::report::error::LaunchError;
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

impl Mode {
    /// Returns why no graph, ours or another library's, takes a launch of the program.
    pub(crate) fn refused_in_graph(self, program: &Program, has_deadline: bool) -> Option<LaunchError> {
        match self {
            Mode::Launch | Mode::Timeline => Some(LaunchError::WaitsInGraph),
            Mode::Enqueue | Mode::Keep if program.prints() => Some(LaunchError::PrintsInGraph),
            Mode::Enqueue | Mode::Keep if has_deadline => Some(LaunchError::DeadlineInGraph),
            Mode::Enqueue | Mode::Keep => None,
        }
    }
}

/// What a launch asks for besides its shape.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a, Memory> {
    pub(crate) deadline: Option<Duration>,
    /// The memory that the kernel reads before it waits for the launches before it, if it may begin before they have ended.
    pub(crate) early: Option<&'a [Memory]>,
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

/// The number of arguments for which a launch allocates nothing: an allocation takes as long as all that is done for an argument.
pub(crate) const FEW: usize = 8;

/// The addresses of a kernel's parameters, of which each launch sets the last.
pub(crate) type Pointers = SmallVec<[*mut c_void; FEW + 1]>;

/// How work uses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}
