//! GPUs: what they can do (`caps`), the run-time compiler (`nvrtc`) with its store on disk (`store`), memory and launches
//! (`gpu`), the record a failing kernel leaves (`record`), what kernels print (`print`), and the driver calls beneath (`ffi`). Nothing here knows the
//! simulator, or a kernel's Rust types.

pub(crate) mod caps;
mod ffi;
pub(crate) mod gpu;
pub(crate) mod nvrtc;
mod print;
mod profile;
mod record;
pub(crate) mod store;

pub(crate) use ffi::{GpuMemory, bytes_of};
