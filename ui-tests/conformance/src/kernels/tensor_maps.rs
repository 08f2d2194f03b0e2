//! Tensor maps: tiles of every swizzling, type and number of dimensions, inside of a tensor and across its bounds, loaded,
//! stored and combined; and tiles that cannot be copied.

use std::fmt::Debug;

use phalanx::prelude::*;

use crate::expect::part;
use crate::{Kernel, Module, Outcome, check_list, equal, fails, find, kernel_list, read, same};

const SOURCE: &str = include_str!("tensor_maps.rs");

/// Makes a kernel that copies a tile through shared memory, element by element, and its check.
macro_rules! moved {
    ($($name:ident: [$row:ty; $rows:literal], $t:ident, $columns:literal, $number:expr;)*) => {
        mod moved {
            use super::*;
            $(
                #[cluster_kernel(block = 64)]
                pub(super) fn $name(
                    input: &TensorMap<[$row; $rows]>,
                    output: &mut TensorMap<[$row; $rows]>,
                    out: &mut [$t],
                    y: i32,
                    x: i32,
                    stored: [i32; 2],
                ) {
                    let block = this_thread_block();
                    let i = block.thread_rank() as usize;
                    let tiles = shared_array::<[$row; $rows], 2>();
                    let full = shared_barrier();
                    full.init_collective(&block, 1);
                    if i == 0 {
                        input.prefetch([y, x]);
                        input.load_async([y, x], &tiles[1], &full);
                        let _ = full.arrive();
                    }
                    full.wait_parity(false);
                    for at in (i..$rows * $columns).step_by(64) {
                        let (row, column) = (at / $columns, at % $columns);
                        out[at] = tiles[1][row][column];
                        tiles[0][row][column] = tiles[1][row][column];
                    }
                    block.sync();
                    if i == 0 {
                        output.store_async(stored, &tiles[0]);
                        bulk_wait_group::<0>();
                    }
                }
            )*
        }

        fn moves(device: &Device) -> Outcome {
            $(moving(
                device,
                stringify!($name),
                ($rows, $columns),
                $number,
                |input, output, out, (y, x), stored| moved::$name(input, output, out, y, x, stored).grid(1).launch(device),
            )?;)*
            Ok(())
        }

        fn moving_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<moved::$name>(concat!("moved::", stringify!($name)))),*]
        }
    };
}

/// Copies tiles of a tensor of 21 rows and 3 tiles' columns, inside and across each edge and corner.
fn moving<T: phalanx::TensorElement + PartialEq + Debug>(
    device: &Device,
    name: &str,
    (rows, columns): (usize, usize),
    number: impl Fn(u32) -> T,
    launch: impl Fn(
        &phalanx::Tensor<'_, T, 2>,
        &mut phalanx::TensorMut<'_, T, 2>,
        &mut Buffer<T>,
        (i32, i32),
        [i32; 2],
    ) -> phalanx::Result<()>,
) -> Outcome {
    let (height, width) = (21usize, 3 * columns);
    let data: Vec<T> = (0..(height * width) as u32).map(|i| number(i + 1)).collect();
    let (input, zero) = (device.upload(&data)?, number(0));
    let (h, w) = (height as i32, width as i32);
    // The last coordinate is a multiple of 16 bytes.
    let q = 16 / size_of::<T>() as i32;
    for (y, x) in
        [(0, 0), (3, q), (-2, 2 * q), (2, -q), (-1, -q), (h - 2, q), (4, w - q), (h - 1, w - q), (h, 0), (-300, w)]
    {
        let mut stored = device.upload(&vec![number(77); data.len()])?;
        let mut out = device.upload(&vec![number(78); rows * columns])?;
        let [to_y, to_x] = [y.max(0), x.max(0)];
        let mut output = stored.tensor_mut([height, width])?;
        launch(&input.tensor([height, width])?, &mut output, &mut out, (y, x), [to_y, to_x])?;
        let inside = |row: i32, column: i32| (0..h).contains(&row) && (0..w).contains(&column);
        // The tensor's elements, and zeros outside of it.
        let element = |row: i32, column: i32| match inside(row, column) {
            true => data[row as usize * width + column as usize],
            false => zero,
        };
        for (at, got) in out.read()?.into_iter().enumerate() {
            let (row, column) = (y + (at / columns) as i32, x + (at % columns) as i32);
            let want = element(row, column);
            if got != want {
                return Err(
                    format!("{name} at {y}, {x}: row {row}, column {column}: got {got:?}, want {want:?}").into()
                );
            }
        }
        for (at, got) in stored.read()?.into_iter().enumerate() {
            let (row, column) = ((at / width) as i32, (at % width) as i32);
            let is_of_tile =
                (to_y..to_y + rows as i32).contains(&row) && (to_x..to_x + columns as i32).contains(&column);
            let want = if is_of_tile { element(row - to_y + y, column - to_x + x) } else { number(77) };
            if got != want {
                return Err(format!(
                    "{name} to {to_y}, {to_x}: row {row}, column {column}: got {got:?}, want {want:?}"
                )
                .into());
            }
        }
    }
    Ok(())
}

moved! {
    bytes_128: [Swizzled<bf16, 64>; 16], bf16, 64, |i| bf16::from_f32((i % 199) as f32);
    bytes_64: [Swizzled<f16, 32>; 16], f16, 32, |i| f16::from_f32((i % 1999) as f32);
    bytes_32: [Swizzled<f32, 8>; 16], f32, 8, |i| i as f32;
    doubles: [Swizzled<f64, 16>; 8], f64, 16, f64::from;
    octets: [Swizzled<u8, 64>; 16], u8, 64, |i| (i % 251) as u8;
    signed_octets: [Swizzled<i8, 128>; 8], i8, 128, |i| (i % 127) as i8;
    halves_of_words: [Swizzled<u16, 16>; 16], u16, 16, |i| i as u16;
    words: [Swizzled<i32, 16>; 16], i32, 16, |i| i as i32;
    long_words: [Swizzled<u64, 8>; 16], u64, 8, u64::from;
    plain: [[f32; 20]; 16], f32, 20, |i| i as f32;
    plain_octets: [[u8; 48]; 16], u8, 48, |i| (i % 251) as u8;
    plain_wide: [[bf16; 256]; 8], bf16, 256, |i| bf16::from_f32((i % 199) as f32);
}

/// Copies a tile of one dimension.
#[cluster_kernel(block = 32)]
fn one(input: &TensorMap<[u32; 64]>, output: &mut TensorMap<[u32; 64]>, from: i32, to: i32) {
    let block = this_thread_block();
    let tile = shared_array::<u32, 64>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        /* astray */
        input.load_async([from], &tile, &full);
        full.arrive_and_wait();
        /* before */
        output.store_async([to], &tile);
        bulk_wait_group_read::<0>();
    }
}

fn of_one_dimension(device: &Device) -> Outcome {
    let data: Vec<u32> = (1..=150).collect();
    let input = device.upload(&data)?;
    for (from, to) in [(0, 0), (8, 88), (-12, 4), (120, 60), (148, 148)] {
        let mut out = device.zeros::<u32>(150)?;
        one(&input.tensor([150])?, &mut out.tensor_mut([150])?, from, to).grid(1).launch(device)?;
        let element = |at: i32| if (0..150).contains(&at) { data[at as usize] } else { 0 };
        let want = |i: i32| if (to..to + 64).contains(&i) { element(from + i - to) } else { 0 };
        same(&out.read()?, &(0..150).map(want).collect::<Vec<u32>>(), |i| format!("{from} to {to}, {i}"))?;
    }
    Ok(())
}

type Three = [[Swizzled<bf16, 16>; 4]; 3];
type Four = [[[[u16; 8]; 2]; 3]; 2];
type Five = [[[[Swizzled<i32, 8>; 2]; 3]; 2]; 2];

/// Copies tiles of three, four and five dimensions from one place to another.
#[cluster_kernel(block = 32)]
fn many(
    three: &TensorMap<Three>,
    four: &TensorMap<Four>,
    five: &TensorMap<Five>,
    to_three: &mut TensorMap<Three>,
    to_four: &mut TensorMap<Four>,
    to_five: &mut TensorMap<Five>,
    out: &mut [i32],
    at: i32,
) {
    let block = this_thread_block();
    let threes = shared_array::<Three, 1>();
    let fours = shared_array::<Four, 1>();
    let fives = shared_array::<Five, 1>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        three.load_async([at, 1, at * 8], &threes[0], &full);
        four.load_async([0, at, 1, at * 8], &fours[0], &full);
        five.load_async([at, 1, at, 0, at * 4], &fives[0], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    if block.thread_rank() == 0 {
        for k in 0..3 {
            for j in 0..4 {
                out[k * 4 + j] = threes[0][k][j][j].to_f32() as i32;
            }
        }
        for k in 0..3 {
            out[12 + k] = fours[0][1][k][1][k + 1] as i32 + fours[0][0][k][0][7] as i32 * 1000;
            out[15 + k] = fives[0][1][0][k][1][k] + fives[0][0][1][k][0][7] * 1000;
        }
        to_three.store_async([0, 0, 0], &threes[0]);
        to_four.store_async([0, 0, 0, 0], &fours[0]);
        to_five.store_async([0, 0, 0, 0, 0], &fives[0]);
        bulk_wait_group_read::<0>();
    }
}

fn of_many_dimensions(device: &Device) -> Outcome {
    let dims: [&[usize]; 3] = [&[5, 6, 24], &[3, 5, 4, 16], &[3, 3, 4, 3, 12]];
    let numbers =
        |dims: &[usize]| (0..dims.iter().product::<usize>()).map(|i| (i % 199) as i32 + 1).collect::<Vec<i32>>();
    let [a, b, c] = dims.map(numbers);
    let bf = |data: &[i32]| data.iter().map(|x| bf16::from_f32(*x as f32)).collect::<Vec<_>>();
    let short = |data: &[i32]| data.iter().map(|x| *x as u16).collect::<Vec<_>>();
    let (three, four, five) = (device.upload(&bf(&a))?, device.upload(&short(&b))?, device.upload(&c)?);
    for at in [0, 1, 2, -1, 3] {
        let (mut x, mut y, mut z) =
            (device.zeros::<bf16>(a.len())?, device.zeros::<u16>(b.len())?, device.zeros::<i32>(c.len())?);
        let mut out = device.zeros(18)?;
        many(
            &three.tensor([5, 6, 24])?,
            &four.tensor([3, 5, 4, 16])?,
            &five.tensor([3, 3, 4, 3, 12])?,
            &mut x.tensor_mut([5, 6, 24])?,
            &mut y.tensor_mut([3, 5, 4, 16])?,
            &mut z.tensor_mut([3, 3, 4, 3, 12])?,
            &mut out,
            at,
        )
        .grid(1)
        .launch(device)?;
        let a = part(dims[0], &[at, 1, at * 8], &[3, 4, 16], &a);
        let b = part(dims[1], &[0, at, 1, at * 8], &[2, 3, 2, 8], &b);
        let c = part(dims[2], &[at, 1, at, 0, at * 4], &[2, 2, 3, 2, 8], &c);
        let out = out.read()?;
        for k in 0..3 {
            for j in 0..4 {
                equal(&[out[k * 4 + j]], &[a[(k * 6 + j) * 24 + j]])?;
            }
            let four = |i: [usize; 4]| b[((i[0] * 5 + i[1]) * 4 + i[2]) * 16 + i[3]];
            equal(&[out[12 + k]], &[four([1, k, 1, k + 1]) + four([0, k, 0, 7]) * 1000])?;
            let five = |i: [usize; 5]| c[(((i[0] * 3 + i[1]) * 4 + i[2]) * 3 + i[3]) * 12 + i[4]];
            equal(&[out[15 + k]], &[five([1, 0, k, 1, k]) + five([0, 1, k, 0, 7]) * 1000])?;
        }
        equal(&x.read()?, &bf(&a))?;
        equal(&y.read()?, &short(&b))?;
        equal(&z.read()?, &c)?;
    }
    Ok(())
}

/// Copies the columns of a matrix whose rows are longer, by a device function.
#[device]
fn fetched(input: &TensorMap<[[f32; 8]; 4]>, tile: &SharedSlice<[f32; 8]>, full: &Barrier, at: [i32; 2]) {
    input.load_async(at, tile, full);
    let _ = full.arrive();
}

/// Adds up the rows of a matrix with strides, four at a time, in a ring of tiles.
#[cluster_kernel(block = 64)]
fn summed(input: &TensorMap<[[f32; 8]; 4]>, out: &mut [f32], steps: u32) {
    let block = this_thread_block();
    let tiles = shared_array::<[[f32; 8]; 4], 2>();
    let full = shared_barriers::<2>();
    let empty = shared_barriers::<2>();
    full.init_collective(&block, 1);
    empty.init_collective(&block, 32);
    let i = block.thread_rank();
    if i == 32 {
        for step in 0..steps {
            let stage = step % 2;
            empty[stage].wait_parity(step / 2 % 2 == 0);
            fetched(input, &tiles[stage], &full[stage], [step as i32 * 4, 4]);
        }
    } else if i < 32 {
        let mut sum = 0.0;
        for step in 0..steps {
            let stage = step % 2;
            full[stage].wait_parity(step / 2 % 2 == 1);
            sum = sum * 0.5 + tiles[stage][i / 8][i % 8];
            let _ = empty[stage].arrive();
        }
        out[i] = sum;
    }
}

fn strides_are_those_of_the_host(device: &Device) -> Outcome {
    let data: Vec<f32> = (0..20 * 24).map(|i| (i % 97) as f32).collect();
    let input = device.upload(&data)?;
    // The last columns lie outside of the tensor.
    let columns = input.tensor_with_strides([20, 9], [24, 1])?;
    let got = read!(device, 32, |out| summed(&columns, out, 5).grid(1));
    let want = |i: usize| {
        (0..5).fold(0.0, |sum, step| {
            let (row, column) = (step * 4 + i / 8, 4 + i % 8);
            sum * 0.5 + if column < 9 { data[row * 24 + column] } else { 0.0 }
        })
    };
    same(&got, &(0..32).map(want).collect::<Vec<f32>>(), |i| format!("{i}"))
}

/// Makes a kernel that combines a tile with a tensor, by all blocks, and its check.
macro_rules! combined {
    ($($name:ident: $t:ident $method:ident, $number:expr, $combine:expr;)*) => {
        mod combined {
            use super::*;
            $(
                #[cluster_kernel(block = 32)]
                pub(super) fn $name(out: &mut TensorMap<[[$t; 16]; 4]>, numbers: &[$t]) {
                    let block = this_thread_block();
                    let tiles = shared_array::<[[$t; 16]; 4], 1>();
                    let rank = this_grid().block_rank();
                    for i in (block.thread_rank()..64).step_by(32) {
                        tiles[0][i / 16][i % 16] = numbers[rank * 64 + i as usize];
                    }
                    block.sync();
                    if block.thread_rank() == 0 {
                        out.$method([1, 24], &tiles[0]);
                        bulk_wait_group::<0>();
                    }
                }
            )*
        }

        fn combinations(device: &Device) -> Outcome {
            $({
                let number: fn(u32) -> $t = $number;
                let data: Vec<$t> = (0..4 * 64).map(|i| number(i * 7 % 251)).collect();
                let start: Vec<$t> = (0..4 * 32).map(|i| number(i * 3 % 253)).collect();
                let (numbers, mut out) = (device.upload(&data)?, device.upload(&start)?);
                combined::$name(&mut out.tensor_mut([4, 32])?, &numbers).grid(4).launch(device)?;
                let combine: fn($t, $t) -> $t = $combine;
                let want = |i: usize| {
                    let (row, column) = (i / 32, i % 32);
                    match (1..4).contains(&row) && column >= 24 {
                        true => (0..4).fold(start[i], |sum, block| combine(sum, data[block * 64 + (row - 1) * 16 + column - 24])),
                        false => start[i],
                    }
                };
                let want: Vec<$t> = (0..4 * 32).map(want).collect();
                if out.read()? != want {
                    return Err(format!("{}: got {:?}, want {want:?}", stringify!($name), out.read()?).into());
                }
            })*
            Ok(())
        }

        fn combining_kernels() -> Vec<Kernel> {
            vec![$(Kernel::of::<combined::$name>(concat!("combined::", stringify!($name)))),*]
        }
    };
}

combined! {
    add_u32: u32 reduce_add_async, |i| i.wrapping_mul(77_777_777), u32::wrapping_add;
    add_i32: i32 reduce_add_async, |i| i as i32 - 100, i32::wrapping_add;
    add_u64: u64 reduce_add_async, |i| u64::from(i) << 40, u64::wrapping_add;
    add_f32: f32 reduce_add_async, |i| i as f32, |a, b| a + b;
    add_f16: f16 reduce_add_async, |i| f16::from_f32((i % 32) as f32), |a, b| f16::from_f32(a.to_f32() + b.to_f32());
    add_bf16: bf16 reduce_add_async, |i| bf16::from_f32((i % 32) as f32), |a, b| bf16::from_f32(a.to_f32() + b.to_f32());
    min_i32: i32 reduce_min_async, |i| i as i32 - 100, |a, b| a.min(b);
    max_u32: u32 reduce_max_async, |i| i.wrapping_mul(77_777_777), |a, b| a.max(b);
    min_i64: i64 reduce_min_async, |i| i64::from(i) - 100, |a, b| a.min(b);
    max_u64: u64 reduce_max_async, |i| u64::from(i) << 40, |a, b| a.max(b);
    max_f16: f16 reduce_max_async, |i| f16::from_f32(i as f32 - 100.0), |a, b| if a.to_f32() < b.to_f32() { b } else { a };
    min_bf16: bf16 reduce_min_async, |i| bf16::from_f32(i as f32 - 100.0), |a, b| if a.to_f32() < b.to_f32() { a } else { b };
    and_u32: u32 reduce_and_async, |i| i | 0xffff_ff00, |a, b| a & b;
    or_i32: i32 reduce_or_async, |i| i as i32, |a, b| a | b;
    xor_u32: u32 reduce_xor_async, |i| i, |a, b| a ^ b;
    xor_u64: u64 reduce_xor_async, |i| u64::from(i) << 40, |a, b| a ^ b;
}

/// Multiplies two tiles of a tensor whose rows are swizzled, the second also transposed.
#[cluster_kernel(block = 32)]
fn multiplied(a: &TensorMap<[Swizzled<f16, 32>; 32]>, b: &TensorMap<[Swizzled<f16, 64>; 32]>, out: &mut [f32]) {
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let lane = warp.thread_rank();
    let lefts = shared_array::<[Swizzled<f16, 32>; 32], 1>();
    let rights = shared_array::<[Swizzled<f16, 64>; 32], 1>();
    let results = shared_array::<[Swizzled<f16, 16>; 16], 1>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if lane == 0 {
        a.load_async([0, 0], &lefts[0], &full);
        b.load_async([0, 0], &rights[0], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    let x: MatrixA<f16, 16, 16> = warp.load_matrix(&lefts[0], 16, 16);
    let y: MatrixB<f16, 16, 16> = warp.load_matrix(&rights[0], 16, 40);
    let z: MatrixB<f16, 16, 16> = warp.load_matrix_transposed(&rights[0], 8, 24);
    let sums = warp.mma(x, y, Accumulator::<f32, 16, 16>::splat(0.0));
    let others = warp.mma(x, z, Accumulator::<f32, 16, 16>::splat(0.0));
    warp.store_matrix(&results[0], 0, 0, others.to_f16());
    warp.sync();
    for i in 0..8u32 {
        let (row, column) = (sums.row(lane, i), sums.column(lane, i));
        out[row * 16 + column] = sums[i];
        out[256 + row * 16 + column] = results[0][row][column].to_f32();
    }
}

fn matrices_are_loaded_from_swizzled_rows(device: &Device) -> Outcome {
    let a: Vec<f16> = (0..32 * 32).map(|i| f16::from_f32((i * 7 % 11) as f32 - 5.0)).collect();
    let b: Vec<f16> = (0..32 * 64).map(|i| f16::from_f32((i * 5 % 13) as f32 - 6.0)).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let got = read!(device, 512, |out| multiplied(&x.tensor([32, 32])?, &y.tensor([32, 64])?, out).grid(1));
    let sum = |of: &dyn Fn(usize) -> (f16, f16)| (0..16).map(|k| of(k).0.to_f32() * of(k).1.to_f32()).sum::<f32>();
    let want = |i: usize| {
        let (row, column) = (i % 256 / 16, i % 16);
        let left = |k: usize| a[(16 + row) * 32 + 16 + k];
        match i < 256 {
            true => sum(&|k| (left(k), b[(16 + k) * 64 + 40 + column])),
            false => sum(&|k| (left(k), b[(8 + column) * 64 + 24 + k])),
        }
    };
    same(&got, &(0..512).map(want).collect::<Vec<f32>>(), |i| format!("{i}"))
}

/// Copies a tile that may start anywhere in dynamic shared memory.
#[cluster_kernel(block = 32, shared_bytes = 2048)]
fn anywhere(input: &TensorMap<[[u32; 16]; 4]>, out: &mut [u32], byte: u32, rows: u32) {
    let block = this_thread_block();
    let tile = dynamic_shared_slice::<[u32; 16]>(byte, rows);
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if block.thread_rank() == 0 {
        /* misaligned */
        input.load_async([0, 0], &tile, &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    if block.thread_rank() < 16 {
        out[block.thread_rank()] = tile[3][block.thread_rank()];
    }
}

fn tiles_are_checked(device: &Device) -> Outcome {
    let input = device.upload(&(0..64).collect::<Vec<u32>>())?;
    let run = |byte, rows| -> phalanx::Result<Vec<u32>> {
        let mut out = device.zeros(16)?;
        anywhere(&input.tensor([4, 16])?, &mut out, byte, rows).grid(1).launch(device)?;
        out.read()
    };
    equal(&run(256, 4)?, &(48..64).collect::<Vec<u32>>())?;
    let at = find(file!(), SOURCE, "misaligned");
    let misaligned = "a tile that is copied from or to a tensor must start at a multiple of 128 bytes, but this one starts 64 \
         bytes past one; give tiles that follow each other a multiple of 128 bytes";
    fails(run(64, 4).map(drop), misaligned, &at, (0, 0, 0), (0, 0, 0))?;
    let lengths = "the source and the destination of a copy must have the same length, but have 4 and 5 elements; take a part \
         of the longer one: `&x[..n]`";
    fails(run(0, 5).map(drop), lengths, &at, (0, 0, 0), (0, 0, 0))
}

fn coordinates_are_checked(device: &Device) -> Outcome {
    let (input, mut out) = (device.zeros::<u32>(64)?, device.zeros::<u32>(64)?);
    let mut run = |from, to| one(&input.tensor([64])?, &mut out.tensor_mut([64])?, from, to).grid(1).launch(device);
    run(-4, 4)?;
    let part = "the last coordinate of a tile must be a multiple of 16 bytes, which are 4 elements here, but is -5; begin the tile \
         at such a multiple";
    fails(run(-5, 0), part, &find(file!(), SOURCE, "astray"), (0, 0, 0), (0, 0, 0))?;
    let before = "a tile must not be written to a tensor from a negative coordinate on, but coordinate 0 is -4; only loads may \
         begin before the tensor";
    fails(run(0, -4), before, &find(file!(), SOURCE, "before"), (0, 0, 0), (0, 0, 0))
}

pub(super) fn modules() -> Vec<Module> {
    let mut kernels = kernel_list![one, many, summed, multiplied, anywhere];
    kernels.extend(moving_kernels());
    kernels.extend(combining_kernels());
    vec![Module {
        name: "tensor_maps",
        checks: check_list![
            moves,
            of_one_dimension,
            of_many_dimensions,
            strides_are_those_of_the_host,
            combinations,
            matrices_are_loaded_from_swizzled_rows,
            tiles_are_checked,
            coordinates_are_checked,
        ],
        kernels,
    }]
}
