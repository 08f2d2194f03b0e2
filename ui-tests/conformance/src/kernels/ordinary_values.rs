//! What Rust has as values and the language rewrites: results, options of references with names, iterators with names, slices in patterns
//! and comparisons; and comparisons that are written by hand, arrays that functions change, iterators one after the other.

use std::cmp::Ordering;

use super::twins::twins;

/// An entry of a heap, of which the one with the least cost is the greatest.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Entry {
    cost: i32,
    node: i32,
}

#[device]
impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cost == other.cost
    }
}

impl Eq for Entry {}

#[device]
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.cmp(&self.cost).then(self.node.cmp(&other.node))
    }
}

#[device]
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A number that equals others near it, and is ordered before none that it equals.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Near {
    value: f32,
}

#[device]
impl PartialEq for Near {
    fn eq(&self, other: &Self) -> bool {
        (self.value - other.value).abs() < 1.5
    }
}

#[device]
impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self == other { Some(Ordering::Equal) } else { self.value.partial_cmp(&other.value) }
    }
}

/// Why a number is refused.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
pub(super) enum Fault {
    Negative,
    Large,
}

twins! {
    ordinary_values;
    uses {
        use super::{Entry, Fault, Near};
        type Checked = Result<i32, Fault>;
    }
    helpers {
        fn halved(x: i32) -> Result<i32, Fault> {
            if x < 0 {
                return Err(Fault::Negative);
            }
            if x > 9 { Err(Fault::Large) } else { Ok(x / 2) }
        }
        fn quartered(x: i32) -> Checked {
            let half = halved(x)?;
            halved(half + 3)
        }
        fn joined(x: i32, y: i32) -> Result<(i32, i32), i32> {
            let a = halved(x).map_err(|fault| fault as i32)?;
            let b = halved(y).or_else(|fault| if fault == Fault::Large { Ok(50) } else { Err(7) })?;
            Ok((a, b))
        }
        fn element(values: &[i32], at: usize) -> Result<i32, usize> {
            let x = *values.get(at).ok_or(at)?;
            let next = values.get(at + 1).copied().ok_or_else(|| at + 100)?;
            Ok(x * 3 + next)
        }
        fn second(values: &[i32]) -> Option<i32> {
            let &first = values.first()?;
            let found = values.get(first as usize & 7)?;
            Some(*found * 2 + first)
        }
        fn shape(values: &[i32]) -> i32 {
            match values {
                [] => 1,
                [x] => *x,
                [first, .., last] if first == last => 100 + first,
                [-1, rest @ ..] => rest.iter().sum::<i32>() + 1000,
                [first, middle @ .., 3 | 4] => first * 5 + middle.len() as i32,
                [first, second, ..] => first * 7 + second,
            }
        }
        fn fill(values: &mut [i32], x: i32) {
            for (k, value) in values.iter_mut().enumerate() {
                *value = x + k as i32;
            }
        }
        fn sift(values: &mut [i32], mut at: usize, end: usize) {
            loop {
                let mut most = at;
                for child in [2 * at + 1, 2 * at + 2] {
                    if child < end && values[child] > values[most] {
                        most = child;
                    }
                }
                if most == at {
                    break;
                }
                values.swap(at, most);
                at = most;
            }
        }
        fn sort(values: &mut [i32]) {
            for at in (0..values.len() / 2).rev() {
                sift(values, at, values.len());
            }
            for end in (1..values.len()).rev() {
                values.swap(0, end);
                sift(values, 0, end);
            }
        }
        fn merge(left: &[i32], right: &[i32], out: &mut [i32]) {
            let (mut i, mut j) = (0, 0);
            for o in out.iter_mut() {
                *o = match (left.get(i), right.get(j)) {
                    (Some(&a), Some(&b)) if a <= b => {
                        i += 1;
                        a
                    }
                    (_, Some(&b)) => {
                        j += 1;
                        b
                    }
                    (Some(&a), None) => {
                        i += 1;
                        a
                    }
                    (None, None) => break,
                };
            }
        }
        fn hash(values: &[i32]) -> i32 {
            values.iter().fold(7, |h, x| h * 31 + x)
        }
    }

    fn results(x: i32, y: i32) -> i32 {
        let code = match quartered(x) {
            Ok(n) if n > 2 => n,
            Ok(n) => n + 10,
            Err(Fault::Negative) => -1,
            Err(fault) => fault as i32 * 100,
        };
        let held = halved(y);
        let mut total = code + held.map(|n| n + 1).unwrap_or(3) * 5 + held.is_err() as i32;
        if let Err(fault) = held {
            total += fault as i32 * 7 + 1;
        }
        if let Ok((a, b)) = joined(x, y) {
            total += a * 11 + b;
        }
        let even = if y % 2 == 0 { Ok(y) } else { Err(x as i64) };
        total += even.and_then(|n| if n > 3 { Ok(n) } else { Err(9) }).unwrap_or_else(|e| e as i32 * 2);
        total + held.ok().unwrap_or(4) + joined(y, x).map_or(1, |(a, b)| a - b) + (held == Ok(2)) as i32 * 13
    }
    fn results_of_options(x: i32, y: i32) -> i32 {
        let own = [x, y, 5];
        let at = (y & 3) as usize;
        match element(&own, at) {
            Ok(n) => n,
            Err(at) => at as i32 * 1000,
        }
    }
    fn compared_by_hand(x: i32, y: i32) -> i32 {
        let (a, b) = (Entry { cost: x, node: y }, Entry { cost: y & 3, node: x });
        let all = [a == b, a != b, a < b, a <= b, a > b, a >= b];
        let mut bits = 0;
        for (k, holds) in all.into_iter().enumerate() {
            bits |= (holds as i32) << k;
        }
        let mut most = a;
        for other in [b, Entry { cost: 2, node: 9 }, a] {
            if other > most {
                most = other;
            }
        }
        let near = (Near { value: x as f32 }, Near { value: y as f32 });
        let order = if near.0 < near.1 { 1 } else if near.0 >= near.1 { 2 } else { 3 };
        let (larger, smaller) = (a.max(b), a.min(b));
        bits * 100 + most.node + order * 7 + larger.node * 3 + smaller.cost * 5 + a.cmp(&b) as i32
    }
    fn named_options(x: i32, y: i32) -> i32 {
        let own = [x, y, 4];
        let chosen = own.get((x & 3) as usize);
        let mut total = match chosen {
            Some(v) if *v > 3 => *v * 2,
            Some(&v) => v,
            None => 50,
        };
        let mut last = own.last();
        if let Some(v) = last {
            total += v * 3;
        }
        if y > 3 {
            last = own.get((y & 7) as usize);
        }
        total += chosen.is_some() as i32 + last.copied().unwrap_or(9) * 7;
        let both = own.get((y & 3) as usize).zip(own.first()).map(|(a, b)| a * 5 - *b);
        total + both.unwrap_or(-2) + second(&own).unwrap_or(33)
    }
    fn slices_in_patterns(x: i32, y: i32) -> i32 {
        let own = [x, y, x - y, 3];
        let mut total = 0;
        for n in 0..=4 {
            total = total * 3 + shape(&own[..n]) + shape(&own[n..]);
        }
        for pair in own.windows(2) {
            if let [a, b] = pair && a < b {
                total += 1;
            }
            let &[a, b] = pair else { continue };
            total ^= a * b;
        }
        total
    }
    fn slices_compared(x: i32, y: i32) -> i32 {
        let own = [x, y, x, y + 1];
        let part = &own[1..3];
        let mut bits = (part == [3, 4]) as i32 | ((&own[..2] == &own[2..]) as i32) << 1 | ((own[..1] != [2]) as i32) << 2;
        for pair in own.windows(2) {
            bits = bits * 2 + (pair == &[x, x]) as i32;
        }
        bits
    }
    fn named_iterators(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, x * y];
        let shift = y & 3;
        let shifted = own.iter().map(|v| v << shift).filter(|v| v % 3 != 0);
        let pairs = own.windows(2).map(|pair| pair[0] - pair[1]);
        let numbered = own.iter().enumerate().map(|(k, v)| v * k as i32);
        let count = pairs.clone().count() as i32;
        let mut total = 0;
        for v in shifted {
            total = total * 3 + v;
        }
        total + pairs.sum::<i32>() * 5 + count + numbered.max().unwrap()
    }
    fn filtered_and_mapped(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, 7];
        let halves: i32 = own.iter().filter_map(|v| if v % 2 == 0 { Some(v / 2) } else { None }).sum();
        let first = own.iter().filter_map(|v| v.checked_rem(y)).next().unwrap_or(-9);
        let mut total = 0;
        for (k, v) in own.iter().enumerate().filter_map(|(k, v)| v.checked_div(x).map(|q| (k as i32, q))) {
            total += k * 5 + v;
        }
        let few = own.iter().filter(|v| **v > 1).map(|v| v * 2).take(2).fold(1, |a, b| a * 5 + b);
        let late = own.iter().map(|v| v + 1).skip(1).take((x & 3) as usize).sum::<i32>();
        halves + first * 3 + total * 7 + few + late
    }
    fn chained(x: i32, y: i32) -> i32 {
        let (left, right) = ([x, 4, y], [y, 9]);
        let sum = left.iter().chain(&right).map(|v| v * 2).sum::<i32>();
        let most = left.iter().chain(right.iter()).max().unwrap();
        let at = left.iter().copied().chain(right).position(|v| v == 9).unwrap() as i32;
        let mut total = 0;
        for (k, &v) in left.iter().rev().chain(right.iter()).enumerate() {
            if v == 4 {
                continue;
            }
            total = total * 3 + v + k as i32;
        }
        for v in left[1..].iter().chain(&right).skip(1).step_by(2) {
            total ^= *v;
        }
        sum + most * 3 + at * 5 + total
    }
    fn changed_by_functions(x: i32, y: i32) -> i32 {
        let mut own = [x, y, 5, x - y, 2, 8];
        sort(&mut own[1..5]);
        let mut out = [0; 8];
        merge(&own[1..5], &[x.min(y), x.max(y)], &mut out[1..7]);
        let mut pair = ([0; 4], x);
        fill(&mut pair.0[1..], y);
        let (low, high) = own.split_at_mut(3);
        fill(low, 10);
        sort(high);
        let part = &mut out[..2];
        fill(part, 77);
        hash(&own) + hash(&out) * 3 + hash(&pair.0) * 5
    }
    fn written_arrays(x: i32, y: i32) -> i32 {
        static WEIGHTS: [i32; 4] = [3, 1, 4, 1];
        hash(&[x, y, 7]) + hash(&WEIGHTS[1..3]) * 3 + hash(&[x; 3]) * 5 + hash(&[x + 1, y].map(|v| v * 2))
    }
    fn sought(x: i32, y: i32) -> i32 {
        let mut own = [x, y, 3, 3, 9];
        own.sort();
        let found = match own.binary_search(&y) {
            Ok(at) => own[at] * 10,
            Err(at) => at as i32 + 1000,
        };
        let three = own.binary_search(&3).unwrap() as i32;
        let part = own[1..4].binary_search(&5).unwrap_or_else(|at| at + 50) as i32;
        found + three + part * 7
    }
}
