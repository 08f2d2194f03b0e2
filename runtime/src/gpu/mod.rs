//! NVIDIA's side: the capabilities of a GPU (`caps`), its context with memory and launches (`context`), the run-time
//! compiler (`nvrtc`) and its store on disk (`store`), the record of a failing kernel (`record`), what kernels print
//! (`print`), the times that they record at barriers (`profile`), and the driver calls below (`ffi`). This module knows
//! neither the simulator nor a kernel's Rust types.

pub(crate) mod caps;
pub(crate) mod context;
mod ffi;
pub(crate) mod nvrtc;
mod print;
mod profile;
mod record;
pub(crate) mod store;

pub(crate) use ffi::GpuMemory;
