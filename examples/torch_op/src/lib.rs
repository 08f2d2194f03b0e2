//! RMS norm as an operator of PyTorch, and a ramp in memory that comes and goes by DLPack: the kernels, and their launch on memory and a stream of another library. `python` makes a
//! Python module of it; `python/phalanx_torch_op` takes tensors.

#[cfg(feature = "python")]
mod python;

use phalanx::prelude::*;
use phalanx::{Buffer, Result, Stream};

const BLOCK: usize = 256;

/// Divides each row of `input` by the root of the mean of its squares, and multiplies it by `weight`: a row for each block.
#[cluster_kernel(block = BLOCK)]
pub fn rms_norm(input: &[f32], weight: &[f32], out: &mut [f32], columns: usize, epsilon: f32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let of_warps = shared_array::<f32, { BLOCK / 32 }>();
    let (i, first) = (block.thread_rank() as usize, this_grid().block_rank() * columns);
    let mut squares = 0.0;
    for column in (i..columns).step_by(BLOCK) {
        let x = input[first + column];
        squares = x.mul_add(x, squares);
    }
    squares = warp.reduce(squares, op::Plus);
    if warp.thread_rank() == 0 {
        of_warps[warp.meta_group_rank()] = squares;
    }
    block.sync();
    let mut sum = 0.0;
    for k in 0..BLOCK / 32 {
        sum += of_warps[k];
    }
    let scale = 1.0 / (sum / columns as f32 + epsilon).sqrt();
    for column in (i..columns).step_by(BLOCK) {
        out[first + column] = input[first + column] * scale * weight[column];
    }
}

/// Enqueues the kernel for rows of `columns` numbers. A later call on the stream, or a wait for it, returns the error of a
/// kernel that fails.
pub fn enqueue(
    stream: &Stream,
    input: &Buffer<f32>,
    weight: &Buffer<f32>,
    out: &mut Buffer<f32>,
    columns: usize,
    epsilon: f32,
) -> Result<()> {
    let rows = input.len() / columns.max(1);
    if rows > 0 {
        rms_norm(input, weight, out, columns, epsilon).grid(rows as u32).on(stream).enqueue()?;
    }
    Ok(())
}

/// Writes 0, `step`, 2 * `step` and so on.
#[cluster_kernel(block = BLOCK)]
pub fn ramp(out: &mut [f32], step: f32) {
    let i = this_grid().thread_rank();
    if i < out.len() {
        out[i] = i as f32 * step;
    }
}

/// Enqueues that kernel for all of `out`.
pub fn enqueue_ramp(stream: &Stream, out: &mut Buffer<f32>, step: f32) -> Result<()> {
    let blocks = out.len().div_ceil(BLOCK);
    if blocks > 0 {
        ramp(out, step).grid(blocks as u32).on(stream).enqueue()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_normalized() -> Result<()> {
        let (rows, columns, epsilon) = (3, 300, 1e-6);
        let device = Device::simulator();
        let values = Vec::from_iter((0..rows * columns).map(|i| (i % 7) as f32 - 2.0));
        let weights = Vec::from_iter((0..columns).map(|i| (i % 5) as f32));
        let (input, weight) = (device.upload(&values)?, device.upload(&weights)?);
        let (mut out, stream) = (device.zeros(values.len())?, device.stream()?);
        enqueue(&stream, &input, &weight, &mut out, columns, epsilon)?;
        stream.synchronize()?;
        for (row, found) in values.chunks(columns).zip(out.read()?.chunks(columns)) {
            let mean = row.iter().map(|x| f64::from(x * x)).sum::<f64>() / columns as f64;
            let scale = 1.0 / (mean + f64::from(epsilon)).sqrt();
            for ((x, weight), found) in row.iter().zip(&weights).zip(found) {
                let expected = f64::from(*x) * scale * f64::from(*weight);
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-5 * (1.0 + expected.abs()),
                    "{found}, not {expected}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn a_ramp_goes_up_to_the_end() -> Result<()> {
        let device = Device::simulator();
        for length in [0, 1, 256, 300] {
            let mut out = device.zeros(length)?;
            enqueue_ramp(&device.stream()?, &mut out, 0.5)?;
            assert_eq!(out.read()?, Vec::from_iter((0..length).map(|i| i as f32 * 0.5)));
        }
        Ok(())
    }

    #[test]
    fn weights_that_are_missing_are_an_error() -> Result<()> {
        let device = Device::simulator();
        let (input, weight) = (device.zeros(512)?, device.zeros(200)?);
        let (mut out, stream) = (device.zeros(512)?, device.stream()?);
        let failed = enqueue(&stream, &input, &weight, &mut out, 256, 1e-6).and_then(|()| stream.synchronize());
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("out of bounds for length 200"), "{text}");
        Ok(())
    }
}
