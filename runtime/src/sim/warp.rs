//! Implements the collectives of a warp's threads. In `exchange`, each thread of a group contributes a value and gets
//! those of all; `coalesced_threads` finds the threads that are converged. A value is bytes here, and `kernel::group`
//! interprets it.
//!
//! By the abstract rules of cooperative groups, all lanes of the group must call an exchange from the same source
//! position. An exited thread does not count, although current hardware counts it.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::rc::Rc;

use phalanx_contract::fence::Fence;

use super::context::Context;
use super::cost;
use super::group::LANES;
use super::race::Participants;
use super::site::Site;
use super::state::{Cluster, Exchange, Status, Thread, Warp, WarpCall};
use crate::report::failure::Cause;
use crate::scope::Scope;

/// The number of loop iterations after which a `coalesced_threads()` no longer waits for a running thread, which may be
/// polling a flag that only the waiting threads can set.
const PATIENCE: u32 = 1 << 14;

impl Thread {
    /// Returns the thread's lane in its warp.
    pub(crate) fn lane(&self) -> u32 {
        self.rank_in_block % LANES
    }

    pub(super) fn same_warp(&self, other: &Thread) -> bool {
        self.rank - self.lane() as usize == other.rank - other.lane() as usize
    }

    fn coalesces_at(&self) -> Option<Site> {
        match self.status.get() {
            Status::Coalescing(site) => Some(site),
            Status::Ready
            | Status::AtGroupBarrier(_)
            | Status::AtPhaseBarrier(_)
            | Status::InExchange(_)
            | Status::Exited => None,
        }
    }

    /// Returns whether the thread may still reach a `coalesced_threads()` at which others of its warp wait.
    fn may_join(&self) -> bool {
        match self.status.get() {
            Status::Ready => self.warp.awaited.get().is_some_and(|ticks| ticks < PATIENCE),
            Status::AtGroupBarrier(_)
            | Status::AtPhaseBarrier(_)
            | Status::InExchange(_)
            | Status::Coalescing(_)
            | Status::Exited => false,
        }
    }
}

impl<'l> Cluster<'l> {
    /// Returns a thread's warp, and its threads in lane order.
    fn warp(&self, thread: &Thread) -> (&Warp, &[Thread]) {
        let block = &self.blocks[thread.block_rank as usize];
        let first = thread.rank - thread.lane() as usize;
        let count = LANES.min(self.launch.block_threads - (thread.rank_in_block - thread.lane()));
        (&block.warps[(thread.rank_in_block / LANES) as usize], &self.threads[first..first + count as usize])
    }

    /// Forms the groups of the threads that wait in `coalesced_threads()`, once no other thread of the warp can join
    /// them. Among several sites the first in the source wins: its threads may still reach the others, as the hardware
    /// reconverges threads after a branch or a loop. This is called whenever a thread of the warp stops running.
    pub(super) fn coalesce(&self, thread: &Thread) {
        let (warp, threads) = self.warp(thread);
        if !warp.coalescing.get() || threads.iter().any(Thread::may_join) {
            return;
        }
        let mut sites: Vec<Site> = threads.iter().filter_map(Thread::coalesces_at).collect();
        sites.sort();
        sites.dedup();
        // All sites proceed if a thread was waited for too long: it may itself wait for threads at another site.
        let all_in_time = threads.iter().all(|thread| thread.warp.awaited.get().is_some_and(|ticks| ticks < PATIENCE));
        let first = if all_in_time { 1 } else { sites.len() };
        let left = sites.split_off(first.min(sites.len()));
        for site in sites {
            let here = |thread: &&Thread| thread.coalesces_at() == Some(site);
            let lanes = threads.iter().filter(here).fold(0, |lanes, thread| lanes | 1 << thread.lane());
            for thread in threads.iter().filter(|thread| lanes >> thread.lane() & 1 == 1) {
                thread.warp.coalesced.set(lanes);
                self.wake(thread);
            }
        }
        if left.is_empty() {
            warp.coalescing.set(false);
            threads.iter().for_each(|thread| thread.warp.awaited.set(None));
        }
    }
}

impl Context<'_> {
    /// Returns the lanes of the running thread's warp that are converged at this site: those that wait here once each
    /// other thread of the warp waits elsewhere, has exited, or has executed `PATIENCE` loop iterations.
    pub(crate) fn coalesced_lanes(&self, site: Site) -> u32 {
        let (warp, threads) = self.cluster.warp(self.thread);
        if !warp.coalescing.replace(true) {
            threads.iter().for_each(|thread| thread.warp.awaited.set(Some(0)));
        }
        self.thread.status.set(Status::Coalescing(site));
        self.suspend();
        self.thread.warp.coalesced.get()
    }

    /// Counts a loop iteration of this thread if a `coalesced_threads()` waits for it.
    #[inline]
    pub(super) fn tick_for_warp(&self) {
        if let Some(ticks) = self.thread.warp.awaited.get() {
            self.thread.warp.awaited.set(Some(ticks.saturating_add(1)));
            if ticks + 1 == PATIENCE {
                self.cluster.coalesce(self.thread);
            }
        }
    }

    /// Waits until all lanes of the group have made the same call, and returns the exchange with the values of all.
    pub(crate) fn exchange(&self, call: WarpCall, value: &[MaybeUninit<u8>]) -> Rc<Exchange> {
        let (warp, threads) = self.cluster.warp(self.thread);
        let open = warp.exchanges.borrow().iter().position(|exchange| exchange.call.lanes == call.lanes);
        let exchange = match open {
            Some(at) => Rc::clone(&warp.exchanges.borrow()[at]),
            None => {
                let values = RefCell::new(vec![MaybeUninit::uninit(); value.len() * LANES as usize].into_boxed_slice());
                let exchange = Rc::new(Exchange {
                    call,
                    arrived: Cell::new(0),
                    size: value.len(),
                    values,
                    releases: RefCell::default(),
                    released: RefCell::default(),
                });
                warp.exchanges.borrow_mut().push(Rc::clone(&exchange));
                exchange
            }
        };
        self.check_same(exchange.call, call);
        exchange.contribute(self.thread.lane(), value);
        let races = self.cluster.launch.races.as_ref().filter(|_| call.barrier);
        if races.is_some() {
            let (actor, epochs) = (&self.thread.actor, &self.cluster.epochs);
            let mut releases = exchange.releases.borrow_mut();
            releases.arrive(actor, epochs, Participants::Lanes, Fence::Full, Scope::Block, call.site);
        }
        if exchange.arrived.get() != call.lanes {
            self.thread.status.set(Status::InExchange(call));
            self.suspend();
            if let Some(races) = races {
                self.thread.actor.acquire(&races.layout, &exchange.released.borrow());
            }
            return exchange;
        }
        warp.exchanges.borrow_mut().retain(|open| open.call.lanes != call.lanes);
        let others = threads.iter().filter(|thread| call.lanes >> thread.lane() & 1 == 1);
        others.filter(|thread| thread.rank != self.thread.rank).for_each(|thread| self.cluster.wake(thread));
        if let Some(races) = races {
            exchange.released.replace(exchange.releases.borrow_mut().end(&races.layout, Participants::Lanes));
            self.thread.actor.acquire(&races.layout, &exchange.released.borrow());
        }
        self.point(cost::ATOMIC);
        exchange
    }

    fn check_same(&self, first: WarpCall, now: WarpCall) {
        let same = first.name == now.name && first.value == now.value;
        if same && (first.site == now.site || now.barrier) {
            return;
        }
        let sentence = format!(
            "all threads of a group must make the same call together, but this one calls {now} here and others wait at {first} at {}",
            first.site
        );
        self.fail(Cause::Protocol(sentence), now.site);
    }
}
