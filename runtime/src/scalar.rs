//! A value of a scalar type as data, which is an operand in a failure's message or a constant of the generated text.

use std::fmt;

use half::{bf16, f16};
#[cfg(feature = "serde")]
use serde::Serializer;

use crate::fp8::{e4m3, e5m2};

/// A value of a scalar type, as a [`Cause`](crate::Cause) holds it. Its `Display` is the value as Rust formats it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub enum Scalar {
    /// A `bool`.
    Bool(bool),
    /// A signed integer, with the name of its type.
    Signed(i128, &'static str),
    /// An unsigned integer, with the name of its type.
    Unsigned(u128, &'static str),
    /// An `f32`.
    F32(f32),
    /// An `f64`.
    F64(f64),
    /// An `f16`.
    F16(#[cfg_attr(feature = "serde", serde(serialize_with = "wider"))] f16),
    /// A `bf16`.
    Bf16(#[cfg_attr(feature = "serde", serde(serialize_with = "wider"))] bf16),
    /// An `e4m3`.
    E4m3(#[cfg_attr(feature = "serde", serde(serialize_with = "wider"))] e4m3),
    /// An `e5m2`.
    E5m2(#[cfg_attr(feature = "serde", serde(serialize_with = "wider"))] e5m2),
}

/// Serializes the value as the `f32` that is equal to it.
#[cfg(feature = "serde")]
fn wider<T: Copy + Into<f32>, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f32((*value).into())
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(v) => write!(f, "{v}"),
            Scalar::Signed(v, _) => write!(f, "{v}"),
            Scalar::Unsigned(v, _) => write!(f, "{v}"),
            // Debug keeps the `.0` that tells a float from an integer.
            Scalar::F32(v) => write!(f, "{v:?}"),
            Scalar::F64(v) => write!(f, "{v:?}"),
            Scalar::F16(v) => write!(f, "{v:?}"),
            Scalar::Bf16(v) => write!(f, "{v:?}"),
            Scalar::E4m3(v) => write!(f, "{v:?}"),
            Scalar::E5m2(v) => write!(f, "{v:?}"),
        }
    }
}
