//! Methods that stand for control flow: of `Option` and `bool`, of iterators, `swap`, `fill` and `std::mem`'s.

use super::twins::twins;

twins! {
    combinators;
    uses {
        const WEIGHTS: [i32; 4] = [3, -1, 4, 1];
    }
    helpers {
        fn even(x: i32) -> Option<i32> {
            if x % 2 == 0 { Some(x / 2) } else { None }
        }
        fn twice(x: i32) -> i32 {
            x * 2
        }
        fn joined(total: i32, x: i32) -> i32 {
            total * 3 + x
        }
        fn exchange(a: &mut i32, b: &mut i32) -> i32 {
            std::mem::swap(a, b);
            std::mem::replace(a, 7)
        }
        fn sorted(mut a: [i32; 6]) -> [i32; 6] {
            for i in 0..a.len() {
                for j in 0..a.len() - 1 - i {
                    if a[j] > a[j + 1] {
                        a.swap(j, j + 1);
                    }
                }
            }
            a
        }
    }

    fn of_options(x: i32, y: i32) -> i32 {
        let a = even(x);
        let b = a.map(|v| v + y).unwrap_or(-1);
        let c = a.and_then(even).map(twice).unwrap_or_else(|| y * 3);
        let d = even(y).map_or(5, |v: i32| v - 1) + a.map_or(-x, |v| if v > 2 { v } else { 9 });
        let e = a.is_some_and(|v| v > 2) as i32 + 2 * a.is_none_or(|v| v > y) as i32;
        let f = a.or_else(|| even(y)).unwrap_or(100);
        let g = x.checked_sub(y).and_then(|v| v.checked_mul(x)).map(|v| (v, y)).map_or(0, |(p, q)| p - q);
        b + 3 * c + 7 * d + 11 * e + 13 * f + g
    }
    fn with_effects(x: i32, y: i32) -> i32 {
        let mut calls = 0;
        let a = even(x).map(|v| { calls += 1; v + calls }).unwrap_or(3);
        let b = (y > 2).then(|| { calls += 10; calls }).unwrap_or(1);
        let c = even(y).unwrap_or_else(|| { calls += 100; 4 });
        a * 7 + b * 5 + c + calls
    }
    fn kept_and_counted(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y, y - x];
        let n = (x + 4) as usize;
        let kept = a.iter().copied().filter(|&v| v > 2).sum::<i32>();
        let late = a.iter().map(|v| v * 3).filter(|&v| v % 2 == 0).map(|v| v - y).filter(|&v| v < 20).fold(1, joined);
        let many = a.into_iter().filter(|&v| v == x || v == 3).count() + a.iter().count() * 100;
        let of_range = (0..n).filter(|&i| i % 3 == 1).map(|i| i * i).sum::<usize>();
        let least = a.iter().copied().min().unwrap_or(0);
        let most = a.iter().map(|v| (*v ^ 5) as i64).filter(|&v| v < 9).max().unwrap_or(-77);
        let none = (0..n.saturating_sub(6)).filter(|&i| i > 3).map(|i| i as i32).min();
        let pairs = a.iter().copied().zip(WEIGHTS).filter(|&(v, w)| v > w).map(|(v, w)| v * w).max().unwrap_or(6);
        let all = a.iter().copied().filter(|&v| v > 0).all(|v| v < 40) as i32 + 2 * a.iter().copied().filter(|&v| v < 0).any(|v| v == -4) as i32;
        let mut seen = 0;
        let counted = a.iter().map(|v| { seen += v; *v }).count();
        let option = even(x).filter(|&v| v > 1).map_or(8, |v| v + 1) + (y > 3).then_some(x * y).filter(|&v| v != 12).unwrap_or(-9);
        kept + 3 * late + 5 * (many + of_range + counted) as i32 + 7 * least + 11 * most as i32 + 13 * none.unwrap_or(55) + 17 * pairs + 19 * all + seen + 23 * option
    }
    fn kept_by_reference(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y, y - x];
        let counted = a.iter().filter(|v| **v > 2).count() + 10 * a.iter().filter(|&v| *v < y).count() + 100 * a.iter().rev().filter(|&&v| v == 3).count();
        let total = a.iter().skip(1).filter(|v| **v != x && v.signum() == 1).sum::<i32>();
        let most = a.iter().filter(|v| **v < 40).map(|v| *v * 2).max().unwrap_or(9);
        let folded = a.iter().filter(|v| **v > -4).fold(1, |so_far, v| so_far * 3 - *v);
        let tested = a.iter().filter(|_| y > 2).any(|&v| v == -4) as i32 + 2 * a.iter().filter(|v| **v > 2).all(|v| *v < 9) as i32;
        let mut seen = 0;
        a.iter().take(4).filter(|v| { let w = 2 * **v; w < 7 }).for_each(|v| seen = seen * 5 + v);
        counted as i32 + 7 * total + 11 * most + 13 * folded + 17 * tested + seen
    }
    fn up_to_a_test(x: i32, y: i32) -> i32 {
        let a = [1, x, 4, y, 9, x - y, 2];
        let taken = a.iter().take_while(|v| **v < 9).sum::<i32>() + 10 * a.iter().copied().take_while(|&v| v != y).count() as i32;
        let skipped = a.iter().skip_while(|v| **v < y).map(|v| v * 2).sum::<i32>() - a.iter().copied().skip_while(|v| *v != 9).fold(1, joined);
        let mapped = a.iter().map_while(|v| if *v < 9 { Some(v * 3 - x) } else { None }).sum::<i32>() + a.iter().map_while(|v| even(*v + 1)).count() as i32;
        let between = a.iter().copied().skip_while(|v| *v < 3).take_while(|v| *v != 9).map(|v| v ^ y).max().unwrap_or(-8);
        let mut asked = 0;
        let again = a.iter().skip_while(|v| { asked += 1; **v < 4 }).count() as i32;
        let ended = a.iter().take_while(|v| { asked += 10; **v < 4 }).count() as i32;
        taken + 3 * skipped + 5 * mapped + 7 * between + 11 * asked + 13 * again + 17 * ended
    }
    // Of equal keys, the first one is the least, and the last one the greatest.
    fn least_by_key(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y, y - x, 7];
        a.iter().copied().filter(|v| *v > y).min_by_key(|v| *v & 3).unwrap_or(-60)
    }
    fn most_by_key(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y, y - x, 7];
        (0..a.len()).max_by_key(|&k| a[k] / 4).unwrap() as i32
    }
    fn found_items(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y, y - x, 7];
        let n = (x + 6) as usize;
        let of_range = (1..8).position(|k| k * k > y).unwrap_or(20) + 10 * (2..n).position(|k: usize| k % 5 == 4).unwrap_or(n);
        let counted = a.iter().filter(|v| **v > 2).position(|v| *v == 7).unwrap_or(30) + 10 * a.iter().map(|v| v + 1).position(|v| v == 8).unwrap_or(40);
        let ended = a.iter().copied().take_while(|v| *v != -4).skip_while(|v| *v < y).position(|v| v == 3).unwrap_or(50);
        let first = a.iter().copied().find(|v| *v > x).unwrap_or(-60) + 3 * a.iter().map(|v| v * 2).find(|&v| v < y).unwrap_or(70);
        let kept = (0..n).filter(|k| k % 3 == 1).find(|k| k % 2 == 0).map_or(-1, |k| k as i32);
        let pair = a.iter().copied().enumerate().find(|(k, v)| *k as i32 > *v).map_or(9, |(k, v)| 5 * k as i32 + v);
        let halved = a.iter().find_map(|v| even(*v - 1)).unwrap_or(80) + 3 * (0..n).find_map(|k| if k > 4 { Some(k * k) } else { None }).unwrap_or(2) as i32;
        let last = a.iter().copied().filter(|v| *v < y).last().unwrap_or(-90) + 3 * (0..n).last().unwrap_or(7) as i32;
        let reduced = a.iter().copied().reduce(joined).unwrap_or(1) + 3 * a.iter().copied().filter(|v| *v > 40).reduce(|p, q| p - q).unwrap_or(100);
        let mut asked = 0;
        let late = a.iter().position(|v| { asked += 1; *v == 3 }).unwrap_or(8) as i32 + a.iter().copied().find(|v| { asked += 10; *v == -4 }).unwrap_or(5);
        (of_range + counted + ended) as i32 + 3 * first + 5 * kept + 7 * pair + 11 * halved + 13 * last + 17 * (reduced % 1009) + 19 * asked + 23 * late
    }
    fn arrays_in_options(x: i32, y: i32) -> i32 {
        let Some(words) = Some([x, 2]) else { return y };
        let next = words.map(|w| w + y);
        let held: Option<([i32; 2], i32)> = if x > y { Some((next, y)) } else { None };
        let more = match held { Some((pair, k)) => pair.map(|w| w * k), None => [5; 2] };
        more[0] + 3 * more[1]
    }
    fn points_of_partition(x: i32, y: i32) -> i32 {
        let a = [-3, 0, 0, 1, 4, 4, 4, 9];
        let none: [i32; 1] = [y];
        let below = a.partition_point(|v| *v < x) + 10 * a.partition_point(|&v| v <= y);
        let all = a.partition_point(|_| x > y) + 10 * none.partition_point(|v| *v < x);
        below as i32 + 100 * all as i32
    }
    fn kept_pairs(x: i32, y: i32) -> i32 {
        let (a, b) = ([x, y, 3, -4, x * y], [y, x, 2, 5, 1]);
        let many = a.iter().zip(&b).filter(|(p, q)| p < q).count() as i32;
        let dot = a.iter().zip(b.iter()).filter(|(p, q)| **p != **q).map(|(p, q)| p * q).sum::<i32>();
        let late = a.iter().enumerate().filter(|&(k, v)| k > 1 && *v < 4).map(|(k, v)| k as i32 * v).sum::<i32>();
        let most = a.iter().zip(&b).take_while(|(p, _)| **p != 3).map(|(_, &q)| q).max().unwrap_or(-7);
        let folded = a.iter().zip(&b).filter(|(p, q)| **p + **q > 0).fold(1, |so_far: i32, (p, q)| so_far * 3 + p - q);
        let tested = a.iter().zip(&b).filter(|(p, q)| p > q).any(|(p, q)| *p == *q + 1) as i32;
        many + 3 * dot + 5 * late + 7 * most + 11 * folded + 13 * tested
    }
    fn loops_with_closures(x: i32, y: i32) -> i32 {
        let (a, b) = ([x, y, 3, -4, x * y, 7], [y, x, 2, 5, 1, 7]);
        let mut s = 0;
        for v in a.iter().take_while(|v| **v != 3) { s = s * 3 + v; }
        for &v in a.iter().skip_while(|&&v| v < y) {
            if v == 3 { continue; }
            s = s * 3 - v;
        }
        for k in (0..8).skip_while(|k| *k < y) { s += k * x; }
        for k in (0..8).map_while(|k| if k < x { Some(k * 2) } else { None }) {
            if k > 6 { break; }
            s = s * 2 + k;
        }
        for v in a.iter().map(|v| v * 2).filter(|v| *v > 4) { s = (s * 3 + v) % 1009; }
        for (p, q) in a.iter().zip(&b).filter(|(p, q)| p < q) { s += p * q; }
        for (k, &v) in a.iter().enumerate().skip(1).filter(|(k, v)| k % 2 == 1 && **v > 2) { s += k as i32 * v; }
        'outer: for p in a.iter().filter(|p| **p > 2 && **p < 20) {
            for q in (0..*p).filter(|q| q % 2 == 1) {
                if q > 4 { continue 'outer; }
                if q + s == 77 { break 'outer; }
                s = (s * 2 + q) % 1009;
            }
        }
        s
    }
    fn closures_together(x: i32, y: i32) -> i32 {
        let (left, right, n) = (|v: i32| v << 1, |v| v - x, y + 1);
        left(n) + 3 * right(left(y))
    }
    fn of_truth(x: i32, y: i32) -> i32 {
        let a = (x > y).then(|| x - y);
        let b = (-2..5).contains(&x) as i32 + 2 * (1..=y).contains(&(x + 1)) as i32 + 4 * (y..).contains(&x) as i32;
        a.unwrap_or(50) + 100 * b
    }
    fn of_iterators(x: i32, y: i32) -> i32 {
        let a = [x, y, 3, -4, x * y];
        let s = a.iter().sum::<i32>() + a.iter().map(|v| v * 2).sum::<i32>();
        let p = a.iter().copied().product::<i32>() % 1000;
        let f = a.iter().fold(7, |total, v| total * 3 - v) + a.into_iter().fold(1, joined);
        let q = a.iter().any(|&v| v == 5) as i32 + 2 * a.iter().all(|v| *v > -4) as i32;
        let at = a.iter().position(|v| *v > 3).map_or(-1, |i| i as i32);
        let dot = a.iter().zip(&WEIGHTS).map(|(v, w)| v * w).sum::<i32>();
        let squares = (0..x).map(|i| i * i).map(|s| s + y).sum::<i32>();
        let mut most = i32::MIN;
        a.iter().rev().for_each(|v| most = most.max(*v));
        let floats = a.iter().map(|&v| v as f32 * 0.5).sum::<f32>();
        let indexed = a.iter().enumerate().fold(0, |total, (i, v)| total + i as i32 * v);
        s + p + f + q * 10 + at + dot + squares + most + floats as i32 + indexed
    }
    fn elements(x: i32, y: i32) -> i32 {
        type Row = [i32; 3];
        let a: Row = [x, y, 5];
        let i = (y & 7) as usize;
        let ends = a.first().copied().unwrap_or(1) + 3 * a.last().copied().unwrap_or(2);
        a.get(i).copied().map_or(-1, |v| v * 2) + ends
    }
    fn exchanges(x: i32, y: i32) -> i32 {
        let (mut a, mut b) = (x, y);
        std::mem::swap(&mut a, &mut b);
        let old = std::mem::replace(&mut a, b + 1);
        let given = exchange(&mut a, &mut b);
        let mut v = [x, y, 3, 9, -x, 4];
        v.swap(0, (y & 3) as usize);
        let sorted = sorted(v);
        v.fill(x - y);
        a + 3 * b + 5 * old + 7 * given + sorted.iter().fold(0, |total, v| total * 2 + v) + v[3]
    }
}
