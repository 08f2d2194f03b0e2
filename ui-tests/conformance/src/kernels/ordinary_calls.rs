//! What is passed to functions and consumed in Rust as it is written everywhere: parts of local arrays, functions by their paths, closures
//! that change variables, sums without a type, iterators of iterators, tuples of options of references.

use super::twins::twins;

/// A vector whose methods have names of numbers' methods.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct V {
    x: i32,
    y: i32,
}

#[device]
impl V {
    pub(super) fn abs(self) -> V {
        V { x: self.x * self.x, y: self.y }
    }
    pub(super) fn max(self, other: V) -> V {
        if self.len() < other.len() { other } else { self }
    }
    pub(super) fn len(&self) -> i32 {
        self.x + self.y
    }
    pub(super) fn swap(&mut self, by: i32) {
        self.x = self.y * by;
    }
}

/// A key that is ordered by its fields, one after the other.
#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceCopy)]
#[repr(C)]
pub(super) struct Key {
    weight: f32,
    place: i32,
    inner: Inner,
}

/// A field that is ordered itself.
#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceCopy)]
#[repr(C)]
pub(super) struct Inner {
    number: u32,
}

twins! {
    ordinary_calls;
    uses {
        use super::{Inner, Key, V};
        use std::cmp::max as larger;
        use std::mem::{self as memory, swap as exchange};
    }
    helpers {
        fn dot(a: &[i32], b: &[i32]) -> i32 {
            a.iter().zip(b).map(|(x, y)| x * y).sum()
        }
        fn last(a: &[i32]) -> i32 {
            if a.is_empty() { -7 } else { a[a.len() - 1] }
        }
        fn norm(a: &[i32]) -> i32 {
            dot(a, a) + dot(&a[1..], a)
        }
        fn twice(f: impl Fn(i32) -> i32, x: i32) -> i32 {
            f(f(x))
        }
        fn joined(x: i32, y: i32, f: impl Fn(i32, i32) -> i32) -> i32 {
            f(x, y) * 2
        }
        fn square(x: i32) -> i32 {
            x * x + 1
        }
        fn each(n: i32, mut f: impl FnMut(i32)) {
            for i in 0..n {
                f(i);
            }
        }
        fn folded(values: &[i32], start: i32, mut f: impl FnMut(i32, i32) -> i32) -> i32 {
            let mut total = start;
            for &value in values {
                total = f(total, value);
            }
            total
        }
        fn handed_on(n: i32, mut f: impl FnMut(i32)) {
            each(n, |i| f(i * 2));
        }
        fn rows(x: i32) -> [[i32; 3]; 2] {
            [[x, 2, 3], [4, x * 5, 6]]
        }
    }

    fn parts_of_an_array(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, 4, x * 2, y + 1];
        dot(&own[..3], &own[3..]) * 3 + last(&own[1..=2]) + last(&own[2..2])
    }
    fn all_of_an_array(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, 4];
        let other = [[y, 2, x, 1], [5, 6, 7, 8]];
        dot(&own, &other[1]) + norm(&own) * 2 + dot(&other[0][1..], &own)
    }
    fn named_parts(x: i32, y: i32) -> i32 {
        let mut own = [x, y, 3, 4, 5];
        own[2] = y * 2;
        let (low, high) = own.split_at(2);
        let middle = &own[1..4];
        dot(low, high) + dot(middle, &middle[1..]) + last(low)
    }
    fn parts_of_fields(x: i32, y: i32) -> i32 {
        let pair = ([x, y, 3], x);
        let mut total = 0;
        for n in 0..=3 {
            total += last(&pair.0[..n]) * dot(&pair.0[n..], &pair.0);
        }
        total + pair.1
    }
    fn functions_by_path(x: i32, y: i32) -> i32 {
        twice(square, x) + twice(i32::wrapping_neg, y) + joined(x, y, i32::max) + joined(x, y, larger)
    }
    fn changes_of_captures(x: i32, y: i32) -> i32 {
        let (mut sum, mut calls) = (y, 0);
        each(4, |i| sum += i * x);
        let values = [x, y, 3];
        let total = folded(&values, 1, |a, b| {
            calls += 1;
            a * 2 + b * calls
        });
        handed_on(3, |i| sum ^= i + y);
        sum * 5 + total + calls
    }
    fn changes_while_mapped(x: i32, y: i32) -> i32 {
        let mut number = 0;
        let numbered = [x, y, 7].map(|value| {
            number += 1;
            value * number
        });
        let mut so_far = 0;
        let sums: [i32; 4] = std::array::from_fn(|k| {
            so_far += k as i32 + x;
            so_far
        });
        numbered[0] + numbered[1] * 3 + numbered[2] * 5 + number + sums[1] * 7 + sums[3]
    }
    fn sums_without_type(x: i32, y: i32) -> i32 {
        let own = [x, y, 3];
        let mut held = [0, 1];
        held[1] = own.iter().sum();
        let products: (i32, f32) = (own.iter().map(|v| v + 1).product(), [0.5, x as f32].iter().sum());
        let bytes: u8 = [x as u8, 250, y as u8].iter().fold(0, |a, b| a ^ b);
        square(own.iter().copied().sum()) + held[1] * 2 + products.0 + (products.1 * 4.0) as i32 + bytes as i32
    }
    fn iterators_of_rows(x: i32, y: i32) -> i32 {
        let table = rows(x);
        let total: i32 = table.iter().flatten().sum();
        let odd = table.iter().flatten().filter(|v| **v % 2 != 0).count() as i32;
        let most = table.iter().flatten().copied().max().unwrap();
        let found = table.iter().flatten().position(|&v| v == y).map_or(-1, |at| at as i32);
        let any = table.iter().flatten().any(|v| *v == y) as i32;
        let pairs: i32 = (0..3).flat_map(|i| (i..4).map(move |j| i * j + x)).sum();
        total + odd * 2 + most * 3 + found * 5 + any * 7 + pairs
    }
    fn loops_over_rows(x: i32, y: i32) -> i32 {
        let table = rows(x);
        let mut total = 0;
        for v in table.iter().flatten() {
            if *v == y {
                break;
            }
            if *v < 0 {
                continue;
            }
            total = total * 3 + v;
        }
        'outer: for &v in table.iter().flatten() {
            for k in 0..3 {
                if v == k {
                    continue 'outer;
                }
                if v + k == y {
                    break 'outer;
                }
            }
            total += v;
        }
        for v in table.iter().flatten().filter(|v| **v != 4).map(|v| v * 2) {
            total ^= v;
        }
        for v in table.into_iter().flatten() {
            total += v;
        }
        total
    }
    fn tuples_of_options(x: i32, y: i32) -> i32 {
        let (left, right) = ([x, x + 3, 9], [y, y + 1, 8]);
        let (mut i, mut j, mut total) = (0, 0, 0);
        loop {
            match (left.get(i), right.get(j)) {
                (Some(&a), Some(&b)) if a <= b => {
                    total = total * 2 + a;
                    i += 1;
                }
                (_, Some(b)) => {
                    total = total * 3 + b;
                    j += 1;
                }
                (Some(a), None) => {
                    total -= *a;
                    i += 1;
                }
                (None, None) => break,
            }
        }
        if let (Some(a), Some(b)) = (left.first(), right.get(1)) {
            total += a * b;
        }
        let (Some(&a), k) = (left.last(), x * 2) else { return 0 };
        if let (Some(a), true) = (right.get(2), x > 3)
            && *a > 3
        {
            total ^= 1;
        }
        total + a * k
    }
    fn names_of_imports(x: i32, y: i32) -> i32 {
        let (mut a, mut b) = (x, y);
        exchange(&mut a, &mut b);
        let old = memory::replace(&mut b, 5);
        let top = [a, b, old].into_iter().reduce(larger).unwrap();
        larger(a, b) * 3 + old + memory::take(&mut a) + a + top
    }
    fn methods_of_own_types(x: i32, y: i32) -> i32 {
        let v = V { x, y };
        let mut w = v.abs().max(V { x: y, y: x });
        w.swap(3);
        let larger = v.max(w);
        larger.len() * 2 + w.x + x.abs() + x.max(y)
    }
    fn order_of_structs(x: i32, y: i32) -> i32 {
        let weight = if x == 7 { f32::NAN } else { (x / 4) as f32 };
        let a = Key { weight, place: y, inner: Inner { number: 3 } };
        let b = Key { weight: (y / 4) as f32, place: x, inner: Inner { number: x as u32 } };
        let all = [a < b, a <= b, a > b, a >= b, a == b, a != b, b.inner < a.inner, b.inner >= a.inner];
        let mut bits = 0;
        for (k, &holds) in all.iter().enumerate() {
            bits |= (holds as i32) << k;
        }
        let mut most = a;
        for other in [b, a, b] {
            if other > most {
                most = other;
            }
        }
        bits * 100 + most.place
    }
    fn order_of_evaluation(x: i32, y: i32) -> i32 {
        let mut calls = y;
        let values = [x, 2];
        let both = calls * 100
            + folded(&values, 1, |a, b| {
                calls += b;
                a * 3 + calls
            })
            + calls * 7;
        both - calls
    }
    fn both_halves(x: i32, y: i32) -> i32 {
        let mut own = [x, y, 3, 4, x - y, 6];
        let (low, high) = own.split_at_mut(3);
        for (a, b) in low.iter_mut().zip(high.iter_mut()) {
            let sum = *a + *b;
            *b = *a - *b;
            *a = sum;
            std::mem::swap(a, b);
        }
        for (k, (a, b)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
            *a += *b * k as i32;
        }
        low[0] += high[2];
        own[0] + own[1] * 3 + own[2] * 5 + own[3] * 7 + own[4] * 11 + own[5] * 13
    }
    fn places_by_pattern(x: i32, y: i32) -> i32 {
        let mut rows = [[x, y, 3], [4, 5, x * 2]];
        let [first, second] = &mut rows;
        for k in 0..3 {
            first[k] += second[k] * 2;
            second[k] -= first[k];
        }
        first.swap(0, 2);
        let mut pair = (x, [y, 2]);
        let (number, [one, _]) = &mut pair;
        *number += *one * 3;
        *one = *number - 1;
        rows[0][0] + rows[0][2] * 3 + rows[1][1] * 5 + rows[1][2] + pair.0 * 7 + pair.1[0] * 11
    }
}
