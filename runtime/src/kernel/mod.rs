//! The host API of a kernel, which the host body calls: groups of threads (`group`, with `token` for their barriers), phase
//! barriers (`barrier`), memory (`memory`) and copies between its kinds (`copy`, and `pipeline` over them), arithmetic
//! (`numeric`), `nanosleep`, the language itself (`intrinsics`), and inline CUDA C++ (`inline_cuda`). Everything runs in the simulator; a GPU
//! has its own of each in the prelude.

pub(crate) mod barrier;
pub(crate) mod copy;
pub(crate) mod group;
pub(crate) mod inline_cuda;
pub(crate) mod intrinsics;
pub(crate) mod memory;
pub(crate) mod nanosleep;
pub(crate) mod numeric;
pub(crate) mod pipeline;
pub(crate) mod token;
