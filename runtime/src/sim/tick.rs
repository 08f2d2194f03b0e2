//! Counts the iterations of loops against the simulator's limit. Each is a scheduling point.

use super::context::Context;
use super::cost;
use super::site::Site;
use crate::report::failure::Cause;

impl Context<'_> {
    /// Counts a loop iteration of the running thread, after which other threads may run.
    #[inline]
    pub(crate) fn tick(&self, site: Site) {
        let ticks = self.thread.ticks.get() + 1;
        self.thread.ticks.set(ticks);
        self.thread.last_tick.set(Some(site));
        let limit = self.cluster.launch.simulator.step_limit;
        if ticks > limit {
            self.fail(Cause::StepLimit(limit), site);
        }
        self.step();
        self.tick_for_warp();
        self.point(cost::TICK);
    }
}
