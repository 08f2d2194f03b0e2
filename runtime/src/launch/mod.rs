//! The host's side: devices (`device`; `host` is the simulator as one), their streams (`stream`) and memory (`buffer`, `view` for a part
//! of one, and `tensor` for one with a shape; `foreign` is what cudarc has), launches (`builder`, with their `arguments` and the
//! checks before them, `check`), and one program under many schedules (`explore`). Only this module knows both the
//! simulator and GPUs.

mod arguments;
mod buffer;
mod builder;
mod check;
mod device;
mod explore;
#[cfg(feature = "gpu")]
mod foreign;
mod host;
#[cfg(test)]
mod on_each_device;
mod stream;
mod tensor;
mod view;

pub use arguments::{Arguments, Threads, global, global_mut};
pub use buffer::Buffer;
pub use builder::{Launch, Occupancy};
pub use device::Device;
pub use explore::{Exploration, Finding};
pub use stream::{Enqueued, Stream, StreamEvent};
pub use tensor::{Ranked, Tensor, TensorMut, TensorMutOf, TensorOf, tensor_map, tensor_map_mut};
pub use view::View;
