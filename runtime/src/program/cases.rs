//! Enums with fields, which `#[derive(DeviceType)]` makes values of kernels. They are no plain data: no memory holds them, and their layout
//! is the compiler's on each side.

use std::cmp::Reverse;

use super::constant::{Constant, Value};
use super::layout::DeviceStruct;
use super::template::Tag;
use super::type_info::{Case, Content, Field, TypeInfo};
use super::types::{DeviceConstant, DeviceEq, DeviceOrd, DeviceType, constant};

/// An enum with the derive.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no enum with `#[derive(DeviceType)]`",
    note = "the parts of a path before the last one are taken for an enum if they end with a capitalized name"
)]
pub trait DeviceEnum: DeviceType + Copy {
    /// Whether it derives `PartialEq`, by which kernels compare it.
    const IS_COMPARED: bool;
}

/// What a field of a variant can be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of an enum in a kernel",
    note = "numbers, `bool`s, arrays and tuples of them, structs and enums can; an `Option` in a field is another variant of the enum"
)]
pub trait VariantField: DeviceConstant {}

#[diagnostic::do_not_recommend]
impl<T: DeviceConstant> VariantField for T {}

/// Returns a variant for the description of an enum.
pub fn case(name: &'static str, fields: Vec<Field>) -> Case {
    Case { name, fields }
}

/// The type of a variant's field. Only where one is made does rustc ask what the type is, so that it reports one that is none once.
#[derive(Debug)]
pub struct CaseField<F> {
    info: fn() -> TypeInfo,
    value: fn(&F) -> Value,
}

impl<F> CaseField<F> {
    /// Returns a field of a variant.
    pub fn named(&self, name: &'static str) -> Field {
        Field { name, offset: 0, ty: (self.info)() }
    }

    /// Returns the value of a field of a constant.
    pub fn value(&self, value: &F) -> Value {
        (self.value)(value)
    }
}

/// Returns the type of a variant's field.
pub const fn case_field<F: VariantField>() -> CaseField<F> {
    CaseField { info: F::info, value: F::value }
}

/// Returns the description of the enum for the text.
pub fn enum_info<E: DeviceEnum>(name: &'static str, module: &'static str, cases: Vec<Case>) -> TypeInfo {
    TypeInfo::user_with::<E>(name, module, Vec::new(), Content::Cases(cases), [E::IS_COMPARED, false])
}

/// Returns a value of an enum unchanged, and lets rustc infer the slot's type from it.
#[inline(always)]
pub fn of_enum<T: DeviceEnum>(_slot: &Tag<T>, value: T) -> T {
    value
}

/// A type with the literals of a struct. What a literal by a name alone gives may be a variant that only rustc knows as one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no struct of the kernel language",
    note = "a struct needs `#[derive(DeviceCopy)]`",
    note = "a variant of an enum is written with the enum's name before it, `Event::Hit(x)`, also in patterns, or the kernel's file imports it by its name"
)]
pub trait Literal: DeviceType {}

#[diagnostic::do_not_recommend]
impl<T: DeviceStruct + DeviceType> Literal for T {}

#[diagnostic::do_not_recommend]
impl<T: DeviceOrd> Literal for Reverse<T> {}

// `Ok` and `Err`.
#[diagnostic::do_not_recommend]
impl<T, E> Literal for Result<T, E> where Result<T, E>: DeviceType {}

/// Asks rustc whether a value is one of a struct.
#[inline(always)]
pub fn is_struct<T: Literal>(_value: &T) {}

/// Returns a literal of a struct unchanged, and lets rustc infer the slot's type from it.
#[inline(always)]
pub fn of_struct<T>(_slot: &Tag<T>, value: T) -> T {
    value
}

/// A type whose constants are patterns: what kernels compare, and an enum with fields, whose other variants are such constants.
#[diagnostic::on_unimplemented(
    message = "values of `{Self}` cannot be compared in a kernel",
    note = "numbers, `bool`s, enums, structs with `#[derive(PartialEq)]`, and arrays, tuples and `Option`s of them can; compare others by their parts",
    note = "above an `impl` that is written by hand, in the file of the kernel, write `#[device]`: values of the type can then be compared alone"
)]
pub trait PatternConstant: DeviceConstant {}

#[diagnostic::do_not_recommend]
impl<T: DeviceConstant + DeviceEq> PatternConstant for T {}

/// Returns a constant that a pattern compares with.
pub fn pattern_constant<T: PatternConstant>(value: &T) -> Constant {
    let constant = constant(value);
    if let Value::Case(_, _, fields) = &constant.value {
        let is_compared = fields.is_empty() || constant.ty.user_type().is_some_and(|user| user.is_compared);
        let name = &constant.ty;
        assert!(is_compared, "a constant of `{name}` with fields is a pattern only if the enum derives `PartialEq`");
    }
    constant
}
