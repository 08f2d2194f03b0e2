//! Products of one pair of matrices and of several, by the persistent kernel, whose blocks share their operands by multicast or do not: the
//! problems and the launch.

use phalanx::WarpgroupElement;
use phalanx::prelude::*;

use super::epilogue::Scaled;
use super::multicast::{BLOCKS, multicast};
use super::persistent::{Sum, TILE, gemm};
use super::{Case, Rest, Size, batched, case};
use crate::case::Scale;

/// The sizes that are measured, and one in the simulator that fills no tile and gives each block two of them.
pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let full = [[4_096; 3], [8_192, 4_096, 4_096], [8_192; 3], [16_384, 4_096, 4_096]];
    let small = [[300, 520, 320]];
    let sizes = scale.pick(&full[..], &small[..]);
    let wide = sizes.iter().map(|size| case("bf16 GEMM", *size, scale, 1.0, launch::<bf16, f32, 64, false>));
    let size = scale.pick([8_192; 3], small[0]);
    let others = [
        // The tensor cores keep some 13 bits after the point of the largest term; sums are about 30 at the full size.
        case("e4m3 GEMM", size, scale, 64.0, launch::<e4m3, f32, 128, false>),
        // Sums are exact, and rounded to `bf16`.
        case("i8 GEMM", size, scale, 1.0, launch::<i8, i32, 128, false>),
        scale.pick(
            batched("batched bf16 GEMM", 16, [2_048; 3], scale, 1.0, launch::<bf16, f32, 64, false>),
            batched("batched bf16 GEMM", 3, [130, 264, 136], scale, 1.0, launch::<bf16, f32, 64, false>),
        ),
        case("bf16 GEMM, multicast", size, scale, 1.0, launch::<bf16, f32, 64, true>),
        case("e4m3 GEMM, multicast", size, scale, 64.0, launch::<e4m3, f32, 128, true>),
        scale.pick(
            batched("batched bf16 GEMM, multicast", 16, [2_048; 3], scale, 1.0, launch::<bf16, f32, 64, true>),
            batched("batched bf16 GEMM, multicast", 3, [130, 264, 136], scale, 1.0, launch::<bf16, f32, 64, true>),
        ),
    ];
    wide.chain(others).collect()
}

/// Multiplies each matrix of `a` by that of `b`. If `MULTICAST`, pairs of blocks share the rows of their tiles.
pub(super) fn launch<T: WarpgroupElement<S>, S: Sum, const DEPTH: usize, const MULTICAST: bool>(
    device: &Device,
    a: &Buffer<T>,
    b: &Buffer<T>,
    c: &mut Buffer<bf16>,
    Size { matrices, m, n, k }: Size,
    Rest { blocks, nothing }: &Rest,
) -> phalanx::Result<()> {
    let (a, b) = (a.tensor([matrices, m, k])?, b.tensor([matrices, n, k])?);
    let mut c = c.tensor_mut([matrices, m, n])?;
    let [rows, columns, steps] =
        [m.div_ceil(TILE[0]), n.div_ceil(TILE[1]), k.div_ceil(DEPTH)].map(|count| count as u32);
    let of = matrices as u32;
    if MULTICAST {
        let (pairs, clusters) = (columns.div_ceil(BLOCKS as u32), blocks / BLOCKS as u32);
        multicast::<T, S, Scaled, DEPTH>(&a, &b, nothing, nothing, &mut c, of, rows, pairs, steps, 1.0)
            .grid(clusters * BLOCKS as u32)
            .enqueue(device)
    } else {
        gemm::<T, S, Scaled, DEPTH>(&a, &b, nothing, nothing, &mut c, of, rows, columns, steps, 1.0)
            .grid(*blocks)
            .enqueue(device)
    }
}
