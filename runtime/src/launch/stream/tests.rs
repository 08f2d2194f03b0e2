//! Streams on every device that this machine has.

use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use super::*;
use crate::launch::on_each_device::on_each_device;
use crate::report::error::LaunchError;
use crate::report::failure::Cause;
use crate::{Buffer, View};

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn add(values: &mut [u32], amount: u32) {
        let i = this_grid().thread_rank();
        values[i] += amount;
    }

    #[cluster_kernel(block = 32)]
    pub(super) fn sum(a: &[u32], b: &[u32], out: &mut [u32]) {
        let i = this_grid().thread_rank();
        out[i] = a[i] + b[i];
    }

    /// Fails if the number of the launch is a multiple of `every`.
    #[cluster_kernel(block = 32)]
    pub(super) fn numbered(out: &mut [u32], number: u32, every: u32) {
        assert!(number % every != 0, "launch {number}");
        out[this_grid().thread_rank()] = number;
    }

    /// Takes a time in proportion to `rounds`.
    #[cluster_kernel(block = 128)]
    pub(super) fn busy(out: &mut [u32], rounds: u32) {
        let i = this_grid().thread_rank();
        let mut value = i as u32;
        for _ in 0..rounds {
            value = value * 1_664_525 + 1_013_904_223;
        }
        out[i] = value;
    }

    /// All threads of a block fail, while its peers use its memory.
    #[cluster_kernel(cluster = 4, block = 64)]
    pub(super) fn a_block_fails(out: &mut [u32], failing: u32) {
        let cluster = this_cluster();
        let block = this_thread_block();
        let array = shared_array::<u32, 64>();
        array[block.thread_rank()] = block.thread_rank();
        cluster.sync();
        let next = (cluster.block_rank() + 1) % cluster.num_blocks();
        let remote = cluster.map_shared_rank(&array, next);
        assert!(cluster.block_rank() != failing, "block {failing}");
        out[this_grid().thread_rank()] = remote[block.thread_rank()];
        cluster.sync();
    }

    #[cluster_kernel(block = 64)]
    pub(super) fn rounds_of_the_grid(values: &mut [u32], rounds: u32) {
        let grid = this_grid();
        let i = grid.thread_rank();
        let next = (i + 64) % grid.num_threads();
        for _ in 0..rounds {
            let value = values[next];
            grid.sync();
            values[i] = value + 1;
            grid.sync();
        }
    }

    #[cluster_kernel(block = 2)]
    pub(super) fn say(who: u32) {
        println!("{who}: {}", this_grid().thread_rank());
    }
}
use kernels::*;

/// Returns how often a test runs something: on a GPU as often as that takes a second.
fn times(device: &Device, gpu: u32, simulator: u32) -> u32 {
    if device.is_simulator() { simulator } else { gpu }
}

#[test]
fn work_on_a_stream_is_in_order() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.zeros(64).unwrap();
        for amount in 1..=100 {
            add(&mut values, amount).grid(2).on(&stream).enqueue().unwrap();
        }
        add(&mut values, 1).grid(2).on(&stream).launch().unwrap();
        assert_eq!(values.read().unwrap(), [5051; 64], "{device}");
        stream.synchronize().unwrap();
    });
}

#[test]
fn buffers_keep_the_program_s_order_across_streams() {
    on_each_device(|device| {
        let streams: Vec<Stream> = (0..4).map(|_| device.stream().unwrap()).collect();
        let mut buffers: Vec<Buffer<u32>> = (0..5).map(|at| device.upload(&[at; 4096]).unwrap()).collect();
        let mut expected: Vec<u32> = (0..5).collect();
        for round in 0..times(device, 2000, 100) as usize {
            // The stream, the memory that is written and what is read change by numbers that share no factor.
            let (to, a, b) = (round * 3 % 5, (round + 1) * 3 % 5, (round + 2) * 3 % 5);
            let mut out = buffers.remove(to);
            {
                let at = |index: usize| &buffers[if index > to { index - 1 } else { index }];
                let launch = sum(at(a), at(b), &mut out).grid(128);
                match round % 7 {
                    0 => launch.enqueue(device).unwrap(),
                    other => launch.on(&streams[other % 4]).enqueue().map(drop).unwrap(),
                }
            }
            buffers.insert(to, out);
            expected[to] = expected[a].wrapping_add(expected[b]);
        }
        for (buffer, expected) in buffers.iter().zip(expected) {
            assert_eq!(buffer.read().unwrap(), [expected; 4096], "{device}");
        }
        // Memory is freed after the work on it.
        let mut last = device.zeros(1 << 20).unwrap();
        for stream in &streams {
            add(&mut last, 1).grid(1 << 15).on(stream).enqueue().unwrap();
        }
        drop(last);
        device.synchronize().unwrap();
    });
}

#[test]
fn each_failure_comes_back_from_its_own_launch() {
    on_each_device(|device| {
        let launches = times(device, 1000, 100);
        let shared = device.stream().unwrap();
        thread::scope(|scope| {
            for thread in 0..8 {
                let shared = &shared;
                scope.spawn(move || {
                    let own = device.stream().unwrap();
                    // Half of the threads share a stream.
                    let stream = if thread % 2 == 0 { &own } else { shared };
                    let mut out = device.zeros(32).unwrap();
                    let handles: Vec<(u32, Enqueued)> = (0..launches)
                        .map(|launch| {
                            let number = thread * 10_000 + launch;
                            (number, numbered(&mut out, number, 50).grid(1).on(stream).enqueue().unwrap())
                        })
                        .collect();
                    for (number, handle) in handles {
                        match handle.wait() {
                            Ok(()) => assert!(number % 50 != 0, "launch {number} fails on {device}"),
                            Err(Error::Kernel(failure)) => {
                                assert_eq!(failure.cause, Cause::Assertion(format!("launch {number}")), "{device}");
                            }
                            Err(other) => panic!("{device}: {other}"),
                        }
                    }
                });
            }
        });
        device.synchronize().unwrap();
    });
}

#[test]
fn threads_that_wait_get_their_own_failures_from_one_stream() {
    on_each_device(|device| {
        let launches = times(device, 1000, 50);
        thread::scope(|scope| {
            for thread in 0..8 {
                scope.spawn(move || {
                    let mut out = device.zeros(32).unwrap();
                    for launch in 0..launches {
                        let number = thread * 10_000 + launch;
                        match numbered(&mut out, number, 50).grid(1).launch(device) {
                            Ok(()) => assert!(number % 50 != 0, "launch {number} fails on {device}"),
                            Err(error) => assert!(error.to_string().contains(&format!("launch {number}")), "{error}"),
                        }
                    }
                });
            }
        });
        device.synchronize().unwrap();
    });
}

#[test]
fn failures_without_a_handle_go_to_who_waits_for_the_stream() {
    on_each_device(|device| {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let mut out = device.zeros(32).unwrap();
        drop(numbered(&mut out, 50, 50).grid(1).on(&first).enqueue().unwrap());
        drop(numbered(&mut out, 100, 50).grid(1).on(&first).enqueue().unwrap());
        numbered(&mut out, 1, 50).grid(1).on(&second).enqueue().unwrap();
        second.synchronize().unwrap();
        let text = |result: Result<()>| result.unwrap_err().to_string();
        assert!(text(first.synchronize()).contains("launch 50"), "{device}");
        assert!(text(device.synchronize()).contains("launch 100"), "{device}");
        device.synchronize().unwrap();
        assert_eq!(out.read().unwrap(), [1; 32], "{device}");

        // A read reports what the writer of the buffer did.
        drop(numbered(&mut out, 150, 50).grid(1).on(&first).enqueue().unwrap());
        assert!(matches!(out.read(), Err(Error::Kernel(_))), "{device}");
        // One of another buffer does not, nor a read of what another stream has written since.
        let mut other = device.zeros(32).unwrap();
        drop(numbered(&mut out, 250, 50).grid(1).on(&first).enqueue().unwrap());
        add(&mut other, 3).grid(1).on(&second).enqueue().unwrap();
        assert_eq!(other.read().unwrap(), [3; 32], "{device}");
        second.copy(&other, &mut out).unwrap();
        assert_eq!(out.read().unwrap(), [3; 32], "{device}");
        assert!(text(first.synchronize()).contains("launch 250"), "{device}");
        // Also the failures of a stream that is gone.
        let gone = device.stream().unwrap();
        drop(numbered(&mut out, 200, 50).grid(1).on(&gone).enqueue().unwrap());
        drop(gone);
        assert!(text(device.synchronize()).contains("launch 200"), "{device}");
        device.synchronize().unwrap();
    });
}

#[test]
fn more_launches_than_are_kept_in_flight_lose_nothing() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeros(32).unwrap();
        let launches = times(device, 5000, 300);
        for launch in 1..=launches {
            drop(numbered(&mut out, launch, 7).grid(1).on(&stream).enqueue().unwrap());
        }
        let failures = std::iter::from_fn(|| stream.synchronize().err()).map(|error| error.to_string());
        let found: Vec<String> = failures.collect();
        assert_eq!(found.len() as u32, launches / 7, "{device}");
        assert!(found.iter().zip(1..).all(|(text, at)| text.contains(&format!("launch {}", 7 * at))), "{device}");
    });
}

#[test]
fn a_block_that_fails_stays_for_its_peers_in_each_launch() {
    on_each_device(|device| {
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let mut outs = [device.zeros(1024).unwrap(), device.zeros(1024).unwrap()];
        let mut handles = Vec::new();
        for round in 0..times(device, 200, 10) {
            for (stream, out) in streams.iter().zip(&mut outs) {
                let failing = round % 5;
                handles.push((failing, a_block_fails(out, failing).grid(16).on(stream).enqueue().unwrap()));
            }
        }
        for (failing, handle) in handles {
            assert_eq!(handle.wait().is_err(), failing < 4, "{device}");
        }
        device.synchronize().unwrap();
    });
}

#[test]
fn each_launch_has_a_barrier_of_the_grid() {
    on_each_device(|device| {
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let mut values = [device.zeros(512).unwrap(), device.zeros(512).unwrap()];
        let launches = times(device, 300, 3);
        for _ in 0..launches {
            for (stream, values) in streams.iter().zip(&mut values) {
                rounds_of_the_grid(values, 5).grid(8).on(stream).enqueue().unwrap();
            }
        }
        for values in values {
            assert_eq!(values.read().unwrap(), [5 * launches; 512], "{device}");
        }
    });
}

#[test]
fn what_is_printed_comes_from_each_stream_in_order() {
    on_each_device(|device| {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let writer = printed.clone();
        device.on_print(move |text| writer.lock().unwrap().push(text.to_string()));
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        for who in 0..6 {
            say(who).grid(1).on(&streams[who as usize % 2]).enqueue().unwrap();
        }
        device.synchronize().unwrap();
        let printed = std::mem::take(&mut *printed.lock().unwrap());
        let of = |parity: u32| -> Vec<String> {
            let whose = |text: &&String| text[..1].parse::<u32>().unwrap() % 2 == parity;
            printed.iter().filter(whose).cloned().collect()
        };
        assert_eq!(of(0), ["0: 0\n", "0: 1\n", "2: 0\n", "2: 1\n", "4: 0\n", "4: 1\n"], "{device}");
        assert_eq!(of(1), ["1: 0\n", "1: 1\n", "3: 0\n", "3: 1\n", "5: 0\n", "5: 1\n"], "{device}");
        device.on_print(|text| print!("{text}"));
    });
}

/// Two kernels that fill less than half of a GPU each take the time of one.
#[test]
fn two_streams_run_side_by_side() {
    on_each_device(|device| {
        let streams = [device.stream().unwrap(), device.stream().unwrap()];
        let rounds = times(device, 2_000_000, 10);
        let mut outs = [device.zeros(60 * 128).unwrap(), device.zeros(60 * 128).unwrap()];
        let mut measure = |count: usize| {
            let start = Instant::now();
            for (stream, out) in streams.iter().zip(&mut outs).take(count) {
                busy(out, rounds).grid(60).on(stream).enqueue().unwrap();
            }
            streams.iter().for_each(|stream| stream.synchronize().unwrap());
            start.elapsed()
        };
        measure(2);
        let mut fastest = |count| (0..5).map(|_| measure(count)).min().unwrap();
        let (one, two) = (fastest(1), fastest(2));
        println!("{device}: one kernel {one:?}, two on two streams {two:?}");
        assert!(device.is_simulator() || two < one.mul_f64(1.2), "{one:?} and {two:?} on {device}");
    });
}

#[test]
fn events_order_streams_and_measure_time() {
    on_each_device(|device| {
        let (first, second) = (device.stream().unwrap(), device.stream().unwrap());
        let rounds = times(device, 1_000_000, 10);
        let (mut slow, mut quick) = (device.zeros(60 * 128).unwrap(), device.zeros(60 * 128).unwrap());
        let start = first.record().unwrap();
        busy(&mut slow, rounds).grid(60).on(&first).enqueue().unwrap();
        let end = first.record().unwrap();
        second.wait(&end).unwrap();
        busy(&mut quick, 1).grid(60).on(&second).enqueue().unwrap();
        let after = second.record().unwrap();
        after.synchronize().unwrap();
        assert!(end.is_complete().unwrap() && after.is_complete().unwrap(), "{device}");
        let (work, all) = (start.elapsed(&end).unwrap(), start.elapsed(&after).unwrap());
        assert!(all >= work, "{work:?} and {all:?} on {device}");
        assert!(device.is_simulator() || work > Duration::from_micros(100), "{work:?} on {device}");
        assert_eq!(after.elapsed(&start).unwrap(), Duration::ZERO, "{device}");
    });
}

#[test]
fn what_belongs_to_another_device_is_refused() {
    on_each_device(|device| {
        let simulator = Device::simulator();
        if device.is_simulator() {
            // All simulators share the host's memory.
            let stream = simulator.stream().unwrap();
            add(&mut device.zeros(32).unwrap(), 1).grid(1).on(&stream).launch().unwrap();
            return stream.wait(&device.stream().unwrap().record().unwrap()).unwrap();
        }
        let stream = device.stream().unwrap();
        let mut elsewhere = simulator.zeros(32).unwrap();
        let error = add(&mut elsewhere, 1).grid(1).on(&stream).launch().unwrap_err();
        assert!(matches!(error, Error::Launch { reason: LaunchError::WrongDevice { .. }, .. }), "{error}");
        let event = simulator.stream().unwrap().record().unwrap();
        assert!(matches!(stream.wait(&event), Err(Error::WrongEvent { .. })));
        assert!(matches!(stream.record().unwrap().elapsed(&event), Err(Error::WrongEvent { .. })));
        assert!(matches!(event.elapsed(&stream.record().unwrap()), Err(Error::WrongEvent { .. })));
        let cuda = stream.cuda_stream().unwrap();
        let refused = Stream::from_cuda_stream(&simulator, cuda.clone());
        assert!(matches!(refused, Err(Error::ForeignStream { .. })));
        let per_thread = cuda.context().per_thread_stream();
        assert!(matches!(Stream::from_cuda_stream(device, per_thread), Err(Error::PerThreadStream)));
    });
}

/// A stream and a context object that another user of cudarc owns.
#[cfg(feature = "gpu")]
#[test]
fn kernels_run_on_a_stream_of_cudarc_s() {
    on_each_device(|device| {
        let Some(ours) = device.stream().unwrap().cuda_stream().cloned() else { return };
        let context = cudarc::driver::CudaContext::new(ours.context().ordinal()).unwrap();
        let theirs = context.new_stream().unwrap();
        let stream = Stream::from_cuda_stream(device, theirs.clone()).unwrap();
        let mut values = device.zeros(64).unwrap();
        let mut fails = Vec::new();
        for number in 1..=100 {
            add(&mut values, 1).grid(2).on(&stream).enqueue().unwrap();
            fails.push(numbered(&mut values, number * 50, 50).grid(1).on(&stream).enqueue().unwrap());
        }
        theirs.synchronize().unwrap();
        assert_eq!(values.read().unwrap(), [100; 64]);
        assert!(fails.into_iter().all(|handle| handle.wait().is_err()));
        // The graph of another library keeps no memory of ours.
        let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        theirs.begin_capture(mode).unwrap();
        let refused = add(&mut values, 1).grid(2).on(&stream).enqueue();
        assert!(matches!(refused, Err(Error::Launch { reason: LaunchError::OwnedInGraph, .. })), "{refused:?}");
        let flags = cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        drop(theirs.end_capture(flags));
        add(&mut values, 1).grid(2).on(&stream).launch().unwrap();
    });
}

/// Memory that another user of cudarc owns is read in the order of its stream, and freed after the kernels that read it.
#[cfg(feature = "gpu")]
#[test]
fn kernels_read_memory_of_cudarc_s() {
    on_each_device(|device| {
        let Some(ours) = device.stream().unwrap().cuda_stream().cloned() else { return };
        let context = cudarc::driver::CudaContext::new(ours.context().ordinal()).unwrap();
        let (theirs, other) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let stream = device.stream().unwrap();
        let (zeros, rounds) = (device.zeros(64).unwrap(), 500);
        let mut outs: Vec<Buffer<u32>> = (0..rounds).map(|_| device.zeros(64).unwrap()).collect();
        let mut slice = theirs.alloc_zeros::<u32>(128).unwrap();
        for (round, out) in (0u32..).zip(&mut outs) {
            // Writers on two streams of theirs, and a reader on ours, take turns.
            let writer = if round % 2 == 0 { &theirs } else { &other };
            writer.memcpy_htod(&[round; 128], &mut slice).unwrap();
            let half = slice.slice(64..);
            let view = View::of_cuda(device, &half).unwrap();
            sum(&view, &zeros, out).grid(2).on(&stream).enqueue().unwrap();
        }
        // It is freed, and the memory is used again, after the last kernel.
        let whole = View::of_cuda(device, &slice).unwrap();
        assert_eq!(whole.read().unwrap(), [rounds - 1; 128]);
        drop(whole);
        drop(slice);
        let _again = theirs.clone_htod(&[7u32; 128]).unwrap();
        for (round, out) in (0u32..).zip(&outs) {
            assert_eq!(out.read().unwrap(), [round; 64]);
        }
    });
}

#[test]
fn copies_on_the_device_keep_the_order() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut a, mut b) = (device.zeros::<u32>(64).unwrap(), device.zeros(64).unwrap());
        for round in 1..=50 {
            add(&mut a, 1).grid(2).on(&stream).enqueue().unwrap();
            b.copy_from(&a).unwrap();
            add(&mut b, 100).grid(2).on(&stream).enqueue().unwrap();
            assert_eq!(b.read_range(..1).unwrap(), [round + 100], "{device}");
        }
        let mut half = device.zeros(32).unwrap();
        a.write_at(32, &[9; 32]).unwrap();
        half.copy_from(&a.slice(32..).unwrap()).unwrap();
        assert_eq!(half.read().unwrap(), [9; 32], "{device}");
        let (part, mut out) = (a.slice(16..48).unwrap(), device.zeros(32).unwrap());
        sum(&part, &half, &mut out).grid(1).on(&stream).enqueue().unwrap();
        assert_eq!(out.read().unwrap(), [[59; 16], [18; 16]].concat(), "{device}");
    });
}
