//! Reports to the user: errors of the host (`error`), what stopped a kernel (`failure`, with `race` for one of its causes and
//! `render` for the source beside it), what a kernel printed (`output`), and the timeline of a launch (`timeline`). They are
//! data and its text; the rooms above find and record it.

pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod race;
mod render;
pub(crate) mod timeline;
