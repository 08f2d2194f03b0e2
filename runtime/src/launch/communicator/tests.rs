//! Collectives on all devices that this machine has, of each kind.

use super::*;
use crate::report::error::Error;

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn add(values: &mut [u32], amount: u32) {
        values[this_grid().thread_rank()] += amount;
    }
}
use kernels::*;

/// Two simulators, and the GPUs if there are several and NCCL is there.
fn groups() -> Vec<Vec<Device>> {
    let mut groups = vec![vec![Device::simulator(), Device::simulator(), Device::simulator()]];
    match Device::gpus() {
        Ok(gpus) if gpus.len() > 1 => groups.push(gpus),
        Ok(gpus) => eprintln!("not run on GPUs: there are {}", gpus.len()),
        Err(error) => eprintln!("not run on GPUs: {error}"),
    }
    groups
}

/// Work before and after a collective keeps the order of its buffers, on any stream.
#[test]
fn a_collective_comes_between_what_uses_its_buffers() {
    for devices in groups() {
        let communicator = Communicator::new(&devices).unwrap();
        let streams: Vec<Stream> = devices.iter().map(|device| device.stream().unwrap()).collect();
        let others: Vec<Stream> = devices.iter().map(|device| device.stream().unwrap()).collect();
        let streams: Vec<&Stream> = streams.iter().collect();
        let mut buffers: Vec<Buffer<u32>> = devices.iter().map(|device| device.zeros(4096).unwrap()).collect();
        let mut want = 0u32;
        for round in 0..20 {
            for (rank, (buffer, other)) in buffers.iter_mut().zip(&others).enumerate() {
                add(buffer, rank as u32 + round).grid(128).on(other).enqueue().unwrap();
            }
            let ranks = 0..devices.len() as u32;
            want = ranks.map(|rank| want.wrapping_add(rank + round)).fold(0, u32::wrapping_add);
            let mut parts: Vec<&mut Buffer<u32>> = buffers.iter_mut().collect();
            communicator.all_reduce(&mut parts, Reduction::Sum, &streams).unwrap();
        }
        for buffer in &buffers {
            assert_eq!(buffer.read().unwrap(), [want; 4096]);
        }
        add(&mut buffers[1], 7).grid(128).launch(&devices[1]).unwrap();
        let mut parts: Vec<&mut Buffer<u32>> = buffers.iter_mut().collect();
        communicator.broadcast(&mut parts, 1, &streams).unwrap();
        assert_eq!(buffers[0].read().unwrap()[9], want.wrapping_add(7));
    }
}

#[test]
fn elements_are_combined_as_their_types_say() {
    for devices in groups() {
        let communicator = Communicator::new(&devices).unwrap();
        let streams: Vec<Stream> = devices.iter().map(|device| device.stream().unwrap()).collect();
        let streams: Vec<&Stream> = streams.iter().collect();
        for (reduction, floats, bytes) in [
            (Reduction::Sum, 1.5 * devices.len() as f32, 200u8.wrapping_mul(devices.len() as u8)),
            (Reduction::Product, 1.5f32.powi(devices.len() as i32), 200u8.wrapping_pow(devices.len() as u32)),
            (Reduction::Max, 1.5, 200),
            (Reduction::Min, 1.5, 200),
        ] {
            let mut a: Vec<Buffer<f32>> = devices.iter().map(|device| device.upload(&[1.5; 3]).unwrap()).collect();
            let mut b: Vec<Buffer<u8>> = devices.iter().map(|device| device.upload(&[200; 3]).unwrap()).collect();
            communicator.all_reduce(&mut a.iter_mut().collect::<Vec<_>>(), reduction, &streams).unwrap();
            communicator.all_reduce(&mut b.iter_mut().collect::<Vec<_>>(), reduction, &streams).unwrap();
            assert_eq!((a[1].read().unwrap()[2], b[0].read().unwrap()[0]), (floats, bytes), "{reduction:?}");
        }
    }
}

#[test]
fn each_mistake_has_its_error() {
    let devices = [Device::simulator(), Device::simulator()];
    let communicator = Communicator::new(&devices).unwrap();
    let streams = [devices[0].stream().unwrap(), devices[1].stream().unwrap()];
    let streams = [&streams[0], &streams[1]];
    let (mut a, mut b) = (devices[0].zeros::<f32>(8).unwrap(), devices[1].zeros::<f32>(9).unwrap());
    let said = |result: Result<()>, words: &str| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Collective(_)), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    let sum = Reduction::Sum;
    said(Communicator::new(&[]).map(drop), "was given none");
    said(communicator.all_reduce(&mut [&mut a], sum, &streams), "gave 1 buffer(s) and 2 stream(s)");
    said(communicator.all_reduce(&mut [&mut a, &mut b], sum, &streams), "that of rank 1 has 9 elements");
    said(communicator.broadcast(&mut [&mut a, &mut b], 2, &streams), "there is no rank 2");
    said(Communicator::from_env(&devices[0]).map(drop), "WORLD_SIZE is not set");
    let mut c = devices[1].zeros::<f32>(8).unwrap();
    let captured = devices[0].capture(|stream| {
        said(communicator.all_reduce(&mut [&mut a, &mut c], sum, &[stream, streams[1]]), "captures no collective");
        Ok(())
    });
    captured.unwrap();
    assert_eq!(
        format!("{communicator:?}, {}, {}", communicator.size(), communicator.first_rank()),
        "Communicator(2 of 2 from rank 0 on), 2, 0"
    );
}

/// Neither a graph of ours nor one of another library takes a collective, and the streams go on.
#[test]
fn a_graph_captures_no_collective() {
    for devices in groups() {
        let communicator = Communicator::new(&devices).unwrap();
        let streams: Vec<Stream> = devices.iter().map(|device| device.stream().unwrap()).collect();
        let streams: Vec<&Stream> = streams.iter().collect();
        let mut buffers: Vec<Buffer<u32>> = devices.iter().map(|device| device.upload(&[1; 8]).unwrap()).collect();
        let mut reduce = |streams: &[&Stream]| {
            let mut parts: Vec<&mut Buffer<u32>> = buffers.iter_mut().collect();
            communicator.all_reduce(&mut parts, Reduction::Sum, streams)
        };
        let captured = devices[0].capture(|stream| reduce(&[&[stream], &streams[1..]].concat())).map(drop).unwrap_err();
        assert!(matches!(captured, Error::Collective(CollectiveError::Captured)), "{captured}");
        #[cfg(feature = "gpu")]
        if let Some(theirs) = streams[0].cuda_stream() {
            use cudarc::driver::sys::{CUgraphInstantiate_flags as Flags, CUstreamCaptureMode as CaptureMode};
            theirs.begin_capture(CaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).unwrap();
            let captured = reduce(&streams).unwrap_err();
            assert!(matches!(captured, Error::Graph(crate::report::graph::GraphError::LaunchesAlone)), "{captured}");
            drop(theirs.end_capture(Flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
        }
        reduce(&streams).unwrap();
        assert_eq!(buffers[0].read().unwrap(), [devices.len() as u32; 8]);
    }
}

/// Copies between two devices, on the stream of either, come between what uses their buffers; and kernels use a peer's memory where that is
/// possible.
#[test]
fn memory_of_two_devices() {
    for devices in groups() {
        let (first, second) = (&devices[0], &devices[1]);
        let (mut a, mut b) = (first.zeros::<u32>(4096).unwrap(), second.zeros::<u32>(4096).unwrap());
        let (of_first, of_second) = (first.stream().unwrap(), second.stream().unwrap());
        for round in 1..=10 {
            add(&mut a, 1).grid(128).on(&of_first).enqueue().unwrap();
            let stream = if round % 2 == 0 { &of_first } else { &of_second };
            stream.copy(&a, &mut b).unwrap();
            add(&mut b, 1).grid(128).on(&of_second).enqueue().unwrap();
            stream.copy(&b, &mut a).unwrap();
        }
        assert_eq!(a.read().unwrap(), [20; 4096]);
        let event = of_second.record().unwrap();
        of_first.wait(&event).unwrap();
        if !first.is_simulator() {
            let refused = add(&mut b, 1).grid(128).launch(first).unwrap_err();
            assert!(refused.to_string().contains("Device::enable_access"), "{refused}");
            let graph = first.capture(|stream| stream.copy(&b, &mut a));
            assert!(graph.unwrap_err().to_string().contains("a graph is for one GPU"));
        }
        match first.can_access(second).unwrap() {
            true => {
                first.enable_access(second).unwrap();
                first.enable_access(second).unwrap();
                add(&mut b, 5).grid(128).on(&of_first).enqueue().unwrap();
                assert_eq!(b.read().unwrap(), [25; 4096]);
            }
            false => {
                let refused = first.enable_access(second).unwrap_err();
                assert!(matches!(refused, Error::NoPeerAccess { .. }), "{refused}");
            }
        }
    }
}
