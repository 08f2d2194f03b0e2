//! The attributes of phalanx. This file is the door: it turns the compiler's tokens into `proc_macro2`'s and back,
//! and says in its docs what the attributes do. Everything else is behind `expand`.

mod check;
mod diag;
mod emit;
mod expand;
mod messages;
mod model;
mod parse;
mod span;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a function a cluster kernel: checked here, compiled for the GPU at its first launch, run by the simulator
/// where there is no GPU.
#[proc_macro_attribute]
pub fn cluster_kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::kernel(options.into(), item.into()).into()
}

/// Makes a function callable from kernels and from other device functions.
#[proc_macro_attribute]
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::device(options.into(), item.into()).into()
}
