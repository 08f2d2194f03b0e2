//! Runs one cluster: a coroutine for each thread, resumed in the scheduler's order until all have ended or one has
//! failed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::cluster::{Cluster, Launch, Status};
use super::stacks::Stacks;
use super::{barrier, context, report};
use crate::failure::{Cause, Failure};

/// Turns that a cluster gets before another one of the same worker: a few milliseconds.
const MOST_TURNS: u32 = 1 << 14;

/// How many turns each thread of a cluster may use up in loops before another cluster gets a chance.
const PATIENCE: usize = 4;

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// A cluster with its coroutines.
pub(super) struct Runner<'l> {
    /// Boxed: the coroutines point to it.
    cluster: Box<Cluster<'l>>,
    /// By the thread's rank. `None` before its first turn, so that threads that never wait share one stack.
    fibers: Vec<Option<Fiber>>,
    stacks: Stacks,
    /// Threads that have not exited.
    left: usize,
}

impl<'l> Runner<'l> {
    /// The cluster of this rank in the grid, before its first step. `stacks` must do for all its threads.
    pub(super) fn new(launch: &'l Launch<'l>, rank: u64, stacks: Stacks) -> Self {
        let cluster = Box::new(Cluster::new(launch, rank));
        let left = cluster.threads.len();
        Runner { fibers: std::iter::repeat_with(|| None).take(left).collect(), cluster, stacks, left }
    }

    /// The cluster's rank in the grid.
    pub(super) fn rank(&self) -> u64 {
        self.cluster.rank
    }

    /// Runs on until the end, or until it is another cluster's turn.
    pub(super) fn run(&mut self) -> Poll<Result<(), Failure>> {
        // Turns in a row that changed nothing but the place in a loop: these threads may wait for another cluster.
        let mut fruitless = 0;
        for _ in 0..MOST_TURNS {
            let Some(turn) = self.cluster.scheduler.borrow_mut().next() else {
                let done = if self.left == 0 { Ok(()) } else { Err(report::deadlock(&self.cluster)) };
                return Poll::Ready(done);
            };
            self.cluster.fuel.set(turn.fuel);
            fruitless = if self.resume(turn.thread) { 0 } else { fruitless + 1 };
            if let Some(failure) = self.cluster.failure.borrow_mut().take() {
                return Poll::Ready(Err(failure));
            }
            if fruitless > PATIENCE * self.left {
                break;
            }
        }
        Poll::Pending
    }

    /// Gives a thread its turn. Returns whether it came to a barrier or to the end.
    fn resume(&mut self, rank: usize) -> bool {
        let mut fiber = match self.fibers[rank].take() {
            Some(fiber) => fiber,
            None => match self.stacks.take() {
                Ok(stack) => start(&self.cluster, rank, stack),
                Err(error) => {
                    self.fail(rank, Cause::Panic(format!("the simulator has no stack for another thread: {error}")));
                    return true;
                }
            },
        };
        let thread = &self.cluster.threads[rank];
        let turn = || catch_unwind(AssertUnwindSafe(|| fiber.resume(())));
        match context::enter(&self.cluster, thread, turn) {
            Ok(CoroutineResult::Yield(())) => {
                self.fibers[rank] = Some(fiber);
                let waits = !matches!(thread.status.get(), Status::Ready);
                match waits {
                    true => self.cluster.coalesce(thread),
                    false => self.cluster.wake(thread),
                }
                waits
            }
            Ok(CoroutineResult::Return(())) => {
                self.stacks.give(fiber.into_stack());
                self.exit(rank);
                true
            }
            Err(panic) => {
                self.stacks.give(fiber.into_stack());
                self.fail(rank, Cause::Panic(message(&*panic)));
                true
            }
        }
    }

    /// A thread has come to the end of the kernel.
    fn exit(&mut self, rank: usize) {
        let thread = &self.cluster.threads[rank];
        let block = &self.cluster.blocks[thread.block_rank as usize];
        thread.status.set(Status::Exited);
        block.exited.set(block.exited.get() + 1);
        self.left -= 1;
        self.cluster.coalesce(thread);
        if let Some((cause, site)) = barrier::check_exit(thread) {
            let failure = self.cluster.failure(thread, cause, Some(site));
            *self.cluster.failure.borrow_mut() = Some(failure);
        }
    }

    fn fail(&self, rank: usize, cause: Cause) {
        let failure = self.cluster.failure(&self.cluster.threads[rank], cause, None);
        *self.cluster.failure.borrow_mut() = Some(failure);
    }
}

/// A coroutine that runs the kernel's body as this thread.
fn start(cluster: &Cluster<'_>, rank: usize, stack: DefaultStack) -> Fiber {
    let thread = &cluster.threads[rank];
    let body = cluster.launch.body;
    // SAFETY: the closure borrows the cluster and the launch. `Runner` ends every coroutine before it drops the
    // cluster, and cannot outlive the launch.
    unsafe {
        Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
            thread.yielder.set(yielder);
            body();
        })
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic").to_owned()
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        for mut fiber in self.fibers.drain(..).flatten() {
            if cfg!(panic = "abort") {
                // SAFETY: frees nothing that the frames own. They are a kernel's, which owns plain values only.
                unsafe { fiber.force_reset() };
            } else {
                fiber.force_unwind();
            }
            self.stacks.give(fiber.into_stack());
        }
    }
}
