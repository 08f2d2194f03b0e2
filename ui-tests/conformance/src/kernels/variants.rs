//! Enums whose variants have fields, in each other and in arrays, with names that C++ has for other things, with floats, and as programs.

use super::twins::twins;

twins! {
    variants;
    uses {
        use phalanx::prelude::*;
        #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
        #[allow(non_camel_case_types, clippy::enum_variant_names, reason = "what is tested")]
        pub(super) enum Shape { Shape(i32), variant { fields: i32, value: u8 }, Is_Hit(bool), default, int { r#type: i64, u32: u32 } }
        #[derive(Clone, Copy, DeviceType)]
        pub(super) enum Tree { Leaf(i32), Both(Inner, Inner), Wide([Inner; 2], (i32, Inner)) }
        #[derive(Clone, Copy, DeviceType)]
        pub(super) enum Inner { Num(i32), Flag { on: bool }, Off }
        #[derive(Clone, Copy, DeviceType)]
        pub(super) enum Op { Push(i32), Add, Mul, Neg, Dup, Jump { by: i32, unless: bool } }
        pub(super) type Alias = Shape;
        #[derive(Clone, Copy, PartialEq, DeviceCopy)]
        #[repr(C)]
        pub(super) struct Fat { a: f32, b: i32 }
        #[derive(Clone, Copy, PartialEq, DeviceType)]
        pub(super) enum Float { F(f32), S(Fat), H(f16) }
    }
    helpers {
        fn next(n: &mut i32) -> i32 { *n += 1; *n }
        fn shape(x: i32) -> Alias { match x & 3 { 0 => Alias::Shape(x), 1 => Shape::variant { value: x as u8, fields: x * 2 }, 2 => Shape::Is_Hit(x > 3), 3 if x < 0 => Shape::default, _ => Shape::int { u32: x as u32, r#type: -x as i64 } } }
        fn inner(x: i32) -> Inner { if x % 3 == 0 { Inner::Num(x) } else if x % 3 == 1 { Inner::Flag { on: x > 2 } } else { Inner::Off } }
        fn value_of(i: &Inner) -> i32 { match *i { Inner::Num(n) => n, Inner::Flag { on } => if on { 50 } else { 60 }, Inner::Off => -3 } }
        fn run(program: &[Op; 8], x: i32) -> i32 {
            let mut stack = [0i32; 8];
            let mut top = 0usize;
            let mut at = 0i32;
            let mut steps = 0;
            while at >= 0 && at < 8 && steps < 30 {
                steps += 1;
                match program[at as usize] {
                    Op::Push(n) => { stack[top] = n; top += 1; }
                    Op::Add if top > 1 => { stack[top - 2] += stack[top - 1]; top -= 1; }
                    Op::Mul if top > 1 => { stack[top - 2] = stack[top - 2].wrapping_mul(stack[top - 1]); top -= 1; }
                    Op::Neg if top > 0 => stack[top - 1] = -stack[top - 1],
                    Op::Dup if top > 0 && top < 8 => { stack[top] = stack[top - 1]; top += 1; }
                    Op::Jump { by, unless } => if (stack[0] > x) != unless { at += by; continue; },
                    Op::Add | Op::Mul | Op::Neg | Op::Dup => break,
                }
                at += 1;
            }
            if top > 0 { stack[top - 1] } else { -1000 }
        }
    }

    fn clashing(x: i32, y: i32) -> i32 {
        let s = shape(x);
        let t = shape(y);
        let a = match (s, t) { (Shape::Shape(a), Shape::Shape(b)) => a * b, (Shape::variant { fields, value }, _) => fields + value as i32, (Shape::Is_Hit(h), Shape::default) => h as i32 + 500, (_, Shape::int { r#type: ty, u32: u }) => ty as i32 + u as i32 * 2, (Shape::default, _) => 9, _ => -1 };
        a + (s == t) as i32 * 1000 + matches!(s, Shape::default) as i32 * 7
    }
    fn nested(x: i32, y: i32) -> i32 {
        let tree = match (x + y) & 3 { 0 => Tree::Leaf(x), 1 => Tree::Both(inner(x), inner(y)), _ => Tree::Wide([inner(y), inner(x)], (x - y, inner(x * y))) };
        match tree {
            Tree::Leaf(n) => n,
            Tree::Both(Inner::Num(a), Inner::Num(b)) => a * 10 + b,
            Tree::Both(Inner::Flag { on: true }, _) | Tree::Both(_, Inner::Flag { on: true }) => 300,
            Tree::Both(a, b) => value_of(&a) - value_of(&b),
            Tree::Wide([Inner::Off, last], _) => value_of(&last) + 1,
            Tree::Wide(both, (n, Inner::Num(m))) if m > n => both.iter().map(|i| value_of(i)).sum::<i32>() * 100 + m,
            Tree::Wide([first, ..], (n, rest)) => value_of(&first) * 3 + n + value_of(&rest),
        }
    }
    fn order_of_fields(x: i32, y: i32) -> i32 {
        let mut n = x;
        let s = Shape::variant { value: next(&mut n) as u8, fields: next(&mut n) * y };
        let t = Shape::int { u32: next(&mut n) as u32, r#type: (n + y) as i64 };
        let Shape::variant { fields, value } = s else { return -1 };
        match t { Shape::int { r#type, u32 } => fields * 3 + value as i32 + r#type as i32 * 5 + u32 as i32 * 7, _ => 0 }
    }
    fn interpreter(x: i32, y: i32) -> i32 {
        let program = [Op::Push(x), Op::Dup, Op::Push(y), Op::Add, Op::Mul, Op::Jump { by: -3, unless: false }, Op::Neg, if x > y { Op::Dup } else { Op::Add }];
        run(&program, 5 + y)
    }
    fn floats(x: i32, y: i32) -> i32 {
        let f = |v: i32| if v % 3 == 0 { Float::F(v as f32 * 0.5) } else if v % 3 == 1 { Float::S(Fat { a: v as f32, b: v }) } else { Float::H(f16::from_f32(v as f32)) };
        let (a, b) = (f(x), f(y));
        let nan = Float::F(f32::NAN);
        let c = match a { Float::F(0.0) => 1, Float::F(v) if v < 0.0 => 2, Float::F(v) => v as i32 + 3, Float::S(Fat { a, b: 4 }) => a as i32 * 5, Float::S(fat) => fat.b - fat.a as i32, Float::H(h) => h.to_f32() as i32 * 9 };
        (a == b) as i32 * 100 + (nan == nan) as i32 * 1000 + (nan != nan) as i32 * 2000 + c
    }
    fn options_of(x: i32, y: i32) -> i32 {
        let mut kept: Option<Inner> = None;
        let mut sum = 0;
        for i in 0..4 {
            kept = match kept { None => Some(inner(x + i)), Some(Inner::Num(n)) if n > y => Some(Inner::Num(n - 1)), Some(Inner::Off) => None, Some(other) => Some(other) };
            if let Some(Inner::Num(n)) = kept { sum += n; }
            sum += kept.map_or(100, |k| value_of(&k));
        }
        let r: Result<Inner, Inner> = if x > y { Ok(inner(x)) } else { Err(inner(y)) };
        let v = match r { Ok(Inner::Num(n)) | Err(Inner::Num(n)) => n, Ok(i) => value_of(&i) + 1, Err(i) => value_of(&i) + 2 };
        sum + v * 1000
    }
    fn reversed_halves(x: i32, y: i32) -> i32 {
        let (a, b) = (std::cmp::Reverse(x % 5), std::cmp::Reverse(y % 5));
        let keys = [(a, f16::from_f32(x as f32).to_bits()), (b, f16::from_f32(y as f32).to_bits())];
        (keys[0] < keys[1]) as i32 + 2 * (keys[0] == keys[1]) as i32 + 4 * (keys[0] >= keys[1]) as i32
    }
}
