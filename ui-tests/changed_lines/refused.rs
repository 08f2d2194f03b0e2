//! The kernels that rustc refuses: `main.rs` builds this, and reads why it does not compile.

use phalanx::prelude::*;

/// A kernel, which its use has rustc compile.
type Use = fn();

macro_rules! gemm {
    ($module:ident) => {
        || drop($module::gemm::<bf16, f32, epilogue::Scaled, 64>)
    };
}

macro_rules! normed {
    ($module:ident) => {
        || drop($module::normed)
    };
}

include!(concat!(env!("OUT_DIR"), "/refused.rs"));

#[test]
fn is_never_built() {
    USES.iter().for_each(|kernel| kernel());
}
