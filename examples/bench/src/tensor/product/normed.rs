//! A layer of a network that normalizes its input, `rms_norm(x, gamma) * w`, in one kernel: the problem, its data and the check of a result.
//! The factors of the columns, `gamma`, belong to the weights: they are multiplied into these once, before the kernel.

use phalanx::prelude::*;
use serde_json::json;

use super::persistent::{TILE, normed};
use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

const EPSILON: f32 = 1e-6;

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let full = [[4_096; 3], [8_192, 4_096, 4_096]];
    // Tiles that are not full, three columns of them for pairs of blocks, and two pairs for each cluster; and a sum of one part.
    let small = [[130, 520, 200], [16, 264, 40]];
    scale.pick(&full[..], &small[..]).iter().map(|size| case(*size, scale)).collect()
}

fn case([m, n, k]: [usize; 3], scale: Scale) -> Case {
    Case {
        kernel: "RMS norm, bf16 GEMM",
        size: format!("{m} × {n} × {k}"),
        operations: 2 * (m * n * k) as u64,
        element: size_of::<bf16>(),
        problem: json!({ "operation": "normed_gemm", "m": m, "n": n, "k": k }),
        prepare: Box::new(move |device| {
            let [mut x, gamma, w] =
                [(45, m * k), (46, k), (47, n * k)].map(|(seed, len)| super::super::bf16s(seed, len));
            // Rows of different sizes, as the norm takes them.
            x.iter_mut().enumerate().for_each(|(i, x)| *x *= bf16::from_f32(0.25 * (1 + i / k % 7) as f32));
            let folded: Vec<bf16> = (0..n * k).map(|i| w[i] * gamma[i % k]).collect();
            let sets = memory::sets(device, size_of::<bf16>() * (m * k + n * k + m * n));
            let set = |_| Ok((device.upload(&x)?, device.upload(&folded)?, device.zeros(m * n)?));
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            let blocks = scale.pick(super::super::multiprocessors(device)? / 2 * 2, 4);
            Ok(Box::new(Normed { sets, operands: [x, gamma, w], size: [m, n, k], blocks }))
        }),
    }
}

struct Normed {
    sets: Vec<(Buffer<bf16>, Buffer<bf16>, Buffer<bf16>)>,
    /// The input, the factors of its columns, and the weights.
    operands: [Vec<bf16>; 3],
    size: [usize; 3],
    blocks: u32,
}

impl Prepared for Normed {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let [m, n, k] = self.size;
        let (x, w, y) = &mut self.sets[set];
        let (x, w, mut y) = (x.tensor([1, m, k])?, w.tensor([1, n, k])?, y.tensor_mut([1, m, n])?);
        let [rows, pairs, steps] =
            [m.div_ceil(TILE[0]), n.div_ceil(2 * TILE[1]), k.div_ceil(64)].map(|count| count as u32);
        normed(&x, &w, &mut y, rows, pairs, steps, k as u32, EPSILON).grid(self.blocks).enqueue(device)
    }

    fn check(&self) -> Result<()> {
        let [m, n, k] = self.size;
        let [x, gamma, w] = &self.operands;
        let y = self.sets[0].2.read()?;
        // The weights with the factors in them were rounded, and results are as large as the root of `k`.
        let unit = (k as f64).sqrt() / 3.0;
        for i in data::sample(m, 16) {
            let row: Vec<f64> = x[i * k..][..k].iter().map(|x| f64::from(*x)).collect();
            let mean = row.iter().map(|x| x * x).sum::<f64>() / k as f64;
            let norm = 1.0 / (mean + f64::from(EPSILON)).sqrt();
            let element = |j: usize| {
                let of_column = |c: usize| row[c] * norm * f64::from(gamma[c]) * f64::from(w[j * k + c]);
                (0..k).map(of_column).sum::<f64>()
            };
            let columns = data::sample(n, 256);
            let got = columns.iter().map(|j| f64::from(y[i * n + j]));
            compare::close_to(&format!("row {i}"), got, columns.iter().map(|j| element(*j)), 2e-2, unit)?;
        }
        Ok(())
    }
}
