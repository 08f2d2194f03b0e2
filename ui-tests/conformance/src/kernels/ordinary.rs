//! Rust as it is written everywhere: options of references, parts of local arrays, defaults, comparisons of structs, functions by their
//! paths.

use super::twins::twins;

/// A struct that kernels compare, and whose default is zero.
#[derive(Clone, Copy, PartialEq, Default, DeviceCopy)]
#[repr(C)]
pub(super) struct P {
    a: i32,
    b: i32,
}

/// One with an array and another struct inside.
#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
pub(super) struct Own {
    position: [i32; 3],
    p: P,
}

/// One whose default is written by hand, in plain Rust.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
pub(super) struct Options {
    a: i32,
    b: i32,
}

impl Default for Options {
    fn default() -> Options {
        Options { a: 5, b: 1 << 3 }
    }
}

/// The default of a parameter.
#[device]
fn made<T: DeviceCopy + Default>() -> T {
    T::default()
}

twins! {
    ordinary;
    uses {
        use super::{Options, Own, P, made};
        const TABLE: [i32; 5] = [3, -1, 4, 1, 5];
    }
    helpers {
        fn odd(a: &i32) -> bool {
            *a % 2 != 0
        }
        fn bigger(a: i32, b: i32) -> i32 {
            if a > b { a } else { b }
        }
        fn twice(a: i32) -> i32 {
            a * 2
        }
    }

    fn mapped_fields(x: i32, y: i32) -> i32 {
        let own = Own { position: [x, y, 3], p: P { a: x, b: y } };
        let q = own.position.map(|v| v * 2);
        q[0] + q[1] * 3
    }
    fn ends_of_arrays(x: i32, y: i32) -> i32 {
        let v = [x, y, 3];
        *v.first().unwrap() + *v.last().unwrap()
    }
    fn functions_of_cmp(x: i32, y: i32) -> i32 {
        std::cmp::max(x, y) - core::cmp::min(x, y * 2)
    }
    fn ordered_by_cmp(x: i32, y: i32) -> i32 {
        let t = std::cmp::max((x, y), (y, 3));
        let n: u64 = std::cmp::min(x as u64, 7);
        let k = std::cmp::max(x > 3, y > 4);
        t.0 * 3 + t.1 + n as i32 + k as i32
    }
    fn default_of_a_struct(x: i32, y: i32) -> i32 {
        let p = P::default();
        p.a + x * y
    }
    fn default_of_the_rest(x: i32, y: i32) -> i32 {
        let p = P { a: y, ..Default::default() };
        p.b + x
    }
    fn defaults_by_hand(x: i32, y: i32) -> i32 {
        let o = Options::default();
        let p = Options { b: y, ..Default::default() };
        let q: (i32, P) = Default::default();
        o.a * x + o.b * y + p.a + p.b * 3 + q.0
    }
    fn defaults_of_a_parameter(x: i32, y: i32) -> i32 {
        made::<P>().a + made::<Options>().b + made::<i32>() + x * y
    }
    fn chunks_of_locals(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7, 8];
        let mut s = 0;
        for c in v.chunks_exact(2) { s = s * 3 + c[0] * c[1]; }
        s
    }
    fn parts_of_locals(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3, 4, 5, 6, 7, 8];
        let n = (x.unsigned_abs() % 8) as usize;
        let mut s = 0;
        {
            let w = &v[n..];
            let u = &w[..w.len() / 2];
            for (i, k) in w.iter().enumerate() { s = s * 3 + k * i as i32; }
            for k in u { s += k; }
            s += w[0] + w[w.len() - 1] + u.iter().sum::<i32>() + w.first().map_or(3, |k| *k);
            if let Some(&k) = u.get(1) { s += k; }
        }
        for c in v.chunks_mut(3) { c[0] += 1; c.reverse(); }
        for w in v.windows(3) { s = s * 5 + w[0] * w[1] - w[2]; s %= 10007; }
        for (i, c) in v.chunks(3).enumerate() { s += c.len() as i32 * i as i32 + c[c.len() - 1]; }
        let best = v.windows(2).map(|w| w[0] - w[1]).max().unwrap();
        let many = v.windows(2).filter(|w| w[0] < w[1]).count() as i32;
        let (l, r) = v.split_at(n);
        s += l.iter().sum::<i32>() * 2 + r.iter().map(|k| k * 3).sum::<i32>();
        v[1..4].swap(0, 2);
        v[2..5].reverse();
        let z = v[..3].iter().zip(v[3..].iter()).map(|(a, b)| a * b).sum::<i32>();
        for k in v[4..=6].iter_mut() { *k = 2; }
        s + best * 3 + many * 7 + z + v.iter().sum::<i32>() + v[1..].contains(&7) as i32 + TABLE[1..3].iter().sum::<i32>()
    }
    fn parts_of_fields(x: i32, y: i32) -> i32 {
        let o = Own { position: [x, y, 3], p: P { a: x, b: y } };
        let grid = [[x, y, 3], [4, 5, 6]];
        let mut s = o.position[1..].iter().sum::<i32>() + grid[1][..2].iter().sum::<i32>();
        for w in o.position.windows(2) { s += w[0] * w[1]; }
        for row in &grid { for w in row.windows(2) { s += w[1]; } }
        s
    }
    fn got_or_left(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7, 8];
        let Some(&q) = v.get(x as usize) else { return y };
        q
    }
    fn got_or_other(x: i32, y: i32) -> i32 {
        *TABLE.get(x as usize).unwrap_or(&0) + *TABLE.get(y as usize).unwrap_or(&x)
    }
    fn got_and_matched(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7, 8];
        match v.get(x as usize) { Some(q) => *q, None => 4 }
    }
    fn converted_by_path(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7, 8];
        v.iter().copied().map(i64::from).sum::<i64>() as i32
    }
    fn taken_apart(x: i32, y: i32) -> i32 {
        let [a, b] = [x, y * 2];
        let [c, rest @ ..] = [x, y, 3, 4];
        a + b * 3 + c + rest[1]
    }
    fn copied_rows(x: i32, y: i32) -> i32 {
        [[x, y], [y, 3]].iter().map(|&[a, b]| a * b).sum::<i32>()
    }
    fn rows_by_reference(x: i32, y: i32) -> i32 {
        let v = [[x, y], [y, 3], [2, x]];
        let mut s = 0;
        for [a, b] in &v { s = s * 3 + a * *b; }
        for (i, [a, _]) in v.iter().enumerate() { s = s * 3 + a * i as i32; }
        let c = v.iter().filter(|[a, b]| a > b).count() as i32;
        let d = v.iter().find(|[a, b]| *a > *b).map_or(4, |[a, ..]| *a);
        let Some([p, q]) = v.first() else { return 3 };
        let e = match v { [[a, _], rest @ ..] if a > 3 => rest[0][0] + rest[1][1], [_, mid @ .., [z, _]] => mid.len() as i32 + z };
        let [first, others @ .., last] = [x, y, 3, 4, 5];
        let m = others.map(|k| k * 2);
        s + c * 5 + d * 7 + p * q + e * 3 + first + last + m[0] + others.iter().sum::<i32>()
    }
    fn compared_structs(x: i32, y: i32) -> i32 {
        let v = [P { a: x, b: y }; 2];
        let o = Own { position: [x, y, 3], p: v[1] };
        let same = o == Own { position: [y, x, 3], p: P { a: y, b: x } };
        let t = (v[0], 3) == (P { a: y, b: y }, 3);
        let u = Some(v[0]) == Some(P { a: 3, b: 4 });
        same as i32 + 2 * t as i32 + 4 * u as i32 + 8 * (v == [P { a: 1, b: 2 }; 2]) as i32 + 16 * v.contains(&P { a: 2, b: 2 }) as i32
    }
    fn compared_arrays(x: i32, y: i32) -> i32 {
        ([x, y] == [y, 3]) as i32 + 2 * ((x, y) != (3, 4)) as i32
    }
    fn greatest_references(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, -5, x * y, 7];
        let a = v.iter().max().unwrap();
        let b = *v.iter().min().unwrap();
        let c = v.iter().copied().min_by(|a, b| a.cmp(b)).unwrap();
        let d = v.iter().max_by(|a, b| (*a % 4).cmp(&(*b % 4))).unwrap();
        let (i, m) = v.iter().copied().enumerate().max_by_key(|&(_, k)| k).unwrap();
        let j = v.iter().enumerate().max_by_key(|&(_, k)| *k).map(|(i, _)| i).unwrap();
        let n = v.iter().nth(2).copied().unwrap_or(9) + v.iter().copied().nth(x as usize).unwrap_or(11);
        let f = v.iter().find(|k| **k > y).copied().unwrap_or(13) + v.iter().last().unwrap() + *v.iter().next().unwrap();
        *a + 3 * b + 5 * c + 7 * *d + 11 * (i as i32 + m) + 13 * j as i32 + 17 * n + 19 * f
    }
    fn greatest_floats(x: i32, y: i32) -> i32 {
        let v = [x as f32, y as f32, 3.0, 4.5, -5.0];
        let a = v.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap();
        let b = v.iter().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap();
        let c = v.iter().copied().max_by(f32::total_cmp).unwrap();
        let d = *v.iter().min_by(|p, q| p.total_cmp(q)).unwrap();
        (a * 4.0 + b * 3.0 + c + d * 5.0) as i32
    }
    fn references_to_structs(x: i32, y: i32) -> i32 {
        let v = [P { a: x, b: y }, P { a: y, b: 3 }, P { a: 2, b: x }];
        let a = v.iter().max_by_key(|p| p.a).unwrap();
        let b = v.iter().find(|p| p.b > 2).map(|p| p.a).unwrap_or(5);
        let Some(c) = v.get(x as usize) else { return 77 };
        let d = if let Some(P { a, b }) = v.get(y as usize) { *a + *b * 3 } else { 4 };
        let e = v.get(1).map_or(0, |p| p.a) + v.last().is_some_and(|p| p.b > 3) as i32;
        let f = v.iter().filter(|P { a, b }| *a > *b).count() as i32;
        let g = v.iter().filter(|p| p.a > 1).map(|P { a, b }| *a * *b).sum::<i32>();
        a.a + a.b * 3 + b + c.a + c.b * 2 + d + 7 * e + 11 * f + 13 * g
    }
    fn options_of_references(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, -5];
        let mut k = 0;
        let mut s = 0;
        while let Some(&q) = v.get(k) { s = s * 3 + q; k += 1; }
        if let Some(&q) = v.get(x as usize) && let Some(&r) = v.get(y as usize) && r > q { s += r; }
        if let Some(&q) = v.get(x as usize) && q > 2 { s += q; }
        let &t = v.first().unwrap();
        let u = v.get(x as usize).unwrap_or(&7);
        let w = v.get(y as usize).filter(|k| **k > 2).map_or(1, |&k| k);
        let o = v.get(y as usize).is_none() as i32;
        let z = match v.get(y as usize) { Some(&q) if q > 3 => q, Some(_) => 5, None => 8 };
        s + t + u + *u + w + o * 5 + z * 3
    }
    fn pairs_of_references(x: i32, y: i32) -> i32 {
        let p = [P { a: x, b: y }, P { a: y, b: 3 }, P { a: 2, b: x }];
        let q = [x, y, 3];
        let r = p.iter().zip(&q).filter(|(p, k)| p.a > **k).map(|(p, k)| p.b * k).sum::<i32>();
        let s = q.iter().enumerate().filter(|(i, k)| *i > 0 && **k > 2).map(|(i, k)| i as i32 * *k).max().unwrap_or(4);
        let t = q.iter().enumerate().find(|(i, k)| *i > 0 && **k > 2).map(|(i, _)| i).unwrap_or(9) as i32;
        let u = q.iter().enumerate().min_by_key(|(_, k)| **k).unwrap().0 as i32;
        let w = q.iter().zip(q.iter().rev()).max_by_key(|&(a, b)| a * b).map(|(a, _)| a).unwrap();
        r + 3 * s + 5 * t + 7 * u + 11 * w
    }
    fn moved_elements(x: i32, y: i32) -> i32 {
        let mut v = [x, y, 3, 4, 5, 6, 7];
        let k = (x.unsigned_abs() % 8) as usize;
        v.rotate_left(k);
        let a = v[0] * 3 + v[4];
        v.rotate_right(2);
        v[1..6].rotate_left(1);
        let w = [y, x, 9];
        v[2..5].copy_from_slice(&w);
        let mut u = [0; 4];
        u.copy_from_slice(&v[1..5]);
        let mut q = [0; 3];
        q.copy_from_slice(&w);
        let s = w.is_sorted() as i32 + v[..3].is_sorted() as i32 * 2;
        a + v.iter().fold(0, |a, b| (a * 7 + b) % 10007) + u[3] * 5 + q[1] + s * 11
    }
    fn functions_by_name(x: i32, y: i32) -> i32 {
        let v = [x, y, 3, 4, 5, 6, 7];
        let a = v.iter().copied().filter(odd).count() as i32;
        let b = Some(x).filter(odd).unwrap_or(4);
        v.iter().copied().map(twice).fold(a, bigger) + b
    }
}
