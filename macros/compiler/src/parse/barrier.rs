//! Phase barriers: their constructors, their methods, and their types. A barrier's brand is a type of its own, which
//! rustc follows; in a signature it can be elided like a lifetime, where it is unambiguous.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprMethodCall, FnArg, PathArguments, Type, TypePath};

use super::Parser;
use super::syntax::{Arguments, const_argument, type_argument};
use crate::messages;
use crate::model::barrier::{Barrier, BarrierForm, BarrierScope, PhaseMethod, PhaseOperand, PhaseResult};
use crate::model::expr::{Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::op::Op;
use crate::model::ty::{Brand, ParamType, TypeShape};
use crate::span::SpanRange;

/// The largest number of arrivals of a phase (PTX ISA, mbarrier, Supported operations and the range of their counts).
const MOST_ARRIVALS: u64 = (1 << 20) - 1;

/// The barrier to which an `ArrivalToken<Barrier>` without a brand belongs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elision {
    /// In a body, rustc infers it.
    #[default]
    Inferred,
    /// It is the one barrier of the signature, or, if that has none, the barrier of its one token.
    One,
    /// Each token has a barrier of its own.
    Each,
    /// It is ambiguous.
    Unclear,
}

impl Parser<'_> {
    /// Decides, before the parameters are parsed, to which barrier tokens without a brand belong.
    pub(super) fn elide_brands(&mut self, sig: &syn::Signature) {
        let types = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        });
        let (mut barriers, mut tokens) = (0, 0);
        for ty in types {
            let path = match ty {
                Type::Reference(reference) => &reference.elem,
                ty => ty,
            };
            if let Type::Path(path) = path
                && let Some(barrier) = barrier_of(path).filter(|barrier| barrier.form != BarrierForm::Remote)
            {
                barriers += usize::from(written_brand(path, barrier).is_none());
            } else if let Some(token) = token_path(ty) {
                let of = barrier_token(token);
                tokens += usize::from(of.is_some_and(|(barrier, path)| written_brand(path, barrier).is_none()));
            }
        }
        self.elision = match (barriers, tokens) {
            (1, _) | (0, 1) => Elision::One,
            (0, _) => Elision::Each,
            _ => Elision::Unclear,
        };
    }

    /// Decides the same for the result, after the parameters: a result's token can only belong to a barrier that a
    /// parameter names.
    pub(super) fn elide_result(&mut self) {
        if self.elision == Elision::Each {
            self.elision = Elision::Unclear;
        }
    }

    /// Lets rustc infer brands in the body, after the signature.
    pub(super) fn infer_brands(&mut self) {
        self.elision = Elision::Inferred;
    }

    fn new_brand(&mut self) -> usize {
        self.function.brands += 1;
        self.function.brands - 1
    }

    /// Parses `&Barrier`, `&Barriers<4>` or `RemoteBarrier`.
    pub(super) fn barrier_parameter(&mut self, path: &TypePath, by_reference: bool) -> Option<ParamType> {
        let barrier = barrier_of(path)?;
        let at = SpanRange::of(path);
        if by_reference == (barrier.form == BarrierForm::Remote) {
            self.diags.push(match by_reference {
                true => messages::remote_barrier_by_reference(at),
                false => messages::group_by_value(at, barrier.rust_name()),
            });
            return None;
        }
        let last = path.path.segments.last()?;
        let length = match barrier.form {
            BarrierForm::Array => match const_argument(&last.arguments, 0) {
                Some(length) => Some(self.length_hole(length)),
                None => {
                    let name = barrier.rust_name();
                    self.diags.push(messages::turbofish(at, name, &format!("&{name}<4>")));
                    return None;
                }
            },
            BarrierForm::One | BarrierForm::Remote => None,
        };
        let brand = match (barrier.form, written_brand(path, barrier)) {
            (BarrierForm::Remote, _) => None,
            (_, Some(brand)) => Some(Brand::Written(brand.to_token_stream())),
            // The brand of the one barrier is the first.
            (_, None) => Some(Brand::Elided(self.new_brand())),
        };
        Some(ParamType::Barrier { barrier, length, brand })
    }

    /// Returns the shape of a token of a barrier, if the path is one.
    pub(super) fn barrier_token_shape(&mut self, path: &TypePath) -> Option<TypeShape> {
        let (barrier, of) = barrier_token(path)?;
        if barrier.form == BarrierForm::One {
            return Some(TypeShape::BarrierToken(barrier.scope));
        }
        self.diags.push(messages::token_of_array(SpanRange::of(of), barrier));
        None
    }

    /// Returns the type of a token in the host body.
    pub(super) fn barrier_token_type(&mut self, ty: &Type, scope: BarrierScope) -> TokenStream {
        let at = SpanRange::of(ty);
        let written = token_path(ty).and_then(barrier_token).and_then(|(barrier, path)| written_brand(path, barrier));
        let brand = match (written, self.elision) {
            (Some(brand), _) => brand.to_token_stream(),
            (None, Elision::Inferred) => quote_spanned!(at.lo=> _),
            (None, Elision::One) => {
                // The brand belongs to a token without a barrier.
                self.function.brands = self.function.brands.max(1);
                Brand::elided_name(0).into_token_stream()
            }
            (None, Elision::Each) => Brand::elided_name(self.new_brand()).into_token_stream(),
            (None, Elision::Unclear) => {
                self.diags.push(messages::token_of_unknown_barrier(at));
                quote!(())
            }
        };
        let barrier = Ident::new(Barrier { scope, form: BarrierForm::One }.rust_name(), at.lo);
        quote_spanned!(at.lo=> ::phalanx::ArrivalToken<::phalanx::#barrier<#brand>>)
    }

    /// Parses `shared_barrier()` as the value of a `let`, which gives the barrier its name in the text.
    pub(super) fn shared_barrier_call(&mut self, expr: &syn::Expr) -> Option<Expr> {
        let syn::Expr::Call(call) = expr else { return None };
        let syn::Expr::Path(path) = &*call.func else { return None };
        let last = path.path.segments.last()?;
        let barrier = Barrier::by_origin(&last.ident.to_string())?;
        self.function_named(path)?;
        let span = SpanRange::of(expr);
        if !call.args.is_empty() {
            return Some(self.error(messages::argument_count(span, barrier.origin(), 0, call.args.len())));
        }
        let length = match (barrier.form, const_argument(&last.arguments, 0)) {
            (BarrierForm::Array, Some(length)) => Some(length),
            (BarrierForm::One, None) => None,
            (BarrierForm::Array | BarrierForm::One | BarrierForm::Remote, _) => {
                let form = match barrier.form {
                    BarrierForm::Array => format!("{}::<N>()", barrier.origin()),
                    BarrierForm::One | BarrierForm::Remote => format!("{}()", barrier.origin()),
                };
                return Some(self.error(messages::turbofish(span, barrier.origin(), &form)));
            }
        };
        let number = self.length_hole(length.unwrap_or_else(|| quote!(1)));
        self.function.shared.push((quote!(::phalanx::__private::BarrierWord), number));
        let op = Op::SharedBarrier(barrier, self.function.shared.len() - 1);
        let operands = Vec::new();
        let length =
            Expr { kind: ExprKind::Op { op, operands, site: None, types: None }, result_kind: op.facts().result, span };
        Some(length)
    }

    pub(super) fn barrier_method(
        &mut self,
        barrier: Barrier,
        receiver: Expr,
        call: &ExprMethodCall,
        span: SpanRange,
    ) -> Expr {
        let (name, at) = (call.method.to_string(), SpanRange::of(&call.method));
        let Some(method) = barrier.method(&name) else {
            return self.error(messages::unknown_barrier_method(at, &name, barrier));
        };
        if call.args.len() != method.operands.len() {
            return self.error(messages::argument_count(span, &name, method.operands.len(), call.args.len()));
        }
        let mut operands = vec![receiver];
        operands.extend(self.barrier_operands(barrier, method, &call.args));
        self.op(Op::Barrier(barrier, method), operands, span)
    }

    /// Whether syntax shows that a value is the token of a phase barrier, or an option of one.
    pub(super) fn is_phase_token(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Op { op: Op::Barrier(_, method), .. } => method.result == PhaseResult::Token,
            ExprKind::Some(value) => self.is_phase_token(value),
            ExprKind::Local(local) => self.phase_tokens.contains(local),
            _ => false,
        }
    }

    /// Refuses an array of tokens that gets a name: its elements cannot be moved out of it. One that a pattern takes apart is no place.
    pub(super) fn array_of_tokens(&mut self, init: &Expr) {
        let token = match &init.kind {
            ExprKind::Array { elements, .. } => elements.iter().find(|element| self.is_phase_token(element)),
            ExprKind::Repeat { element, .. } => Some(&**element).filter(|element| self.is_phase_token(element)),
            _ => None,
        };
        if let Some(token) = token {
            self.diags.push(messages::token_escapes(token.span, "an array"));
        }
    }

    fn barrier_operands(&mut self, barrier: Barrier, method: &PhaseMethod, arguments: &Arguments) -> Vec<Expr> {
        let mut operands = Vec::new();
        for (operand, argument) in method.operands.iter().zip(arguments) {
            operands.push(match operand {
                PhaseOperand::Count => {
                    let count = self.beside(argument);
                    self.require_value(&count);
                    if let Some(number) = count.integer().filter(|number| !(1..=MOST_ARRIVALS).contains(number)) {
                        self.diags.push(messages::barrier_count(count.span, number, MOST_ARRIVALS));
                    }
                    count
                }
                PhaseOperand::FixedType | PhaseOperand::Token => {
                    let value = self.beside(argument);
                    // rustc refuses the token of a group, and shows both types.
                    if !(matches!(value.result_kind, Kind::Token(_)) && *operand == PhaseOperand::Token) {
                        self.require_value(&value);
                    }
                    value
                }
                PhaseOperand::TokenRef => {
                    let token = self.argument(argument);
                    match &token.kind {
                        ExprKind::Borrow { mutable: false, target } if target.result_kind == Kind::Value => token,
                        _ if token.result_kind == Kind::Unknown => token,
                        _ => self.error(messages::token_reference(SpanRange::of(argument))),
                    }
                }
                PhaseOperand::Group => {
                    let group = self.argument(argument);
                    match group.result_kind {
                        Kind::Group(given) if given == barrier.scope.group() => group,
                        Kind::Unknown => group,
                        _ => self.error(messages::barrier_group(SpanRange::of(argument), barrier)),
                    }
                }
            });
        }
        operands
    }

    /// Parses `cluster.map_shared_rank(&bar, rank)`.
    pub(super) fn map_barrier(&mut self, barrier: Barrier, operands: Vec<Expr>, span: SpanRange) -> Expr {
        let at = operands.get(1).map_or(span, |operand| operand.span);
        match (barrier.scope, barrier.form) {
            (BarrierScope::Cluster, BarrierForm::One) => self.op(Op::MapBarrier(barrier), operands, span),
            (BarrierScope::Block, _) => self.error(messages::barrier_scope(at)),
            (_, BarrierForm::Array | BarrierForm::Remote) => self.error(messages::mapped_barrier(at, barrier)),
        }
    }

    /// Refuses a copy of a barrier: a barrier has one name.
    pub(super) fn barrier_copy(&mut self, init: &Expr) {
        let is_made = matches!(init.kind, ExprKind::Op { op: Op::SharedBarrier(..), .. } | ExprKind::Borrow { .. });
        if let Kind::Barrier(barrier) = init.result_kind
            && barrier.form != BarrierForm::Remote
            && !is_made
        {
            self.diags.push(messages::barrier_copy(init.span, barrier));
        }
    }
}

fn barrier_of(path: &TypePath) -> Option<Barrier> {
    Barrier::by_name(&path.path.segments.last()?.ident.to_string())
}

/// Returns the path of `ArrivalToken<..>`, or of one in an `Option`.
fn token_path(ty: &Type) -> Option<&TypePath> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match last.ident.to_string().as_str() {
        "ArrivalToken" => Some(path),
        "Option" => type_argument(&last.arguments, 0).and_then(token_path),
        _ => None,
    }
}

/// Returns the barrier of an `ArrivalToken`.
pub(super) fn barrier_token(token: &TypePath) -> Option<(Barrier, &TypePath)> {
    match type_argument(&token.path.segments.last()?.arguments, 0)? {
        Type::Path(path) => Some((barrier_of(path)?, path)),
        _ => None,
    }
}

/// Returns the `B` of `Barrier<B>` and of `Barriers<4, B>`.
fn written_brand(path: &TypePath, barrier: Barrier) -> Option<&Type> {
    let arguments: &PathArguments = &path.path.segments.last()?.arguments;
    type_argument(arguments, usize::from(barrier.form == BarrierForm::Array))
}
