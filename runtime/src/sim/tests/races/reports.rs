//! The reports of races: which bytes each access covers, and what they found there.

use super::*;
use crate::kernel::copy::bulk_copy_to_global;
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
