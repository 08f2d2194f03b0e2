//! The collectives that tiles and coalesced groups share, for the running thread and the lanes of its group. The
//! threads exchange their values, and each computes its result from them as the device does (`tile.cuh`).

use std::any::TypeId;
use std::marker::PhantomData;
use std::rc::Rc;

use super::op::Operator;
use crate::kernel::memory::{bits, bytes_of};
use crate::program::types::{DeviceCopy, DeviceType};
use crate::report::failure::Cause;
use crate::sim::{self, Exchange, LANES, Site, WarpCall};

/// The members of a group of one warp, by their lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members {
    pub(super) lanes: u32,
}

/// The name and the site of a collective's call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// The name, such as `tile.shfl`.
    pub(super) name: &'static str,
    pub(super) site: Site,
}

/// The values of a group, by rank.
struct Values<T> {
    exchange: Rc<Exchange>,
    lanes: u32,
    value: PhantomData<T>,
}

/// Returns the lanes of a mask, in ascending order.
fn each(lanes: u32) -> impl Iterator<Item = u32> {
    (0..LANES).filter(move |lane| lanes >> lane & 1 == 1)
}

impl<T: DeviceType + Copy> Values<T> {
    fn in_lane(&self, lane: u32) -> T {
        let bytes = self.exchange.value(lane);
        assert_eq!(bytes.len(), size_of::<T>(), "a exchange of other values");
        // SAFETY: the bytes are those of a `T`, because all threads of an exchange contribute values of the same type
        // (`WarpCall::value`).
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    }

    fn of_rank(&self, rank: u32) -> T {
        self.in_lane(each(self.lanes).nth(rank as usize).unwrap_or(0))
    }

    /// Returns the values by rank, with `rest` beyond the group.
    fn all(&self, rest: T) -> ([T; LANES as usize], usize) {
        let mut values = [rest; LANES as usize];
        let mut count = 0;
        for lane in each(self.lanes) {
            values[count] = self.in_lane(lane);
            count += 1;
        }
        (values, count)
    }
}

impl<T: DeviceCopy> Values<T> {
    /// Returns the lanes whose value has the same bits as this one.
    fn like(&self, value: T) -> u32 {
        let same = |lane: &u32| bits(&self.in_lane(*lane)) == bits(&value);
        each(self.lanes).filter(same).fold(0, |lanes, lane| lanes | 1 << lane)
    }
}

impl Members {
    /// Returns the running thread's rank.
    pub(super) fn rank(self) -> u32 {
        let lane = sim::with("`thread_rank()`", |context| context.thread.lane());
        (self.lanes & ((1 << lane) - 1)).count_ones()
    }

    pub(super) fn count(self) -> u32 {
        self.lanes.count_ones()
    }

    /// Converts a mask of lanes to one of ranks.
    fn ranks(self, lanes: u32) -> u32 {
        each(self.lanes).zip(0..).fold(0, |ranks, (lane, rank)| ranks | (lanes >> lane & 1) << rank)
    }

    fn values<T: DeviceType + Copy>(self, call: Call, value: T) -> Values<T> {
        let Call { name, site } = call;
        let call = WarpCall { name, lanes: self.lanes, value: TypeId::of::<T>(), barrier: false, site };
        let exchange = sim::with(name, |context| context.exchange(call, bytes_of(&value)));
        Values { exchange, lanes: self.lanes, value: PhantomData }
    }

    /// Returns a function from each lane of the group to its value.
    pub(super) fn exchanged<T: DeviceType + Copy>(self, call: Call, value: T) -> impl Fn(usize) -> T {
        let values = self.values(call, value);
        move |lane| values.in_lane(lane as u32)
    }

    pub(super) fn sync(self, Call { name, site }: Call) {
        let call = WarpCall { name, lanes: self.lanes, value: TypeId::of::<()>(), barrier: true, site };
        sim::with(name, |context| drop(context.exchange(call, &[])));
    }

    /// Returns the value of the rank that `from` computes of the thread's own rank and the group's size, or the
    /// thread's own value if there is no such rank.
    pub(super) fn shuffle<T: DeviceType + Copy>(
        self,
        call: Call,
        value: T,
        from: impl Fn(u32, u32) -> Option<u32>,
    ) -> T {
        let source = from(self.rank(), self.count()).filter(|rank| *rank < self.count());
        let values = self.values(call, value);
        source.map_or(value, |rank| values.of_rank(rank))
    }

    /// Returns to all threads what `once` returns in the thread of rank 0.
    pub(super) fn broadcast<T: DeviceType + Copy>(self, call: Call, once: impl Fn() -> T) -> T {
        let own = (self.rank() == 0).then(&once);
        // Rank 0 contributes a value.
        self.shuffle(call, own, |_, _| Some(0)).unwrap_or_else(once)
    }

    /// Returns the lanes whose predicate holds.
    pub(super) fn votes(self, call: Call, predicate: bool) -> u32 {
        let values = self.values(call, predicate);
        each(self.lanes).fold(0, |lanes, lane| lanes | u32::from(values.in_lane(lane)) << lane)
    }

    pub(super) fn ballot(self, call: Call, predicate: bool) -> u32 {
        self.ranks(self.votes(call, predicate))
    }

    /// Returns the lanes whose value has the same bits as the running thread's.
    fn matching<T: DeviceCopy>(self, call: Call, value: T) -> u32 {
        self.values(call, value).like(value)
    }

    /// Returns the lanes with the same label as the running thread, and the lowest lane of each label.
    pub(super) fn labelled<T: DeviceCopy>(self, call: Call, label: T) -> (u32, u32) {
        let labels = self.values(call, label);
        let is_first = |lane: &u32| labels.like(labels.in_lane(*lane)).trailing_zeros() == *lane;
        (labels.like(label), each(self.lanes).filter(is_first).fold(0, |lanes, lane| lanes | 1 << lane))
    }

    pub(super) fn match_any<T: DeviceCopy>(self, call: Call, value: T) -> u32 {
        self.ranks(self.matching(call, value))
    }

    pub(super) fn match_all<T: DeviceCopy>(self, call: Call, value: T) -> u32 {
        let same = self.matching(call, value);
        if same == self.lanes { self.ranks(same) } else { 0 }
    }

    /// Ends the launch with a failure unless all threads have the same value.
    pub(super) fn uniform<T: DeviceCopy>(self, call: Call, value: T) -> T {
        if self.matching(call, value) != self.lanes {
            let Call { name, site } = call;
            sim::fail_at(
                Cause::Protocol(format!(
                    "the value of `{name}()` must be the same in all threads of the group, but differs between them"
                )),
                site,
            );
        }
        value
    }

    /// Returns the values joined by `op`: neighbours are joined first, the lower rank on the left. A missing right side
    /// is left out.
    pub(super) fn reduce<T: DeviceType + Copy>(self, call: Call, value: T, op: &impl Operator<T>) -> T {
        let (mut values, count) = self.values(call, value).all(value);
        let mut step = 1;
        while step < count {
            for left in (0..count - step).step_by(2 * step) {
                values[left] = op.apply(values[left], values[left + step]);
            }
            step *= 2;
        }
        values[0]
    }

    /// Scans in steps of 1, 2, 4, ... ranks: each thread joins its value with the one that far below it (Hillis and
    /// Steele). It returns the values of this rank and of the one below.
    fn scan<T: DeviceType + Copy>(self, call: Call, value: T, op: &impl Operator<T>) -> (T, Option<T>) {
        let rank = self.rank() as usize;
        let (mut values, count) = self.values(call, value).all(value);
        let mut step = 1;
        while step < count {
            for at in (step..count).rev() {
                values[at] = op.apply(values[at - step], values[at]);
            }
            step *= 2;
        }
        (values[rank], rank.checked_sub(1).map(|below| values[below]))
    }

    pub(super) fn inclusive_scan<T: DeviceType + Copy>(self, call: Call, value: T, op: &impl Operator<T>) -> T {
        self.scan(call, value, op).0
    }

    pub(super) fn exclusive_scan<T: DeviceType + Copy>(self, call: Call, value: T, op: &impl Operator<T>) -> T {
        let (_, below) = self.scan(call, value, op);
        below.or_else(|| op.identity()).unwrap_or(value)
    }
}
