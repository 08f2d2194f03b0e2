//! The types that exist on both sides, with their C++ spelling. `kernel::numeric` has values and arithmetic; `layout`
//! has what `#[derive(DeviceCopy)]` checks of a user-defined type.

use std::any::TypeId;
use std::cmp::{Ordering, Reverse};

use half::{bf16, f16};

use crate::fp8::{e4m3, e5m2};
use crate::program::constant::{Constant, Value};
use crate::program::type_info::{Content, TypeArgument, TypeInfo};
use crate::scalar::Scalar;

/// Plain data that may live in device memory: the same bytes mean the same value in Rust and in CUDA C++.
///
/// Users' structs and enums get it by [`#[derive(DeviceCopy)]`](derive@crate::DeviceCopy). The layout is the same on
/// both sides: the generated C++ asserts size, alignment and the offset of every field. So a struct has `#[repr(C)]` or
/// `#[repr(transparent)]` and no padding; an enum has `#[repr(u8)]` or another integer type, no fields, a variant of
/// value 0 (memory starts as zeros), and derives `PartialEq`, as which kernels compare it.
///
/// ```
/// use phalanx::prelude::*;
///
/// #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
/// #[repr(u8)]
/// enum State {
///     Free,
///     Taken,
/// }
///
/// #[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]
/// #[repr(C)]
/// struct Cell {
///     weight: f32,
///     state: State,
///     _padding: [u8; 3], // three bytes that Rust would leave here otherwise
/// }
///
/// #[cluster_kernel(block = 32)]
/// fn take(cells: &mut [Cell], least: f32) {
///     let i = this_grid().thread_rank();
///     if cells[i].weight >= least && cells[i].state == State::Free {
///         cells[i].state = State::Taken; // one byte of memory
///     }
/// }
///
/// # fn main() -> phalanx::Result<()> {
/// let device = Device::simulator();
/// let cell = |i: u8| Cell { weight: i.into(), state: State::Free, _padding: [0; 3] };
/// let mut cells = device.upload(&Vec::from_iter((0..32).map(cell)))?;
/// take(&mut cells, 16.0).grid(1).launch(&device)?;
/// let cells = cells.read()?;
/// assert_eq!((cells[15].state, cells[16].state), (State::Free, State::Taken));
/// # Ok(())
/// # }
/// ```
///
/// A struct may be generic. Each instance has its own definition in C++, as `Pair_f32`, and is checked where it is
/// used:
///
/// ```compile_fail,E0080
/// # use phalanx::prelude::*;
/// #[derive(Clone, Copy, DeviceCopy)]
/// #[repr(C)]
/// struct Tagged<T> {
///     tag: u32,
///     value: T,
/// }
///
/// let device = Device::simulator();
/// device.upload(&[Tagged { tag: 1, value: 2.0f32 }]).unwrap();
/// device.upload(&[Tagged { tag: 1, value: 2.0f64 }]).unwrap(); // 4 bytes of padding after `tag`
/// ```
///
/// # Safety
/// The type has no padding, no pointers and no invalid bit patterns other than those that the device never writes
/// (`bool` holds 0 or 1 on both sides); all bytes zero are a value; and its alignment is at most 16.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be kept in device memory",
    note = "the types of kernels are the integer types, f32, f64, f16, bf16, e4m3, e5m2, bool, arrays of them, and types with `#[derive(DeviceCopy)]`",
    note = "a generic parameter that stands for a type needs a bound: `T: DeviceCopy`, or `T: Number` for arithmetic",
    note = "a tuple is a value of variables alone; for memory, write a struct with `#[derive(DeviceCopy)]`",
    note = "an enum whose variants have fields is a value of variables alone; for memory, write a struct with a fieldless enum and the fields of all variants"
)]
pub unsafe trait DeviceCopy: DeviceConstant + Copy + Send + Sync {
    /// The check of the layout, which is evaluated wherever bytes of the type are accessed, and fails to compile for a
    /// layout that breaks the promise.
    #[doc(hidden)]
    const LAYOUT: () = ();

    /// Returns the type of which values of this type are sequences, and nothing else: of an array or a vector that of its elements, of
    /// another type the type itself.
    #[doc(hidden)]
    fn scalar_type() -> TypeId {
        TypeId::of::<Self>()
    }
}

/// Returns the bytes of plain data.
pub(crate) fn bytes_of<T: DeviceCopy>(data: &[T]) -> &[u8] {
    const { T::LAYOUT };
    // SAFETY: `DeviceCopy` promises that no byte is padding; the lifetime is that of `data`.
    unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

/// A type that has a C++ spelling in the generated text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of the kernel language",
    note = "the types of kernels are the integer types, f32, f64, f16, bf16, e4m3, e5m2, bool, arrays of them, types with `#[derive(DeviceCopy)]`, and enums with `#[derive(DeviceType)]`",
    note = "a generic parameter that stands for a type needs a bound: `T: DeviceCopy`, or `T: Number` for arithmetic"
)]
pub trait DeviceType: 'static {
    /// Returns the spelling and size of the type.
    fn info() -> TypeInfo;
}

/// A type whose constants kernels can name.
#[diagnostic::on_unimplemented(
    message = "a constant of type `{Self}` cannot be used in a kernel",
    note = "constants can be numbers, `bool`s, arrays and tuples of them, and structs and enums with `#[derive(DeviceCopy)]`",
    note = "a function is passed on as a closure: `|x| function(x)`"
)]
pub trait DeviceConstant: DeviceType {
    /// Returns the value as data.
    #[doc(hidden)]
    fn value(&self) -> Value;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceScalar> DeviceConstant for T {
    fn value(&self) -> Value {
        Value::Scalar(self.scalar())
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceConstant, const N: usize> DeviceConstant for [T; N] {
    fn value(&self) -> Value {
        Value::Elements(self.iter().map(T::value).collect())
    }
}

/// Returns a constant that goes into the text. It is passed by reference, because tables are large.
pub fn constant<T: DeviceConstant>(value: &T) -> Constant {
    Constant { ty: T::info(), value: value.value(), scattered: false }
}

/// Returns a number as a constant of 64 bits: 0 if it is negative, the largest if it is larger.
pub fn number(number: i128) -> Constant {
    constant(&u64::try_from(number.max(0)).unwrap_or(u64::MAX))
}

/// A type whose values kernels compare with `==` and `!=`: a scalar, an enum or a struct that derives `PartialEq`, an array, a tuple or
/// an `Option` of these.
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` cannot be compared in a kernel",
    note = "numbers, `bool`s, enums, structs with `#[derive(PartialEq)]`, and arrays, tuples and `Option`s of them can; compare others by their parts",
    note = "above an `impl` that is written by hand, in the file of the kernel, write `#[device]`: values of the type can then be compared alone"
)]
pub trait DeviceEq: DeviceType {}

#[diagnostic::do_not_recommend]
impl<T: DeviceScalar> DeviceEq for T {}

#[diagnostic::do_not_recommend]
impl<T: DeviceEq, const N: usize> DeviceEq for [T; N] {}

/// A field that is compared as a part of its struct. Because of the lifetime, rustc asks where the struct is compared, and not where it is
/// defined.
#[diagnostic::on_unimplemented(message = "values of `{Self}` cannot be compared in a kernel")]
pub trait FieldEq<'a> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceEq> FieldEq<'_> for T {}

/// A type whose values kernels compare with `<` and the like: a scalar, a struct or an enum that derives `PartialOrd`, or an array
/// or a tuple of these.
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` cannot be ordered in a kernel",
    note = "numbers, `bool`s, structs and enums without fields with `#[derive(PartialEq, PartialOrd)]`, and arrays and tuples of them can",
    note = "above an `impl` that is written by hand, in the file of the kernel, write `#[device]`: values of the type can then be compared alone"
)]
pub trait DeviceOrd: DeviceEq {}

#[diagnostic::do_not_recommend]
impl<T: DeviceScalar> DeviceOrd for T {}

impl<T: DeviceOrd, const N: usize> DeviceOrd for [T; N] {}

/// A field that is ordered as a part of its struct, as [`FieldEq`] is one that is compared.
#[diagnostic::on_unimplemented(message = "values of `{Self}` cannot be ordered in a kernel")]
pub trait FieldOrd<'a> {}

#[diagnostic::do_not_recommend]
impl<T: DeviceOrd> FieldOrd<'_> for T {}

/// A type of Rust's own, or a generic number: its methods are those of Rust, and of traits.
pub trait TypeOfRust {}

impl<T: DeviceScalar> TypeOfRust for T {}
impl<T, const N: usize> TypeOfRust for [T; N] {}
impl<T> TypeOfRust for Option<T> {}
impl<T, E> TypeOfRust for Result<T, E> {}
impl TypeOfRust for Ordering {}

/// A struct whose fields are its own, in Rust as in C++: `value.x` is no field behind a `Deref`. rustc refuses the derive of a
/// struct that has one.
pub trait NotDeref {}

impl<T: std::ops::Deref> NotDeref for T {}

/// Returns an operand of `==` or `!=` unchanged, if its type has these operators on both sides.
#[inline(always)]
pub fn comparable<T: DeviceEq>(value: T) -> T {
    value
}

/// Returns an operand of `<` and the like unchanged, if its type has these operators on both sides.
#[inline(always)]
pub fn ordered<T: DeviceOrd>(value: T) -> T {
    value
}

/// Returns an operand of `!`, `&`, `|` or `^` unchanged, if its type is a scalar: users' overloads do not exist in C++.
#[inline(always)]
pub fn plain_scalar<T: DeviceScalar>(value: T) -> T {
    value
}

/// A scalar type of the kernel language: an integer, a float or `bool`. As a bound it allows comparisons;
/// [`Number`](crate::Number) allows arithmetic too. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar of the kernel language",
    note = "scalars are the integer types, f32, f64, f16, bf16, e4m3, e5m2 and bool"
)]
pub trait DeviceScalar: DeviceCopy + sealed::Sealed {
    /// Returns the value with its type as data.
    #[doc(hidden)]
    fn scalar(self) -> Scalar;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! scalars {
    ($($t:ident => $value:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl DeviceType for $t {
            fn info() -> TypeInfo {
                TypeInfo::prelude::<$t>(stringify!($t))
            }
        }
        // SAFETY: a primitive, or one in a `repr(transparent)`: no padding, no pointers.
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceCopy for $t {}
        impl sealed::Sealed for $t {}
        #[diagnostic::do_not_recommend]
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
    e4m3 => Scalar::E4m3;
    e5m2 => Scalar::E5m2;
}

/// Implements the types of tuples, which are local values only: Rust does not specify a tuple's layout in memory.
macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: DeviceType),*> DeviceType for ($($name,)*) {
            fn info() -> TypeInfo {
                TypeInfo::template::<Self>("tuple", "tuple.cuh", vec![$(TypeArgument::Type($name::info())),*])
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$($name: DeviceConstant),*> DeviceConstant for ($($name,)*) {
            #[allow(non_snake_case, reason = "each part is called as its type")]
            fn value(&self) -> Value {
                let ($($name,)*) = self;
                Value::Fields(vec![$($name.value()),*])
            }
        }

        impl<$($name: DeviceEq),*> DeviceEq for ($($name,)*) {}

        impl<$($name: DeviceOrd),*> DeviceOrd for ($($name,)*) {}

        impl<$($name),*> TypeOfRust for ($($name,)*) {}
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
        TypeInfo::template::<Self>("option", "option.cuh", vec![TypeArgument::Type(T::info())])
    }
}

impl<T: DeviceEq> DeviceEq for Option<T> {}

/// What comparisons return.
impl DeviceType for Ordering {
    fn info() -> TypeInfo {
        let list = vec![("Less", -1), ("Equal", 0), ("Greater", 1)];
        let content = Content::Variants { raw: i8::info(), list };
        TypeInfo::user::<Ordering>("Ordering", "core::cmp", Vec::new(), content)
    }
}

impl DeviceConstant for Ordering {
    fn value(&self) -> Value {
        Value::Variant(match self {
            Ordering::Less => "Less",
            Ordering::Equal => "Equal",
            Ordering::Greater => "Greater",
        })
    }
}

impl DeviceEq for Ordering {}

// SAFETY: the type has the layout of `i8`, as Rust says, and 0 is a value; the device writes only the variants' values.
unsafe impl DeviceCopy for Ordering {}

/// A key in the opposite order. Its field is public, so that the text has a struct of it.
impl<T: DeviceOrd> DeviceType for Reverse<T> {
    fn info() -> TypeInfo {
        TypeInfo::reversed::<Reverse<T>>(T::info())
    }
}

impl<T: DeviceOrd + DeviceConstant> DeviceConstant for Reverse<T> {
    fn value(&self) -> Value {
        Value::Fields(vec![self.0.value()])
    }
}

impl<T: DeviceOrd> DeviceEq for Reverse<T> {}

impl<T: DeviceOrd> DeviceOrd for Reverse<T> {}

impl<T> TypeOfRust for Reverse<T> {}

/// What a `Result` may hold: a value of kernels, or nothing, as in `Result<(), Fault>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type of the kernel language",
    note = "a `Result` in a kernel holds numbers, arrays of them, types with `#[derive(DeviceCopy)]`, or `()`"
)]
pub trait ResultPart: 'static {
    /// The type's definition in C++.
    fn part_info() -> TypeInfo;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> ResultPart for T {
    fn part_info() -> TypeInfo {
        <T as DeviceType>::info()
    }
}

impl ResultPart for () {
    fn part_info() -> TypeInfo {
        TypeInfo::template::<()>("unit", "option.cuh", Vec::new())
    }
}

impl<T: DeviceEq, E: DeviceEq> DeviceEq for Result<T, E> {}

impl<E: DeviceEq> DeviceEq for Result<(), E> {}

impl<T: ResultPart, E: ResultPart> DeviceType for Result<T, E> {
    fn info() -> TypeInfo {
        TypeInfo::template::<Self>(
            "result",
            "option.cuh",
            vec![TypeArgument::Type(T::part_info()), TypeArgument::Type(E::part_info())],
        )
    }
}

impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn info() -> TypeInfo {
        const { assert!(N > 0, "an array in a kernel must have at least one element: C++ has no arrays of length 0") };
        let arguments = vec![TypeArgument::Type(T::info()), TypeArgument::Value(N.scalar())];
        TypeInfo::template::<[T; N]>("local_array", "array.cuh", arguments)
    }
}

// SAFETY: elements follow each other without padding, and are plain data themselves.
unsafe impl<T: DeviceCopy, const N: usize> DeviceCopy for [T; N] {
    const LAYOUT: () = T::LAYOUT;

    fn scalar_type() -> TypeId {
        T::scalar_type()
    }
}
