//! The host's side: devices (`device`), their memory (`buffer`), launches (`builder`, with their `arguments` and the
//! checks before them, `check`), and one program under many schedules (`explore`). Only this module knows both the
//! simulator and GPUs.

mod arguments;
mod buffer;
mod builder;
mod check;
mod device;
mod explore;

pub use arguments::{Arguments, Threads, global, global_mut};
pub use buffer::Buffer;
pub use builder::{Launch, Occupancy};
pub use device::Device;
pub use explore::{Exploration, Finding};
