//! Values without fields, and fields that cannot be written.

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
}

#[cluster_kernel]
fn fields(points: &[Point], out: &mut [Point]) {
    let cluster = this_cluster();
    let token = cluster.barrier_arrive();
    cluster.x;
    token.0;
    out.x = 1.0;
    points[0].x = 1.0;
    Point { x: 1.0, y: 2.0 }.x = 3.0;
    cluster.barrier_wait(token);
}

#[cluster_kernel]
fn in_a_struct() {
    let token = this_cluster().barrier_arrive();
    let held = Holder { token };
}

fn main() {}
