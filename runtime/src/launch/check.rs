//! Checks the rules of a launch that need no driver, each with its error. The limits are those of compute capability
//! 9.0 and later in the programming guide. `gpu::context` asks the driver for the limits that depend on the compiled
//! kernel.

use std::time::Duration;

use phalanx_contract::capability::{Capability, Need};

use crate::gpu::Mode;
use crate::gpu::caps::Caps;
use crate::location::Location;
use crate::program::Program;
use crate::program::options::KernelOptions;
use crate::report::error::{Error, LaunchError, Result};
use crate::shape::{Dim3, Shape};

/// The largest amount of local memory of a thread (CUDA C++ Programming Guide, table of technical specifications).
const LOCAL_BYTES: usize = 512 << 10;

/// The sizes that the launch asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) grid: Option<Dim3>,
    pub(super) cluster: Option<Dim3>,
    pub(super) block: Option<Dim3>,
    pub(super) shared_bytes: Option<usize>,
}

impl Sizes {
    /// Returns the sizes of a launch of one cluster.
    pub(super) fn with_one_cluster(self, program: &Program) -> Sizes {
        let cluster = program.options().cluster.map(Dim3::from).or(self.cluster);
        Sizes { grid: Some(cluster.unwrap_or(1.into())), ..self }
    }
}

/// Returns the shape that the attribute and the launch give together, if it fits on the device.
pub(super) fn fitting(program: &Program, sizes: &Sizes, caps: &Caps) -> Result<Shape> {
    let shape = shape(&program.options(), sizes).and_then(|shape| {
        instructions(program, caps.capability)?;
        clusters(shape.cluster.count(), caps.capability)?;
        shared(program, &shape, caps)?;
        local(program.local_memory().largest)?;
        Ok(shape)
    });
    shape.map_err(|reason| Error::Launch { kernel: program.name().into(), reason })
}

/// Rejects what a graph cannot capture.
pub(super) fn captured(
    program: &Program,
    mode: Mode,
    are_borrowed: bool,
    deadline: Option<Duration>,
) -> Result<(), LaunchError> {
    let refused = mode.refused_in_graph(program, deadline.is_some());
    refused.or(are_borrowed.then_some(LaunchError::BorrowedInGraph)).map_or(Ok(()), Err)
}

/// Rejects a kernel that may not begin before the launches in front of it have ended.
pub(super) fn dependent(program: &Program) -> Result<(), LaunchError> {
    if !program.waits_for_previous() {
        return Err(LaunchError::NeverWaits);
    }
    if program.has_grid_barrier() {
        return Err(LaunchError::DependentGridBarrier);
    }
    Ok(())
}

/// Rejects what a GPU of this compute capability has no instructions for.
pub(super) fn instructions(program: &Program, found: (i32, i32)) -> Result<(), LaunchError> {
    if let Some((file, need)) = program.needs().iter().find(|(_, need)| !need.capability.is_met_by(found)) {
        let location = Location { file: (*file).into(), line: need.line, column: need.column };
        return Err(LaunchError::Capability { what: need.what, needed: need.capability.name(), location, found });
    }
    if program.has_narrow_floats() && found < (8, 9) {
        return Err(LaunchError::NarrowFloats { found });
    }
    clusters(program.options().cluster.map_or(1, |cluster| volume(cluster.into())), found)
}

/// Rejects what NVRTC compiles for one generation alone, if the architecture has no `a` at its end. Those that launches ask for have it.
pub(super) fn suffix(program: &Program, architecture: &str) -> Result<(), LaunchError> {
    let is_of_one = |(_, need): &&(&str, Need)| need.capability == Capability::Warpgroups;
    match program.needs().iter().find(is_of_one) {
        Some((file, need)) if !architecture.ends_with('a') => Err(LaunchError::NoSuffix {
            what: need.what,
            location: Location { file: (*file).into(), line: need.line, column: need.column },
            architecture: architecture.into(),
        }),
        Some(_) | None => Ok(()),
    }
}

/// Rejects clusters of several blocks where a GPU has none.
fn clusters(blocks: u64, found: (i32, i32)) -> Result<(), LaunchError> {
    match blocks > 1 && !Capability::Clusters.is_met_by(found) {
        true => Err(LaunchError::NoClusters { blocks, found }),
        false => Ok(()),
    }
}

/// Returns the shape that the attribute and the launch give together.
fn shape(options: &KernelOptions, sizes: &Sizes) -> Result<Shape, LaunchError> {
    let grid = sizes.grid.ok_or(LaunchError::NoGrid)?;
    let cluster = choose("cluster", options.cluster, sizes.cluster)?.unwrap_or(Dim3::new(1, 1, 1));
    let block = choose("block", options.block, sizes.block)?.ok_or(LaunchError::NoBlock)?;
    for (what, extent) in [("grid", grid), ("cluster", cluster), ("block", block)] {
        if [extent.x, extent.y, extent.z].contains(&0) {
            return Err(LaunchError::ZeroSize { what, extent });
        }
    }
    check_cluster(cluster, options.non_portable)?;
    check_block(block)?;
    check_grid(grid, cluster)?;
    let dynamic_shared_bytes = match (options.shared_bytes, sizes.shared_bytes) {
        (Some(fixed), Some(asked)) if fixed != asked => return Err(LaunchError::SharedBytesMismatch { fixed, asked }),
        (None, None) if options.dynamic_shared => return Err(LaunchError::NoSharedBytes),
        (fixed, asked) => fixed.or(asked).unwrap_or(0),
    };
    Ok(Shape { grid, cluster, block, dynamic_shared_bytes })
}

/// Returns the size that the attribute or the launch gives; if both do, they must be equal.
fn choose(what: &'static str, fixed: Option<[u32; 3]>, asked: Option<Dim3>) -> Result<Option<Dim3>, LaunchError> {
    match (fixed.map(Dim3::from), asked) {
        (Some(fixed), Some(asked)) if fixed != asked => Err(LaunchError::SizeMismatch { what, fixed, asked }),
        (fixed, asked) => Ok(fixed.or(asked)),
    }
}

fn check_cluster(cluster: Dim3, non_portable: bool) -> Result<(), LaunchError> {
    match volume(cluster) {
        blocks if blocks > 16 => Err(LaunchError::ClusterTooLarge { blocks }),
        blocks if blocks > 8 && !non_portable => Err(LaunchError::NonPortable { blocks }),
        _ => Ok(()),
    }
}

fn check_block(block: Dim3) -> Result<(), LaunchError> {
    match volume(block) {
        threads if threads > 1024 => Err(LaunchError::BlockTooLarge { threads }),
        _ if block.z > 64 => Err(LaunchError::BlockTooDeep { block }),
        _ => Ok(()),
    }
}

fn check_grid(grid: Dim3, cluster: Dim3) -> Result<(), LaunchError> {
    if grid.x > i32::MAX as u32 || grid.y > 65_535 || grid.z > 65_535 {
        return Err(LaunchError::GridTooLarge { grid });
    }
    let whole = [(grid.x, cluster.x), (grid.y, cluster.y), (grid.z, cluster.z)];
    if whole.iter().any(|(grid, cluster)| !grid.is_multiple_of(*cluster)) {
        return Err(LaunchError::GridNotMultiple { grid, cluster });
    }
    Ok(())
}

/// Computes [`Dim3::count`] for unchecked sizes, whose product may overflow.
fn volume(extent: Dim3) -> u64 {
    u64::from(extent.x).saturating_mul(extent.y.into()).saturating_mul(extent.z.into())
}

/// Checks that a block's shared memory fits on the device.
fn shared(program: &Program, shape: &Shape, caps: &Caps) -> Result<(), LaunchError> {
    let (fixed, dynamic) = (program.static_shared_bytes(), shape.dynamic_shared_bytes);
    if fixed.saturating_add(dynamic) > caps.shared_bytes {
        return Err(LaunchError::SharedMemoryTooLarge { fixed, dynamic, limit: caps.shared_bytes });
    }
    Ok(())
}

/// Checks that the largest value of a thread fits into its local memory.
fn local(bytes: usize) -> Result<(), LaunchError> {
    match bytes > LOCAL_BYTES {
        true => Err(LaunchError::LocalMemoryTooLarge { bytes, limit: LOCAL_BYTES }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: KernelOptions = KernelOptions::NONE;

    fn sizes(grid: impl Into<Dim3>, cluster: impl Into<Dim3>, block: impl Into<Dim3>) -> Sizes {
        Sizes { grid: Some(grid.into()), cluster: Some(cluster.into()), block: Some(block.into()), shared_bytes: None }
    }

    #[track_caller]
    fn refused(options: KernelOptions, sizes: Sizes, message: &str) {
        assert_eq!(shape(&options, &sizes).unwrap_err().to_string(), message);
    }

    #[test]
    fn sizes_come_from_the_attribute_or_the_launch() {
        let fixed = KernelOptions { cluster: Some([2, 1, 1]), block: Some([64, 1, 1]), ..FREE };
        let grid_only = Sizes { grid: Some(4.into()), ..Sizes::default() };
        let shape_of = |options, sizes| shape(&options, &sizes).map(|shape| (shape.cluster.x, shape.block.x));
        assert_eq!(shape_of(fixed, grid_only), Ok((2, 64)));
        assert_eq!(shape_of(fixed, sizes(4, 2, 64)), Ok((2, 64)));
        assert_eq!(shape_of(FREE, Sizes { cluster: None, ..sizes(4, 2, 64) }), Ok((1, 64)));
        refused(fixed, sizes(4, 4, 64), "its attribute fixes cluster = (2,1,1), but `.cluster(..)` asks for (4,1,1)");
        assert_eq!(shape(&FREE, &grid_only), Err(LaunchError::NoBlock));
        assert_eq!(shape(&FREE, &Sizes::default()), Err(LaunchError::NoGrid));
    }

    mod kernels {
        use crate::prelude::*;

        #[cluster_kernel(block = 32)]
        pub(super) fn plain(out: &mut [u32]) {
            let (cluster, grid) = (this_cluster(), this_grid());
            let (block, bar) = (this_thread_block(), shared_barrier());
            bar.init_collective(&block, 2 * block.num_threads());
            let token = bar.arrive_n(2);
            bar.wait(token);
            out[grid.thread_rank()] = cluster.block_rank() + cluster.num_blocks();
        }

        #[cluster_kernel(block = 32)]
        pub(super) fn narrows(out: &mut [f32]) {
            let i = this_grid().thread_rank();
            out[i] = e4m3::from_f32(out[i]).to_f32();
        }

        #[device]
        fn meet(cluster: &Cluster) {
            cluster.sync();
        }

        pub(super) const MEETS: u32 = line!() - 3;

        #[cluster_kernel(block = 32)]
        pub(super) fn meets(out: &mut [u32]) {
            let cluster = this_cluster();
            meet(&cluster);
            out[this_grid().thread_rank()] = 1;
        }

        #[cluster_kernel(block = 128)]
        pub(super) fn leaves_registers(out: &mut [u32]) {
            let warpgroup = tiled_partition::<128>(&this_thread_block());
            warpgroup.decrease_registers::<40>();
            out[warpgroup.thread_rank()] = 1;
        }

        #[cluster_kernel(block = 32)]
        pub(super) fn narrow(out: &mut [f32]) {
            let warp = tiled_partition::<32>(&this_thread_block());
            let (a, b) = (MatrixA::<e4m3, 16, 32>::splat(e4m3::ZERO), MatrixB::<e4m3, 32, 8>::splat(e4m3::ZERO));
            let sum = warp.mma(a, b, Accumulator::<f32, 16, 8>::splat(0.0));
            out[warp.thread_rank()] = sum[0];
        }
    }

    /// A GPU of this compute capability, with as much memory as an H100.
    fn gpu(capability: (i32, i32)) -> Caps {
        Caps { capability, ..Caps::h100() }
    }

    #[test]
    fn a_kernel_runs_where_its_instructions_are() {
        use crate::program::template::Function;
        const ALL: [(i32, i32); 6] = [(8, 0), (8, 6), (8, 9), (9, 0), (10, 3), (12, 1)];
        fn runs<K: Function>() -> Vec<(i32, i32)> {
            let program = Program::of::<K>().unwrap();
            ALL.into_iter()
                .filter(|found| fitting(&program, &sizes(4, 1, program_block(&program)), &gpu(*found)).is_ok())
                .collect()
        }
        fn program_block(program: &Program) -> Dim3 {
            program.options().block.unwrap().into()
        }
        assert_eq!(runs::<kernels::plain>(), ALL);
        assert_eq!(runs::<kernels::meets>(), ALL[3..]);
        assert_eq!(runs::<kernels::leaves_registers>(), [(9, 0)]);
        assert_eq!(runs::<kernels::narrow>(), ALL[2..]);
        let program = Program::of::<kernels::meets>().unwrap();
        let error = fitting(&program, &sizes(4, 1, 32), &gpu((8, 6))).unwrap_err().to_string();
        let place = format!("a barrier of the cluster, at {}:{}:13", file!(), kernels::MEETS);
        let end = "needs compute capability 9.0 or later, and this GPU has 8.6";
        assert!(error.contains(&place) && error.ends_with(end), "{error}");
        let leaves = Program::of::<kernels::leaves_registers>().unwrap();
        leaves.check_architecture("sm_90a").unwrap();
        let error = leaves.check_architecture("sm_90").unwrap_err().to_string();
        assert!(error.contains(file!()) && error.ends_with("has `sm_90a`, not `sm_90`; name that"), "{error}");
        let narrows = Program::of::<kernels::narrows>().unwrap();
        narrows.check_architecture("sm_89").unwrap();
        let error = narrows.check_architecture("sm_80").unwrap_err().to_string();
        assert!(
            error.contains("`e4m3` and `e5m2` need compute capability 8.9 or later, and this GPU has 8.0"),
            "{error}"
        );
        let plain = Program::of::<kernels::plain>().unwrap();
        plain.check_architecture("sm_90").unwrap();
        let error = fitting(&plain, &sizes(4, 2, 32), &gpu((8, 9))).unwrap_err().to_string();
        assert!(
            error.contains("clusters of 2 blocks need compute capability 9.0 or later, and this GPU has 8.9"),
            "{error}"
        );
    }

    #[test]
    fn a_grid_with_a_barrier_runs_at_once() {
        let shape = shape(&FREE, &sizes(12, 4, 32)).unwrap();
        assert_eq!(LaunchError::check_resident(&shape, 3), Ok(()));
        let error = LaunchError::check_resident(&shape, 2).unwrap_err();
        assert_eq!(error, LaunchError::GridNotResident { blocks: 12, most: 8 });
        assert!(error.to_string().contains("the grid has 12 blocks, but this device holds at most 8"), "{error}");
    }

    #[test]
    fn each_limit_has_its_error() {
        let big = KernelOptions { non_portable: true, ..FREE };
        assert!(shape(&big, &sizes(16, 16, 32)).is_ok());
        refused(FREE, sizes(0, 1, 32), "the grid size (0,1,1) has a zero");
        refused(big, sizes(32, 32, 32), "a cluster of 32 blocks is larger than 16, the limit of the hardware");
        refused(
            FREE,
            sizes(16, 16, 32),
            "a cluster of 16 blocks is larger than 8, the most that every device supports; write \
             `#[cluster_kernel(non_portable)]` to allow up to 16",
        );
        refused(FREE, sizes(1, 1, 2048), "a block of 2048 threads is larger than 1024, the limit of the hardware");
        refused(FREE, sizes(1, 1, (1, 1, 65)), "the block (1,1,65) has z larger than 64, the limit of the hardware");
        refused(
            FREE,
            sizes((8, 3), (2, 2), 32),
            "the grid (8,3,1) is not a multiple of the cluster (2,2,1) in each dimension; the grid is given in blocks",
        );
        refused(FREE, sizes((1, 65_536), 1, 32), "the grid (1,65536,1) is larger than (2147483647,65535,65535)");
        assert_eq!(shape(&FREE, &sizes(1, [u32::MAX; 3], 32)), Err(LaunchError::ClusterTooLarge { blocks: u64::MAX }));
        let dynamic = KernelOptions { dynamic_shared: true, ..FREE };
        assert_eq!(shape(&dynamic, &sizes(1, 1, 32)), Err(LaunchError::NoSharedBytes));
        let fixed = KernelOptions { shared_bytes: Some(4096), ..dynamic };
        let asks = |bytes| Sizes { shared_bytes: Some(bytes), ..sizes(1, 1, 32) };
        for sizes in [sizes(1, 1, 32), asks(4096)] {
            assert_eq!(shape(&fixed, &sizes).map(|shape| shape.dynamic_shared_bytes), Ok(4096));
        }
        refused(fixed, asks(4097), "its attribute fixes shared_bytes = 4096, but `.shared_bytes(..)` asks for 4097");
    }
}
