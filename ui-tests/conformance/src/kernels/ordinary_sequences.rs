//! What Rust's iterators and slices have beside the most common forms: loops that count beside other iterators, `scan`, `step_by` and `rev` behind
//! closures, sorts by comparisons and keys, constants that are slices, byte strings, parts that a `match` chooses, `get` of ranges,
//! conversions with names, and `Index` by hand.

use std::ops::{Index, IndexMut};

use super::twins::twins;

/// A key with a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, DeviceCopy)]
#[repr(C)]
pub(super) struct Pair {
    key: i32,
    value: i32,
}

/// A grid of numbers with borders that wrap.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Torus {
    cells: [[i32; 4]; 3],
}

#[device]
impl Index<(i32, i32)> for Torus {
    type Output = i32;
    fn index(&self, at: (i32, i32)) -> &i32 {
        &self.cells[(at.1.rem_euclid(3)) as usize][(at.0.rem_euclid(4)) as usize]
    }
}

#[device]
impl IndexMut<(i32, i32)> for Torus {
    fn index_mut(&mut self, at: (i32, i32)) -> &mut i32 {
        &mut self.cells[(at.1.rem_euclid(3)) as usize][(at.0.rem_euclid(4)) as usize]
    }
}

/// Eight numbers, found by any index.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Ring {
    numbers: [i32; 8],
}

#[device]
impl Index<i32> for Ring {
    type Output = i32;
    fn index(&self, i: i32) -> &i32 {
        let x = i & 7;
        assert!(x < 8);
        &self.numbers[x as usize]
    }
}

const PRIMES: &[i32] = &[2, 3, 5, 7, 11];
static STEPS: &[(i32, i32)] = &[(1, 0), (0, 1), (-1, 2)];
const WORD: &[u8; 4] = b"word";
const GREEK: &str = "alpha";

twins! {
    ordinary_sequences;
    uses {
        use super::{GREEK, PRIMES, Pair, Ring, STEPS, Torus, WORD};
    }
    helpers {
        fn hash(values: &[i32]) -> i32 {
            values.iter().fold(7, |h, x| h * 31 + x)
        }
        fn bytes_of(text: &[u8]) -> i32 {
            text.iter().fold(5, |h, &b| h * 33 + b as i32)
        }
        fn kind(text: &[u8]) -> i32 {
            match text {
                b"GET" => 1,
                b"POST" => 2,
                [b'X', ..] => 3,
                _ => 0,
            }
        }
        fn number(text: &[u8], limit: i32) -> i32 {
            let (negative, digits) = match text {
                [b'-', rest @ ..] => (true, rest),
                [b'+', rest @ ..] if limit > 2 => {
                    let odd = limit % 2 == 1;
                    (odd, rest)
                }
                [] => return -1,
                _ => (false, text),
            };
            let tail = if digits.len() > 2 { &digits[2..] } else { digits };
            let all = digits.iter().fold(tail.len() as i32, |n, d| n * 10 + *d as i32);
            if negative { -all } else { all }
        }
        fn descending(values: &mut [i32]) {
            values.sort_unstable_by(|a, b| b.cmp(a));
        }
        fn parts(values: &[i32], at: usize) -> i32 {
            if let Some(three) = values.get(at..at + 3) {
                return three.iter().sum();
            }
            let Some(first) = values.get(..=at) else { return -5 };
            first.len() as i32 * 10
        }
        fn weight(pair: &Pair, of: &Option<i32>, both: &(i32, i32)) -> i32 {
            let Pair { key, .. } = pair;
            let x = match pair {
                Pair { key: 0, .. } => 7,
                Pair { key, value: 1 } => *key,
                Pair { value, .. } => value + 1,
            };
            let y = if let Some(v) = of { *v } else { 3 };
            let &(a, b) = both;
            let z = match both {
                (0, b) => *b,
                (a, _) if *a > 3 => 4,
                &(a, b) => a + b,
            };
            key + x * 3 + y * 5 + z * 7 + a - b
        }
        fn sum_of_fours(values: &[i32]) -> i32 {
            let mut chunks = values.chunks_exact(4);
            let mut sums = [0; 4];
            for chunk in chunks.by_ref() {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum += x;
                }
            }
            let mut total = hash(&sums);
            for x in chunks.remainder() {
                total = total * 3 + x;
            }
            total
        }
    }

    fn counted_beside(x: i32, y: i32) -> i32 {
        let own = [x, y, x - y, 4];
        let mut total = 0;
        for (v, k) in own.iter().zip(1..) {
            total = total * 3 + v * k;
        }
        for (k, v) in (y..).zip(own.iter().rev()) {
            if *v == 4 {
                continue;
            }
            total ^= v * k;
        }
        for ((v, k), w) in own.iter().zip((0..).step_by(3)).zip(&own[1..]) {
            total = total * 5 + v * k + w;
        }
        for (j, (v, k)) in own.iter().zip(x..).enumerate() {
            total += v * k * j as i32;
        }
        'outer: for (k, v) in own.iter().filter(|v| **v != 2).enumerate() {
            for j in 0..3 {
                if j == k {
                    continue 'outer;
                }
                total += v;
            }
        }
        let table = [[x, y], [3, 4]];
        for (k, v) in table.iter().flatten().enumerate() {
            total = total * 3 + v * k as i32;
        }
        total + own.iter().zip(1..).filter(|(v, k)| **v > *k).map(|(v, k)| v * k).sum::<i32>()
    }
    fn numbered_later(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, x * y];
        let mut total = 0;
        for v in own.iter().map(|v| v + 1).enumerate().filter(|(k, v)| *k as i32 + *v > 2).map(|(k, v)| v * k as i32) {
            total = total * 3 + v;
        }
        total += own.iter().filter(|v| **v > 1).enumerate().map(|(k, v)| v * (k as i32 + 1)).sum::<i32>();
        let by = (y & 3) as usize + 1;
        total += own.iter().map(|v| v ^ 5).step_by(by).fold(1, |h, v| h * 7 + v);
        for v in own.iter().filter(|v| **v != 0).step_by(2) {
            total = total * 5 + v;
        }
        for v in own.iter().map(|v| v * 2).rev() {
            total = total * 3 + v;
        }
        total + own.iter().rposition(|v| *v == y).map_or(9, |at| at as i32)
    }
    fn scanned(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, -2, 5];
        let longest = own.iter().scan(0, |run, &v| { *run = if v > 2 { *run + 1 } else { 0 }; Some(*run) }).max().unwrap();
        let until = own.iter().scan(y, |state, v| { *state ^= v; if *state == 7 { None } else { Some(*state) } }).count() as i32;
        let mut total = 0;
        for (k, v) in own.iter().copied().scan((0, 1), |st, v| { *st = (st.1, st.0 + v); Some(st.1) }).enumerate() {
            total = total * 3 + v * k as i32;
        }
        let products = (1..5).scan(1, |f, i| { *f *= i + x; Some(*f) }).last().unwrap();
        longest * 100 + until * 7 + total + products
    }
    fn sorted(x: i32, y: i32) -> i32 {
        let mut own = [x, y, x - y, 4, 5, -3];
        own[1..4].sort();
        let mut total = hash(&own);
        own[2..].sort_by(|a, b| (b & 7).cmp(&(a & 7)));
        total = total * 3 + hash(&own);
        descending(&mut own[..5]);
        total = total * 3 + hash(&own);
        let mut pairs = [
            Pair { key: x & 3, value: 1 }, Pair { key: y & 3, value: 2 }, Pair { key: 2, value: 3 }, Pair { key: x & 1, value: 4 },
        ];
        pairs.sort_by_key(|pair| pair.key);
        total = total * 5 + pairs.iter().fold(0, |h, pair| h * 9 + pair.key * 4 + pair.value);
        pairs.sort_by(|a, b| b.value.cmp(&a.value).then(a.key.cmp(&b.key)));
        total = total * 5 + pairs[0].key;
        pairs.sort();
        total = total * 5 + pairs[1].value;
        let mut floats = [x as f32, y as f32, 2.5];
        floats.sort_by(|a, b| b.total_cmp(a));
        total + floats[1] as i32
    }
    fn ordered_tuples(x: i32, y: i32) -> i32 {
        let own = [x, y, x ^ y, 5];
        let most = own.iter().copied().max_by_key(|v| (v % 3, v % 5)).unwrap();
        let least = own.iter().map(|v| (v % 3, *v)).min().unwrap();
        let last = own.iter().enumerate().map(|(k, v)| (v % 4, k)).max().unwrap_or((0, 9));
        let order = (x, y as i8).cmp(&(y, x as i8)) as i32;
        most * 3 + least.1 * 5 + last.1 as i32 * 7 + order
    }
    fn moved_within(x: i32, y: i32) -> i32 {
        let mut own = [x, y, 3, 4, 5, 6];
        let (from, to) = ((x & 1) as usize, (y & 3) as usize);
        own.copy_within(from..3, to);
        own[1..].copy_within(..2, 3);
        let mut total = hash(&own);
        for chunk in own.rchunks(4) {
            total = total * 3 + chunk[0] + chunk.len() as i32;
        }
        total
    }
    fn constant_slices(x: i32, y: i32) -> i32 {
        const OWN: &[u16] = &[5, 6, 7];
        let mut total = PRIMES[(x & 3) as usize] + PRIMES.len() as i32 + hash(PRIMES) + hash(&PRIMES[1..3]);
        for &p in PRIMES {
            total = total * 3 + p * x;
        }
        for &(dx, dy) in STEPS {
            total = total * 3 + (x + dx) * (y + dy);
        }
        total += WORD.iter().position(|&b| b as i32 == y + 105).map_or(9, |at| at as i32) + GREEK.len() as i32;
        total += bytes_of(GREEK.as_bytes()) + bytes_of(&GREEK.as_bytes()[1..4]) + OWN[(y & 1) as usize] as i32;
        total
    }
    fn byte_strings(x: i32, y: i32) -> i32 {
        let text = b"hello\n\x41";
        let mut total = text[(x & 3) as usize] as i32 + text.len() as i32;
        for &b in b"abc" {
            total = total * 31 + b as i32;
        }
        let digits = *b"0123456789abcdef";
        let mut word = [b'P', b'O', b'S', b'T'];
        if y & 1 == 1 {
            word = *b"GET ";
        }
        if y & 2 == 2 {
            word[0] = b'X';
        }
        total += kind(&word) * 1000 + kind(&word[..3]) * 7 + kind(b"POST") + (word == *b"POST") as i32;
        total += number(b"-12", x) + number(b"+345", y) + number(&digits[..(x & 3) as usize], 2);
        total + digits[(y & 15) as usize] as i32 + 'a' as i32 + u32::from('z') as i32
    }
    fn named_conversions(x: i32, y: i32) -> i32 {
        let mut n = x;
        let small: Result<u8, _> = n.try_into();
        n += 5;
        let other = i8::try_from(y * 20);
        let mut total = n;
        if let Ok(v) = other {
            total += v as i32;
        }
        let Ok(third) = u16::try_from(n - 4) else { return total + small.map_or(1, |v| v as i32) };
        match small {
            Ok(v) if v > 3 => total + v as i32 + third as i32,
            Ok(_) => 7,
            Err(_) => total + other.unwrap_or(9) as i32 + other.is_err() as i32,
        }
    }
    fn matched_references(x: i32, y: i32) -> i32 {
        let pair = Pair { key: x & 3, value: y & 3 };
        let named = &pair;
        let Pair { value, .. } = named;
        weight(&pair, &x.checked_rem(y), &(x, y)) + *value + parts(&[x, y, 3, 4, 5], (y & 7) as usize)
    }
    fn remainders(x: i32, y: i32) -> i32 {
        let own = [x, y, 3, x + y, 5, 6, 7];
        let chunks = own.chunks_exact((x & 1) as usize + 2);
        let rest = chunks.remainder();
        let mut total = rest.iter().sum::<i32>() + rest.len() as i32;
        for chunk in chunks {
            total = total * 3 + chunk[0] * chunk[1];
        }
        total + sum_of_fours(&own) * 5 + sum_of_fours(&own[..5])
    }
    fn indexed_by_hand(x: i32, y: i32) -> i32 {
        let mut torus = Torus { cells: [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]] };
        torus[(x, y)] = 100;
        torus[(x + 1, y)] += torus[(x, y - 1)];
        let mut at = 0;
        torus[(at, 2)] = {
            at = 3;
            50 + at
        };
        let ring = Ring { numbers: [x, y, 3, 4, 5, 6, 7, 8] };
        let first = ring[{ at += x; at }];
        let mut total = first * 3 + ring[y] + at;
        for row in torus.cells {
            for v in row {
                total = total * 3 + v;
            }
        }
        total + torus[(-1, -1)]
    }
}
