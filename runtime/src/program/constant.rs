//! The constants of the Rust program that bodies name, as data and as C++ initializers. `constants` decides where they
//! are declared.

use super::literal;
use super::type_info::{Field, TypeArgument, TypeInfo, TypeName};
use crate::scalar::Scalar;

/// A constant with its type.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The constant's type.
    pub ty: TypeInfo,
    /// The constant's value.
    pub value: Value,
    /// Whether the threads of a warp may read different elements of it at once.
    pub scattered: bool,
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number or truth value.
    Scalar(Scalar),
    /// A variant of an enum, by its C++ name.
    Variant(&'static str),
    /// The fields of a struct or a tuple, in the order of declaration.
    Fields(Vec<Value>),
    /// A variant of an enum with fields, by its C++ name, and its number among them, with the values of its fields.
    Case(&'static str, u32, Vec<Value>),
    /// The elements of an array.
    Elements(Vec<Value>),
}

impl Constant {
    /// Returns the same constant, of which the threads of a warp may read different elements at once.
    pub fn scattered(self) -> Constant {
        Constant { scattered: true, ..self }
    }

    /// Returns the value as a standalone expression with its type: `u32(5)`, `Point{.x = 1.0f}`. `spell` names types.
    pub(super) fn expression(&self, spell: &impl Fn(&TypeInfo) -> String) -> String {
        match &self.value {
            Value::Scalar(value) => literal::value(*value),
            Value::Variant(name) => format!("{}::{name}", spell(&self.ty)),
            Value::Fields(_) | Value::Case(..) | Value::Elements(_) => {
                format!("{}{}", spell(&self.ty), self.initializer(spell))
            }
        }
    }

    /// Returns the value as an initializer where the type is known: `5`, `{.x = 1.0f}`.
    pub(super) fn initializer(&self, spell: &impl Fn(&TypeInfo) -> String) -> String {
        let mut out = String::new();
        initializer(&self.ty, &self.value, spell, &mut out);
        out
    }

    /// Returns whether the value is a number that lies in an interval.
    pub(super) fn is_within(&self, least: u64, most: u64) -> bool {
        matches!(self.value, Value::Scalar(Scalar::Unsigned(number, _)) if (u128::from(least)..=u128::from(most)).contains(&number))
    }

    /// Returns the value as C++ requires it for a constant expression: a template argument, an array's extent.
    pub(super) fn digits(&self) -> String {
        match &self.value {
            Value::Scalar(value) => literal::digits(*value),
            // Only lengths are requested, and those are numbers.
            Value::Variant(_) | Value::Fields(_) | Value::Case(..) | Value::Elements(_) => "0".into(),
        }
    }
}

fn initializer(ty: &TypeInfo, value: &Value, spell: &impl Fn(&TypeInfo) -> String, out: &mut String) {
    match (value, &ty.name) {
        (Value::Scalar(value), _) => *out += &literal::beside(*value),
        (Value::Variant(name), _) => *out += &format!("{}::{name}", spell(ty)),
        (Value::Fields(values), TypeName::User(_)) => named(ty.fields(""), values, spell, out),
        // The fields of the others are zeros, which nothing reads.
        (Value::Case(variant, number, values), _) => {
            *out += &format!("{{.variant = {number}");
            if !values.is_empty() {
                *out += &format!(", .as_{variant} = ");
                named(ty.fields(variant), values, spell, out);
            }
            *out += "}";
        }
        // The value is a tuple.
        (Value::Fields(values), TypeName::Template { arguments, .. }) => {
            for (index, (argument, value)) in arguments.iter().zip(values).enumerate() {
                *out += if index == 0 { "{" } else { ", " };
                if let TypeArgument::Type(ty) = argument {
                    initializer(ty, value, spell, out);
                }
            }
            *out += "}";
        }
        (Value::Elements(values), TypeName::Template { arguments, .. }) => {
            let element = match arguments.first() {
                Some(TypeArgument::Type(element)) => element,
                // A vector has a short name, and its scalars need no type here.
                Some(TypeArgument::Value(_)) | None => ty,
            };
            // The outer braces are those of the `local_array`, the inner ones those of the array in it.
            *out += "{{";
            for (index, value) in values.iter().enumerate() {
                *out += if index == 0 { "" } else { ", " };
                initializer(element, value, spell, out);
            }
            *out += "}}";
        }
        // The trait that creates constants gives each its type.
        (Value::Fields(_) | Value::Elements(_), _) => {}
    }
}

/// Initializes fields by their names: `{.x = 1, .y = 2}`.
fn named(fields: &[Field], values: &[Value], spell: &impl Fn(&TypeInfo) -> String, out: &mut String) {
    for (index, (field, value)) in fields.iter().zip(values).enumerate() {
        *out += &format!("{}.{} = ", if index == 0 { "{" } else { ", " }, field.name);
        initializer(&field.ty, value, spell, out);
    }
    *out += "}";
}
