//! The stacks of coroutines. They are counted and reused, because each costs the process two of the 65,530 memory
//! mappings that Linux allows by default. The process has one pool, because launches may run in parallel.

use std::io;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use corosensei::stack::DefaultStack;

/// The largest number of coroutines that exist at a time, which is more than the threads of the largest cluster: 16
/// blocks of 1,024 threads.
pub(super) const MOST_STACKS: usize = 20_000;

/// The address space of a stack for a kernel of small values. Memory is committed only where a thread accesses it, and
/// in small pages, because no huge page fits into a stack.
const STACK_BYTES: usize = 1 << 20;

/// The number of copies of each value for which a larger stack has room, because a debug build copies arrays.
const COPIES: usize = 16;

/// The number of stacks that a reservation takes from the pool at a time.
const BATCH: usize = 64;

static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), reserved: 0 });
static RELEASED: Condvar = Condvar::new();

struct Pool {
    free: Vec<DefaultStack>,
    reserved: usize,
}

/// A reservation of stacks for one cluster, or for all clusters of a grid before each gets its part.
pub(super) struct Stacks {
    most: usize,
    /// The number of stacks taken from the pool, idle or in use. A stack is mapped only while the pool is empty, so
    /// that there are never more than are reserved.
    held: usize,
    idle: Vec<DefaultStack>,
    /// The size of a stack in bytes. Only stacks of `STACK_BYTES` come from the pool and return to it.
    size: usize,
}

impl Stacks {
    /// Waits until `most` stacks are available, for threads with these bytes of values, and reserves them.
    pub(super) fn reserve(most: usize, local_bytes: usize) -> Self {
        let pool = RELEASED
            .wait_while(pool(), |pool| pool.reserved > 0 && pool.reserved + most > MOST_STACKS)
            .unwrap_or_else(PoisonError::into_inner);
        Stacks::reserved(most, local_bytes, pool)
    }

    /// Reserves `most` stacks, or returns `None` if they are not available now.
    pub(super) fn try_reserve(most: usize, local_bytes: usize) -> Option<Self> {
        let pool = pool();
        (pool.reserved + most <= MOST_STACKS).then(|| Stacks::reserved(most, local_bytes, pool))
    }

    fn reserved(most: usize, local_bytes: usize, mut pool: MutexGuard<'_, Pool>) -> Self {
        pool.reserved += most;
        // Half of a stack suffices for everything else.
        let values = local_bytes.saturating_mul(COPIES);
        let size = if values > STACK_BYTES / 2 { STACK_BYTES.saturating_add(values) } else { STACK_BYTES };
        Stacks { most, held: 0, idle: Vec::new(), size }
    }

    /// Splits off a reservation of `most` stacks for another cluster.
    pub(super) fn part(&mut self, most: usize) -> Self {
        self.most -= most;
        let idle = self.idle.split_off(self.idle.len().saturating_sub(most));
        self.held -= idle.len();
        Stacks { most, held: idle.len(), idle, size: self.size }
    }

    /// Takes back all stacks of a cluster that has ended.
    pub(super) fn take_back(&mut self, other: &mut Stacks) {
        self.most += std::mem::take(&mut other.most);
        self.held += std::mem::take(&mut other.held);
        self.idle.append(&mut other.idle);
    }

    /// Returns a stack for a thread that starts.
    pub(super) fn take(&mut self) -> io::Result<DefaultStack> {
        if self.idle.is_empty() && self.size == STACK_BYTES {
            let mut pool = pool();
            let batch = BATCH.min(self.most - self.held).min(pool.free.len());
            let kept = pool.free.len() - batch;
            self.idle.extend(pool.free.drain(kept..));
            self.held += batch;
        }
        match self.idle.pop() {
            Some(stack) => Ok(stack),
            None => {
                let stack = DefaultStack::new(self.size)?;
                self.held += 1;
                Ok(stack)
            }
        }
    }

    /// Takes back the stack of a thread that has ended.
    pub(super) fn give(&mut self, stack: DefaultStack) {
        self.idle.push(stack);
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        let mut pool = pool();
        if self.size == STACK_BYTES {
            pool.free.append(&mut self.idle);
        }
        pool.reserved -= self.most;
        RELEASED.notify_all();
    }
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}
