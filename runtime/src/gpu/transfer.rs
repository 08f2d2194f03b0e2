//! Copies between the host and a GPU's memory, and memory that goes to cudarc and comes from it.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, DevicePtr, DevicePtrMut};

use super::context::Gpu;
use super::ffi;
use super::ffi::pinned::Pinned;
use super::mode::Access;
use super::observe::{self, Stage};
use super::queue::{GpuCopy, GpuMemory, Queue};
use crate::program::types::{DeviceCopy, bytes_of};
use crate::report::error::{Error, Result};

impl Gpu {
    /// Returns memory with a copy of `data`.
    pub(crate) fn upload<T: DeviceCopy>(&self, data: &[T]) -> Result<GpuMemory> {
        let home = self.default_queue();
        let memory = GpuMemory::new(home, ffi::allocate(home.stream(), size_of_val(data))?);
        self.write(&memory, 0, data)?;
        Ok(memory)
    }

    /// Returns memory with `bytes` zeros.
    pub(crate) fn zeros(&self, bytes: usize) -> Result<GpuMemory> {
        let home = self.default_queue();
        let memory = GpuMemory::new(home, ffi::allocate(home.stream(), bytes)?);
        home.enqueue(&[(&memory, Access::Write)], |_| ffi::clear(home.stream(), memory.region()))?;
        Ok(memory)
    }

    /// Returns memory with `bytes` zeros, which the host accesses, too.
    pub(crate) fn managed(&self, bytes: usize) -> Result<GpuMemory> {
        let home = self.default_queue();
        let memory = GpuMemory::new(home, ffi::managed::allocate_managed(home.stream(), bytes)?);
        home.enqueue(&[(&memory, Access::Write)], |_| ffi::clear(home.stream(), memory.region()))?;
        Ok(memory)
    }

    /// Returns `len` elements of managed memory from the byte `start` on, after all work that uses it. It reports the failures of that.
    pub(crate) fn host_slice<'a, T: DeviceCopy>(
        &self,
        memory: &'a mut GpuMemory,
        start: usize,
        len: usize,
    ) -> Result<&'a mut [T]> {
        self.synchronize_queue(self.default_queue())?;
        memory.before(Access::Write).iter().try_for_each(|(user, _)| self.finish_user(user))?;
        memory.host_slice(start..start + len * size_of::<T>())
    }

    /// Overwrites bytes of `memory` from `offset` on, after all work that uses it.
    pub(crate) fn write<T: DeviceCopy>(&self, memory: &GpuMemory, offset: usize, data: &[T]) -> Result<()> {
        let home = self.default_queue();
        let _span = observe::span(Stage::Copy, "host to device");
        let region = memory.region().part(offset, size_of_val(data));
        home.enqueue(&[(memory, Access::Write)], |_| ffi::write(home.stream(), region, bytes_of(data)))?;
        // The driver may still be reading `data`.
        home.synchronize()
    }

    /// Copies bytes from one memory to another on a stream, after all work that uses either.
    pub(crate) fn copy(
        &self,
        queue: &Arc<Queue>,
        (from, from_offset): (&GpuMemory, usize),
        (to, to_offset): (&GpuMemory, usize),
        bytes: usize,
    ) -> Result<()> {
        queue.check_not_capturing()?;
        let _span = observe::span(Stage::Copy, "device to device");
        let (source, target) = (from.region().part(from_offset, bytes), to.region().part(to_offset, bytes));
        let uses = [(from, Access::Read), (to, Access::Write)];
        queue.enqueue(&uses, |_| ffi::copy(queue.stream(), source, target))
    }

    /// Copies bytes of the memory of one GPU to that of another, on a stream of this one, which is one of the two.
    pub(crate) fn copy_between(
        &self,
        queue: &Arc<Queue>,
        (source, from, from_offset): (&Gpu, &GpuMemory, usize),
        (target, to, to_offset): (&Gpu, &GpuMemory, usize),
        bytes: usize,
    ) -> Result<()> {
        queue.check_not_capturing()?;
        source.note_uses()?;
        target.note_uses()?;
        let _span = observe::span(Stage::Copy, "GPU to GPU");
        let from_part = (from.region().part(from_offset, bytes), &**source.context());
        let to_part = (to.region().part(to_offset, bytes), &**target.context());
        let uses = [(from, Access::Read), (to, Access::Write)];
        queue.enqueue(&uses, |_| ffi::peer::copy_to_peer(queue.stream(), from_part, to_part))
    }

    /// Returns `len` elements from the byte `start` on, after all launches on the default stream and on the one that wrote them last. It
    /// reports the failures of those.
    pub(crate) fn read<T: DeviceCopy>(&self, memory: &GpuMemory, start: usize, len: usize) -> Result<Vec<T>> {
        let home = self.default_queue();
        let region = memory.region().part(start, len * size_of::<T>());
        self.finish_work_on(memory)?;
        let _span = observe::span(Stage::Copy, "device to host");
        home.enqueue(&[(memory, Access::Read)], |_| ffi::read(home.stream(), region))
    }

    /// Waits for the default stream and for the last that wrote to `memory`, and reports their failures.
    fn finish_work_on(&self, memory: &GpuMemory) -> Result<()> {
        let home = self.default_queue();
        self.synchronize_queue(home)?;
        memory.writer().map_or(Ok(()), |writer| self.finish_user(&writer))
    }

    /// Waits for a stream that uses memory of this GPU, and reports its failure; one of another GPU's, to which the memory is lent, is left to who waits for that.
    fn finish_user(&self, user: &Arc<Queue>) -> Result<()> {
        if Arc::ptr_eq(user, self.default_queue()) {
            return Ok(());
        }
        match user.stream().context().cu_ctx() == self.context().cu_ctx() {
            true => self.synchronize_queue(user),
            false => user.synchronize(),
        }
    }

    /// Takes over memory from cudarc, if it belongs to this GPU's primary context.
    pub(crate) fn adopt<T>(&self, slice: CudaSlice<T>) -> Result<GpuMemory> {
        self.check_context(slice.context())?;
        let home = self.default_queue();
        home.synchronize()?;
        Ok(GpuMemory::new(home, ffi::from_slice(home.stream(), slice)?))
    }

    /// Borrows memory from cudarc, if it belongs to this GPU's primary context. The caller keeps the borrow as long as the result is used.
    pub(crate) fn borrow<T>(&self, slice: &impl DevicePtr<T>) -> Result<GpuMemory> {
        self.check_context(slice.stream().context())?;
        Ok(GpuMemory::borrowed(self.default_queue(), ffi::borrow(slice)))
    }

    /// Borrows memory from cudarc to be written, until `work` ends. Whatever handle of it is left then is of no use.
    pub(crate) fn with_borrowed<T, R>(
        &self,
        slice: &mut impl DevicePtrMut<T>,
        work: impl FnOnce(Arc<GpuMemory>) -> R,
    ) -> Result<R> {
        /// It ends the borrow also if the work panics.
        struct Lent(Arc<GpuMemory>);
        impl Drop for Lent {
            fn drop(&mut self) {
                self.0.end_borrow();
            }
        }
        self.check_context(slice.stream().context())?;
        let lent = Lent(Arc::new(GpuMemory::borrowed(self.default_queue(), ffi::borrow_mut(slice))));
        Ok(work(lent.0.clone()))
    }

    /// Returns page-locked memory of the host for so many elements, whose bytes are not more than an address reaches.
    pub(crate) fn pinned<T: DeviceCopy>(&self, len: usize) -> Result<Pinned<T>> {
        Pinned::zeroed(self.context(), len)
    }

    /// Waits for a copy, and returns the memory of the host, or the failure of a launch before it for which nobody waits.
    pub(crate) fn finish_copy<T: DeviceCopy>(&self, copy: GpuCopy<T>) -> Result<Pinned<T>> {
        self.report(copy.ended().finish(None, true))?;
        copy.into_host()
    }

    fn check_context(&self, context: &CudaContext) -> Result<()> {
        match context.cu_ctx() == self.context().cu_ctx() {
            true => Ok(()),
            false => Err(Error::WrongDevice {
                expected: self.to_string(),
                found: format!("GPU {}, in another context", context.ordinal()),
            }),
        }
    }

    /// Hands over memory to cudarc.
    pub(crate) fn release<T: DeviceCopy>(&self, memory: GpuMemory, len: usize) -> Result<CudaSlice<T>> {
        if memory.is_borrowed() {
            return Err(Error::BorrowEnded);
        }
        self.synchronize()?;
        ffi::into_slice(self.default_queue().stream(), memory.into_allocation(), len)
    }
}
