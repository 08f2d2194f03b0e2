//! Constants that the body of a function defines itself, of numbers and of arrays and tuples of numbers. No other item has such a name there, so
//! that their values are certain.

use std::collections::BTreeMap;

use super::{Builder, NodeId, Source, Value};
use crate::check::cfg::Formula;
use crate::model::Function;
use crate::model::expr::Member;
use crate::span::SpanRange;

/// The largest number of constants that lead to a value.
const DEPTH: u32 = 8;

/// The definitions of the body's constants, by name.
pub(super) fn of(function: &Function) -> BTreeMap<String, syn::Expr> {
    let items = function.items().filter_map(|item| syn::parse2::<syn::ItemConst>(item.clone()).ok());
    items.map(|item| (item.ident.to_string(), *item.expr)).collect()
}

impl Builder<'_> {
    /// The value of a name, if it is one of a constant that the body defines and all of it is numbers.
    pub(super) fn constant_of_body(&mut self, name: &str, at: SpanRange) -> Option<Value> {
        let definition = self.constants.get(name)?.clone();
        self.constant(&definition, DEPTH, at)
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions are numbers, or are not followed")]
    fn constant(&mut self, expr: &syn::Expr, depth: u32, at: SpanRange) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        Some(match expr {
            syn::Expr::Array(array) => {
                let elements = array.elems.iter().map(|element| self.constant(element, depth, at));
                let elements = elements.collect::<Option<Vec<_>>>()?;
                self.array(&elements, at)
            }
            syn::Expr::Tuple(tuple) => {
                let parts = tuple.elems.iter().map(|part| self.constant(part, depth, at));
                let parts = parts.collect::<Option<Vec<_>>>()?;
                let whole = self.combined(parts.iter().map(|part| part.node).collect(), at);
                let members: Vec<u16> =
                    (0..parts.len()).map(|part| self.field(&Member::Unnamed(part as u32))).collect();
                Value { fields: members.into_iter().zip(parts).collect(), ..whole }
            }
            syn::Expr::Paren(inner) => self.constant(&inner.expr, depth, at)?,
            syn::Expr::Group(inner) => self.constant(&inner.expr, depth, at)?,
            _ => Value::of(self.number_of(expr, depth, at)?),
        })
    }

    fn number_of(&mut self, expr: &syn::Expr, depth: u32, at: SpanRange) -> Option<NodeId> {
        let number = number(&self.constants, expr, depth)?;
        let node = self.node(Source::Integer(number.unsigned_abs()), Vec::new(), at);
        if number >= 0 {
            return Some(node);
        }
        let negative = self.combined(vec![node], at).node;
        self.formulas.insert(negative, Formula::Negative);
        Some(negative)
    }

    /// An array of values, with an array of each of the fields that all of them have.
    pub(super) fn array(&mut self, elements: &[Value], at: SpanRange) -> Value {
        let array = |builder: &mut Self, nodes: Vec<NodeId>| {
            let value = builder.combined(nodes, at);
            builder.formulas.insert(value.node, Formula::Array);
            value
        };
        let whole = array(self, elements.iter().map(|element| element.node).collect());
        let first: Vec<u16> =
            elements.first().iter().flat_map(|first| &first.fields).map(|(field, _)| *field).collect();
        let field_of = |element: &Value, field: u16| {
            element.fields.iter().find(|(known, _)| *known == field).map(|(_, value)| value.node)
        };
        let mut fields = Vec::new();
        for field in first {
            let nodes: Option<Vec<NodeId>> = elements.iter().map(|element| field_of(element, field)).collect();
            fields.extend(nodes.map(|nodes| (field, array(self, nodes))));
        }
        Value { fields, ..whole }
    }

    /// The element of an array of tuples or structs, by the arrays of its fields.
    pub(super) fn element_with_fields(&mut self, array: &Value, index: NodeId, element: Value, at: SpanRange) -> Value {
        let mut fields = Vec::new();
        for (field, value) in &array.fields {
            if !self.is_element(*field) {
                let node = self.combined(vec![value.node, index], at).node;
                self.formulas.insert(node, Formula::Element);
                fields.push((*field, Value::of(node)));
            }
        }
        Value { fields, ..element }
    }
}

/// The number that an expression of literals and of the body's constants is.
#[expect(clippy::wildcard_enum_match_arm, reason = "other expressions are not followed")]
fn number(constants: &BTreeMap<String, syn::Expr>, expr: &syn::Expr, depth: u32) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    let number = |expr: &syn::Expr| number(constants, expr, depth);
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(digits), .. }) => digits.base10_parse().ok(),
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(holds), .. }) => Some(i64::from(holds.value)),
        syn::Expr::Paren(inner) => number(&inner.expr),
        syn::Expr::Group(inner) => number(&inner.expr),
        syn::Expr::Cast(cast) => number(&cast.expr).filter(|number| (0..1 << 31).contains(number)),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => number(expr)?.checked_neg(),
        syn::Expr::Path(path) => number(constants.get(&path.path.get_ident()?.to_string())?),
        syn::Expr::Binary(binary) => {
            let (a, b) = (number(&binary.left)?, number(&binary.right)?);
            let bits = u32::try_from(b).ok().filter(|bits| *bits < 31);
            match binary.op {
                syn::BinOp::Add(_) => a.checked_add(b),
                syn::BinOp::Sub(_) => a.checked_sub(b),
                syn::BinOp::Mul(_) => a.checked_mul(b),
                syn::BinOp::Div(_) => a.checked_div(b),
                syn::BinOp::Rem(_) => a.checked_rem(b),
                syn::BinOp::Shl(_) => a.checked_mul(1 << bits?),
                syn::BinOp::Shr(_) => Some(a >> bits?),
                _ => None,
            }
            .filter(|number| number.unsigned_abs() < 1 << 31)
        }
        _ => None,
    }
}
