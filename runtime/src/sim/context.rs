//! Tracks which GPU thread runs on this OS thread, because the functions of the host API take no handle. A kernel's
//! code runs only inside `enter`.

use std::cell::Cell;
use std::ptr::NonNull;

use super::schedule::AtomicAccess;
use super::site::Site;
use super::state::{Cluster, Thread};
use crate::report::failure::Cause;

thread_local! {
    static RUNNING: Cell<Option<Running>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Running {
    cluster: NonNull<Cluster<'static>>,
    thread: NonNull<Thread>,
}

/// Restores the running GPU thread when it is dropped.
struct Restore(Option<Running>);

impl Drop for Restore {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// The running GPU thread and its cluster.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) cluster: &'c Cluster<'c>,
    pub(crate) thread: &'c Thread,
}

/// Runs `turn` with `thread` as the running GPU thread.
pub(super) fn enter<R>(cluster: &Cluster<'_>, thread: &Thread, turn: impl FnOnce() -> R) -> R {
    let running = Running { cluster: NonNull::from(cluster).cast(), thread: NonNull::from(thread) };
    let _restore = Restore(RUNNING.replace(Some(running)));
    turn()
}

/// Calls `f` with the running GPU thread, if there is one.
#[inline]
pub(crate) fn try_with<R>(f: impl FnOnce(Context<'_>) -> R) -> Option<R> {
    RUNNING.get().map(|Running { cluster, thread }| {
        // SAFETY: `enter` borrows both for as long as they are in `RUNNING`. A turn that ends inside `f` leaves `f` and
        // these references on a coroutine's stack. The runner resumes that stack only while the cluster exists, and
        // unwinds or abandons it before it drops the cluster.
        f(Context { cluster: unsafe { cluster.as_ref() }, thread: unsafe { thread.as_ref() } })
    })
}

/// Calls `f` with the running GPU thread, on behalf of `what` (`` `this_cluster()` ``). Panics if no GPU thread runs.
#[inline]
#[track_caller]
pub(crate) fn with<R>(what: &str, f: impl FnOnce(Context<'_>) -> R) -> R {
    match try_with(f) {
        Some(result) => result,
        None => panic!("{what} is only available in a kernel"),
    }
}

/// Calls `f`, which runs code of the user, as if no GPU thread ran: an implementation of `Display` can get no shared
/// memory that it may keep, call no collective, and end no turn while something is borrowed.
pub(crate) fn outside<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore(RUNNING.replace(None));
    f()
}

/// Ends the launch with this failure of the running thread. It panics outside of kernels, where device functions may be
/// called as plain Rust.
#[cold]
pub(crate) fn fail_at(cause: Cause, site: Site) -> ! {
    match try_with(|context| context.fail(cause.clone(), site)) {
        Some(never) => never,
        None => panic!("{cause}, at {site}"),
    }
}

impl Context<'_> {
    /// Ends the launch with this failure.
    #[cold]
    pub(crate) fn fail(&self, cause: Cause, site: Site) -> ! {
        *self.cluster.failure.borrow_mut() = Some(self.cluster.failure(self.thread, cause, Some(site)));
        self.suspend();
        unreachable!("a cluster that failed was resumed");
    }

    /// Marks a scheduling point, where other threads may run. `cost` is a constant of `super::cost`.
    #[inline]
    pub(crate) fn point(&self, cost: u32) {
        match self.cluster.fuel.get().checked_sub(cost) {
            Some(rest) => self.cluster.fuel.set(rest),
            None => self.suspend(),
        }
    }

    /// Announces an atomic and ends the turn before it, if the scheduler decides the order of atomics.
    #[inline]
    pub(super) fn announce(&self, announced: impl FnOnce() -> AtomicAccess) {
        if self.cluster.announces {
            self.thread.pending.set(Some(announced()));
            self.suspend();
        }
    }

    /// Ends the turn, and returns when the scheduler gives the thread another one.
    pub(crate) fn suspend(&self) {
        // SAFETY: the coroutine that runs this set the pointer at its start, and the yielder lives on its stack.
        unsafe { &*self.thread.yielder.get() }.suspend(());
    }
}
