//! The reports of races: which bytes each access covers, and what they found there.

use phalanx_contract::fence::Fence;

use super::*;
use crate::kernel::copy::bulk_copy_to_global;
use crate::kernel::group::with_fence;
use crate::report::race::RaceAccess;

/// Returns the race that a kernel ends with under each schedule.
fn races(shape: Shape, body: impl Fn(&Words<'_>) + Send + Sync) -> Vec<Race> {
    let of = |schedule| {
        let memory = GlobalMemory::zeros(256);
        let words = Words::new(&memory);
        let simulator = Simulator::new().schedule(schedule);
        race(*run("test", &shape, &simulator, &|| body(&words)).1.expect_err("a race"))
    };
    SCHEDULES.into_iter().map(of).collect()
}

fn of(access: &RaceAccess) -> (bool, std::ops::Range<usize>, u32, String) {
    (access.by_copy, access.bytes.clone(), access.thread.x, access.value_text())
}

/// The shared array is written and, before that is ordered, copied by another thread: the write has the size of an element,
/// and the copy that of the array.
#[test]
fn a_copy_and_a_smaller_access() {
    let body = |words: &Words<'_>| {
        let (array, block) = (shared_array::<u32, 64>(), this_thread_block());
        store(&array, me(), 1);
        block.sync();
        if me() == 5 {
            store(&array, 7, 9);
        }
        if me() == 0 {
            bulk_copy_to_global(words, &array);
            crate::kernel::copy::bulk_wait_group::<0>();
        }
    };
    for race in races(shape(1, 1, 64), body) {
        assert_eq!((race.bytes.clone(), race.elements.clone()), (28..32, Some(7..8)), "{race}");
        let (write, copy) = if race.first.by_copy { (&race.second, &race.first) } else { (&race.first, &race.second) };
        assert_eq!(of(write), (false, 28..32, 5, "9".into()));
        assert_eq!(of(copy), (true, 0..256, 0, "256 bytes".into()));
        let text = race.to_string();
        assert!(text.contains("read of 256 bytes in bytes 0..256 by a copy of block (0,0,0) thread (0,0,0)"), "{text}");
        assert!(text.contains("write of 9 by block (0,0,0) thread (5,0,0)"), "{text}");
    }
}

/// A word and a byte of it: both are reported as they are, and the race is about the byte.
#[test]
fn accesses_of_different_sizes() {
    let mut dynamic = shape(1, 1, 64);
    dynamic.dynamic_shared_bytes = 256;
    let body = |_: &Words<'_>| {
        let (bytes, words) = (dynamic_shared_slice::<u8>(0_u32, 64_u32), dynamic_shared_slice::<u32>(0_u32, 16_u32));
        match me() {
            3 => store(&words, 2, 0x0403_0201),
            40 => store(&bytes, 10, 7),
            _ => {}
        }
    };
    for race in races(dynamic, body) {
        assert_eq!((race.bytes.clone(), race.elements.clone()), (10..11, None), "{race}");
        let mut sides = [of(&race.first), of(&race.second)];
        sides.sort_by_key(|side| side.2);
        assert_eq!((sides[0].1.clone(), sides[1].1.clone()), (8..12, 10..11), "{race}");
    }
}

/// The value of a plain write that an atomic has replaced by the time of the report.
#[test]
fn the_value_before_an_atomic() {
    let body = |words: &Words<'_>| match me() {
        3 => store(words, 1, 7),
        40 => {
            atomic(words, 1).fetch_add(1, Relaxed);
        }
        _ => {}
    };
    for race in races(shape(1, 1, 64), body) {
        assert_eq!(race.bytes, 4..8);
        if race.second.kind == AccessKind::AtomicWrite {
            assert_eq!((race.first.value_text(), race.second.value_text()), ("7".into(), "8".into()));
        }
    }
}

/// Returns the line of this file that ends with this comment.
fn line(name: &str) -> u32 {
    let comment = format!("// {name}");
    let found = (1..).zip(include_str!("reports.rs").lines()).find(|(_, text)| text.ends_with(&comment));
    found.expect("the comment").0
}

/// Checks that the report of each race names the synchronization at the line of this name, and its remedy.
fn names_the_weak(name: &str, remedy: &str, shape: Shape, body: impl Fn(&Words<'_>) + Send + Sync) {
    for race in races(shape, body) {
        let weak = race.weak.as_ref().unwrap_or_else(|| panic!("{name}: {race}"));
        assert_eq!(weak.location.line, line(name), "{race}");
        assert!(weak.help.contains(remedy) && race.to_string().contains(&weak.help), "{race}");
    }
}

#[test]
fn a_weak_arrival_between_the_accesses() {
    names_the_weak("relaxed_arrival", "`barrier_arrive()` in place of", shape(2, 2, 64), |words| {
        let cluster = this_cluster();
        if me() == 3 {
            store(words, 1, 7);
        }
        let token = cluster.barrier_arrive_relaxed(); // relaxed_arrival
        cluster.barrier_wait(token);
        if me() == 100 {
            store(words, 1, 8);
        }
    });
    names_the_weak("shared_fence", "fence = \"full\"", shape(2, 2, 64), |words| {
        if me() == 3 {
            store(words, 1, 7);
        }
        with_fence(Fence::Shared, || this_cluster().sync()); // shared_fence
        if me() == 100 {
            store(words, 1, 8);
        }
    });
}

/// An access after the arrival is not one that a stronger arrival would have ordered.
#[test]
fn an_arrival_before_both_accesses_is_not_named() {
    let body = |words: &Words<'_>| {
        let cluster = this_cluster();
        let token = cluster.barrier_arrive_relaxed();
        cluster.barrier_wait(token);
        if me() == 3 || me() == 100 {
            store(words, 1, me() as u32);
        }
    };
    races(shape(2, 2, 64), body).into_iter().for_each(|race| assert_eq!(race.weak, None));
}

#[test]
fn a_narrow_scope_between_the_accesses() {
    let wait = |words: &Words<'_>| {
        while atomic(words, 0).load(Relaxed) == 0 {
            tick();
        }
    };
    names_the_weak("narrow_release", "`Scope::Cluster`", shape(2, 2, 64), |words| match me() {
        3 => {
            store(words, 1, 7);
            fence(Release, Scope::Block); // narrow_release
            atomic(words, 0).store(1, Relaxed);
        }
        100 => {
            wait(words);
            fence(Acquire, Scope::Cluster);
            load(words, 1);
        }
        _ => {}
    });
    names_the_weak("narrow_acquire", "`Scope::Device`", shape(4, 2, 64), |words| match me() {
        3 => {
            store(words, 1, 7);
            fence(Release, Scope::Device);
            atomic(words, 0).store(1, Relaxed);
        }
        200 => {
            wait(words);
            fence(Acquire, Scope::Cluster); // narrow_acquire
            load(words, 1);
        }
        _ => {}
    });
}

/// Under round robin, clusters run in parallel: if they depend on each other, no schedule is promised to replay it.
#[test]
fn a_replay_is_promised_where_it_is_exact() {
    let schedule = |clusters: u32, schedule: Schedule, body: fn(&Words<'_>)| {
        let memory = GlobalMemory::zeros(1 << 12);
        let words = Words::new(&memory);
        let simulator = Simulator::new().schedule(schedule);
        let failure = *run("test", &shape(clusters, 1, 64), &simulator, &|| body(&words)).1.expect_err("a failure");
        assert_eq!(failure.to_string().contains("to replay this"), failure.schedule.is_some(), "{failure}");
        failure.schedule
    };
    let inside: fn(&Words<'_>) = |words| store(words, me() / 64, me() as u32);
    let between: fn(&Words<'_>) = |words| store(words, me() % 64, me() as u32);
    let through_atomics: fn(&Words<'_>) = |words| {
        atomic(words, 500).fetch_add(1, Relaxed);
        store(words, me() / 64, me() as u32);
    };
    let random = Schedule::Random { seed: 1 };
    for (body, exact) in [(inside, true), (between, false), (through_atomics, false)] {
        assert_eq!(schedule(4, random.clone(), body), Some(random.clone()));
        assert_eq!(schedule(4, Schedule::RoundRobin, body), exact.then_some(Schedule::RoundRobin));
    }
    assert_eq!(schedule(1, Schedule::RoundRobin, through_atomics), Some(Schedule::RoundRobin));
}
