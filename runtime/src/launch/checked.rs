//! A launch that has passed the checks which need no driver, on its way to a stream, to a graph or to the simulator. `builder` makes it.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use super::arguments::Arguments;
use super::capture::Operation;
use super::host::Host;
use super::simulated::Simulated;
use crate::gpu::variant::Variant;
use crate::gpu::{Asked, Gpu, GpuMemory, Mode, Queue, Ready, Recording, Started, store};
use crate::program::Program;
use crate::report::error::Result;
use crate::shape::Shape;

/// A launch that has passed the checks which need no driver.
pub(super) struct Checked<'a> {
    pub(super) kernel: TypeId,
    pub(super) program: Arc<Program>,
    pub(super) arguments: Arguments,
    pub(super) threads: Box<dyn Fn() + Send + Sync + 'a>,
    pub(super) shape: Shape,
    pub(super) variant: Variant,
    pub(super) deadline: Option<Duration>,
    /// The memory that is read early, if the kernel may begin before the launches in front of it have ended.
    pub(super) early: Option<Vec<Arc<GpuMemory>>>,
}

impl<'a> Checked<'a> {
    /// Starts the kernel, which is ready, on a stream of a GPU.
    pub(super) fn start(&mut self, gpu: &Gpu, queue: &Arc<Queue>, ready: &Ready, mode: Mode) -> Result<Started> {
        let mut parameters = self.arguments.pointers();
        let asked = Asked { deadline: self.deadline, early: self.early.as_deref() };
        // SAFETY: the macro made both the text's parameters and the arguments from the same signature. They point to the memory of buffers
        // on this GPU, as checked, which are borrowed as long as `self` lives and are all noted.
        unsafe { gpu.launch(queue, ready, &mut parameters, self.arguments.uses(), mode, asked) }
    }

    /// Makes the launch a part of a graph.
    pub(super) fn record(&mut self, gpu: &Gpu, recording: &mut Recording) -> Result<Started> {
        let Checked { kernel, program, shape, variant, early, .. } = self;
        let mut parameters = self.arguments.pointers();
        let (uses, early) = (self.arguments.uses(), early.as_deref());
        // SAFETY: as for a stream. The graph keeps the memory.
        unsafe { gpu.record_launch(recording, *kernel, program, shape, *variant, &mut parameters, uses, early) }?;
        Ok(Started::CAPTURED)
    }

    /// Makes the launch a part of a graph in the simulator.
    pub(super) fn simulate(self, host: &Host, operations: &mut Vec<Operation>) -> Result<Started> {
        // SAFETY: the threads have the arguments as the host body sees them, which are plain data and handles of the arguments' memory.
        operations.push(Operation::Launch(unsafe { self.simulated(host)?.lasting() }));
        Ok(Started::CAPTURED)
    }

    /// Returns the launch as the simulator runs it.
    pub(super) fn simulated(self, host: &Host) -> Result<Simulated<'a>> {
        let Checked { program, arguments, threads, shape, variant, deadline, .. } = self;
        store::precompile(&program, &host.caps.architecture(), variant)?;
        let buffers = arguments.named(program.parameters(), program.options().early);
        let memory = arguments.into_host_memory();
        let held_checks = variant.held_checks();
        let launch = Simulated { program, shape, held_checks, buffers, threads, memory, deadline };
        launch.check()?;
        Ok(launch)
    }
}
