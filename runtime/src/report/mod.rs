//! The reports to the user: errors of the host (`error`), with what to do about the driver's (`driver`), failures of kernels (`failure`, with `race` for one of the
//! causes, `waiting` for threads that wait, `render` for the source beside the text, and `html` for pages), warnings (`warning`), what a kernel takes of a
//! device (`attributes`), the fences of a kernel's barriers (`barrier_fence`), its rings of phase barriers (`ring`), what is wrong with a
//! tensor (`tensor`), with one of another library (`dlpack`), with the use of a graph (`graph`) and with a collective (`nccl`), the output of kernels (`output`), the timeline of a launch (`timeline`), and the
//! failures that nobody has been told of yet (`unreported`). They are data with its text; `progress` is what a long run shows meanwhile; the other modules find and record it.

pub(crate) mod attributes;
pub(crate) mod barrier_fence;
pub(crate) mod dlpack;
mod driver;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod graph;
mod html;
pub(crate) mod launch_error;
pub(crate) mod nccl;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod race;
mod render;
pub(crate) mod ring;
pub(crate) mod tensor;
pub(crate) mod timeline;
pub(crate) mod unreported;
mod waiting;
pub(crate) mod warning;
