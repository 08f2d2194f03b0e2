//! Methods of Rust's own types that are written in the kernel language: of `Option`, comparisons with `Ordering`, bytes, ASCII, `into`.

use super::twins::twins;

twins! {
    methods_of_rust;
    uses {
        use std::cmp::Ordering;
        const FIRST: Ordering = Ordering::Less;

        /// A type with methods of the names of Rust's own, which take values.
        #[derive(Clone, Copy, phalanx::DeviceCopy)]
        #[repr(C)]
        pub(super) struct Step { by: i32 }

        #[phalanx::device]
        impl Step {
            fn then(self, next: Step) -> Step {
                Step { by: self.by * 3 - next.by }
            }
            fn map(self, other: Step) -> Step {
                Step { by: self.by ^ other.by }
            }
        }
    }
    helpers {
        fn even(x: i32) -> Option<i32> {
            if x % 2 == 0 { Some(x / 2) } else { None }
        }
        fn digit(order: Ordering) -> i32 {
            match order {
                Ordering::Less => 1,
                Ordering::Equal => 2,
                Ordering::Greater => 4,
            }
        }
        fn binary_search(sorted: [i32; 6], x: i32) -> i32 {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = (low + high) / 2;
                match sorted[middle].cmp(&x) {
                    Ordering::Equal => return middle as i32,
                    Ordering::Less => low = middle + 1,
                    Ordering::Greater => high = middle,
                }
            }
            -1 - low as i32
        }
    }

    fn of_options(x: i32, y: i32) -> i32 {
        let (a, b) = (even(x), even(y));
        let either = a.or(b).unwrap_or(-7);
        let one = a.xor(b).unwrap_or(-9);
        let second = a.and(Some(y > 0)).map_or(3, |v| v as i32);
        let both = a.zip(b).map_or(11, |(v, w)| 5 * v + w);
        let nested = if x > y { Some(b) } else { None };
        let mut held = a;
        let before = held.replace(y);
        let empty = even(x).unwrap_or_default() + nested.flatten().unwrap_or(13);
        either + 3 * one + 5 * second + 7 * both + 11 * before.unwrap_or(-2) + 13 * held.unwrap_or(1) + empty
    }
    fn of_comparisons(x: i32, y: i32) -> i32 {
        let order = x.cmp(&y);
        let floats = (x as f32 / 3.0, y as f32 / 3.0);
        let partly = floats.0.partial_cmp(&floats.1);
        let undefined = f32::NAN.partial_cmp(&floats.0);
        let lexical = (x & 1).cmp(&(y & 1)).then(order.reverse());
        // The sign of a NaN that is computed differs between devices.
        let totally = f32::NAN.copysign(floats.0 - floats.1).total_cmp(&floats.0);
        let asked = order.is_lt() as i32 + 2 * order.is_le() as i32 + 4 * order.is_eq() as i32 + 8 * order.is_ne() as i32
            + 16 * order.is_gt() as i32 + 32 * order.is_ge() as i32;
        let called = x.lt(&y) as i32 + 2 * x.le(&y) as i32 + 4 * floats.0.gt(&floats.1) as i32 + 8 * x.ge(&y) as i32
            + 16 * x.eq(&y) as i32 + 32 * x.ne(&y) as i32;
        let first = (order == FIRST) as i32;
        let found = binary_search([-5, -1, 0, 2, 3, 8], x);
        digit(order) + 8 * digit(lexical) + 64 * partly.map_or(0, digit) + undefined.is_none() as i32 * 512
            + 1024 * asked + 7 * called + first + 3 * found + 5 * digit(totally)
    }
    fn of_bytes(x: i32, y: i32) -> i32 {
        let bits = (x as u32).wrapping_mul(0x9e37_79b9) ^ y as u32;
        let (little, big) = (bits.to_le_bytes(), bits.to_be_bytes());
        let swapped = u32::from_le_bytes([big[0], big[1], big[2], big[3]]);
        let wide = i64::from_be_bytes([little[0], 1, little[2], 3, big[0], big[1], 6, 7]);
        let short = i16::from_le_bytes([little[3], little[1]]);
        let float = f32::from_le_bytes((1.5f32 + x as f32).to_le_bytes());
        let double = f64::from_be_bytes((y as f64 / 7.0).to_be_bytes());
        let halves = (short.to_be_bytes()[1] as i32, (bits as u16).to_le_bytes()[0] as i32, wide.to_le_bytes()[5] as i32);
        (swapped as i32) ^ (wide >> 13) as i32 ^ short as i32 ^ (float as i32) << 3 ^ (double * 1000.0) as i32 ^ halves.0 ^ halves.1 ^ halves.2
    }
    fn of_letters(x: i32, y: i32) -> i32 {
        let mut seen = 0;
        for (i, letter) in [x as u8, y as u8, b'a', b'Z', b'7', b' ', b'~', (x * y) as u8].iter().enumerate() {
            let letter = *letter;
            let classes = letter.is_ascii() as i32 + 2 * letter.is_ascii_uppercase() as i32 + 4 * letter.is_ascii_lowercase() as i32
                + 8 * letter.is_ascii_alphabetic() as i32 + 16 * letter.is_ascii_digit() as i32 + 32 * letter.is_ascii_hexdigit() as i32
                + 64 * letter.is_ascii_alphanumeric() as i32 + 128 * letter.is_ascii_graphic() as i32
                + 256 * letter.is_ascii_punctuation() as i32 + 512 * letter.is_ascii_whitespace() as i32
                + 1024 * letter.is_ascii_control() as i32;
            let changed = letter.to_ascii_uppercase() as i32 - letter.to_ascii_lowercase() as i32;
            seen = seen * 3 + classes + changed * 5 + letter.eq_ignore_ascii_case(&b'A') as i32 + i as i32;
        }
        seen
    }
    fn of_wider_numbers(x: i32, y: i32) -> i32 {
        let long: i64 = x.into();
        let double: f64 = (y as i16).into();
        let unsigned: u64 = (x > y).into();
        let byte: u32 = (x as u8).into();
        (long * 3) as i32 + (double * 0.5) as i32 + unsigned as i32 + byte as i32
    }
    fn of_references(x: i32, y: i32) -> i32 {
        let (a, b) = ([x, 2, y, 4], [y, 2, x, 4]);
        let all = a.iter().zip(&b).all(|(p, q)| p == q);
        let less = a.iter().zip(b.iter()).any(|(p, q)| p < q);
        let pairs = [(x, 1.5), (y, 2.5)];
        let same = pairs.iter().zip(&[(3, 1.5), (3, 2.5)]).position(|(p, q)| p == q).unwrap_or(7);
        let (first, last) = (&a[0], &a[2]);
        let mut most = 0;
        for (p, q) in a.iter().zip(&b) {
            if p != q && p >= last {
                most += 1;
            }
        }
        (all as i32) * 100 + less as i32 * 10 + same as i32 + (first >= last) as i32 * 1000 + most * 10_000
    }
    fn of_a_user(x: i32, y: i32) -> i32 {
        let steps = [Step { by: x }, Step { by: y }, Step { by: 3 }];
        let mut all = steps[0];
        for next in steps {
            all = all.then(next);
        }
        let joined = |a: Step, b: Step| a.then(b);
        let next = steps[1];
        (x > y).then(|| x).unwrap_or(7) + joined(all, next).map(next).by
    }
}
