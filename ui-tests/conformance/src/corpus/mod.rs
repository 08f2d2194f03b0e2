//! Kernels as they are deployed, one file per area: each is written for a Hopper GPU, names what it follows, and is
//! compared with plain Rust. `kernels` tests single features of the language.

#![allow(
    clippy::excessive_precision,
    clippy::manual_memcpy,
    clippy::needless_range_loop,
    clippy::precedence,
    clippy::too_many_arguments,
    reason = "kernels are written as CUDA programmers write them"
)]
#![deny(unused_braces, reason = "rustc asks for those of a constant argument")]

mod attention;
mod bits;
mod blocks;
mod compaction;
mod convolution;
mod dynamic;
mod elementwise;
mod gemm;
mod graph;
mod grids;
mod hashing;
mod histogram;
mod image;
mod matvec;
mod memory;
mod multicast;
mod multicast_grid;
mod norm;
mod physics;
mod pipelines;
mod random_numbers;
mod reduce;
mod scan;
mod search;
mod shapes;
mod softmax;
mod sort;
mod sparse;
mod stencil;
mod structures;
mod tables;
mod tensor_cores;
mod tensor_maps;
mod text;
mod topk;
mod transforms;
mod transpose;
mod warpgroups;
mod warps;

use crate::Module;

/// Returns all modules.
pub fn modules() -> Vec<Module> {
    vec![
        attention::module(),
        bits::module(),
        compaction::module(),
        convolution::module(),
        dynamic::module(),
        elementwise::module(),
        gemm::module(),
        graph::module(),
        grids::module(),
        hashing::module(),
        histogram::module(),
        image::module(),
        matvec::module(),
        memory::module(),
        multicast::module(),
        multicast_grid::module(),
        norm::module(),
        physics::module(),
        pipelines::module(),
        random_numbers::module(),
        reduce::module(),
        scan::module(),
        search::module(),
        shapes::module(),
        softmax::module(),
        sort::module(),
        sparse::module(),
        stencil::module(),
        structures::module(),
        tables::module(),
        tensor_cores::module(),
        tensor_maps::module(),
        text::module(),
        topk::module(),
        transforms::module(),
        transpose::module(),
        warpgroups::module(),
        warps::module(),
    ]
}

/// Returns random numbers, the same ones each time (splitmix64).
fn random(seed: u64, len: usize) -> Vec<u32> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut hash = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (hash ^ hash >> 31) as u32
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// Returns random numbers below a limit.
fn below(limit: u32, seed: u64, len: usize) -> Vec<u32> {
    random(seed, len).into_iter().map(|value| value % limit).collect()
}

/// Returns random numbers from -1 to 1 in steps of 2⁻²³.
fn reals(seed: u64, len: usize) -> Vec<f32> {
    random(seed, len).into_iter().map(|value| (value >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}
