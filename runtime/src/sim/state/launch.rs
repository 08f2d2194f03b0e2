//! The state that all clusters of a launch share.

use std::sync::atomic::{AtomicBool, Ordering};

use super::prints::Prints;
use super::uniform_check::UniformChecks;
use crate::report::progress::Progress;
use crate::shape::{Dim3, Shape};
use crate::sim::race::{Detector, Layout};
use crate::sim::simulator::Simulator;

/// A running launch.
pub(crate) struct Launch<'l> {
    pub(crate) kernel: &'l str,
    pub(crate) shape: &'l Shape,
    pub(crate) simulator: &'l Simulator,
    pub(crate) body: &'l (dyn Fn() + Send + Sync + 'l),
    pub(crate) prints: Prints,
    pub(crate) uniform_checks: UniformChecks,
    /// `None` if races are not detected.
    pub(crate) races: Option<Detector>,
    /// The number of threads in a block.
    pub(crate) block_threads: u32,
    /// The number of blocks in a cluster.
    pub(crate) cluster_blocks: u32,
    /// The number of clusters in the grid, in each dimension.
    pub(crate) dim_clusters: Dim3,
    /// Whether clusters may run in parallel.
    in_parallel: bool,
    /// Whether clusters have accessed global memory by atomics, or raced, so that they may depend on each other.
    communicates: AtomicBool,
}

impl<'l> Launch<'l> {
    pub(crate) fn new(
        kernel: &'l str,
        shape: &'l Shape,
        simulator: &'l Simulator,
        body: &'l (dyn Fn() + Send + Sync + 'l),
        in_parallel: bool,
    ) -> Self {
        let Shape { grid, cluster, block, .. } = *shape;
        let dim_clusters = Dim3::new(grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z);
        let layout = Layout::new(dim_clusters.count(), cluster.count() as u32, block.count() as u32);
        Launch {
            kernel,
            shape,
            simulator,
            body,
            prints: Prints::default(),
            uniform_checks: UniformChecks::default(),
            races: simulator.races.then(|| Detector::new(layout, simulator.equal_writes)),
            block_threads: block.count() as u32,
            cluster_blocks: cluster.count() as u32,
            dim_clusters,
            in_parallel: in_parallel && dim_clusters.count() > 1,
            communicates: AtomicBool::new(false),
        }
    }

    /// Returns the launch's progress, of which no cluster has ended.
    pub(in crate::sim) fn progress(&self) -> Progress {
        let clusters = self.dim_clusters.count();
        match self.simulator.shows_progress {
            true => Progress::new(&format!("kernel `{}`", self.kernel), clusters, "clusters"),
            false => Progress::hidden(),
        }
    }

    /// Notes that clusters may depend on each other.
    pub(in crate::sim) fn note_communication(&self) {
        if !self.communicates.load(Ordering::Relaxed) {
            self.communicates.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether clusters may run in parallel.
    pub(in crate::sim) fn in_parallel(&self) -> bool {
        self.in_parallel
    }

    /// Returns whether the launch is the same when it is run again under its schedule. Clusters that run in parallel make
    /// a difference if they depend on each other, which is unknown without race detection.
    pub(in crate::sim) fn replays(&self) -> bool {
        !self.in_parallel || self.races.is_some() && !self.communicates.load(Ordering::Relaxed)
    }

    /// Returns the grid index of the block of this rank in the cluster of this rank.
    pub(crate) fn block_index(&self, cluster: u64, block: u32) -> Dim3 {
        let (origin, inner) = (self.dim_clusters.index(cluster), self.shape.cluster.index(block.into()));
        let Dim3 { x, y, z } = self.shape.cluster;
        Dim3::new(origin.x * x + inner.x, origin.y * y + inner.y, origin.z * z + inner.z)
    }

    /// Returns the grid rank of the block with this index.
    pub(in crate::sim) fn block_rank(&self, index: Dim3) -> u64 {
        let (grid, wide) = (self.shape.grid, u64::from);
        wide(index.x) + wide(grid.x) * (wide(index.y) + wide(grid.y) * wide(index.z))
    }

    /// Returns the number of threads in a cluster.
    pub(crate) fn cluster_threads(&self) -> usize {
        self.block_threads as usize * self.cluster_blocks as usize
    }
}
