//! Elementwise: a product and a sum for each element, with one element a thread, 16 bytes a thread, and in a loop over
//! the grid.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "elementwise", about: "`f32`: a product and a sum for each element", cases };

const BLOCK: usize = 256;
const SCALE: f32 = 1.5;
const SHIFT: f32 = 0.25;

#[cluster_kernel(block = 256)]
fn one_a_thread(input: &[f32], out: &mut [f32], scale: f32, shift: f32) {
    let i = this_grid().thread_rank();
    if i < input.len() {
        out[i] = input[i].mul_add(scale, shift);
    }
}

#[cluster_kernel(block = 256)]
fn vector_a_thread(input: &[f32], out: &mut [f32], scale: f32, shift: f32) {
    let i = this_grid().thread_rank() * 4;
    if i < input.len() {
        let mut v = input.load_vec::<4>(i);
        for k in 0..4 {
            v[k] = v[k].mul_add(scale, shift);
        }
        out.store_vec(i, v);
    }
}

#[cluster_kernel(block = 256)]
fn grid_stride(input: &[f32], out: &mut [f32], scale: f32, shift: f32) {
    let grid = this_grid();
    for i in (grid.thread_rank()..input.len()).step_by(grid.num_threads()) {
        out[i] = input[i].mul_add(scale, shift);
    }
}

/// The blocks of the loop over the grid: as many as are resident at once on 132 multiprocessors.
const RESIDENT: usize = 132 * 8;

fn cases(scale: Scale) -> Vec<Case> {
    let len = scale.pick(1 << 28, 1 << 12);
    let versions = [
        ("one element a thread", "one_a_thread", len / BLOCK),
        ("16 bytes a thread", "vector_a_thread", len / BLOCK / 4),
        ("loop over the grid", "grid_stride", RESIDENT.min(len / BLOCK)),
    ];
    versions.map(|(version, entry, grid)| case(version, entry, len, grid as u32)).into()
}

fn case(version: &str, entry: &'static str, len: usize, grid: u32) -> Case {
    Case {
        version: version.into(),
        size: len as u64,
        unit: "elements",
        bytes: 8 * len as u64,
        twin: Twin::new(entry, include_str!("../../twins/elementwise.cu")),
        library: Some(json!({ "operation": "elementwise", "len": len })),
        prepare: Box::new(move |device| {
            Map::prepared(
                device,
                data::reals(1, len),
                len,
                Before::Spoiled,
                move |device, input, out| match entry {
                    "one_a_thread" => one_a_thread(input, out, SCALE, SHIFT).grid(grid).enqueue(device),
                    "vector_a_thread" => vector_a_thread(input, out, SCALE, SHIFT).grid(grid).enqueue(device),
                    _ => grid_stride(input, out, SCALE, SHIFT).grid(grid).enqueue(device),
                },
                move |input, out| {
                    let pointers = [input, out, len as u64].map(Argument::Word);
                    Call::new(grid, BLOCK, [&pointers[..], &[SCALE, SHIFT].map(Argument::Real)].concat())
                },
                move |input, read| {
                    let want = |x: &f32| f64::from(*x) * f64::from(SCALE) + f64::from(SHIFT);
                    for chunk in data::sample(len / 4096, 64) {
                        let part = chunk * 4096..(chunk + 1) * 4096;
                        let got = read(part.clone())?;
                        compare::close(
                            "product and sum",
                            got.into_iter().map(f64::from),
                            input[part].iter().map(want),
                            1e-6,
                        )?;
                    }
                    Ok(())
                },
            )
        }),
    }
}
