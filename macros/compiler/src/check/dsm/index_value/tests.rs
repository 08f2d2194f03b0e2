//! Tests of index values: which are disjoint, and which may be equal.

mod digits;

use super::*;
use crate::model::LocalId;

const K: Variable = Variable::Local(LocalId(0));

fn k() -> IndexValue {
    IndexValue::of(Base::Variable(K))
}

fn n(number: u64) -> IndexValue {
    IndexValue::literal(number)
}

#[track_caller]
fn disjoint(a: IndexValue, b: IndexValue) {
    let overlaps = [a.overlap(&b, Ranks::default()), b.overlap(&a, Ranks::default())];
    assert_eq!(overlaps, [Overlap::Never, Overlap::Never], "{a:?} {b:?}");
}

#[track_caller]
fn may_be_equal(a: IndexValue, b: IndexValue) {
    let overlaps = [a.overlap(&b, Ranks::default()), b.overlap(&a, Ranks::default())];
    assert_eq!(overlaps, [Overlap::Possible, Overlap::Possible], "{a:?} {b:?}");
}

#[test]
fn affine_in_one_variable() {
    disjoint(k(), k().plus(&n(1)));
    disjoint(k().remainder(&n(2)), k().plus(&n(1)).remainder(&n(2)));
    disjoint(k().remainder(&n(3)), k().plus(&n(5)).remainder(&n(3)));
    may_be_equal(k().remainder(&n(3)), k().plus(&n(3)).remainder(&n(3)));
    may_be_equal(k().remainder(&n(3)), k().plus(&n(1)).remainder(&n(2)));
    // Remainders by 6 and by 4 determine remainders by 2.
    disjoint(k().remainder(&n(6)), k().plus(&n(1)).remainder(&n(4)));
    disjoint(k(), n(1).minus(&k()));
    disjoint(k(), k().xor(&n(1)));
    disjoint(k(), k().flipped());
    may_be_equal(k(), k().flipped().flipped());
    disjoint(k().and(&n(7)), k().plus(&n(1)).and(&n(7)));
    may_be_equal(k().and(&n(6)), k().plus(&n(1)).and(&n(6)));
    may_be_equal(k(), n(0));
    may_be_equal(k(), IndexValue::UNKNOWN);
    disjoint(n(3), n(4));
}

/// A difference that goes below zero wraps to a very large number, of which only the parity is known.
#[test]
fn below_zero() {
    disjoint(k().remainder(&n(2)), k().minus(&n(1)).remainder(&n(2)));
    may_be_equal(k().remainder(&n(3)), k().minus(&n(1)).remainder(&n(3)));
    may_be_equal(n(5).minus(&k().remainder(&n(3))), k());
}

#[test]
fn chunks() {
    let (size, inside) = (n(64), IndexValue::between(0, Some(Size::Number(64))));
    let chunk = |k: IndexValue, i: &IndexValue| k.remainder(&n(2)).times(&n(64)).plus(i);
    disjoint(chunk(k(), &inside), chunk(k().plus(&n(1)), &inside));
    disjoint(chunk(k(), &n(63)), chunk(k().plus(&n(1)), &inside).plus(&n(0)));
    may_be_equal(chunk(k(), &n(64)), chunk(k().plus(&n(1)), &inside));
    may_be_equal(chunk(k(), &IndexValue::UNKNOWN), chunk(k().plus(&n(1)), &inside));
    disjoint(k().times(&size).as_chunk(), k().plus(&n(1)).times(&size).as_chunk());
    let part = |k: IndexValue| k.times(&size).up_to(&k.plus(&n(1)).times(&size));
    disjoint(part(k()), part(k().plus(&n(1))));
    may_be_equal(k().times(&size).up_to(&k().plus(&n(2)).times(&size)), part(k().plus(&n(1))));
    disjoint(k().shifted_left(&n(3)).plus(&n(7)), k().plus(&n(1)).times(&n(8)));
}

/// Cells of a halo are disjoint from those between them.
#[test]
fn ranges() {
    let inside = IndexValue::between(0, Some(Size::Number(64))).plus(&n(1));
    disjoint(inside, n(0));
    disjoint(inside, n(65));
    may_be_equal(inside, n(64));
    disjoint(n(1).plus(&IndexValue::between(0, None)), n(0));
    may_be_equal(IndexValue::between(0, None), n(0));
    disjoint(k().remainder(&n(2)), n(2));
    may_be_equal(k().remainder(&n(2)).plus(&n(1)), n(2));
    may_be_equal(n(0).xor(&n(1)), n(1));
    disjoint(n(0).xor(&n(1)).xor(&n(1)), n(1));
}

#[test]
fn halves() {
    disjoint(k().half(false), k().half(true));
    may_be_equal(k().half(false), k().plus(&n(1)).half(true));
}

/// Values that were affine in `k` before it changed are compared with values that are affine in it now.
#[test]
fn the_variable_changes() {
    let was = |mut number: IndexValue, change| {
        number.rewrite(K, change);
        number
    };
    let next = k().plus(&n(1)).change_of(K);
    may_be_equal(was(k().plus(&n(1)), next), k());
    disjoint(was(k(), next), k());
    disjoint(was(k().remainder(&n(2)), next), k().remainder(&n(2)));
    let turned = n(1).minus(&k()).change_of(K);
    disjoint(was(k(), turned), k());
    may_be_equal(was(k(), turned), k().plus(&n(1)).remainder(&n(2)));
    let round = k().plus(&n(1)).remainder(&n(3)).change_of(K);
    disjoint(was(k(), round), k());
    may_be_equal(was(k().remainder(&n(2)), round), k().remainder(&n(2)));
    may_be_equal(was(k(), n(0).change_of(K)), k());
    // A change of one variable leaves others alone; a change of the whole loses its fields.
    let other = IndexValue::of(Base::Variable(Variable::Local(LocalId(1))));
    assert_eq!(was(other, Change::Lost), other);
    let field = IndexValue::of(Base::Variable(Variable::Field(LocalId(0), 3)));
    may_be_equal(was(field, next), field.plus(&n(1)));
}

/// A chunk of 64 from `k % 2` on, with what is added to its start and subtracted from it.
#[test]
fn offsets_in_a_chunk() {
    let half = |flip: u64| k().plus(&n(flip)).remainder(&n(2)).times(&n(64));
    let below = |most: u64| IndexValue::between(0, Some(Size::Number(most)));
    let (here, there) = (half(0), half(1));
    disjoint(here.plus(&below(64)), there.plus(&below(64)));
    disjoint(here.plus(&n(63)).minus(&below(64)), there.plus(&below(64)));
    disjoint(here.plus(&below(32)).plus(&n(32)), there.plus(&below(64)));
    disjoint(here.plus(&below(2).times(&n(32))).plus(&below(32)), there.plus(&below(64)));
    // Two parts of one chunk.
    disjoint(here.plus(&below(32)), here.plus(&n(32)).plus(&below(32)));
    may_be_equal(here.plus(&below(33)), here.plus(&n(32)).plus(&below(32)));
    // What leads out of the chunk may be in the other one.
    may_be_equal(here.plus(&n(32)).plus(&below(64)), there.plus(&below(64)));
    may_be_equal(here.plus(&below(64)).plus(&below(64)), there.plus(&below(64)));
    may_be_equal(here.plus(&n(31)).minus(&below(64)), there.plus(&below(64)));
    may_be_equal(here.plus(&below(64)).minus(&n(1)), there.plus(&below(64)));
}

/// Halves of an array of constant size: apart if the size is at least the number of threads.
#[test]
fn chunks_of_constant_size() {
    let size = IndexValue::constant(ValueId(0));
    let i = IndexValue::between(0, Some(Size::Number(32)));
    let below = |bound| Overlap::if_below(ValueId(0), bound);
    let overlap = |a: IndexValue, b: IndexValue| {
        let overlaps = [a.overlap(&b, Ranks::default()), b.overlap(&a, Ranks::default())];
        assert_eq!(overlaps[0], overlaps[1], "{a:?} {b:?}");
        overlaps[0].clone()
    };
    assert_eq!(overlap(size.plus(&i), i), below(32));
    assert_eq!(overlap(size.plus(&i), size.plus(&size).plus(&i)), below(32));
    assert_eq!(overlap(size.plus(&i), n(0)), below(32));
    assert_eq!(overlap(size.minus(&n(1)).minus(&i), size.plus(&i)), below(32));
    assert_eq!(overlap(size.minus(&n(1)), size.plus(&i)), below(32));
    // The difference may go below zero.
    assert_eq!(overlap(size.minus(&n(2)).minus(&i), size.plus(&i)), Overlap::Possible);
    assert_eq!(overlap(size.plus(&i), size.plus(&i)), Overlap::Possible);
    assert_eq!(overlap(size.plus(&i), size.plus(&n(3))), Overlap::Possible);
    assert_eq!(overlap(size.minus(&n(1)).minus(&i), i), Overlap::Possible);
}
