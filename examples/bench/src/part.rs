//! The parts of the benchmark that run in a process of their own: a showcase, the atlas, or what the host takes.

use phalanx::Device;
use serde_json::Value;

use crate::case::Showcase;
use crate::{Result, atlas, host, launches, pairs, run, showcases, tensor, timing, twin};

/// A part of the benchmark.
#[derive(Clone, Copy)]
pub enum Part {
    /// The cases of a kernel.
    Showcase(&'static Showcase),
    /// Latency and bandwidth of distributed shared memory.
    Atlas,
    /// The host's time for launches.
    Launches,
    /// The costs of the host runtime beside a launch.
    Host,
    /// Kernels of the tensor cores.
    Tensor,
}

impl Part {
    /// Returns all parts, in the order in which they run.
    pub fn all() -> Vec<Part> {
        let kernels = showcases::ALL.iter().chain(pairs::ALL);
        kernels.map(Part::Showcase).chain([Part::Tensor, Part::Launches, Part::Host, Part::Atlas]).collect()
    }

    /// Returns the name, by which a part is chosen.
    pub fn name(self) -> &'static str {
        match self {
            Part::Showcase(showcase) => showcase.name,
            Part::Atlas => "atlas",
            Part::Launches => "launches",
            Part::Host => "host",
            Part::Tensor => "tensor",
        }
    }

    /// Returns what the part measures, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Part::Showcase(showcase) => showcase.about,
            Part::Atlas => "latency and bandwidth of distributed shared memory",
            Part::Launches => "the host's time for a launch, beside the driver's own call",
            Part::Host => "graphs, streams, deadlines, and the device's time from one launch to the next",
            Part::Tensor => "products of matrices and attention by the tensor cores, beside libraries",
        }
    }

    /// Measures on a GPU: `Measured`, the pages of the atlas, `Launches`, `Host`, or `tensor::Measured`.
    pub fn measure(self, device: &Device) -> Result<Value> {
        Ok(match self {
            Part::Showcase(showcase) => serde_json::to_value(run::measure(showcase, device)?)?,
            Part::Atlas => serde_json::to_value(atlas::measure(device)?)?,
            Part::Launches => serde_json::to_value(launches::measure(device)?)?,
            Part::Host => serde_json::to_value(host::measure(device)?)?,
            Part::Tensor => serde_json::to_value(tensor::measure(device)?)?,
        })
    }

    /// Runs the part's kernels in the simulator at a small size. With PHALANX_CUBINS set, this stores them for a
    /// measurement, and so does [`Part::compile_twins`] for the twins.
    pub fn simulate(self, device: &Device) -> Result<()> {
        match self {
            Part::Showcase(showcase) => run::simulate(showcase, device),
            Part::Atlas => atlas::measure(device).map(drop),
            Part::Launches => launches::simulate(device),
            Part::Host => host::simulate(device),
            Part::Tensor => tensor::simulate(device),
        }
    }

    /// Compiles the part's kernels in CUDA C++.
    pub fn compile_twins(self) -> Result<()> {
        match self {
            Part::Showcase(showcase) => {
                timing::copy().cubin()?;
                run::compile_twins(showcase)
            }
            Part::Atlas | Part::Tensor => Ok(()),
            Part::Launches => launches::twin().cubin().map(drop),
            Part::Host => host::twin().cubin().map(drop),
        }
    }

    /// Simulates the part, and compiles its twins where there is an NVRTC.
    pub fn rehearse(self, device: &Device) -> Result<()> {
        self.simulate(device)?;
        if twin::compiler_is_present() { self.compile_twins() } else { Ok(()) }
    }
}
