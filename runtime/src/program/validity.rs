//! Tells which bytes are values of a type: every pattern is one of a number, but not of a `bool` or an enum. What a GPU
//! wrote is checked before it becomes a value, because a `cuda!` or a race may have left any bytes there.

use super::type_info::{Content, Field, TypeArgument, TypeInfo, TypeName};
use crate::program::types::DeviceType;

/// The condition that the bytes of a type meet if they are a value of it. Types without one have no `Validity`.
#[derive(Debug)]
enum Validity {
    /// The bytes are one of these patterns.
    OneOf(Vec<Box<[u8]>>),
    /// The parts at these offsets, of these sizes, are values.
    Parts(Vec<(usize, usize, Validity)>),
    /// Each element of this size is a value.
    Elements(usize, Box<Validity>),
}

impl Validity {
    /// Returns the condition for a type of device memory; `None` if all patterns are values.
    fn of(ty: &TypeInfo) -> Option<Validity> {
        match &ty.name {
            TypeName::Prelude("bool") => Some(Validity::OneOf(vec![[0].into(), [1].into()])),
            TypeName::Prelude(_) => None,
            TypeName::Template { name: "local_array" | "vector", arguments, .. } => {
                arguments.iter().find_map(|argument| match argument {
                    TypeArgument::Type(element) => {
                        Some(Validity::Elements(element.size.max(1), Box::new(Validity::of(element)?)))
                    }
                    TypeArgument::Value(_) => None,
                })
            }
            // Vectors of numbers, which have a short name. No other template is of device memory.
            TypeName::Template { .. } => None,
            TypeName::User(user) => match &user.content {
                Content::Fields(fields) => {
                    let part = |field: &Field| Some((field.offset, field.ty.size, Validity::of(&field.ty)?));
                    let parts: Vec<_> = fields.iter().filter_map(part).collect();
                    (!parts.is_empty()).then_some(Validity::Parts(parts))
                }
                // It is not kept in memory.
                Content::Cases(_) => None,
                Content::Variants { raw, list } => {
                    let bytes = |value: &i128| value.to_le_bytes()[..raw.size].into();
                    Some(Validity::OneOf(list.iter().map(|(_, value)| bytes(value)).collect()))
                }
            },
        }
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        match self {
            Validity::OneOf(patterns) => patterns.iter().any(|pattern| **pattern == *bytes),
            Validity::Parts(parts) => parts.iter().all(|(at, size, part)| part.holds(&bytes[*at..at + size])),
            Validity::Elements(size, element) => bytes.chunks(*size).all(|bytes| element.holds(bytes)),
        }
    }
}

/// Returns whether every pattern of bytes is a value of `T`.
pub(crate) fn any_bits<T: DeviceType>() -> bool {
    Validity::of(&T::info()).is_none()
}

/// Returns the index of the first of the elements in `bytes` that is no value of `T`.
pub(crate) fn first_invalid<T: DeviceType>(bytes: &[u8]) -> Option<usize> {
    let validity = Validity::of(&T::info())?;
    bytes.chunks(size_of::<T>().max(1)).position(|element| !validity.holds(element))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceCopy, Vector};

    #[derive(Debug, Clone, Copy, PartialEq, DeviceCopy)]
    #[repr(i16)]
    enum Sign {
        Minus = -1,
        None = 0,
        Plus = 256,
    }

    #[derive(Debug, Clone, Copy, PartialEq, DeviceCopy)]
    #[repr(C)]
    struct Cell<T> {
        weight: u32,
        flags: [bool; 2],
        value: T,
    }

    #[test]
    fn every_pattern_is_a_number() {
        assert!(any_bits::<u8>() && any_bits::<[f32; 4]>() && any_bits::<half::f16>());
        assert_eq!(first_invalid::<u8>(&[0, 2, 255]), None);
    }

    #[test]
    fn a_truth_value_is_zero_or_one() {
        assert!(!any_bits::<bool>() && !any_bits::<[[bool; 2]; 2]>() && !any_bits::<Vector<bool, 4>>());
        assert_eq!(first_invalid::<bool>(&[0, 1, 1]), None);
        assert_eq!(first_invalid::<bool>(&[0, 1, 2]), Some(2));
        assert_eq!(first_invalid::<[bool; 2]>(&[0, 1, 1, 255]), Some(1));
    }

    #[test]
    fn an_enum_is_one_of_its_variants() {
        let bytes = |values: [i16; 3]| values.map(i16::to_ne_bytes).concat();
        assert_eq!(first_invalid::<Sign>(&bytes([-1, 0, 256])), None);
        assert_eq!(first_invalid::<Sign>(&bytes([-1, 255, 0])), Some(1), "only one of its bytes differs");
    }

    #[test]
    fn a_struct_is_its_fields() {
        assert_eq!(first_invalid::<Cell<u16>>(&[9, 9, 9, 9, 1, 0, 9, 9]), None);
        assert_eq!(first_invalid::<Cell<u16>>(&[9, 9, 9, 9, 1, 3, 9, 9]), Some(0));
        assert_eq!(first_invalid::<Cell<Sign>>(&[9, 9, 9, 9, 1, 0, 0, 0, 9, 9, 9, 9, 1, 0, 1, 0]), Some(1));
    }
}
