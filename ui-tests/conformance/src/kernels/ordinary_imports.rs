//! Rust as it is written everywhere, which rests on what `use` has imported and on values that are consumed where they are made: functions of
//! `std::cmp` and `std::mem` by their names, conversions that may fail, ranges with names, elements in place, floats in patterns.

use super::twins::twins;

/// A struct that is matched behind a reference.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Cell {
    level: i32,
    ends: [i32; 2],
}

twins! {
    ordinary_imports;
    uses {
        use std::array;
        use std::cmp::{self, Ordering, max, min};
        use std::mem::{self, replace, swap, take};

        use super::Cell;
    }
    helpers {
        fn furthest(v: &[i32; 4]) -> i32 {
            v.iter().copied().fold(0, max)
        }
    }

    fn imported_functions(x: i32, y: i32) -> i32 {
        let (mut a, mut b) = (max(x, y), min(x * 2, y));
        swap(&mut a, &mut b);
        let c = replace(&mut a, 7);
        let d = take(&mut b);
        mem::swap(&mut a, &mut b);
        let v: [i32; 4] = array::from_fn(|k| x * k as i32);
        let max = |p: i32, q: i32| p - q;
        a + b * 3 + c * 5 + d * 7 + cmp::max(v[2], 3) + furthest(&v) * 11 + max(x, 2)
    }
    fn imported_inside(x: i32, y: i32) -> i32 {
        use std::cmp::Ordering::Less;
        let order = x.cmp(&y).then_with(|| (x % 3).cmp(&(y % 2)));
        let low = (x - 3..max(y, 2)).filter(|k| k % 2 == 0).map(|k| min(k, 4)).sum::<i32>();
        match order { Less => low, Ordering::Equal => 40, Ordering::Greater => 50 - low }
    }
    fn conversions(x: i32, y: i32) -> i32 {
        let a = u8::try_from(x * 100).unwrap_or(77);
        let b: i16 = (x * 20000).try_into().unwrap_or(-5);
        let c = if let Ok(n) = usize::try_from(x) && n > 2 { n as i32 } else { -1 };
        let d = match i8::try_from(y * 20) { Ok(n) if n > 100 => 1, Ok(n) => n as i32, Err(_) => 400 };
        let e = u64::try_from(x as i64 * y as i64).map(|n| n * 2).map_or(9, |n| n as i32);
        let f = u32::try_from(x).is_ok() as i32 + 2 * u16::try_from(y).is_err() as i32;
        let Ok(g) = u32::try_from(y + 2) else { return 12345 };
        let h = u8::try_from(x * 100).ok().filter(|n| n % 2 == 0).is_some() as i32 + i8::try_from(y * 40).unwrap_or_default() as i32;
        let k = i64::try_from(x as u128).unwrap_or_else(|_| 13) as i32 + i128::try_from(y).unwrap() as i32;
        a as i32 + b as i32 * 3 + c * 5 + d * 7 + e + f * 11 + g as i32 + h * 17 + k * 19
    }
    fn arrays_of_parts(x: i32, y: i32) -> i32 {
        let v = [x as u8, y as u8, 3, 4, 5, 6, 7, 8];
        let n = (x.unsigned_abs() % 5) as usize;
        let a = u32::from_le_bytes(v[n..n + 4].try_into().unwrap());
        let b: [u8; 2] = v[6..].try_into().unwrap();
        (a >> 3) as i32 + b[1] as i32
    }
    fn named_ranges(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7, 8];
        let n = (x.unsigned_abs() % 8) as usize;
        let r = n..min(n + 3, v.len());
        let mut s = 0;
        for i in r.clone() { s = s * 3 + v[i]; }
        for i in r.clone().rev() { s = s * 5 + v[i] * i as i32; }
        s += r.len() as i32 * 7 + r.start as i32 + r.end as i32 * 3 + r.is_empty() as i32;
        s += v[r.clone()].iter().sum::<i32>();
        let outer = -2..=y;
        if outer.contains(&x) && !outer.is_empty() { s += *outer.start() + *outer.end() * 2; }
        assert!(r.start <= r.end, "the range {}", r.start);
        s + outer.map(|k| k * 2).sum::<i32>() % 1000 + r.map(|i| v[i]).max().unwrap_or(1)
    }
    fn elements_in_place(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3, 4, 5, 6, 7, 8];
        if let Some(q) = v.get_mut(x as usize) { *q += 10; }
        if let Some(q) = v.last_mut() { *q = x; } else { return 1 }
        let Some(q) = v.first_mut() else { return 2 };
        *q *= 2;
        let n = (y.unsigned_abs() % 9) as usize;
        {
            let (left, right) = v.split_at_mut(n);
            for k in 0..min(left.len(), right.len()) { left[k] += right[k] * 3; }
            if n < 4 { right.swap(0, 3); let (mid, end) = right.split_at_mut(2); end[0] = mid[1] + left.len() as i32; }
            right.reverse();
            left.fill(x);
        }
        v.iter().fold(0, |a, b| (a * 7 + b) % 10007)
    }
    fn floats_in_patterns(x: i32, y: i32) -> i32 {
        let f = x as f32 / 2.0;
        let a = match f {
            0.0 => 1,
            -1.0..0.0 | 6.0 => 2,
            t @ 0.5..=1.5 if y > 3 => (t * 10.0) as i32,
            ..=1.0 => 3,
            4.0.. if y < 2 => 4,
            _ => 5,
        };
        let b = match (f * y as f32, y) { (0.0..2.0, 1) => 1, (_, 2) => 2, (8.0, _) => 3, _ => 4 };
        let nan = (x - x) as f32 / (y - y) as f32;
        let c = match nan { 0.0..=1.0 => 1, ..0.0 => 2, 1.0.. => 3, _ => 4 };
        a + b * 10 + c * 100 + matches!(f, 1.0..=3.0) as i32 * 1000
    }
    fn references_in_patterns(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, -5];
        let cell = Cell { level: x, ends: [y, 3] };
        let mut s = 0;
        if let Some(q) = v.get(x as usize) && *q > 2 && let Some(r) = v.get(y as usize) && r > q { s += *q * 3 + r; }
        s += match v.iter().max() { Some(k) if *k > 7 => *k, Some(k) => -k, None => 0 };
        s += matches!(v.get(y as usize), Some(3..=4)) as i32 * 11 + matches!(v.first(), Some(k) if *k > 3) as i32;
        let Cell { level, ends: [p, _] } = &cell;
        let [t, .., u] = &v;
        s += match &cell { Cell { level: 0..=3, ends } => ends[0], Cell { level, .. } if *level > 5 => *level, _ => 17 };
        s += match (x, y) { (ref a, b) if *a > b => *a, _ => 2 };
        if let (Some(k), true) = &(v.first().copied(), x > y) { s += *k; }
        let mut k = 0;
        while let Some(0..=6) = v.get(k) { k += 1; }
        s + *level * 3 + p * 5 + *t + u + k as i32
    }
    fn numbered_values(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, -5];
        let mut s = 0;
        for (k, w) in v.iter().map(|w| w * w).enumerate() { s = s * 3 + w * k as i32; }
        let (at, least) = v.iter().map(|w| (w - 2).abs()).enumerate().min_by(|(_, a), (_, b)| a.cmp(b)).unwrap();
        let bytes = x.to_be_bytes().map(|b| b as i32);
        (s + at as i32 * 7 + least) % 100_003 + bytes[3] + y.to_le_bytes().map(|b| b / 2)[0] as i32
    }
}
