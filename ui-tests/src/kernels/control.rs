//! Control flow, evaluation order and names. Each function here is compiled twice from one text, as a device function
//! and as plain Rust; a kernel of the same name calls the first for every pair of small arguments, and rustc says what must come out.

use phalanx::prelude::*;

use crate::{Check, Kernel, Module, Outcome, same};

/// Functions in two modules, `gpu` and `host`, and a kernel that calls all of them.
macro_rules! twins {
    (
        uses { $($uses:item)* }
        helpers { $(fn $helper:ident($($params:tt)*) $(-> $ret:ty)? { $($help:tt)* })* }
        $(fn $name:ident($x:ident: i32, $y:ident: i32) -> i32 { $($body:tt)* })*
    ) => {
        mod gpu {
            use phalanx::prelude::*;
            $($uses)*
            $(#[device] pub(super) fn $helper($($params)*) $(-> $ret)? { $($help)* })*
            $(#[device] pub(super) fn $name($x: i32, $y: i32) -> i32 { $($body)* })*
        }

        #[allow(clippy::all, unused_unsafe, unused_mut, unused_variables, non_snake_case, unused_parens, unused_assignments, unused_labels, unreachable_code, reason = "what is tested")]
        mod host {
            $($uses)*
            $(pub(super) fn $helper($($params)*) $(-> $ret)? { $($help)* })*
            $(pub(super) fn $name($x: i32, $y: i32) -> i32 { $($body)* })*
        }

        mod kernels {
            use super::*;
            $(
                #[cluster_kernel(block = 128)]
                pub(super) fn $name(xs: &[i32], ys: &[i32], out: &mut [i32]) {
                    let i = this_grid().thread_rank();
                    if i < xs.len() {
                        out[i] = gpu::$name(xs[i], ys[i]);
                    }
                }
            )*
        }

        mod checks {
            use super::*;
            $(
                pub(super) fn $name(device: &Device) -> Outcome {
                    let pairs = || (-3..=12).flat_map(|x| (-3..=12).map(move |y| (x, y)));
                    let (xs, ys): (Vec<i32>, Vec<i32>) = pairs().unzip();
                    let mut out = device.zeros(xs.len())?;
                    kernels::$name(&device.upload(&xs)?, &device.upload(&ys)?, &mut out).grid(2).launch(device)?;
                    let want: Vec<i32> = pairs().map(|(x, y)| host::$name(x, y)).collect();
                    same(&out.read()?, &want, |i| format!("x = {}, y = {}", xs[i], ys[i]))
                }
            )*
        }

        /// This file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let checks = vec![$(Check { name: stringify!($name), run: checks::$name }),*];
            let kernels = vec![$(Kernel::of::<kernels::$name>(stringify!($name))),*];
            let on_the_host = Check { name: "on_the_host", run: on_the_host };
            vec![Module { name: "control", checks: [checks, vec![on_the_host]].concat(), kernels }]
        }
    };
}

twins! {
    uses {
        #[allow(dead_code, reason = "one of the twins may not use it")]
        const STEP: i32 = 3;
        type Real = f32;
    }

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
        fn fill(values: &mut [i32; 4], from: i32) {
            for i in 0..4 {
                values[i] = from + i as i32;
            }
        }
        fn total(values: &[i32; 4]) -> i32 {
            let mut sum = 0;
            for i in 0..values.len() {
                sum += values[i];
            }
            sum
        }
        fn reversed(values: [i32; 4]) -> [i32; 4] {
            [values[3], values[2], values[1], values[0]]
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
        fn toggled(flag: &mut bool) -> bool {
            *flag = !*flag;
            *flag
        }
        fn twice(x: Real) -> Real {
            x * 2.0
        }
        fn max(a: i32, b: i32) -> i32 {
            a * 100 + b
        }
        fn int(a: i32) -> i32 {
            a - 1
        }
        fn nothing(_x: i32) {}
    }

    // Branches.

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

    // The order of evaluation.

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

    // Names.

    fn shadowing(x: i32, y: i32) -> i32 {
        let x = x + 1;
        let x = x * y;
        let z = x;
        {
            let x = z - 1;
            let z = x * 2;
            if z > 3 {
                let x = 5;
                return x + z;
            }
        }
        for x in 0..2 {
            let x = x + z;
            if x > 100 {
                return x;
            }
        }
        let y = x > y;
        if y { x } else { z + 7 }
    }
    fn shadowing_with_another_type(x: i32, y: i32) -> i32 {
        let x = x as f64 * 0.5;
        let x = x as i64;
        let y = [y, 1];
        let y = y[0] + y[1];
        x as i32 * 10 + y
    }
    fn initialised_by_what_it_shadows(x: i32, y: i32) -> i32 {
        let a = x;
        let a = [a, a + 1, a * y];
        let a = a[2] - a[1] + a[0];
        let max = max(a, 2);
        let next = { let mut n = max; next(&mut n) };
        next
    }
    fn cpp_words(x: i32, y: i32) -> i32 {
        let auto = x;
        let int = int(auto);
        let float = y as f32;
        let register = int + 1;
        let class = register - y;
        let template = [class, int];
        let namespace = template[0] + template[1];
        let unsigned = namespace as u32;
        let signed = unsigned as i32;
        let double = signed as f64;
        let new = double as i32;
        let delete = new + auto;
        let operator = delete & 7;
        let this = operator | 8;
        let nullptr = this == 8;
        let and = nullptr && x > 0;
        let xor = and as i32;
        let sizeof = xor + float as i32;
        let volatile = sizeof;
        let default = volatile + 1;
        let switch = default;
        let goto = switch;
        let asm = goto;
        let char = asm as u8;
        let short = char as i16;
        let long = short as i64;
        let main = long as i32;
        main + new
    }
    fn macros_of_cpp(x: i32, y: i32) -> i32 {
        let NULL = x;
        let linux = NULL + y;
        let unix = linux;
        let __CUDACC__ = unix;
        let __FILE__ = __CUDACC__;
        let INT_MAX = __FILE__;
        let NAN = INT_MAX;
        let EOF = NAN;
        let M_PI = EOF;
        let assert = M_PI;
        let offsetof = assert;
        let va_list = offsetof;
        va_list
    }
    fn prelude_words(x: i32, y: i32) -> i32 {
        let array = [x, y];
        let slice = array[0];
        let min = slice.min(array[1]);
        let max = max(min, 3);
        let range = max % 7;
        let mut option = 0;
        for range in 0..range {
            option += range;
        }
        let as_ = option as u8;
        let threadIdx = as_ as i32;
        let blockDim = threadIdx + 1;
        let failure = blockDim;
        let fail = failure;
        let detail = fail;
        let phalanx = detail;
        let extent = phalanx;
        let integer = extent;
        let real = integer;
        let atomic = real;
        let shared_array = atomic;
        let usize_ = shared_array as usize;
        let assertion_failed = usize_ as i32;
        let abs = assertion_failed.abs();
        let sqrt = (abs as f32).sqrt();
        let atomicAdd = sqrt as i32;
        let __syncthreads = atomicAdd;
        let _Capital = __syncthreads;
        let a__b = _Capital;
        let warpSize = a__b;
        let printf = warpSize;
        let assert = printf;
        let site_of = assert;
        let index = site_of;
        let recorded = index;
        recorded + max
    }
    fn other_words(x: i32, y: i32) -> i32 {
        let r#match = x;
        let r#type = y + 1;
        let größe = r#match * r#type;
        let 高さ = größe + 1;
        let x_2 = x;
        let x = x_2 + 1;
        let x = x + x_2;
        let value = { let mut y = x; next(&mut y) };
        let value = value + 高さ;
        let u32 = value as u32;
        let i32 = u32 as i32;
        let loop_break = 'l: loop { loop { break 'l i32; } };
        let r#loop = loop_break;
        r#loop
    }
    fn constants(x: i32, y: i32) -> i32 {
        const LOCAL: i32 = 5;
        const TABLE: usize = 3;
        let mut a = [STEP; TABLE];
        a[1] = LOCAL;
        let far = i32::MAX - x.abs() - i32::MAX;
        let wide = (u64::MAX >> 60) as i32 + (i8::MIN as i32) + u16::MAX as i32;
        let bits = u32::BITS as i32;
        let tiny = if f32::EPSILON < 0.001 && f64::MAX > 1e300 && f32::INFINITY > f32::MAX { 1 } else { 0 };
        let pi = (std::f32::consts::PI * 100.0) as i32;
        a[0] + a[1] + a[2] + STEP * LOCAL + far + wide + bits + tiny + pi + y
    }
    fn aliases(x: i32, y: i32) -> i32 {
        let z: Real = x as Real * 0.5;
        let w = twice(z) + y as Real;
        let v: [Real; 2] = [w, z];
        (v[0] * 2.0 + v[1]) as i32
    }
    fn arrays(x: i32, y: i32) -> i32 {
        let mut a = [0; 4];
        fill(&mut a, x);
        let b = a;
        a[1] = 50;
        let c = reversed(b);
        let mut d = [[1i32, 2, 3, 4], [x, y, 0, 1]];
        d[1] = a;
        d[0][2] = d[1][1] + b[3];
        let e: [[[u8; 2]; 3]; 2] = [[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]];
        let mut f = e;
        f[1][2][0] += 1;
        total(&a) + 10 * total(&c) + d[0][2] + d[1][3] + e[1][2][0] as i32 + f[1][2][0] as i32 + a.len() as i32
    }
    fn references(x: i32, y: i32) -> i32 {
        let mut a = [x, y, 0, 1];
        let mut n = y;
        fill(&mut a, next(&mut n));
        let t = total(&a);
        let mut flag = x > y;
        toggled(&mut flag);
        t + n + flag as i32
    }
    fn calls_in_calls(x: i32, y: i32) -> i32 {
        early(early(x + 3) + early(y)) + int(int(x)) - max(int(1), early(9))
    }
    fn parentheses(x: i32, y: i32) -> i32 {
        let a = x - (y - (x - y));
        let b = (x & y) == y;
        let c = x & (y == y) as i32;
        let d = -(-x) - -y;
        let e = !(!x) ^ !y;
        let f = (x + y) * (x - y) % 7;
        let g = x * (y % 5) / 3;
        let h = (x < y) == (y < x);
        let i = 1 << (2 + 1) << 1 >> 2;
        let j = x | y & 6 ^ x & 3;
        let k = if x < y { 1 } else { 2 } + 3;
        a + b as i32 + c + d + e + f + g + h as i32 + i + j + k
    }
    fn literals_beside(x: i32, y: i32) -> i32 {
        let a = x as u8 as u32 + 0xff_u32;
        let b = y as i64 + 5_000_000_000;
        let c = (x as u64 ^ 0xffff_ffff_ffff_ffff) as i32;
        let d = 1_000u16 + x as u8 as u16;
        let e = 0b1010_1010u8 & y as u8;
        let f = 0o17 + x;
        let g = (1e-3f32 * y as f32 + 1.5e2) as i32;
        let h = if (x as f64) < 2.5 { 7 } else { 8 };
        let j = (b % 1000) as i32;
        a as i32 + j + c % 100 + d as i32 + e as i32 + f + g + h
    }
    fn wide_literals_beside(x: i32, y: i32) -> i32 {
        let a = x as i128 + 170_141_183_460_469_231_731_687_303_715_884_105_000;
        let b = a - 170_141_183_460_469_231_731_687_303_715_884_104_999;
        let c = y as u128 & 0xffff_0000_0000_0000_0000_0000_ffff_0000;
        let d = c > 0x1_0000_0000_0000_0000 && -18_446_744_073_709_551_617 < b;
        b as i32 + (c >> 100) as i32 + d as i32
    }
    fn inferred_later(x: i32, y: i32) -> i32 {
        let mut a = 0;
        let mut b = 1;
        let mut c = [0; 3];
        let d = 200;
        let e = 2.5;
        a += x as i64;
        b += y as u8 as u16;
        c[1] = d;
        let f: u8 = c[1];
        let g: f32 = e;
        a as i32 * 3 + b as i32 + f as i32 + (g * 4.0) as i32
    }
    fn unsafe_blocks(x: i32, y: i32) -> i32 {
        let z = unsafe { x + y };
        unsafe {
            let w = z * 2;
            if w > 10 { return w; }
        }
        z
    }
}

/// A device function whose parameters are values is also a function of the host.
fn on_the_host(_device: &Device) -> Outcome {
    let got: Vec<i32> = (-3..=12).map(|x| gpu::arrays(x, 4)).collect();
    let want: Vec<i32> = (-3..=12).map(|x| host::arrays(x, 4)).collect();
    same(&got, &want, |i| format!("arrays({}, 4)", i as i32 - 3))
}
