//! What the compiler (`phalanx-compiler`) and the runtime (`phalanx`) agree on about device functions. The compiler sees one
//! function at a time: it leaves each a summary, as constants of these types beside the function, and rustc joins the
//! summaries of callers and callees by the `const fn`s of this crate while it compiles the user's program.
//!
//! The crate holds data and `const` solvers only. The analyses that find what a summary says are the compiler's (`check/`). No
//! user names this crate: it changes with the macros.

#![no_std]

mod groups;
mod index_set;
pub mod protocol;
pub mod uniformity;

pub use groups::Groups;
pub use index_set::IndexSet;
