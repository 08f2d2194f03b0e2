//! A launch as the simulator runs it: at once when it is enqueued, or whenever a graph that has it is launched.

use std::sync::Arc;
use std::time::Duration;

use super::buffer::HostMemory;
use super::host::{Host, HostQueue, Told};
use crate::gpu::observe::{self, Stage};
use crate::gpu::{Access, Mode, Started};
use crate::program::Program;
use crate::report::error::{Error, LaunchError, Result};
use crate::report::failure::{Cause, Failure};
use crate::report::warning::Warning;
use crate::shape::Shape;
use crate::sim::{self, NamedBuffer, Recorder, WarningCollector};

/// A launch that has passed its checks.
pub(super) struct Simulated<'a> {
    pub(super) program: Arc<Program>,
    pub(super) shape: Shape,
    /// The checks of accesses that the kernel would not make on a GPU (`program::launch_checks`).
    pub(super) held_checks: u64,
    /// The buffers under the names of the kernel's parameters.
    pub(super) buffers: Vec<NamedBuffer>,
    /// The function of a thread, which runs the host body.
    pub(super) threads: Box<dyn Fn() + Send + Sync + 'a>,
    /// The memory of the buffers, and whether the kernel may write it.
    pub(super) memory: Vec<(Arc<HostMemory>, Access)>,
    /// The deadline, which a deadlock misses.
    pub(super) deadline: Option<Duration>,
}

impl<'a> Simulated<'a> {
    /// Returns the launch for runs after the borrows of its arguments have ended.
    ///
    /// # Safety
    /// What `threads` has is plain data and handles of `memory`.
    pub(super) unsafe fn lasting(self) -> Simulated<'static> {
        let Simulated { program, shape, held_checks, buffers, threads, memory, deadline } = self;
        // SAFETY: the memory that the handles refer to lives as long as the result, which is all that `'a` says of them: every access
        // to it is atomic, and plain data refers to nothing.
        let threads = unsafe {
            std::mem::transmute::<Box<dyn Fn() + Send + Sync + 'a>, Box<dyn Fn() + Send + Sync + 'static>>(threads)
        };
        Simulated { program, shape, held_checks, buffers, threads, memory, deadline }
    }

    /// Runs the kernel, and lets the stream know of its failure.
    pub(super) fn start(&self, host: &Host, queue: &Arc<HostQueue>, mode: Mode) -> Result<Started> {
        let recorder = (mode == Mode::Timeline).then(Recorder::default);
        let failure = self.run(host, queue, recorder.as_ref());
        let told = match mode {
            Mode::Enqueue => Told::Anyone,
            Mode::Keep => Told::Handle,
            Mode::Launch | Mode::Timeline => Told::Caller,
        };
        let number = queue.record(failure, told)?;
        Ok(Started { number, timeline: recorder.map(|recorder| recorder.timeline(self.program.name())) })
    }

    /// Returns an error if not all blocks of a kernel with a barrier of the grid can run at once.
    pub(super) fn check(&self) -> Result<()> {
        if !self.program.has_grid_barrier() {
            return Ok(());
        }
        let error = |reason| Error::Launch { kernel: self.program.name().into(), reason };
        LaunchError::check_resident(&self.shape, sim::most_clusters(&self.shape)).map_err(error)
    }

    /// Runs the kernel to its end as work of a stream, and returns its failure. What it prints and its warnings go to the program.
    pub(super) fn run(&self, host: &Host, queue: &Arc<HostQueue>, recorder: Option<&Recorder>) -> Option<Failure> {
        let written = self.memory.iter().filter(|(_, access)| *access == Access::Write);
        written.for_each(|(memory, _)| memory.written_on(queue));
        let program = &self.program;
        let _span = observe::span(Stage::Launch, program.name());
        let warnings = WarningCollector::default();
        let simulator = host
            .simulator
            .clone()
            .with_local_bytes(program.local_memory().total)
            .with_fences(program.fences())
            .with_buffers(self.buffers.clone())
            .with_previous(program.waits_for_previous())
            .warning(&warnings);
        let simulator = recorder.into_iter().fold(simulator, |simulator, recorder| simulator.recording(recorder));
        let run = if program.has_grid_barrier() { sim::run_together } else { sim::run };
        let (printed, result) = run(program.name(), &self.shape, &simulator, &*self.threads);
        host.output.write(printed);
        for race in warnings.take() {
            host.warnings.write(&Warning { kernel: program.name().into(), race });
        }
        result.err().map(|failure| {
            self.judge_checks(&failure);
            self.of_deadline(*failure)
        })
    }

    /// Panics if an access is out of bounds that was to be within them in this launch: a GPU would not have checked it.
    fn judge_checks(&self, failure: &Failure) {
        if let (Cause::IndexOutOfBounds { .. } | Cause::RangeOutOfBounds { .. }, Some(at)) =
            (&failure.cause, &failure.location)
        {
            let is_held = self.program.launch_checks().hold_at(self.held_checks, (&at.file, at.line, at.column));
            assert!(
                !is_held,
                "the check of this access was to hold in the launch, which is a mistake of phalanx: {failure}"
            );
        }
    }

    /// Returns the failure as a launch with a deadline has it: a deadlock would last until then.
    fn of_deadline(&self, failure: Failure) -> Failure {
        match (self.deadline, failure.cause) {
            (Some(limit), Cause::Deadlock(waiting) | Cause::SpinLimit { waiting, .. }) => {
                Failure { cause: Cause::Deadline { limit, waiting }, ..failure }
            }
            (_, cause) => Failure { cause, ..failure },
        }
    }
}
