//! Conditions with `let`s in a row, guards with them, `?`, and parameters that are patterns.

use super::twins::twins;

twins! {
    chains;
    uses {
        #[derive(Clone, Copy, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(super) struct Pair { a: i32, b: i32 }
    }
    helpers {
        fn even(x: i32) -> Option<i32> {
            if x % 2 == 0 { Some(x / 2) } else { None }
        }
        fn counted(x: i32, calls: &mut i32) -> Option<i32> {
            *calls += 1;
            even(x)
        }
        fn quarter(x: i32) -> Option<i32> {
            let half = even(x)?;
            Some(even(half)? + 1)
        }
        fn first_of(a: [i32; 3]) -> Option<(usize, i32)> {
            for (i, x) in a.iter().enumerate() {
                let y = x + 2 * quarter(*x + 4)?;
                if y > 3 {
                    return Some((i, y));
                }
            }
            let last = a[2].checked_sub(1)?.checked_mul(even(a[1] + 8)?)?;
            Some((3, last))
        }
        fn sum((a, b): (i32, i32), [c, d]: [i32; 2], _: u8, Pair { a: e, b: _ }: Pair) -> i32 {
            a + 10 * b + 100 * c + 1000 * d + e
        }
        fn folded(n: i32, f: impl Fn((i32, i32), i32) -> i32) -> i32 {
            let mut total = 1;
            for i in 0..n.min(5) {
                total = f((i, total), n);
            }
            total
        }
    }

    fn chains(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        if let Some(a) = even(x) && a > 1 && let Some(b) = even(y + a) && b != 3 {
            sum += a * 10 + b;
        }
        if x > 2 && y > 2 && let Some(a) = even(x) {
            sum += a * 100;
        } else {
            sum += 1000;
        }
        if let Some(a) = even(x) && let Some(b) = even(a) {
            sum += b;
        } else if let Some(b) = even(y) && (b > 2 || x > 5) {
            sum -= b;
        } else {
            sum -= 7;
        }
        sum
    }
    fn chain_as_value(x: i32, y: i32) -> i32 {
        let z = if let (a, 2..=9) = (x, y) && let Some(b) = even(a) { b * y } else { y - x };
        z + if y > 0 && let Some(b) = even(x) { b } else { return z; }
    }
    fn chain_stops_early(x: i32, y: i32) -> i32 {
        let mut calls = 0;
        let mut sum = 0;
        if let Some(a) = counted(x, &mut calls) && let Some(b) = counted(y, &mut calls) && a / (b + 100) == 0 {
            sum = a + b;
        }
        if x != 0 && let 1.. = 12 / x {
            sum += 1000;
        }
        sum + calls * 100
    }
    fn chain_in_while(x: i32, y: i32) -> i32 {
        let (mut x, mut sum) = (x * 8, y);
        while let Some(a) = even(x) && a > 0 && let Some(b) = even(a + y * 2) {
            sum = sum * 2 + b;
            x = a;
            if sum > 1000 {
                continue;
            }
            sum += 1;
        }
        'outer: while x > 0 && let Some(a) = even(x + 1) {
            x = a - 2;
            while sum > 5 && let b @ 0..50 = sum {
                sum = b / 2;
                if sum == 7 {
                    break 'outer;
                }
            }
        }
        sum * 100 + x
    }
    fn guards(x: i32, y: i32) -> i32 {
        let mut calls = 0;
        let z = match (x, y) {
            (0, b) if let Some(c) = even(b) => c,
            (a, b) if let Some(c) = counted(a, &mut calls) && let Some(d) = even(b + c) && d > 1 => c * 10 + d,
            (a, 3..) if a > 3 && let Some(c) = even(a + 1) => c * 1000,
            (a, b) if a > b => 5,
            (_, b) => b,
        };
        z * 10 + calls
    }
    fn question_marks(x: i32, y: i32) -> i32 {
        let a = quarter(x).unwrap_or(-1);
        let b = match first_of([x, y, 7]) {
            Some((i, n)) => i as i32 * 100 + n,
            None => -5,
        };
        a * 1000 + b
    }
    fn pattern_parameters(x: i32, y: i32) -> i32 {
        let p = Pair { a: x * y, b: 3 };
        let swap = |(a, b): (i32, i32)| (b, a);
        let dot = |Pair { a, b }: Pair, [c, _]: [i32; 2], _: u32| a * c + b;
        let (c, d) = swap((x, y));
        let all = folded(x, |(i, total), n| total * 3 + i - n);
        sum((c, d), [x, y], 3, p) + dot(p, [y, x], 4) + all
    }
}
