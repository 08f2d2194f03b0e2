//! A layer of a network in one kernel, `activation(a * b + bias) + residual`: the problem, its data and the check of a result.

use phalanx::prelude::*;
use serde_json::json;

use super::epilogue::{Epilogue, Gelu, Silu};
use super::persistent::{self, TILE};
use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let size = scale.pick([16_384, 4_096, 4_096], [300, 520, 320]);
    vec![
        case("bf16 GEMM, bias, GELU, residual", true, size, scale, gemm::<Gelu>),
        case("bf16 GEMM, bias, SiLU, residual", false, size, scale, gemm::<Silu>),
    ]
}

/// The arguments of a kernel: the operands, what its epilogue adds, the result and their size, the factor of a sum, and the number of blocks
/// that fill the device.
pub(super) struct Operands<'a> {
    pub(super) a: &'a Buffer<bf16>,
    pub(super) b: &'a Buffer<bf16>,
    pub(super) bias: &'a Buffer<[bf16; 2]>,
    pub(super) residual: &'a Buffer<[bf16; 2]>,
    pub(super) c: &'a mut Buffer<bf16>,
    pub(super) size: [usize; 3],
    pub(super) factor: f32,
    pub(super) blocks: u32,
}

/// A function that launches a kernel of a layer.
pub(super) type Launch = fn(&Device, Operands<'_>) -> phalanx::Result<()>;

pub(super) fn gemm<E: Epilogue + 'static>(device: &Device, operands: Operands<'_>) -> phalanx::Result<()> {
    let Operands { a, b, bias, residual, c, size: [m, n, k], factor, blocks } = operands;
    let (a, b, mut c) = (a.tensor([1, m, k])?, b.tensor([1, n, k])?, c.tensor_mut([1, m, n])?);
    let [rows, columns, steps] = [m.div_ceil(TILE[0]), n.div_ceil(TILE[1]), k.div_ceil(64)].map(|count| count as u32);
    persistent::gemm::<bf16, f32, E, 64>(&a, &b, bias, residual, &mut c, 1, rows, columns, steps, factor)
        .grid(blocks)
        .enqueue(device)
}

/// A case of `activation(factor * a * b + bias) + residual`.
pub(super) fn case(kernel: &'static str, gelu: bool, [m, n, k]: [usize; 3], scale: Scale, launch: Launch) -> Case {
    Case {
        kernel,
        size: format!("{m} × {n} × {k}"),
        operations: 2 * (m * n * k) as u64,
        element: size_of::<bf16>(),
        problem: json!({ "operation": "layer", "activation": if gelu { "gelu" } else { "silu" }, "m": m, "n": n, "k": k }),
        prepare: Box::new(move |device| {
            let [a, b, bias, residual] =
                [(36, m * k), (37, n * k), (38, n), (39, m * n)].map(|(seed, len)| super::super::bf16s(seed, len));
            let sets = memory::sets(device, size_of::<bf16>() * (m * k + n * k + 2 * m * n));
            let set =
                |_| Ok(([device.upload(&a)?, device.upload(&b)?, device.upload(&residual)?], device.zeros(m * n)?));
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            let bias_of_device = device.upload(&bias)?;
            let blocks = scale.pick(super::super::multiprocessors(device)?, 3);
            Ok(Box::new(Layer {
                sets,
                bias_of_device,
                operands: [a, b, bias, residual],
                size: [m, n, k],
                gelu,
                blocks,
                launch,
            }))
        }),
    }
}

struct Layer {
    /// The sets of buffers: of each `a`, `b` and the residual, and the result.
    sets: Vec<([Buffer<bf16>; 3], Buffer<bf16>)>,
    bias_of_device: Buffer<bf16>,
    operands: [Vec<bf16>; 4],
    size: [usize; 3],
    gelu: bool,
    blocks: u32,
    launch: Launch,
}

/// The factor of a sum: the elements of the operands are as large as 1, and the sums as the root of `k`.
fn factor(k: usize) -> f32 {
    4.0 / (k as f32).sqrt()
}

impl Prepared for Layer {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let ([a, b, residual], c) = &mut self.sets[set];
        let (bias, residual) = (self.bias_of_device.as_chunks()?, residual.as_chunks()?);
        let (size, factor, blocks) = (self.size, factor(self.size[2]), self.blocks);
        (self.launch)(device, Operands { a, b, bias: &bias, residual: &residual, c, size, factor, blocks })
    }

    fn check(&self) -> Result<()> {
        let [m, n, k] = self.size;
        let [a, b, bias, residual] = &self.operands;
        let c = self.sets[0].1.read()?;
        let activation = |x: f64| match self.gelu {
            true => x / (1.0 + (-2.0 * (2.0 / std::f64::consts::PI).sqrt() * x * (1.0 + 0.044715 * x * x)).exp()),
            false => x / (1.0 + (-x).exp()),
        };
        for i in data::sample(m, 16) {
            let element = |j: usize| {
                let products = a[i * k..][..k].iter().zip(&b[j * k..][..k]).map(|(a, b)| f64::from(*a) * f64::from(*b));
                let sum = products.sum::<f64>() * f64::from(factor(k));
                activation(sum + f64::from(bias[j])) + f64::from(residual[i * n + j])
            };
            let columns = data::sample(n, 256);
            let got = columns.iter().map(|j| f64::from(c[i * n + j]));
            compare::close_to(&format!("row {i}"), got, columns.iter().map(|j| element(*j)), 1e-2, 1.0)?;
        }
        Ok(())
    }
}
