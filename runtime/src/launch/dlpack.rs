//! Memory that goes to other libraries and comes from them as a DLPack tensor (dlpack.h, `DLManagedTensor`), without a copy: PyTorch, JAX, CuPy
//! and others exchange tensors so. Strides are checked, and never used: a kernel takes elements that follow each other.

use std::cell::OnceCell;
use std::ffi::c_void;
use std::fmt;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::buffer::{Buffer, Memory};
use super::device::{Device, Target};
use super::view::{View, ViewMut};
use crate::gpu::GpuMemory;
use crate::program::types::DeviceScalar;
use crate::report::dlpack::DlpackError;
use crate::report::error::{Error, Result};

/// `DLManagedTensor`
#[repr(C)]
struct Managed {
    tensor: Raw,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// `DLTensor`
#[repr(C)]
struct Raw {
    data: *mut c_void,
    device: Place,
    dimensions: i32,
    element: Element,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLDevice`
#[repr(C)]
#[derive(Clone, Copy)]
struct Place {
    kind: i32,
    ordinal: i32,
}

/// `DLDataType`
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Element {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `kDLCUDA`
const CUDA: i32 = 2;

impl Place {
    fn name(self) -> String {
        match self.kind {
            1 => "the CPU".into(),
            CUDA => format!("GPU {}", self.ordinal),
            kind => format!("a device of DLPack's kind {kind}"),
        }
    }
}

/// The first letters of the names of types, with their codes (`DLDataTypeCode`).
const CODES: [(&str, u8); 7] = [("bool", 6), ("bf", 4), ("e4m3", 10), ("e5m2", 12), ("f", 2), ("i", 0), ("u", 1)];

impl Element {
    fn of<T: DeviceScalar>() -> Element {
        let name = T::info().to_string();
        let code =
            CODES.iter().find(|(first, _)| name.starts_with(first)).expect("all scalars begin with one of these");
        Element { code: code.1, bits: 8 * size_of::<T>() as u8, lanes: 1 }
    }

    fn name(self) -> String {
        let Element { code, bits, lanes } = self;
        let name = match (code, bits) {
            (6, _) => "bool".into(),
            (4, 16) => "bf16".into(),
            (10, 8) => "e4m3".into(),
            (12, 8) => "e5m2".into(),
            (2, _) => format!("f{bits}"),
            (0, _) => format!("i{bits}"),
            (1, _) => format!("u{bits}"),
            _ => format!("DLPack's type {code} of {bits} bits"),
        };
        if lanes == 1 { name } else { format!("{lanes} times {name}") }
    }
}

/// A tensor in the memory of a GPU, as libraries exchange them: a `DLManagedTensor` of [DLPack](https://dmlc.github.io/dlpack/latest/), which
/// frees its memory when it is dropped. [`Buffer::into_dlpack`] makes one, and [`View`]s of one are arguments of kernels.
///
/// In Python, a capsule of the name `dltensor` holds the pointer ([an
/// example](https://github.com/phalanx-rs/phalanx/tree/main/examples/torch_op)).
///
/// ```no_run
/// use phalanx::prelude::*;
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::gpu(0)?;
/// let tensor = device.upload(&[1.0f32; 12])?.into_dlpack(&[3, 4])?;
/// assert_eq!(tensor.view::<f32>(&device)?.read()?, [1.0; 12]);
/// let pointer = tensor.into_raw(); // for another library
/// # Ok(())
/// # }
/// ```
pub struct DlpackTensor {
    managed: NonNull<Managed>,
    /// The device whose kernels may use it, and its memory, which all views share.
    used: OnceCell<(Device, Arc<GpuMemory>)>,
}

impl DlpackTensor {
    /// Takes over a tensor by the address of its `DLManagedTensor`.
    ///
    /// # Safety
    /// It is the address of one, which nobody else frees or uses otherwise. Work of others that wrote the memory, or uses it while this value
    /// exists, is ordered with the launches that use it: on the same stream ([`Stream::from_raw`](crate::Stream::from_raw)), by events, or because the host waits.
    pub unsafe fn from_raw(managed: NonNull<c_void>) -> DlpackTensor {
        DlpackTensor { managed: managed.cast(), used: OnceCell::new() }
    }

    /// Returns the address of the `DLManagedTensor`, whose `deleter` the receiver calls when it no longer needs the memory. The host waits for the
    /// launches that use it.
    pub fn into_raw(self) -> NonNull<c_void> {
        self.has_been_left();
        let managed = self.managed.cast();
        mem::forget(self);
        managed
    }

    /// Returns the lengths of its dimensions.
    pub fn shape(&self) -> Result<Vec<usize>> {
        self.lengths().map(|(shape, _)| shape)
    }

    /// Returns all elements, for kernels to read. They follow each other, the last dimension first.
    pub fn view<T: DeviceScalar>(&self, device: &Device) -> Result<View<'_, T>> {
        self.elements(device).map(View::new)
    }

    /// Returns all elements, for kernels to write.
    pub fn view_mut<T: DeviceScalar>(&mut self, device: &Device) -> Result<ViewMut<'_, T>> {
        self.elements(device).map(ViewMut::new)
    }

    fn raw(&self) -> &Raw {
        // SAFETY: it is a tensor by the promise of `from_raw`, or one of `into_dlpack`.
        unsafe { &self.managed.as_ref().tensor }
    }

    /// Returns the shape, and the number of elements.
    fn lengths(&self) -> Result<(Vec<usize>, usize)> {
        let shape = self.numbers(self.raw().shape);
        let lengths: Option<Vec<usize>> = shape.iter().map(|length| usize::try_from(*length).ok()).collect();
        let counted = lengths.and_then(|lengths| count(&lengths).map(|count| (lengths, count)));
        counted.ok_or_else(|| DlpackError::Shape(shape.to_vec()).into())
    }

    /// Returns the numbers of a field, one for each dimension.
    fn numbers(&self, first: *const i64) -> &[i64] {
        match usize::try_from(self.raw().dimensions) {
            // SAFETY: the tensor has so many, and keeps them.
            Ok(count @ 1..) if !first.is_null() => unsafe { std::slice::from_raw_parts(first, count) },
            _ => &[],
        }
    }

    fn elements<T: DeviceScalar>(&self, device: &Device) -> Result<Buffer<T>> {
        let raw = self.raw();
        let is_there = match &device.target {
            Target::Gpu(gpu) => raw.device.kind == CUDA && usize::try_from(raw.device.ordinal) == Ok(gpu.ordinal()),
            Target::Simulator(_) => false,
        };
        if !is_there {
            return Err(DlpackError::Device { expected: device.to_string(), found: raw.device.name() }.into());
        }
        if raw.element != Element::of::<T>() {
            let (expected, found) = (T::info().to_string(), raw.element.name());
            return Err(DlpackError::Element { expected, found }.into());
        }
        let (shape, len) = self.lengths()?;
        let strides = self.numbers(raw.strides);
        if len > 1 && !strides.is_empty() && !follow_each_other(&shape, strides) {
            return Err(DlpackError::NotContiguous { shape, strides: strides.to_vec() }.into());
        }
        // All kernels that may use it are on this device, and all views have this type: others were refused.
        if let Some((device, memory)) = self.used.get() {
            return Ok(Buffer::new(device, len, Memory::Gpu(memory.clone())));
        }
        let buffer = Buffer::made(device, raw.data as u64 + raw.byte_offset, len, GpuMemory::lent)?;
        if let Some(memory) = buffer.gpu_memory() {
            let _ = self.used.set((device.clone(), memory.clone()));
        }
        Ok(buffer)
    }

    /// Waits for the launches that use it. Returns whether they have ended. A buffer that was moved out of a view is of no use from now on.
    fn has_been_left(&self) -> bool {
        self.used.get().is_none_or(|(device, memory)| {
            memory.end_borrow();
            device.has_been_left()
        })
    }
}

/// Returns the number of elements, unless there are more than addresses.
fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, length| product.checked_mul(*length))
}

/// Returns whether elements of this shape lie one behind the other.
fn follow_each_other(shape: &[usize], strides: &[i64]) -> bool {
    let mut expected = 1;
    shape.iter().zip(strides).rev().all(|(length, stride)| {
        let fits = *length == 1 || *stride == expected;
        expected *= *length as i64;
        fits
    })
}

impl Drop for DlpackTensor {
    fn drop(&mut self) {
        // Memory that something may still use is not freed.
        if self.has_been_left() {
            // SAFETY: the tensor is ours, and nobody uses its memory any longer.
            unsafe { delete(self.managed.as_ptr()) };
        }
    }
}

/// Calls the deleter.
///
/// # Safety
/// It is a tensor that nobody uses after this.
unsafe fn delete(managed: *mut Managed) {
    // SAFETY: passed on to the caller.
    unsafe {
        if let Some(deleter) = (*managed).deleter {
            deleter(managed);
        }
    }
}

impl fmt::Debug for DlpackTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let raw = self.raw();
        write!(f, "DlpackTensor({:?} of {}, {})", self.numbers(raw.shape), raw.element.name(), raw.device.name())
    }
}

/// What an exported tensor keeps.
struct Exported<T: DeviceScalar> {
    managed: Managed,
    buffer: Buffer<T>,
    shape: Vec<i64>,
}

impl<T: DeviceScalar> Buffer<T> {
    /// Hands the memory out as a DLPack tensor of this shape, without a copy, after all launches have ended. It returns the failure of one that has failed.
    pub fn into_dlpack(self, shape: &[usize]) -> Result<DlpackTensor> {
        let Target::Gpu(gpu) = &self.device().target else {
            return Err(Error::WrongDevice { expected: "a GPU".into(), found: self.device().to_string() });
        };
        let len = count(shape);
        if len != Some(self.len()) {
            return Err(Error::LengthMismatch { buffer: self.len(), data: len.unwrap_or(usize::MAX) });
        }
        let device = Place { kind: CUDA, ordinal: gpu.ordinal() as i32 };
        self.device().synchronize()?;
        let tensor = Raw {
            data: self.address() as *mut c_void,
            device,
            dimensions: shape.len() as i32,
            element: Element::of::<T>(),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        };
        let managed = Managed { tensor, context: ptr::null_mut(), deleter: Some(free::<T>) };
        let shape = shape.iter().map(|length| *length as i64).collect();
        let exported = Box::into_raw(Box::new(Exported { managed, buffer: self, shape }));
        // SAFETY: it was allocated above, and nobody else has it.
        let managed = unsafe {
            (*exported).managed.context = exported.cast();
            (*exported).managed.tensor.shape = (*exported).shape.as_mut_ptr();
            NonNull::new_unchecked(&raw mut (*exported).managed)
        };
        Ok(DlpackTensor { managed, used: OnceCell::new() })
    }
}

/// Frees an exported tensor, after all work on the GPU: the receiver's own may use it on any stream.
///
/// # Safety
/// It is one of [`Buffer::into_dlpack`], and nobody uses it after this.
unsafe extern "C" fn free<T: DeviceScalar>(managed: *mut Managed) {
    // SAFETY: the context is the box that was leaked for it.
    let exported = unsafe { Box::from_raw((*managed).context.cast::<Exported<T>>()) };
    if !exported.buffer.device().has_been_left() {
        mem::forget(exported);
    }
}

#[cfg(test)]
mod tests;
