//! Tiles across the bounds of a tensor that is filled with NaN: which bits stand there, in each type that has a NaN, swizzled or not.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, kernel_list, same};

/// Makes a kernel that copies the bits of a tile, and a check that compares them with the tensor's, or with the NaN of the hardware.
macro_rules! filled {
    ($($name:ident, $check:ident: [$row:ty; $rows:literal], $t:ident, $bits:ident, $columns:literal, $nan:literal;)*) => {$(
        #[cluster_kernel(block = 64)]
        fn $name(input: &TensorMap<[$row; $rows]>, out: &mut [$bits], y: i32, x: i32) {
            let block = this_thread_block();
            let i = block.thread_rank();
            let tiles = shared_array::<[$row; $rows], 1>();
            let full = shared_barrier();
            full.init_collective(&block, 1);
            if i == 0 {
                input.load_async([y, x], &tiles[0], &full);
                let _ = full.arrive();
            }
            full.wait_parity(false);
            for at in (i..$rows * $columns).step_by(64) {
                out[at] = tiles[0][at / $columns][at % $columns].to_bits();
            }
        }

        fn $check(device: &Device) -> Outcome {
            const ROWS: i32 = 13;
            const COLUMNS: i32 = 3 * $columns / 2;
            let number = |i: i32| <$t>::from_bits((1 + i % 1000) as $bits);
            let buffer = device.upload(&(0..ROWS * COLUMNS).map(number).collect::<Vec<$t>>())?;
            let of_nan = buffer.tensor([ROWS as usize, COLUMNS as usize])?.filled_with_nan();
            let of_zeros = buffer.tensor([ROWS as usize, COLUMNS as usize])?;
            for (y, x) in [(0, 0), (-3, $columns), (9, -$columns / 2), (ROWS, 0)] {
                for (tensor, outside) in [(&of_nan, $nan), (&of_zeros, 0)] {
                    let mut out = device.zeros::<$bits>($rows * $columns)?;
                    $name(tensor, &mut out, y, x).grid(1).launch(device)?;
                    let want = (0..$rows * $columns).map(|i| {
                        let (row, column) = (y + i / $columns, x + i % $columns);
                        match (0..ROWS).contains(&row) && (0..COLUMNS).contains(&column) {
                            true => number(row * COLUMNS + column).to_bits(),
                            false => outside,
                        }
                    });
                    let want: Vec<$bits> = want.collect();
                    same(&out.read()?, &want, |i| format!("{} at {y}, {x}: {i}", stringify!($t)))?;
                }
            }
            Ok(())
        }
    )*};
}

filled! {
    of_f16, f16_outside: [Swizzled<f16, 64>; 8], f16, u16, 64, 0x7ff7;
    of_bf16, bf16_outside: [Swizzled<bf16, 32>; 8], bf16, u16, 32, 0x7ff7;
    of_f32, f32_outside: [[f32; 32]; 8], f32, u32, 32, 0x7ff7_7ff7;
    of_f64, f64_outside: [Swizzled<f64, 4>; 8], f64, u64, 4, 0x7ff7_7ff7_7ff7_7ff7;
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "tensor_fill",
        checks: check_list![f16_outside, bf16_outside, f32_outside, f64_outside],
        kernels: kernel_list![of_f16, of_bf16, of_f32, of_f64],
    }]
}
