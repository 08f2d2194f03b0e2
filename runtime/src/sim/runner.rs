//! Runs one cluster: each thread is a coroutine, and they are resumed in the scheduler's order until all have exited or
//! one has failed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};

use super::schedule::Turn;
use super::stacks::Stacks;
use super::state::{Cluster, Launch, Phases, SharedScheduler, Status};
use super::{barrier, context, deadlock};
use crate::report::failure::{Cause, Failure};

/// The number of turns that each thread of a cluster may spend in loops before another cluster runs.
const PATIENCE: usize = 4;

type Fiber = Coroutine<(), (), (), DefaultStack>;

/// The result of running a cluster for some turns.
pub(super) enum Turns {
    /// The cluster continues when it is given more turns.
    Paused,
    /// All threads have exited, or the cluster has failed.
    Ended(Result<(), Box<Failure>>),
}

/// A cluster with its coroutines.
pub(super) struct Runner<'l> {
    /// The cluster, boxed because the coroutines point to it.
    cluster: Box<Cluster<'l>>,
    /// The coroutines by thread rank. It is `None` before a thread's first turn, so that threads that never wait share
    /// one stack.
    fibers: Vec<Option<Fiber>>,
    stacks: Stacks,
    /// The number of threads that have not exited.
    left: usize,
}

impl<'l> Runner<'l> {
    /// Creates the cluster of this rank in the grid, before its first step. `stacks` must suffice for all its threads,
    /// and `grid` holds the phases of the grid's barrier, if the grid has one.
    pub(super) fn new(
        launch: &'l Launch<'l>,
        rank: u64,
        stacks: Stacks,
        grid: Option<&Rc<Phases>>,
        scheduler: SharedScheduler,
        effects: Rc<Cell<u64>>,
    ) -> Self {
        let cluster = Box::new(Cluster::new(launch, rank, grid, scheduler, effects));
        let left = cluster.threads.len();
        Runner { fibers: std::iter::repeat_with(|| None).take(left).collect(), cluster, stacks, left }
    }

    pub(super) fn cluster(&self) -> &Cluster<'l> {
        &self.cluster
    }

    /// Wakes the threads that wait for a phase of the grid's barrier, which has completed.
    pub(super) fn release_grid_barrier(&self) {
        if let Some(barrier) = &self.cluster.grid_barrier {
            barrier.release(&self.cluster);
        }
    }

    /// Lands a copy because no thread can run. Returns whether one landed, after which a thread may be able to run.
    pub(super) fn land_next(&self) -> bool {
        self.cluster.land_next()
    }

    /// Returns whether a thread has begun to count as spinning since this was called last.
    pub(super) fn may_be_stuck(&self) -> bool {
        self.cluster.may_be_stuck.take()
    }

    /// Returns whether each of the cluster's threads spins, waits or has exited.
    pub(super) fn is_stuck(&self) -> bool {
        self.cluster.is_stuck()
    }

    /// Returns the number of the cluster's effects so far.
    pub(super) fn effects(&self) -> u64 {
        self.cluster.effects.get()
    }

    /// Returns the number of threads that have not exited.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Takes the cluster's failure, if it has failed.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.cluster.failure.borrow_mut().take()
    }

    /// Returns the cluster's stacks after all of its threads have exited.
    pub(super) fn stacks(&mut self) -> &mut Stacks {
        &mut self.stacks
    }

    /// Runs the cluster until it ends, has used this many turns of its threads, or may be waiting for another cluster.
    /// Its scheduler must hold no threads of other clusters.
    pub(super) fn run(&mut self, turns: u32) -> Turns {
        // Counts consecutive turns that only iterated loops: their threads may be waiting for another cluster.
        let mut fruitless = 0;
        for _ in 0..turns {
            let next = self.cluster.scheduler.borrow_mut().next();
            let Some(mut turn) = next else {
                if self.land_next() {
                    match self.failure() {
                        Some(failure) => return Turns::Ended(Err(Box::new(failure))),
                        None => continue,
                    }
                }
                let stuck = (self.left > 0).then(|| deadlock::deadlock(&[&self.cluster]));
                return Turns::Ended(stuck.map_or(Ok(()), |failure| Err(Box::new(failure))));
            };
            turn.thread -= self.cluster.first;
            fruitless = if self.turn(turn) { 0 } else { fruitless + 1 };
            if let Some(failure) = self.failure() {
                return Turns::Ended(Err(Box::new(failure)));
            }
            if fruitless > PATIENCE * self.left || self.may_be_stuck() && self.is_stuck() {
                break;
            }
        }
        Turns::Paused
    }

    /// Runs a turn of the thread of this rank. Returns whether the thread waits or has exited.
    pub(super) fn turn(&mut self, Turn { thread: rank, fuel }: Turn) -> bool {
        self.cluster.fuel.set(fuel);
        let mut fiber = match self.fibers[rank].take() {
            Some(fiber) => fiber,
            None => match self.stacks.take() {
                Ok(stack) => start(&self.cluster, rank, stack),
                Err(error) => {
                    self.fail(
                        rank,
                        Cause::Panic(format!("the simulator could not allocate a stack for this thread: {error}")),
                    );
                    return true;
                }
            },
        };
        let thread = &self.cluster.threads[rank];
        let turn = || catch_unwind(AssertUnwindSafe(|| fiber.resume(())));
        let blocked = match context::enter(&self.cluster, thread, turn) {
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
        };
        // Only after the thread's status is set, because a copy that lands may wake it.
        self.cluster.land_due();
        blocked
    }

    /// Records that a thread has reached the end of the kernel.
    fn exit(&mut self, rank: usize) {
        let thread = &self.cluster.threads[rank];
        let block = &self.cluster.blocks[thread.block_rank as usize];
        thread.status.set(Status::Exited);
        self.cluster.note_effect();
        self.cluster.record_run(thread);
        block.exited.set(block.exited.get() + 1);
        self.left -= 1;
        self.cluster.coalesce(thread);
        if let Some((cause, site)) = barrier::check_exit(thread) {
            let failure = self.cluster.failure(thread, cause, Some(site));
            *self.cluster.failure.borrow_mut() = Some(failure);
        }
        self.cluster.check_previous_at_exit(thread);
        self.cluster.check_copies_at_exit(rank);
        self.cluster.check_foreign_accesses(thread.block_rank);
    }

    fn fail(&self, rank: usize, cause: Cause) {
        let failure = self.cluster.failure(&self.cluster.threads[rank], cause, None);
        *self.cluster.failure.borrow_mut() = Some(failure);
    }
}

/// Creates a coroutine that runs the kernel's body as this thread.
fn start(cluster: &Cluster<'_>, rank: usize, stack: DefaultStack) -> Fiber {
    let thread = &cluster.threads[rank];
    let body = cluster.launch.body;
    // SAFETY: the closure borrows the cluster and the launch, and so do the frames of a suspended thread. Every
    // coroutine is held by its `Runner` alone, whose `drop` ends it by an unwind (or abandons its stack, see there)
    // before the cluster is dropped. The `Runner` borrows the launch.
    unsafe {
        Coroutine::with_stack_unchecked(stack, move |yielder, ()| {
            thread.yielder.set(yielder);
            body();
        })
    }
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("panic").to_owned()
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        for mut fiber in self.fibers.drain(..).flatten() {
            if cfg!(panic = "abort") {
                // SAFETY: nothing outside of the stack uses its objects, so it may be abandoned without their
                // destructors, which leaks an `Rc` or a `Vec` of the simulator's. All suspended frames are the
                // simulator's and those of a kernel's body, whose values are plain data, handles and tokens. Other code
                // of the user runs in `context::outside`, where it cannot be suspended, or in the closure of a `cuda!`,
                // which promises to execute no collective.
                unsafe { fiber.force_reset() };
            } else {
                fiber.force_unwind();
            }
            self.stacks.give(fiber.into_stack());
        }
    }
}
