//! Runs a kernel on a stream of another user of cudarc, in one build with it.

use cudarc::driver::CudaContext;
use phalanx::Stream;
use phalanx::prelude::*;

#[cluster_kernel(block = 64)]
fn double(values: &mut [f32]) {
    let i = this_grid().thread_rank();
    values[i] *= 2.0;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let theirs = CudaContext::new(0)?.new_stream()?;
    let device = Device::gpu(0)?;
    let stream = Stream::from_cuda_stream(&device, theirs)?;
    let mut values = device.upload(&[1.5f32; 256])?;
    double(&mut values).grid(4).on(&stream).launch()?;
    assert_eq!(values.read()?, [3.0; 256]);
    println!("PASS");
    Ok(())
}
