//! What the driver knows of a loaded kernel.

use std::any::TypeId;
use std::sync::Arc;

use cudarc::driver::sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT as MULTIPROCESSORS;

use super::context::Gpu;
use super::ffi::{self, driver};
use super::variant::Variant;
use crate::program::Program;
use crate::report::attributes::KernelAttributes;
use crate::report::error::Result;
use crate::shape::Shape;

impl Gpu {
    /// Returns what a kernel takes of this GPU, in launches of this shape, which fit.
    pub(crate) fn attributes(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<KernelAttributes> {
        let ready = self.prepare(kernel, program, shape, variant)?;
        let (function, error) = (&ready.function, driver("cuFuncGetAttribute"));
        let static_bytes = function.shared_size_bytes().map_err(&error)?;
        let dynamic_bytes = ready.shape.dynamic_shared_bytes;
        let of_device = self.context().attribute(MULTIPROCESSORS).map_err(driver("cuDeviceGetAttribute"))?;
        Ok(KernelAttributes {
            registers: count(function.num_regs().map_err(&error)?),
            local_bytes: count(function.local_size_bytes().map_err(&error)?) as usize,
            shared_bytes: count(static_bytes) as usize + dynamic_bytes,
            constant_bytes: count(function.const_size_bytes().map_err(&error)?) as usize,
            max_threads_per_block: count(function.max_threads_per_block().map_err(&error)?),
            blocks_per_multiprocessor: function
                .occupancy_max_active_blocks_per_multiprocessor(ready.shape.block.count() as u32, dynamic_bytes, None)
                .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessor"))?,
            multiprocessors: count(of_device),
        })
    }

    /// Returns the number of blocks in the largest cluster of this kernel that fits on this GPU.
    pub(crate) fn largest_cluster(
        &self,
        kernel: TypeId,
        program: &Arc<Program>,
        shape: &Shape,
        variant: Variant,
    ) -> Result<u32> {
        let ready = self.prepare(kernel, program, shape, variant)?;
        if !self.caps().has_clusters() {
            return Ok(1);
        }
        ffi::largest_cluster(self.default_queue().stream(), &ready.function, &ready.shape)
    }
}

/// Returns a number of the driver's, which is not negative.
fn count(number: i32) -> u32 {
    number.max(0) as u32
}
