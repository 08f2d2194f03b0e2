//! Tests of every `as` between two scalar types, at every edge of the source type, against rustc's own result; and of
//! chains of them, where the middle type truncates.

use phalanx::prelude::*;

use super::edges::Edges;
use crate::{Module, Outcome, check_list, kernel_list, same};

/// A kernel that casts to all of these types, each into its own buffer, and a check of it.
macro_rules! from {
    ($module:ident: $s:ident as $($buffer:ident: $d:ident)*) => {
        mod $module {
            use super::*;

            #[cluster_kernel(block = 128)]
            pub(super) fn kernel(a: &[$s], $($buffer: &mut [$d]),*) {
                let i = this_grid().thread_rank();
                if i < a.len() {
                    let x = a[i];
                    $($buffer[i] = x as $d;)*
                }
            }

            pub(super) fn check(device: &Device) -> Outcome {
                let values = $s::edges();
                $(let mut $buffer = device.zeros(values.len())?;)*
                let blocks = values.len().div_ceil(128) as u32;
                kernel(&device.upload(&values)?, $(&mut $buffer),*).grid(blocks).launch(device)?;
                $(
                    let want: Vec<$d> = values.iter().map(|&x| x as $d).collect();
                    same(&$buffer.read()?, &want, |i| format!("{:?}{} as {}", values[i], stringify!($s), stringify!($d)))?;
                )*
                Ok(())
            }
        }
    };
}

/// Casts from each of these number types to every other.
macro_rules! from_numbers {
    ($($module:ident: $s:ident)*) => {$(
        from!($module: $s as to_i8: i8 to_i16: i16 to_i32: i32 to_i64: i64 to_i128: i128 to_isize: isize
            to_u8: u8 to_u16: u16 to_u32: u32 to_u64: u64 to_u128: u128 to_usize: usize to_f32: f32 to_f64: f64);
    )*};
}

from_numbers! {
    from_i8: i8 from_i16: i16 from_i32: i32 from_i64: i64 from_i128: i128 from_isize: isize
    from_u8: u8 from_u16: u16 from_u32: u32 from_u64: u64 from_u128: u128 from_usize: usize
    from_f32: f32 from_f64: f64
}
from!(from_bool: bool as to_bool: bool to_i8: i8 to_i16: i16 to_i32: i32 to_i64: i64 to_i128: i128 to_isize: isize
    to_u8: u8 to_u16: u16 to_u32: u32 to_u64: u64 to_u128: u128 to_usize: usize);

/// Expressions of an `i64`, the same text for the kernel and for the host.
macro_rules! chains {
    ($x:ident => $($chain:expr;)*) => {
        #[cluster_kernel(block = 128)]
        fn chains(a: &[i64], out: &mut [i64]) {
            let i = this_grid().thread_rank();
            if i < a.len() {
                let $x = a[i];
                let mut k = i * WIDTH;
                $(
                    out[k] = $chain;
                    k += 1;
                )*
                assert!(k > 0);
            }
        }
        const CHAINS: &[&str] = &[$(stringify!($chain)),*];
        fn host($x: i64) -> Vec<i64> {
            vec![$($chain),*]
        }
    };
}

const WIDTH: usize = CHAINS.len();

chains! { x =>
    x as u8 as i64;
    x as i8 as i64;
    x as u8 as i8 as i64;
    x as i16 as u32 as i64;
    x as u16 as f32 as i64;
    x as f32 as i64;
    x as f64 as f32 as f64 as i64;
    x as f32 as u8 as i64;
    (x as f64 * 0.5) as i32 as i64;
    (x as f32 / 3.0) as u16 as i64;
    -(x as i8 as i64);
    !(x as u8) as i64;
    -(x as f64) as u64 as i64;
    (x < 100) as i64;
    (x < 0 || x > 9) as u8 as i64;
    (x as i128 * 3 >> 2) as i64;
    (x as u128 >> 64) as i64;
    (x as usize as u32 & 0xff00) as i64;
    ((x as u32) < 7) as i64;
    (x as isize % 1000) as i64;
    x & 0xff | (x as i32 as i64) << 8;
}

fn chained(device: &Device) -> Outcome {
    let values = i64::edges();
    let mut out = device.zeros(values.len() * WIDTH)?;
    chains(&device.upload(&values)?, &mut out).grid(values.len().div_ceil(128) as u32).launch(device)?;
    let want: Vec<i64> = values.iter().flat_map(|&x| host(x)).collect();
    same(&out.read()?, &want, |i| format!("{} of {}", CHAINS[i % WIDTH], values[i / WIDTH]))
}

macro_rules! module {
    ($($from:ident)*) => {
        /// Returns this file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let mut checks = check_list![chained];
            checks.extend([$($crate::Check { name: stringify!($from), run: $from::check }),*]);
            let mut kernels = kernel_list![chains];
            kernels.extend([$($crate::Kernel::of::<$from::kernel>(stringify!($from))),*]);
            vec![Module { name: "casts", checks, kernels }]
        }
    };
}

module!(from_i8 from_i16 from_i32 from_i64 from_i128 from_isize from_u8 from_u16 from_u32 from_u64 from_u128 from_usize
    from_f32 from_f64 from_bool);
