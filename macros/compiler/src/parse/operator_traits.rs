//! `#[device] impl Add for Vec2` and its like: which traits of the standard library are operators, and what such an `impl` has to be.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{GenericArgument, ImplItem, ItemImpl, PathArguments, Type};

use super::syntax::turbofished;
use crate::diag::{Diags, Reported};
use crate::messages;
use crate::model::expr::ExprKind;
use crate::model::op::Op;
use crate::model::operator::{computing_trait, is_unary_trait};
use crate::model::ty::ParamType;
use crate::model::walk::walk_block;
use crate::model::{Method, OperatorImpl};
use crate::span::SpanRange;

/// Returns the operator that an `impl` is of: by the name of the trait, which the items of the `impl` have rustc confirm.
/// `None` if it is of another trait.
pub(super) fn operator_impl(item: &ItemImpl, name: &str, diags: &mut Diags) -> Result<Option<OperatorImpl>, Reported> {
    let Some(last) = item.trait_.as_ref().and_then(|(path, _)| path.segments.last()) else { return Ok(None) };
    let Some(base) = computing_trait(name) else { return Ok(None) };
    let is_unary = is_unary_trait(base);
    let right = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(right)) => Some(right.clone()),
            Some(_) | None => None,
        },
        PathArguments::None | PathArguments::Parenthesized(_) => None,
    };
    for ty in right.iter().chain([&*item.self_ty]) {
        if let Type::Reference(reference) = ty {
            diags.push(messages::operator_of_reference(SpanRange::of(reference), name));
            return Err(Reported);
        }
    }
    let right = (!is_unary).then(|| right.map_or_else(|| quote!(Self), ToTokens::into_token_stream));
    let (generics, _, where_clause) = item.generics.split_for_impl();
    Ok(Some(OperatorImpl {
        generics: generics.to_token_stream(),
        own_type: item.self_ty.to_token_stream(),
        where_clause: where_clause.to_token_stream(),
        name: Ident::new(name, last.ident.span()),
        host_trait: format_ident!("Operator{name}"),
        right,
        assigns: base != name,
    }))
}

/// Checks that the operands of an operator are values, and that it names no memory beside them.
pub(super) fn check_operator(method: &Method, of: &OperatorImpl, diags: &mut Diags) {
    walk_block(&method.function.body, &mut |expr| {
        if let ExprKind::Op {
            op: Op::SharedArray(_) | Op::SharedBarrier(..) | Op::DynamicShared | Op::DynamicSharedSlice,
            ..
        } = expr.kind
        {
            diags.push(messages::memory_in_operator(expr.span));
        }
    });
    for (index, param) in method.function.params.iter().enumerate() {
        let fits = match &param.ty {
            ParamType::Value(_) => !(of.assigns && index == 0),
            ParamType::Reference { mutable, .. } => of.assigns && index == 0 && *mutable,
            ParamType::Slice { .. }
            | ParamType::OptionalSlice { .. }
            | ParamType::Group(_)
            | ParamType::Tile { .. }
            | ParamType::TensorMap { .. }
            | ParamType::Memory { .. }
            | ParamType::Barrier { .. }
            | ParamType::Closure { .. } => false,
        };
        if !fits {
            let at = SpanRange::of(&method.function.local(param.local).name);
            diags.push(messages::operator_of_reference(at, &of.name.to_string()));
        }
    }
}

/// Returns the text of `type Output = ..;`, in a form that can stand in an expression, too.
pub(super) fn output(item: &ItemImpl) -> Option<TokenStream> {
    item.items.iter().find_map(|member| match member {
        ImplItem::Type(of) if of.ident == "Output" => Some(turbofished(&of.ty)),
        _ => None,
    })
}

/// Replaces `Self::Output`, which is ambiguous where a type is in the place of `Self`.
pub(super) fn replace_output(stream: TokenStream, output: &TokenStream) -> TokenStream {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut replaced = TokenStream::new();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        match (tree, &trees[at + 1..]) {
            (
                TokenTree::Ident(own),
                [TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Ident(name), ..],
            ) if own == "Self" && first.as_char() == ':' && second.as_char() == ':' && name == "Output" => {
                replaced.extend(output.clone());
                at += 4;
                continue;
            }
            (TokenTree::Group(group), _) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), replace_output(group.stream(), output));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            (tree, _) => replaced.extend([tree.clone()]),
        }
        at += 1;
    }
    replaced
}
