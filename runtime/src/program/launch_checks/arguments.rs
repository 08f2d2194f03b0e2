//! What a kernel is launched with and functions are called with, as far as the checks need it, and the fields of structs among that.

use crate::program::type_info::{Content, Field, TypeInfo, TypeName};

/// An expression, by its number.
pub(super) type Id = usize;

/// An argument of a call.
#[derive(Debug, Clone)]
pub(super) enum Argument {
    /// A number, or the length of memory.
    Number(Id),
    /// A parameter of the kernel that is memory.
    Memory { length: Id, start: Id },
    /// A struct that is a part of a parameter of the kernel.
    Struct { parameter: usize, offset: usize, ty: TypeInfo },
    /// A struct or a tuple that the program makes: what is known of its fields, and of theirs, by their names.
    Parts(Vec<Part>),
}

/// The arguments of a call; `None` for one of which nothing is known.
pub(super) type Arguments = Vec<Option<Argument>>;

/// A part of a struct that the program makes, by the names of the fields to it.
type Part = (&'static [&'static str], Argument);

/// Returns a field of what has these parts.
pub(super) fn field_of_parts(parts: &[Part], name: &str) -> Argument {
    let inside = parts.iter().filter_map(|(path, part)| {
        let (first, rest) = path.split_first()?;
        (*first == name).then(|| (rest, part.clone()))
    });
    let mut inside: Vec<Part> = inside.collect();
    match inside.iter().position(|(path, _)| path.is_empty()) {
        Some(whole) => inside.swap_remove(whole).1,
        None => Argument::Parts(inside),
    }
}

/// Returns the fields of a struct whose `DeviceCopy` is derived.
pub(super) fn fields(ty: &TypeInfo) -> Option<&[Field]> {
    match &ty.name {
        TypeName::User(user) => match &user.content {
            Content::Fields(fields) => Some(fields),
            Content::Cases(_) | Content::Variants { .. } => None,
        },
        TypeName::Prelude(_) | TypeName::Template { .. } => None,
    }
}
