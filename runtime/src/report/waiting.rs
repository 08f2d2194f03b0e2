//! Threads that wait, and those that they wait for: a part of the report of a deadlock.

use crate::location::Location;
use crate::shape::Dim3;

/// The threads that wait at the same position in the source when no thread can make progress.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WaitingThreads {
    /// The operation that they wait in: ``wait at `cluster.sync()` ``.
    pub what: String,
    /// The position in the Rust source.
    pub location: Option<Location>,
    /// The calls of device functions that led there, the innermost first.
    pub calls: Vec<Location>,
    /// Whether they spin on memory, which `what` names, rather than wait at a barrier.
    pub spins: bool,
    /// The number of threads.
    pub threads: usize,
    /// The indices of the first of them: its block's in the grid, and its own in the block.
    pub first: (Dim3, Dim3),
    /// The threads that have not arrived, or have not written what these spin on, grouped by where they are instead.
    pub missing: Vec<MissingThreads>,
}

/// Threads that others wait for, with the position at which they are instead.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingThreads {
    /// Their status: ``wait at `block.sync()` ``, or `exited`.
    pub what: String,
    /// The position in the Rust source; `None` if they have exited.
    pub location: Option<Location>,
    /// The number of threads.
    pub threads: usize,
    /// The indices of the first of them: its block's in the grid, and its own in the block.
    pub first: (Dim3, Dim3),
}

impl WaitingThreads {
    /// Returns what the missing threads have not done.
    pub(super) fn lacks(&self) -> &'static str {
        if self.spins { "could have written it" } else { "not arrived" }
    }
}

/// Formats the calls that led somewhere: `, called from src/main.rs:12:5, src/main.rs:30:9`.
pub(super) fn called_from(calls: &[Location]) -> String {
    let calls: Vec<String> = calls.iter().map(Location::to_string).collect();
    if calls.is_empty() { String::new() } else { format!(", called from {}", calls.join(", ")) }
}

/// Formats a group of threads: `24 thread(s), first block (0,0,0) thread (0,0,0): exited`.
pub(super) fn threads(count: usize, (block, thread): (Dim3, Dim3), what: &str, location: Option<&Location>) -> String {
    let at = location.map(|location| format!(", at {location}")).unwrap_or_default();
    format!("{count} thread(s), first block {block} thread {thread}: {what}{at}")
}
