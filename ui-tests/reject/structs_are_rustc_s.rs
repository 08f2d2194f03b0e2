//! Fields, literals and operators of structs and enums are rustc's to check.

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceCopy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, PartialEq, PartialOrd, DeviceCopy)]
#[repr(u8)]
enum Color {
    Red,
    Green,
}

impl std::ops::BitAnd for Color {
    type Output = Color;
    fn bitand(self, other: Color) -> Color {
        if self == other { self } else { Color::Red }
    }
}

mod private {
    #[derive(Clone, Copy, PartialEq, phalanx::DeviceCopy)]
    #[repr(C)]
    pub struct Hidden {
        x: u32,
    }
}

#[allow(non_snake_case)]
fn Origin(x: f32, y: f32) -> Point {
    Point { x, y }
}

#[cluster_kernel]
fn fields(points: &mut [Point], p: Point, hidden: private::Hidden, colors: &[Color]) {
    points[0].z = 1.0;
    points[0] = Point { x: 1.0 };
    points[0] = Point { x: 1, y: 2.0 };
    points[0].x = hidden.x as f32;
    p.x = 2.0;
    points[0].x = 1u32;
    points[0] = Origin(1.0, 2.0);
    points[1] = Point { x: 1.0, ..colors[0] };
}

#[cluster_kernel]
fn operators(points: &[Point], colors: &[Color], out: &mut [bool]) {
    out[0] = points[0] == points[1];
    out[1] = colors[0] != colors[1];
    out[2] = (colors[0] & colors[1]) == Color::Red;
    out[3] = colors[0] == Color::Blue;
}

#[device]
impl Point {
    fn grow(&mut self) -> f32 {
        self.x += 1.0;
        self.x
    }

    fn get(&self) -> f32 {
        self.x
    }

    fn along(self, by: f32) -> f32 {
        self.x * by
    }

    fn set(&mut self, x: f32) {
        self.x = x;
        self.set_twice(self.get());
    }

    fn set_twice(&mut self, x: f32) {
        let _ = self.along(self.grow());
        self.x = x;
    }
}

#[cluster_kernel]
fn receivers(out: &mut [f32]) {
    let mut p = Point { x: 1.0, y: 2.0 };
    p.set(p.get());
    out[0] = p.along(p.grow());
    out[1] = p.along(2.0 * p.along(p.grow()));
}

fn main() {}
