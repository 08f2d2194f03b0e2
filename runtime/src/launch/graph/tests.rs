//! Graphs on every device that this machine has.

use std::time::Instant;

use super::*;
use crate::launch::on_each_device::on_each_device;
use crate::report::error::{Error, LaunchError};
use crate::report::failure::Cause;

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn add(values: &mut [u32], amount: u32) {
        values[this_grid().thread_rank()] += amount;
    }

    #[cluster_kernel(block = 32)]
    pub(super) fn checked(values: &mut [u32], least: u32) {
        let i = this_grid().thread_rank();
        assert!(values[i] >= least, "{} is below {least}", values[i]);
        values[i] -= least;
    }

    #[cluster_kernel(cluster = 4, block = 32)]
    pub(super) fn from_next(values: &[u32], out: &mut [u32], failing: u32) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        let array = shared_array::<u32, 32>();
        let i = this_grid().thread_rank();
        array[block.thread_rank()] = values[i];
        cluster.sync();
        let next = (cluster.block_rank() + 1) % cluster.num_blocks();
        let remote = cluster.map_shared_rank(&array, next);
        assert!(cluster.block_rank() != failing, "block {failing}");
        out[i] = remote[block.thread_rank()];
        cluster.sync();
    }

    #[cluster_kernel(block = 64)]
    pub(super) fn rounds_of_the_grid(values: &mut [u32]) {
        let grid = this_grid();
        let i = grid.thread_rank();
        let next = values[(i + 64) % grid.num_threads()];
        grid.sync();
        values[i] = next + 1;
    }

    #[cluster_kernel(block = 2)]
    pub(super) fn say(who: u32) {
        println!("{who}: {}", this_grid().thread_rank());
    }
}
use kernels::*;

#[test]
fn a_graph_repeats_its_operations_in_order() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut a, mut b, mut c) =
            (device.zeros(128).unwrap(), device.zeros(128).unwrap(), device.zeros(128).unwrap());
        let graph = device
            .capture(|stream| {
                for _ in 0..25 {
                    add(&mut a, 1).grid(4).on(stream).enqueue()?;
                    from_next(&a, &mut b, 9).grid(4).on(stream).enqueue()?;
                    stream.copy(&b, &mut c)?;
                    rounds_of_the_grid(&mut c).grid(2).on(stream).enqueue()?;
                }
                Ok(())
            })
            .unwrap();
        assert_eq!(c.read().unwrap(), [0; 128], "{device}: nothing has run");
        for launch in 1..=20 {
            graph.enqueue(&stream).unwrap();
            if launch % 5 == 0 {
                assert_eq!(
                    (a.read().unwrap(), c.read().unwrap()),
                    (vec![25 * launch; 128], vec![25 * launch + 1; 128])
                );
            }
        }
        a.write(&[1000; 128]).unwrap();
        graph.launch(&device.default_stream()).unwrap();
        drop(b);
        assert_eq!(c.read().unwrap(), [1026; 128], "{device}");
    });
}

#[test]
fn a_failure_is_that_of_its_own_launch() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut values, mut other) = (device.upload(&[5u32; 32]).unwrap(), device.zeros::<u32>(128).unwrap());
        let mut out = device.zeros(128).unwrap();
        let mut graph = device
            .capture(|stream| {
                add(&mut other, 1).grid(4).on(stream).enqueue()?;
                checked(&mut values, 1).grid(1).on(stream).enqueue().map(drop)
            })
            .unwrap();
        let handles: Vec<Enqueued> = (0..8).map(|_| graph.enqueue(&stream).unwrap()).collect();
        for (launch, handle) in handles.into_iter().enumerate() {
            match handle.wait() {
                Ok(()) => assert!(launch < 5, "launch {launch} fails on {device}"),
                Err(Error::Kernel(failure)) => {
                    assert!(launch >= 5, "{failure}");
                    assert_eq!(failure.cause, Cause::Assertion("0 is below 1".into()));
                    assert!(failure.location.unwrap().file.ends_with("graph/tests.rs"));
                }
                Err(other) => panic!("{other}"),
            }
        }
        // A cluster whose block fails as a whole, again and again; and then other arguments.
        graph.update(|stream| from_next(&other, &mut out, 2).grid(4).on(stream).enqueue().map(drop)).unwrap();
        for _ in 0..3 {
            let error = graph.launch(&stream).unwrap_err();
            assert!(error.to_string().contains("block 2"), "{error}");
        }
        graph.update(|stream| from_next(&other, &mut out, 7).grid(4).on(stream).enqueue().map(drop)).unwrap();
        graph.launch(&stream).unwrap();
        let expected = other.read().unwrap();
        assert_eq!(out.read().unwrap(), [&expected[32..], &expected[..32]].concat());
        device.synchronize().unwrap();
    });
}

#[test]
fn events_of_a_graph_are_recorded_by_each_launch() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.zeros(32).unwrap();
        let mut events = Vec::new();
        let graph = device
            .capture(|stream| {
                events.push(stream.record()?);
                add(&mut values, 1).grid(1).on(stream).enqueue()?;
                events.push(stream.record()?);
                stream.wait(&events[1])
            })
            .unwrap();
        let error = events[0].elapsed(&events[1]).unwrap_err();
        assert!(matches!(error, Error::Graph(GraphError::NotLaunched)), "{error}");
        graph.launch(&stream).unwrap();
        assert!(events[0].elapsed(&events[1]).unwrap().as_secs() < 1);
        device.default_stream().wait(&events[1]).unwrap();
        assert!(events[1].is_complete().unwrap());
        // To wait for the event of another graph does not record it.
        let mut others = Vec::new();
        let _never_launched = device.capture(|stream| stream.record().map(|event| others.push(event))).unwrap();
        let waits = device.capture(|stream| stream.wait(&others[0])).unwrap();
        waits.launch(&stream).unwrap();
        assert!(matches!(others[0].synchronize(), Err(Error::Graph(GraphError::NotLaunched))), "{device}");
    });
}

#[test]
fn what_a_graph_cannot_do_is_said() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.zeros(32).unwrap();
        let refused = |work: &mut dyn FnMut(&Stream) -> Result<()>| device.capture(|stream| work(stream)).unwrap_err();
        let reason = |error| match error {
            Error::Launch { reason, .. } => reason,
            other => panic!("{other}"),
        };
        let waits = refused(&mut |stream| add(&mut values, 1).grid(1).on(stream).launch());
        assert_eq!(reason(waits), LaunchError::WaitsInGraph);
        let prints = refused(&mut |stream| say(1).grid(1).on(stream).enqueue().map(drop));
        assert_eq!(reason(prints), LaunchError::PrintsInGraph);
        let graph = |error| match error {
            Error::Graph(error) => error,
            other => panic!("{other}"),
        };
        assert_eq!(graph(refused(&mut |stream| stream.synchronize())), GraphError::Waits);
        let handle = refused(&mut |stream| add(&mut values, 1).grid(1).on(stream).enqueue()?.wait());
        assert_eq!(graph(handle), GraphError::Waits);
        let mut kept = None;
        let empty = device
            .capture(|stream| {
                kept = Some(stream.clone());
                Ok(())
            })
            .unwrap();
        empty.launch(&stream).unwrap();
        let ended = add(&mut values, 1).grid(1).on(&kept.unwrap()).enqueue().unwrap_err();
        assert_eq!(graph(ended), GraphError::Ended);
        assert_eq!(graph(refused(&mut |stream| empty.launch(stream))), GraphError::Nested);
        assert_eq!(values.read().unwrap(), [0; 32]);
        device.synchronize().unwrap();
    });
}

#[test]
fn parts_are_written_and_copied() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.zeros(128).unwrap();
        let (mut left, mut right) = values.split_at_mut(64).unwrap();
        add(&mut left, 1).grid(2).on(&stream).enqueue().unwrap();
        add(&mut right, 2).grid(2).launch(device).unwrap();
        stream.copy(&left.slice(..32).unwrap(), &mut right.slice_mut(32..).unwrap()).unwrap();
        let expected = [[1; 32], [1; 32], [2; 32], [1; 32]].concat();
        assert_eq!(values.read().unwrap(), expected, "{device}");
        let error = values.split_at_mut(129).unwrap_err();
        assert!(matches!(error, Error::RangeOutOfBounds { start: 0, end: 129, len: 128 }), "{error}");
        let short = stream.copy(&device.zeros(1).unwrap(), &mut values).unwrap_err();
        assert!(matches!(short, Error::LengthMismatch { buffer: 128, data: 1 }), "{short}");
    });
}

/// Measures, and holds no machine to it: with `--nocapture`, it prints the time of a captured launch.
#[test]
fn a_captured_launch_is_timed() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.zeros(32).unwrap();
        let work = |stream: &Stream, values: &mut _| -> Result<()> {
            (0..100).try_for_each(|_| add(values, 1).grid(1).on(stream).enqueue().map(drop))
        };
        let graph = device.capture(|stream| work(stream, &mut values)).unwrap();
        let rounds = if device.is_simulator() { 1 } else { 100 };
        graph.launch(&stream).unwrap();
        let start = Instant::now();
        (0..rounds).for_each(|_| drop(graph.enqueue(&stream).unwrap()));
        stream.synchronize().unwrap();
        let replayed = start.elapsed() / (100 * rounds);
        let start = Instant::now();
        (0..rounds).for_each(|_| work(&stream, &mut values).unwrap());
        stream.synchronize().unwrap();
        println!("{device}: {replayed:?} for a launch of a graph, {:?} on a stream", start.elapsed() / (100 * rounds));
        assert_eq!(values.read().unwrap(), [100 + 200 * rounds; 32]);
    });
}
