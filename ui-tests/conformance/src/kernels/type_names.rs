//! Types and fields whose names C++, NVRTC or the prelude use for something of their own; alignment, and variants of
//! unusual values.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

macro_rules! s {
    ($(#[$m:meta])* $v:item) => {
        #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
        #[repr(C)]
        $v
    };
}
// names of the prelude and of C++
s! { struct slice { slice: u32, data: u32 } }
s! { struct option<T> { value: T, some: u32 } }
s! { struct vector { x: u32 } }
s! { struct extent { x: u32, y: u32 } }
s! { struct point { point: u32, r#type: u32, class: u32, u32: u32, größe: u32, __x: u32, _Up: u32, y_: u32, z__: u32 } }
s! { struct Holder { Inner: Inner, Other: [Inner; 2], op: u32, len: u32, min: u32, phalanx: u32 } }
s! { struct Inner { a: u16, b: u16 } }
s! { struct auto { unnamed: u32 } }
s! { struct Wide<T: Copy, U, const N: usize> { u: [U; N], t: T, nested: [[Inner; 2]; 3] } }
s! { struct Tup(u32, Inner, [u16; 2]); }
s! { struct Lit { a: u128, b: i128 } }
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C, align(16))]
struct Al {
    a: f32,
    b: f32,
    c: f32,
    d: u32,
}
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C, align(16))]
struct Al32 {
    a: Al,
    c: [u64; 2],
}
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(i64)]
enum Big {
    Zero = 0,
    Min = i64::MIN,
    Max = i64::MAX,
    One = 1,
    Two,
}
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u16)]
enum int {
    auto,
    r#struct = 7,
    NULL,
    Ünï,
    _A,
    A,
}
const SIX: u32 = 6;
#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u32)]
enum Calc {
    A = 0,
    B = SIX as isize as u32 + 2,
    C = !0,
    D = 5,
}
mod inner {
    use super::*;
    s! { pub(crate) struct Inner { pub(crate) a: u32, pub(crate) c: u32 } }
    pub(crate) mod deep {
        use super::*;
        s! { pub(crate) struct Inner { pub(crate) a: i64 } }
    }
    #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
    #[repr(u8)]
    pub(crate) enum Big {
        A,
        B,
    }
}

#[device]
fn take_inner(a: Inner, b: inner::Inner, c: inner::deep::Inner) -> u32 {
    a.a as u32 + b.c + c.a as u32
}
#[cluster_kernel(block = 1)]
fn names(
    sl: &mut [slice],
    op: &mut [option<u32>],
    v: &mut [vector],
    e: &mut [extent],
    p: &mut [point],
    h: &mut [Holder],
    a: &mut [auto],
    out: &mut [u32],
) {
    let slice = slice { data: 3, slice: 4 };
    sl[0] = slice;
    sl[0].data += sl[0].slice;
    op[0] = option { some: 2, value: 5 };
    let option { value, some } = op[0];
    out[0] = value + some;
    let vector = vector { x: 3 };
    v[0] = vector;
    v[0].x += 1;
    let extent = extent { x: 1, y: 2 };
    e[0] = extent;
    let extent { x, y } = e[0];
    out[1] = x + y * 10;
    let point = point { point: 1, r#type: 2, class: 3, u32: 4, größe: 5, __x: 6, _Up: 7, y_: 8, z__: 9 };
    p[0] = point;
    p[0].größe += point.r#type + point.class + p[0].__x;
    p[0].z__ += p[0].y_;
    let holder =
        Holder { Inner: Inner { a: 1, b: 2 }, Other: [Inner { a: 3, b: 4 }; 2], op: 1, len: 2, min: 3, phalanx: 4 };
    h[0] = holder;
    h[0].Other[1].b += holder.Inner.a;
    h[0].len += h[0].op.min(7) + h[0].phalanx;
    let auto = auto { unnamed: 3 };
    a[0] = auto;
    out[2] = take_inner(Inner { a: 1, b: 1 }, inner::Inner { a: 5, c: 10 }, inner::deep::Inner { a: 100 });
}

fn of_types(device: &Device) -> Outcome {
    let (mut sl, mut op, mut v, mut e) = (device.zeros(1)?, device.zeros(1)?, device.zeros(1)?, device.zeros(1)?);
    let (mut p, mut h, mut a, mut out) = (device.zeros(1)?, device.zeros(1)?, device.zeros(1)?, device.zeros(3)?);
    names(&mut sl, &mut op, &mut v, &mut e, &mut p, &mut h, &mut a, &mut out).grid(1).launch(device)?;
    equal(&out.read()?, &[7, 21, 111])?;
    equal(&sl.read()?, &[slice { slice: 4, data: 7 }])?;
    let point = p.read()?[0];
    equal(&[point.größe, point.z__], &[16, 17])
}

#[cluster_kernel(block = 1)]
fn layouts(
    al: &mut [Al],
    al32: &mut [Al32],
    w: &mut [Wide<u32, u16, 4>],
    t: &mut [Tup],
    l: &mut [Lit],
    big: &mut [Big],
    i: &mut [int],
    c: &mut [Calc],
    out: &mut [i64],
) {
    let s = shared_array::<Al32, 3>();
    s[1] = Al32 { a: Al { a: 1.0, b: 2.0, c: 3.0, d: 4 }, c: [5, 6] };
    s[1].a.d += 1;
    s[1].c[1] += 1;
    al32[1] = s[1];
    al[1] = al32[1].a;
    al[1].b *= 2.0;
    w[1] = Wide { u: [1, 2, 3, 4], t: 9, nested: [[Inner { a: 1, b: 2 }; 2]; 3] };
    w[1].nested[2][1].b = 77;
    w[1].u[3] += w[1].nested[2][1].b;
    t[1] = Tup(1, Inner { a: 2, b: 3 }, [4, 5]);
    t[1].1.b += 1;
    t[1].2[1] *= 2;
    let Tup(x, Inner { b, .. }, [_, z]) = t[1];
    out[0] = (x + b as u32 + z as u32) as i64;
    l[1] = Lit { a: u128::MAX, b: i128::MIN };
    l[1].a -= 1;
    l[1].b += 1;
    big[0] = Big::Min;
    big[1] = match big[0] {
        Big::Zero => Big::One,
        Big::Min => Big::Max,
        Big::Max | Big::One => Big::Two,
        Big::Two => Big::Zero,
    };
    out[1] = big[0] as i64;
    out[2] = big[1] as i64;
    out[3] = Big::Two as i64 + big[1] as u8 as i64;
    i[0] = int::r#struct;
    i[1] = if i[0] == int::r#struct { int::NULL } else { int::Ünï };
    out[4] = i[1] as i64 * 100 + int::Ünï as i64 + int::_A as i64 + int::A as i64;
    c[0] = Calc::B;
    c[1] = Calc::C;
    out[5] = c[1] as i64;
    out[6] = c[1] as i32 as i64 + c[0] as i64;
}
fn of_layouts(device: &Device) -> Outcome {
    let (mut al, mut al32, mut w, mut t) = (device.zeros(2)?, device.zeros(2)?, device.zeros(2)?, device.zeros(2)?);
    let (mut l, mut big, mut i) = (device.zeros(2)?, device.zeros(2)?, device.zeros(2)?);
    let (mut c, mut out) = (device.zeros(2)?, device.zeros(8)?);
    layouts(&mut al, &mut al32, &mut w, &mut t, &mut l, &mut big, &mut i, &mut c, &mut out).grid(1).launch(device)?;
    equal(&al.read()?[1..], &[Al { a: 1.0, b: 4.0, c: 3.0, d: 5 }])?;
    equal(&out.read()?, &[15, i64::MIN, i64::MAX, 2 + 255, 800 + 9 + 10 + 11, 0xffff_ffff, 7, 0])
}

#[device]
impl option<u32> {
    fn doubled(self) -> u32 {
        self.value * 2
    }
}

#[device]
impl option<f32> {
    fn doubled(self) -> f32 {
        self.value * 2.0
    }
}

/// Calls methods of one name, of two instances of one type.
#[cluster_kernel(block = 1)]
fn instances(out: &mut [f32]) {
    out[0] = option { value: 1.5f32, some: 1 }.doubled() + option { value: 4u32, some: 1 }.doubled() as f32;
}

fn of_instances(device: &Device) -> Outcome {
    let mut out = device.zeros(1)?;
    instances(&mut out).grid(1).launch(device)?;
    equal(&out.read()?, &[11.0])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let (checks, kernels) = (check_list![of_types, of_layouts, of_instances], kernel_list![names, layouts, instances]);
    vec![Module { name: "type_names", checks, kernels }]
}
