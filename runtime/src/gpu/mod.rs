//! NVIDIA's side: the capabilities of a GPU (`caps`), its context with the loaded kernels (`loaded`) and their launches (`context`, whose `wait` is for what comes at their end), its
//! streams and the memory that they use (`queue`), copies (`transfer`), the run-time compiler (`nvrtc`) and its store on
//! disk (`store`); what the driver knows of a kernel (`attributes`), what a launch hands to its kernel (`block`) and where that lies (`slots`), the record of a failing
//! kernel (`record`), graphs of launches (`graph`, and those of other libraries, `capture`), collectives of several GPUs (`communicator`), libraries that are loaded when they are first used (`library`), what others may watch (`observe`), what kernels print (`print`), the times that they record at barriers (`profile`), the maps of tensors (`tensor_map`), and the driver calls
//! below (`ffi`). How kernels are started is data (`mode`). Without the feature `gpu` there is no driver, and `absent` stands for all
//! that needs one. This module knows
//! neither the simulator nor a kernel's Rust types.

#[cfg(not(feature = "gpu"))]
mod absent;
#[cfg(feature = "gpu")]
mod attributes;
#[cfg(feature = "gpu")]
mod block;
pub(crate) mod caps;
#[cfg(feature = "gpu")]
mod capture;
#[cfg(feature = "gpu")]
mod communicator;
#[cfg(feature = "gpu")]
mod context;
#[cfg(feature = "gpu")]
mod ffi;
#[cfg(feature = "gpu")]
mod graph;
mod library;
#[cfg(feature = "gpu")]
mod loaded;
mod mode;
pub(crate) mod nvrtc;
pub(crate) mod observe;
#[cfg(feature = "gpu")]
mod print;
#[cfg(feature = "gpu")]
mod profile;
#[cfg(feature = "gpu")]
mod queue;
#[cfg(feature = "gpu")]
mod record;
#[cfg(feature = "gpu")]
mod slots;
pub(crate) mod store;
#[cfg(feature = "gpu")]
mod tensor_map;
#[cfg(feature = "gpu")]
mod transfer;
pub(crate) mod variant;

#[cfg(not(feature = "gpu"))]
pub(crate) use absent::{
    Gpu, GpuCommunicator, GpuCopy, GpuEvent, GpuGraph, GpuMemory, Mark, Part, Pinned, Queue, Ready, Recording,
    tensor_map, unique_id,
};
#[cfg(feature = "gpu")]
pub(crate) use communicator::{GpuCommunicator, Part, unique_id};
#[cfg(feature = "gpu")]
pub(crate) use context::Gpu;
#[cfg(feature = "gpu")]
pub(crate) use ffi::pinned::Pinned;
#[cfg(feature = "gpu")]
pub(crate) use graph::{GpuGraph, Recording};
#[cfg(feature = "gpu")]
pub(crate) use loaded::Ready;
pub(crate) use mode::{Access, Asked, FEW, Mode, Pointers, Started};
#[cfg(feature = "gpu")]
pub(crate) use queue::{GpuCopy, GpuEvent, GpuMemory, Mark, Queue};
#[cfg(feature = "gpu")]
pub(crate) use tensor_map::tensor_map;
