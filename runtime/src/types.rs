//! The types that exist on both sides, with their C++ spelling. Values and arithmetic are `numeric`'s.

use half::{bf16, f16};

use crate::program::template::{Scalar, TypeInfo};

/// Plain data that may live in device memory: the same bytes mean the same value in Rust and in CUDA C++.
///
/// # Safety
/// The type has no padding, no pointers and no invalid bit patterns other than those that the device never writes
/// (`bool` holds 0 or 1 on both sides), and its size is a multiple of its alignment.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in device memory",
    note = "kernels know the integer types, f32, f64, f16, bf16, bool and arrays of them"
)]
pub unsafe trait DeviceCopy: DeviceType + Copy + Send + Sync {}

/// A type that has a C++ spelling in the generated text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of the kernel language",
    note = "kernels know the integer types, f32, f64, f16, bf16, bool and arrays of them"
)]
pub trait DeviceType: 'static {
    /// Its spelling and size.
    fn info() -> TypeInfo;
}

/// A scalar type of the kernel language.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar of the kernel language",
    note = "scalars are the integer types, f32, f64, f16, bf16 and bool"
)]
pub trait DeviceScalar: DeviceCopy {
    /// The value, with its type as data.
    fn scalar(self) -> Scalar;
}

macro_rules! scalars {
    ($($t:ident => $value:expr;)*) => {$(
        impl DeviceType for $t {
            fn info() -> TypeInfo {
                TypeInfo { name: stringify!($t).into(), size: size_of::<$t>() }
            }
        }
        // SAFETY: a primitive, or one in a `repr(transparent)`: no padding, no pointers.
        unsafe impl DeviceCopy for $t {}
        impl DeviceScalar for $t {
            fn scalar(self) -> Scalar {
                let value: fn($t) -> Scalar = $value;
                value(self)
            }
        }
    )*};
}

scalars! {
    bool => Scalar::Bool;
    i8 => |v| Scalar::Signed(v.into(), "i8");
    i16 => |v| Scalar::Signed(v.into(), "i16");
    i32 => |v| Scalar::Signed(v.into(), "i32");
    i64 => |v| Scalar::Signed(v.into(), "i64");
    i128 => |v| Scalar::Signed(v, "i128");
    isize => |v| Scalar::Signed(v as i128, "isize");
    u8 => |v| Scalar::Unsigned(v.into(), "u8");
    u16 => |v| Scalar::Unsigned(v.into(), "u16");
    u32 => |v| Scalar::Unsigned(v.into(), "u32");
    u64 => |v| Scalar::Unsigned(v.into(), "u64");
    u128 => |v| Scalar::Unsigned(v, "u128");
    usize => |v| Scalar::Unsigned(v as u128, "usize");
    f32 => Scalar::F32;
    f64 => Scalar::F64;
    f16 => Scalar::F16;
    bf16 => Scalar::Bf16;
}

/// A local value only: Rust does not say how a tuple lies in memory.
macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: DeviceType),*> DeviceType for ($($name,)*) {
            fn info() -> TypeInfo {
                let parts = [$($name::info().name),*];
                TypeInfo { name: format!("tuple<{}>", parts.join(", ")), size: size_of::<Self>() }
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);

impl<T: DeviceType> DeviceType for Option<T> {
    fn info() -> TypeInfo {
        TypeInfo { name: format!("option<{}>", T::info().name), size: size_of::<Self>() }
    }
}

/// What a compare-exchange gives.
impl<T: DeviceType> DeviceType for Result<T, T> {
    fn info() -> TypeInfo {
        TypeInfo { name: format!("result<{}>", T::info().name), size: size_of::<Self>() }
    }
}

impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn info() -> TypeInfo {
        let element = T::info();
        TypeInfo { name: format!("local_array<{}, {N}>", element.name), size: element.size * N }
    }
}

// SAFETY: elements follow each other without padding, and are plain data themselves.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {}
