//! Patterns whose alternatives bind, patterns from both ends of an array, and constants that are tuples.

use super::twins::twins;

twins! {
    alternatives;
    uses {
        #[derive(Clone, Copy, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(super) struct Edge { from: i32, to: i32 }

        pub(super) const LIMIT: (i32, bool) = (4, true);
        pub(super) const CASES: [(i32, (i32, f32)); 3] = [(1, (10, 0.5)), (2, (20, -1.5)), (3, (30, 2.0))];
        pub(super) const ORIGIN: (i32, i32) = (0, 0);
        pub(super) const MIXED: [(u8, i64, u8); 2] = [(1, -2, 3), (4, 5, 6)];
    }
    helpers {
        fn even(x: i32) -> Option<i32> {
            if x % 2 == 0 { Some(x / 2) } else { None }
        }
    }
    fn either_end(x: i32, y: i32) -> i32 {
        match (x, y) {
            (0, n) | (n, 0) => n * 10,
            (1, mut n) | (mut n, 1) => {
                n += 5;
                n
            }
            (a @ 2..=4, b) | (b, a @ 2..=4) => a * 100 + b,
            (a, b) => a - b,
        }
    }
    fn in_options(x: i32, y: i32) -> i32 {
        let in_order = match (even(x), even(y)) {
            (Some(a), None) | (None, Some(a)) => a,
            (Some(a), Some(b @ (1 | 2))) | (Some(b @ 3), Some(a)) => a * 10 + b,
            (Some(_), Some(_)) | (None, None) => -1,
        };
        let nested = match (even(x), y) {
            (Some(a @ 0 | a @ 1), b) | (Some(b), a @ 5) => a + b * 7,
            (None, a) | (Some(a), _) => a,
        };
        in_order * 1000 + nested
    }
    fn other_places(x: i32, y: i32) -> i32 {
        let ((a, 3) | (3, a)) = (x, y) else { return x * y; };
        let mut sum = if let (b, 0) | (_, b) = (a, x) && b > 1 { b } else { 7 };
        let mut pair = (x, y);
        while let (n @ 1.., _) | (_, n @ 1..) = pair {
            sum += n;
            pair = (pair.0 - 2, pair.1 - 3);
        }
        let (Edge { from: first, to: 2.. } | Edge { to: first, from: _ }) = Edge { from: x, to: y };
        sum * 10 + first
    }
    fn guarded(x: i32, y: i32) -> i32 {
        let mut tries = 0;
        let first = match (x, y) {
            // The guard runs for the second alternative if it does not hold for the first.
            (n, 1) | (1, n) | (n, 2) if n > 3 => n,
            (a, 3) | (3, a) if { tries += 1; a % 2 == 0 } => a * 10,
            (mut a, b) | (b, mut a) if a + 3 < b => {
                a += 1;
                a * 100 + b
            }
            (a, b) if a == b => 7,
            (4, b) | (b, 4) => b - 5,
            _ => -3,
        };
        let in_options = match (even(x), even(y)) {
            (Some(a), _) | (_, Some(a)) if a > 1 => a,
            (None, Some(b)) | (Some(b), None) if even(b).is_some() => b * 50,
            _ => 9,
        };
        let matched = matches!((x, y), (2, n) | (n, 2) if n > 4);
        first * 1000 + in_options * 10 + matched as i32 + tries * 7
    }
    fn both_ends(x: i32, y: i32) -> i32 {
        let array = [x, y, x + y, x - y, 9];
        let [first, .., last] = array;
        let [.., before, _] = array;
        let [_, second, ..] = array;
        let sum = match array {
            [0, .., 9] => 1,
            [a, .., b, _] if a == b => a,
            [.., 5 | 6, c, _] => c,
            [1, b, ..] | [b, .., 2, _] => b,
            [..] => 100,
        };
        let [[.., a], .., [b, ..]] = [[x, 1], [2, y], [3, 4]];
        first + last * 10 + before * 100 + second * 1000 + sum * 10000 + a + b
    }
    fn tuple_constants(x: i32, y: i32) -> i32 {
        const LOCAL: (i32, [i32; 3]) = (2, [5, 6, 7]);
        let (limit, on) = LIMIT;
        let (number, (tens, scale)) = CASES[(x + 3) as usize % 3];
        let at_origin = match (x, y) {
            ORIGIN => 1000,
            _ => 0,
        };
        let mixed = MIXED[y as usize % 2];
        let all = if on && x < LIMIT.0 { limit } else { number };
        all + tens + (scale * 2.0) as i32 + at_origin + LOCAL.1[x as usize % 3] * LOCAL.0
            + mixed.0 as i32 * 3 + mixed.1 as i32 - mixed.2 as i32
    }
}
