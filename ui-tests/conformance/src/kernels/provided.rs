//! Methods that a trait of another file provides, of types of this file and of functions that are generic over the trait. The names in
//! their bodies are those of the trait's file.

use phalanx::prelude::*;

use super::provided_traits::Shape;
use crate::{Module, Outcome, check_list, equal, kernel_list};

const BONUS: i32 = 77;

#[device]
fn raised(x: i32) -> i32 {
    x + 100
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Square {
    side: i32,
}

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Pair {
    one: i32,
    other: i32,
}

#[device]
impl Shape for Square {
    const SIDES: i32 = 4;
    fn area(&self) -> i32 {
        self.side * self.side
    }
    fn unit() -> i32 {
        3
    }
}

#[device]
impl Shape for Pair {
    const SIDES: i32 = 2;
    fn area(&self) -> i32 {
        self.one - self.other
    }
    fn unit() -> i32 {
        raised(self::BONUS)
    }
    fn spare(&self, by: i32) -> Option<i32> {
        (by == self.one).then_some(BONUS)
    }
}

#[device]
fn twice<S: Shape + DeviceCopy>(shape: S, by: i32) -> i32 {
    shape.scaled(by) * 2 + S::unit()
}

#[cluster_kernel(block = 32)]
fn of_shapes(out: &mut [i32]) {
    let i = this_grid().thread_rank();
    let by = i as i32 - 8;
    out[i] = twice(Square { side: 3 }, by) + 1000 * twice(Pair { one: by, other: 2 }, 5 - by);
}

#[cluster_kernel(block = 32)]
fn of_any<S: Shape + DeviceCopy>(shapes: &[S], out: &mut [i32]) {
    let i = this_grid().thread_rank();
    out[i] = shapes[i].scaled(i as i32) + shapes[i].extent(2).wide;
}

/// Returns what `scaled` is, of a shape's area, sides, and spare.
fn scaled(area: i32, sides: i32, by: i32, spare: Option<i32>) -> i32 {
    area * by + 1 + 10 + (0..sides).map(|i| i * by).sum::<i32>() + spare.unwrap_or(0)
}

fn spare_of_square(by: i32) -> Option<i32> {
    (by > 1).then_some(by * 3)
}

fn check_of_shapes(device: &Device) -> Outcome {
    let mut out = device.zeros(32)?;
    of_shapes(&mut out).grid(1).launch(device)?;
    let want = (0..32).map(|i| {
        let by = i - 8;
        let square = scaled(9, 4, by, spare_of_square(by)) * 2 + 3;
        let pair = scaled(by - 2, 2, 5 - by, (5 - by == by).then_some(77)) * 2 + 177;
        square + 1000 * pair
    });
    equal(&out.read()?, &Vec::from_iter(want))
}

fn check_of_any(device: &Device) -> Outcome {
    let shapes = device.upload(&Vec::from_iter((0..32).map(|side| Square { side })))?;
    let mut out = device.zeros(32)?;
    of_any(&shapes, &mut out).grid(1).launch(device)?;
    let want = (0..32).map(|i| scaled(i * i, 4, i, spare_of_square(i)) + i * i * 2);
    equal(&out.read()?, &Vec::from_iter(want))
}

/// Returns this file's part of the table.
pub(super) fn modules() -> Vec<Module> {
    let checks = check_list![check_of_shapes, check_of_any];
    vec![Module { name: "provided", checks, kernels: kernel_list![of_shapes, of_any<Square>] }]
}
