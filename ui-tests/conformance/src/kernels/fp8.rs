//! The floats of 8 bits: every code, the rounding of every `f16` and `bf16` and of what lies beside a tie, and values that go through
//! memory, vectors, structs, shuffles, comparisons, tensor maps and messages.

use phalanx::prelude::*;

use super::halves::nearest;
use crate::{Module, Outcome, check_list, fails, find, kernel_list, same};

/// Returns what the bits of a number of `e4m3` are worth, by the format's definition. The code after the largest number is that of
/// the number that would follow.
fn of_e4m3(bits: u16) -> f64 {
    by_definition(bits, 3, 7)
}

/// The same of `e5m2`.
fn of_e5m2(bits: u16) -> f64 {
    by_definition(bits, 2, 15)
}

fn by_definition(bits: u16, fraction: i32, bias: i32) -> f64 {
    let (exponent, rest) = (i32::from(bits >> fraction), f64::from(bits % (1 << fraction)) / f64::from(1 << fraction));
    match exponent {
        0 => rest * f64::from(1 - bias).exp2(),
        exponent => (1.0 + rest) * f64::from(exponent - bias).exp2(),
    }
}

/// Converts all codes to wider floats, and wider floats to codes.
macro_rules! conversions {
    ($($kernel:ident $check:ident: $t:ident, $most:literal, $value:ident, $of_code:expr;)*) => {$(
        #[cluster_kernel(block = 256)]
        fn $kernel(
            codes: &[u8],
            halves: &[f16],
            brains: &[bf16],
            doubles: &[f64],
            wide: &mut [f32],
            wider: &mut [f64],
            as_half: &mut [f16],
            as_brain: &mut [bf16],
            narrow: &mut [$t],
        ) {
            let i = this_grid().thread_rank();
            if i < codes.len() {
                let x = $t::from_bits(codes[i]);
                wide[i] = if x.to_bits() == codes[i] { x.to_f32() } else { 0.5 };
                wider[i] = if i % 2 == 0 { x.to_f64() } else { f64::from(f32::from(x)) };
                as_half[i] = f16::from(x);
                as_brain[i] = bf16::from(x);
            }
            if i < halves.len() {
                narrow[i] = $t::from_f32(halves[i].to_f32());
            }
            if i < brains.len() {
                narrow[halves.len() + i] = $t::from_f32(f32::from(brains[i]));
            }
            if i < doubles.len() {
                narrow[halves.len() + brains.len() + i] = $t::from_f64(doubles[i]);
            }
        }

        fn $check(device: &Device) -> Outcome {
            let codes: Vec<u8> = (0..=u8::MAX).collect();
            let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
            let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
            // Half way between neighbours, and just beside that.
            let ties = (0..=$most).map(|bits| ($value(bits) + $value(bits + 1)) / 2.0);
            let doubles: Vec<f64> = ties
                .flat_map(|tie| [tie, tie.next_up(), tie.next_down(), -tie, -tie.next_up()])
                .chain([f64::MIN_POSITIVE, -f64::MIN_POSITIVE, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, 0.0, -0.0])
                .collect();
            let count = halves.len() + brains.len() + doubles.len();
            let (mut wide, mut wider) = (device.zeros(256)?, device.zeros(256)?);
            let (mut as_half, mut as_brain) = (device.zeros(256)?, device.zeros(256)?);
            let mut narrow = device.upload(&vec![$t::ZERO; count])?;
            let (a, b, c, d) =
                (device.upload(&codes)?, device.upload(&halves)?, device.upload(&brains)?, device.upload(&doubles)?);
            $kernel(&a, &b, &c, &d, &mut wide, &mut wider, &mut as_half, &mut as_brain, &mut narrow)
                .grid(256)
                .launch(device)?;

            let of_code: fn(u8) -> f64 = $of_code;
            let all: Vec<f64> = codes.iter().map(|&code| of_code(code % 128).copysign(if code < 128 { 1.0 } else { -1.0 })).collect();
            let singles: Vec<f32> = all.iter().map(|&value| value as f32).collect();
            same(&wide.read()?, &singles, |i| format!("{i:#x} to f32"))?;
            same(&wider.read()?, &all, |i| format!("{i:#x} to f64"))?;
            same(&as_half.read()?, &singles.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>(), |i| format!("{i:#x} to f16"))?;
            same(&as_brain.read()?, &singles.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>(), |i| format!("{i:#x} to bf16"))?;

            let inputs: Vec<f64> = halves.iter().map(|x| x.to_f64()).chain(brains.iter().map(|x| x.to_f64())).chain(doubles).collect();
            // What is out of range becomes the largest number.
            let rounded = |value: f64| match nearest(value.clamp(-1e9, 1e9), $most + 1, $value) {
                Some(bits) => $t::from_bits((bits >> 15 << 7) as u8 | (bits & 0x7fff).min($most) as u8),
                None => $t::NAN,
            };
            let want: Vec<$t> = inputs.iter().map(|&value| rounded(value)).collect();
            same(&narrow.read()?, &want, |i| format!("{:?} of {}", inputs[i], ["f16", "bf16", "f64"][(i / 65536).min(2)]))
        }
    )*};
}

conversions! {
    e4m3_conversions all_e4m3: e4m3, 0x7e, of_e4m3, |size| if size == 0x7f { f64::NAN } else { of_e4m3(size.into()) };
    e5m2_conversions all_e5m2: e5m2, 0x7b, of_e5m2, |size| match size {
        0x7c => f64::INFINITY,
        0x7d.. => f64::NAN,
        _ => of_e5m2(size.into()),
    };
}

const ONE: e4m3 = e4m3::from_bits(0x38);

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Row {
    values: [e4m3; 3],
    scale: e5m2,
}

#[device]
fn scaled(x: e4m3, by: e5m2) -> e4m3 {
    e4m3::from_f32(x.to_f32() * by.to_f32())
}

/// Moves values through vectors, shared memory of this block and of its peer, shuffles and structs.
#[cluster_kernel(cluster = 2, block = 32)]
fn journey(input: &[e4m3], by: e5m2, rows: &mut [Row], out: &mut [e4m3], order: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let warp = tiled_partition::<32>(&block);
    let array = shared_array::<e4m3, 64>();
    let (i, lane) = (this_grid().thread_rank(), block.thread_rank());
    let pair = input.load_vec::<2>(i * 2);
    array.store_vec(lane * 2, pair);
    cluster.sync();
    let next = cluster.map_shared_rank(&array, (cluster.block_rank() + 1) % 2);
    let (own, other) = (array[lane], next[63 - lane]);
    let mut value = scaled(warp.shfl_xor(own, 1), by);
    if value < ONE || value == e4m3::MAX {
        value = other;
    }
    out[i] = value;
    order[i] = (own < other) as u32 + (own <= other) as u32 * 2 + (own == other) as u32 * 4 + (own != other) as u32 * 8;
    let row = rows[i];
    rows[i] = Row { values: [row.values[2], own, row.values[0]], scale: e5m2::from_f32(row.scale.to_f32() * 2.0) };
    cluster.sync();
}

fn through_memory(device: &Device) -> Outcome {
    let input: Vec<e4m3> = (0..128u32).map(|i| e4m3::from_bits((i * 37 % 251) as u8)).collect();
    let by = e5m2::from_f32(1.5);
    let row = |i: u8| Row {
        values: [e4m3::from_bits(i), e4m3::NAN, e4m3::from_bits(i + 1)],
        scale: e5m2::from_f32(f32::from(i)),
    };
    let mut rows = device.upload(&Vec::from_iter((0..64).map(row)))?;
    let (mut out, mut order) = (device.upload(&[ONE; 64])?, device.zeros(64)?);
    journey(&device.upload(&input)?, by, &mut rows, &mut out, &mut order).grid(2).launch(device)?;
    let own = |i: usize| input[i / 32 * 64 + i % 32];
    let other = |i: usize| input[(i / 32 + 1) % 2 * 64 + 63 - i % 32];
    let want = |i: usize| {
        let value = e4m3::from_f32(own(i ^ 1).to_f32() * 1.5);
        if value.to_f32() < 1.0 || value.to_f32() == 448.0 { other(i) } else { value }
    };
    same(&out.read()?, &Vec::from_iter((0..64).map(want)), |i| format!("thread {i}"))?;
    let want = |i: usize| {
        let (a, b) = (own(i).to_f32(), other(i).to_f32());
        u32::from(a < b) + u32::from(a <= b) * 2 + u32::from(a == b) * 4 + u32::from(a != b) * 8
    };
    same(&order.read()?, &Vec::from_iter((0..64).map(want)), |i| format!("the order of thread {i}"))?;
    let got = rows.read()?;
    let first: Vec<e4m3> = got.iter().flat_map(|row| row.values).collect();
    let want = |i: usize| match i % 3 {
        0 => e4m3::from_bits(i as u8 / 3 + 1),
        1 => own(i / 3),
        _ => e4m3::from_bits(i as u8 / 3),
    };
    same(&first, &Vec::from_iter((0..192).map(want)), |i| format!("value {i}"))?;
    let scales: Vec<e5m2> = got.iter().map(|row| row.scale).collect();
    let want = |i: usize| e5m2::from_f32(e5m2::from_f32(i as f32).to_f32() * 2.0);
    same(&scales, &Vec::from_iter((0..64).map(want)), |i| format!("scale {i}"))
}

/// What a thread of `vectors` keeps: named vectors are fields, parameters and results as others are.
#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Packed {
    narrow: e4m3x8,
    wide: e5m2x4,
    rest: e5m2x2,
    more: e4m3x2,
}

#[device]
fn narrowed(values: f32x4) -> e4m3x4 {
    e4m3x4::new([
        e4m3::from_f32(values[0]),
        e4m3::from_f32(values[1]),
        e4m3::from_f32(values[2]),
        e4m3::from_f32(values[3]),
    ])
}

/// Loads and stores vectors of each length, of each of the two types.
#[cluster_kernel(block = 32)]
fn vectors(input: &[f32], codes: &[e5m2], out: &mut [e4m3], copied: &mut [e5m2], packed: &mut [Packed]) {
    let shared = shared_array::<e5m2x16, 32>();
    let i = this_grid().thread_rank();
    out.store_vec(i * 4, narrowed(input.load_vec::<4>(i * 4)));
    let mut all: e5m2x16 = codes.load_vec::<16>(i * 16);
    all[15] = e5m2::ZERO;
    shared[i] = all;
    let all = shared[i];
    copied.store_vec(i * 16, e5m2x8::new([all[8], all[9], all[10], all[11], all[12], all[13], all[14], all[15]]));
    copied.store_vec(i * 16 + 8, codes.load_vec::<8>(i * 16));
    let mut narrow = e4m3x8::splat(ONE);
    for k in 0..4 {
        narrow[k] = e4m3::from_f32(all[k].to_f32());
    }
    let wide = Vector::new([all[0], all[1], all[2], all[3]]);
    let rest = e5m2x2::new([all[14], all[15]]);
    packed[i] = Packed { narrow, wide, rest, more: e4m3x2::splat(narrow[3]) };
}

fn of_vectors(device: &Device) -> Outcome {
    let input = Vec::from_iter((0..128).map(|i| i as f32 * 3.0 - 190.0));
    let codes = Vec::from_iter((0..512u32).map(|i| e5m2::from_bits((i * 37 % 120) as u8)));
    let (mut out, mut copied) = (device.upload(&[ONE; 128])?, device.upload(&[e5m2::ZERO; 512])?);
    let zero = Packed {
        narrow: e4m3x8::splat(e4m3::ZERO),
        wide: e5m2x4::splat(e5m2::ZERO),
        rest: e5m2x2::splat(e5m2::ZERO),
        more: e4m3x2::splat(e4m3::ZERO),
    };
    let mut packed = device.upload(&[zero; 32])?;
    vectors(&device.upload(&input)?, &device.upload(&codes)?, &mut out, &mut copied, &mut packed)
        .grid(1)
        .launch(device)?;
    same(&out.read()?, &Vec::from_iter(input.iter().map(|x| e4m3::from_f32(*x))), |i| {
        format!("the rounded number {i}")
    })?;
    let at = |thread: usize, k: usize| if k == 15 { e5m2::ZERO } else { codes[thread * 16 + k] };
    let want = |i: usize| if i % 16 < 8 { at(i / 16, i % 16 + 8) } else { codes[i - 8] };
    same(&copied.read()?, &Vec::from_iter((0..512).map(want)), |i| format!("the copied number {i}"))?;
    let got = packed.read()?;
    let narrow = Vec::from_iter(got.iter().flat_map(|row| [row.narrow.lanes().as_slice(), row.more.lanes()].concat()));
    let want = |i: usize| match i % 10 {
        k @ 0..4 => e4m3::from_f32(at(i / 10, k).to_f32()),
        4..8 => ONE,
        _ => e4m3::from_f32(at(i / 10, 3).to_f32()),
    };
    same(&narrow, &Vec::from_iter((0..320).map(want)), |i| format!("the lane {i} of `e4m3`"))?;
    let wide = Vec::from_iter(got.iter().flat_map(|row| [row.wide.lanes().as_slice(), row.rest.lanes()].concat()));
    let want = |i: usize| at(i / 6, [0, 1, 2, 3, 14, 15][i % 6]);
    same(&wide, &Vec::from_iter((0..192).map(want)), |i| format!("the lane {i} of `e5m2`"))
}

/// Multiplies 64 rows by the transpose of 64 rows that tensor maps bring, and rounds the sums.
#[cluster_kernel(block = 128)]
fn product(a: &TensorMap<[Swizzled<e4m3, 128>; 64]>, b: &TensorMap<[Swizzled<e5m2, 128>; 64]>, out: &mut [e5m2]) {
    let block = this_thread_block();
    let warpgroup = tiled_partition::<128>(&block);
    let rank = warpgroup.thread_rank();
    let left = shared_array::<[Swizzled<e4m3, 128>; 64], 1>();
    let right = shared_array::<[Swizzled<e5m2, 128>; 64], 1>();
    let full = shared_barrier();
    full.init_collective(&block, 1);
    if rank == 0 {
        a.load_async([0, 0], &left[0], &full);
        b.load_async([0, 0], &right[0], &full);
        let _ = full.arrive();
    }
    full.wait_parity(false);
    let zeros = Accumulator::<f32, 64, 64>::splat(0.0);
    let product = warpgroup.mma_async(zeros, &left[0], &right[0]);
    let sum = warpgroup.wait_mma(product);
    for i in 0..sum.len() as u32 {
        out[sum.row(rank, i) * 64 + sum.column(rank, i)] = e5m2::from_f32(sum[i]);
    }
}

/// What lies outside of the tensors is zeros.
fn of_tensors(device: &Device) -> Outcome {
    let (rows, k) = (60, 112);
    let a: Vec<e4m3> = (0..rows * k).map(|i| e4m3::from_f32((i * 7 % 11) as f32 - 5.0)).collect();
    let b: Vec<e5m2> = (0..rows * k).map(|i| e5m2::from_f32((i * 5 % 9) as f32 - 4.0)).collect();
    let (x, y) = (device.upload(&a)?, device.upload(&b)?);
    let mut out = device.upload(&[e5m2::ZERO; 64 * 64])?;
    product(&x.tensor([rows, k])?, &y.tensor([rows, k])?, &mut out).grid(1).launch(device)?;
    let element = |i: usize| match (i / 64).max(i % 64) < rows {
        true => (0..k).map(|j| a[i / 64 * k + j].to_f32() * b[i % 64 * k + j].to_f32()).sum(),
        false => 0.0,
    };
    let want: Vec<e5m2> = (0..64 * 64).map(|i| e5m2::from_f32(element(i))).collect();
    same(&out.read()?, &want, |i| format!("element {i}"))
}

#[cluster_kernel(block = 1)]
fn asserts(x: e4m3, y: e5m2) {
    /* shown */
    assert!(x.to_f32() < y.to_f32(), "{x} is not below {y:?}");
}

fn shown_in_messages(device: &Device) -> Outcome {
    let result = asserts(e4m3::from_f32(2.5), e5m2::from_f32(-1.0)).grid(1).launch(device);
    fails(result, "2.5 is not below -1.0", &find(file!(), include_str!("fp8.rs"), "shown"), (0, 0, 0), (0, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "fp8",
        checks: check_list![all_e4m3, all_e5m2, through_memory, of_vectors, of_tensors, shown_in_messages],
        kernels: kernel_list![e4m3_conversions, e5m2_conversions, journey, vectors, product, asserts],
    }]
}
