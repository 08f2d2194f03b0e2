//! Products of groups of rows with a matrix each, as a mixture of experts computes them: the problem, its data and the check of a result.

use phalanx::prelude::*;
use serde_json::json;

use super::persistent::grouped;
use super::{Case, Prepared};
use crate::case::Scale;
use crate::{Result, compare, data, memory};

pub(super) fn cases(scale: Scale) -> Vec<Case> {
    // From half to one and a half of the mean of 1,024 rows, none a multiple of a tile's; together 16,384.
    let uneven = (0..16).map(|i: usize| if i < 8 { 513 + 67 * i } else { 2 * 1_024 - (513 + 67 * (i - 8)) }).collect();
    let lengths = scale.pick(uneven, vec![130, 0, 5, 128, 70]);
    let [n, k] = scale.pick([4_096, 4_096], [264, 136]);
    vec![case(lengths, [n, k], scale)]
}

fn case(lengths: Vec<usize>, [n, k]: [usize; 2], scale: Scale) -> Case {
    let (m, groups) = (lengths.iter().sum::<usize>(), lengths.len());
    Case {
        kernel: "grouped bf16 GEMM",
        size: format!("{groups} groups of {m} rows × {n} × {k}"),
        operations: 2 * (m * n * k) as u64,
        element: size_of::<bf16>(),
        problem: json!({ "operation": "grouped_gemm", "lengths": lengths, "n": n, "k": k }),
        prepare: Box::new(move |device| {
            let (a, b) = (super::super::bf16s(40, m * k), super::super::bf16s(41, groups * n * k));
            let mut starts = vec![0];
            starts.extend(lengths.iter().scan(0, |end, len| {
                *end += *len as u32;
                Some(*end)
            }));
            let sets = memory::sets(device, size_of::<bf16>() * (m * k + groups * n * k + m * n));
            let set = |_| Ok((device.upload(&a)?, device.upload(&b)?, device.zeros(m * n)?));
            let sets = (0..sets).map(set).collect::<phalanx::Result<Vec<_>>>()?;
            let of_device = device.upload(&starts)?;
            let blocks = scale.pick(super::super::multiprocessors(device)?, 3);
            Ok(Box::new(Groups { sets, of_device, operands: [a, b], starts, size: [m, n, k], blocks }))
        }),
    }
}

struct Groups {
    sets: Vec<(Buffer<bf16>, Buffer<bf16>, Buffer<bf16>)>,
    /// The starts of the groups on the device.
    of_device: Buffer<u32>,
    operands: [Vec<bf16>; 2],
    starts: Vec<u32>,
    size: [usize; 3],
    blocks: u32,
}

impl Prepared for Groups {
    fn sets(&self) -> usize {
        self.sets.len()
    }

    fn enqueue(&mut self, device: &Device, set: usize) -> phalanx::Result<()> {
        let [m, n, k] = self.size;
        let (a, b, c) = &mut self.sets[set];
        let (a, b) = (a.tensor([1, m, k])?, b.tensor([self.starts.len() - 1, n, k])?);
        grouped(&a, &b, &self.of_device, c, n as u32, k.div_ceil(64) as u32).grid(self.blocks).enqueue(device)
    }

    fn check(&self) -> Result<()> {
        let [_, n, k] = self.size;
        let [a, b] = &self.operands;
        let c = self.sets[0].2.read()?;
        for (group, rows) in self.starts.windows(2).enumerate() {
            for i in data::sample((rows[1] - rows[0]) as usize, 4).into_iter().map(|i| i + rows[0] as usize) {
                let element = |j: usize| {
                    let column = &b[(group * n + j) * k..][..k];
                    a[i * k..][..k].iter().zip(column).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
                };
                let columns = data::sample(n, 256);
                let got = columns.iter().map(|j| f64::from(c[i * n + j]));
                compare::close_to(&format!("row {i}"), got, columns.iter().map(|j| element(*j)), 1e-2, 1.0)?;
            }
        }
        Ok(())
    }
}
