//! Translates syn's types to the model's. A path that is no type of the language is taken for an alias or a generic
//! parameter: rustc resolves it, or reports that there is no such type.

use proc_macro2::Ident;
use quote::{ToTokens, quote_spanned};
use syn::{PathArguments, Type, TypePath};

use super::Parser;
use super::barrier::barrier_token;
use super::syntax::{const_argument, is_zero, type_argument};
use crate::messages;
use crate::model::barrier::Barrier;
use crate::model::group::Group;
use crate::model::kind::Memory;
use crate::model::name::Meaning;
use crate::model::ty::{self, ParamType, TypeShape, ValueType};
use crate::model::{Role, ValueId};
use crate::source;
use crate::span::SpanRange;

/// The types of shared memory: name, kind, and whether a length follows the element type.
const MEMORIES: [(&str, Memory, bool); 4] = [
    ("SharedArray", Memory::SharedArray, true),
    ("SharedSlice", Memory::SharedSlice, false),
    ("RemoteArray", Memory::RemoteArray, true),
    ("RemoteSlice", Memory::RemoteSlice, false),
];

/// The type of a tensor's map, which only a parameter can have, by reference.
const TENSOR_MAP: &str = "TensorMap";

/// The help for a `char`: what a kernel has in its place.
pub(super) const OF_LETTERS: &str = "text is bytes in a kernel: write `u8`, of which `b'x'` is one; a letter of any alphabet is a `u32`, as `'x' as u32`";

/// What a kernel has in place of a number with operators of its own.
pub(super) fn help_for_number(name: &Ident) -> &'static str {
    match name == "Wrapping" {
        true => {
            "write the number itself: the arithmetic of kernels wraps, also in a device function that the host calls"
        }
        false => "write the number itself, and `saturating_add`, `saturating_sub` and `saturating_mul`",
    }
}

impl Parser<'_> {
    /// Parses the type of a value: a scalar, an array, an alias, a token.
    pub(super) fn value_type(&mut self, ty: &Type) -> Option<ValueType> {
        let shape = self.shape(ty)?;
        let at = SpanRange::of(ty).lo;
        // The token has a full path, so that rustc refuses another type that has a group's name.
        let token = |group: &Group| {
            let group = Ident::new(group.rust_name(), at);
            quote_spanned!(at=> ::phalanx::ArrivalToken<::phalanx::#group>)
        };
        let tokens = match &shape {
            TypeShape::BarrierToken(scope) => self.barrier_token_type(ty, *scope),
            TypeShape::Option(inner) => match **inner {
                TypeShape::BarrierToken(scope) => {
                    let token = self.barrier_token_type(ty, scope);
                    quote_spanned!(at=> ::core::option::Option<#token>)
                }
                _ => ty.to_token_stream(),
            },
            TypeShape::Token(group) => token(group),
            TypeShape::OptionalToken(group) => {
                let token = token(group);
                quote_spanned!(at=> ::core::option::Option<#token>)
            }
            TypeShape::Scalar(..) | TypeShape::Array(..) | TypeShape::Named(_) | TypeShape::Tuple(_) => {
                ty.to_token_stream()
            }
        };
        Some(ValueType { shape, tokens })
    }

    /// Parses the type of a cast. The checks take what it does to a number from the name of the type.
    pub(super) fn cast_type(&mut self, ty: &Type) -> Option<ValueType> {
        let cast = self.value_type(ty)?;
        self.claim_scalar(ty, &cast, Meaning::Cast);
        Some(cast)
    }

    /// Parses the type of the elements of memory whose place in bytes the checks compare.
    pub(super) fn element_type(&mut self, ty: &Type) -> Option<ValueType> {
        let element = self.value_type(ty)?;
        self.claim_scalar(ty, &element, Meaning::Element);
        Some(element)
    }

    fn claim_scalar(&mut self, ty: &Type, of: &ValueType, meaning: fn(&'static str) -> Meaning) {
        if let (Type::Path(path), TypeShape::Scalar(scalar, _)) = (stripped(ty), &of.shape) {
            self.claim(&path.path, meaning(scalar));
        }
    }

    fn shape(&mut self, ty: &Type) -> Option<TypeShape> {
        match stripped(ty) {
            Type::Array(array) => {
                let element = self.part(&array.elem, "an array")?;
                if is_zero(&array.len) {
                    self.diags.push(messages::no_elements_in_array(SpanRange::of(array)));
                    return None;
                }
                let length = self.length(&array.len);
                Some(TypeShape::Array(Box::new(element), length))
            }
            Type::Path(path) => self.path_shape(path),
            Type::Tuple(tuple) if !tuple.elems.is_empty() => {
                let elements = tuple.elems.iter().map(|element| self.part(element, "a tuple"));
                Some(TypeShape::Tuple(elements.collect::<Option<_>>()?))
            }
            _ => {
                let at = SpanRange::of(ty);
                self.diags.push(match help(ty) {
                    Some(help) => messages::unsupported_type_with(at, help),
                    None => messages::unsupported_type(at),
                });
                None
            }
        }
    }

    /// Parses the type of a part of `whole`, which cannot be a token.
    fn part(&mut self, ty: &Type, whole: &str) -> Option<TypeShape> {
        match self.shape(ty)? {
            shape if holds_token(&shape) => {
                self.diags.push(messages::token_escapes(SpanRange::of(ty), whole));
                None
            }
            shape => Some(shape),
        }
    }

    /// Makes a constant of the text of an array's length.
    pub(super) fn length(&mut self, length: &syn::Expr) -> ValueId {
        self.length_hole(length.to_token_stream())
    }

    fn path_shape(&mut self, path: &TypePath) -> Option<TypeShape> {
        let at = SpanRange::of(path);
        let last = path.path.segments.last()?;
        if let Some(scalar) = name_of_primitive(&path.path).and_then(|name| ty::scalar(&name.to_string()))
            && !self.function.generics.names_one_of(&path.to_token_stream())
        {
            return Some(TypeShape::Scalar(scalar, self.type_name(path.to_token_stream())));
        }
        let nothing =
            type_argument(&last.arguments, 0).filter(|of| matches!(of, Type::Tuple(of) if of.elems.is_empty()));
        if let (Some(nothing), true) = (nothing, last.ident == "Option") {
            self.diags.push(messages::unsupported_type_with(SpanRange::of(nothing), NOTHING));
            return None;
        }
        // These need arguments: without any, it is a type of the user's by the same name, as `type Tile = [[f32; 32]; 8];`.
        let mut generic = MEMORIES.iter().map(|(memory, ..)| *memory).chain(["Tile", TENSOR_MAP]);
        let is_own = last.arguments.is_none() && generic.any(|generic| last.ident == generic);
        let known = if is_own { None } else { self.known_type(path) };
        let Some(name) = known else { return self.other_type(path) };
        let of_place = MEMORIES.iter().any(|(memory, ..)| *memory == name) || Barrier::by_name(name).is_some();
        if Group::by_name(name).is_some() || of_place || name == TENSOR_MAP {
            self.diags.push(messages::group_by_value(at, name));
            return None;
        }
        match name {
            "ArrivalToken" => match self.token_group(path) {
                Some(group) => Some(TypeShape::Token(group)),
                None if self.is_barrier_token(path) => self.barrier_token_shape(path),
                None => {
                    self.diags.push(messages::turbofish(
                        at,
                        "ArrivalToken",
                        "ArrivalToken<Cluster>` or `ArrivalToken<ThreadBlock>",
                    ));
                    None
                }
            },
            "Option" => match type_argument(&last.arguments, 0) {
                Some(inner) => match self.shape(inner)? {
                    TypeShape::Token(group) => Some(TypeShape::OptionalToken(group)),
                    TypeShape::OptionalToken(_) => {
                        self.diags.push(messages::token_escapes(at, "an `Option` of an `Option`"));
                        None
                    }
                    shape @ (TypeShape::Scalar(..)
                    | TypeShape::Array(..)
                    | TypeShape::Named(_)
                    | TypeShape::Tuple(_)
                    | TypeShape::BarrierToken(_)
                    | TypeShape::Option(_)) => Some(TypeShape::Option(Box::new(shape))),
                },
                None => {
                    self.diags.push(messages::unsupported_type(at));
                    None
                }
            },
            _ => self.other_type(path),
        }
    }

    /// Parses a type that is not the language's own.
    fn other_type(&mut self, path: &TypePath) -> Option<TypeShape> {
        let last = path.path.segments.last()?;
        let help = match (last.ident.to_string().as_str(), &last.arguments) {
            // A type of the user's may have these names too.
            ("Vec" | "Box" | "Rc" | "Arc", PathArguments::AngleBracketed(_)) | ("String", PathArguments::None) => {
                "kernels cannot allocate: take a slice, or keep an array `[T; N]`"
            }
            ("str", _) => "text is bytes in a kernel: take a `&[u8]`",
            ("char", _) => OF_LETTERS,
            ("Wrapping" | "Saturating", PathArguments::AngleBracketed(_)) if self.is_of_rust(&last.ident) => {
                help_for_number(&last.ident)
            }
            _ => return Some(TypeShape::Named(self.type_name(path.to_token_stream()))),
        };
        match ["Wrapping", "Saturating", "char"].iter().any(|name| last.ident == name) {
            true => self.report_type(SpanRange::of(path), help),
            false => self.diags.push(messages::unsupported_type_with(SpanRange::of(path), help)),
        }
        None
    }

    /// Whether a type of this name is one of Rust's, as far as the file shows.
    pub(super) fn is_of_rust(&self, name: &Ident) -> bool {
        !self.file().is_some_and(|file| source::defines_type(file, &name.to_string()))
    }

    fn is_barrier_token(&mut self, token: &TypePath) -> bool {
        barrier_token(token).is_some_and(|(_, of)| self.known_type(of).is_some())
    }

    fn token_group(&mut self, path: &TypePath) -> Option<Group> {
        let last = path.path.segments.last()?;
        match type_argument(&last.arguments, 0)? {
            Type::Path(group) => Group::by_name(self.known_type(group)?).filter(|group| group.has_split_barrier()),
            _ => None,
        }
    }

    pub(super) fn parameter_type(&mut self, ty: &Type) -> Option<ParamType> {
        let Type::Reference(reference) = ty else {
            if let Type::ImplTrait(closure) = ty {
                return self.closure_type(closure);
            }
            if let Type::Path(path) = ty
                && self.known_type(path).is_some_and(|name| Barrier::by_name(name).is_some())
            {
                return self.barrier_parameter(path, false);
            }
            if let Type::Path(path) = ty
                && let Some(memory) = self.memory_parameter(path, false)
                && matches!(memory, ParamType::Memory { memory: Memory::RemoteArray | Memory::RemoteSlice, .. })
            {
                return Some(memory);
            }
            if let Type::Path(path) = ty
                && let Some((mutable, element)) = optional_slice(path)
                && self.known_type(path).is_some()
            {
                if !matches!(self.function.role, Role::Kernel) {
                    self.diags.push(messages::optional_slice(SpanRange::of(ty)));
                    return None;
                }
                return Some(ParamType::OptionalSlice { mutable, element: self.value_type(element)? });
            }
            return self.value_type(ty).map(ParamType::Value);
        };
        // That of a parameter is reported where it is declared.
        if let Some(lifetime) = reference.lifetime.as_ref().filter(|of| self.reported_types.insert(of.to_string())) {
            self.diags.push(messages::lifetime_parameter(SpanRange::of(lifetime)));
        }
        let mutable = reference.mutability.is_some();
        match &*reference.elem {
            Type::Slice(slice) => Some(ParamType::Slice { mutable, element: self.value_type(&slice.elem)? }),
            Type::Path(path) => {
                let name = self.known_type(path).unwrap_or_default();
                match Group::by_name(name) {
                    Some(Group::Tile) => return self.tile_parameter(path),
                    Some(group) => return Some(ParamType::Group(group)),
                    None => {}
                }
                if Barrier::by_name(name).is_some() {
                    return self.barrier_parameter(path, true);
                }
                if let Some(memory) = self.memory_parameter(path, true) {
                    return Some(memory);
                }
                if name == TENSOR_MAP {
                    return self.tensor_map_parameter(path, mutable);
                }
                self.reference_to_value(&reference.elem, mutable)
            }
            target => self.reference_to_value(target, mutable),
        }
    }

    fn reference_to_value(&mut self, ty: &Type, mutable: bool) -> Option<ParamType> {
        let target = self.value_type(ty)?;
        if holds_token(&target.shape) {
            self.diags.push(messages::token_escapes(SpanRange::of(ty), "a reference"));
            return None;
        }
        Some(ParamType::Reference { mutable, target })
    }

    /// Parses `&Tile<N>`.
    fn tile_parameter(&mut self, path: &TypePath) -> Option<ParamType> {
        let last = path.path.segments.last()?;
        let missing = |at| messages::turbofish(at, "&Tile", "&Tile<32>");
        let size = self.tile_size(&last.arguments, missing, SpanRange::of(path))?;
        let tokens = const_argument(&last.arguments, 0)?;
        Some(ParamType::Tile { size, tokens })
    }

    /// Parses `&TensorMap<Tile>` or `&mut TensorMap<Tile>`.
    fn tensor_map_parameter(&mut self, path: &TypePath, mutable: bool) -> Option<ParamType> {
        let last = path.path.segments.last()?;
        let Some(tile) = type_argument(&last.arguments, 0) else {
            let form = "&TensorMap<[Swizzled<bf16, 64>; 128]>";
            self.diags.push(messages::turbofish(SpanRange::of(path), TENSOR_MAP, form));
            return None;
        };
        Some(ParamType::TensorMap { mutable, tile: self.value_type(tile)? })
    }

    fn memory_parameter(&mut self, path: &TypePath, by_reference: bool) -> Option<ParamType> {
        let last = path.path.segments.last()?;
        let name = self.known_type(path)?;
        let (_, memory, has_length) = *MEMORIES.iter().find(|(memory, ..)| *memory == name)?;
        let element = self.value_type(type_argument(&last.arguments, 0)?)?;
        let length = if has_length { Some(self.length_argument(&last.arguments, 1)?) } else { None };
        Some(ParamType::Memory { memory, element, length, by_reference, tokens: path.to_token_stream() })
    }

    /// Parses the generic argument at `index` as a length: `N`, `256`, `{ A * B }`.
    pub(super) fn length_argument(&mut self, arguments: &PathArguments, index: usize) -> Option<ValueId> {
        const_argument(arguments, index).map(|length| self.length_hole(length))
    }
}

/// Returns the last name of a path that may be that of a scalar: `u32`, `::core::primitive::u32`.
fn name_of_primitive(path: &syn::Path) -> Option<&Ident> {
    let names: Vec<&Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
    match names[..] {
        [name] => path.get_ident().map(|_| name),
        [library, module, name] => ((library == "core" || library == "std") && module == "primitive").then_some(name),
        _ => None,
    }
}

/// Returns the type inside parentheses and the groups of `macro_rules!`.
fn stripped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => stripped(&group.elem),
        Type::Paren(paren) => stripped(&paren.elem),
        ty => ty,
    }
}

/// Whether it is an arrival token, or an `Option` of one.
pub(super) fn holds_token(shape: &TypeShape) -> bool {
    match shape {
        TypeShape::Token(_) | TypeShape::OptionalToken(_) | TypeShape::BarrierToken(_) => true,
        TypeShape::Option(inner) => holds_token(inner),
        TypeShape::Scalar(..) | TypeShape::Array(..) | TypeShape::Named(_) | TypeShape::Tuple(_) => false,
    }
}

/// What to write in place of `Option<()>`.
const NOTHING: &str = "an `Option` holds a value: return a `bool`, or `Result<(), Fault>`";

/// Returns what to write in place of a type that kernels do not have.
fn help(ty: &Type) -> Option<&'static str> {
    match ty {
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => Some("text is bytes in a kernel: take a `&[u8]`"),
            _ => Some("only parameters can be references: elsewhere keep the value, or an index"),
        },
        Type::Slice(_) => Some("take a slice by reference: `&[T]` or `&mut [T]`"),
        Type::Ptr(_) => Some("take a slice and an index in place of a pointer"),
        Type::FnPtr(_) => Some("take a closure: `impl Fn(A) -> B`"),
        Type::TraitObject(_) | Type::ImplTrait(_) => Some("write the type, or a type parameter: `<T: Trait>`"),
        Type::Infer(_) => Some("write the type"),
        Type::Tuple(_) => Some("remove it: it holds no value"),
        _ => None,
    }
}

/// Returns whether an `Option<&[T]>` or `Option<&mut [T]>` is mutable, and its element type.
fn optional_slice(path: &TypePath) -> Option<(bool, &Type)> {
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let Type::Reference(reference) = type_argument(&last.arguments, 0)? else { return None };
    let Type::Slice(slice) = &*reference.elem else { return None };
    Some((reference.mutability.is_some(), &slice.elem))
}
