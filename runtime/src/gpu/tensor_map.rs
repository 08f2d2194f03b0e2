//! Makes the map of a tensor for a kernel's tiles: a `CUtensorMap`, as the words that the kernel's parameter holds (CUDA
//! driver API, cuTensorMapEncodeTiled). Its limits were checked when the tensor was made and the kernel was compiled.

use cudarc::driver::sys::{
    CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave, CUtensorMapL2promotion, CUtensorMapSwizzle,
};

use super::ffi::{self, MapParts};
use crate::program::tensor::{DataType, Fill, MAX_RANK, TensorShape, TileShape};
use crate::report::error::Result;

/// Returns the map of a tensor at this address.
pub(crate) fn tensor_map(address: u64, tensor: &TensorShape, tile: &TileShape) -> Result<[u64; 16]> {
    ffi::tensor_map(&parts(address, tensor, tile))
}

fn parts(address: u64, tensor: &TensorShape, tile: &TileShape) -> MapParts {
    let mut parts = MapParts {
        data_type: data_type(tile.data_type),
        rank: tile.rank as u32,
        address,
        dims: [1; MAX_RANK],
        strides: [0; MAX_RANK],
        tile: [1; MAX_RANK],
        interleave: CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
        swizzle: swizzle(tile),
        promotion: CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        fill: match tensor.fill {
            Fill::Zeros => CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            Fill::Nan => CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
        },
    };
    for (inner, outer) in (0..tile.rank).rev().enumerate() {
        parts.dims[inner] = tensor.dims[outer];
        parts.tile[inner] = tile.dims[outer] as u32;
        if inner > 0 {
            parts.strides[inner - 1] = tensor.strides[outer];
        }
    }
    parts
}

fn swizzle(tile: &TileShape) -> CUtensorMapSwizzle {
    match (tile.swizzled, tile.row()) {
        (true, 32) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        (true, 64) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        (true, _) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B,
        (false, _) => CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
    }
}

fn data_type(of: DataType) -> CUtensorMapDataType {
    match of {
        DataType::Byte => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        DataType::Word => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        DataType::U32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        DataType::I32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        DataType::U64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        DataType::I64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        DataType::F16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        DataType::Bf16 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        DataType::F32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        DataType::F64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_reversed() {
        let tensor = TensorShape::new(&[3, 5, 64], &TensorShape::dense([3, 5, 64]), 2, (0, 3 * 5 * 64)).unwrap();
        let tile = TileShape { data_type: DataType::Bf16, element: 2, rank: 3, dims: [1, 8, 64, 1, 1], swizzled: true };
        let parts = parts(4096, &tensor, &tile);
        assert_eq!((parts.rank, parts.dims, parts.tile), (3, [64, 5, 3, 1, 1], [64, 8, 1, 1, 1]));
        assert_eq!(parts.strides, [128, 5 * 128, 0, 0, 0]);
        assert_eq!(parts.swizzle, CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_128B);
        assert_eq!(parts.fill, CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    }
}
