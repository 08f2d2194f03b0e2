//! The arithmetic of intervals of floats against that of numbers in them, one by one.

use fastrand::Rng;

use super::{Float, Floats};
use crate::program::launch_checks::values::{Integer, Values};
use crate::program::launch_terms::{Comparison, Operation, Rounded};

/// Returns some values of `f32`, and numbers that are among them.
fn some(rng: &mut Rng) -> (Floats, Vec<f32>) {
    let scale = [1e-42, 1e-3, 1.0, 100.0, 1e7, 1e38][rng.usize(..6)];
    let number = |rng: &mut Rng| {
        let number = ((rng.f64() - 0.5) * 4.0 * scale) as f32;
        if rng.bool() { number } else { number.round() }
    };
    let (one, other) = (number(rng), if rng.u8(..4) == 0 { 0.0 } else { number(rng) });
    let (low, high) = (one.min(other), one.max(other));
    let nan = rng.u8(..6) == 0;
    let (low, high) = match rng.u8(..12) {
        0 => (f32::NEG_INFINITY, high),
        1 => (low, f32::INFINITY),
        _ => (low, high),
    };
    let set = Floats { ty: Some(Float::F32), low: low.into(), high: high.into(), nan };
    let inside = |_| {
        let t = rng.f32();
        let (from, to) = (low.max(-3e38), high.min(3e38));
        (from + (to / 2.0 - from / 2.0) * 2.0 * t).clamp(low, high)
    };
    let mut numbers: Vec<f32> = (0..6).map(inside).collect();
    numbers.extend([low, high]);
    numbers.extend(nan.then_some(f32::NAN));
    (set, numbers)
}

#[track_caller]
fn assert_has(all: Floats, number: f32, what: &str) {
    let has = if number.is_nan() { all.nan } else { all.low <= number.into() && f64::from(number) <= all.high };
    assert!(has, "{number:e} is not in {all:?}: {what}");
}

/// What `fast_math` makes of a number below the least normal one.
fn flushed(number: f32) -> f32 {
    if number.is_subnormal() { 0.0 } else { number }
}

#[test]
fn operations_have_the_result_of_each_pair() {
    let mut rng = Rng::with_seed(11);
    for _ in 0..20_000 {
        let ((first, numbers), (second, others), (third, terms)) = (some(&mut rng), some(&mut rng), some(&mut rng));
        let of = |operation| first.operation(operation, second);
        let fused = of(Operation::Mul).operation(Operation::Add, third);
        for &x in &numbers {
            for &y in &others {
                let what = format!("{x:e} and {y:e} of {first:?} and {second:?}");
                for (operation, result) in [
                    (Operation::Add, x + y),
                    (Operation::Sub, x - y),
                    (Operation::Mul, x * y),
                    (Operation::Div, x / y),
                    (Operation::Min, x.min(y)),
                    (Operation::Max, x.max(y)),
                    (Operation::Either, x),
                    (Operation::Either, y),
                ] {
                    assert_has(of(operation), result, &what);
                }
                assert_has(of(Operation::Add), flushed(flushed(x) + flushed(y)), &what);
                for &z in &terms {
                    assert_has(fused, x.mul_add(y, z), &what);
                    assert_has(fused, x * y + z, &what);
                }
            }
        }
    }
}

#[test]
fn conversions_and_methods_have_the_result_of_each_number() {
    let mut rng = Rng::with_seed(12);
    let (narrow, wide) = (Integer::named("i16").unwrap(), Integer::named("u64").unwrap());
    let has = |values: Values, number: i128| values.all().is_some_and(|(low, high)| low <= number && number <= high);
    for _ in 0..20_000 {
        let (set, numbers) = some(&mut rng);
        let (bounds, _) = some(&mut rng);
        let (least, most) = (bounds.low as f32, bounds.high as f32);
        let [low, high] = [least, most].map(|bound| Floats::number(Some(Float::F32), bound.into()));
        let (is_below, is_above) = (set.limited(Comparison::Less, high), set.limited(Comparison::Greater, low));
        for &x in &numbers {
            let what = format!("{x:e} of {set:?}, {least:e}, {most:e}");
            assert_has(set.rounded(Rounded::Floor), x.floor(), &what);
            assert_has(set.rounded(Rounded::Ceil), x.ceil(), &what);
            assert_has(set.rounded(Rounded::Trunc), x.trunc(), &what);
            assert_has(set.rounded(Rounded::Round), x.round(), &what);
            assert_has(set.rounded(Rounded::Abs), x.abs(), &what);
            assert_has(set.clamp(low, high), x.clamp(least, most), &what);
            assert!(has(set.to_integers(narrow), (x as i16).into()), "{what}");
            assert!(has(set.to_integers(wide), (x as u64).into()), "{what}");
            if x < most {
                assert_has(is_below, x, &what);
            }
            if x > least || x.is_nan() {
                assert_has(is_above, x, &what);
            }
        }
    }
}

#[test]
fn integers_and_literals_become_floats() {
    let index = Values::of(Integer::WORD, 0, (1 << 25) + 1);
    let as_float = Floats::of_integers(Float::F32, index);
    assert_eq!(as_float, Floats { ty: Some(Float::F32), low: 0.0, high: 33_554_432.0, nan: false });
    // `x.clamp(0.0, width as f32 - 1.0)`, of any `x`.
    let last = Floats::of_integers(Float::F32, Values::of(Integer::WORD, 640, 640));
    let last = last.operation(Operation::Sub, Floats::number(None, 1.0));
    let clamped = Floats::ANYTHING.clamp(Floats::number(None, 0.0), last);
    assert_eq!(clamped.to_integers(Integer::WORD), Values::of(Integer::WORD, 0, 639));
    // A literal is the nearest number of the type beside it.
    let tenth = Floats::number(None, 0.1).operation(Operation::Max, Floats::number(Some(Float::F32), 0.0));
    assert_eq!((tenth.low, tenth.high), (f64::from(0.1_f32), f64::from(0.1_f32)));
    let tenth = Floats::number(None, 0.1).operation(Operation::Max, Floats::number(None, 0.0));
    assert!(tenth.low < 0.0998 && 0.1002 < tenth.high, "{tenth:?}");
}
