//! The types of operands, as far as the text shows them: which are numbers, which are values of a user's type, whose operators are functions,
//! and which only rustc knows. The text of the file says which fields a type has. All of it is a guess that rustc confirms: an operator
//! that is taken for one of numbers has numbers for its operands in the host body, or does not compile.

use std::cell::OnceCell;

use super::Parser;
use super::slice_constants;
use super::syntax::strip;
use crate::model::LocalId;
use crate::model::array_functions::makes_array;
use crate::model::expr::{Callee, Expr, ExprKind, LiteralType, Member, Overload};
use crate::model::kind::Kind;
use crate::model::method::ScalarFunction;
use crate::model::op::Op;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty::{ParamType, TypeShape, scalar};
use crate::source;

/// The bounds that only numbers satisfy.
const NUMBERS: [&str; 6] = ["Number", "Float", "Integer", "SignedInteger", "UnsignedInteger", "NarrowFloat"];

/// The type of a value, as far as the text shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TypeHint {
    Integer,
    /// A float, a truth value, or a number of a type that is not known.
    Number,
    /// A type by its name, which may be another name of any type.
    Named(String),
    Array(Box<TypeHint>),
    Tuple(Vec<TypeHint>),
    Unknown,
}

/// The kind of an operand, by its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operand {
    Integer,
    Number,
    /// A value of a type that the file defines.
    User,
    Unknown,
}

/// The text of the file, which is read where it is first asked for.
#[derive(Debug, Default)]
pub(super) struct FileText {
    text: OnceCell<Option<String>>,
    implements_operators: OnceCell<bool>,
}

impl Parser<'_> {
    /// Whether an operator of these operands is a call, as far as the text shows.
    pub(super) fn is_overloaded(&self, left: &Expr, right: &Expr) -> bool {
        let pair = (self.operand(left), self.operand(right));
        match pair {
            (Operand::User, _) | (_, Operand::User) => true,
            (Operand::Unknown, Operand::Unknown | Operand::Number) | (Operand::Number, Operand::Unknown) => {
                !self.diags.session().numbers
            }
            // What is counted with integers is one, as nearly always.
            (Operand::Unknown, Operand::Integer) | (Operand::Integer, Operand::Unknown) => false,
            (Operand::Integer | Operand::Number, Operand::Integer | Operand::Number) => false,
        }
    }

    /// Whether an operator before this operand is a call.
    pub(super) fn is_overloaded_alone(&self, value: &Expr) -> bool {
        match self.operand(value) {
            Operand::User => true,
            Operand::Unknown => !self.diags.session().numbers,
            Operand::Integer | Operand::Number => false,
        }
    }

    /// Whether a value's type is one of the file, which has a method of this name, as far as the text shows: `v.len()` of a vector.
    pub(super) fn has_own_method(&self, value: &Expr, name: &str) -> bool {
        self.operand(value) == Operand::User && self.file().is_some_and(|file| source::has_method(file, name))
    }

    /// Whether it is a method of a type of the file, as the text shows of a variable or a field of one: `self.position.swap(3)`.
    pub(super) fn is_own_method(&self, place: &syn::Expr, name: &str) -> bool {
        self.operand_of(&self.hint_of_place(place)) == Operand::User
            && self.file().is_some_and(|file| source::has_method(file, name))
    }

    pub(super) fn hint_of_place(&self, place: &syn::Expr) -> TypeHint {
        match strip(place) {
            syn::Expr::Path(_) => self.named_local(place).map_or(TypeHint::Unknown, |local| self.hint_of_local(local)),
            syn::Expr::Field(field) => match (self.hint_of_place(&field.base), &field.member) {
                (TypeHint::Named(name), member) => {
                    let member = match member {
                        syn::Member::Named(name) => Member::Named(name.clone()),
                        syn::Member::Unnamed(index) => Member::Unnamed(index.index),
                    };
                    self.hint_of_field(&name, None, &member)
                }
                _ => TypeHint::Unknown,
            },
            syn::Expr::Index(index) => match self.hint_of_place(&index.expr) {
                TypeHint::Array(element) => *element,
                _ => TypeHint::Unknown,
            },
            _ => TypeHint::Unknown,
        }
    }

    /// Returns the number of values that the file's functions of this name take.
    pub(super) fn values_taken(&self, name: &str) -> Option<usize> {
        self.file().and_then(|file| source::values_taken(file, name))
    }

    /// Whether a name is that of a type of the file, and `default` is a function of no device `impl` there.
    pub(super) fn has_default_of_rust(&self, name: &str) -> bool {
        self.file().is_some_and(|file| source::defines_type(file, name) && !source::defines_default(file))
    }

    /// Whether the file's functions of this name take a `&[T]`, or a `&mut [T]`, at this position.
    pub(super) fn takes_slice(&self, name: &str, position: usize, mutable: bool) -> bool {
        self.file().is_some_and(|file| source::takes_slice(file, name, position, mutable))
    }

    /// Whether the type of a place is one of the file, as far as the text shows.
    pub(super) fn is_of_file(&self, place: &syn::Expr) -> bool {
        self.operand_of(&self.hint_of_place(place)) == Operand::User
    }

    /// The type of the file that the closure at a position of a call is given, as far as the file shows it.
    pub(super) fn own_type_given(&self, function: &str, position: usize) -> Option<TypeHint> {
        let ty = self.file().and_then(|file| source::closure_takes(file, function, position))?;
        Some(self.hint_of_type(&ty, 0)).filter(|hint| self.operand_of(hint) == Operand::User)
    }

    pub(super) fn operand(&self, expr: &Expr) -> Operand {
        self.operand_of(&self.hint(expr))
    }

    fn operand_of(&self, shown: &TypeHint) -> Operand {
        match shown {
            TypeHint::Integer => Operand::Integer,
            TypeHint::Number => Operand::Number,
            TypeHint::Named(name) => match self.file().is_some_and(|file| source::defines_type(file, name)) {
                true => Operand::User,
                false => Operand::Unknown,
            },
            // In a file without operators of its own, a value of which nothing is shown is a number, as nearly always.
            TypeHint::Array(_) | TypeHint::Tuple(_) | TypeHint::Unknown if self.implements_operators() => {
                Operand::Unknown
            }
            TypeHint::Array(_) | TypeHint::Tuple(_) | TypeHint::Unknown => Operand::Number,
        }
    }

    fn implements_operators(&self) -> bool {
        let known = &self.file.implements_operators;
        *known.get_or_init(|| self.file().is_some_and(source::implements_operators))
    }

    pub(super) fn file(&self) -> Option<&str> {
        self.file.text.get_or_init(|| source::text(self.function.name.span())).as_deref()
    }

    /// Notes the types of the names that a pattern binds to the parts of a value.
    pub(super) fn hint_parts(&mut self, pattern: &Pattern, shown: &TypeHint) {
        match (&pattern.kind, shown) {
            (PatternKind::Bind { local, sub }, _) => {
                self.hints.insert(*local, shown.clone());
                sub.iter().for_each(|sub| self.hint_parts(sub, shown));
            }
            (PatternKind::Tuple { elements, rest: false }, TypeHint::Tuple(parts)) => {
                elements.iter().zip(parts).for_each(|(element, part)| self.hint_parts(element, part));
            }
            (PatternKind::Array { elements, others, .. }, TypeHint::Array(element)) => {
                elements.iter().for_each(|part| self.hint_parts(part, element));
                others.iter().for_each(|others| self.hint_parts(others, shown));
            }
            (PatternKind::Struct { variant, fields, .. }, TypeHint::Named(name)) => {
                for (member, field) in fields {
                    let shown = self.hint_of_field(name, variant.as_ref(), member);
                    self.hint_parts(field, &shown);
                }
            }
            _ => {}
        }
    }

    /// Returns what the text shows of a value's type.
    pub(super) fn hint(&self, expr: &Expr) -> TypeHint {
        match &expr.kind {
            ExprKind::Int { ty: LiteralType::Suffix(name), .. } => scalar_hint(name),
            ExprKind::Int { .. } | ExprKind::Axis(..) => TypeHint::Integer,
            ExprKind::Float { .. } | ExprKind::Bool(_) | ExprKind::Intrinsic { .. } => TypeHint::Number,
            ExprKind::Local(local) => self.hint_of_local(*local),
            ExprKind::Constant(value) => {
                self.hint_of_constant(&self.function.values[usize::from(value.0)].tokens.to_string())
            }
            ExprKind::Unary(_, inner)
            | ExprKind::Typed(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Borrow { target: inner, .. } => self.hint(inner),
            ExprKind::Binary { op, left, right, .. } => match op.is_arithmetic() {
                true if [left, right].iter().any(|side| self.hint(side) == TypeHint::Integer) => TypeHint::Integer,
                _ => TypeHint::Number,
            },
            ExprKind::Cast(_, ty) => self.hint_of_shape(&ty.shape),
            ExprKind::Index { base, .. } | ExprKind::UncheckedPlace { base, .. } => self.hint_of_element(base),
            ExprKind::Field { base, member } => match (self.hint(base), member) {
                (TypeHint::Tuple(parts), Member::Unnamed(index)) => {
                    parts.get(*index as usize).cloned().unwrap_or(TypeHint::Unknown)
                }
                (TypeHint::Named(name), member) => self.hint_of_field(&name, None, member),
                _ => TypeHint::Unknown,
            },
            ExprKind::Array { elements, .. } => {
                TypeHint::Array(Box::new(elements.first().map_or(TypeHint::Unknown, |first| self.hint(first))))
            }
            ExprKind::Repeat { element, .. } => TypeHint::Array(Box::new(self.hint(element))),
            ExprKind::Vector { is_matrix: false, .. } => TypeHint::Array(Box::new(TypeHint::Number)),
            ExprKind::Struct { path, variant: Some(_), .. } => {
                self.owner_of_variant(&path.to_string()).map_or(TypeHint::Unknown, |owner| self.hint_of_name(&owner))
            }
            ExprKind::Struct { path, .. } => last_name(&path.to_string()).map_or(TypeHint::Unknown, TypeHint::Named),
            ExprKind::Tuple { elements, .. } => TypeHint::Tuple(elements.iter().map(|part| self.hint(part)).collect()),
            ExprKind::Op { op, operands, types, .. } => {
                self.hint_of_result(*op, operands, types.as_ref().map(|(of, _)| &of.shape))
            }
            ExprKind::Method { operands, .. } => match operands.first().map(|first| self.hint(first)) {
                Some(TypeHint::Integer) => TypeHint::Integer,
                _ => TypeHint::Number,
            },
            ExprKind::ScalarCall { owner, function, .. } => match function {
                ScalarFunction::CheckedFrom => TypeHint::Unknown,
                ScalarFunction::Default
                | ScalarFunction::From
                | ScalarFunction::Constructor(_)
                | ScalarFunction::Method(_) => self.hint_of_name(&owner.to_string()),
            },
            ExprKind::Call { callee, arguments, .. } => self.hint_of_call(callee, arguments),
            // What a closure returns.
            ExprKind::Closure { body, .. } => self.hint(body),
            ExprKind::CallClosure { closure, .. } => self.hint_of_local(*closure),
            ExprKind::Block(block) | ExprKind::Unsafe(block) => {
                block.tail.as_ref().map_or(TypeHint::Unknown, |tail| self.hint(tail))
            }
            ExprKind::If { then, otherwise: Some(otherwise), .. } => {
                match then.tail.as_ref().map_or(TypeHint::Unknown, |tail| self.hint(tail)) {
                    TypeHint::Unknown => self.hint(otherwise),
                    shown => shown,
                }
            }
            ExprKind::Match { arms, .. } => {
                let mut shown = arms.iter().map(|arm| self.hint(&arm.body));
                shown.find(|shown| *shown != TypeHint::Unknown).unwrap_or(TypeHint::Unknown)
            }
            _ => TypeHint::Unknown,
        }
    }

    pub(super) fn hint_of_local(&self, local: LocalId) -> TypeHint {
        if let Some(ty) = &self.function.local(local).ty {
            return self.hint_of_shape(&ty.shape);
        }
        if let Some(shown) = self.hints.get(&local) {
            return shown.clone();
        }
        let Some(param) = self.function.params.iter().find(|param| param.local == local) else {
            return TypeHint::Unknown;
        };
        match &param.ty {
            ParamType::Value(ty) | ParamType::Reference { target: ty, .. } => self.hint_of_shape(&ty.shape),
            ParamType::Slice { element, .. } | ParamType::Memory { element, .. } => {
                TypeHint::Array(Box::new(self.hint_of_shape(&element.shape)))
            }
            ParamType::Closure { output: Some(output), .. } => self.hint_of_shape(&output.shape),
            ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { output: None, .. } => TypeHint::Unknown,
        }
    }

    pub(super) fn hint_of_element(&self, base: &Expr) -> TypeHint {
        match self.hint(base) {
            TypeHint::Array(element) => *element,
            // A vector of the language.
            TypeHint::Named(name) if name == "Vector" || is_vector(&name) => TypeHint::Number,
            TypeHint::Integer | TypeHint::Number | TypeHint::Named(_) | TypeHint::Tuple(_) | TypeHint::Unknown => {
                TypeHint::Unknown
            }
        }
    }

    pub(super) fn hint_of_shape(&self, shape: &TypeShape) -> TypeHint {
        match shape {
            TypeShape::Scalar(name, _) => scalar_hint(name),
            TypeShape::Array(element, _) => TypeHint::Array(Box::new(self.hint_of_shape(element))),
            TypeShape::Named(id) => self.hint_of_name(&self.function.types[usize::from(id.0)].to_string()),
            TypeShape::Tuple(parts) => TypeHint::Tuple(parts.iter().map(|part| self.hint_of_shape(part)).collect()),
            TypeShape::Token(_) | TypeShape::OptionalToken(_) | TypeShape::BarrierToken(_) | TypeShape::Option(_) => {
                TypeHint::Unknown
            }
        }
    }

    /// Returns what a type's text shows.
    pub(super) fn hint_of_name(&self, text: &str) -> TypeHint {
        let Ok(ty) = syn::parse_str::<syn::Type>(text) else { return TypeHint::Unknown };
        self.hint_of_type(&ty, 0)
    }

    /// Returns what a type shows. `depth` is the number of names that led to it.
    pub(super) fn hint_of_type(&self, ty: &syn::Type, depth: usize) -> TypeHint {
        match ty {
            syn::Type::Paren(inner) => self.hint_of_type(&inner.elem, depth),
            syn::Type::Group(inner) => self.hint_of_type(&inner.elem, depth),
            syn::Type::Reference(inner) => self.hint_of_type(&inner.elem, depth),
            syn::Type::Array(array) => TypeHint::Array(Box::new(self.hint_of_type(&array.elem, depth))),
            syn::Type::Slice(slice) => TypeHint::Array(Box::new(self.hint_of_type(&slice.elem, depth))),
            syn::Type::Tuple(tuple) => {
                TypeHint::Tuple(tuple.elems.iter().map(|part| self.hint_of_type(part, depth)).collect())
            }
            syn::Type::Path(path) if path.qself.is_none() => {
                let Some(name) = path.path.segments.last().map(|last| last.ident.to_string()) else {
                    return TypeHint::Unknown;
                };
                let generics = &self.function.generics;
                if path.path.is_ident(&name) && generics.has_parameter(&name) {
                    let is_number = NUMBERS.iter().any(|bound| generics.has_bound(bound));
                    return if is_number { TypeHint::Number } else { TypeHint::Unknown };
                }
                if scalar(&name).is_some() || ["f16", "bf16", "e4m3", "e5m2"].contains(&name.as_str()) {
                    return scalar_hint(&name);
                }
                match self.file().and_then(|file| source::alias_of(file, &name)) {
                    Some(ty) if depth < 4 => self.hint_of_type(&ty, depth + 1),
                    _ => TypeHint::Named(name),
                }
            }
            _ => TypeHint::Unknown,
        }
    }

    fn hint_of_constant(&self, text: &str) -> TypeHint {
        // The default of a type.
        if let Some((owner, _)) = text.strip_prefix('<').and_then(|text| text.split_once(" as ")) {
            return self.hint_of_name(owner);
        }
        let path: String = text.chars().filter(|of| !of.is_whitespace()).collect();
        let mut words = path.rsplit("::");
        let (last, owner) = (words.next().unwrap_or_default(), words.next());
        if owner.is_none() && self.function.generics.has_parameter(last) {
            return TypeHint::Integer;
        }
        match owner {
            Some("consts") => return TypeHint::Number,
            Some(owner) if scalar(owner).is_some() => return scalar_hint(owner),
            Some(_) | None => {}
        }
        if last.starts_with(slice_constants::BYTES) {
            return TypeHint::Array(Box::new(TypeHint::Integer));
        }
        let last = last.strip_prefix(slice_constants::ELEMENTS).unwrap_or(last);
        match self.file().and_then(|file| source::constant_type(file, last)) {
            Some(syn::Type::Path(of)) if of.path.is_ident("Self") => {
                owner.map_or(TypeHint::Unknown, |owner| TypeHint::Named(owner.into()))
            }
            Some(ty) => self.hint_of_type(&ty, 0),
            None => TypeHint::Unknown,
        }
    }

    fn hint_of_call(&self, callee: &Callee, arguments: &[Expr]) -> TypeHint {
        if let Callee::Operator(operator) = callee {
            let named = arguments.iter().map(|argument| self.hint(argument));
            let mut named = named.filter(|shown| matches!(shown, TypeHint::Named(_)));
            return match operator.op {
                Overload::Binary(_) | Overload::Unary(_) => named.next().unwrap_or(TypeHint::Unknown),
                Overload::Assign(_) => TypeHint::Unknown,
            };
        }
        if makes_array(callee) {
            let element = arguments.last().map_or(TypeHint::Unknown, |closure| self.hint(closure));
            return TypeHint::Array(Box::new(element));
        }
        if matches!(callee, Callee::Method(..))
            && ["to_le_bytes", "to_be_bytes"].iter().any(|name| callee.name() == name)
        {
            return TypeHint::Array(Box::new(TypeHint::Integer));
        }
        let owner = match callee {
            Callee::Associated(owner, ..) => last_name(&owner.to_string()),
            Callee::Function(_) | Callee::Method(..) | Callee::Operator(_) => None,
        };
        let name = callee.name().to_string();
        // A conversion gives the type that it is called of.
        if let (Some(owner), "from") = (&owner, name.as_str()) {
            return TypeHint::Named(owner.clone());
        }
        match self.file().and_then(|file| source::result_of(file, &name)) {
            Some(syn::Type::Path(of)) if of.path.is_ident("Self") => match (owner, callee) {
                (Some(owner), _) => TypeHint::Named(owner),
                // A method that returns `Self`.
                (None, Callee::Method(..)) => arguments.first().map_or(TypeHint::Unknown, |of| self.hint(of)),
                (None, _) => TypeHint::Unknown,
            },
            Some(ty) => self.hint_of_type(&ty, 0),
            None => TypeHint::Unknown,
        }
    }

    fn hint_of_result(&self, op: Op, operands: &[Expr], made: Option<&TypeShape>) -> TypeHint {
        if let Some(made) = made {
            return TypeHint::Array(Box::new(self.hint_of_shape(made)));
        }
        let memory = operands.iter().find(|operand| matches!(operand.result_kind, Kind::Memory(_)));
        match op {
            Op::Length | Op::Query(..) | Op::QuerySharedRank => TypeHint::Integer,
            Op::LoadUnchecked => operands.first().map_or(TypeHint::Unknown, |base| self.hint_of_element(base)),
            Op::LoadVec(_) => TypeHint::Array(Box::new(TypeHint::Number)),
            Op::MapSharedRank(_) | Op::Part { .. } | Op::SplitAt { .. } => {
                memory.map_or(TypeHint::Unknown, |memory| self.hint(memory))
            }
            Op::Atomic(_) => memory.map_or(TypeHint::Number, |memory| self.hint_of_element(memory)),
            Op::LoadMatrix { .. } | Op::MmaAsync { .. } | Op::MmaWait { .. } | Op::MmaWaitExceptLast { .. } => {
                TypeHint::Array(Box::new(TypeHint::Number))
            }
            // What the threads of a warp do with values gives such values.
            Op::Warp(..) | Op::Uniform(_) => {
                let value = operands.iter().find(|operand| operand.result_kind == Kind::Value);
                value.map_or(TypeHint::Unknown, |value| self.hint(value))
            }
            Op::UnwrapOr => operands.get(1).map_or(TypeHint::Unknown, |otherwise| self.hint(otherwise)),
            Op::Unwrap | Op::Take => TypeHint::Unknown,
            // A truth value, or nothing that has operators.
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Partition(..)
            | Op::Sync(..)
            | Op::Arrive(..)
            | Op::Wait(..)
            | Op::Forget(_)
            | Op::SharedArray(_)
            | Op::SharedBarrier(..)
            | Op::Barrier(..)
            | Op::MapBarrier(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::StoreVec
            | Op::StoreMatrix { .. }
            | Op::ChangeRegisters { .. }
            | Op::IsEmpty
            | Op::Fence(..)
            | Op::Nanosleep
            | Op::LaunchDependents
            | Op::WaitPrevious
            | Op::Copy(_)
            | Op::Is(_) => TypeHint::Number,
        }
    }
}

fn scalar_hint(name: &str) -> TypeHint {
    match name.starts_with(['i', 'u']) {
        true => TypeHint::Integer,
        false => TypeHint::Number,
    }
}

/// The last name of a path, apart from its arguments.
fn last_name(path: &str) -> Option<String> {
    let plain = path.split('<').next()?.trim().trim_end_matches("::").trim();
    let last = plain.rsplit("::").next()?.trim();
    (!last.is_empty()).then(|| last.to_string())
}

/// Whether a name is one of the language's vectors: `f32x4`.
fn is_vector(name: &str) -> bool {
    let Some((element, lanes)) = name.split_once('x') else { return false };
    (scalar(element).is_some() || ["f16", "bf16"].contains(&element)) && lanes.parse::<u8>().is_ok()
}
