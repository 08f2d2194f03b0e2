//! Uses of `cuda!` in every form.

use phalanx::prelude::*;

#[cluster_kernel]
fn text_alone() {
    unsafe { cuda!("__nanosleep(20);") }
}

#[cluster_kernel]
fn no_operand_and_a_closure() {
    unsafe {
        cuda!("__nanosleep(20);"; else || {});
    }
}

#[cluster_kernel]
fn every_operand(x: u32, out: &mut [u32]) {
    let y: u32;
    let mut z = 3u64;
    let w;
    let array = shared_array::<f32, 4>();
    unsafe {
        cuda!(
            "y = a; z += u64(x.value); w = f32(array.elements[0].value); out.data[0] = a; // }",
            in(x), in(a = x + 4), in(array), in(out), inout(z), out(y), out(w),;
            else |x: u32, a, _, _, z| -> (u64, u32, f32) { (z + u64::from(x), a, 0.0) },
        )
    }
    out[1] = y + z as u32 + w as u32;
}

#[device]
fn through_a_reference(r: &u32, values: [i32; 2]) -> i32 {
    let mut sum = 0;
    unsafe {
        cuda!("sum = values[r] + values[1];", in(r), in(values), out(sum); else |r: u32, v: [i32; 2]| v[r as usize] + v[1])
    };
    sum
}

#[cluster_kernel]
fn caller(out: &mut [i32]) {
    let index = 0;
    out[0] = through_a_reference(&index, [1, 2]);
}

/// Barriers, of which nothing is assumed, and the map of a tensor.
#[cluster_kernel(cluster = 2, block = 32)]
fn barriers_and_maps(input: &TensorMap<[f32; 32]>, out: &mut TensorMap<[f32; 32]>) {
    let (cluster, block) = (this_cluster(), this_thread_block());
    let tile = shared_array::<f32, 32>();
    let full = shared_barriers::<2>();
    let bar = shared_cluster_barrier();
    full.init_collective(&block, 32);
    bar.init_collective(&cluster, 64);
    let there = cluster.map_shared_rank(&bar, 1 - cluster.block_rank());
    unsafe {
        cuda!(
            "const void* maps[] = {&input, &out}; (void)maps; (void)tile; (void)full; (void)first; (void)bar; (void)there;",
            in(input), in(out), in(tile), in(full), in(first = full[0]), in(bar), in(there);
            else |input, out, tile, _, first, bar, there| {
                input.load_async([0], tile, first);
                out.store_async([0], tile);
                drop((first.arrive(), bar.arrive()));
                there.arrive();
            }
        )
    }
    full[0].wait_parity(false);
    cluster.sync();
}

/// The macro's caller names the operands.
macro_rules! doubled {
    ($name:ident, $x:ident) => {
        #[cluster_kernel]
        fn $name($x: u32, out: &mut [u32]) {
            let y: u32;
            unsafe { cuda!("y = x + x;", in(x = $x), out(y); else |x| x + x) }
            out[0] = y;
        }
    };
}

doubled!(made, y);

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<text_alone>,
    phalanx::Program::of::<no_operand_and_a_closure>,
    phalanx::Program::of::<every_operand>,
    phalanx::Program::of::<caller>,
    phalanx::Program::of::<barriers_and_maps>,
    phalanx::Program::of::<made>,
];
