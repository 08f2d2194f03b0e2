//! RMS norm as an operator of candle: the kernel reads and writes the memory of candle's tensors on candle's own stream, without a copy and without
//! waiting. The program compares it with candle's result, between other work of candle's, and shows what a failure looks like.

use candle_core::cuda_backend::CudaStorageSlice;
use candle_core::{CpuStorage, CudaStorage, CustomOp1, Device as CandleDevice, Error, Layout, Shape, Tensor, bail};
use phalanx::prelude::*;
use phalanx::{Stream, View};

/// The threads of a block, which has a row.
const THREADS: usize = 256;

/// Scales each row of `columns` elements so that the mean of its squares is 1.
#[cluster_kernel(block = THREADS)]
fn rms_norm(input: &[f32], out: &mut [f32], columns: usize, epsilon: f32) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let sums = shared_array::<f32, 8>();
    let (start, first) = (this_grid().block_rank() as usize * columns, block.thread_rank() as usize);
    assert!(columns > 0, "rows have elements");
    let mut sum = 0.0;
    for i in (first..columns).step_by(THREADS) {
        sum += input[start + i] * input[start + i];
    }
    let sum = warp.reduce(sum, op::Plus);
    if warp.thread_rank() == 0 {
        sums[block.thread_rank() / 32] = sum;
    }
    block.sync();
    let mut total = 0.0;
    for i in 0..8 {
        total += sums[i];
    }
    let scale = 1.0 / (total / columns as f32 + epsilon).sqrt();
    for i in (first..columns).step_by(THREADS) {
        out[start + i] = input[start + i] * scale;
    }
}

/// The operator, for tensors on one device of candle's.
struct RmsNorm {
    /// The stream of candle's device, or one of ours, for which candle's waits and which waits for candle's.
    stream: Stream,
    epsilon: f32,
    /// 0 has the kernel fail.
    columns: Option<usize>,
}

impl RmsNorm {
    fn new(gpu: &Device, candle: &CandleDevice, epsilon: f32) -> Result<RmsNorm, Error> {
        let theirs = candle.as_cuda_device()?.cuda_stream();
        // `Device::new_cuda` of candle has the stream of each thread, which is none to keep; `new_cuda_with_stream` has one.
        let stream = Stream::from_cuda_stream(gpu, theirs).or_else(|_| gpu.stream()).map_err(Error::wrap)?;
        Ok(RmsNorm { stream, epsilon, columns: None })
    }
}

impl CustomOp1 for RmsNorm {
    fn name(&self) -> &'static str {
        "phalanx-rms-norm"
    }

    fn cpu_fwd(&self, _: &CpuStorage, _: &Layout) -> Result<(CpuStorage, Shape), Error> {
        bail!("the operator is for GPUs")
    }

    fn cuda_fwd(&self, storage: &CudaStorage, layout: &Layout) -> Result<(CudaStorage, Shape), Error> {
        let Some((start, end)) = layout.contiguous_offsets() else { bail!("the tensor is not contiguous") };
        let columns = self.columns.unwrap_or(*layout.dims().last().unwrap_or(&1));
        let rows = (end - start) / columns.max(1);
        let input = storage.as_cuda_slice::<f32>()?.slice(start..end);
        // SAFETY: the kernel writes all of it before candle reads it.
        let mut out = unsafe { storage.device.alloc::<f32>(end - start) }?;
        let gpu = self.stream.device();
        let view = View::of_cuda(gpu, &input).map_err(Error::wrap)?;
        Buffer::with_cuda(gpu, &mut out, |out| {
            rms_norm(&view, out, columns, self.epsilon).grid(rows as u32).on(&self.stream).enqueue().map(drop)
        })
        .map_err(Error::wrap)?;
        let slice = CudaStorageSlice::F32(out);
        Ok((CudaStorage { slice, device: storage.device.clone() }, layout.shape().clone()))
    }
}

/// Normalizes rows as the kernel does, by candle's own operators.
fn expected(x: &Tensor, epsilon: f64) -> Result<Tensor, Error> {
    x.broadcast_div(&((x.sqr()?.mean_keepdim(1)? + epsilon)?.sqrt()?))
}

fn compare(gpu: &Device, candle: &CandleDevice, name: &str) -> Result<(), Error> {
    let op = RmsNorm::new(gpu, candle, 1e-6)?;
    for round in 0..50 {
        // Candle's work before and after, with nobody who waits.
        let x = (Tensor::randn(0f32, 1f32, (512, 1000), candle)? * f64::from(round + 1))?;
        let y = (x.narrow(0, 100, 300)?.apply_op1_no_bwd(&op)? + 1.0)?;
        let wanted = (expected(&x, 1e-6)?.narrow(0, 100, 300)? + 1.0)?;
        let worst = (y - wanted)?.abs()?.flatten_all()?.max(0)?.to_scalar::<f32>()?;
        if worst > 1e-4 {
            bail!("{name}, round {round}: the results differ by {worst}");
        }
    }
    println!("{name}: the same as candle's own operators, 50 times");
    let fails = RmsNorm { columns: Some(0), ..op };
    let _unused = Tensor::zeros((4, 8), candle_core::DType::F32, candle)?.apply_op1_no_bwd(&fails)?;
    match fails.stream.synchronize() {
        Err(error) => println!("a failure comes back from a wait:\n{error}"),
        Ok(()) => bail!("a kernel that fails did not"),
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let gpu = Device::gpu(0).map_err(Error::wrap)?;
    println!("on {gpu}");
    compare(&gpu, &CandleDevice::new_cuda_with_stream(0)?, "a stream of candle's")?;
    compare(&gpu, &CandleDevice::new_cuda(0)?, "candle's default device")
}
