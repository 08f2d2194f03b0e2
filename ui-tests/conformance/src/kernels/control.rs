//! Control flow: branches, loops, ranges, labels and early ends, as statements and as values.

use super::twins::twins;

twins! {
    control;
    uses {}
    helpers {
        // Changes what it is lent, and gives what it was.
        fn next(counter: &mut i32) -> i32 {
            *counter += 1;
            *counter * 10
        }
        fn early(x: i32) -> i32 {
            if x < 0 {
                return -1;
            }
            for i in 0..x {
                if i * i >= x {
                    return i;
                }
            }
            x
        }
    }

    fn branches(x: i32, y: i32) -> i32 {
        if x < y {
            1
        } else if x == y {
            2
        } else if x > 2 * y && y != 0 {
            3
        } else {
            4
        }
    }
    fn branch_as_operand(x: i32, y: i32) -> i32 {
        10 * if x > 0 { x } else { -x } + if y > 0 { y } else { let z = y - 1; z * z }
    }
    fn branch_with_effects_as_operand(x: i32, y: i32) -> i32 {
        let mut n = 1;
        let a = 10 + if x > y { n += x; x } else { n += 2; y };
        let b = x.max(if y > 3 { n *= 2; n } else { n -= 1; 4 }) + n;
        let c = [if x > 2 { n += 100; 1 } else { 2 }, n];
        a + b + 7 * c[0] + c[1] + n
    }
    fn branch_with_locals_as_operand(x: i32, y: i32) -> i32 {
        let y = y + 1;
        x + if x > 1 { let x = 5; x } else { let x = y; let y = 9; x * y } * 2 + y
    }
    fn branch_of_statements(x: i32, y: i32) -> i32 {
        let z = if x > y {
            let d = x - y;
            d * d
        } else {
            let mut d = y - x;
            d += 1;
            d
        };
        z + 1
    }
    fn branch_without_else(x: i32, y: i32) -> i32 {
        let mut z = 0;
        if x > 3 {
            z = 1;
        }
        if y > 3 {
            z += 10;
        }
        if z > 10 { return 99; }
        z
    }
    fn block_value(x: i32, y: i32) -> i32 {
        let z = {
            let x = x * y;
            let y = x + y;
            x - y
        };
        z + { x } + { let q = { y + 1 }; q * { 2 } }
    }
    fn early_return(x: i32, y: i32) -> i32 {
        if x > 8 {
            return x;
        }
        if y > 8 {
            return if x > 0 { y } else { return -y; };
        }
        early(x + y)
    }
    fn return_as_operand(x: i32, y: i32) -> i32 {
        let z = x + if y > 5 { return 7 } else { y };
        z * 2
    }
    fn late_assignment(x: i32, y: i32) -> i32 {
        let z;
        if x < y {
            z = x;
        } else {
            z = y * 2;
        }
        let w: i32;
        w = z + 1;
        w * z
    }
    fn never_in_else(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for i in 0..6 {
            let z = if i != y { i } else { break };
            let w = if z != x { z } else { continue };
            sum += w;
        }
        sum
    }

    // Loops.

    fn while_loop(x: i32, y: i32) -> i32 {
        let mut n = x * x + y * y;
        let mut steps = 0;
        while n > 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }
    fn while_with_effects(x: i32, y: i32) -> i32 {
        let mut n = 0;
        let mut sum = 0;
        while { n += 1; n < x } && next(&mut n) < 10 * y {
            sum += n;
        }
        sum * 100 + n
    }
    fn loop_value(x: i32, y: i32) -> i32 {
        let mut i = x;
        let found = loop {
            i += 1;
            if i * i > 40 + y {
                break i * 2;
            }
            if i > 20 {
                break -1;
            }
        };
        found + i
    }
    fn loop_of_calls(x: i32, y: i32) -> i32 {
        let mut n = 0;
        let last = loop {
            if next(&mut n) > 30 + x {
                break next(&mut n);
            }
        };
        last + n + y
    }
    fn ranges(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for i in x..y {
            sum += i;
        }
        for i in x..=y {
            sum += i * 2;
        }
        for i in (x..y).rev() {
            sum = sum * 3 % 1009 + i;
        }
        for i in (x..=y).rev() {
            sum = sum * 3 % 1013 + i;
        }
        for _ in 0..y {
            sum += 1;
        }
        sum
    }
    fn steps(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for i in (x..y).step_by(2) {
            sum = sum * 7 % 1009 + i;
        }
        for i in (x..=y).step_by(3) {
            sum = sum * 7 % 1013 + i;
        }
        for i in (x..y).rev().step_by(2) {
            sum = sum * 7 % 1019 + i;
        }
        for i in (x..=y).rev().step_by(5) {
            sum = sum * 7 % 1031 + i;
        }
        for i in (0..40u8).step_by(200) {
            sum += i as i32;
        }
        sum
    }
    fn ranges_at_the_end_of_a_type(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for i in 250..=255u8 {
            sum += i as i32;
        }
        for i in (250u8..=255).rev() {
            sum = sum * 3 % 1009 + i as i32;
        }
        for i in (-128i8..=127).step_by(100) {
            sum = sum * 3 % 1009 + i as i32;
        }
        for i in (0u8..255).step_by(254) {
            sum = sum * 3 % 1009 + i as i32;
        }
        for i in 2_147_483_645..=i32::MAX {
            sum += i % 100;
        }
        for i in (i32::MIN..i32::MAX).step_by(2_000_000_000) {
            sum += i % 100;
        }
        for i in (u64::MAX - 2..=u64::MAX).rev() {
            sum += (i % 100) as i32;
        }
        sum + x + y
    }
    fn range_bounds_are_read_once(x: i32, y: i32) -> i32 {
        let mut end = y;
        let mut n = 0;
        for i in 0..end {
            end += i;
            n += 1;
        }
        for i in next(&mut n)..next(&mut n) + x {
            n += i % 3;
        }
        n * 100 + end
    }
    fn mutable_loop_variable(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        for mut i in 0..5 {
            i *= x;
            i += y;
            sum += i;
        }
        sum
    }
    fn labels(x: i32, y: i32) -> i32 {
        let mut sum = 0;
        'outer: for i in 0..10 {
            'inner: for j in 0..10 {
                if j == x {
                    continue 'outer;
                }
                if i == y {
                    break 'outer;
                }
                if i + j == x + y {
                    break 'inner;
                }
                if j % 2 == 1 {
                    continue;
                }
                sum += i * j;
            }
            sum += 100;
        }
        sum
    }
    fn labelled_values(x: i32, y: i32) -> i32 {
        let mut n = 0;
        let z = 'outer: loop {
            loop {
                n += 1;
                if n > x {
                    break 'outer n * 10;
                }
                if n % 3 == 0 {
                    break;
                }
            }
            n += 1;
            if n > y {
                break n;
            }
        };
        z + n
    }
    fn labelled_block(x: i32, y: i32) -> i32 {
        let z = 'found: {
            if x > 5 {
                break 'found 1;
            }
            for i in 0..5 {
                if i == y {
                    break 'found 2 + i;
                }
            }
            if x == y {
                break 'found 20;
            }
            30
        };
        'done: {
            if z > 10 {
                break 'done;
            }
            return z;
        }
        z + 1
    }
    fn same_label_twice(x: i32, y: i32) -> i32 {
        let mut n = 0;
        'a: for i in 0..4 {
            for j in 0..4 {
                if i * j == x {
                    continue 'a;
                }
                if i + j == y {
                    break 'a;
                }
                n += 1;
            }
        }
        'a: loop {
            loop {
                n += 1;
                if n > 20 {
                    break 'a;
                }
                if n % 5 == 0 {
                    continue 'a;
                }
            }
        }
        n
    }
    fn continue_in_while(x: i32, y: i32) -> i32 {
        let mut i = 0;
        let mut sum = 0;
        'outer: while i < 12 {
            i += 1;
            if i % 3 == 0 {
                continue;
            }
            let mut j = 0;
            while j < i {
                j += 1;
                if j == x {
                    continue 'outer;
                }
                if j > y {
                    break;
                }
                sum += j;
            }
            sum += 100;
        }
        sum
    }
    fn loops_in_conditions(x: i32, y: i32) -> i32 {
        if (loop { break x > y }) && { let mut n = 0; for i in 0..3 { n += i; } n == 3 } {
            1
        } else {
            2
        }
    }
    fn return_from_nested_loops(x: i32, y: i32) -> i32 {
        for i in 0..6 {
            for j in 0..6 {
                loop {
                    if i * j > x + y {
                        return i * 100 + j;
                    }
                    break;
                }
            }
        }
        -1
    }
}
