//! The order of evaluation, which C++ leaves open and Rust does not: operands and arguments with side effects, places
//! and values of assignments, short circuits.

use super::twins::twins;

twins! {
    order;
    uses {}
    helpers {
        // Changes what it is lent, and gives what it was.
        fn next(counter: &mut i32) -> i32 {
            *counter += 1;
            *counter * 10
        }
        fn log(trace: &mut i32, digit: i32) -> i32 {
            *trace = (*trace * 10 + digit) % 1_000_003;
            digit
        }
        fn noted(trace: &mut i32, digit: i32, answer: bool) -> bool {
            *trace = (*trace * 10 + digit) % 1_000_003;
            answer
        }
        fn position(trace: &mut i32, digit: i32) -> usize {
            *trace = (*trace * 10 + digit) % 1_000_003;
            digit as usize % 4
        }
        fn swap(a: &mut i32, b: &mut i32) {
            let old = *a;
            *a = *b;
            *b = old;
        }
        fn toggled(flag: &mut bool) -> bool {
            *flag = !*flag;
            *flag
        }
        fn max(a: i32, b: i32) -> i32 {
            a * 100 + b
        }
        fn nothing(_x: i32) {}
        fn read_then_changed(r: &mut i32) -> i32 {
            let sum = *r + { *r += 1; *r };
            let both = max(*r, next(r));
            let less = if *r < next(r) { 1 } else { 2 };
            let three = [*r, next(r), *r];
            let mut count = 0;
            let end = *r + 3;
            for i in *r..({ *r += 3; end }) {
                count += i % 7;
            }
            let mut grid = [[0; 2]; 2];
            *r %= 2;
            grid[*r as usize][{ *r = 1 - *r; *r as usize }] = 4;
            sum + both * 3 + less * 5 + three[0] % 100 + three[1] % 100 * 7 + three[2] % 100 * 11 + count * 13 + grid[0][1] * 17 + grid[1][0] * 19
        }
    }

    fn behind_references(x: i32, y: i32) -> i32 {
        let mut a = x % 1000;
        let b = read_then_changed(&mut a);
        let mut c = y % 1000;
        b % 100_000 + read_then_changed(&mut c) % 100_000 + a + c
    }

    fn operands_left_to_right(x: i32, y: i32) -> i32 {
        let mut n = x;
        let z = next(&mut n) - next(&mut n) * 3 + next(&mut n) / 7;
        let mut trace = y;
        let w = log(&mut trace, 1) + log(&mut trace, 2) * log(&mut trace, 3);
        z + w + trace
    }
    fn operand_read_before_change(x: i32, y: i32) -> i32 {
        let mut n = x;
        let a = n + next(&mut n);
        let b = next(&mut n) + n;
        let mut m = y;
        let c = m * { m += 1; m } - { m *= 2; m } + m;
        a * 10_000 + b * 100 + c
    }
    fn arguments_left_to_right(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let z = max(log(&mut trace, 4), log(&mut trace, 5));
        let mut n = x;
        let w = max(n, next(&mut n)) - max(next(&mut n), n);
        let mut m = y;
        let v = max({ m += 1; m }, m);
        z + trace + w + v
    }
    fn methods_left_to_right(x: i32, y: i32) -> i32 {
        let mut trace = x;
        let z = log(&mut trace, 1).max(log(&mut trace, 2)).min(log(&mut trace, 3));
        let mut n = y;
        let w = n.wrapping_sub(next(&mut n)).wrapping_mul(n);
        z + trace * 10 + w
    }
    fn comparison_operands(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let less = log(&mut trace, x.abs() % 10) < log(&mut trace, y.abs() % 10);
        let mut n = x;
        let same = n == next(&mut n) - 9 * n;
        trace * 4 + less as i32 * 2 + same as i32
    }
    fn short_circuit(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let p = noted(&mut trace, 1, x > 0) && noted(&mut trace, 2, y > 0) && noted(&mut trace, 3, x > y);
        let q = noted(&mut trace, 4, x > 3) || noted(&mut trace, 5, y > 3) || noted(&mut trace, 6, x == y);
        let r = noted(&mut trace, 7, x > 5) && (noted(&mut trace, 8, y > 5) || noted(&mut trace, 9, x < y));
        trace % 1_000_000 + p as i32 + 2 * (q as i32) + 4 * (r as i32)
    }
    fn short_circuit_mixed(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let p = x > 2 && noted(&mut trace, 1, y > 2) || noted(&mut trace, 2, x > y);
        let q = (x > 2 || noted(&mut trace, 3, y > 1)) && y != 5 && noted(&mut trace, 4, true);
        if x > 4 && noted(&mut trace, 5, y > 4) {
            trace += 1000;
        }
        let mut n = 0;
        while n < 4 && noted(&mut trace, 6, n != y) {
            n += 1;
        }
        trace % 100_000 * 10 + p as i32 * 2 + q as i32
    }
    fn eager_logic_has_type_bool(x: i32, y: i32) -> i32 {
        let mut p = x > 2;
        let mut q = (x > 0) & (y > 0);
        let r = (x > y) | q;
        let mut s = [q ^ r; 3];
        s[1] ^= true;
        p ^= q;
        q = !q;
        let t = toggled(&mut q);
        let u = if x > 5 { p & t } else { p | t };
        let v = loop { break u ^ s[1]; };
        p as i32 + 2 * (q as i32) + 4 * (r as i32) + 8 * (s[0] as i32) + 16 * (t as i32) + 32 * (u as i32) + 64 * (!v as i32)
    }
    fn eager_logic(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let p = noted(&mut trace, 1, x > 0) & noted(&mut trace, 2, y > 0);
        let q = noted(&mut trace, 3, x > 3) | noted(&mut trace, 4, y > 3);
        let r = noted(&mut trace, 5, x > 5) ^ noted(&mut trace, 6, y > 5);
        let mut s = x == y;
        let t = toggled(&mut s);
        let mut v = x > y;
        v |= noted(&mut trace, 7, x == y);
        v &= noted(&mut trace, 8, x != 3);
        trace + p as i32 + 2 * (q as i32) + 4 * (r as i32) + 8 * (s as i32) + 16 * (t as i32) + 32 * (v as i32)
    }
    fn guarded_division(x: i32, y: i32) -> i32 {
        let p = y != 0 && x / y > 1;
        let q = y == 0 || x % y == 0;
        let r = if y != 0 { x / y } else { 0 };
        p as i32 + 2 * (q as i32) + 10 * r
    }
    fn assignment_value_first(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let mut a = [0, 0, 0, 0];
        a[position(&mut trace, 1)] = log(&mut trace, 2);
        a[position(&mut trace, 3)] = x;
        a[position(&mut trace, 2)] += log(&mut trace, 5);
        a[position(&mut trace, 2)] *= y + log(&mut trace, 7);
        let mut n = 1usize;
        a[n] = { n = 2; 50 };
        a[n] += { n = 3; 60 };
        a[n] -= n as i32;
        trace + a[0] * 3 + a[1] * 5 + a[2] * 7 + a[3] * 11
    }
    fn nested_places(x: i32, y: i32) -> i32 {
        let mut trace = 0;
        let mut a = [[0; 4]; 4];
        a[position(&mut trace, 1)][position(&mut trace, 2)] = log(&mut trace, 3);
        a[position(&mut trace, 2)][position(&mut trace, 3)] += log(&mut trace, 4) + x;
        let b = a[position(&mut trace, 1)][position(&mut trace, 2)] - a[position(&mut trace, 2)][position(&mut trace, 3)];
        trace % 1_000_000 + b * 3 + y
    }
    fn compound_assignments(x: i32, y: i32) -> i32 {
        let mut n = x;
        n += { n = 5; 2 };
        n -= next(&mut n);
        n *= if y > n { y } else { 3 };
        n ^= { let m = n; m >> 1 };
        let mut m = y;
        m += m * m;
        m <<= { m %= 50; 2 };
        n + m
    }
    fn array_elements_left_to_right(x: i32, y: i32) -> i32 {
        let mut n = x;
        let a = [n, next(&mut n), n, { n += y; n }];
        let mut trace = 0;
        let b = [log(&mut trace, 1), log(&mut trace, 2), x];
        a[0] + 3 * a[1] + 5 * a[2] + 7 * a[3] + b[0] + b[1] + b[2] + trace
    }
    fn swaps(x: i32, y: i32) -> i32 {
        let mut a = x;
        let mut b = y;
        swap(&mut a, &mut b);
        let mut c = [a, b];
        let d = c[0];
        c[0] = c[1];
        c[1] = d;
        a * 1000 + b * 100 + c[0] * 10 + c[1]
    }
    fn discarded(x: i32, y: i32) -> i32 {
        let mut n = x;
        let _ = next(&mut n);
        let _unused = next(&mut n);
        next(&mut n);
        nothing(y);
        n
    }
}
