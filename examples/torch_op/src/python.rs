//! The Python module: the kernel on memory and a stream by their addresses, which Python vouches for.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use phalanx::{Device, Result, Stream, View, ViewMut};
use pyo3::exceptions::PyRuntimeError;
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

/// Waits for a stream, and raises the failure of a kernel on it.
#[pyfunction]
fn synchronize(python: Python<'_>, device: usize, stream: u64) -> PyResult<()> {
    python.detach(|| self::stream(device, stream)?.synchronize()).map_err(raised)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(rms_norm, module)?)?;
    module.add_function(wrap_pyfunction!(synchronize, module)?)
}
