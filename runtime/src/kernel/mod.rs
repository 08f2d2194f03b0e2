//! The host API of a kernel, which the host body calls: groups of threads (`group`, with `token` for their barriers),
//! phase barriers (`barrier`), memory (`memory`), matrices (`matrix`) and copies between its kinds (`copy`, and `pipeline` over them), tensors and their tiles (`tensor`),
//! arithmetic (`numeric`, and `operators` of any type), methods of Rust's own types (`methods_of_rust`, `ascii`), `nanosleep`, launches that overlap (`previous`), the language itself (`intrinsics`, and `call` for
//! device functions), and inline CUDA C++ (`inline_cuda`). `spelling` has the
//! names of all of it, for the macro to compare. All of it runs in the simulator; the prelude implements the same for a GPU.

pub(crate) mod arrays;
#[allow(missing_docs, reason = "Rust documents the methods")]
pub(crate) mod ascii;
pub(crate) mod barrier;
pub(crate) mod call;
pub(crate) mod conversion;
pub(crate) mod copy;
pub(crate) mod group;
pub(crate) mod inline_cuda;
pub(crate) mod intrinsics;
pub(crate) mod matrix;
pub(crate) mod memory;
#[allow(missing_docs, reason = "Rust documents the methods")]
pub(crate) mod methods_of_rust;
pub(crate) mod nanosleep;
pub(crate) mod numeric;
pub(crate) mod operators;
pub(crate) mod pipeline;
pub(crate) mod previous;
pub(crate) mod spelling;
pub(crate) mod tensor;
pub(crate) mod token;
