//! The Python module: the kernels on memory and a stream by their addresses, which Python vouches for, and on tensors in capsules of DLPack.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use phalanx::{Device, DlpackTensor, Result, Stream, View, ViewMut};
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The streams so far, by device and address. A library's streams live as long as the process.
static STREAMS: Mutex<BTreeMap<(usize, u64), Stream>> = Mutex::new(BTreeMap::new());

fn stream(device: usize, address: u64) -> Result<Stream> {
    let mut streams = STREAMS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stream) = streams.get(&(device, address)) {
        return Ok(stream.clone());
    }
    let known = streams.range((device, 0)..).next().filter(|((ordinal, _), _)| *ordinal == device);
    let gpu = match known {
        Some((_, stream)) => stream.device().clone(),
        None => Device::gpu(device)?,
    };
    // SAFETY: Python passes a stream of its library on this device, which lives as long as the process.
    let stream = unsafe { Stream::from_raw(&gpu, address) }?;
    streams.insert((device, address), stream.clone());
    Ok(stream)
}

fn raised(error: phalanx::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// RMS norm of `length` numbers at `input` by rows of `columns`, with `weights` numbers at `weight`, to `out`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "addresses and lengths of three tensors, and where they are")]
fn rms_norm(
    input: u64,
    weight: u64,
    out: u64,
    length: usize,
    weights: usize,
    columns: usize,
    epsilon: f32,
    device: usize,
    stream: u64,
) -> PyResult<()> {
    let run = || {
        let stream = self::stream(device, stream)?;
        let gpu = stream.device();
        // SAFETY: the caller passes the memory of tensors, which it uses in the order of this stream.
        let (input, weight, mut out) = unsafe {
            (
                View::from_raw(gpu, input, length)?,
                View::from_raw(gpu, weight, weights)?,
                ViewMut::from_raw(gpu, out, length)?,
            )
        };
        crate::enqueue(&stream, &input, &weight, &mut out, columns, epsilon)
    };
    run().map_err(raised)
}

/// The name of a capsule with a tensor, and of one whose tensor has been taken out (DLPack, Python Specification).
const FULL: &CStr = c"dltensor";
const EMPTY: &CStr = c"used_dltensor";

/// Returns a capsule with a tensor, for another library.
fn capsule(python: Python<'_>, tensor: DlpackTensor) -> PyResult<Bound<'_, PyAny>> {
    let pointer = tensor.into_raw().as_ptr();
    // SAFETY: the capsule owns the tensor until someone renames it, and its name lives for ever.
    unsafe { Bound::from_owned_ptr_or_err(python, ffi::PyCapsule_New(pointer, FULL.as_ptr(), Some(drop_capsule))) }
}

/// Frees a tensor that nobody has taken out.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it once for the capsule, whose name says whether the tensor is there.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, FULL.as_ptr()) == 1
            && let Some(tensor) = NonNull::new(ffi::PyCapsule_GetPointer(capsule, FULL.as_ptr()))
        {
            drop(DlpackTensor::from_raw(tensor));
        }
    }
}

/// Takes the tensor out of a capsule.
fn taken(capsule: &Bound<'_, PyAny>) -> PyResult<DlpackTensor> {
    // SAFETY: a capsule of this name has a tensor, which is ours when the name says that it has been taken.
    unsafe {
        let pointer = NonNull::new(ffi::PyCapsule_GetPointer(capsule.as_ptr(), FULL.as_ptr()));
        let pointer = pointer.ok_or_else(|| PyErr::fetch(capsule.py()))?;
        match ffi::PyCapsule_SetName(capsule.as_ptr(), EMPTY.as_ptr()) {
            0 => Ok(DlpackTensor::from_raw(pointer)),
            _ => Err(PyErr::fetch(capsule.py())),
        }
    }
}

/// Returns a capsule with `length` numbers, 0, `step`, 2 * `step` and so on, in memory of its own.
#[pyfunction]
fn ramp(python: Python<'_>, length: usize, step: f32, device: usize, stream: u64) -> PyResult<Bound<'_, PyAny>> {
    let run = || {
        let stream = self::stream(device, stream)?;
        let mut out = stream.device().zeros(length)?;
        crate::enqueue_ramp(&stream, &mut out, step)?;
        out.into_dlpack(&[length])
    };
    capsule(python, run().map_err(raised)?)
}

/// Writes them to the tensor of a capsule.
#[pyfunction]
fn fill_ramp(tensor: &Bound<'_, PyAny>, step: f32, device: usize, stream: u64) -> PyResult<()> {
    let mut tensor = taken(tensor)?;
    let mut run = || {
        let stream = self::stream(device, stream)?;
        let mut out = tensor.view_mut(stream.device())?;
        crate::enqueue_ramp(&stream, &mut out, step)
    };
    run().map_err(raised)
}

/// Waits for a stream, and raises the failure of a kernel on it.
#[pyfunction]
fn synchronize(python: Python<'_>, device: usize, stream: u64) -> PyResult<()> {
    python.detach(|| self::stream(device, stream)?.synchronize()).map_err(raised)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(rms_norm, module)?)?;
    module.add_function(wrap_pyfunction!(ramp, module)?)?;
    module.add_function(wrap_pyfunction!(fill_ramp, module)?)?;
    module.add_function(wrap_pyfunction!(synchronize, module)?)
}
