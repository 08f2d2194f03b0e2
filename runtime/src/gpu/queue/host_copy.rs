//! A copy between page-locked memory of the host and a device's, which the host does not wait for. It owns the host's memory until the
//! stream has passed it.

use std::mem;
use std::sync::Arc;

use super::super::ffi::capture::Relaxed;
use super::super::ffi::pinned::Pinned;
use super::super::mode::Access;
use super::{GpuMemory, Mark, Queue};
use crate::program::types::DeviceCopy;
use crate::report::error::{Error, Result};

/// A copy that may be in flight.
pub(crate) struct GpuCopy<T: DeviceCopy> {
    /// `None` after [`GpuCopy::into_host`].
    host: Option<Pinned<T>>,
    /// Its end.
    ended: Arc<Mark>,
    /// Whether the device wrote the host's memory.
    wrote_host: bool,
}

impl Queue {
    /// Copies all of the host's memory to the device's, from a byte on.
    pub(crate) fn upload<T: DeviceCopy>(
        self: &Arc<Self>,
        host: Pinned<T>,
        (to, start): (&GpuMemory, usize),
    ) -> Result<GpuCopy<T>> {
        let region = to.region().part(start, size_of_val(host.as_slice()));
        self.copy_with_host(host, (to, Access::Write), false, |host| {
            // SAFETY: the host's memory is given back when the stream has passed the copy.
            unsafe { host.write(self.stream(), region) }
        })
    }

    /// Copies as much of the device's memory, from a byte on, as the host's has room for.
    pub(crate) fn download<T: DeviceCopy>(
        self: &Arc<Self>,
        (from, start): (&GpuMemory, usize),
        host: Pinned<T>,
    ) -> Result<GpuCopy<T>> {
        let region = from.region().part(start, size_of_val(host.as_slice()));
        self.copy_with_host(host, (from, Access::Read), true, |host| {
            // SAFETY: the host's memory is given back when the stream has passed the copy, and if the bytes are values.
            unsafe { host.read(self.stream(), region) }
        })
    }

    fn copy_with_host<T: DeviceCopy>(
        self: &Arc<Self>,
        mut host: Pinned<T>,
        uses: (&GpuMemory, Access),
        wrote_host: bool,
        copy: impl FnOnce(&mut Pinned<T>) -> Result<()>,
    ) -> Result<GpuCopy<T>> {
        if let Err(refused) = self.check_not_capturing() {
            // To free the memory is no part of the capture.
            let _relaxed = Relaxed::begin()?;
            drop(host);
            return Err(refused);
        }
        match self.enqueue(&[uses], |_| copy(&mut host)).and_then(|()| self.mark()) {
            Ok(ended) => Ok(GpuCopy { host: Some(host), ended, wrote_host }),
            Err(error) => {
                // The copy may be in flight, and nothing says until when.
                mem::forget(host);
                Err(error)
            }
        }
    }
}

impl<T: DeviceCopy> GpuCopy<T> {
    /// Returns whether the copy has ended.
    pub(crate) fn is_complete(&self) -> Result<bool> {
        self.ended.is_complete()
    }

    /// Returns its end.
    pub(crate) fn ended(&self) -> &Arc<Mark> {
        &self.ended
    }

    /// Returns the host's memory after the copy has ended, if it holds values.
    pub(in crate::gpu) fn into_host(mut self) -> Result<Pinned<T>> {
        let host = self.host.take().expect("this method alone takes it, and `self` with it");
        match self.wrote_host.then(|| host.first_invalid()).flatten() {
            Some(index) => Err(Error::InvalidValue { index, ty: T::info().to_string() }),
            None => Ok(host),
        }
    }
}

impl<T: DeviceCopy> Drop for GpuCopy<T> {
    fn drop(&mut self) {
        if let Some(host) = self.host.take()
            && self.ended.synchronize().is_err()
        {
            // Nothing says whether the device still accesses the memory.
            mem::forget(host);
        }
    }
}
