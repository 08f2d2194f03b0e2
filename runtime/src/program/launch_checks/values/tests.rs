//! The arithmetic of intervals against that of the numbers in them, one by one, for types of eight bits.

use fastrand::Rng;

use super::{Integer, Known, Values};
use crate::program::launch_terms::{Comparison, Operation};

const TYPES: [Integer; 2] = [Integer { bits: 8, signed: false }, Integer { bits: 8, signed: true }];

/// Returns the number of the type that an integer is modulo 2^8.
fn wrapped(ty: Integer, number: i128) -> i128 {
    let low = number.rem_euclid(256);
    if low > ty.most() { low - 256 } else { low }
}

/// Returns some values and the numbers of the type that they are, of which some are numbers beyond it.
fn some(ty: Integer, rng: &mut Rng) -> (Values, Vec<i128>) {
    match rng.u8(..14) {
        0 => (Values { ty: Some(ty), ..Values::UNKNOWN }, (ty.least()..=ty.most()).step_by(15).collect()),
        // Multiples, of which no more is known or of which the ends are none.
        kind @ (4 | 5) => {
            let zeros = rng.u32(1..6);
            let numbers = (ty.least()..=ty.most()).filter(|number| number.rem_euclid(1 << zeros) == 0);
            let low = rng.i128(ty.least()..=ty.most());
            match kind {
                4 => (Values { ty: Some(ty), known: Known::Nothing, zeros }, numbers.collect()),
                _ => {
                    let high = (low + rng.i128(0..60)).min(ty.most());
                    let values = Values { ty: Some(ty), known: Known::Between(low, high), zeros };
                    (values, numbers.filter(|number| (low..=high).contains(number)).collect())
                }
            }
        }
        1 => (Values::of(ty, 1, 0), Vec::new()),
        2 => {
            let number = rng.i128(0..100);
            (Values::literal(number), vec![number])
        }
        kind => {
            let beyond = if kind == 3 { 30 } else { 0 };
            let low = rng.i128(ty.least() - beyond..=ty.most() + beyond);
            let high = (low + rng.i128(0..12)).min(ty.most() + beyond);
            (Values::of(ty, low, high), (low..=high).map(|number| wrapped(ty, number)).collect())
        }
    }
}

/// Whether a number is one of the values.
fn has(ty: Integer, values: Values, number: i128) -> bool {
    let is_multiple = number.trailing_zeros() >= values.zeros.min(8);
    is_multiple
        && match values.known {
            Known::Nothing => true,
            Known::Between(low, high) => (low..=high).any(|value| wrapped(ty, value) == number),
        }
}

/// Returns the result of an operation, unless it fails.
fn result(operation: Operation, ty: Integer, first: i128, second: i128) -> Vec<i128> {
    let of = |number: i128| vec![wrapped(ty, number)];
    let amount = (second.rem_euclid(256) & 7) as u32;
    match operation {
        Operation::Add => of(first + second),
        Operation::Sub => of(first - second),
        Operation::Mul => of(first * second),
        Operation::Div | Operation::Rem | Operation::RemEuclid if second == 0 => Vec::new(),
        Operation::Div => of(first / second),
        Operation::Rem => of(first % second),
        Operation::RemEuclid => of(first.rem_euclid(second)),
        Operation::Shl => of(first << amount),
        Operation::Shr => of(first >> amount),
        Operation::And => of(first & second),
        Operation::Or => of(first | second),
        Operation::Xor => of(first ^ second),
        Operation::Min => of(first.min(second)),
        Operation::Max => of(first.max(second)),
        Operation::AbsDiff => of(first.abs_diff(second) as i128),
        Operation::SaturatingSub => vec![(first - second).clamp(ty.least(), ty.most())],
        Operation::Range => (first..second).collect(),
        Operation::RangeInclusive => (first..=second).collect(),
        Operation::Either => vec![first, second],
        Operation::End => of(first + second),
        // Not a number that is none of the multiples that it is told to be.
        Operation::Stepped => Vec::new(),
    }
}

const OPERATIONS: [Operation; 19] = [
    Operation::Add,
    Operation::Sub,
    Operation::Mul,
    Operation::Div,
    Operation::Rem,
    Operation::RemEuclid,
    Operation::Shl,
    Operation::Shr,
    Operation::And,
    Operation::Or,
    Operation::Xor,
    Operation::Min,
    Operation::Max,
    Operation::SaturatingSub,
    Operation::AbsDiff,
    Operation::Range,
    Operation::RangeInclusive,
    Operation::Either,
    Operation::End,
];

#[test]
fn results_are_among_the_values() {
    let mut rng = Rng::with_seed(1);
    let mut known = 0;
    for round in 0..38_000 {
        let (ty, operation) = (TYPES[round % 2], OPERATIONS[round / 2 % OPERATIONS.len()]);
        let ((first, firsts), (second, seconds)) = (some(ty, &mut rng), some(ty, &mut rng));
        let found = first.operation(operation, second);
        // Without a type, the text of a program says nothing.
        known += u32::from(found.known != Known::Nothing);
        for (&one, &other) in firsts.iter().flat_map(|one| seconds.iter().map(move |other| (one, other))) {
            for number in result(operation, ty, one, other) {
                assert!(
                    has(ty, found, number),
                    "{operation:?} of {one} and {other} is {number}: {first:?}, {second:?}, {found:?}"
                );
            }
        }
    }
    assert!(known > 20_000, "{known}");
}

#[test]
fn values_that_pass_a_comparison_stay() {
    let mut rng = Rng::with_seed(2);
    let comparisons = [
        (Comparison::Less, (|a, b| a < b) as fn(i128, i128) -> bool),
        (Comparison::LessOrEqual, |a, b| a <= b),
        (Comparison::Greater, |a, b| a > b),
        (Comparison::GreaterOrEqual, |a, b| a >= b),
        (Comparison::Equal, |a, b| a == b),
        (Comparison::NotEqual, |a, b| a != b),
    ];
    let mut narrower = 0;
    for round in 0..20_000 {
        let (ty, (comparison, passes)) = (TYPES[round % 2], comparisons[round / 2 % 6]);
        let ((value, numbers), (bound, bounds)) = (some(ty, &mut rng), some(ty, &mut rng));
        let (term, terms) = if rng.bool() { some(ty, &mut rng) } else { (Values::literal(0), vec![0]) };
        let found = value.limited(term, comparison, bound);
        narrower += u32::from(found != value);
        for &number in &numbers {
            let may_pass =
                terms.iter().any(|term| bounds.iter().any(|bound| passes(wrapped(ty, number + term), *bound)));
            assert!(
                !may_pass || has(ty, found, number),
                "{number} {comparison:?}: {value:?} + {term:?}, {bound:?}, {found:?}"
            );
        }
    }
    assert!(narrower > 5_000, "{narrower}");
}

#[test]
fn conversions_and_clamped_values() {
    let mut rng = Rng::with_seed(3);
    for round in 0..20_000 {
        let (ty, other) = (TYPES[round % 2], TYPES[round / 2 % 2]);
        let (value, numbers) = some(ty, &mut rng);
        let converted = value.cast(other);
        for &number in &numbers {
            assert!(has(other, converted, wrapped(other, number)), "{number}: {value:?} {converted:?}");
        }
        let wide = value.cast(Integer { bits: 16, signed: other.signed });
        if let Known::Between(low, high) = wide.known
            && value.ty.is_some()
        {
            let word = |number: i128| number.rem_euclid(1 << 16);
            for number in &numbers {
                assert!((low..=high).any(|value| word(value) == word(*number)), "{number}: {value:?} {wide:?}");
            }
        }
        let positive = value.without_sign();
        for number in numbers.iter().map(|number| wrapped(ty, number.abs())) {
            assert!(positive == Values::UNKNOWN || has(ty, positive, number), "{number}: {value:?} {positive:?}");
        }
        let ((least, leasts), (most, mosts)) = (some(ty, &mut rng), some(ty, &mut rng));
        let clamped = value.clamp(least, most);
        for (number, (low, high)) in
            numbers.iter().zip(leasts.iter().zip(&mosts)).filter(|(_, (low, high))| low <= high)
        {
            assert!(has(ty, clamped, *number.clamp(low, high)), "{number} {low} {high}: {clamped:?}");
        }
    }
}

#[test]
fn the_numbers_of_a_range_are_multiples_as_its_start_and_step() {
    let number = |number| Values::of(Integer::WORD, number, number);
    let of = |start: i128, end: i128, step: i128| {
        let range = number(start).operation(Operation::Range, number(end));
        range.operation(Operation::Stepped, number(start).operation(Operation::Or, number(step)))
    };
    let found = of(8, 100, 12);
    assert!(found.is_multiple(4) && !found.is_multiple(8) && !found.is_multiple(3), "{found:?}");
    assert!(found.is_below(number(100), false) && !found.is_below(number(99), false));
    assert!(of(0, 100, 16).is_multiple(16) && !of(1, 100, 16).is_multiple(2));
}

#[test]
fn one_number_less_leaves_what_wraps() {
    let word = |low, high| Values::of(Integer::WORD, low, high);
    // `i - 1` of `i` from 0 to 9, which is not 5.
    let before = word(0, 9).operation(Operation::Sub, word(1, 1));
    let other = before.limited(Values::literal(0), Comparison::NotEqual, word(5, 5));
    assert!(other.operation(Operation::Add, word(1, 1)).is_below(word(10, 10), false), "{other:?}");
    // Of what nothing is known, it is not the first number.
    let natural = Values { ty: Some(Integer::WORD), ..Values::UNKNOWN };
    let positive = natural.limited(Values::literal(0), Comparison::NotEqual, word(0, 0));
    assert_eq!(positive.interval(), Some((1, u64::MAX.into())));
    assert_eq!(word(3, 8).limited(Values::literal(0), Comparison::NotEqual, word(8, 8)).interval(), Some((3, 7)));
}

#[test]
fn a_part_ends_behind_its_start() {
    let number = |low, high| Values::of(Integer { bits: 32, signed: true }, low, high);
    let length = Values::of(Integer::WORD, 9, 9);
    assert!(number(2, 5).operation(Operation::End, number(0, 4)).is_below(length, true));
    assert!(!number(2, 5).operation(Operation::End, number(0, 5)).is_below(length, true));
    assert!(!number(2, 5).operation(Operation::End, number(-1, 4)).is_below(length, true), "it may end before");
    assert!(!number(-1, 5).operation(Operation::End, number(1, 4)).is_below(length, true));
}

#[test]
fn an_index_is_below_the_shortest_length() {
    let word = |low, high| Values::of(Integer::WORD, low, high);
    assert!(word(0, 9).is_below(word(10, 20), false) && !word(0, 10).is_below(word(10, 20), false));
    assert!(word(0, 10).is_below(word(10, 20), true) && !word(0, 11).is_below(word(10, 20), true));
    assert!(!word(-1, 3).is_below(word(10, 10), false), "it is larger than any length");
    assert!(!Values::UNKNOWN.is_below(word(10, 10), false) && !word(0, 3).is_below(Values::UNKNOWN, false));
    assert!(word(1, 0).is_below(word(0, 0), false), "no thread gets there");
}
