//! Structs together with the rest of the language: in parts of memory, with vectors and half floats in them, in messages, as
//! optional slices, behind unchecked indexes, and beside dynamic shared memory that several arrays divide.

use phalanx::prelude::*;

use crate::{Module, Outcome, check_list, equal, kernel_list, printed, read};

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(u8)]
enum Side {
    Left,
    Right,
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Cell {
    color: f32x4,
    weight: f16,
    side: Side,
    tag: u8,
    counts: [u32; 3],
}

const WHITE: f32x4 = f32x4::new([1.0, 0.5, 0.25, 1.0]);
const FIRST: Cell = Cell { color: WHITE, weight: f16::ONE, side: Side::Right, tag: 3, counts: [1, 2, 3] };
const SHADES: [f32x2; 2] = [f32x2::new([1.0, 2.0]), f32x2::new([3.0, 4.0])];

fn cells(n: u32) -> Vec<Cell> {
    let cell = |i: u32| Cell {
        color: f32x4::new([i as f32, 1.0, 2.0, 3.0]),
        weight: f16::from_f32(i as f32 * 0.5),
        side: if i.is_multiple_of(2) { Side::Left } else { Side::Right },
        tag: i as u8,
        counts: [i, 2 * i, 3 * i],
    };
    (0..n).map(cell).collect()
}

/// Accesses fields and lanes of the elements of parts, and of rows.
#[cluster_kernel(block = 8)]
fn in_parts(cells: &mut [Cell], grid: &mut [[Cell; 4]], shades: &mut [f32x2]) {
    let i = this_grid().thread_rank() as usize;
    let part = &mut cells[8..];
    part[i].color[i % 4] += 10.0;
    part[i].counts[2] = cells[i].counts[1] + 1;
    cells[8..][i].weight = part[i].weight + f16::ONE;
    if i < 2 {
        let row = &mut grid[i];
        row[3].color = row[2].color;
        row[3].color[0] = WHITE[1] + FIRST.color[2] + SHADES[i][1];
        grid[i][0].counts[i] = FIRST.counts[i];
        grid[i][1] = Cell { tag: 9, ..FIRST };
        shades[i][1] = shades[i][0] + SHADES[i][0];
    }
}

fn parts(device: &Device) -> Outcome {
    let (mut want, mut want_grid) = (cells(16), [[cells(3)[2]; 4]; 2]);
    let (mut buffer, mut grid) = (device.upload(&want)?, device.upload(&want_grid)?);
    let mut shades = device.upload(&[f32x2::splat(5.0); 2])?;
    in_parts(&mut buffer, &mut grid, &mut shades).grid(1).launch(device)?;
    for i in 0..8 {
        want[8 + i].color.lanes_mut()[i % 4] += 10.0;
        want[8 + i].counts[2] = want[i].counts[1] + 1;
        want[8 + i].weight += f16::ONE;
    }
    for (i, row) in want_grid.iter_mut().enumerate() {
        row[3].color.lanes_mut()[0] = 0.75 + SHADES[i].lanes()[1];
        row[0].counts[i] = i as u32 + 1;
        row[1] = Cell { tag: 9, ..FIRST };
    }
    equal(&buffer.read()?, &want)?;
    equal(&grid.read()?, &want_grid)?;
    equal(&shades.read()?, &[f32x2::new([5.0, 6.0]), f32x2::new([5.0, 8.0])])
}

/// Declares 50 KiB of arrays in the dynamic segment, and two more in what the launch asks for.
#[cluster_kernel(block = 32)]
fn divided(out: &mut [u32]) {
    let block = this_thread_block();
    let i = block.thread_rank() as usize;
    let large = shared_array::<[Cell; 4], 400>();
    let first = dynamic_shared_slice::<Cell>(0, 32);
    let second = dynamic_shared_slice::<u32>(32 * 32, 32);
    large[399 - i][i % 4].tag = 1;
    large[i][3] = FIRST;
    first[i].counts[1] = i as u32;
    second[i] = 100 * i as u32;
    block.sync();
    let row = &large[31 - i];
    out[i] = first[31 - i].counts[1] + second[31 - i] + row[3].counts[2] + large[399 - i][i % 4].tag as u32;
}

fn divided_memory(device: &Device) -> Outcome {
    let out = read!(device, 32, |out| divided(out).grid(1).shared_bytes(32 * 32 + 128));
    equal(&out, &Vec::from_iter((0..32).map(|i| 101 * (31 - i) + 4)))
}

/// Takes optional slices of structs, unchecked indices, and prints them.
#[cluster_kernel(block = 1)]
fn told(cells: Option<&[Cell]>, out: &mut [Cell]) {
    if let Some(cells) = cells {
        let cell = unsafe { *cells.get_unchecked(1) };
        println!("{cell:?}");
        println!("{:?} {} {:?}", cell.side, cell.weight, cells[2].color);
        unsafe {
            *out.get_unchecked_mut(0) = cell;
            out.get_unchecked_mut(0).side = Side::Left;
        }
        println!("{:?}", Some(out[0].side));
    } else {
        println!("{:?}", FIRST);
    }
}

fn messages(device: &Device) -> Outcome {
    let input = device.upload(&cells(3))?;
    let mut out = device.upload(&[FIRST])?;
    let (text, result) = printed(device, || {
        told(Some(&input), &mut out).grid(1).launch(device)?;
        told(None, &mut out).grid(1).launch(device)
    });
    result?;
    let cell = cells(3)[1];
    let want = format!("{cell:?}\nRight 0.5 {:?}\nSome(Left)\n{FIRST:?}\n", cells(3)[2].color);
    if text != want {
        return Err(format!("got {text}want {want}").into());
    }
    equal(&out.read()?, &[Cell { side: Side::Left, ..cell }])
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    vec![Module {
        name: "mixtures",
        checks: check_list![parts, divided_memory, messages],
        kernels: kernel_list![in_parts, divided, told],
    }]
}
