//! Names for the parts of what a thread publishes at once: an array, or one field of its elements.

/// A part of what a thread publishes at once: the elements of an array, or a field of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) array: usize,
    pub(super) field: Option<u16>,
}
