//! The constants that the body of a function defines itself, of numbers and of arrays and tuples of numbers. No other item has such a name
//! there, so that their values are certain.

use std::collections::BTreeMap;

use crate::model::{Function, Listed};

/// The largest number of constants that lead to a value.
const DEPTH: u32 = 8;

/// The definitions of the body's constants, by name.
type Definitions = BTreeMap<String, syn::Expr>;

/// The values of the body's constants, by name.
pub(super) fn of(function: &Function) -> BTreeMap<String, Listed> {
    let items = function.items().filter_map(|item| syn::parse2::<syn::ItemConst>(item.clone()).ok());
    let all: Definitions = items.map(|item| (item.ident.to_string(), *item.expr)).collect();
    all.iter().filter_map(|(name, expr)| Some((name.clone(), listed(&all, expr, DEPTH)?))).collect()
}

fn listed(all: &Definitions, expr: &syn::Expr, depth: u32) -> Option<Listed> {
    let depth = depth.checked_sub(1)?;
    let parts = |parts: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>| {
        parts.iter().map(|part| listed(all, part, depth)).collect::<Option<Vec<_>>>()
    };
    match expr {
        syn::Expr::Array(array) => parts(&array.elems).map(Listed::Array),
        syn::Expr::Tuple(tuple) => parts(&tuple.elems).map(Listed::Tuple),
        syn::Expr::Paren(inner) => listed(all, &inner.expr, depth),
        syn::Expr::Group(inner) => listed(all, &inner.expr, depth),
        _ => number(all, expr, depth).map(Listed::Number),
    }
}

/// The number that an expression of literals and of the body's constants is.
fn number(constants: &Definitions, expr: &syn::Expr, depth: u32) -> Option<i64> {
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
