//! What the compiler (`phalanx-compiler`) and the runtime (`phalanx`) agree on about device functions. The compiler sees one
//! function at a time: it leaves each a summary, as constants of these types beside the function, and rustc joins the
//! summaries of callers and callees by the `const fn`s of this crate while it compiles the user's program.
//!
//! The crate holds data and `const` solvers only. The analyses that find what a summary says are the compiler's (`check/`). No
//! user names this crate: it changes with the macros.

#![no_std]

pub mod capability;
pub mod constant;
pub mod fence;
mod groups;
mod index_set;
pub mod protocol;
pub mod uniformity;

/// The address of `runtime/src/rules.md` in the documentation of the runtime crate, whose module `rules` it is. Each rule about what
/// a kernel does has a section under its name. A macro, so that messages of `const fn`s can be put together with it.
///
/// ```
/// assert!(phalanx_contract::rules_page!().ends_with("/phalanx/rules/index.html"));
/// ```
#[macro_export]
macro_rules! rules_page {
    () => {
        "https://docs.rs/phalanx/latest/phalanx/rules/index.html"
    };
}

pub use groups::Groups;
pub use index_set::IndexSet;
