//! What a kernel names, as the host body calls it: groups of threads (`group`, with `token` for their barriers), phase
//! barriers (`barrier`), memory (`memory`) and copies between its kinds (`copy`, and `pipeline` over them), arithmetic
//! (`numeric`), what the language itself does (`intrinsics`), and CUDA C++ by hand (`inline_cuda`). Everything runs in the
//! simulator; a GPU has its own of each in the prelude.

pub(crate) mod barrier;
pub(crate) mod copy;
pub(crate) mod group;
pub(crate) mod inline_cuda;
pub(crate) mod intrinsics;
pub(crate) mod memory;
pub(crate) mod numeric;
pub(crate) mod pipeline;
pub(crate) mod token;
