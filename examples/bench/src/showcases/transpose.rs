//! Transpose of a square matrix of `f32`, in tiles of shared memory.

use phalanx::prelude::*;
use serde_json::json;

use super::{Before, Map};
use crate::case::{Case, Scale, Showcase};
use crate::twin::{Argument, Call, Twin};
use crate::{compare, data};

pub(super) const SHOWCASE: Showcase =
    Showcase { name: "transpose", about: "a square matrix of `f32`, in tiles of 32 by 32", cases };

const TILE: usize = 32;
/// The rows of a tile that a block reads at once.
const ROWS: usize = 8;

#[cluster_kernel(block = 256)]
fn transpose(input: &[f32], out: &mut [f32], width: u32) {
    let block = this_thread_block();
    let tile = shared_array::<[f32; 33], TILE>(); // 33 columns avoid bank conflicts
    let i = block.thread_rank();
    let (x, y) = (i % 32, i / 32);
    let rank = this_grid().block_rank() as u32;
    let tiles = width / 32;
    let (left, top) = (rank % tiles * 32, rank / tiles * 32);
    for row in (y..32).step_by(ROWS) {
        tile[row][x] = input[(top + row) as usize * width as usize + (left + x) as usize];
    }
    block.sync();
    for row in (y..32).step_by(ROWS) {
        out[(left + row) as usize * width as usize + (top + x) as usize] = tile[x][row];
    }
}

fn cases(scale: Scale) -> Vec<Case> {
    let width: usize = scale.pick(1 << 14, 64);
    let len = width * width;
    let grid = (len / TILE / TILE) as u32;
    vec![Case {
        version: "tiles".into(),
        size: width as u64,
        unit: "columns",
        bytes: 8 * len as u64,
        twin: Twin::new("transpose", include_str!("../../twins/transpose.cu")),
        library: Some(json!({ "operation": "transpose", "width": width })),
        prepare: Box::new(move |device| {
            let call = move |input, out| {
                let arguments = [Argument::Word(input), Argument::Word(out), Argument::Number(width as u32)];
                Call::new(grid, TILE * ROWS, arguments)
            };
            let ours = move |device: &Device, input: &_, out: &mut _| {
                transpose(input, out, width as u32).grid(grid).enqueue(device)
            };
            Map::prepared(device, data::reals(8, len), len, Before::Spoiled, ours, call, move |input, read| {
                for row in data::sample(width, 64) {
                    let want: Vec<f32> = (0..width).map(|column| input[column * width + row]).collect();
                    compare::equal(&format!("row {row}"), &read(row * width..(row + 1) * width)?, &want)?;
                }
                Ok(())
            })
        }),
    }]
}
