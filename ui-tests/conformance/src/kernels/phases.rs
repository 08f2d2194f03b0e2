//! A part of the guide in a file of its own: structs, enums, a table of constants and a large tile in one small program.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
enum Phase {
    Solid,
    Liquid = 2,
    Gas,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Cell {
    heat: f32,
    phase: Phase,
    _padding: [u8; 3],
}

/// The heat that a cell keeps, by phase and by whether it is at the rim.
const KEPT: [[f32; 2]; 4] = [[0.9, 0.8], [0.0, 0.0], [0.75, 0.5], [0.5, 0.25]];
const COLD: Cell = Cell { heat: 0.0, phase: Phase::Solid, _padding: [0; 3] };

#[device]
fn settled(cell: Cell) -> Cell {
    let phase = if cell.heat < 1.0 {
        Phase::Solid
    } else if cell.heat < 4.0 {
        Phase::Liquid
    } else {
        Phase::Gas
    };
    Cell { phase, ..cell }
}

/// Each cell passes heat to its neighbours, by way of a tile of 64 KiB.
#[cluster_kernel(block = 256)]
fn exchange_cells(cells: &mut [Cell], rounds: u32) {
    let block = this_thread_block();
    let tile = shared_array::<Cell, 8192>();
    let first = this_grid().block_rank() as usize * 8192;
    let i = block.thread_rank();
    for k in (i..8192).step_by(256) {
        tile[k] = cells[first + k as usize];
    }
    block.sync();
    for _ in 0..rounds {
        for k in (i..8192).step_by(256) {
            let is_rim = k == 0 || k == 8191;
            let kept = KEPT[tile[k].phase as u32][is_rim as u32];
            let left = if k == 0 { COLD } else { tile[k - 1] };
            cells[first + k as usize].heat = tile[k].heat * kept + left.heat * (1.0 - kept);
        }
        block.sync();
        for k in (i..8192).step_by(256) {
            tile[k].heat = cells[first + k as usize].heat;
            tile[k] = settled(tile[k]);
        }
        block.sync();
    }
    for k in (i..8192).step_by(256) {
        cells[first + k as usize].phase = tile[k].phase;
    }
}

fn exchanges(device: &Device) -> Outcome {
    let start: Vec<Cell> = (0..16_384u32).map(|k| settled(Cell { heat: (k % 97) as f32 / 16.0, ..COLD })).collect();
    let mut buffer = device.upload(&start)?;
    exchange_cells(&mut buffer, 3).grid(2).launch(device)?;
    let mut want = start;
    for row in want.chunks_mut(8192) {
        for _ in 0..3 {
            let old = row.to_vec();
            for (k, cell) in row.iter_mut().enumerate() {
                let kept = KEPT[old[k].phase as usize][usize::from(k == 0 || k == 8191)];
                let left = if k == 0 { COLD } else { old[k - 1] };
                cell.heat = old[k].heat * kept + left.heat * (1.0 - kept);
                *cell = settled(*cell);
            }
        }
    }
    equal(&buffer.read()?, &want)
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module { name: "guide", checks: check_list![exchanges], kernels: kernel_list![exchange_cells] }]
}
