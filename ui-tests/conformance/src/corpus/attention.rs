//! Attention: a tile at a time with a running softmax, and split over a cluster.

use std::f32::consts::LOG2_E;

use phalanx::prelude::*;

use super::reals;
use crate::{Module, Outcome, check_list, kernel_list, read};

/// Computes `2^x` by a polynomial on the fraction, with the exponent added to the bits, as FlashAttention-4 does on
/// Blackwell in place of the special-function unit (Cody and Waite's reduction).
#[device]
fn exp2_by_polynomial(x: f32) -> f32 {
    let clamped = x.max(-126.0);
    let whole = clamped.round_ties_even();
    let fraction = clamped - whole;
    let coefficients = [0.000_154_035_3, 0.001_333_355_8, 0.009_618_13, 0.055_504_11, 0.240_226_5, 0.693_147_2, 1.0];
    let mut value = 0.0f32;
    for k in 0..7 {
        value = fraction.mul_add(value, coefficients[k]);
    }
    f32::from_bits(value.to_bits().wrapping_add((whole as i32 as u32) << 23))
}

const KEYS: usize = 32;

/// Attention of a head of width `D`, a thread a query, with keys and values in tiles of shared memory and a running
/// softmax (Dao, Fu, Ermon, Rudra and Re, "FlashAttention", 2022); `causal` masks what comes later.
#[cluster_kernel(block = 32)]
fn flash<const D: usize>(q: &[f32], k: &[f32], v: &[f32], out: &mut [f32], keys: u32, causal: bool) {
    let block = this_thread_block();
    let key_tile = shared_array::<[f32; D], KEYS>();
    let value_tile = shared_array::<[f32; D], KEYS>();
    let i = block.thread_rank();
    let query = this_grid().thread_rank() as u32;
    let width = D as u32;
    let queries = q.len() as u32 / width;
    let inside = query < queries;
    let scale = LOG2_E / (D as f32).sqrt();
    let (mut row, mut sums) = ([0.0; D], [0.0; D]);
    if inside {
        for d in 0..D {
            row[d] = q[query * width + d as u32] * scale;
        }
    }
    let (mut largest, mut sum) = (f32::NEG_INFINITY, 0.0);
    for start in (0..keys).step_by(KEYS) {
        for at in (i..KEYS as u32 * width).step_by(32) {
            let (key, d) = (at / width, at % width);
            if start + key < keys {
                key_tile[key][d] = k[(start + key) * width + d];
                value_tile[key][d] = v[(start + key) * width + d];
            }
        }
        block.sync();
        let here = match causal {
            _ if !inside => 0,
            true if query < start => 0,
            true => (keys - start).min(KEYS as u32).min(query + 1 - start),
            false => (keys - start).min(KEYS as u32),
        };
        for key in 0..here {
            let mut score = 0.0;
            for d in 0..D {
                score = row[d].mul_add(key_tile[key][d], score);
            }
            let new_largest = largest.max(score);
            let correction = if largest == f32::NEG_INFINITY { 0.0 } else { exp2_by_polynomial(largest - new_largest) };
            let weight = exp2_by_polynomial(score - new_largest);
            sum = sum * correction + weight;
            for d in 0..D {
                sums[d] = weight.mul_add(value_tile[key][d], sums[d] * correction);
            }
            largest = new_largest;
        }
        block.sync();
    }
    if inside {
        for d in 0..D {
            out[query * width + d as u32] = sums[d] / sum;
        }
    }
}

/// Attention of one query to many keys, as decoding does: each block of a cluster takes a part of the keys, and the first
/// joins their largest scores, sums and results (Flash-Decoding, Dao and others 2023, with distributed shared memory in
/// place of a second kernel). 64 wide, a thread an element.
#[cluster_kernel(cluster = 4, block = 64)]
fn decode(q: &[f32], k: &[f32], v: &[f32], out: &mut [f32], keys: u32) {
    let cluster = this_cluster();
    let block = this_thread_block();
    let products = shared_array::<f32, 64>();
    let results = shared_array::<f32, 64>();
    let normaliser = shared_array::<f32, 2>();
    let (i, rank) = (block.thread_rank(), cluster.block_rank());
    let head = this_grid().cluster_rank() as u32;
    let part = keys.div_ceil(cluster.num_blocks());
    let (first, last) = (rank * part, ((rank + 1) * part).min(keys));
    let query = q[head * 64 + i] * 0.125;
    let (mut largest, mut sum, mut result) = (f32::NEG_INFINITY, 0.0, 0.0);
    for key in first..last {
        let at = (head * keys + key) * 64 + i;
        products[i] = query * k[at];
        let mut half = 32;
        while half > 0 {
            block.sync();
            if i < half {
                products[i] += products[i + half];
            }
            half /= 2;
        }
        block.sync();
        let score = products[0];
        block.sync();
        let new_largest = largest.max(score);
        let (correction, weight) = ((largest - new_largest).exp(), (score - new_largest).exp());
        sum = sum * correction + weight;
        result = result * correction + weight * v[at];
        largest = new_largest;
    }
    results[i] = result;
    if i == 0 {
        normaliser[0] = largest;
        normaliser[1] = sum;
    }
    cluster.sync();
    if rank == 0 {
        for peer in 1..cluster.num_blocks() {
            let theirs = cluster.map_shared_rank(&normaliser, peer);
            if theirs[0] == f32::NEG_INFINITY {
                continue; // it had no keys
            }
            let new_largest = largest.max(theirs[0]);
            let (own, other) = ((largest - new_largest).exp(), (theirs[0] - new_largest).exp());
            sum = sum * own + theirs[1] * other;
            result = result * own + cluster.map_shared_rank(&results, peer)[i] * other;
            largest = new_largest;
        }
        out[head * 64 + i] = result / sum;
    }
    cluster.sync();
}

/// Computes attention in doubles: `visible` keys for the query, of width `d`.
fn attention(query: &[f32], k: &[f32], v: &[f32], visible: usize) -> Vec<f64> {
    let d = query.len();
    let wide = |x: &f32| f64::from(*x);
    let score = |key: usize| {
        let products = query.iter().zip(&k[key * d..]).map(|(a, b)| wide(a) * wide(b));
        (products.sum::<f64>() / (d as f64).sqrt()).exp()
    };
    let scores: Vec<f64> = (0..visible).map(score).collect();
    let sum: f64 = scores.iter().sum();
    (0..d).map(|i| (0..visible).map(|key| scores[key] * wide(&v[key * d + i])).sum::<f64>() / sum).collect()
}

/// Compares values of at most one: the bound is some roundings, and the polynomial's error.
fn close(got: &[f32], want: &[f64], what: &str) -> Outcome {
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        if (f64::from(*got) - want).abs().is_nan() || (f64::from(*got) - want).abs() > 5e-6 {
            return Err(format!("{what}, {i}: got {got}, want {want}").into());
        }
    }
    Ok(())
}

fn flash_of<const D: usize>(device: &Device, queries: usize, keys: usize, causal: bool) -> Outcome {
    let (q, k, v) = (reals(271, queries * D), reals(272, keys * D), reals(273, keys * D));
    let (a, b, c) = (device.upload(&q)?, device.upload(&k)?, device.upload(&v)?);
    let got = read!(device, q.len(), |out| {
        flash::<D>(&a, &b, &c, out, keys as u32, causal).grid(queries.div_ceil(32) as u32)
    });
    let row = |query: usize| {
        let visible = if causal { (query + 1).min(keys) } else { keys };
        attention(&q[query * D..][..D], &k, &v, visible)
    };
    close(&got, &(0..queries).flat_map(row).collect::<Vec<_>>(), &format!("{D} wide, {queries} queries"))
}

fn tiles(device: &Device) -> Outcome {
    flash_of::<16>(device, 32, 64, false)?;
    flash_of::<16>(device, 45, 70, false)?;
    flash_of::<32>(device, 70, 70, true)
}

fn split_keys(device: &Device) -> Outcome {
    for keys in [64, 37, 3] {
        let heads = 2;
        let (q, k, v) = (reals(274, heads * 64), reals(275, heads * keys * 64), reals(276, heads * keys * 64));
        let (a, b, c) = (device.upload(&q)?, device.upload(&k)?, device.upload(&v)?);
        let got = read!(device, heads * 64, |out| decode(&a, &b, &c, out, keys as u32).grid(8));
        let head = |head: usize| {
            let part = head * keys * 64..;
            attention(&q[head * 64..][..64], &k[part.clone()], &v[part], keys)
        };
        close(&got, &(0..heads).flat_map(head).collect::<Vec<_>>(), &format!("{keys} keys"))?;
    }
    Ok(())
}

pub(super) fn module() -> Module {
    Module {
        name: "corpus::attention",
        checks: check_list![tiles, split_keys],
        kernels: kernel_list![flash<16>, flash<32>, decode],
    }
}
