//! The numbers that a function's text, its constants and its types have in them.

use super::{Node, UNKNOWN};
use crate::program::constant::Value;
use crate::program::launch_checks::floats::Float;
use crate::program::launch_checks::numbers::NumberType;
use crate::program::launch_checks::values::{Integer, Values};
use crate::program::template::Definition;
use crate::program::type_info::{TypeInfo, TypeName};
use crate::scalar::Scalar;

/// Returns an integer literal of a type, which a float may have, too: `2` where rustc inferred `f32`.
pub(super) fn typed(ty: &TypeInfo, number: i128) -> Node {
    match NumberType::of(ty) {
        Some(NumberType::Integer(ty)) => Node::Integers(Values::of(ty, number, number)),
        Some(NumberType::Float(_)) | None => UNKNOWN,
    }
}

/// Returns a literal of a float.
pub(super) fn float(ty: Option<Float>, digits: &str) -> Node {
    digits.parse().map_or(UNKNOWN, |number: f64| Node::Float(ty, number.to_bits()))
}

/// Returns what an entry of [`Definition::values`] is.
pub(super) fn constant(function: &Definition, index: u16) -> Node {
    let constant = &function.values[usize::from(index)];
    match constant.value {
        Value::Scalar(Scalar::F32(number)) => Node::Float(Some(Float::F32), f64::from(number).to_bits()),
        Value::Scalar(Scalar::F64(number)) => Node::Float(Some(Float::F64), number.to_bits()),
        _ => number(function, index).map_or(UNKNOWN, |number| typed(&constant.ty, number)),
    }
}

/// Returns the integers of a table, which have one type.
pub(super) fn any_in(table: &Value) -> Node {
    fn numbers(of: &Value, all: &mut Vec<(i128, &'static str)>) -> Option<()> {
        match of {
            Value::Scalar(Scalar::Signed(number, ty)) => all.push((*number, ty)),
            Value::Scalar(Scalar::Unsigned(number, ty)) => all.push((i128::try_from(*number).ok()?, ty)),
            Value::Scalar(_) | Value::Variant(_) | Value::Case(..) => return None,
            Value::Fields(parts) | Value::Elements(parts) => {
                return parts.iter().try_for_each(|part| numbers(part, all));
            }
        }
        Some(())
    }
    let mut all = Vec::new();
    let ends = numbers(table, &mut all).and_then(|()| {
        let ty = all.first().filter(|(_, first)| all.iter().all(|(_, ty)| ty == first))?.1;
        let of_all = all.iter().map(|(number, _)| *number);
        Some(Values::of(Integer::named(ty)?, of_all.clone().min()?, of_all.max()?))
    });
    ends.map_or(UNKNOWN, Node::Integers)
}

/// Returns the lanes of a vector's type: of `f32x4`.
pub(super) fn lanes(ty: &TypeInfo) -> Option<i128> {
    let TypeName::Template { name, .. } = ty.name else { return None };
    name.rsplit_once('x')?.1.parse().ok()
}

pub(super) fn tile_size(function: &Definition, index: u16) -> Option<u32> {
    number(function, index).and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
}

/// Returns the integer that an entry of [`Definition::values`] is.
fn number(function: &Definition, index: u16) -> Option<i128> {
    match function.values[usize::from(index)].value {
        Value::Scalar(Scalar::Signed(number, _)) => Some(number),
        Value::Scalar(Scalar::Unsigned(number, _)) => i128::try_from(number).ok(),
        _ => None,
    }
}
