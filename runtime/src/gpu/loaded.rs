//! A kernel that is loaded on a GPU, and the shapes of launches that are known to fit.

use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
use cudarc::driver::{CudaFunction, CudaStream};

use super::caps::Caps;
use super::ffi::{self, LaunchAttributes, driver};
use crate::program::Program;
use crate::report::error::{Error, LaunchError, Result};
use crate::shape::{Dim3, Shape};

/// A kernel that is ready for launches of a shape.
pub(crate) struct Ready {
    pub(super) program: Arc<Program>,
    pub(super) number: usize,
    pub(super) function: CudaFunction,
    /// The shape with the arrays that the kernel has in the dynamic segment.
    pub(super) shape: Shape,
    pub(super) attributes: LaunchAttributes,
}

/// A kernel on the device.
pub(super) struct Loaded {
    pub(super) program: Arc<Program>,
    pub(super) function: CudaFunction,
    /// The largest block that the kernel's registers allow.
    max_threads: u64,
    /// The dynamic shared memory that the kernel may have, in bytes. It only grows, so that earlier shapes still fit.
    dynamic_shared: usize,
    /// The cluster, block and shared bytes that are known to fit, with the number of such clusters that run at once.
    fits: Vec<((Dim3, Dim3, usize), usize)>,
    /// What the last launch was given.
    pub(super) last: Option<Arc<Ready>>,
}

impl Loaded {
    pub(super) fn new(program: Arc<Program>, function: CudaFunction, max_threads: u64) -> Loaded {
        Loaded { program, function, max_threads, dynamic_shared: 0, fits: Vec::new(), last: None }
    }

    /// Returns how many clusters of this shape fit on the device at once, and fails if none does. It asks the driver
    /// once for each shape.
    pub(super) fn check_fits(&mut self, stream: &CudaStream, shape: &Shape, caps: &Caps) -> Result<usize> {
        let key = (shape.cluster, shape.block, shape.dynamic_shared_bytes);
        if let Some((_, clusters)) = self.fits.iter().find(|(fitting, _)| *fitting == key) {
            return Ok(*clusters);
        }
        let error = |reason| Err(Error::Launch { kernel: self.program.name().into(), reason });
        let (threads, blocks) = (shape.block.count(), shape.cluster.count());
        if threads > self.max_threads {
            return error(LaunchError::TooManyRegisters { threads, limit: self.max_threads });
        }
        // Arrays that are placed in the dynamic segment are counted there.
        let fixed = self.program.static_shared_bytes() - self.program.placed_shared_bytes();
        let shared = fixed + shape.dynamic_shared_bytes;
        if shared > 48 * 1024 && shape.dynamic_shared_bytes > self.dynamic_shared {
            ffi::allow_dynamic_shared(&self.function, shape.dynamic_shared_bytes)?;
            self.dynamic_shared = shape.dynamic_shared_bytes;
        }
        let clusters = match caps.has_clusters() {
            true => ffi::max_active_clusters(stream, &self.function, shape)?,
            false => max_active_blocks(stream, &self.function, shape)?,
        };
        if clusters == 0 {
            return error(LaunchError::NoActiveCluster { blocks, threads, shared });
        }
        self.fits.push((key, clusters));
        Ok(clusters)
    }
}

/// Returns how many blocks of `shape` a device without clusters can run concurrently, regardless of the grid.
fn max_active_blocks(stream: &CudaStream, function: &CudaFunction, shape: &Shape) -> Result<usize> {
    let (threads, bytes) = (shape.block.count() as u32, shape.dynamic_shared_bytes);
    let of_one = function
        .occupancy_max_active_blocks_per_multiprocessor(threads, bytes, None)
        .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))?;
    let all = stream.context().attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    Ok(of_one as usize * all.map_err(driver("cuDeviceGetAttribute"))?.max(0) as usize)
}
