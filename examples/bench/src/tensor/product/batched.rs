//! Products of one pair of matrices and of several, by the persistent kernel: the problems and the launch.

use phalanx::WarpgroupElement;
use phalanx::prelude::*;

use super::epilogue::Scaled;
use super::persistent::{Sum, TILE, gemm};
use super::{Case, Rest, Size, batched, case};
use crate::case::Scale;

/// The sizes that are measured, and one in the simulator that fills no tile and gives each block two of them.
pub(super) fn cases(scale: Scale) -> Vec<Case> {
    let full = [[4_096; 3], [8_192, 4_096, 4_096], [8_192; 3], [16_384, 4_096, 4_096]];
    let small = [[300, 520, 320]];
    let sizes = scale.pick(&full[..], &small[..]);
    let wide = sizes.iter().map(|size| case("bf16 GEMM", *size, scale, 1.0, launch::<bf16, f32, 64>));
    let size = scale.pick([8_192; 3], small[0]);
    let others = [
        // The tensor cores keep some 13 bits after the point of the largest term; sums are about 30 at the full size.
        case("e4m3 GEMM", size, scale, 64.0, launch::<e4m3, f32, 128>),
        // Sums are exact, and rounded to `bf16`.
        case("i8 GEMM", size, scale, 1.0, launch::<i8, i32, 128>),
        scale.pick(
            batched("batched bf16 GEMM", 16, [2_048; 3], scale, 1.0, launch::<bf16, f32, 64>),
            batched("batched bf16 GEMM", 3, [130, 264, 136], scale, 1.0, launch::<bf16, f32, 64>),
        ),
    ];
    wide.chain(others).collect()
}

pub(super) fn launch<T: WarpgroupElement<S>, S: Sum, const DEPTH: usize>(
    device: &Device,
    a: &Buffer<T>,
    b: &Buffer<T>,
    c: &mut Buffer<bf16>,
    Size { matrices, m, n, k }: Size,
    Rest { blocks, nothing }: &Rest,
) -> phalanx::Result<()> {
    let [rows, columns] = [m.div_ceil(TILE[0]), n.div_ceil(TILE[1])].map(|tiles| tiles as u32);
    gemm::<T, S, Scaled, DEPTH>(
        &a.tensor([matrices, m, k])?,
        &b.tensor([matrices, n, k])?,
        nothing,
        nothing,
        &mut c.tensor_mut([matrices, m, n])?,
        matrices as u32,
        rows,
        columns,
        k.div_ceil(DEPTH) as u32,
        1.0,
    )
    .grid(*blocks)
    .enqueue(device)
}
