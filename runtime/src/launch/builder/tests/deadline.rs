//! Launches with a deadline, on every device that this machine has.

use std::env;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use crate::gpu::nvrtc;
use crate::launch::on_each_device::on_each_device;
use crate::launch::{Buffer, Device, Launch};
use crate::program::Program;
use crate::program::template::Function;
use crate::report::error::{Error, LaunchError, Result};
use crate::report::failure::{Cause, Failure, WaitingThreads};

mod kernels {
    use crate::prelude::*;

    pub(super) const STARVED: u32 = line!() + 8;

    /// Waits for one arrival more than there are threads.
    #[cluster_kernel(block = 32)]
    pub(super) fn starved(out: &mut [u32], missing: u32) {
        let (block, bar) = (this_thread_block(), shared_barrier());
        bar.init_collective(&block, block.num_threads() + missing);
        let token = bar.arrive();
        bar.wait(token);
        out[this_grid().thread_rank()] = 1;
    }

    /// Waits for bytes that no copy brings. The compiler does not know how many arrivals the phase expects, so it accepts this.
    #[cluster_kernel(block = 32)]
    pub(super) fn starved_of_bytes(out: &mut [u32], missing: u32, bytes: u32) {
        let (block, bar) = (this_thread_block(), shared_barrier());
        bar.init_collective(&block, block.num_threads() + missing);
        if block.thread_rank() == 0 {
            bar.expect_tx(bytes);
        }
        block.sync();
        bar.arrive_and_wait();
        out[this_grid().thread_rank()] = 1;
    }

    pub(super) const SPINS: u32 = line!() + 9;
    pub(super) const MEETS: u32 = line!() + 10;

    /// One thread waits for a flag, and the others for it.
    #[cluster_kernel(block = 32)]
    pub(super) fn one_spins(flag: &mut [u32], out: &mut [u32]) {
        let grid = this_grid();
        let i = grid.thread_rank();
        if i == 0 {
            while flag.atomic(0).load(Acquire) == 0 {}
        }
        grid.sync();
        out[i] = 1;
    }

    #[cluster_kernel(block = 32)]
    pub(super) fn fails(out: &mut [u32], bad: u32) {
        let (block, bar) = (this_thread_block(), shared_barrier());
        bar.init_collective(&block, block.num_threads());
        assert!(block.thread_rank() != bad, "thread {bad}");
        bar.arrive_and_wait();
        out[this_grid().thread_rank()] = 1;
    }

    /// Loops without a wait that the host could end.
    #[cluster_kernel(block = 32)]
    pub(super) fn never_ends(stop: &[u32], out: &mut [u32]) {
        while stop[0] == 0 {
            nanosleep(1000);
        }
        out[this_grid().thread_rank()] = 1;
    }

    /// All waits that can be ended, for the compiler.
    #[cluster_kernel(cluster = 2, block = 64)]
    pub(super) fn all_waits(flags: &mut [u32], rounds: u32) {
        let (cluster, block) = (this_cluster(), this_thread_block());
        // One barrier of the peers would be a phase ahead of a thread that has not waited yet.
        let (bar, peers) = (shared_barrier(), shared_cluster_barriers::<2>());
        let bins = shared_array::<u32, 64>();
        bins[block.thread_rank()] = 0;
        bar.init_collective(&block, block.num_threads());
        peers.init_collective(&cluster, 64);
        let mut tries = 0;
        for round in 0..rounds {
            let token = bar.arrive();
            while !bar.try_wait(&token) {
                tries += 1;
            }
            let token = bar.arrive();
            while !bar.try_wait_for(&token, 1000) {
                tries += 1;
            }
            let token = block.barrier_arrive();
            bins.atomic(round % 64).fetch_add(1, Relaxed);
            block.barrier_wait(token);
            let next = cluster.map_shared_rank(&peers[round % 2], 1 - cluster.block_rank());
            next.arrive();
            peers[round % 2].wait_parity(round / 2 % 2 != 0);
        }
        block.sync();
        flags.atomic(block.thread_rank()).fetch_add(tries + bins[block.thread_rank()], Relaxed);
        cluster.sync();
    }
}
use kernels::*;

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(600);

fn ended(result: Result<()>) -> (Failure, Vec<WaitingThreads>) {
    let Err(Error::Kernel(failure)) = result else { panic!("{result:?}") };
    let Cause::Deadline { limit: SHORT, waiting } = &failure.cause else { panic!("{failure}") };
    let waiting = waiting.clone();
    (*failure, waiting)
}

#[test]
fn a_starved_phase_barrier_is_an_error_that_names_it() {
    on_each_device(|device| {
        for _ in 0..3 {
            let mut out = device.zeros(64).unwrap();
            let start = Instant::now();
            let (failure, waiting) = ended(starved(&mut out, 1).grid(2).deadline(SHORT).launch(device));
            assert!(start.elapsed() < Duration::from_secs(30), "{device}");
            assert_eq!(failure.location.as_ref().map(|location| location.line), Some(STARVED), "{device}: {failure}");
            // The simulator ends at the first cluster that does not get on.
            let threads = if device.is_simulator() { 32 } else { 64 };
            assert_eq!(
                (waiting.len(), waiting[0].threads, waiting[0].spins),
                (1, threads, false),
                "{device}: {failure}"
            );
            assert!(failure.to_string().contains("at its deadline of 50ms"), "{failure}");
            assert_eq!(out.read().unwrap(), [0; 64], "{device}");
            starved(&mut out, 0).grid(2).deadline(LONG).launch(device).unwrap();
            assert_eq!(out.read().unwrap(), [1; 64], "{device}");
        }
    });
}

#[test]
fn the_error_says_what_a_phase_barrier_lacks() {
    on_each_device(|device| {
        let mut out = device.zeros(32).unwrap();
        for missing in [1, 2, 4000] {
            let (failure, waiting) = ended(starved(&mut out, missing).grid(1).deadline(SHORT).launch(device));
            assert!(waiting[0].what.contains(&format!("still expects {missing} ")), "{device}: {failure}");
        }
        // The state of a phase that may lack bytes cannot be asked for on a GPU.
        for (missing, bytes) in [(0, 4), (0, 1 << 16), (3, 16)] {
            let launch = starved_of_bytes(&mut out, missing, bytes).grid(1).deadline(SHORT);
            let (failure, waiting) = ended(launch.launch(device));
            let says = waiting[0].what.contains("still expects");
            assert_eq!(says, device.is_simulator(), "{device}: {failure}");
            assert!(!says || waiting[0].what.ends_with(&format!("{bytes} bytes")), "{device}: {failure}");
        }
        starved_of_bytes(&mut out, 0, 0).grid(1).deadline(LONG).launch(device).unwrap();
        assert_eq!(out.read().unwrap(), [1; 32], "{device}");
    });
}

#[test]
fn loops_over_atomics_and_barriers_of_the_grid_end() {
    on_each_device(|device| {
        let (mut flag, mut out) = (device.zeros(1).unwrap(), device.zeros(128).unwrap());
        let (failure, waiting) = ended(one_spins(&mut flag, &mut out).grid(4).deadline(SHORT).launch(device));
        let at = |line| waiting.iter().find(|group| group.location.as_ref().is_some_and(|at| at.line == line));
        let (spins, meets) = (at(SPINS).unwrap(), at(MEETS).unwrap());
        assert_eq!((spins.threads, spins.spins), (1, true), "{device}: {failure}");
        // A block waits as a whole for its first thread.
        assert!((96..=127).contains(&meets.threads), "{device}: {failure}");
        flag.write(&[1]).unwrap();
        one_spins(&mut flag, &mut out).grid(4).deadline(LONG).launch(device).unwrap();
        assert_eq!(out.read().unwrap(), [1; 128], "{device}");
    });
}

#[test]
fn the_error_is_that_of_its_launch() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut a, mut b) = (device.zeros(32).unwrap(), device.zeros(32).unwrap());
        let before = starved(&mut b, 0).grid(1).on(&stream).deadline(LONG).enqueue().unwrap();
        let late = starved(&mut a, 5).grid(1).on(&stream).deadline(SHORT).enqueue().unwrap();
        let after = starved(&mut b, 0).grid(1).on(&stream).enqueue().unwrap();
        after.wait().unwrap();
        before.wait().unwrap();
        ended(late.wait());
        drop(starved(&mut a, 5).grid(1).on(&stream).deadline(SHORT).enqueue().unwrap());
        ended(stream.synchronize());
        stream.synchronize().unwrap();
        assert_eq!((a.read().unwrap(), b.read().unwrap()), (vec![0; 32], vec![1; 32]), "{device}");
    });
}

#[test]
fn a_device_s_deadline_is_for_launches_that_wait() {
    on_each_device(|device| {
        let mut out = device.zeros(32).unwrap();
        device.set_deadline(Some(SHORT));
        ended(starved(&mut out, 1).grid(1).launch(device));
        starved(&mut out, 0).grid(1).deadline(LONG).launch(device).unwrap();
        if device.is_simulator() {
            starved(&mut out, 1).grid(1).enqueue(device).unwrap();
            let error = device.synchronize().unwrap_err();
            let is_deadlock = matches!(&error, Error::Kernel(failure) if matches!(failure.cause, Cause::Deadlock(_)));
            assert!(is_deadlock, "an enqueued launch has none: {error}");
        }
        device.set_deadline(None);
        starved(&mut out, 0).grid(1).launch(device).unwrap();
    });
}

/// What waits for a late launch ends it, also if it is on another stream and waits by an event or for a buffer.
#[test]
fn whatever_waits_for_a_late_launch_ends_it() {
    on_each_device(|device| {
        let (late, other) = (device.stream().unwrap(), device.stream().unwrap());
        let (mut out, mut copy) = (device.zeros(32).unwrap(), device.zeros(32).unwrap());
        let starve = |out: &mut Buffer<u32>| starved(out, 1).grid(1).on(&late).deadline(SHORT).enqueue().unwrap();

        let handle = starve(&mut out);
        late.record().unwrap().synchronize().unwrap();
        ended(handle.wait());

        let (before, handle) = (late.record().unwrap(), starve(&mut out));
        assert!(before.elapsed(&late.record().unwrap()).unwrap() < Duration::from_secs(60), "{device}");
        ended(handle.wait());

        let handle = starve(&mut out);
        other.wait(&late.record().unwrap()).unwrap();
        starved(&mut copy, 0).grid(1).on(&other).enqueue().unwrap();
        other.synchronize().unwrap();
        ended(handle.wait());

        let handle = starve(&mut out);
        other.copy(&out, &mut copy).unwrap();
        other.record().unwrap().synchronize().unwrap();
        ended(handle.wait());

        let handle = starve(&mut out);
        other.copy(&out, &mut copy).unwrap();
        pollster::block_on(other.completion()).unwrap();
        ended(handle.wait());

        let handle = starve(&mut out);
        drop(other.download(&out, device.pinned(32).unwrap()).unwrap().wait().unwrap());
        ended(handle.wait());

        let handle = starve(&mut out);
        out.write(&[3; 32]).unwrap();
        ended(handle.wait());

        // On the default stream, for which a write waits, too.
        starved(&mut copy, 1).grid(1).deadline(SHORT).enqueue(device).unwrap();
        out.write(&[4; 32]).unwrap();
        ended(device.synchronize());
        assert_eq!(out.read().unwrap(), [4; 32], "{device}");
    });
}

/// More launches than a stream keeps in flight, behind one that does not end.
#[test]
fn launches_that_find_no_room_end_a_late_one() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let (mut a, mut b) = (device.zeros(32).unwrap(), device.zeros(32).unwrap());
        let late = starved(&mut a, 1).grid(1).on(&stream).deadline(SHORT).enqueue().unwrap();
        let launches = if device.is_simulator() { 3 } else { 1500 };
        for _ in 0..launches {
            drop(starved(&mut b, 0).grid(1).on(&stream).enqueue().unwrap());
        }
        ended(late.wait());
        assert_eq!(b.read().unwrap(), [1; 32], "{device}");
    });
}

#[test]
fn a_failure_before_the_deadline_is_as_without_one() {
    on_each_device(|device| {
        let mut out = device.zeros(32).unwrap();
        let error = fails(&mut out, 7).grid(1).deadline(LONG).launch(device).unwrap_err();
        let Error::Kernel(failure) = error else { panic!("{error}") };
        assert!(matches!(&failure.cause, Cause::Assertion(text) if text == "thread 7"), "{device}: {failure}");
        assert_eq!(failure.thread.x, 7);
    });
}

/// A GPU is busy with such a kernel until the process ends, which is therefore another one.
#[test]
fn a_kernel_that_ignores_its_deadline_is_named() {
    const IS_CHILD: &str = "PHALANX_TEST_NEVER_ENDS";
    const DONE: &str = "the stream is lost, and another goes on";
    let device = Device::auto();
    if device.is_simulator() {
        eprintln!("not run on a GPU: {device}");
        return;
    }
    if env::var_os(IS_CHILD).is_none() {
        let name = "launch::builder::tests::deadline::a_kernel_that_ignores_its_deadline_is_named";
        let mut child = Command::new(env::current_exe().unwrap());
        let output = child.args(["--exact", name, "--nocapture"]).env(IS_CHILD, "1").output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(text.contains(DONE), "{text}");
        return;
    }
    let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
    let (stop, mut out, mut free) =
        (device.zeros(1).unwrap(), device.zeros(32).unwrap(), device.zeros::<u32>(32).unwrap());
    // Loaded before the GPU is busy.
    starved(&mut free, 0).grid(1).on(&other).launch().unwrap();
    let error = never_ends(&stop, &mut out).grid(1).on(&stream).deadline(SHORT).launch().unwrap_err();
    assert!(
        matches!(&error, Error::Kernel(failure) if failure.cause == Cause::DeadlineIgnored { limit: SHORT }),
        "{error}"
    );
    assert!(stream.synchronize().unwrap_err().to_string().contains("cannot be ended"));
    assert!(matches!(starved(&mut free, 0).grid(1).on(&stream).enqueue(), Err(Error::StreamLost)));
    // Its memory is refused to other streams, and other memory is not.
    assert!(matches!(starved(&mut out, 0).grid(1).on(&other).enqueue(), Err(Error::StreamLost)));
    assert!(out.read().is_err());
    starved(&mut free, 0).grid(1).on(&other).launch().unwrap();
    println!("{DONE}");
    // Nothing is dropped, and the driver is not asked to end the context.
    process::abort();
}

#[test]
fn without_a_deadline_the_simulator_says_deadlock() {
    let mut out = Device::simulator().zeros(32).unwrap();
    let error = starved(&mut out, 1).grid(1).launch(&Device::simulator()).unwrap_err();
    assert!(matches!(&error, Error::Kernel(failure) if matches!(failure.cause, Cause::Deadlock(_))), "{error}");
}

#[test]
fn a_graph_has_no_deadlines() {
    on_each_device(|device| {
        let mut out = device.zeros(32).unwrap();
        let launch = |stream: &_| starved(&mut out, 0).grid(1).deadline(LONG).on(stream).enqueue().map(drop);
        let error = device.capture(launch).unwrap_err();
        assert!(matches!(error, Error::Launch { reason: LaunchError::DeadlineInGraph, .. }), "{error}");
    });
}

#[test]
fn every_wait_compiles_with_a_deadline() {
    fn compiled<K: Function>() -> Vec<u8> {
        Program::of::<K>().unwrap().compile_with_deadline("sm_90a").unwrap()
    }
    if !nvrtc::is_present() {
        eprintln!("skipped: no NVRTC");
        return;
    }
    let all = [compiled::<all_waits>(), compiled::<starved>(), compiled::<one_spins>(), compiled::<fails>()];
    assert!(all.iter().all(|cubin| cubin.starts_with(b"\x7fELF")));
    on_each_device(|device| {
        let mut flags = device.zeros(64).unwrap();
        let launch: Launch<'_> = all_waits(&mut flags, 70).grid(4).deadline(LONG);
        launch.launch(device).unwrap();
        let counts = flags.read().unwrap();
        assert!(counts[63] >= 4 * 64, "{device}: {counts:?}");
    });
}
