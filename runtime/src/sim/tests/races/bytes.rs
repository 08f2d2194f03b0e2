//! Tests of which accesses overlap, and which overlapping accesses do not race.

use super::*;
use crate::sim::WarningCollector;

#[test]
fn bytes_and_values() {
    let mut dynamic = shape(1, 1, 64);
    dynamic.dynamic_shared_bytes = 256;
    let cases = [
        Case {
            name: "same_value",
            shape: shape(2, 1, 64),
            kernel: |ordered, words| {
                store(words, 1, if ordered { 7 } else { me() as u32 }); // same_value
            },
        },
        Case {
            name: "change_in_place",
            shape: shape(2, 2, 64),
            kernel: |ordered, words| {
                if ordered {
                    atomic(words, 1).fetch_add(1, Relaxed);
                } else {
                    update(words, 1, 1, |old, one| old + one); // change_in_place
                }
            },
        },
        Case {
            name: "neighbour_bytes",
            shape: dynamic,
            kernel: |ordered, _| {
                let (bytes, words) =
                    (dynamic_shared_slice::<u8>(0_u32, 64_u32), dynamic_shared_slice::<u32>(0_u32, 16_u32));
                if ordered || me() % 4 == 3 {
                    store(&bytes, me(), me() as u8); // neighbour_bytes
                } else if me().is_multiple_of(4) {
                    store(&words, me() / 4, 0x0102_0304); // neighbour_bytes
                }
            },
        },
        Case {
            name: "of_a_peer",
            shape: shape(4, 4, 64),
            kernel: |ordered, _| {
                let (cluster, rank) = (this_cluster(), this_thread_block().thread_rank());
                let array = shared_array::<u32, 64>();
                store(&array, rank, rank);
                cluster.sync();
                let next = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4);
                load(&next, rank); // of_a_peer
                if ordered {
                    cluster.sync();
                }
                store(&array, rank, 99); // of_a_peer
                cluster.sync();
            },
        },
    ];
    check(include_str!("bytes.rs"), &cases);
}

/// Bytes that a loop's iterations write in turn race if the loop lacks its barrier.
#[test]
fn rounds() {
    let cases = [Case {
        name: "turns",
        shape: shape(1, 1, 64),
        kernel: |ordered, words| {
            for round in 0..6 {
                if me() == round {
                    update(words, 1, 1, |old, one| old + one); // turns
                }
                if ordered || round != 3 {
                    this_thread_block().sync();
                }
            }
        },
    }];
    check(include_str!("bytes.rs"), &cases);
}

#[test]
fn equal_writes_race_if_asked_for() {
    let outcome = |strict, ordered| {
        let memory = GlobalMemory::zeros(4);
        let words = Words::new(&memory);
        let body = || match ordered {
            false => store(&words, 0, 1),
            true => atomic(&words, 0).store(1, Relaxed),
        };
        let warnings = WarningCollector::default();
        let simulator = Simulator::new().equal_writes_race(strict).warning(&warnings);
        let outcome = run("test", &shape(1, 1, 2), &simulator, &body).1.map_err(|failure| race(*failure).bytes);
        assert_eq!(warnings.take().count(), 0);
        outcome
    };
    assert_eq!(outcome(false, false), Ok(()));
    assert_eq!(outcome(true, false), Err(0..4));
    assert_eq!(outcome(true, true), Ok(()), "atomics are ordered by themselves");
}

/// Clusters that run in parallel write behind their checks: what another one is about to write counts as written.
#[test]
fn equal_writes_of_clusters_pass_however_they_meet() {
    let memory = GlobalMemory::zeros(4096);
    let words = Words::new(&memory);
    for round in 1..=100 {
        let body = || (0..16).for_each(|k| store(&words, k * 64 + me() % 64, round));
        let simulator = Simulator::new().equal_writes_race(false);
        run("test", &shape(8, 1, 64), &simulator, &body).1.unwrap();
    }
    let body = || store(&words, me() % 64, this_grid().block_rank() as u32);
    let failure = run("test", &shape(8, 1, 64), &Simulator::new(), &body).1.unwrap_err();
    assert!(matches!(failure.cause, Cause::Race(_)), "{failure}");
}

/// By default the launch goes on, and each pair of places is reported once, whatever threads and elements it concerns.
#[test]
fn equal_writes_are_a_warning() {
    for schedule in SCHEDULES {
        let warnings = WarningCollector::default();
        let memory = GlobalMemory::zeros(256);
        let words = Words::new(&memory);
        let body = || {
            let array = shared_array::<u32, 4>();
            for at in 0..4 {
                store(&array, at, 5); // in a loop, by all threads
            }
            store(&words, 3, 8);
            if me() == 70 {
                atomic(&words, 9).fetch_add(1, Relaxed);
            }
            this_thread_block().sync();
            store(&words, 3, 8); // ordered with the first in the same block only
        };
        let simulator = Simulator::new().schedule(schedule.clone()).warning(&warnings);
        run("test", &shape(2, 1, 64), &simulator, &body).1.unwrap();
        let found: Vec<_> = warnings.take().collect();
        let shared = |race: &&Race| matches!(race.memory, RaceMemory::Shared { .. });
        assert_eq!(found.iter().filter(shared).count(), 1, "{schedule}: {found:?}");
        let global: Vec<_> = found.iter().filter(|race| !shared(race)).collect();
        assert!((1..=3).contains(&global.len()), "{schedule}: {found:?}");
        assert!(global.iter().all(|race| race.bytes == (12..16) && race.first.value == race.second.value));
        assert_eq!(warnings.take().count(), 0);
    }
}

/// A write of another value among equal ones still ends the launch.
#[test]
fn one_of_many_writes_differs() {
    let memory = GlobalMemory::zeros(4);
    let words = Words::new(&memory);
    let body = || store(&words, 0, u32::from(me() != 40));
    let failure = *run("test", &shape(1, 1, 64), &Simulator::new(), &body).1.unwrap_err();
    assert_eq!(race(failure).second.thread, at(40));
}
