//! No bar.

/// Progress that is never shown.
pub(crate) struct Progress;

impl Progress {
    pub(crate) fn new(_what: &str, _steps: u64, _unit: &'static str) -> Self {
        Progress
    }

    pub(crate) fn hidden() -> Self {
        Progress
    }

    pub(crate) fn step(&self) {}

    pub(crate) fn show(&self) {}
}
