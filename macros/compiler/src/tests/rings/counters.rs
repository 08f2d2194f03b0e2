//! Which counters without bounds are followed, and which are not.

use super::cases::family;
use super::kernels::{EMPTY, FULL, TILE};
use super::words::{WithRole, Word, arrive, copy, done, expect, read, skeleton, wait};
use crate::rings::check;

/// Returns the verdict on a persistent ring of two stages, whose index and parities are expressions over the counter `it` of all
/// rounds, and whose producer waits if `waits` holds.
fn persistent(index: &str, parity: &str, waits: &str, before: &str) -> &'static str {
    let set = |value: &str| Word::Let(vec![("it", value.into())]);
    let next = [set("it+1"), Word::Next];
    let empty = Word::When(waits.into(), vec![wait(EMPTY, index, before)]);
    let own = [empty, expect(FULL, index, 8), copy(TILE, index, FULL, 8), arrive(FULL, index)];
    let using = [wait(FULL, index, parity), read(TILE, index), done(TILE, index), arrive(EMPTY, index)];
    let tiles = |steps: &[Word]| {
        let parts = Word::Loop("k", false, [steps, &next].concat());
        [set("0"), Word::Loop("t", false, vec![parts])]
    };
    let ring = skeleton(1, &[(2, 1), (2, 128)], &[(2, 1)]).role(1, &tiles(&own)).role(128, &tiles(&using));
    family(&check(&ring, 200_000))
}

#[test]
fn a_counter_of_all_rounds_is_followed() {
    assert_eq!(persistent("it%2", "it//2%2", "1", "1-it//2%2"), "proved");
    assert_eq!(persistent("it&1", "it//2&1", "1", "(it//2&1)^1"), "proved");
}

#[test]
fn a_prologue_without_waits_is_followed() {
    assert_eq!(persistent("it%2", "it//2%2", "1<it", "(it//2+1)%2"), "proved");
    assert_eq!(persistent("it%2", "it//2%2", "2<it", "(it//2+1)%2"), "overwrite");
}

#[test]
fn a_value_that_only_seems_to_repeat_is_not_followed() {
    assert_ne!(persistent("it%2+it//3000", "it//2%2", "1", "1-it//2%2"), "proved");
    assert_ne!(persistent("it%2", "(it//2+it//900)%2", "1", "1-it//2%2"), "proved");
}

/// A counter that is set from a sum of others, which count the rounds since it was set.
#[test]
fn a_sum_of_counters_is_followed() {
    let verdict = |more: &str, since: &str| {
        let set = |counter: &'static str, value: &str| Word::Let(vec![(counter, value.into())]);
        let (i, parity) = ("it%2", "it//2%2");
        let empty = wait(EMPTY, i, &format!("1-{parity}"));
        let own = [empty, expect(FULL, i, 8), copy(TILE, i, FULL, 8), arrive(FULL, i), set("it", "it+1"), Word::Next];
        let (i, parity) = ("(it+p)%2", "(it+p)//2%2");
        let behind = Word::When("2<p".into(), vec![set("it", more), set("p", since)]);
        let using = [wait(FULL, i, parity), read(TILE, i), done(TILE, i), arrive(EMPTY, i), set("p", "p+1"), behind];
        let rounds = |steps: &[Word]| vec![set("it", "0"), Word::Loop("k", false, steps.to_vec())];
        let using = [&using[..], &[Word::Next]].concat();
        let ring = skeleton(1, &[(2, 1), (2, 128)], &[(2, 1)]);
        family(&check(&ring.role(1, &rounds(&own)).role(128, &rounds(&using)), 200_000))
    };
    assert_eq!(verdict("it+p", "0"), "proved");
    for (more, since) in [("it+p+1", "0"), ("it+p+2-1", "0"), ("it", "0"), ("p", "0"), ("it+p", "1"), ("it+2*p", "0")] {
        assert_ne!(verdict(more, since), "proved", "{more}");
    }
}
