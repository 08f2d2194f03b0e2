//! Checks at compile time, for `#[derive(DeviceCopy)]`, that the same bytes represent the same value on both sides and
//! that no byte is padding. It also has a struct's fields as data.

use crate::program::constant::Value;
use crate::program::refusal::Message;
use crate::program::type_info::{Content, Field, TypeArgument, TypeInfo};
use crate::program::types::DeviceCopy;

/// A struct with the derive.
pub trait DeviceStruct: Sized + 'static {
    /// The fields in the order of declaration.
    const FIELDS: &'static [FieldOf<Self>];
    /// Whether it derives `PartialEq`, by which kernels compare it.
    const IS_COMPARED: bool;
    /// Whether it derives `PartialOrd`, too.
    const IS_ORDERED: bool;
}

/// A field of the struct `S`.
#[derive(Debug)]
pub struct FieldOf<S> {
    rust: &'static str,
    cpp: &'static str,
    offset: usize,
    size: usize,
    info: fn() -> TypeInfo,
    value: fn(&S) -> Value,
}

/// Returns a field of type `F` under its two names, after checking `F` itself.
pub const fn field_of<S, F: DeviceCopy>(
    [rust, cpp]: [&'static str; 2],
    offset: usize,
    value: fn(&S) -> Value,
) -> FieldOf<S> {
    let () = F::LAYOUT;
    FieldOf { rust, cpp, offset, size: size_of::<F>(), info: F::info, value }
}

/// Returns the value of a field of a constant.
pub fn field_value<F: DeviceCopy>(value: &F) -> Value {
    value.value()
}

/// Returns the description of the struct for the text.
pub fn struct_info<S: DeviceStruct>(
    name: &'static str,
    module: &'static str,
    arguments: Vec<TypeArgument>,
) -> TypeInfo {
    let field = |field: &FieldOf<S>| Field { name: field.cpp, offset: field.offset, ty: (field.info)() };
    let content = Content::Fields(S::FIELDS.iter().map(field).collect());
    TypeInfo::user_with::<S>(name, module, arguments, content, [S::IS_COMPARED, S::IS_ORDERED])
}

/// Returns the value of a constant of the struct type.
pub fn struct_value<S: DeviceStruct>(value: &S) -> Value {
    Value::Fields(S::FIELDS.iter().map(|field| (field.value)(value)).collect())
}

/// The largest alignment that buffers, parameters and shared memory provide.
const LARGEST_ALIGN: usize = 16;

/// Rejects padding, fields of size zero, and large alignments.
#[track_caller]
pub const fn check_struct<S: DeviceStruct>(name: &str) {
    if align_of::<S>() > LARGEST_ALIGN {
        let message = Message::new().text("`").text(name).text("` is aligned to ").number(align_of::<S>());
        message.text(" bytes; memory of kernels is aligned to 16").panic();
    }
    let (fields, mut index) = (S::FIELDS, 0);
    while index < fields.len() {
        let FieldOf { rust: field, offset, size, .. } = fields[index];
        if size == 0 {
            Message::new().text("the field `").text(field).text("` of `").text(name).text("` has no size").panic();
        }
        index += 1;
        let (end, next) = (offset + size, if index < fields.len() { fields[index].offset } else { size_of::<S>() });
        if next < end {
            Message::new().text("`").text(name).text("` does not have its fields in the order of declaration").panic();
        }
        if next > end {
            let message = Message::new().text("`").text(name).text("` has ").number(next - end);
            let message = message.text(" byte(s) of padding after the field `").text(field);
            message.text("`; add a field of type `[u8; ").number(next - end).text("]` there").panic();
        }
    }
}

/// Rejects an enum that is not represented by its integer, or for which zeroed memory holds no value.
#[track_caller]
pub const fn check_enum<T, Raw>(name: &str, has_zero: bool) {
    if size_of::<T>() != size_of::<Raw>() || align_of::<T>() != align_of::<Raw>() {
        Message::new().text("`").text(name).text("` does not have the layout of its integer").panic();
    }
    if !has_zero {
        let message = Message::new().text("no variant of `").text(name);
        message.text("` has the value 0, which fresh memory holds; give it to one").panic();
    }
}
