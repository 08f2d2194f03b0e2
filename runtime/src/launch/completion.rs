//! The end of work on a stream as a future, for programs with `async` functions. It needs no runtime of its own, and no callback of the
//! driver, which calls none after an error: a thread of the process asks for all futures that wait, and ends when there is none.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use super::device::Target;
use super::pinned::{PinnedBuffer, PinnedCopy};
use super::stream::{Enqueued, Stream, StreamQueue};
use crate::gpu::Mark;
use crate::program::types::DeviceCopy;
use crate::report::error::Result;
use crate::report::graph::GraphError;

/// The times between two looks at what futures wait for: the first one after something has ended or begun to wait, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(500)];

/// The end of work on a [`Stream`], as a future: what `.await` makes of an [`Enqueued`] launch and of a [`PinnedCopy`], and what
/// [`Stream::completion`] returns. It gives what their `wait` and [`Stream::synchronize`] would, and blocks no thread
/// meanwhile, except where kernels of the stream print: what they printed is read when the stream has nothing to do.
///
/// Any executor can poll it. A thread of this library, which lives as long as futures wait, looks at the GPU every 20 to 500 microseconds, and wakes
/// them. It also ends launches that are past their deadline.
///
/// If it is dropped, the work goes on, and who next waits for the stream gets the failure.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[cluster_kernel(block = 64)]
/// fn scale(values: &mut [f32], factor: f32) {
///     values[this_grid().thread_rank()] *= factor;
/// }
///
/// async fn scaled(device: &Device, factor: f32) -> phalanx::Result<Vec<f32>> {
///     let stream = device.stream()?;
///     let mut values = device.upload(&[1.0; 64])?;
///     scale(&mut values, factor).grid(1).on(&stream).enqueue()?.await?;
///     Ok(stream.download(&values, device.pinned(64)?)?.await?.to_vec())
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let values = pollster::block_on(scaled(&Device::simulator(), 3.0))?;
/// assert_eq!(values, [3.0; 64]);
/// # Ok(())
/// # }
/// ```
#[must_use = "a future does nothing unless it is awaited"]
pub struct Completion<T> {
    /// What is waited for on a GPU. In the simulator, all work has ended.
    mark: Option<Arc<Mark>>,
    /// Returns the result, once; `None` after that.
    finish: Option<Box<dyn FnOnce() -> Result<T> + Send>>,
    /// The task that the thread wakes.
    task: Option<Arc<Task>>,
}

/// Who polled a future last.
type Task = Mutex<Waker>;

impl<T> Completion<T> {
    fn new(mark: Option<Arc<Mark>>, finish: impl FnOnce() -> Result<T> + Send + 'static) -> Completion<T> {
        Completion { mark, finish: Some(Box::new(finish)), task: None }
    }

    /// Returns whether the work has ended. If it has not, the task of the context will be woken.
    fn is_over(&mut self, context: &Context<'_>) -> bool {
        let Some(mark) = &self.mark else { return true };
        match &self.task {
            // First the task, so that the thread wakes this one if it sees the end before it is seen here.
            Some(task) => lock(task).clone_from(context.waker()),
            None if mark.has_come() => return true,
            None => {
                let task = self.task.insert(Arc::new(Mutex::new(context.waker().clone())));
                return !WAITS.add(Wait { mark: mark.clone(), task: Arc::downgrade(task) });
            }
        }
        mark.has_come()
    }
}

impl<T> Future for Completion<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        if self.finish.is_some() && !self.is_over(context) {
            return Poll::Pending;
        }
        let finish = self.finish.take().expect("a future is not polled after it is ready");
        self.task = None;
        Poll::Ready(finish())
    }
}

impl<T> fmt::Debug for Completion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Completion")
    }
}

impl Stream {
    /// Returns the end of the work so far, as [`Stream::synchronize`] waits for it.
    ///
    /// ```
    /// # use phalanx::Device;
    /// # fn main() -> phalanx::Result<()> {
    /// let stream = Device::simulator().stream()?;
    /// pollster::block_on(stream.completion())
    /// # }
    /// ```
    pub fn completion(&self) -> Completion<()> {
        let stream = self.clone();
        of_stream(self, move |mark| match (&stream.device.target, mark) {
            (Target::Gpu(gpu), Some(mark)) => gpu.finish_at(mark, None),
            (Target::Gpu(_) | Target::Simulator(_), _) => stream.synchronize(),
        })
    }
}

impl IntoFuture for Enqueued {
    type Output = Result<()>;
    type IntoFuture = Completion<()>;

    /// Returns the end of the launch, or of all work that its stream has by now.
    fn into_future(self) -> Completion<()> {
        let stream = self.stream.clone();
        of_stream(&stream, move |mark| self.finish(mark))
    }
}

impl<T: DeviceCopy> IntoFuture for PinnedCopy<T> {
    type Output = Result<PinnedBuffer<T>>;
    type IntoFuture = Completion<PinnedBuffer<T>>;

    fn into_future(self) -> Completion<PinnedBuffer<T>> {
        Completion::new(self.mark().cloned(), || self.wait())
    }
}

/// Returns the end of the work that a stream has so far. `finish` gets the mark on a GPU.
fn of_stream(stream: &Stream, finish: impl FnOnce(Option<&Mark>) -> Result<()> + Send + 'static) -> Completion<()> {
    let mark = match (&stream.device.target, &stream.queue) {
        (Target::Gpu(gpu), StreamQueue::Gpu(queue)) => gpu.mark(queue).map(Some),
        (_, StreamQueue::Capture(_)) => Err(GraphError::Waits.into()),
        (Target::Gpu(_) | Target::Simulator(_), _) => Ok(None),
    };
    match mark {
        Ok(mark) => Completion::new(mark.clone(), move || finish(mark.as_deref())),
        Err(error) => Completion::new(None, || Err(error)),
    }
}

/// What a future waits for, and whom to wake. It stays until the mark has come, also if the future is dropped: the end of a stream's handle
/// would wait for its work.
struct Wait {
    mark: Arc<Mark>,
    task: Weak<Task>,
}

impl Wait {
    /// Returns whether it goes on, and wakes the task if it does not.
    fn goes_on(&self) -> bool {
        if !self.mark.has_come() {
            return true;
        }
        if let Some(task) = self.task.upgrade() {
            let waker = lock(&task).clone();
            // A panic of the executor's own code must not keep the others asleep.
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
        false
    }
}

/// The waits of the process.
struct Waits {
    state: Mutex<State>,
    added: Condvar,
}

struct State {
    waits: Vec<Wait>,
    /// Whether there is the thread that looks at them.
    is_watched: bool,
}

static WAITS: Waits =
    Waits { state: Mutex::new(State { waits: Vec::new(), is_watched: false }), added: Condvar::new() };

impl Waits {
    /// Adds a wait. Returns false if the system has no thread to look at it, so that the caller must wait itself.
    fn add(&'static self, wait: Wait) -> bool {
        let mut state = lock(&self.state);
        if !state.is_watched {
            let thread = thread::Builder::new().name("phalanx-completion".into());
            if thread.spawn(|| self.watch()).is_err() {
                return false;
            }
            state.is_watched = true;
        }
        state.waits.push(wait);
        self.added.notify_one();
        true
    }

    /// Looks at the waits until there is none.
    fn watch(&self) {
        let [first, longest] = PAUSES;
        let mut pause = first;
        let mut state = lock(&self.state);
        while !state.waits.is_empty() {
            let mut waits = std::mem::take(&mut state.waits);
            // An executor may poll the future at once, which may add a wait.
            drop(state);
            let before = waits.len();
            waits.retain(Wait::goes_on);
            let has_ended = waits.len() < before;
            state = lock(&self.state);
            state.waits.append(&mut waits);
            pause = if has_ended { first } else { (2 * pause).min(longest) };
            let (after, timeout) = self.added.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
            state = after;
            if !timeout.timed_out() {
                pause = first;
            }
        }
        state.is_watched = false;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
