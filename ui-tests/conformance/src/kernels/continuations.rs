//! What a caller does with the `Option` of a device function, which calls it where it returns `Some`: in all forms of such statements, and
//! of functions that can take it and that cannot.

use super::twins::twins;

twins! {
    continuations;
    uses {
        #[derive(Clone, Copy, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(super) struct Hit { at: i32, place: [i32; 2] }
    }
    helpers {
        fn even(x: i32) -> Option<i32> {
            if x % 2 == 0 { Some(x / 2) } else { None }
        }
        fn early(x: i32, limit: i32) -> Option<i32> {
            if x > limit {
                return None;
            }
            let mut root = 0;
            while root * root < x {
                root += 1;
                if root == 7 {
                    return None;
                }
            }
            if root < 2 {
                return None;
            }
            Some(root * 3 + x)
        }
        fn either(x: i32) -> Option<i32> {
            if x > 5 {
                return Some(x - 5);
            }
            if x < 2 { None } else { Some(x * 7) }
        }
        fn found(x: i32) -> Option<i32> {
            for k in 1..6 {
                if k * k > x {
                    return Some(k);
                }
            }
            None
        }
        fn forwarded(x: i32) -> Option<i32> {
            even(x + 2)
        }
        fn seven() -> Option<i32> {
            Some(7)
        }
        fn hit(x: i32, then: i32) -> Option<Hit> {
            let at = x * 2 - then;
            if at % 3 == 0 {
                return None;
            }
            Some(Hit { at, place: [x, then] })
        }
        fn halves(x: i32) -> Option<(i32, i32)> {
            let Some(half) = even(x) else { return None };
            let mut least = half;
            if let Some(quarter) = even(half) {
                least = quarter;
            }
            Some((half, least))
        }
    }

    fn in_branches(x: i32, y: i32) -> i32 {
        let mut sum = 1;
        if let Some(a) = early(x * y, 30) {
            sum = sum * 10 + a;
        }
        if let Some(mut a) = either(x) {
            a += y;
            sum = sum * 3 + a;
        }
        if let Some(a) = found(y) {
            sum -= a;
        }
        if let Some(a) = forwarded(y) {
            sum ^= a;
        }
        if let Some(a) = seven() {
            sum += a;
        }
        sum
    }
    fn under_conditions(x: i32, y: i32) -> i32 {
        let (mut least, mut count) = (100, 0);
        for k in 0..6 {
            if let Some(a) = early(x + k * y, 40) && a < least {
                least = a;
                count += k;
            }
            if let Some(a) = even(k + x) && let Some(b) = even(a) && b != y {
                count += b * 100;
            }
        }
        least * 10 + count
    }
    fn in_arms(x: i32, y: i32) -> i32 {
        let mut sum = y;
        match early(x, 9) {
            Some(a) => sum += a,
            None => {}
        }
        match even(y) {
            None => (),
            Some(a) => {
                sum = sum * 5 - a;
            }
        }
        match even(x) {
            Some(3) => sum += 1000,
            _ => {}
        }
        match either(x) {
            Some(a) if a > 2 => sum += a,
            _ => {}
        }
        match even(sum) {
            _ => {}
        }
        sum
    }
    fn of_parts(x: i32, y: i32) -> i32 {
        let mut total = [0; 4];
        if let Some(Hit { at, place: [a, b] }) = hit(x, y) {
            total[0] = at;
            total[1] = a * 10 + b;
        }
        if let Some((half, _)) = halves(y) {
            total[2] = half;
        }
        if let Some((_, 1)) = halves(x) {
            total[3] = 9;
        }
        let then = x + 1;
        if let Some(then) = hit(then, x) {
            total[3] += then.at + then.place[1];
        }
        total[0] + total[1] * 3 + total[2] * 100 + total[3] * 1000
    }
    fn that_lead_elsewhere(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for k in 0..5 {
            if let Some(a) = early(x + k, 20) {
                if a > y * 3 {
                    continue;
                }
                if a == 11 {
                    break;
                }
                sum += a;
            }
            if let Some(a) = even(k) {
                sum = sum * 2 + a;
            } else {
                sum += 1;
            }
        }
        if let Some(a) = even(sum) {
            return a;
        }
        sum
    }
    fn in_each_other(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        let mut add = |a: i32| sum += a;
        if let Some(a) = even(x) {
            add(a);
        }
        if let Some(a) = early(x, 12) {
            if let Some(b) = early(y, 12) {
                for k in 0..3 {
                    if let Some(c) = even(a + b + k) {
                        sum = sum * 3 + c;
                    }
                }
            }
        }
        sum
    }
}
