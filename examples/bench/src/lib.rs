//! Kernels measured beside CUDA C++ written by hand, beside the library that a user would pick, and beside the time that
//! copying their bytes takes. Each showcase is one file of `showcases`, and its twin one file of `twins/`. `table` is
//! what comes out; `docs/performance.md` shows one.

use std::error::Error;

pub mod atlas;
pub mod case;
pub mod compare;
pub mod data;
pub mod host;
pub mod launches;
pub mod library;
pub mod memory;
pub mod pairs;
pub mod part;
pub mod plot;
pub mod process;
pub mod run;
pub mod showcases;
pub mod table;
pub mod tensor;
pub mod timing;
pub mod twin;

/// A result whose error is a message for the person who runs the benchmark.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;
