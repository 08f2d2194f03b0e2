//! Rows that a loop names, of shared memory, of global memory and of a constant: whether the name refers to the row or has a copy of it, its
//! elements are those that the row had where it was named.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, fails, find, kernel_list};

const SOURCE: &str = include_str!("rows.rs");

const TABLE: [[u32; 8]; 3] = [[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8], [1, 6, 1, 8, 0, 3, 3, 9]];

/// Sums of a column of each.
#[cluster_kernel(block = 32)]
fn columns(rows: &[[u32; 8]], out: &mut [[u32; 4]], column: usize) {
    let block = this_thread_block();
    let tile = shared_array::<[u32; 8], 4>();
    let i = block.thread_rank() as usize;
    if i < 4 {
        tile[i] = rows[i];
    }
    block.sync();
    let own = (i + column) % 8;
    let mut sums = [0; 4];
    for row in tile.iter() {
        sums[0] += row[own];
    }
    for (k, row) in rows.iter().enumerate() {
        sums[1] += row[own] * k as u32;
    }
    for (row, weight) in TABLE.iter().zip(&[1, 10, 100]) {
        sums[2] += row[own] * weight;
    }
    block.sync();
    for (k, row) in tile.iter().enumerate() {
        block.sync();
        if i == k {
            tile[k] = [1000; 8];
        }
        block.sync();
        sums[3] += row[own] + tile[k][own];
    }
    out[i] = sums;
}

fn columns_of_rows(device: &Device) -> Outcome {
    let rows: Vec<[u32; 8]> = (0..5).map(|k| std::array::from_fn(|i| (k * 8 + i * i) as u32)).collect();
    for column in [0, 5] {
        let want = |i: usize| {
            let of = |row: &[u32; 8]| row[(i + column) % 8];
            let first: u32 = rows[..4].iter().map(of).sum();
            let weighted = rows.iter().enumerate().map(|(k, row)| of(row) * k as u32).sum();
            let listed = TABLE.iter().zip([1, 10, 100]).map(|(row, weight)| of(row) * weight).sum();
            [first, weighted, listed, first + 4000]
        };
        let mut out = device.upload(&[[0; 4]; 32])?;
        columns(&device.upload(&rows)?, &mut out, column).grid(1).launch(device)?;
        equal(&out.read()?, &(0..32).map(want).collect::<Vec<_>>())?;
    }
    Ok(())
}

/// A row's element that is out of bounds.
#[cluster_kernel(block = 32)]
fn beyond(rows: &[[u32; 8]], out: &mut [u32], column: usize) {
    let i = this_thread_block().thread_rank() as usize;
    for row in rows.iter() {
        out[i] += /* beyond */ row[i / 31 * column];
    }
}

fn an_element_beyond_a_row(device: &Device) -> Outcome {
    let rows = device.upload(&[[1; 8], [2; 8]])?;
    let mut out = device.zeros(32)?;
    beyond(&rows, &mut out, 7).grid(1).launch(device)?;
    equal(&out.read()?, &[3; 32])?;
    let launched = beyond(&rows, &mut out, 8).grid(1).launch(device);
    fails(launched, "index 8 out of bounds for length 8", &find(file!(), SOURCE, "beyond"), (0, 0, 0), (31, 0, 0))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "rows",
        checks: check_list![columns_of_rows, an_element_beyond_a_row],
        kernels: kernel_list![columns, beyond],
    }]
}
