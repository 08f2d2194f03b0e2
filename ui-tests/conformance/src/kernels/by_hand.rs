//! Tests of `cuda!`: handwritten C++ and PTX with values and memory as operands, compared with the closures beside them
//! and with plain Rust. The texts of these kernels are kept in `golden/`, which names lines of this file.

use phalanx::Cause;
use phalanx::intrinsics::{load, store};
use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, failure, find, kernel_list, read, same};

const SOURCE: &str = include_str!("by_hand.rs");

/// Returns the upper half of a product, which PTX has as one instruction.
#[device]
fn mul_hi(x: u32, y: u32) -> u32 {
    let high;
    unsafe {
        cuda!(
            r#"asm("mul.hi.u32 %0, %1, %2;" : "=r"(high.value) : "r"(x.value), "r"(y.value));"#,
            in(x), in(y), out(high);
            else |x, y| ((u64::from(x) * u64::from(y)) >> 32) as u32
        );
    }
    high
}

#[cluster_kernel(block = 64)]
fn products(a: &[u32], b: &[u32], out: &mut [u32]) {
    let i = this_grid().thread_rank();
    out[i] = mul_hi(a[i], b[i]);
}

/// Uses every kind of operand; names that C++ does not take, or that stand for something else by then.
#[cluster_kernel(block = 32)]
fn operands(input: &[i32], out: &mut [i32], scale: f32) {
    let i = this_grid().thread_rank();
    let float = input[i];
    let value = float + 1;
    let value = value * 2;
    let mut sum: i64 = 5;
    let mut flag = false;
    let scaled: f32;
    let pair = [float, value];
    unsafe {
        cuda!(
            "
            // A comment with a } in it, and one at the end of the text.
            sum = sum + i64(pair[0].value) + i64(twice.value);
            if (sum > bound) {
                flag = even;
                scaled = scale * scale;
                return; // leaves the text, not the kernel
            }
            scaled = -scale; // }",
            in(pair), in(twice = value), in(bound = 40), in(even = float % 2 == 0), in(scale),
            inout(sum), out(flag), out(scaled);
            else |pair: [i32; 2], twice: i32, bound: i64, even, scale: f32, sum: i64| {
                let sum = sum + i64::from(pair[0]) + i64::from(twice);
                if sum > bound { (sum, even, scale * scale) } else { (sum, false, -scale) }
            }
        );
    }
    out[i] = sum as i32 + if flag { 1_000 } else { 0 } + scaled as i32;
}

/// Accesses memory under its own names: shared, global, and a local of one rank only.
#[cluster_kernel(block = 32)]
fn through_memory(input: &[u32], out: &mut [u32]) {
    let block = this_thread_block();
    let array = shared_array::<u32, 32>();
    let rank = block.thread_rank();
    unsafe {
        cuda!(
            "array.elements[rank.value] = input.data[rank.value] * 3;",
            in(array), in(input), in(rank);
            else |array, input, rank| store(array, rank, load(&input, rank).wrapping_mul(3))
        );
    }
    block.sync();
    let next = (rank + 1) % 32;
    unsafe {
        cuda!(
            "out[rank] = array[next];",
            in(array), in(out), in(rank), in(next);
            else |array, out, rank, next| store(&out, rank, load(array, next))
        );
    }
}

#[device]
fn sum<T: Number>(x: T, y: T) -> T {
    x + y
}

#[device]
fn doubled<T: Number>(x: T) -> T {
    let mut y = x;
    unsafe {
        cuda!("y += y;", inout(y); else |y: T| sum(y, y));
    }
    y
}

#[device]
fn apply(f: impl Fn(u32) -> u32, x: u32) -> u32 {
    f(x)
}

/// Used in a generic function, and in a closure that sees more than the text does.
#[cluster_kernel(block = 32)]
fn nested(out: &mut [u32], offset: u32) {
    let i = this_grid().thread_rank();
    let tripled = apply(
        |x| {
            let y: u32;
            unsafe {
                cuda!("y = x * 3;", in(x), out(y); else |x: u32| x * 3);
            }
            y + offset
        },
        i as u32,
    );
    out[i] = doubled(tripled) + doubled(0.5f32) as u32;
}

/// Only a GPU can run it.
#[cluster_kernel(block = 32)]
fn without_closure(out: &mut [u32]) {
    let lane: u32;
    unsafe {
        /* without_closure */
        cuda!(r#"asm("mov.u32 %0, %%laneid;" : "=r"(lane.value));"#, out(lane));
    }
    out[this_grid().thread_rank()] = lane;
}

/// Loads rows whose lines leave the second-level cache first, which `load_async` does not say. The thread arrives at the barrier as ever.
#[device]
fn load_once(
    input: &TensorMap<[Swizzled<u32, 32>; 8]>,
    tile: &SharedArray<Swizzled<u32, 32>, 8>,
    full: &Barrier,
    row: i32,
) {
    unsafe {
        cuda!(
            r#"
            unsigned long long policy;
            full.expect_tx(u32(sizeof(tile)));
            asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
                         "[%0], [%1, {%2, %3}], [%4], %5;"
                         :
                         : "r"(static_cast<unsigned>(__cvta_generic_to_shared(&tile))), "l"(&input), "r"(0), "r"(row.value),
                           "r"(full.address()), "l"(policy)
                         : "memory");
            "#,
            in(input), in(tile), in(full), in(row);
            else |input, tile, full, row| input.load_async([row, 0], tile, full)
        );
    }
}

/// Barriers and the map of a tensor are operands, here and in a function: half of the threads arrive by PTX.
#[cluster_kernel(block = 64)]
fn copies(input: &TensorMap<[Swizzled<u32, 32>; 8]>, out: &mut [u32], steps: u32) {
    let block = this_thread_block();
    let i = block.thread_rank();
    let tile = shared_array::<Swizzled<u32, 32>, 8>();
    let full = shared_barriers::<2>();
    let read = shared_barrier();
    full.init_collective(&block, 1);
    read.init_collective(&block, 64);
    for step in 0..steps {
        if i == 0 {
            load_once(&input, &tile, &full[step % 2], step as i32 * 8);
            let _ = full[step % 2].arrive();
        }
        full[step % 2].wait_parity(step / 2 % 2 == 1);
        for k in 0..4 {
            out[step * 256 + k * 64 + i] = tile[k * 2 + i / 32][i % 32];
        }
        if i < 32 {
            let _ = read.arrive();
        } else {
            unsafe {
                cuda!(
                    r#"asm volatile("{ .reg .b64 token; mbarrier.arrive.shared::cta.b64 token, [%0]; }" : : "r"(read.address()) : "memory");"#,
                    in(read);
                    else |read| drop(read.arrive())
                );
            }
        }
        read.wait_parity(step % 2 == 1);
    }
}

fn barriers_and_maps(device: &Device) -> Outcome {
    let input = Vec::from_iter((0..5 * 256u32).map(|i| i.wrapping_mul(0x9e37_79b9)));
    let tensor = device.upload(&input)?;
    let tensor = tensor.tensor([40, 32])?;
    let out = read!(device, 5 * 256, |out| copies(&tensor, out, 5).grid(1));
    same(&out, &input, |i| format!("element {i}"))
}

fn ptx_by_hand(device: &Device) -> Outcome {
    let a = Vec::from_iter((0..64u32).map(|i| i.wrapping_mul(0x9e37_79b9)));
    let b = Vec::from_iter((0..64u32).map(|i| u32::MAX - i * 12_345));
    let (left, right) = (device.upload(&a)?, device.upload(&b)?);
    let out = read!(device, 64, |out| products(&left, &right, out).grid(1));
    let high = |(x, y): (&u32, &u32)| ((u64::from(*x) * u64::from(*y)) >> 32) as u32;
    same(&out, &Vec::from_iter(a.iter().zip(&b).map(high)), |i| format!("thread {i}"))
}

fn all_operands(device: &Device) -> Outcome {
    let values = Vec::from_iter(0..32);
    let input = device.upload(&values)?;
    let out = read!(device, 32, |out| operands(&input, out, 3.0).grid(1));
    let want = values.iter().map(|x| {
        let sum = 5 + x + (x + 1) * 2;
        let (flag, scaled) = if sum > 40 { (x % 2 == 0, 9) } else { (false, -3) };
        sum + if flag { 1_000 } else { 0 } + scaled
    });
    same(&out, &Vec::from_iter(want), |i| format!("thread {i}"))
}

fn memory_is_an_operand(device: &Device) -> Outcome {
    let values = Vec::from_iter((0..32u32).map(|i| i * i));
    let input = device.upload(&values)?;
    let out = read!(device, 32, |out| through_memory(&input, out).grid(1));
    same(&out, &Vec::from_iter((0..32).map(|i| values[(i + 1) % 32] * 3)), |i| format!("thread {i}"))
}

fn in_functions_and_closures(device: &Device) -> Outcome {
    let out = read!(device, 32, |out| nested(out, 7).grid(1));
    same(&out, &Vec::from_iter((0..32).map(|i| (3 * i + 7) * 2 + 1)), |i| format!("thread {i}"))
}

fn the_simulator_needs_a_closure(device: &Device) -> Outcome {
    let mut out = device.zeros(32)?;
    let result = without_closure(&mut out).grid(1).launch(device);
    if !device.is_simulator() {
        result?;
        return same(&out.read()?, &Vec::from_iter(0..32), |i| format!("thread {i}"));
    }
    let failure = failure(result)?;
    let at = find(file!(), SOURCE, "without_closure");
    match (failure.cause, failure.location) {
        (Cause::NoClosure, Some(location)) if location == at => Ok(()),
        other => Err(format!("not the place of the `cuda!`: {other:?}, and not {at}").into()),
    }
}

pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![
        ptx_by_hand,
        all_operands,
        memory_is_an_operand,
        in_functions_and_closures,
        barriers_and_maps,
        the_simulator_needs_a_closure
    ];
    let kernels = kernel_list![products, operands, through_memory, nested, without_closure, copies];
    vec![Module { name: "by_hand", checks, kernels }]
}
