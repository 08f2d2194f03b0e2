//! What a launch asks of an assembled program.

use std::sync::Arc;

use super::Program;
use crate::program::launch_checks::LaunchChecks;
use crate::program::site::SiteMap;
use crate::report::barrier_fence::FencesByPlace;

impl Program {
    /// Returns whether something in the program prints.
    pub(crate) fn prints(&self) -> bool {
        self.prints
    }

    /// Returns whether the program's blocks wait for each other, so that all of them must run concurrently.
    pub(crate) fn has_grid_barrier(&self) -> bool {
        self.has_grid_barrier
    }

    /// Returns the fences of the barriers, for the simulator.
    pub(crate) fn fences(&self) -> &Arc<FencesByPlace> {
        &self.fences
    }

    /// Returns whether the kernel waits for the launches before it, so that it may begin before they have ended.
    pub(crate) fn waits_for_previous(&self) -> bool {
        self.waits_for_previous
    }

    /// Returns whether something in the program asks for its place in the grid or for the grid's size.
    pub(crate) fn names_grid(&self) -> bool {
        self.names_grid
    }

    /// Returns whether the program is faster if addresses are known to be aligned.
    pub(crate) fn needs_alignment(&self) -> bool {
        self.needs_alignment
    }

    /// Returns whether the kernel has a parameter that is an integer of 64 bits.
    pub(crate) fn has_wide_integers(&self) -> bool {
        self.has_wide_integers
    }

    /// Returns the checks of accesses that the host makes before a launch.
    pub(crate) fn launch_checks(&self) -> &LaunchChecks {
        &self.launch_checks
    }

    /// Returns the names of the kernel's parameters, in order.
    pub(crate) fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Returns the sites at which the program can fail or print.
    pub(crate) fn sites(&self) -> &SiteMap {
        &self.sites
    }

    /// Returns whether the program may send to a peer asynchronously, so that even clusters of one block need the launch
    /// attribute.
    pub(crate) fn sends_to_peers(&self) -> bool {
        self.sends_to_peers
    }

    /// Returns the number of bytes that a launch adds to its dynamic shared memory, for shared arrays that lie there.
    pub(crate) fn placed_shared_bytes(&self) -> usize {
        self.placed_shared_bytes
    }
}
