//! Operators of a user's own types, as programs for GPUs have them.

use std::ops::{Add, AddAssign, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use phalanx::prelude::*;

// --- vectors, as for particles ---

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

#[device]
impl Vec3 {
    const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

    fn new(x: f32, y: f32, z: f32) -> Self {
        Self { x, y, z }
    }

    fn dot(self, other: Vec3) -> f32 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, o: Vec3) -> Vec3 {
        Vec3::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }

    fn normalized(self) -> Vec3 {
        self / self.dot(self).sqrt()
    }
}

#[device]
impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, other: Vec3) -> Vec3 {
        Vec3 { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

#[device]
impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, other: Self) -> Self::Output {
        Self::Output { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}

#[device]
impl Mul<f32> for Vec3 {
    type Output = Vec3;
    fn mul(self, by: f32) -> Vec3 {
        Vec3::new(self.x * by, self.y * by, self.z * by)
    }
}

#[device]
impl Mul<Vec3> for f32 {
    type Output = Vec3;
    fn mul(self, of: Vec3) -> Vec3 {
        of * self
    }
}

#[device]
impl std::ops::Div<f32> for Vec3 {
    type Output = Vec3;
    fn div(self, by: f32) -> Vec3 {
        self * (1.0 / by)
    }
}

#[device]
impl Neg for Vec3 {
    type Output = Vec3;
    fn neg(self) -> Vec3 {
        Vec3 { x: -self.x, y: -self.y, z: -self.z }
    }
}

#[device]
impl AddAssign for Vec3 {
    fn add_assign(&mut self, other: Vec3) {
        *self = *self + other;
    }
}

#[device]
impl SubAssign for Vec3 {
    fn sub_assign(&mut self, other: Self) {
        self.x -= other.x;
        self.y -= other.y;
        self.z -= other.z;
    }
}

#[device]
impl MulAssign<f32> for Vec3 {
    fn mul_assign(&mut self, by: f32) {
        *self = *self * by;
    }
}

#[device]
impl DivAssign<f32> for Vec3 {
    fn div_assign(&mut self, by: f32) {
        *self *= 1.0 / by;
    }
}

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Body {
    position: Vec3,
    velocity: Vec3,
    mass: f32,
}

#[device]
fn pull(of: Body, on: Vec3) -> Vec3 {
    let away = of.position - on;
    let squared = away.dot(away) + 0.01;
    away * (of.mass / (squared * squared.sqrt()))
}

#[cluster_kernel(block = 64)]
fn n_body(bodies: &[Body], moved: &mut [Body], dt: f32) {
    let i = this_grid().thread_rank();
    if i >= bodies.len() {
        return;
    }
    let me = bodies[i];
    let mut acceleration = Vec3::ZERO;
    for j in 0..bodies.len() {
        acceleration += pull(bodies[j], me.position);
    }
    let velocity = me.velocity + acceleration * dt;
    moved[i].velocity = velocity;
    moved[i].position = me.position + dt * velocity;
    moved[i].mass = me.mass;
}

#[cluster_kernel(block = 64)]
fn step(bodies: &mut [Body], wind: Vec3, dt: f32) {
    let i = this_grid().thread_rank();
    if i < bodies.len() {
        bodies[i].velocity += 0.5 * wind * dt;
        bodies[i].velocity *= 0.99;
        let v = bodies[i].velocity;
        bodies[i].position += v * dt;
        bodies[i].position -= Vec3::new(0.0, 9.81, 0.0) * (dt * dt);
    }
}

// --- rays ---

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Ray {
    origin: Vec3,
    direction: Vec3,
}

#[device]
impl Ray {
    fn at(self, t: f32) -> Vec3 {
        self.origin + t * self.direction
    }
}

#[device]
fn reflect(v: Vec3, n: Vec3) -> Vec3 {
    v - 2.0 * v.dot(n) * n
}

#[device]
fn hit(ray: Ray, center: Vec3, radius: f32) -> Option<f32> {
    let oc = ray.origin - center;
    let b = oc.dot(ray.direction);
    let c = oc.dot(oc) - radius * radius;
    let discriminant = b * b - c;
    if discriminant < 0.0 { None } else { Some(-b - discriminant.sqrt()) }
}

#[cluster_kernel(block = 64)]
fn trace(rays: &[Ray], out: &mut [Vec3]) {
    let i = this_grid().thread_rank();
    if i < rays.len() {
        let ray = rays[i];
        let center = Vec3::new(0.0, 0.0, 5.0);
        out[i] = match hit(ray, center, 1.0) {
            Some(t) => {
                let point = ray.at(t);
                let normal = (point - center).normalized();
                -reflect(ray.direction, normal) + normal.cross(Vec3::new(0.0, 1.0, 0.0))
            }
            None => (ray.direction + Vec3::new(1.0, 1.0, 1.0)) * 0.5,
        };
    }
}

// --- complex numbers, as for a Fourier transform in shared memory ---

#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
#[repr(C)]
struct Complex {
    re: f32,
    im: f32,
}

#[device]
impl Complex {
    fn cis(angle: f32) -> Complex {
        Complex { re: angle.cos(), im: angle.sin() }
    }
}

#[device]
impl Add for Complex {
    type Output = Complex;
    fn add(self, o: Complex) -> Complex {
        Complex { re: self.re + o.re, im: self.im + o.im }
    }
}

#[device]
impl Sub for Complex {
    type Output = Complex;
    fn sub(self, o: Complex) -> Complex {
        Complex { re: self.re - o.re, im: self.im - o.im }
    }
}

#[device]
impl Mul for Complex {
    type Output = Complex;
    fn mul(self, o: Complex) -> Complex {
        Complex { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

#[cluster_kernel(block = 128)]
fn fourier(values: &[Complex], out: &mut [Complex]) {
    let block = this_thread_block();
    let t = block.thread_rank();
    let s = shared_array::<Complex, 256>();
    s[(t as u32).reverse_bits() as usize >> 24] = values[t];
    s[((t + 128) as u32).reverse_bits() as usize >> 24] = values[t + 128];
    block.sync();
    let mut half = 1;
    while half < 256 {
        let k = t % half;
        let at = t / half * (2 * half) + k;
        let twiddle = Complex::cis(-std::f32::consts::PI * k as f32 / half as f32);
        let (a, b) = (s[at], twiddle * s[at + half]);
        s[at] = a + b;
        s[at + half] = a - b;
        block.sync();
        half *= 2;
    }
    out[t] = s[t];
    out[t + 128] = s[t + 128];
}

// --- quaternions ---

#[derive(Clone, Copy, DeviceCopy)]
#[repr(C)]
struct Quaternion {
    w: f32,
    v: Vec3,
}

#[device]
impl Mul for Quaternion {
    type Output = Quaternion;
    fn mul(self, o: Quaternion) -> Quaternion {
        Quaternion { w: self.w * o.w - self.v.dot(o.v), v: self.w * o.v + o.w * self.v + self.v.cross(o.v) }
    }
}

#[device]
impl Mul<Vec3> for Quaternion {
    type Output = Vec3;
    fn mul(self, v: Vec3) -> Vec3 {
        let t = self.v.cross(v) * 2.0;
        v + t * self.w + self.v.cross(t)
    }
}

#[cluster_kernel(block = 64)]
fn rotate(by: &[Quaternion], points: &mut [Vec3]) {
    let i = this_grid().thread_rank();
    if i < points.len() {
        let q = by[i] * by[i];
        points[i] = q * points[i];
    }
}

pub(crate) const KERNELS: &[fn() -> phalanx::Result<phalanx::Program>] = &[
    phalanx::Program::of::<n_body>,
    phalanx::Program::of::<step>,
    phalanx::Program::of::<trace>,
    phalanx::Program::of::<fourier>,
    phalanx::Program::of::<rotate>,
];
