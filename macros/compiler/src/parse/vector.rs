//! Vectors: their constructors, which matrices share, loads and stores.

use quote::ToTokens;
use syn::{ExprCall, ExprMethodCall, ExprPath};

use super::Parser;
use super::scalar_functions::is_number;
use crate::messages;
use crate::model::SlotUse;
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::source;
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses `Vector::new([a, b])`, `f32x4::splat(x)` or `Accumulator::splat(x)`, if the call is one of them.
    pub(super) fn vector_constructor(&mut self, path: &ExprPath, call: &ExprCall, span: SpanRange) -> Option<Expr> {
        let mut segments = path.path.segments.iter().rev();
        let (function, ty) = (segments.next()?.ident.to_string(), segments.next()?.ident.to_string());
        let is_accumulator = ty == "Accumulator" && function == "splat";
        let ty = if ["new", "splat"].contains(&function.as_str()) { self.vector_of_alias(ty) } else { ty };
        let is_matrix = MATRICES.contains(&ty.as_str()) && function == "splat";
        if !is_vector(&ty) && !is_matrix {
            return None;
        }
        let splat = match function.as_str() {
            "new" => false,
            "splat" => true,
            _ => return Some(self.error(messages::unknown_constructor(SpanRange::of(path), &ty))),
        };
        let (Some(argument), 1) = (call.args.first(), call.args.len()) else {
            return Some(self.error(match splat {
                true => messages::argument_count(span, "splat", 1, call.args.len()),
                false => messages::vector_lanes(span, &ty),
            }));
        };
        let argument = self.value(argument);
        let slot = self.slot(SlotUse::Type);
        let (path, argument) = (path.to_token_stream(), Box::new(argument));
        let kind = ExprKind::Vector { path, is_matrix, is_accumulator, splat, argument, slot };
        Some(Expr { kind, result_kind: Kind::Value, span })
    }

    /// The name of the vector or matrix that a name stands for, as far as the file shows; the name itself of another type.
    fn vector_of_alias(&self, name: String) -> String {
        const NAMES: usize = 4;
        let mut of = name.clone();
        for _ in 0..NAMES {
            if is_vector(&of) || MATRICES.contains(&of.as_str()) {
                return of;
            }
            match self.file().and_then(|file| source::alias_name(file, &of)) {
                Some(next) => of = next,
                None => return name,
            }
        }
        name
    }

    /// Parses `memory.load_vec::<4>(i)`.
    pub(super) fn load_vec(&mut self, memory: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        const FORM: &str = "memory.load_vec::<4>(i)";
        let lanes = call.turbofish.as_ref().filter(|turbofish| turbofish.args.len() == 1);
        let lanes =
            lanes.and_then(|turbofish| self.length_argument(&syn::PathArguments::AngleBracketed(turbofish.clone()), 0));
        let Some(lanes) = lanes else { return self.error(messages::turbofish(span, "load_vec", FORM)) };
        let (Some(index), 1) = (call.args.first(), call.args.len()) else {
            return self.error(messages::argument_count(span, "load_vec", 1, call.args.len()));
        };
        let index = self.beside(index);
        self.require_value(&index);
        self.op(Op::LoadVec(lanes), vec![memory, index], span)
    }

    /// Has rustc say the type of a vector, if the syntax does not show it: the test of a store needs the number of lanes.
    fn vector_with_type(&mut self, vector: Expr) -> Expr {
        if matches!(vector.kind, ExprKind::Vector { .. } | ExprKind::Op { .. } | ExprKind::Local(_) | ExprKind::Error) {
            return vector;
        }
        let (slot, span) = (self.slot(SlotUse::Type), vector.span);
        Expr { kind: ExprKind::Typed(Box::new(vector), slot), result_kind: Kind::Value, span }
    }

    /// Parses `memory.store_vec(i, v)`.
    pub(super) fn store_vec(&mut self, memory: Expr, call: &ExprMethodCall, span: SpanRange) -> Expr {
        let (Some(index), Some(value), 2) = (call.args.get(0), call.args.get(1), call.args.len()) else {
            return self.error(messages::argument_count(span, "store_vec", 2, call.args.len()));
        };
        let index = self.beside(index);
        self.require_value(&index);
        let value = self.value(value);
        let value = self.vector_with_type(value);
        if memory.result_kind == Kind::Memory(Memory::Global) {
            return self.error(messages::read_only_memory(memory.span));
        }
        self.op(Op::StoreVec, vec![memory, index, value], span)
    }
}

/// The matrices of `warp.mma(a, b, c)`. A type of the user's may have such a name, and a function that is not `splat`.
const MATRICES: [&str; 3] = ["MatrixA", "MatrixB", "Accumulator"];

/// Whether the name is `Vector` or that of a vector type: a scalar, `x`, a number.
fn is_vector(name: &str) -> bool {
    let alias = || {
        let (scalar, lanes) = name.rsplit_once('x')?;
        let digits = !lanes.is_empty() && lanes.bytes().all(|byte| byte.is_ascii_digit());
        Some(digits && is_number(scalar))
    };
    name == "Vector" || alias() == Some(true)
}
