//! Loops over the elements of local arrays, by all adaptors that a loop can have.

use super::twins::twins;

twins! {
    iterations;
    uses {
        const WEIGHTS: [i32; 4] = [3, -1, 4, 1];
        static TABLE: [[i32; 2]; 3] = [[1, 2], [3, 4], [5, 6]];
    }
    helpers {
        fn total(values: &[i32; 5]) -> i32 {
            let mut sum = 0;
            for x in values {
                sum += x;
            }
            for (i, &x) in values.iter().enumerate() {
                sum += i as i32 * x;
            }
            sum
        }
        fn double(values: &mut [i32; 5], by: i32) {
            for x in values.iter_mut() {
                *x *= by;
            }
            for (i, x) in values.iter_mut().enumerate() {
                *x += i as i32;
            }
            for x in values {
                *x -= 1;
            }
        }
        fn pair(x: i32, y: i32) -> [i32; 2] {
            [x + 1, y - 1]
        }
    }

    fn by_value(x: i32, y: i32) -> i32 {
        let a = [x, y, x * y, 7];
        let mut sum = 0;
        for v in a {
            sum = sum * 3 + v;
        }
        for v in [x, y, 1].into_iter() {
            sum = sum * 5 - v;
        }
        for mut v in pair(x, y) {
            v += 1;
            sum = sum * 2 + v;
        }
        sum
    }
    fn items_of_fields(x: i32, y: i32) -> i32 {
        let pairs = [(x, y), (y, 3), (x ^ y, x)];
        let mut sum = 0;
        for (a, b) in &pairs {
            sum = sum * 3 + a - b;
        }
        for (i, (a, _)) in pairs.iter().enumerate() {
            sum += i as i32 * *a;
        }
        for ((a, ..), w) in pairs.iter().zip(&WEIGHTS) {
            sum = sum * 2 + a * w;
        }
        let mut changed = pairs;
        for (a, _) in changed.iter_mut() {
            *a += 7;
        }
        for pair in changed.iter_mut() {
            pair.0 += pair.1;
            pair.1 -= 1;
        }
        sum += changed.iter().map(|(a, b)| a * b).sum::<i32>();
        sum += changed.iter().fold(0, |so_far, (a, b)| so_far * 2 + a - b);
        sum += pairs.iter().filter(|(a, b)| *a > *b).count() as i32;
        sum
    }
    fn made_of_elements(x: i32, y: i32) -> i32 {
        let a = [x, y, 5];
        let b = a.map(|v| v * 2 + x);
        let c: [i32; 3] = std::array::from_fn(|i| b[i] - a[2 - i]);
        let d = [x, y].map(i32::wrapping_abs);
        let e = c.map(|v| (v, v % 7));
        let found = a.contains(&y) as i32 + c.contains(&3) as i32 * 2;
        e.iter().map(|(v, rest)| v - rest).sum::<i32>() + d[0] * 3 + d[1] + found
    }
    fn made_by_loops(x: i32, y: i32) -> i32 {
        const MOST: usize = 4;
        let a: [i32; MOST] = std::array::from_fn(|k| x * k as i32 + y);
        let mut b: [i32; 4] = std::array::from_fn(|k: usize| if k == 2 { 5 } else { a[3 - k] });
        for k in 0..4 {
            b[k] = b[k] - k as i32;
        }
        let a: [[i32; 3]; 2] = std::array::from_fn(|i| std::array::from_fn(|j| a[i + j] * b[j]));
        let pairs: [(i32, bool); 3] = std::array::from_fn(|k| {
            let sum = a[0][k] - a[1][k];
            (sum, sum > 3)
        });
        let ones: [i32; 5] = std::array::from_fn(|_| x - 1);
        let of_pairs = pairs.iter().fold(0, |sum, (v, is)| sum * 2 + if *is { *v } else { -v });
        of_pairs + ones.iter().sum::<i32>() + b[0] * 3 + b[3] + a[1][2]
    }
    fn the_loop_has_a_copy(x: i32, y: i32) -> i32 {
        let mut a = [x, y, 3, 4];
        let mut sum = 0;
        for v in a {
            a[3] = 100;
            a[2] += v;
            sum = sum * 3 + v;
        }
        sum + a[2] * 1000 + a[3]
    }
    fn by_reference(x: i32, y: i32) -> i32 {
        let a = [x, y, x - y, 9, 2];
        let mut sum = 0;
        for v in &a {
            sum += v * 2 - -v;
        }
        for v in a.iter() {
            sum = if *v > 3 { sum + *v } else { sum - *v };
            sum ^= (*v).max(2) + v.abs();
        }
        for &v in a.iter() {
            sum -= v;
        }
        for v in a.iter().copied() {
            sum = sum * 2 + v;
        }
        sum + total(&a)
    }
    fn changed_in_place(x: i32, y: i32) -> i32 {
        let mut a = [x, y, 1, 2, 3];
        for v in &mut a {
            *v = *v * 2 + 1;
        }
        for v in a.iter_mut().rev().take(2) {
            *v += 50;
        }
        double(&mut a, 3);
        let mut grid = [[x; 3]; 2];
        for row in grid.iter_mut() {
            for (i, v) in row.iter_mut().enumerate() {
                *v += i as i32;
            }
        }
        for (v, w) in a.iter_mut().zip(&grid[1]) {
            *v += w;
        }
        total(&a) + grid[1][2]
    }
    fn reversed(x: i32, y: i32) -> i32 {
        let a = [x, y, 5, 6, 7];
        let mut hash = 0i32;
        for v in a.iter().rev() {
            hash = hash.wrapping_mul(31) + v;
        }
        for (i, v) in a.iter().rev().enumerate() {
            hash = hash.wrapping_mul(31) + *v * i as i32;
        }
        for (i, v) in a.iter().enumerate().rev() {
            hash = hash.wrapping_mul(31) + v * (i as i32);
        }
        for v in a.into_iter().rev().skip(1).step_by(2) {
            hash = hash.wrapping_mul(31) + v;
        }
        hash
    }
    fn some_of_them(x: i32, y: i32) -> i32 {
        let a = [x, y, 5, 6, 7, 8, 9];
        let n = (x + 3) as usize;
        let mut hash = 1i32;
        for v in a.iter().skip(n) {
            hash = hash.wrapping_mul(31) + v;
        }
        for v in a.iter().take(n) {
            hash = hash.wrapping_mul(31) + v;
        }
        for v in a.iter().step_by(n + 1) {
            hash = hash.wrapping_mul(31) + v;
        }
        for v in a.iter().skip(1).step_by(2).take(2).rev() {
            hash = hash.wrapping_mul(31) + v;
        }
        for (i, v) in a.iter().enumerate().skip(2).step_by(3) {
            hash = hash.wrapping_mul(31) + v * i as i32;
        }
        hash
    }
    fn pairs_of_them(x: i32, y: i32) -> i32 {
        let (a, b) = ([x, y, 5], [y, 2, x, 8, 9]);
        let mut hash = 1i32;
        for (v, w) in a.iter().zip(b.iter()) {
            hash = hash.wrapping_mul(31) + v * w;
        }
        for (i, (&v, w)) in a.iter().zip(&b).enumerate() {
            hash = hash.wrapping_mul(31) + v * w + i as i32;
        }
        for ((v, w), u) in a.iter().zip(b).zip(WEIGHTS.iter().rev()) {
            hash = hash.wrapping_mul(31) + *v * w - u;
        }
        for pair in a.into_iter().zip(b).enumerate() {
            hash = hash.wrapping_mul(31) + pair.1.0 * pair.1.1 + pair.0 as i32;
        }
        hash
    }
    fn of_constants(x: i32, y: i32) -> i32 {
        let mut sum = x;
        for w in WEIGHTS {
            sum = sum * 2 + w;
        }
        for w in &WEIGHTS {
            sum = sum * 2 + w * y;
        }
        for row in TABLE.iter() {
            for w in row {
                sum += w;
            }
        }
        for &[a, b] in TABLE.iter() {
            sum += a * b;
        }
        for _ in &WEIGHTS {
            sum += 1;
        }
        sum
    }
    fn of_tuples(x: i32, y: i32) -> i32 {
        let points = [(x, y), (y, 3), (1, x)];
        let mut sum = 0;
        for (a, b) in points {
            sum = sum * 3 + a * b;
        }
        for &(a, _) in points.iter() {
            sum = sum * 3 + a;
        }
        for p in &points {
            sum = sum * 3 + p.1;
        }
        for (i, &(a, b)) in points.iter().enumerate() {
            sum += (a - b) * i as i32;
        }
        sum
    }
    fn jumps_out_of_them(x: i32, y: i32) -> i32 {
        let a = [[x, y, 3], [4, x, y], [7, 8, 9]];
        let mut found = 0;
        'rows: for (r, row) in a.iter().enumerate() {
            for (c, &v) in row.iter().enumerate() {
                if v == 4 {
                    continue 'rows;
                }
                if v == 8 {
                    found = (r * 10 + c) as i32;
                    break 'rows;
                }
                found -= v;
            }
        }
        found
    }
    fn evaluated_once(x: i32, y: i32) -> i32 {
        let grid = [[x, 1], [y, 2], [3, 4]];
        let mut at = 0;
        let mut sum = 0;
        for v in &grid[{ at += 1; at }] {
            at += 1;
            sum = sum * 7 + v;
        }
        for v in grid[2].iter().skip({ at += 1; at % 2 }) {
            at = 0;
            sum = sum * 7 + v;
        }
        sum + at as i32
    }
}
