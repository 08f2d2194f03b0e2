//! The host's side: devices (`device`; `host` is the simulator as one), their streams (`stream`) and memory (`buffer`, `view` for a part
//! of one, and `tensor` for one with a shape; `foreign` is what cudarc has, `dlpack` what other libraries have, `reinterpret` gives other types), copies on a stream (`copy`, and `pinned` with the host's memory, which `managed` is too), the end of its work as a future (`completion`), launches (`builder`, with their `arguments` and the
//! checks before them, `check`; `checked` and `prepared` are one after them, and `simulated` is one in the simulator), archives of their code (`archive`), what several devices compute together (`communicator`, whose processes `meeting` brings together), graphs of them (`graph`, and `capture` while one is recorded), and one program under many schedules (`explore`). Only this module knows both the
//! simulator and GPUs.

mod archive;
mod arguments;
mod buffer;
mod builder;
mod capture;
mod check;
mod checked;
mod communicator;
mod completion;
mod copy;
mod device;
#[cfg(feature = "gpu")]
mod dlpack;
mod explore;
#[cfg(feature = "gpu")]
mod foreign;
mod graph;
mod host;
mod managed;
mod meeting;
#[cfg(test)]
mod on_each_device;
mod pinned;
mod prepared;
mod reinterpret;
mod simulated;
mod stream;
mod tensor;
mod view;

pub use archive::Archive;
pub use arguments::{Arguments, Threads, global, global_mut};
pub use buffer::Buffer;
pub use builder::{Launch, Occupancy};
pub use communicator::{CollectiveElement, Communicator};
pub use completion::Completion;
pub use device::Device;
#[cfg(feature = "gpu")]
pub use dlpack::DlpackTensor;
pub use explore::{Exploration, Finding};
pub use graph::Graph;
pub use pinned::{PinnedBuffer, PinnedCopy};
pub use prepared::PreparedLaunch;
pub use stream::{Enqueued, Stream, StreamEvent};
pub use tensor::{Ranked, Tensor, TensorMut, TensorMutOf, TensorOf, tensor_map, tensor_map_mut};
pub use view::{View, ViewMut};
