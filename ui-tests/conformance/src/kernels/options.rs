//! The attribute's options: values that are literals, constants, or a generic parameter; what each does to the launch
//! and to the text.

use phalanx::prelude::*;
use phalanx::{Error, LaunchError, Program};

use crate::{Module, Outcome, check_list, kernel_list, read, same};

const WARP: u32 = 32;
const TILE: usize = 16;
const CLUSTER: u8 = 2;
const FULL: i64 = 8;

/// Constants of any integer type, and expressions of them.
#[cluster_kernel(cluster = (CLUSTER, FULL as u32 / 8), block = (TILE, 2 * WARP / 16))]
fn constants(out: &mut [u32]) {
    let cluster = this_cluster();
    let block = this_thread_block();
    out[this_grid().thread_rank()] = cluster.num_blocks() * 1_000 + block.num_threads();
}

/// A block of the caller's choice.
#[cluster_kernel(block = N, max_registers = 32)]
fn generic<const N: usize>(out: &mut [u32]) {
    let scratch = shared_array::<u32, N>();
    let block = this_thread_block();
    let rank = block.thread_rank();
    scratch[rank] = rank;
    block.sync();
    out[this_grid().thread_rank()] = scratch[N as u32 - 1 - rank];
}

#[cluster_kernel(cluster = 2, block = 256, min_blocks = 4, fence = "full")]
fn packed(input: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] + 1.0;
}

#[cluster_kernel(cluster = 2, block = (32, 8), max_registers = 2 * WARP)]
fn few_registers(input: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] * 2.0;
}

/// Uses more than a launch without `shared_bytes` has.
#[cluster_kernel(block = 64, shared_bytes = 1 << 16)]
fn scratch(out: &mut [usize]) {
    let memory = dynamic_shared::<u32>();
    let block = this_thread_block();
    let rank = block.thread_rank();
    memory[memory.len() - 1 - rank as usize] = rank;
    block.sync();
    out[this_grid().thread_rank()] = memory.len() + memory[memory.len() - 64 + rank as usize] as usize;
}

/// `x * x` does not fit an `f32`: one rounding leaves another remainder than two.
#[cluster_kernel(block = 32, fmad)]
fn contracted(input: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] * input[i] - 1.0;
}

#[cluster_kernel(block = 32)]
fn rounded(input: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] * input[i] - 1.0;
}

#[cluster_kernel(block = 32, fast_math)]
fn fast(input: &[f32], out: &mut [f32]) {
    let i = this_grid().thread_rank();
    out[i] = input[i] / 3.0 + input[i].sqrt();
}

/// Launches sixteen blocks with a fixed shape.
#[cluster_kernel(cluster = (CLUSTER * 8), block = 32, non_portable)]
fn large_cluster(out: &mut [u32]) {
    out[this_grid().thread_rank()] = this_cluster().num_blocks();
}

/// Sizes that a macro is given: literals and constants in its invisible parentheses.
macro_rules! sized {
    ($name:ident, $cluster:expr, $block:expr, $least:literal) => {
        #[cluster_kernel(cluster = $cluster, block = $block, min_blocks = $least)]
        fn $name(out: &mut [u32]) {
            let cluster = this_cluster();
            let block = this_thread_block();
            out[this_grid().thread_rank()] = cluster.num_blocks() * 1_000 + block.num_threads();
        }
    };
}

sized!(made_of_literals, 4, (8, 2), 16);
sized!(made_of_constants, CLUSTER * 2, TILE, 32);

fn macros_fix_sizes(device: &Device) -> Outcome {
    let out = read!(device, 64, |out| made_of_literals(out).grid(4));
    same(&out, &[4_016; 64], |i| format!("thread {i}"))?;
    let out = read!(device, 64, |out| made_of_constants(out).grid(4));
    same(&out, &[4_016; 64], |i| format!("thread {i}"))
}

fn constants_fix_sizes(device: &Device) -> Outcome {
    let out = read!(device, 256, |out| constants(out).grid(4));
    same(&out, &[2_064; 256], |i| format!("thread {i}"))?;
    let out = read!(device, 128, |out| generic::<64>(out).grid(2));
    same(&out, &Vec::from_iter((0..128).map(|i| 63 - i % 64)), |i| format!("thread {i}"))?;
    let out = read!(device, 96, |out| generic::<96>(out).grid(1));
    same(&out, &Vec::from_iter((0..96).map(|i| 95 - i)), |i| format!("thread {i}"))?;
    let out = read!(device, 512, |out| large_cluster(out).grid(16));
    same(&out, &[16; 512], |i| format!("thread {i}"))
}

fn shared_bytes_are_the_attribute_s(device: &Device) -> Outcome {
    let want = Vec::from_iter((0..64).map(|rank| 16_384 + 63 - rank));
    let out = read!(device, 64, |out| scratch(out).grid(1));
    same(&out, &want, |i| format!("thread {i}"))?;
    let out = read!(device, 64, |out| scratch(out).grid(1).shared_bytes(65_536));
    same(&out, &want, |i| format!("thread {i}"))?;
    let mut out = device.zeros(64)?;
    match scratch(&mut out).grid(1).shared_bytes(1024).launch(device) {
        Err(Error::Launch { reason: LaunchError::SharedBytesMismatch { fixed: 65_536, asked: 1024 }, .. }) => Ok(()),
        other => Err(format!("another size is refused, and not {other:?}").into()),
    }
}

fn bounds_do_not_change_results(device: &Device) -> Outcome {
    let values = Vec::from_iter((0..512).map(|i| i as f32));
    let input = device.upload(&values)?;
    let out = read!(device, 512, |out| packed(&input, out).grid(2));
    same(&out, &Vec::from_iter(values.iter().map(|x| x + 1.0)), |i| format!("thread {i}"))?;
    let out = read!(device, 512, |out| few_registers(&input, out).grid(2));
    same(&out, &Vec::from_iter(values.iter().map(|x| x * 2.0)), |i| format!("thread {i}"))
}

/// The simulator keeps Rust's arithmetic. A GPU may contract: NVRTC 13.5 does here, 13.0 does not.
fn contraction_rounds_once(device: &Device) -> Outcome {
    let values = Vec::from_iter((0..32).map(|i| 1.0 + (i + 1) as f32 * 1e-7));
    let input = device.upload(&values)?;
    let twice = Vec::from_iter(values.iter().map(|x| x * x - 1.0));
    let once = Vec::from_iter(values.iter().map(|x| x.mul_add(*x, -1.0)));
    assert_ne!(once, twice);
    let out = read!(device, 32, |out| rounded(&input, out).grid(1));
    same(&out, &twice, |i| format!("thread {i}"))?;
    let out = read!(device, 32, |out| contracted(&input, out).grid(1));
    let contracted = !device.is_simulator() && out == once;
    same(&out, if contracted { &once } else { &twice }, |i| format!("thread {i}"))
}

/// Within the bounds of the CUDA C++ Programming Guide's table of intrinsics: 2 ulp for `/`, 3 for `sqrt`, 1 for `+`.
fn fast_math_is_close(device: &Device) -> Outcome {
    let values = Vec::from_iter((1..33).map(|i| i as f32));
    let input = device.upload(&values)?;
    let out = read!(device, 32, |out| fast(&input, out).grid(1));
    for (x, y) in values.iter().zip(out) {
        let want = x / 3.0 + x.sqrt();
        if (y - want).abs() > 6.0 * f32::EPSILON * want {
            return Err(format!("{y} for {x}, and not about {want}").into());
        }
    }
    Ok(())
}

fn texts_say_them(_: &Device) -> Outcome {
    let heads = [
        (Program::of::<constants>()?, "void __cluster_dims__(2, 1, 1) __launch_bounds__(64)\nconstants("),
        (Program::of::<generic<96>>()?, "void __maxnreg__(32)\ngeneric("),
        (Program::of::<packed>()?, "void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 4)\npacked("),
        (Program::of::<few_registers>()?, "void __cluster_dims__(2, 1, 1) __maxnreg__(64)\nfew_registers("),
    ];
    for (program, head) in heads {
        if !program.cuda_source().contains(head) {
            return Err(format!("no `{head}` in\n{}", program.cuda_source()).into());
        }
    }
    Ok(())
}

pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        constants_fix_sizes,
        macros_fix_sizes,
        shared_bytes_are_the_attribute_s,
        bounds_do_not_change_results,
        contraction_rounds_once,
        fast_math_is_close,
        texts_say_them,
    ];
    let kernels = kernel_list![
        constants,
        generic<96>,
        packed,
        few_registers,
        scratch,
        contracted,
        rounded,
        fast,
        large_cluster,
        made_of_literals,
        made_of_constants,
    ];
    vec![Module { name: "options", checks, kernels }]
}
