//! Where threads meet: in barriers of groups, also in split ones, whose arrival and wait are one where the thread does nothing in between
//! that others notice, and in collectives of a warp.

use super::kernel::Point;
use super::walk::Walker;
use crate::model::group::Group;
use crate::model::group_barrier::BarrierMethod;
use crate::rings::{Among, Op};
use crate::span::SpanRange;

impl Walker<'_, '_, '_, '_> {
    /// The thread arrives at a split barrier, for whose wait it is looked from here on.
    pub(super) fn arrive_at_group(&mut self, group: Group, method: &BarrierMethod) {
        self.flush();
        // A proof says that what comes before the barrier is ordered before what comes after it, and a relaxed arrival orders nothing.
        let orders = !method.relaxed || self.evaluator.arguments.is_some();
        self.program.allows_more |= !orders || self.arrived.is_some();
        self.arrived = orders.then_some(group);
    }

    /// The thread waits at a split barrier. It is a meeting if its arrival is the one before, and no step came between that rules it out.
    pub(super) fn wait_at_group(&mut self, (point, at): (Point, SpanRange), group: Group) {
        self.flush();
        if self.arrived.take() != Some(group) {
            self.program.allows_more = true;
            return;
        }
        let among = if group == Group::ThreadBlock { Among::Block } else { Among::Cluster };
        self.meet(point, at, among);
    }

    /// Notes a step behind an arrival at a split barrier, before its wait.
    pub(super) fn between_split(&mut self, op: &Op) {
        if self.arrived.is_none() {
            return;
        }
        let stands = match op {
            // It concerns the thread itself, or its warp or block, all of which has arrived and comes to the wait.
            Op::Set(_) => true,
            Op::Sync { among: Among::Block, .. } => self.arrived != Some(Group::ThreadBlock),
            // In a run in which the threads meet where they wait, these steps come before. None of them waits for anybody.
            Op::Arrive { .. }
            | Op::Expect { .. }
            | Op::Copy { .. }
            | Op::BeginFill { .. }
            | Op::EndFill { .. }
            | Op::BeginRead { .. }
            | Op::EndRead { .. } => self.evaluator.arguments.is_some(),
            Op::Wait { .. }
            | Op::WaitToken { .. }
            | Op::Share { .. }
            | Op::Store { .. }
            | Op::WaitStores { .. }
            | Op::Sync { .. }
            | Op::NextRound
            | Op::Branch { .. }
            | Op::Jump(_)
            | Op::Leave => false,
        };
        if !stands {
            self.arrived = None;
            self.program.allows_more = true;
        }
    }

    /// The threads of the warp meet, where what they did before may be ordered before what others do afterwards.
    pub(super) fn meet_warp(&mut self, point: Point, at: SpanRange, orders: bool) {
        self.flush();
        self.program.meetings.insert(self.program.steps.len());
        if !orders {
            let number = self.sites.number(point, at);
            self.program.unordered.insert(number);
        }
        self.push(point, at, Op::Set(Vec::new()));
    }

    pub(super) fn meet(&mut self, point: Point, at: SpanRange, among: Among) {
        self.flush();
        let meeting = self.sites.number(point, at);
        self.push(point, at, Op::Sync { meeting, among });
    }
}
