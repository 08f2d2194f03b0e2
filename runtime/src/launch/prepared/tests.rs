//! Prepared launches on every device that this machine has.

use std::time::Duration;

use super::*;
use crate::launch::on_each_device::on_each_device;
use crate::report::failure::Cause;

mod kernels {
    use crate::prelude::*;

    #[cluster_kernel(block = 32)]
    pub(super) fn add(values: &mut [u32], amounts: &[u32], most: u32) {
        let i = this_grid().thread_rank();
        assert!(values[i] < most, "{} is not below {most}", values[i]);
        values[i] += amounts[i];
    }

    /// Sums over a cluster whose size the launch chooses, with memory that it sizes.
    #[cluster_kernel(block = 32)]
    pub(super) fn gathered(values: &mut [u32]) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        let own = dynamic_shared::<u32>();
        let (i, at) = (block.thread_rank(), this_grid().thread_rank());
        own[i] = values[at];
        cluster.sync();
        let mut sum = 0;
        for rank in 0..cluster.num_blocks() {
            sum += cluster.map_shared_rank(&own, rank)[i];
        }
        cluster.sync();
        values[at] = sum;
    }

    #[cluster_kernel(block = 32)]
    pub(super) fn starved(out: &mut [u32], missing: u32) {
        let block = this_thread_block();
        let barrier = shared_barrier();
        barrier.init_collective(&block, block.num_threads() + missing);
        barrier.arrive_and_wait();
        out[block.thread_rank()] += 1;
    }

    #[cluster_kernel(block = 1)]
    pub(super) fn of_nine(
        a: &[u32],
        b: &[u32],
        c: &[u32],
        d: &[u32],
        e: &[u32],
        f: &[u32],
        g: &[u32],
        h: &[u32],
        out: &mut [u32],
    ) {
        out[0] += a[0] + b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h[0];
    }
}
use kernels::*;

#[test]
fn it_runs_as_often_as_it_is_started() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut values, amounts) = (device.zeros(128).unwrap(), device.upload(&[2u32; 128]).unwrap());
        // More than the records that a stream has at first.
        let mut add = add(&mut values, &amounts, u32::MAX).grid(4).prepare(device).unwrap();
        (0..300).for_each(|_| add.enqueue().unwrap());
        add.launch().unwrap();
        drop(add);
        assert_eq!(values.read().unwrap(), [602; 128]);

        let mut gathered = gathered(&mut values).grid(4).cluster(2).shared_bytes(128).on(&stream).prepare().unwrap();
        gathered.enqueue().unwrap();
        gathered.launch().unwrap();
        drop(gathered);
        assert_eq!(values.read().unwrap(), [4 * 602; 128]);
    });
}

#[test]
fn it_comes_after_what_other_streams_do_with_its_memory() {
    on_each_device(|device| {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let mut values = device.zeros(1 << 16).unwrap();
        let amounts = device.upload(&vec![1u32; 1 << 16]).unwrap();
        for round in 0..20 {
            let mut first = add(&mut values, &amounts, u32::MAX).grid(2048).on(&stream).prepare().unwrap();
            (0..3).for_each(|_| first.enqueue().unwrap());
            drop(first);
            let mut second = add(&mut values, &amounts, u32::MAX).grid(2048).on(&other).prepare().unwrap();
            second.enqueue().unwrap();
            drop(second);
            assert_eq!(values.read().unwrap(), vec![4 * (round + 1); 1 << 16]);
        }
    });
}

#[test]
fn its_failures_come_to_who_waits() {
    on_each_device(|device| {
        let (mut values, amounts) = (device.zeros(32).unwrap(), device.upload(&[1u32; 32]).unwrap());
        let mut prepared = add(&mut values, &amounts, 2).grid(1).prepare(device).unwrap();
        (0..3).for_each(|_| prepared.enqueue().unwrap());
        let failure = device.synchronize().unwrap_err();
        assert!(failure.to_string().contains("2 is not below 2"), "{failure}");
        assert!(prepared.launch().unwrap_err().to_string().contains("2 is not below 2"));
        device.synchronize().unwrap();
        drop(prepared);
        assert_eq!(values.read().unwrap(), [2; 32]);
    });
}

#[test]
fn it_keeps_its_deadline() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeros(32).unwrap();
        let late = starved(&mut out, 1).grid(1).deadline(Duration::from_millis(50)).on(&stream);
        let mut late = late.prepare().unwrap();
        for _ in 0..2 {
            let error = late.launch().unwrap_err();
            let Error::Kernel(failure) = &error else { panic!("{error}") };
            assert!(matches!(failure.cause, Cause::Deadline { .. }), "{failure}");
        }
        drop(late);
        starved(&mut out, 0).grid(1).launch(device).unwrap();
        assert_eq!(out.read().unwrap(), [1; 32]);
    });
}

#[test]
fn it_has_any_number_of_arguments() {
    on_each_device(|device| {
        let one = device.upload(&[1u32]).unwrap();
        let mut out = device.zeros(1).unwrap();
        let launch = of_nine(&one, &one, &one, &one, &one, &one, &one, &one, &mut out).grid(1);
        let mut launch = launch.prepare(device).unwrap();
        launch.enqueue().unwrap();
        launch.enqueue().unwrap();
        drop(launch);
        assert_eq!(out.read().unwrap(), [16]);
    });
}

#[test]
fn what_is_wrong_is_said_before_the_first_start() {
    on_each_device(|device| {
        let (mut values, amounts) = (device.zeros(32).unwrap(), device.upload(&[1u32; 32]).unwrap());
        let reason = |prepared: Result<PreparedLaunch<'_>>| match prepared.unwrap_err() {
            Error::Launch { reason, .. } => reason,
            other => panic!("{other}"),
        };
        let no_grid = add(&mut values, &amounts, 2).prepare(device);
        assert_eq!(reason(no_grid), LaunchError::NoGrid);
        let elsewhere = Device::simulator().upload(&[1u32; 32]).unwrap();
        if !device.is_simulator() {
            let wrong = add(&mut values, &elsewhere, 2).grid(1).prepare(device);
            assert!(matches!(reason(wrong), LaunchError::WrongDevice { argument: 2, .. }));
        }
        let graph = device.capture(|stream| {
            let captured = add(&mut values, &amounts, 2).grid(1).on(stream).prepare();
            assert_eq!(reason(captured), LaunchError::PreparedInGraph);
            Ok(())
        });
        graph.unwrap();
    });
}
