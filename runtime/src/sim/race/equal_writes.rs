//! The consequence of two plain writes that happens-before does not order but that store equal bytes, as when many
//! threads set the same flag. They race by the memory model of PTX, although hardware leaves the value that both store.

/// The consequence of two unordered plain writes that store equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EqualWrites {
    /// They pass.
    Allow,
    /// They pass with a warning.
    Warn,
    /// They end the launch as a race.
    Race,
}
