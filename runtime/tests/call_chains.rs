//! Reports name the user's line, and the calls of device functions that led there.

use phalanx::prelude::*;
use phalanx::{Cause, Error, Failure, Location, Result};

/// Returns the only line of this file that ends with this comment.
fn line(name: &str) -> u32 {
    let comment = format!("// {name}");
    let found: Vec<u32> = (1..)
        .zip(include_str!("call_chains.rs").lines())
        .filter(|(_, text)| text.ends_with(&comment))
        .map(|(line, _)| line)
        .collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

fn lines(locations: &[Location]) -> Vec<u32> {
    assert!(locations.iter().all(|location| location.file == file!()), "{locations:?}");
    locations.iter().map(|location| location.line).collect()
}

#[track_caller]
fn failure(launch: impl Fn(&Device) -> Result<()>) -> Box<Failure> {
    match launch(&Device::simulator()) {
        Err(Error::Kernel(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

#[device]
fn element(data: &[u32], index: u32) -> u32 {
    data[index] // element
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Table {
    offset: u32,
}

#[device]
impl Table {
    fn at(self, data: &[u32], index: u32) -> u32 {
        element(data, self.offset + index) // method
    }
}

#[device]
trait Lookup {
    fn look_up(self, data: &[u32]) -> u32;
}

#[device]
impl Lookup for Table {
    fn look_up(self, data: &[u32]) -> u32 {
        self.at(data, 1) // trait
    }
}

#[cluster_kernel(block = 1)]
fn sums(data: &[u32], out: &mut [u32], offset: u32) {
    let first = element(data, 0);
    let table = Table { offset };
    out[0] = first + table.look_up(data); // kernel
}

#[test]
fn a_failure_names_the_calls() {
    let launch = |offset: u32| {
        move |device: &Device| {
            let data = device.upload(&[1, 2, 3])?;
            sums(&data, &mut device.zeros(1)?, offset).grid(1).launch(device)
        }
    };
    launch(1)(&Device::simulator()).unwrap();
    let failure = failure(launch(2));
    assert_eq!(failure.cause, Cause::IndexOutOfBounds { index: 3, length: 3 });
    assert_eq!(failure.location.as_ref().map(|location| location.line), Some(line("element")));
    // The first call has ended.
    assert_eq!(lines(&failure.calls), [line("method"), line("trait"), line("kernel")]);
    let text = failure.to_string();
    let called: Vec<_> = failure.calls.iter().map(|call| text.find(&format!("called from {call}"))).collect();
    assert!(called.is_sorted() && called.iter().all(Option::is_some), "{text}");
}

/// The checks follow no index that an argument decides.
#[device]
fn exchange(staged: &SharedArray<u32, 64>, i: u32, last: u32) {
    staged[i ^ 1] = staged[last - i]; // race
}

#[cluster_kernel(block = 64)]
fn races(out: &mut [u32], last: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let staged = shared_array::<u32, 64>();
    staged[i] = i;
    block.sync();
    exchange(&staged, i, last); // of the race
    block.sync();
    out[i] = staged[i];
}

#[test]
fn a_race_names_the_calls() {
    let failure = failure(|device| races(&mut device.zeros(64)?, 63).grid(1).launch(device));
    assert!(matches!(failure.cause, Cause::Race(_)), "{failure}");
    assert_eq!(lines(&failure.calls), [line("of the race")]);
    assert!(failure.to_string().contains("called from"), "{failure}");
}

#[device]
fn await_flag(flags: &mut [u32], index: u32) {
    while flags.atomic(index).load(Acquire) == 0 {} // poll
}

#[cluster_kernel(block = 2)]
fn nobody_raises(flags: &mut [u32]) {
    if this_thread_block().thread_rank() == 0 {
        await_flag(flags, 0); // first flag
    } else {
        await_flag(flags, 1); // second flag
    }
}

#[test]
fn a_deadlock_names_the_calls() {
    let failure = failure(|device| nobody_raises(&mut device.zeros(2)?).grid(1).launch(device));
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    let calls: Vec<_> = waiting.iter().map(|group| lines(&group.calls)).collect();
    assert_eq!(calls, [[line("first flag")], [line("second flag")]]);
    assert!(waiting.iter().all(|group| group.location.as_ref().is_some_and(|at| at.line == line("poll"))), "{failure}");
    assert!(failure.to_string().contains(&format!("called from {}:{}", file!(), line("second flag"))), "{failure}");
}

#[cluster_kernel(block = 64, unchecked(ring_deadlock))]
fn nobody_produces(out: &mut [u32]) {
    let block = this_thread_block();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 64);
    let mut pipeline = Pipeline::<2>::new();
    let stage = pipeline.consumer_wait(&full); // pipeline
    out[block.thread_rank()] = stage;
    pipeline.consumer_release(&empty);
}

/// The methods of `Pipeline` are device functions of the library, whose lines say nothing to its users.
#[test]
fn a_deadlock_in_a_pipeline_names_the_line_of_the_kernel() {
    let launch = |device: &Device| {
        let mut out = device.zeros(64)?;
        // SAFETY: in the simulator, a wait that never ends is an error.
        unsafe { nobody_produces(&mut out) }.grid(1).launch(device)
    };
    let failure = failure(launch);
    let Cause::Deadlock(waiting) = &failure.cause else { panic!("{failure}") };
    let at = |location: &Option<Location>| location.as_ref().map(|at| (at.file.clone(), at.line));
    let here = Some((file!().to_owned(), line("pipeline")));
    assert_eq!((at(&failure.location), at(&waiting[0].location)), (here.clone(), here));
    assert!(failure.calls.is_empty() && waiting[0].calls.is_empty(), "{failure}");
    assert!(!failure.to_string().contains("pipeline.rs"), "{failure}");
}
