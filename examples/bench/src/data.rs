//! Inputs that depend on a seed alone: the numbers of element `i` are a hash of `i`, so that all cores make them.

use rayon::prelude::*;

/// Returns a hash of `i` (Steele, Lea and Flood's SplitMix64).
fn hash(seed: u64, i: usize) -> u64 {
    let mut z = (i as u64).wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns `len` values of `f`, which takes 64 random bits.
pub fn random<T: Send>(seed: u64, len: usize, f: impl Fn(u64) -> T + Sync + Send) -> Vec<T> {
    (0..len).into_par_iter().with_min_len(1 << 12).map(|i| f(hash(seed, i))).collect()
}

/// Returns reals between -1 and 1.
pub fn reals(seed: u64, len: usize) -> Vec<f32> {
    random(seed, len, real)
}

/// Returns a real between -1 and 1 of random bits.
pub fn real(bits: u64) -> f32 {
    (bits >> 40) as f32 / (1 << 23) as f32 - 1.0
}

/// Returns integers below `bound`.
pub fn below(seed: u64, len: usize, bound: u32) -> Vec<u32> {
    random(seed, len, |bits| (((bits >> 32) * u64::from(bound)) >> 32) as u32)
}

/// Returns the indexes that a check looks at: all of a few, or the first, the last and some between of many.
pub fn sample(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let mut chosen: Vec<usize> = (2..most).map(|i| (hash(1, i) % count as u64) as usize).collect();
    chosen.extend([0, count - 1]);
    chosen
}
