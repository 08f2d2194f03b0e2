//! What the user is told: errors of the host (`error`), what stopped a kernel (`failure`, with `race` for one of its
//! causes and `render` for the source beside it), what a kernel printed (`output`), and how a launch went (`timeline`).
//! Data and its text; who finds or records it is above.

pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod race;
mod render;
pub(crate) mod timeline;
