//! Programs of the kernel language, by hand and at random, and their comparison: each runs as plain Rust, in the simulator
//! (or on a GPU), and as its CUDA C++ compiled for the host. `generate/` writes them when this crate is built. Not here:
//! what threads do together, which `ui-tests/conformance/generators` tests.

#![allow(break_with_label_and_loop, reason = "random programs write it, and only the crate can allow it")]

pub mod compare;
pub mod host;
pub mod input;

use phalanx::Device;

/// The input of a program.
pub type Input = [u64; 4];

/// What a program computes, or `None` if it fails.
pub type Answer = Option<u64>;

/// A program, in its three forms.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The module's name.
    pub name: &'static str,
    /// The source in the kernel language.
    pub source: &'static str,
    /// Whether its wrong result is known.
    pub is_known: bool,
    /// The program as plain Rust, which panics where it fails.
    pub plain: fn(u64, u64, u64, u64) -> u64,
    /// Launches the program as a kernel of one thread.
    pub launch: fn(&Device, &[u64], usize) -> phalanx::Result<Vec<u64>>,
    /// Returns the program's CUDA C++.
    pub cuda: fn() -> phalanx::Result<phalanx::Program>,
}

mod programs {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

pub use programs::{PROGRAMS, REFUSED, SEED};
