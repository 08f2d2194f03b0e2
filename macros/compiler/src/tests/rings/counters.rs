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
