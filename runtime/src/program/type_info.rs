//! The description of a type for the text: its spelling in C++, and the definition of one with a derived `DeviceCopy`.
//! `assemble` names user-defined types.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::scalar::Scalar;

/// A type that has a C++ spelling.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeInfo {
    /// How it is spelled.
    pub name: TypeName,
    /// Size in bytes, the same on both sides.
    pub size: usize,
    /// Alignment in bytes, the same on both sides.
    pub align: usize,
}

/// How a type is spelled in C++.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeName {
    /// A type of the prelude, which every text includes: `u32`.
    Prelude(&'static str),
    /// An instance of a template of the prelude: `local_array<f32, 4>`. Of one that has a short name, without arguments:
    /// `f32x4`.
    Template {
        /// `local_array`
        name: &'static str,
        /// The header that declares it: `memory.cuh`.
        header: &'static str,
        /// What stands in its angle brackets.
        arguments: Vec<TypeArgument>,
    },
    /// A user's, which the text defines.
    User(Arc<UserType>),
}

/// An argument of a template, or of a user's generic type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeArgument {
    /// A type.
    Type(TypeInfo),
    /// A constant: a length.
    Value(Scalar),
}

/// A type with `#[derive(DeviceCopy)]`, one instance of it where it is generic.
#[derive(Debug, PartialEq)]
pub struct UserType {
    /// Tells types apart.
    pub id: TypeId,
    /// In Rust, without its path and generic arguments.
    pub name: &'static str,
    /// `module_path!()` where it is defined.
    pub module: &'static str,
    /// Its generic arguments.
    pub arguments: Vec<TypeArgument>,
    /// In bytes.
    pub align: usize,
    /// What is in it.
    pub content: Content,
}

/// What a user's type is made of. Names are C++'s.
#[derive(Debug, PartialEq)]
pub enum Content {
    /// Of a struct, in the order of declaration, without padding.
    Fields(Vec<Field>),
    /// Of an enum.
    Variants {
        /// The type of its values.
        raw: TypeInfo,
        /// Each with its value.
        list: Vec<(&'static str, i128)>,
    },
}

/// A field of a struct.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// In C++.
    pub name: &'static str,
    /// In bytes, the same on both sides.
    pub offset: usize,
    /// What it holds.
    pub ty: TypeInfo,
}

impl TypeInfo {
    /// `T`, which the prelude calls `name`.
    pub fn prelude<T>(name: &'static str) -> TypeInfo {
        TypeInfo { name: TypeName::Prelude(name), size: size_of::<T>(), align: align_of::<T>() }
    }

    /// `T`, an instance of the prelude's template `name` in `header`.
    pub fn template<T>(name: &'static str, header: &'static str, arguments: Vec<TypeArgument>) -> TypeInfo {
        TypeInfo { name: TypeName::Template { name, header, arguments }, size: size_of::<T>(), align: align_of::<T>() }
    }

    /// `T`, which the text defines.
    pub fn user<T: 'static>(
        name: &'static str,
        module: &'static str,
        arguments: Vec<TypeArgument>,
        content: Content,
    ) -> TypeInfo {
        let user = UserType { id: TypeId::of::<T>(), name, module, arguments, align: align_of::<T>(), content };
        TypeInfo { name: TypeName::User(Arc::new(user)), size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Its size and alignment in C++, where the parts of a tuple lie in their order.
    pub(super) fn in_cuda(&self) -> (usize, usize) {
        match &self.name {
            TypeName::Template { name: "tuple", arguments, .. } => {
                let parts = arguments.iter().filter_map(|argument| match argument {
                    TypeArgument::Type(ty) => Some(ty.in_cuda()),
                    TypeArgument::Value(_) => None,
                });
                let place = |(end, most): (usize, usize), (size, align): (usize, usize)| {
                    (end.next_multiple_of(align) + size, most.max(align))
                };
                let (end, align) = parts.fold((0, 1), place);
                (end.next_multiple_of(align), align)
            }
            TypeName::Template { name: "local_array", arguments, .. } => match &arguments[..] {
                [TypeArgument::Type(element), TypeArgument::Value(Scalar::Unsigned(length, _))] => {
                    let (size, align) = element.in_cuda();
                    (size * *length as usize, align)
                }
                _ => (self.size, self.align),
            },
            TypeName::Prelude(_) | TypeName::Template { .. } | TypeName::User(_) => (self.size, self.align),
        }
    }

    /// Whether it is an array, or has one in it.
    pub(super) fn has_array(&self) -> bool {
        match &self.name {
            TypeName::Prelude(_) => false,
            TypeName::Template { name: "local_array", .. } => true,
            TypeName::Template { arguments, .. } => arguments.iter().any(|argument| match argument {
                TypeArgument::Type(ty) => ty.has_array(),
                TypeArgument::Value(_) => false,
            }),
            TypeName::User(user) => match &user.content {
                Content::Fields(fields) => fields.iter().any(|field| field.ty.has_array()),
                Content::Variants { .. } => false,
            },
        }
    }
}

impl UserType {
    /// Its name with those of its generic arguments: `Pair_f32`.
    pub(super) fn readable_name(&self) -> String {
        let mut name = self.name.to_string();
        self.arguments.iter().for_each(|argument| name += &format!("_{}", word(argument)));
        name
    }
}

/// An argument as a part of a name.
fn word(argument: &TypeArgument) -> String {
    match argument {
        TypeArgument::Value(value) => value.to_string().replace('-', "minus_"),
        TypeArgument::Type(ty) => match &ty.name {
            TypeName::Prelude(name) => name.to_string(),
            TypeName::User(user) => user.readable_name(),
            TypeName::Template { name, arguments, .. } => {
                [name.to_string()].into_iter().chain(arguments.iter().map(word)).collect::<Vec<_>>().join("_")
            }
        },
    }
}

/// Its name in one word, for messages.
impl fmt::Display for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            TypeName::Prelude(name) => f.write_str(name),
            TypeName::User(user) => f.write_str(&user.readable_name()),
            TypeName::Template { .. } => f.write_str(&word(&TypeArgument::Type(self.clone()))),
        }
    }
}
