//! The inputs of the programs: small numbers, the edges of the types, and random words. The same for all programs.

use crate::Input;

/// Returns the inputs.
pub fn inputs() -> Vec<Input> {
    const EDGES: [u64; 8] = [0, 1, 2, u64::MAX, 1 << 31, 0x7fff_ffff, 1 << 63, 0x3fc0_0000_4080_00ff];
    let mut state = 0x1234_5678_u64;
    let mut random = move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    };
    let small = (0..6).map(|i| [i, i * 5 % 7, 3, i + 2]);
    let mut inputs: Vec<Input> = small.collect();
    for _ in 0..8 {
        inputs.push([0; 4].map(|_: u64| EDGES[(random() >> 40) as usize % EDGES.len()]));
        inputs.push([0; 4].map(|_: u64| random()));
        inputs.push([0; 4].map(|_: u64| random() >> 40 & 15));
    }
    inputs
}
