//! Executes one iteration of a loop: it counts against the simulator's limit, and other threads may run.

use super::context::Context;
use super::cost;
use super::site::Site;
use crate::report::failure::Cause;

impl Context<'_> {
    /// Counts an iteration of the running thread, and occasionally lets other threads run.
    #[inline]
    pub(crate) fn tick(&self, site: Site) {
        let ticks = self.thread.ticks.get() + 1;
        self.thread.ticks.set(ticks);
        let limit = self.cluster.launch.simulator.step_limit;
        if ticks > limit {
            self.fail(Cause::StepLimit(limit), site);
        }
        self.step();
        self.tick_for_warp();
        self.point(cost::TICK);
    }
}
