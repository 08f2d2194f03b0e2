//! Operators of types that a kernel cannot have, and kernels that rely on what an operator does not promise.

use std::ops::{Add, AddAssign, Div, Index, Mul, Sub};

use phalanx::prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct V {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, PartialEq, DeviceCopy)]
#[repr(C)]
struct N {
    n: u32,
}

#[device]
impl Add for V {
    type Output = V;
    fn add(self, o: V) -> V {
        let block = this_thread_block();
        block.sync();
        V { x: self.x + o.x, y: self.y + o.y }
    }
}

#[device]
impl Sub for V {
    type Output = V;
    fn sub(self, o: V) -> V {
        let cluster = this_cluster();
        let token = cluster.barrier_arrive();
        cluster.barrier_wait(token);
        V { x: self.x - o.x, y: self.y - o.y }
    }
}

#[device]
impl Mul for V {
    type Output = V;
    fn mul(self, o: V) -> V {
        let s = dynamic_shared::<f32>();
        s[0] = self.x;
        V { x: self.x * o.x, y: s[1] }
    }
}

#[device]
impl AddAssign<u32> for N {
    fn add_assign(&mut self, o: u32) {
        self.n += o;
    }
}

#[device]
impl AddAssign for N {
    fn add_assign(&mut self, o: N) {
        self.n += o.n;
    }
}

#[device]
impl Sub for N {
    type Output = u32;
    fn sub(self, o: N) -> u32 {
        self.n * 3 + o.n
    }
}

#[cluster_kernel(block = 64)]
fn divergent_assign(out: &mut [u32]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    let mut n = N { n: 3 };
    n += N { n: t as u32 };
    for _ in 0..n.n {
        block.sync();
    }
    out[t] = n.n;
}

#[cluster_kernel(block = 64)]
fn divergent_assign_2(out: &mut [u32]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    let mut n = N { n: 3 };
    if t > 3 {
        n += 1;
    }
    if n.n > 3 {
        block.sync();
    }
    out[t] = n.n;
}

#[cluster_kernel(block = 64)]
fn zero_is_not(out: &mut [u32]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    let a = N { n: t as u32 };
    let i = a - a;
    if i == 0 {
        block.sync();
    }
    out[t] = i;
}

#[cluster_kernel(block = 64)]
fn race(out: &mut [V]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    let s = shared_array::<V, 64>();
    s[t] = out[t];
    out[t] = out[t] + s[63 - t];
}

#[cluster_kernel(block = 64)]
fn order(out: &mut [V]) {
    let mut i = 0;
    let mut v = [V { x: 0.0, y: 0.0 }; 4];
    v[i] += {
        i += 1;
        V { x: 1.0, y: 2.0 }
    };
    out[0] = v[0];
}

#[device]
impl Add<&V> for N {
    type Output = V;
    fn add(self, o: &V) -> V {
        *o
    }
}

#[device]
impl Index<usize> for V {
    type Output = f32;
    fn index(&self, i: usize) -> &f32 {
        &self.x
    }
}

fn main() {}
