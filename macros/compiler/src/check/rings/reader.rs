//! Reads expressions of constants: literals, names, arithmetic on both, and the sizes and limits of types.

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};

use crate::model::ty::{bytes_of, scalar};

/// Why a value is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) is_integer: bool,
    /// The number of definitions that may still be followed.
    pub(super) depth: u32,
}

/// A name of a constant.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) path: TokenStream,
    pub(super) last: Ident,
    /// Whether it stands where only an integer may.
    pub(super) is_integer: bool,
}

impl Name {
    pub(super) fn key(&self) -> String {
        self.path.to_string()
    }
}

/// What names stand for.
pub(super) trait Names {
    /// Returns the value of a name, and notes that it was asked for.
    fn named(&self, name: Name, depth: u32) -> Option<i64>;
    fn read(&self, tokens: &TokenStream, asked: Asked) -> Option<i64>;
    /// Returns the number of bytes of a type.
    fn bytes_at(&self, ty: &TokenStream, depth: u32) -> Option<u64>;
    /// Whether a type is one that the function is generic over.
    fn names_type(&self, ty: &TokenStream) -> bool;
    /// Notes that a value was asked for.
    fn note(&self, name: Name, value: Option<i64>, depth: u32);
}

/// Reads an expression.
pub(super) struct Reader<'a, N> {
    constants: &'a N,
    asked: Asked,
    trees: Vec<TokenTree>,
    at: usize,
}

impl<'a, N: Names> Reader<'a, N> {
    pub(super) fn of(constants: &'a N, tokens: &TokenStream, asked: Asked) -> Reader<'a, N> {
        Reader { constants, asked, trees: tokens.clone().into_iter().collect(), at: 0 }
    }

    /// The value of all of the expression.
    pub(super) fn all(mut self) -> Option<i64> {
        let value = self.sum()?;
        (self.at == self.trees.len()).then_some(value)
    }

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
            TokenTree::Ident(word) if word == "true" || word == "false" => Some(i64::from(word == "true")),
            TokenTree::Ident(first) => {
                if let Some(known) = self.size_of_type().or_else(|| self.limit(&first)) {
                    return Some(known);
                }
                let name = self.name(first)?;
                self.constants.named(name, self.asked.depth)
            }
            TokenTree::Group(group) => match group.delimiter() {
                Delimiter::Parenthesis | Delimiter::Brace | Delimiter::None => {
                    self.constants.read(&group.stream(), self.asked)
                }
                Delimiter::Bracket => None,
            },
            TokenTree::Punct(_) => None,
        }
    }

    /// The value of `size_of::<T>()`, with or without a path before it, which begins with the name before.
    fn size_of_type(&mut self) -> Option<i64> {
        let begin = self.at - 1;
        let text = |tree: &TokenTree| tree.to_string();
        let rest = &self.trees[begin..];
        let end = rest
            .iter()
            .position(|tree| !matches!(tree, TokenTree::Ident(_) | TokenTree::Punct(_)) || text(tree) == "<")?;
        let path: Vec<String> = rest[..end].iter().map(text).collect();
        let is_size =
            ["size_of::", "mem::size_of::", "std::mem::size_of::", "core::mem::size_of::"].contains(&&*path.concat());
        let close = rest.iter().position(|tree| text(tree) == ">").filter(|_| is_size)?;
        let arguments =
            rest.get(close + 1).filter(|tree| matches!(tree, TokenTree::Group(group) if group.stream().is_empty()))?;
        let ty: TokenStream = rest.get(end + 1..close)?.iter().cloned().collect();
        let bytes = i64::try_from(self.constants.bytes_at(&ty, self.asked.depth)?).ok()?;
        let path = rest[..=close].iter().chain([arguments]).cloned().collect();
        let TokenTree::Ident(last) = rest[end - 3].clone() else { return None };
        self.at = begin + close + 2;
        // The size of a parameter is noted as such.
        if self.constants.names_type(&ty) {
            return Some(bytes);
        }
        self.constants.note(Name { path, last, is_integer: true }, Some(bytes), self.asked.depth);
        Some(bytes)
    }

    /// The value of `u32::MAX` and the like, which begins with the name before.
    fn limit(&mut self, ty: &Ident) -> Option<i64> {
        let [colon, also, last, ..] = self.trees.get(self.at..)? else { return None };
        let is_limit = [colon, also, last].map(ToString::to_string).concat() == "::MAX";
        let largest = largest(scalar(&ty.to_string())?).filter(|_| is_limit)?;
        self.at += 3;
        Some(largest)
    }

    /// The path that begins with this name, unless it is one of a function or a macro, or a method is called.
    fn name(&mut self, first: Ident) -> Option<Name> {
        let begin = self.at - 1;
        let mut last = first;
        while self.operator(&[':']).is_some() {
            self.operator(&[':'])?;
            let Some(TokenTree::Ident(next)) = self.trees.get(self.at).cloned() else { return None };
            last = next;
            self.at += 1;
        }
        let goes_on = match self.trees.get(self.at) {
            Some(TokenTree::Group(_)) => true,
            Some(TokenTree::Punct(punct)) => "!.<".contains(punct.as_char()),
            Some(TokenTree::Ident(_) | TokenTree::Literal(_)) | None => false,
        };
        let path = self.trees[begin..self.at].iter().cloned().collect();
        (!goes_on).then_some(Name { path, last, is_integer: self.asked.is_integer })
    }
}

/// The largest number of an integer type.
fn largest(ty: &str) -> Option<i64> {
    let bits = 8 * bytes_of(ty)?;
    match (ty.chars().next(), bits) {
        (Some('u'), ..63) => Some((1 << bits) - 1),
        (Some('i'), ..=64) if ty != "isize" => Some(i64::MAX >> (64 - bits)),
        _ => None,
    }
}
