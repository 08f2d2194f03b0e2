//! `Reverse`, as a value, and keys that are compared as a whole: it, structs and tuples; and `std::iter::zip`.

use super::twins::twins;

twins! {
    keys;
    uses {
        use std::cmp::{Ordering, Reverse};
        use std::iter;

        use phalanx::prelude::*;

        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, DeviceCopy)]
        #[repr(C)]
        pub(super) struct Key { a: i32, b: i32 }
    }
    helpers {
        fn largest(v: [i32; 5]) -> Reverse<i32> {
            v.iter().copied().map(Reverse).max().unwrap_or(Reverse(9))
        }
    }

    fn greatest_by_reversed(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, -4];
        v.iter().copied().max_by_key(|&x| Reverse(x)).unwrap_or(0)
    }
    fn sorted_by_reversed(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3, -4];
        v.sort_by_key(|&x| Reverse(x));
        v[0] * 3 + v[1]
    }
    fn least_by_a_tuple(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, -4];
        v.iter().min_by_key(|x| (**x % 3, Reverse(**x))).map_or(0, |v| *v)
    }
    fn compared(x: i32, y: i32) -> i32 {
        (Reverse(x) < Reverse(y)) as i32 + 2 * (Reverse(x) <= Reverse(y)) as i32 + 4 * (Reverse(x) > Reverse(y)) as i32 + 8 * (Reverse(x) >= Reverse(y)) as i32 + 16 * (Reverse(x) == Reverse(y)) as i32
    }
    fn ordering(x: i32, y: i32) -> i32 {
        Reverse(x).cmp(&Reverse(y)) as i32
    }
    fn least_of_reversed(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, -4];
        v.iter().map(|&v| Reverse(v)).min().map_or(0, |Reverse(v)| v)
    }
    fn sorted_by_a_tuple(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3, -4];
        v.sort_unstable_by_key(|a| (*a % 2, Reverse(*a)));
        v[0] * 3 + v[1]
    }
    fn least_by_a_struct(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, -4];
        v.iter().copied().min_by_key(|v| Key { a: v % 3, b: -v }).unwrap_or(0)
    }
    fn of_a_function(x: i32, y: i32) -> i32 {
        largest([x, y, 3, 5, x - y]).0
    }
    fn greater_and_lesser(x: i32, y: i32) -> i32 {
        let r = Reverse(x).max(Reverse(y));
        let s = std::cmp::min(Reverse((x % 3, y)), Reverse((y % 3, x)));
        r.0 * 3 + s.0.1
    }
    fn partial_ordering(x: i32, y: i32) -> i32 {
        match Reverse(x).partial_cmp(&Reverse(y)) { Some(Ordering::Less) => 1, Some(o) => o as i32 + 5, None => 9 }
    }
    fn tuples_with_reversed(x: i32, y: i32) -> i32 {
        let v = [(x, y), (y, x), (3, 1)];
        let best = v.iter().copied().max_by_key(|&(a, b)| (Reverse(a), b));
        best.map_or(0, |(a, b)| a * 7 + b)
    }
    fn sorted_by_a_comparison(x: i32, y: i32) -> i32 {
        let mut v = [x as f32, y as f32, 2.5];
        v.sort_by(|a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal));
        v[0] as i32 * 3 + v[1] as i32
    }
    fn array_of_reversed(x: i32, y: i32) -> i32 {
        let keys = [Reverse(x), Reverse(y), Reverse(4)];
        let mut sorted = keys;
        sorted.sort();
        sorted[0].0 + 3 * sorted[1].0
    }
    fn zipped_arrays(x: i32, y: i32) -> i32 {
        let v = [x, y, 3];
        let s: i32 = std::iter::zip(v, [1, 2, 3]).map(|(a, b)| a * b).sum();
        s
    }
    fn zipped_in_a_loop(x: i32, y: i32) -> i32 {
        let v = [x, y, 3];
        let mut s = 0;
        for (a, b) in iter::zip(&v, 4..) { s += a * b; }
        s
    }
    fn zipped_references(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3];
        let w = [1, x, y];
        for (a, b) in iter::zip(&mut v, &w) { *a += b; }
        iter::zip(v, w).filter(|&(i, a)| a > i).count() as i32 * 10 + v[2]
    }
    fn reduced(x: i32, y: i32) -> i32 {
        let v = [x, y, 3];
        v.iter().copied().reduce(|a, b| a * b + 1).unwrap_or(0) + v.iter().copied().filter(|v| *v > 2).reduce(|a, b| a.max(b)).unwrap_or(-5)
    }
    fn made_by_index(x: i32, y: i32) -> i32 {
        let v: [i32; 4] = std::array::from_fn(|i| i as i32 * x + y);
        v[2] + v.map(|v| v + 1)[1]
    }
}
