//! A zoo of layouts, each through a buffer, a parameter and C++'s own assertions; names that C++ has or that two types
//! share.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

/// A type with its kernel: every value is read and written whole, and field by field.
macro_rules! layouts {
    ($($name:ident: $ty:ty { $($field:tt),* } = $value:expr;)*) => {
        mod kernels {
            use super::*;
            $(
                #[cluster_kernel(block = 32)]
                pub(super) fn $name(given: $ty, input: &[$ty], whole: &mut [$ty], parts: &mut [$ty]) {
                    let i = this_grid().thread_rank();
                    let shared = shared_array::<$ty, 32>();
                    shared[i] = input[i];
                    let mut local = [shared[i]; 2];
                    local[1] = given;
                    whole[i] = local[i % 2];
                    $(parts[i].$field = local[(i + 1) % 2].$field;)*
                }
            )*
        }
        mod checks {
            use super::*;
            $(
                pub(super) fn $name(device: &Device) -> Outcome {
                    let at = |i: usize| -> $ty { ($value)(i as u8) };
                    let input: Vec<$ty> = (0..32).map(at).collect();
                    let (buffer, given) = (device.upload(&input)?, at(200));
                    let (mut whole, mut parts) = (device.zeros::<$ty>(32)?, device.zeros::<$ty>(32)?);
                    kernels::$name(given, &buffer, &mut whole, &mut parts).grid(1).launch(device)?;
                    let want: Vec<$ty> = (0..32).map(|i| if i % 2 == 0 { at(i) } else { given }).collect();
                    equal(&whole.read()?, &want)?;
                    let want: Vec<$ty> = (0..32).map(|i| if i % 2 == 1 { at(i) } else { given }).collect();
                    equal(&parts.read()?, &want)
                }
            )*
        }

        /// Returns this file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let zoo = Module {
                name: "layouts",
                checks: vec![$(crate::Check { name: stringify!($name), run: checks::$name }),*],
                kernels: vec![$(crate::Kernel::of::<kernels::$name>(stringify!($name))),*],
            };
            let named = Module { name: "type_names", checks: check_list![namesakes, kept], kernels: kernel_list![two, words] };
            vec![zoo, named]
        }
    };
}

macro_rules! plain {
    ($($item:item)*) => { $(#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)] $item)* };
}

plain! {
    #[repr(C)]
    struct Mixed { a: u8, _pad: [u8; 7], b: u64, c: u16, d: u16, e: u8, f: bool, _end: [u8; 2] }
    #[repr(C)]
    struct Small { a: i8 }
    #[repr(C)]
    struct Wide { a: u128, b: i128, c: [u16; 8] }
    #[repr(C)]
    struct Nested { head: Small, _pad: [u8; 7], inner: [Mixed; 2], tail: [[f32; 3]; 2] }
    #[repr(C, align(16))]
    struct Four { lanes: [f32; 4] }
    #[repr(C, align(8))]
    struct Aligned(u32, u32);
    #[repr(transparent)]
    struct Wrapped(Four);
    #[repr(C)]
    struct Sizes { a: usize, b: isize, c: i64, d: f64 }
    #[repr(C)]
    struct Kinds { a: Signed, b: Byte, _pad: u8, c: Long, d: [Byte; 4], e: bool, _end: [u8; 3] }
    #[repr(i16)]
    enum Signed { Least = -32_768, None = 0, Most = 32_767 }
    #[repr(u8)]
    enum Byte { Zero, Most = 255 }
    #[repr(i32)]
    enum Long { Zero, Least = i32::MIN }
    #[repr(u64)]
    enum Largest { Zero, Most = u64::MAX }
    #[repr(i64)]
    enum Smallest { Zero, Least = i64::MIN }
    #[repr(C)]
    struct Of<T, const N: usize> { values: [T; N], last: T }
    #[repr(C)]
    struct Ends { a: Largest, b: Smallest }
    #[repr(C)]
    struct Tuple(f64, Of<u16, 3>, [bool; 8]);
}

fn mixed(i: u8) -> Mixed {
    let n = u16::from(i);
    Mixed { a: i, _pad: [i; 7], b: u64::from(n) << 50 | 3, c: n + 1, d: !n, e: 9, f: i.is_multiple_of(3), _end: [1, i] }
}

fn signed(i: u8) -> Signed {
    [Signed::Least, Signed::None, Signed::Most][usize::from(i) % 3]
}

fn byte(i: u8) -> Byte {
    [Byte::Most, Byte::Zero][usize::from(i) % 2]
}

layouts! {
    mixed_sizes: Mixed { a, _pad, b, c, d, e, f, _end } = mixed;
    one_byte: Small { a } = |i: u8| Small { a: i as i8 };
    of_16_bytes: Wide { a, b, c } = |i: u8| Wide { a: u128::MAX / (u128::from(i) + 1), b: -i128::from(i) << 90, c: [i.into(); 8] };
    nested: Nested { head, _pad, inner, tail } =
        |i: u8| Nested { head: Small { a: -1 }, _pad: [2; 7], inner: [mixed(i), mixed(i / 2)], tail: [[f32::from(i); 3], [0.5; 3]] };
    four: Four { lanes } = |i: u8| Four { lanes: [f32::from(i), 1.0, -2.0, 3.5] };
    aligned: Aligned { 0, 1 } = |i: u8| Aligned(i.into(), !u32::from(i));
    wrapped: Wrapped { 0 } = |i: u8| Wrapped(Four { lanes: [f32::from(i); 4] });
    sizes: Sizes { a, b, c, d } = |i: u8| Sizes { a: usize::MAX - usize::from(i), b: -5, c: i64::MIN, d: f64::from(i) / 3.0 };
    enums: Kinds { a, b, _pad, c, d, e, _end } = |i: u8| Kinds {
        a: signed(i),
        b: byte(i),
        _pad: 4,
        c: if i > 100 { Long::Least } else { Long::Zero },
        d: [byte(i), byte(i / 2), byte(i / 4), byte(i / 8)],
        e: i.is_multiple_of(5),
        _end: [3; 3],
    };
    ends: Ends { a, b } = |i: u8| Ends {
        a: if i > 9 { Largest::Most } else { Largest::Zero },
        b: if i > 20 { Smallest::Least } else { Smallest::Zero },
    };
    generic: Of<u32, 5> { values, last } = |i: u8| Of { values: [i.into(); 5], last: 7 };
    generic_enum: Of<Byte, 3> { values, last } = |i: u8| Of { values: [byte(i); 3], last: byte(i + 1) };
    tuple: Tuple { 0, 1, 2 } = |i: u8| Tuple(i.into(), Of { values: [i.into(); 3], last: 9 }, [i.is_multiple_of(2); 8]);
}

mod left {
    #[derive(Clone, Copy, PartialEq, Debug, phalanx::DeviceCopy)]
    #[repr(C)]
    pub(super) struct Point {
        pub(super) x: u32,
    }
}

mod right {
    #[derive(Clone, Copy, PartialEq, Debug, phalanx::DeviceCopy)]
    #[repr(C)]
    pub(super) struct Point {
        pub(super) x: u32,
        pub(super) y: super::left::Point,
    }
}

/// Two types of one name, an alias, and a local and a device function that are called like a type.
#[cluster_kernel(block = 1)]
fn two(out: &mut [right::Point], given: left::Point) {
    type_like();
    let Point = left::Point { x: given.x + 1 };
    out[0] = right::Point { y: Point, x: 3 };
    out[0].x += Alias { x: 4 }.x;
}

type Alias = left::Point;

#[device]
fn type_like() {}

fn namesakes(device: &Device) -> Outcome {
    let mut out = device.upload(&[right::Point { x: 0, y: left::Point { x: 0 } }])?;
    two(&mut out, left::Point { x: 6 }).grid(1).launch(device)?;
    equal(&out.read()?, &[right::Point { x: 7, y: left::Point { x: 7 } }])
}

/// A type named like things that C++, CUDA and the prelude have.
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
#[allow(non_snake_case, reason = "what names there can be")]
struct slice {
    double: f64,
    r#type: u32,
    u32: u32,
    namespace: [u8; 4],
    template__: i8,
    größe: bool,
    _0: u16,
    threadIdx: u32,
    NULL: f32,
    x: union_,
    y: union_,
    slice: u64,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u32)]
#[allow(non_camel_case_types, reason = "what names there can be")]
enum union_ {
    NULL,
    r#static,
    u32 = 77,
}

#[cluster_kernel(block = 1)]
fn words(out: &mut [slice]) {
    let double = out[0];
    out[1] = slice { größe: true, NULL: double.NULL + 1.0, x: union_::u32, y: union_::r#static, ..double };
    out[1].r#type += double.u32 + out[0].threadIdx;
    out[1].namespace[3] = 5;
    out[1].template__ -= 1;
    out[1].slice = union_::u32 as u64;
    if out[1].y == union_::NULL {
        out[1]._0 = 9;
    }
}

fn kept(device: &Device) -> Outcome {
    let zeros = slice {
        double: 0.5,
        r#type: 1,
        u32: 2,
        namespace: [3; 4],
        template__: 0,
        größe: false,
        _0: 6,
        threadIdx: 7,
        NULL: 8.0,
        x: union_::NULL,
        y: union_::NULL,
        slice: 0,
    };
    let mut out = device.upload(&[zeros; 2])?;
    words(&mut out).grid(1).launch(device)?;
    let want = slice {
        größe: true,
        NULL: 9.0,
        x: union_::u32,
        y: union_::r#static,
        r#type: 10,
        namespace: [3, 3, 3, 5],
        template__: -1,
        slice: 77,
        ..zeros
    };
    equal(&out.read()?, &[zeros, want])
}
