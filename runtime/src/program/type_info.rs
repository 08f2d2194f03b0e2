//! Describes a type for the text: its spelling in C++, and its definition if its `DeviceCopy` is derived. `name` names
//! user-defined types.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use crate::scalar::Scalar;

/// A type that has a C++ spelling.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeInfo {
    /// The type's spelling.
    pub name: TypeName,
    /// The size in bytes, the same on both sides.
    pub size: usize,
    /// The alignment in bytes, the same on both sides.
    pub align: usize,
}

/// The spelling of a type in C++.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeName {
    /// A type of the prelude, which every text includes: `u32`.
    Prelude(&'static str),
    /// An instance of a template of the prelude: `local_array<f32, 4>`. If it has a short name, there are no arguments:
    /// `f32x4`.
    Template {
        /// The template's name: `local_array`.
        name: &'static str,
        /// The header that declares the template: `memory.cuh`.
        header: &'static str,
        /// The arguments in its angle brackets.
        arguments: Vec<TypeArgument>,
    },
    /// A user-defined type, which the text defines.
    User(Arc<UserType>),
}

/// An argument of a template, or of a user-defined generic type.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeArgument {
    /// The argument is a type.
    Type(TypeInfo),
    /// The argument is a constant: a length.
    Value(Scalar),
}

/// A type with `#[derive(DeviceCopy)]`; if it is generic, one instance of it.
#[derive(Debug, PartialEq)]
pub struct UserType {
    /// The type's identity.
    pub id: TypeId,
    /// The name in Rust, without its path and generic arguments.
    pub name: &'static str,
    /// The `module_path!()` of the definition.
    pub module: &'static str,
    /// The generic arguments.
    pub arguments: Vec<TypeArgument>,
    /// The alignment in bytes.
    pub align: usize,
    /// The contents of the type.
    pub content: Content,
    /// Whether the text defines `==`, which an enum has in C++ without that.
    pub is_compared: bool,
    /// Whether it defines `<` and the like, too.
    pub is_ordered: bool,
    /// Whether they are those of its field, the other way round.
    pub is_reversed: bool,
}

/// The contents of a user-defined type. Names are those of C++.
#[derive(Debug, PartialEq)]
pub enum Content {
    /// The fields of a struct, in the order of declaration, without padding.
    Fields(Vec<Field>),
    /// The variants of an enum with fields, which is no plain data: a value of it has a number of the variant, and the fields of each.
    Cases(Vec<Case>),
    /// The variants of an enum.
    Variants {
        /// The type of the enum's values.
        raw: TypeInfo,
        /// The variants with their values.
        list: Vec<(&'static str, i128)>,
    },
}

/// A variant of an enum with fields.
#[derive(Debug, PartialEq)]
pub struct Case {
    /// The name in C++.
    pub name: &'static str,
    /// Its fields. They have no place in memory.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// The name in C++.
    pub name: &'static str,
    /// The offset in bytes, the same on both sides.
    pub offset: usize,
    /// The field's type.
    pub ty: TypeInfo,
}

impl TypeInfo {
    /// Describes `T`, which the prelude calls `name`.
    pub fn prelude<T>(name: &'static str) -> TypeInfo {
        TypeInfo { name: TypeName::Prelude(name), size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Describes `T`, an instance of the prelude's template `name` in `header`.
    pub fn template<T>(name: &'static str, header: &'static str, arguments: Vec<TypeArgument>) -> TypeInfo {
        TypeInfo { name: TypeName::Template { name, header, arguments }, size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Describes `T`, which the text defines.
    pub fn user<T: 'static>(
        name: &'static str,
        module: &'static str,
        arguments: Vec<TypeArgument>,
        content: Content,
    ) -> TypeInfo {
        TypeInfo::user_with::<T>(name, module, arguments, content, [false; 2])
    }

    /// Returns the description of a user-defined type, of which the text may define `==`, and `<` and the like.
    pub(super) fn user_with<T: 'static>(
        name: &'static str,
        module: &'static str,
        arguments: Vec<TypeArgument>,
        content: Content,
        [is_compared, is_ordered]: [bool; 2],
    ) -> TypeInfo {
        let (id, align) = (TypeId::of::<T>(), align_of::<T>());
        let is_reversed = false;
        let user = UserType { id, name, module, arguments, align, content, is_compared, is_ordered, is_reversed };
        TypeInfo { name: TypeName::User(Arc::new(user)), size: size_of::<T>(), align: align_of::<T>() }
    }

    /// Describes Rust's `Reverse` of a type.
    pub(super) fn reversed<T: 'static>(of: TypeInfo) -> TypeInfo {
        let (size, align) = (of.size, of.align);
        let user = UserType {
            id: TypeId::of::<T>(),
            name: "Reverse",
            module: "core::cmp",
            arguments: vec![TypeArgument::Type(of.clone())],
            align,
            content: Content::Fields(vec![Field { name: "_0", offset: 0, ty: of }]),
            is_compared: true,
            is_ordered: true,
            is_reversed: true,
        };
        TypeInfo { name: TypeName::User(Arc::new(user)), size, align }
    }

    /// Returns the fields of a struct, or of a variant of an enum, that a literal has.
    pub(super) fn fields(&self, variant: &str) -> &[Field] {
        let TypeName::User(user) = &self.name else { unreachable!("a literal of {self}") };
        match &user.content {
            Content::Fields(fields) if variant.is_empty() => fields,
            Content::Cases(cases) => match cases.iter().find(|case| case.name == variant) {
                Some(case) => &case.fields,
                None => panic!(
                    "write a variant of `{self}` with the enum's name before it, or import it in the kernel's file"
                ),
            },
            Content::Fields(_) | Content::Variants { .. } => unreachable!("a literal of {self}"),
        }
    }

    /// Returns the contents of a type that the text defines, and whether it is compared.
    pub(super) fn user_type(&self) -> Option<&UserType> {
        match &self.name {
            TypeName::User(user) => Some(user),
            TypeName::Prelude(_) | TypeName::Template { .. } => None,
        }
    }

    /// Returns the size and alignment in C++, where the parts of a tuple lie in their order.
    pub(super) fn in_cuda(&self) -> (usize, usize) {
        match &self.name {
            TypeName::Template { name: "tuple", arguments, .. } => {
                in_order(arguments.iter().filter_map(|argument| match argument {
                    TypeArgument::Type(ty) => Some(ty.in_cuda()),
                    TypeArgument::Value(_) => None,
                }))
            }
            TypeName::Template { name: "local_array", arguments, .. } => match &arguments[..] {
                [TypeArgument::Type(element), TypeArgument::Value(Scalar::Unsigned(length, _))] => {
                    let (size, align) = element.in_cuda();
                    (size * *length as usize, align)
                }
                _ => (self.size, self.align),
            },
            TypeName::User(user) => match &user.content {
                // The number comes first, then the fields of each variant. An empty struct has a byte.
                Content::Cases(cases) => in_order([(4, 4)].into_iter().chain(cases.iter().map(|case| {
                    let (size, align) = in_order(case.fields.iter().map(|field| field.ty.in_cuda()));
                    (size.max(1), align)
                }))),
                Content::Fields(_) | Content::Variants { .. } => (self.size, self.align),
            },
            TypeName::Prelude(_) | TypeName::Template { .. } => (self.size, self.align),
        }
    }

    /// Returns whether the type is an array or contains one.
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
                Content::Cases(cases) => cases.iter().flat_map(|case| &case.fields).any(|field| field.ty.has_array()),
                Content::Variants { .. } => false,
            },
        }
    }
}

/// Returns the size and alignment of a value whose parts lie in their order.
fn in_order(parts: impl IntoIterator<Item = (usize, usize)>) -> (usize, usize) {
    let place = |(end, most): (usize, usize), (size, align): (usize, usize)| {
        (end.next_multiple_of(align) + size, most.max(align))
    };
    let (end, align) = parts.into_iter().fold((0, 1), place);
    (end.next_multiple_of(align), align)
}

impl UserType {
    /// Returns the name with those of its generic arguments: `Pair_f32`.
    pub(super) fn readable_name(&self) -> String {
        let mut name = self.name.to_string();
        self.arguments.iter().for_each(|argument| name += &format!("_{}", word(argument)));
        name
    }
}

/// Returns an argument as part of a name.
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

/// Prints the type's name in one word, for messages.
impl fmt::Display for TypeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            TypeName::Prelude(name) => f.write_str(name),
            TypeName::User(user) => f.write_str(&user.readable_name()),
            TypeName::Template { .. } => f.write_str(&word(&TypeArgument::Type(self.clone()))),
        }
    }
}
