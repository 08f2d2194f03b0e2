//! Data races: for each way in which something orders, a kernel that relies on it, and a neighbour that does not. The
//! neighbour is reported with both of its sites, under every schedule. Accesses of a case stand on lines that end with
//! its name as a comment; those of a macro are where it is called.

mod atomics;
mod barriers;
mod bytes;
mod fences;
mod reports;

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::{at, shape};
use crate::kernel::group::{Tile, this_cluster, this_grid, this_thread_block, tiled_partition};
use crate::kernel::intrinsics::tick;
use crate::kernel::memory::{
    Global, GlobalMemory, GlobalMut, atomic, dynamic_shared_slice, fence, load, shared_array, store, update,
};
use crate::report::failure::{Cause, Failure};
use crate::report::race::{AccessKind, Race, RaceMemory};
use crate::schedule::Schedule;
use crate::scope::Scope;
use crate::shape::Shape;
use crate::sim::{Simulator, run, run_together};

type Words<'a> = GlobalMut<'a, u32>;

const SCHEDULES: [Schedule; 5] = [
    Schedule::RoundRobin,
    Schedule::Random { seed: 0 },
    Schedule::Random { seed: 1 },
    Schedule::Random { seed: 0xfeed },
    Schedule::Lockstep { seed: 0 },
];

struct Case {
    name: &'static str,
    shape: Shape,
    /// The kernel, which is told whether to order its accesses.
    kernel: fn(bool, &Words<'_>),
}

impl Case {
    fn run(&self, schedule: Schedule, ordered: bool) -> Option<Failure> {
        let simulator = Simulator::new().schedule(schedule).step_limit(1 << 20);
        let memory = GlobalMemory::zeros(256);
        let words = Words::new(&memory);
        let run = if self.name.starts_with("grid") { run_together } else { run };
        run("test", &self.shape, &simulator, &|| (self.kernel)(ordered, &words)).1.err().map(|failure| *failure)
    }

    /// Returns the lines of the case's accesses in its file.
    fn lines(&self, source: &str) -> Vec<u32> {
        let (comment, call) = (format!("// {}", self.name), format!("! {{ \"{}\",", self.name));
        let is_one = |text: &str| text.ends_with(&comment) || text.contains(&call);
        (1..).zip(source.lines()).filter(|(_, text)| is_one(text)).map(|(line, _)| line).collect()
    }
}

fn race(failure: Failure) -> Race {
    match failure.cause {
        Cause::Race(race) => *race,
        other => panic!("{other}"),
    }
}

/// Checks the cases of the file `source`.
fn check(source: &str, cases: &[Case]) {
    for case in cases {
        for schedule in SCHEDULES {
            if let Some(failure) = case.run(schedule.clone(), true) {
                panic!("{}, ordered, {schedule:?}: {failure}", case.name);
            }
            let Some(failure) = case.run(schedule.clone(), false) else {
                panic!("{}, {schedule:?}: no race", case.name);
            };
            assert!(failure.to_string().contains("data race: "), "{failure}");
            let found = race(failure);
            let mut lines = vec![found.first.location.line, found.second.location.line];
            lines.sort();
            lines.dedup();
            assert_eq!(lines, case.lines(source), "{}, {schedule:?}: {found}", case.name);
        }
    }
}

/// Returns the thread's number in the grid, if blocks have 64.
fn me() -> usize {
    this_grid().thread_rank()
}

#[test]
fn a_report_has_both_sides() {
    let memory = GlobalMemory::zeros(256);
    let words = GlobalMut::<f32>::new(&memory);
    let body = || {
        let array = shared_array::<f32, 64>();
        if me() == 65 {
            store(&array, 3, 1.5);
        } else if me() == 70 {
            store(&array, 3, 2.5);
        }
        store(&words, 60 * this_grid().block_rank(), 0.0);
    };
    let failure = *run("test", &shape(2, 2, 64), &Simulator::new(), &body).1.unwrap_err();
    let text = failure.to_string();
    let found = race(failure.clone());
    assert_eq!((failure.block, failure.thread), (at(1), at(6)));
    assert_eq!((found.first.block, found.first.thread, found.first.value_text()), (at(1), at(1), "1.5".into()));
    assert_eq!((found.second.block, found.second.thread, found.second.value_text()), (at(1), at(6), "2.5".into()));
    assert_eq!(
        (found.first.kind, found.second.kind, found.bytes.clone()),
        (AccessKind::Write, AccessKind::Write, 12..16)
    );
    assert!(matches!(&found.memory, RaceMemory::Shared { declared: Some(_), block } if *block == at(1)));
    // The report is shown as rustc does, since this file is available: both lines, with what they did.
    let here = std::path::Path::new("..").join(file!()).exists();
    for part in [
        "data race: bytes 12..16 (element 3) of the shared array at ",
        "store(&array, 3, 2.5);",
        "^^^^^^^^^^^^^^^^^^^^^ write of 2.5 by block (1,0,0) thread (6,0,0)",
        "--------------------- write of 1.5 by block (1,0,0) thread (1,0,0)",
        "a `sync()` of their tile or block between them would order them",
        "set PHALANX_SCHEDULE=round-robin in the environment to replay this",
    ] {
        assert!(text.contains(part) || !here, "{part}: {text}");
    }
    let data = serde_json::to_value(&failure).unwrap();
    assert_eq!((&data["kernel"], &data["schedule"]), (&"test".into(), &"round-robin".into()));
    assert_eq!(data["cause"]["Race"]["second"]["location"]["line"], found.second.location.line);
    let sentence = failure.cause.to_string();
    assert!(
        sentence
            .starts_with("data race: write of 2.5 by block (1,0,0) thread (6,0,0) is not ordered with write of 1.5"),
        "{sentence}"
    );
    assert!(found.help.contains("`sync()` of their tile or block"), "{}", found.help);
    // Nothing is found if races are not detected.
    run("test", &shape(2, 2, 64), &Simulator::new().races(false), &body).1.unwrap();
}

/// Memory that a launch only reads is not tracked, unless it is part of what the launch writes.
#[test]
fn read_only_memory() {
    let memory = GlobalMemory::zeros(256);
    let words = Words::new(&memory);
    let read: Global<'_, u32> = words.into();
    let body = || {
        load(&read, 0);
        if me() == 5 {
            store(&words, 0, 1);
        }
    };
    let failure = *run("test", &shape(1, 1, 64), &Simulator::new(), &body).1.unwrap_err();
    assert_eq!(race(failure).first.kind, AccessKind::Read);
}
