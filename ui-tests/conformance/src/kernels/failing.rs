//! The shape of kernels that fail in one way and in one thread, and what a device does after a failure.

use phalanx::prelude::*;

use crate::{Outcome, same};

/// Kernels of one shape: thread 5 of block 1 runs the statements, with `n` = 7 and 64 elements in each buffer.
macro_rules! failing {
    ($input:ident, $out:ident, $n:ident; $($name:ident, $cause:expr, { $($body:tt)* })*) => {
        mod kernels {
            use super::*;
            $(
                #[cluster_kernel(cluster = 2, block = 32)]
                pub(super) fn $name($input: &[i32], $out: &mut [i32], $n: i32) {
                    let grid = this_grid();
                    if grid.thread_rank() == 37 {
                        $($body)*
                    }
                    // Some bodies use only one of them.
                    if $input.len() > grid.num_threads() {
                        $out[0] = $n;
                    }
                }
            )*
        }

        mod checks {
            use super::*;
            $(
                pub(super) fn $name(device: &Device) -> Outcome {
                    let input = device.upload(&[3; 64])?;
                    let mut out = device.zeros(64)?;
                    let result = kernels::$name(&input, &mut out, 7).grid(4).launch(device);
                    fails(result, $cause, &find(file!(), SOURCE, stringify!($name)), (1, 0, 0), (5, 0, 0))?;
                    still_works(device)
                }
            )*
        }

        fn simple() -> (Vec<Check>, Vec<Kernel>) {
            let checks = vec![$(Check { name: stringify!($name), run: checks::$name }),*];
            let kernels = vec![$(Kernel::of::<kernels::$name>(stringify!($name))),*];
            (checks, kernels)
        }
    };
}

#[cluster_kernel(cluster = 4, block = 64)]
pub(super) fn right(input: &[i32], out: &mut [i32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let array = shared_array::<i32, 64>();
    let i = this_grid().thread_rank();
    array[block.thread_rank()] = input[i];
    cluster.sync();
    let next = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 4);
    out[i] = next[block.thread_rank()] / 2;
    cluster.sync();
}

pub(super) fn still_works(device: &Device) -> Outcome {
    let values: Vec<i32> = (0..512).collect();
    let mut out = device.zeros(512)?;
    right(&device.upload(&values)?, &mut out).grid(8).launch(device)?;
    let want: Vec<i32> = (0..512).map(|i| ((i / 256) * 256 + (i + 64) % 256) / 2).collect();
    same(&out.read()?, &want, |i| format!("after the failure, out[{i}]"))
}
