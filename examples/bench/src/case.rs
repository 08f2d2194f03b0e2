//! The kernels that the table measures: a showcase has cases, and a case is a kernel at one size, with its twin and its data. This
//! file knows nothing of time.

use phalanx::Device;
use serde_json::Value;

use crate::Result;
use crate::twin::{Call, Twin};

/// How large the data are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Larger than the second-level cache, for a measurement.
    Full,
    /// A few blocks, for a run in the simulator. The kernels are those of a measurement, with the same constants.
    Small,
}

impl Scale {
    /// Returns `full` for a measurement and `small` for the simulator.
    pub fn pick<T>(self, full: T, small: T) -> T {
        match self {
            Scale::Full => full,
            Scale::Small => small,
        }
    }
}

/// A kernel of the table with its cases.
pub struct Showcase {
    /// The name, which `--only` selects by.
    pub name: &'static str,
    /// A description of the kernel, in a few words.
    pub about: &'static str,
    /// Returns the cases, in the order of the table.
    pub cases: fn(Scale) -> Vec<Case>,
}

/// One row of the table, before its data are on a device.
pub struct Case {
    /// The version of the kernel: `plain`, `bulk copies`.
    pub version: String,
    /// The size of the problem, such as the number of columns.
    pub size: u64,
    /// The name of the things that `size` counts, such as columns.
    pub unit: &'static str,
    /// The bytes that any implementation must move between global memory and the multiprocessors.
    pub bytes: u64,
    /// The kernel written by hand.
    pub twin: Twin,
    /// The problem as the script of the libraries takes it, if there is a baseline.
    pub library: Option<Value>,
    /// Prepares the data.
    #[expect(clippy::type_complexity, reason = "an alias would say no more")]
    pub prepare: Box<dyn Fn(&Device) -> Result<Box<dyn Prepared>>>,
}

/// A case with its data on a device. The data are in as many sets as it takes to exceed the second-level cache.
pub trait Prepared {
    /// Returns the number of sets, which launches use in rotation.
    fn sets(&self) -> usize;

    /// Enqueues the kernel.
    fn ours(&mut self, device: &Device, set: usize) -> phalanx::Result<()>;

    /// Returns the launch of the twin.
    fn twin(&self, set: usize) -> Call;

    /// Fills the output with bytes that are no result, so that a kernel that writes nothing is noticed.
    fn clear(&mut self) -> Result<()>;

    /// Compares the output of set 0 with a computation in `f64` on the host.
    fn check(&self) -> Result<()>;
}
