//! Constants whose values are known before rustc evaluates them: literals, names of which somebody has said the value, and
//! arithmetic on both.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::model::options::Extents;
use crate::model::ty::scalar;
use crate::model::{Function, ValueId};

/// The values of names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Constants(pub(crate) BTreeMap<String, i64>);

impl Constants {
    /// Returns the value of a constant that a body names.
    pub(super) fn of(&self, function: &Function, value: ValueId) -> Option<i64> {
        let constant = &function.values[usize::from(value.0)];
        constant.literal.and_then(|literal| i64::try_from(literal).ok()).or_else(|| self.value(&constant.tokens))
    }

    /// Returns the number of threads or blocks that an option states.
    pub(super) fn count(&self, extents: &Extents) -> Option<u32> {
        let each = extents.each.iter().map(|extent| {
            let literal = extent.literal.and_then(|literal| i64::try_from(literal).ok());
            u32::try_from(literal.or_else(|| self.value(&extent.tokens))?).ok()
        });
        each.into_iter().try_fold(1_u32, |all, extent| all.checked_mul(extent?))
    }

    /// Returns the value of an expression.
    pub(crate) fn value(&self, tokens: &TokenStream) -> Option<i64> {
        let mut reader = Reader { constants: self, trees: tokens.clone().into_iter().collect(), at: 0 };
        let value = reader.sum()?;
        (reader.at == reader.trees.len()).then_some(value)
    }

    /// Returns the number of bytes of a type: of a scalar, or of an array of such.
    pub(super) fn bytes(&self, ty: &TokenStream) -> Option<u64> {
        let trees: Vec<TokenTree> = ty.clone().into_iter().collect();
        match &trees[..] {
            [TokenTree::Ident(name)] => match scalar(&name.to_string())? {
                "bool" => Some(1),
                "usize" | "isize" => Some(8),
                name => name[1..].parse::<u64>().ok().map(|bits| bits / 8),
            },
            [TokenTree::Group(group)] => match group.delimiter() {
                Delimiter::None => self.bytes(&group.stream()),
                Delimiter::Bracket => {
                    let (element, length) = array(&group.stream())?;
                    self.bytes(&element)?.checked_mul(u64::try_from(self.value(&length)?).ok()?)
                }
                Delimiter::Parenthesis | Delimiter::Brace => None,
            },
            _ => None,
        }
    }
}

/// Returns the element type and the length in the brackets of an array type.
pub(super) fn array(inside: &TokenStream) -> Option<(TokenStream, TokenStream)> {
    let trees: Vec<TokenTree> = inside.clone().into_iter().collect();
    let is_semicolon = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ';');
    let at = trees.iter().rposition(is_semicolon)?;
    Some((trees[..at].iter().cloned().collect(), trees[at + 1..].iter().cloned().collect()))
}

/// Reads an expression.
struct Reader<'a> {
    constants: &'a Constants,
    trees: Vec<TokenTree>,
    at: usize,
}

impl Reader<'_> {
    fn operator(&mut self, of: &[char]) -> Option<char> {
        let Some(TokenTree::Punct(punct)) = self.trees.get(self.at) else { return None };
        let operator = punct.as_char();
        of.contains(&operator).then(|| self.at += 1)?;
        Some(operator)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&['+', '-']) {
            let right = self.product()?;
            left = if operator == '+' { left.checked_add(right)? } else { left.checked_sub(right)? };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.cast()?;
        while let Some(operator) = self.operator(&['*', '/', '%']) {
            let right = self.cast()?;
            left = match operator {
                '*' => left.checked_mul(right)?,
                '/' => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    /// A value with casts to types that have room for it.
    fn cast(&mut self) -> Option<i64> {
        let value = self.atom()?;
        while matches!(self.trees.get(self.at), Some(TokenTree::Ident(word)) if word == "as") {
            let Some(TokenTree::Ident(ty)) = self.trees.get(self.at + 1) else { return None };
            let bits = match ty.to_string().as_str() {
                "i32" => 31,
                "u32" => 32,
                "i64" | "u64" | "usize" | "isize" => 62,
                _ => return None,
            };
            (0..1 << bits).contains(&value).then_some(())?;
            self.at += 2;
        }
        Some(value)
    }

    fn atom(&mut self) -> Option<i64> {
        let tree = self.trees.get(self.at)?.clone();
        self.at += 1;
        match tree {
            TokenTree::Literal(literal) => {
                let digits = literal.to_string().replace('_', "");
                let end = digits.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(digits.len());
                let (number, suffix) = digits.split_at(end);
                (suffix.is_empty() || scalar(suffix).is_some()).then(|| number.parse().ok())?
            }
            TokenTree::Ident(name) => self.constants.0.get(&name.to_string()).copied(),
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis | Delimiter::Brace | Delimiter::None => self.constants.value(&group.stream()),
                Delimiter::Bracket => None,
            },
            TokenTree::Punct(_) => None,
        }
    }
}
