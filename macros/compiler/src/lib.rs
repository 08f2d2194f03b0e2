//! The compiler behind phalanx's attributes, as an ordinary library: it takes the tokens of an annotated function, checks the
//! function as a kernel, and returns the items that replace it. `phalanx-macros` hands it rustc's tokens; tests and tools hand
//! it their own. It runs no kernel and calls no CUDA.

mod check;
mod derive;
mod diag;
mod emit;
mod expand;
mod fragment;
mod item;
mod member;
mod messages;
mod model;
mod nearest;
mod parse;
pub mod rings;
mod rules;
mod same_item;
mod session;
mod source;
mod span;
mod stack;
#[cfg(test)]
mod tests;
mod values;

use phalanx_contract::fence::ChosenFence;
use proc_macro2::TokenStream;

pub use diag::Fault;
pub use expand::{RingCase, RingReport};
pub use item::take_item;
pub use rules::{ParseRuleError, Requirement, Rule, Unchecked};
pub use session::Session;
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
    Session::default().kernel(options, item)
}

/// Expands `#[device(options)] item`, of a function, an `impl` or a trait, in the same way.
pub fn device(options: TokenStream, item: TokenStream) -> TokenStream {
    Session::default().device(options, item)
}

/// Expands `#[derive(DeviceType)]` on `item` to the implementation of the trait, or to its faults.
pub fn device_type(item: TokenStream) -> TokenStream {
    Session::default().device_type(item)
}

/// Expands `#[derive(DeviceCopy)]` on `item` to the implementation of the trait, or to its faults.
pub fn device_copy(item: TokenStream) -> TokenStream {
    Session::default().device_copy(item)
}

impl Session {
    /// Expands a kernel as [`kernel`] does.
    pub fn kernel(self, options: TokenStream, item: TokenStream) -> TokenStream {
        with_large_stack(|| expand::kernel(self, options, item))
    }

    /// Expands a device function as [`device`] does.
    pub fn device(self, options: TokenStream, item: TokenStream) -> TokenStream {
        with_large_stack(|| expand::device(self, options, item))
    }

    /// Expands a derived type as [`device_type`] does.
    pub fn device_type(self, item: TokenStream) -> TokenStream {
        with_large_stack(|| derive::device_type(self, item))
    }

    /// Expands a derived type as [`device_copy`] does.
    pub fn device_copy(self, item: TokenStream) -> TokenStream {
        with_large_stack(|| derive::device_copy(self, item))
    }

    /// Checks a kernel without generating code: its faults in the order of its text, none for a kernel that is right.
    ///
    /// ```
    /// use phalanx_compiler::{Rule, Session};
    ///
    /// let item = "fn lost() { let token = this_cluster().barrier_arrive(); }";
    /// let faults = Session::default().check_kernel("cluster = 2".parse()?, item.parse()?);
    /// assert_eq!(faults[0].rule(), Rule::TokenNeverWaited);
    /// # Ok::<(), proc_macro2::LexError>(())
    /// ```
    pub fn check_kernel(self, options: TokenStream, item: TokenStream) -> Vec<Fault> {
        with_large_stack(|| expand::check_kernel(self, options, item))
    }

    /// Checks a kernel that stands in a file of this text, whose constants it may name. rustc confirms what they stand for.
    ///
    /// ```
    /// let item = "fn half(out: &mut [u32]) {
    ///     let block = this_thread_block();
    ///     let bar = shared_barrier();
    ///     bar.init_collective(&block, HALF);
    ///     bar.arrive_and_wait();
    /// }";
    /// let session = phalanx_compiler::Session::default();
    /// let check = |file| session.check_kernel_in(file, "block = 64".parse().unwrap(), item.parse().unwrap());
    /// assert!(check("const HALF: u32 = 64;").is_empty());
    /// assert_eq!(check("const HALF: u32 = 32;").len(), 1);
    /// ```
    pub fn check_kernel_in(self, file: &str, options: TokenStream, item: TokenStream) -> Vec<Fault> {
        with_large_stack(|| expand::check_kernel_in(self, file, options, item))
    }

    /// Checks what `#[device]` is on, in the same way.
    pub fn check_device(self, options: TokenStream, item: TokenStream) -> Vec<Fault> {
        with_large_stack(|| expand::check_device(self, options, item))
    }

    /// Checks a kernel, an attribute's options and its item, together with the device functions that it calls, each of which calls
    /// earlier ones. What the functions do to shared memory and to barriers is joined as rustc joins it for users.
    pub fn check_program(self, functions: Vec<TokenStream>, kernel: (TokenStream, TokenStream)) -> Vec<Fault> {
        with_large_stack(|| expand::check_program(self, functions, kernel))
    }

    /// Checks a kernel that calls no device function, and returns the fences of its operations at the cluster's barrier in the order of
    /// its text, or its faults.
    ///
    /// ```
    /// let item = "fn meet() { this_cluster().sync(); }";
    /// let fences = phalanx_compiler::Session::default().fences("cluster = 2".parse()?, item.parse()?).unwrap();
    /// assert_eq!(fences[0].fence, phalanx_contract::fence::Fence::Relaxed);
    /// # Ok::<(), proc_macro2::LexError>(())
    /// ```
    pub fn fences(self, options: TokenStream, item: TokenStream) -> Result<Vec<ChosenFence>, Vec<Fault>> {
        with_large_stack(|| expand::fences(self, options, item))
    }

    /// Checks all functions and kernels of a file, whose text this is. What the functions do to shared memory and to barriers is joined as
    /// rustc joins it for users, and names stand for what the file defines.
    ///
    /// ```
    /// let file = "
    ///     #[device]
    ///     fn meet() { this_cluster().sync(); }
    ///     #[cluster_kernel(cluster = 2)]
    ///     fn lost() { let token = this_cluster().barrier_arrive(); meet(); }
    /// ";
    /// assert_eq!(phalanx_compiler::Session::default().check_file(file).len(), 1);
    /// ```
    pub fn check_file(self, file: &str) -> Vec<Fault> {
        with_large_stack(|| expand::check_file(self, file))
    }

    /// Checks a kernel, and returns what is known of its rings of phase barriers, or its faults. There is no case if it has no phase
    /// barrier. `file` is the text of the file that it stands in, whose constants it may name.
    pub fn rings(self, file: &str, options: TokenStream, item: TokenStream) -> Result<Vec<RingCase>, Vec<Fault>> {
        with_large_stack(|| expand::rings(self, file, options, item))
    }

    /// Checks what `#[derive(DeviceType)]` is on, in the same way.
    pub fn check_device_type(self, item: TokenStream) -> Vec<Fault> {
        with_large_stack(|| derive::check_device_type(self, item))
    }

    /// Checks what `#[derive(DeviceCopy)]` is on, in the same way. What only rustc knows of its fields is not asked.
    pub fn check_device_copy(self, item: TokenStream) -> Vec<Fault> {
        with_large_stack(|| derive::check_device_copy(self, item))
    }
}
