//! Functions that are compiled twice from one text, as a device function and as plain Rust. A kernel of the same name
//! calls the first for every pair of small arguments, and rustc's result is what it must return.

/// Functions in two modules, `gpu` and `host`, and a kernel that calls all of them.
macro_rules! twins {
    (
        $module:ident;
        uses { $($uses:item)* }
        helpers { $(fn $helper:ident($($params:tt)*) $(-> $ret:ty)? { $($help:tt)* })* }
        $(fn $name:ident($x:ident: i32, $y:ident: i32) -> i32 { $($body:tt)* })*
    ) => {
        use phalanx::prelude::*;

        use crate::{Check, Kernel, Module, Outcome, same};

        #[allow(non_snake_case, unused_imports, reason = "what is tested, and what the other one needs")]
        mod gpu {
            use phalanx::prelude::*;
            $($uses)*
            $(#[device] pub(super) fn $helper($($params)*) $(-> $ret)? { $($help)* })*
            $(#[device] pub(super) fn $name($x: i32, $y: i32) -> i32 { $($body)* })*
        }

        #[allow(clippy::all, unused_unsafe, unused_mut, unused_variables, non_snake_case, unused_parens, unused_assignments, unused_labels, unused_imports, unreachable_code, reason = "what is tested")]
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
                    same(&out.read()?, &want, |i| format!("x = {}, y = {}", xs[i], ys[i]))?;
                    // A device function of values is also a function of the host.
                    let here: Vec<i32> = pairs().map(|(x, y)| gpu::$name(x, y)).collect();
                    same(&here, &want, |i| format!("on the host, x = {}, y = {}", xs[i], ys[i]))
                }
            )*
        }

        /// Returns this file's part of the table.
        pub(super) fn modules() -> Vec<Module> {
            let checks = vec![$(Check { name: stringify!($name), run: checks::$name }),*];
            let kernels = vec![$(Kernel::of::<kernels::$name>(stringify!($name))),*];
            vec![Module { name: stringify!($module), checks, kernels }]
        }
    };
}

pub(super) use twins;
