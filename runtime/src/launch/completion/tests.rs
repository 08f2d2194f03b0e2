//! Futures of work on every device that this machine has, polled by an executor of one thread.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Wake;
use std::time::Instant;

use super::*;
use crate::launch::Device;
use crate::launch::on_each_device::on_each_device;
use crate::report::error::Error;
use crate::report::failure::Cause;

mod kernels {
    use crate::prelude::*;

    /// Takes a time in proportion to `rounds`, and fails for a divisor of 0.
    #[cluster_kernel(block = 32)]
    pub(super) fn busy(out: &mut [u32], rounds: u32, divisor: u32) {
        let i = this_grid().thread_rank();
        let mut value = out[i];
        for _ in 0..rounds {
            value = value * 1_664_525 + 1_013_904_223;
        }
        out[i] = value / divisor;
    }

    /// Waits for an arrival that never comes.
    #[cluster_kernel(block = 32)]
    pub(super) fn starved(out: &mut [u32], missing: u32) {
        let (block, bar) = (this_thread_block(), shared_barrier());
        bar.init_collective(&block, block.num_threads() + missing);
        let token = bar.arrive();
        bar.wait(token);
        out[this_grid().thread_rank()] = 1;
    }

    #[cluster_kernel(block = 1)]
    pub(super) fn say(what: u32) {
        println!("{what}");
    }
}
use kernels::*;

/// Rounds of `busy` for a few milliseconds of a GPU.
const LONG: u32 = 1 << 20;

/// Returns a number of rounds that the device does not end at once, if it is a GPU.
fn long(device: &Device) -> u32 {
    if device.is_simulator() { 4 } else { LONG }
}

/// Polls all of them until each is ready.
async fn all<T: Unpin>(mut futures: Vec<Completion<T>>) -> Vec<Result<T>> {
    let mut results: Vec<Option<Result<T>>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, result) in futures.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(ready) = Pin::new(future).poll(context)
            {
                *result = Some(ready);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}

fn is_division_by_zero<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Kernel(failure)) if matches!(failure.cause, Cause::DivisionByZero { .. }))
}

#[test]
fn each_launch_has_its_own_end_and_failure() {
    on_each_device(|device| {
        let streams: Vec<Stream> = (0..4).map(|_| device.stream().unwrap()).collect();
        let mut buffers: Vec<_> = (0..40).map(|_| device.zeros::<u32>(32).unwrap()).collect();
        let launches = buffers.iter_mut().enumerate().map(|(at, buffer)| {
            let rounds = if at % 3 == 0 { long(device) / 4 } else { 1 };
            let launch = busy(buffer, rounds, u32::from(at % 5 != 2)).grid(1).on(&streams[at % 4]);
            launch.enqueue().unwrap().into_future()
        });
        let results = pollster::block_on(all(launches.collect()));
        for (at, result) in results.into_iter().enumerate() {
            assert_eq!(is_division_by_zero(result), at % 5 == 2, "{device}, launch {at}");
        }
        streams.iter().for_each(|stream| stream.synchronize().unwrap());
    });
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn who_polled_last_is_woken() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeros(32).unwrap();
        let launch = busy(&mut out, long(device), 1).grid(1).on(&stream).enqueue().unwrap();
        let mut future = pin!(launch.into_future());
        let (first, second) = (Arc::<Woken>::default(), Arc::<Woken>::default());
        let mut poll = |woken: &Arc<Woken>| {
            let waker = Waker::from(woken.clone());
            future.as_mut().poll(&mut Context::from_waker(&waker))
        };
        if device.is_simulator() {
            assert!(matches!(poll(&first), Poll::Ready(Ok(()))));
            return;
        }
        assert!(poll(&first).is_pending() && poll(&second).is_pending(), "the launch takes milliseconds");
        let begun = Instant::now();
        while second.0.load(Ordering::SeqCst) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(10), "nobody was woken");
            thread::yield_now();
        }
        assert!(matches!(poll(&second), Poll::Ready(Ok(()))));
        assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (0, 1));
    });
}

#[test]
fn a_future_that_is_dropped_leaves_the_failure_to_the_stream() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut out = device.zeros(32).unwrap();
        let launch = busy(&mut out, long(device), 0).grid(1).on(&stream).enqueue().unwrap();
        let mut future = launch.into_future();
        // In the simulator, the first poll has the result.
        if !device.is_simulator() {
            assert!(Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        drop(future);
        assert!(is_division_by_zero(pollster::block_on(stream.completion())), "{device}");
        pollster::block_on(stream.completion()).unwrap();
        // The handle's failure is its own.
        let kept = busy(&mut out, 1, 0).grid(1).on(&stream).enqueue().unwrap();
        pollster::block_on(stream.completion()).unwrap();
        assert!(is_division_by_zero(pollster::block_on(kept.into_future())), "{device}");
    });
}

#[test]
fn a_copy_gives_its_memory_or_the_failure_before_it() {
    on_each_device(|device| {
        let stream = device.stream().unwrap();
        let mut values = device.upload(&[7; 32]).unwrap();
        pollster::block_on(async {
            busy(&mut values, 0, 7).grid(1).on(&stream).enqueue().unwrap();
            let host = stream.download(&values, device.pinned(32).unwrap()).unwrap().await.unwrap();
            assert_eq!(host[..], [1; 32], "{device}");
            let host = stream.upload(host, &mut values).unwrap().await.unwrap();
            drop(busy(&mut values, 0, 0).grid(1).on(&stream).enqueue().unwrap());
            assert!(is_division_by_zero(stream.download(&values, host).unwrap().await), "{device}");
        });
    });
}

#[test]
fn a_launch_is_ended_at_its_deadline_while_nobody_waits_for_it() {
    on_each_device(|device| {
        let (stream, other) = (device.stream().unwrap(), device.stream().unwrap());
        let (mut a, mut b) = (device.zeros(32).unwrap(), device.zeros(32).unwrap());
        let limit = Duration::from_millis(50);
        let late = starved(&mut a, 1).grid(1).deadline(limit).on(&stream).enqueue().unwrap();
        let works = starved(&mut b, 0).grid(1).on(&other).enqueue().unwrap();
        let results = pollster::block_on(all(vec![late.into_future(), works.into_future()]));
        let Err(Error::Kernel(failure)) = &results[0] else { panic!("{device}: {results:?}") };
        assert!(matches!(failure.cause, Cause::Deadline { .. }), "{failure}");
        assert!(results[1].is_ok(), "{device}");
        assert_eq!(b.read().unwrap(), [1; 32]);
    });
}

#[test]
fn what_was_printed_comes_first_and_a_capture_has_no_end() {
    on_each_device(|device| {
        let text = Arc::new(Mutex::new(String::new()));
        let stream = device.stream().unwrap();
        let sink = text.clone();
        device.on_print(move |line| lock(&sink).push_str(line));
        for what in 1..4 {
            pollster::block_on(say(what).grid(1).on(&stream).enqueue().unwrap().into_future()).unwrap();
            assert!(lock(&text).ends_with(&format!("{what}\n")), "{device}: {text:?}");
        }
        let error = device.capture(|stream| pollster::block_on(stream.completion())).unwrap_err();
        assert!(matches!(error, Error::Graph(GraphError::Waits)), "{device}: {error}");
    });
}
