//! Memory of another user of cudarc, and memory by its address. Without a GPU there is none of either, which the errors say.

use super::*;
use crate::ViewMut;
use crate::launch::on_each_device::on_each_device;
use crate::report::error::LaunchError;
use crate::report::graph::GraphError;

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn add(values: &mut [u32], amount: u32) {
        let i = this_grid().thread_rank();
        values[i] += amount;
    }

    #[cluster_kernel(block = 32)]
    pub(super) fn copy(from: &[u32], to: &mut [u32]) {
        let i = this_grid().thread_rank();
        to[i] = from[i];
    }
}
use kernels::{add, copy};

/// Returns two streams of another user of cudarc, if the device is a GPU.
fn theirs(device: &Device) -> Option<[Arc<CudaStream>; 2]> {
    let ours = device.stream().unwrap().cuda_stream().cloned()?;
    let context = cudarc::driver::CudaContext::new(ours.context().ordinal()).unwrap();
    Some([context.new_stream().unwrap(), context.new_stream().unwrap()])
}

#[test]
fn memory_of_the_host_is_no_cuda_slice() {
    let error = Device::simulator().upload(&[1.0f32]).unwrap().into_cuda_slice().unwrap_err();
    assert_eq!(
        error.to_string(),
        "this needs memory of a GPU, but the buffer is on simulator; allocate it there, or copy it"
    );
    assert!(Device::simulator().default_stream().cuda_stream().is_none());
}

/// Kernels of ours, on two streams, and work of the owner, on two of theirs, take turns to write the same memory.
#[test]
fn kernels_write_memory_of_cudarc_s() {
    on_each_device(|device| {
        let Some([theirs, other]) = theirs(device) else { return };
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let mut slice = theirs.alloc_zeros::<u32>(128).unwrap();
        let add_to = |values: &mut Buffer<u32>, amount, stream: &Stream| {
            let blocks = values.len() as u32 / 32;
            add(values, amount).grid(blocks).on(stream).enqueue().map(drop)
        };
        for round in 0..200 {
            let stream = if round % 3 == 0 { &first } else { &second };
            let mut half = slice.slice_mut(64..);
            Buffer::with_cuda(device, &mut half, |values| add_to(values, 1, stream)).unwrap();
            Buffer::with_cuda(device, &mut slice, |values| add_to(values, 10, &first)).unwrap();
            let reader = if round % 2 == 0 { &theirs } else { &other };
            let found = reader.clone_dtoh(&slice).unwrap();
            assert_eq!((found[63], found[64]), (10 * (round + 1), 11 * (round + 1)), "round {round}");
        }
        // It is freed after the last kernel.
        Buffer::with_cuda(device, &mut slice, |values| add_to(values, 1, &first)).unwrap();
        drop(slice);
        let again = theirs.clone_htod(&[7u32; 128]).unwrap();
        first.synchronize().unwrap();
        assert_eq!(theirs.clone_dtoh(&again).unwrap(), [7; 128]);
    });
}

#[test]
fn a_graph_takes_no_borrowed_memory_to_write() {
    on_each_device(|device| {
        let Some([theirs, _]) = theirs(device) else { return };
        let mut slice = theirs.alloc_zeros::<u32>(32).unwrap();
        let from = device.zeros(32).unwrap();
        Buffer::with_cuda(device, &mut slice, |values| {
            let error = device.capture(|stream| add(values, 1).grid(1).on(stream).enqueue().map(drop)).unwrap_err();
            assert!(matches!(error, Error::Launch { reason: LaunchError::BorrowedInGraph, .. }), "{error}");
            let error = device.capture(|stream| stream.copy(&from, values)).unwrap_err();
            assert!(matches!(error, Error::Graph(GraphError::Borrowed)), "{error}");
            Ok(())
        })
        .unwrap();
        let refused = Buffer::with_cuda(&Device::simulator(), &mut slice, |_| Ok(()));
        assert!(matches!(refused, Err(Error::WrongDevice { .. })));
    });
}

#[test]
fn a_buffer_that_was_lent_is_of_no_use_afterwards() {
    on_each_device(|device| {
        let Some([theirs, _]) = theirs(device) else { return };
        let mut slice = theirs.alloc_zeros::<u32>(32).unwrap();
        let mut kept = device.zeros(32).unwrap();
        Buffer::with_cuda(device, &mut slice, |values| {
            std::mem::swap(values, &mut kept);
            Ok(())
        })
        .unwrap();
        drop(slice);
        let error = add(&mut kept, 1).grid(1).launch(device).unwrap_err();
        assert!(matches!(error, Error::BorrowEnded), "{error}");
        assert!(matches!(kept.read(), Err(Error::BorrowEnded)));
        assert!(matches!(kept.write(&[1; 32]), Err(Error::BorrowEnded)));
        assert!(matches!(kept.into_cuda_slice(), Err(Error::BorrowEnded)));
    });
}

#[test]
fn kernels_use_memory_at_an_address() {
    on_each_device(|device| {
        let Some([theirs, _]) = theirs(device) else {
            // SAFETY: nothing is accessed.
            let error = unsafe { View::<u32>::from_raw(device, 0x1000, 1) }.unwrap_err();
            assert_eq!(
                error.to_string(),
                "this needs memory of simulator, but the buffer is on a GPU; allocate it there, or copy it"
            );
            // SAFETY: as above.
            let error = unsafe { ViewMut::<u32>::from_raw(device, 0x1000, 1) }.unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
            return;
        };
        let stream = Stream::from_cuda_stream(device, theirs.clone()).unwrap();
        let slice = theirs.clone_htod(&(0..64u32).collect::<Vec<_>>()).unwrap();
        let (address, guard) = slice.device_ptr(&theirs);
        // SAFETY: the second half of the slice is alive, and all work on it is on one stream.
        let mut half = unsafe { ViewMut::<u32>::from_raw(device, address + 128, 32) }.unwrap();
        add(&mut half, 100).grid(1).on(&stream).enqueue().unwrap();
        // SAFETY: as above, and nobody writes to it while the view is there.
        let first = unsafe { View::<u32>::from_raw(device, address, 32) }.unwrap();
        copy(&first, &mut half).grid(1).on(&stream).enqueue().unwrap();
        assert_eq!(half.read().unwrap(), (0..32).collect::<Vec<u32>>());
        // SAFETY: the address is refused.
        let error = unsafe { View::<u32>::from_raw(device, address + 2, 1) }.unwrap_err();
        assert!(matches!(error, Error::MisalignedElements { past: 2, alignment: 4, .. }), "{error}");
        drop(guard);
    });
}

/// A graph that another library captures runs kernels of ours on its memory, each time that it is launched, and a failure comes back from a wait.
#[test]
fn kernels_are_captured_by_others() {
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    on_each_device(|device| {
        let Some([theirs, _]) = theirs(device) else {
            // SAFETY: the address is refused.
            let error = unsafe { Stream::from_raw(device, 0x1000) }.err().unwrap();
            assert!(error.to_string().contains("a GPU, at address 0x1000"), "{error}");
            return;
        };
        // The device may outlive the test.
        std::mem::forget(theirs.clone());
        // SAFETY: their stream is never destroyed.
        let stream = unsafe { Stream::from_raw(device, theirs.cu_stream().addr() as u64) }.unwrap();
        let slice = theirs.alloc_zeros::<u32>(64).unwrap();
        let (address, guard) = slice.device_ptr(&theirs);
        // SAFETY: the slice is alive to the end, and all work on it is on their stream.
        let mut values = unsafe { ViewMut::<u32>::from_raw(device, address, 64) }.unwrap();
        let (from, mut to) = (device.zeros::<u32>(32).unwrap(), device.zeros(32).unwrap());
        let host = device.pinned::<u32>(32).unwrap();
        theirs.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL).unwrap();
        add(&mut values, 1).grid(2).on(&stream).enqueue().unwrap();
        // One block has no memory left.
        let handle = add(&mut values, 10).grid(3).on(&stream).enqueue().unwrap();
        assert!(matches!(handle.wait(), Err(Error::Graph(GraphError::Waits))));
        assert!(matches!(stream.synchronize(), Err(Error::Graph(GraphError::Waits))));
        let refused = add(&mut values, 1).grid(2).on(&stream).launch();
        assert!(matches!(refused, Err(Error::Launch { reason: LaunchError::WaitsInGraph, .. })), "{refused:?}");
        assert!(matches!(stream.record(), Err(Error::Graph(GraphError::LaunchesAlone))));
        // Handles of the stream come and go, and the capture goes on.
        for _ in 0..3 {
            // SAFETY: as above.
            drop(unsafe { Stream::from_raw(device, theirs.cu_stream().addr() as u64) }.unwrap());
        }
        // Their graph would keep none of this memory.
        let copied = [stream.copy(&from, &mut to), stream.upload(host, &mut to).map(drop)];
        let is_refused = |result: &Result<()>| matches!(result, Err(Error::Graph(GraphError::LaunchesAlone)));
        assert!(copied.iter().all(is_refused), "{copied:?}");
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = theirs.end_capture(flags).unwrap().unwrap();
        for round in 1..=3 {
            graph.launch().unwrap();
            let error = stream.synchronize().unwrap_err();
            assert!(error.to_string().contains("index 64 out of bounds for length 64"), "{error}");
            stream.synchronize().unwrap();
            assert_eq!(values.read().unwrap(), [11 * round; 64]);
        }
        drop(guard);
    });
}
