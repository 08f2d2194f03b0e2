//! Products of two matrices: the problem, its data and the check of a result. The kernels are in files of their own.

use phalanx::prelude::*;
use serde_json::json;

use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

mod batched;
mod epilogue;
mod grouped;
mod layer;
mod multicast;
mod narrow;
mod normed;
mod persistent;
mod ping_pong;
mod split;
mod steps;

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let all = [
        steps::cases,
        batched::cases,
        layer::cases,
        normed::cases,
        grouped::cases,
        narrow::cases,
        split::cases,
        ping_pong::cases,
    ];
    all.into_iter().flat_map(|cases| cases(scale)).collect()
}

/// A type of elements, with random values of it.
trait Element: DeviceCopy + Default + Send + Sync {
    /// The name that the script of the libraries knows.
    const NAME: &'static str;
    /// Makes a value between -1 and 1, or any integer, of random bits.
    fn of(bits: u64) -> Self;
    fn real(self) -> f64;
}

impl Element for bf16 {
    const NAME: &'static str = "bf16";
    fn of(bits: u64) -> bf16 {
        bf16::from_f32(data::real(bits))
    }
    fn real(self) -> f64 {
        f64::from(self)
    }
}

impl Element for e4m3 {
    const NAME: &'static str = "e4m3";
    fn of(bits: u64) -> e4m3 {
        e4m3::from_f32(data::real(bits))
    }
    fn real(self) -> f64 {
        self.to_f64()
    }
}

impl Element for i8 {
    const NAME: &'static str = "i8";
    fn of(bits: u64) -> i8 {
        (bits >> 56) as u8 as i8
    }
    fn real(self) -> f64 {
        f64::from(self)
    }
}

/// `a * b` of `m` by `k` and `k` by `n` elements, where the rows of `a` and the columns of `b` are contiguous; several such products.
#[derive(Clone, Copy)]
struct Size {
    matrices: usize,
    m: usize,
    n: usize,
    k: usize,
}

/// The arguments of persistent kernels beside the operands.
struct Rest {
    /// The number of blocks that fill the device.
    blocks: u32,
    /// In place of a bias and a residual.
    nothing: Buffer<[bf16; 2]>,
}

/// A function that launches a kernel on a device with `a`, `b`, the result, their size and the rest.
type Launch<T> = fn(&Device, &Buffer<T>, &Buffer<T>, &mut Buffer<bf16>, Size, &Rest) -> phalanx::Result<()>;

/// A case for a kernel. A result may differ by a hundredth from that in `f64`, relative to values larger than `unit`.
fn case<T: Element>(kernel: &'static str, size: [usize; 3], scale: Scale, unit: f64, launch: Launch<T>) -> Case {
    let [m, n, k] = size;
    let problem = json!({ "operation": "gemm", "type": T::NAME, "m": m, "n": n, "k": k });
    let case = batched(kernel, 1, size, scale, unit, launch);
    Case { size: format!("{m} × {n} × {k}"), problem, ..case }
}

/// A case of several products in one launch.
fn batched<T: Element>(
    kernel: &'static str,
    matrices: usize,
    [m, n, k]: [usize; 3],
    scale: Scale,
    unit: f64,
    launch: Launch<T>,
) -> Case {
    Case {
        kernel,
        size: format!("{matrices} of {m} × {n} × {k}"),
        operations: 2 * (matrices * m * n * k) as u64,
        element: size_of::<T>(),
        problem: json!({ "operation": "batched_gemm", "matrices": matrices, "m": m, "n": n, "k": k }),
        prepare: Box::new(move |device| {
            let lengths = [m * k, n * k, m * n].map(|len| matrices * len);
            let operands = [(31, lengths[0]), (32, lengths[1])].map(|(seed, len)| data::random(seed, len, T::of));
            let sets =
                memory::sets(device, size_of::<T>() * (lengths[0] + lengths[1]) + size_of::<bf16>() * lengths[2]);
            let set = |_| Ok((device.upload(&operands[0])?, device.upload(&operands[1])?, device.zeros(lengths[2])?));
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            let rest = Rest { blocks: scale.pick(super::multiprocessors(device)?, 3), nothing: device.zeros(0)? };
            Ok(Box::new(Product { sets, operands, size: Size { matrices, m, n, k }, rest, unit, launch }))
        }),
    }
}

struct Product<T: DeviceCopy> {
    sets: Vec<(Buffer<T>, Buffer<T>, Buffer<bf16>)>,
    operands: [Vec<T>; 2],
    size: Size,
    rest: Rest,
    unit: f64,
    launch: Launch<T>,
}

impl<T: Element> Prepared for Product<T> {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let (a, b, c) = &mut self.sets[set];
        (self.launch)(device, a, b, c, self.size, &self.rest)
    }

    fn check(&self) -> Result<()> {
        let Size { matrices, m, n, k } = self.size;
        let c = self.sets[0].2.read()?;
        for i in data::sample(matrices * m, 16) {
            let row = &self.operands[0][i * k..][..k];
            let element = |j: usize| {
                let column = &self.operands[1][(i / m * n + j) * k..][..k];
                row.iter().zip(column).map(|(a, b)| a.real() * b.real()).sum::<f64>()
            };
            let columns = data::sample(n, 256);
            let got = columns.iter().map(|j| c[i * n + j].real());
            compare::close_to(&format!("row {i}"), got, columns.iter().map(|j| element(*j)), 1e-2, self.unit)?;
        }
        Ok(())
    }
}
