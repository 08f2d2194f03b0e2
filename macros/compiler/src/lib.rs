//! The compiler behind phalanx's attributes, as an ordinary library: it takes the tokens of an annotated function, checks the
//! function as a kernel, and returns the items that replace it. `phalanx-macros` hands it rustc's tokens; tests and tools hand
//! it their own. It runs no kernel and calls no CUDA.

mod check;
mod derive;
mod diag;
mod emit;
mod expand;
mod fragment;
mod member;
mod messages;
mod model;
mod parse;
mod rules;
mod span;
mod stack;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use stack::with_large_stack;

/// Expands `#[cluster_kernel(options)] item` to the items that replace it, or to its faults as `compile_error!`s beside a
/// stub of its signature.
///
/// ```
/// let item = "fn fill(output: &mut [u32]) { output[this_grid().thread_rank()] = 7; }";
/// let items = phalanx_compiler::kernel("block = 32".parse()?, item.parse()?);
/// assert!(!items.to_string().contains("compile_error"));
/// # Ok::<(), proc_macro2::LexError>(())
/// ```
pub fn kernel(options: TokenStream, item: TokenStream) -> TokenStream {
    with_large_stack(|| expand::kernel(options, item))
}

/// Expands `#[device(options)] item`, of a function, an `impl` or a trait, in the same way.
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    with_large_stack(|| expand::device(options, item))
}

/// Expands `#[derive(DeviceCopy)]` on `item` to the implementation of the trait, or to its faults.
pub fn device_copy(item: TokenStream) -> TokenStream {
    with_large_stack(|| derive::device_copy(item))
}
