//! Named constants with the values that their file shows, and other names of types with the types, in place of the names: a kernel is
//! checked with them as with literals. What a name stands for only rustc knows, so that every verdict that rests on a value or a type is
//! one for rustc to confirm.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

use crate::check::rings::Constants;
use crate::diag::Diag;
use crate::model::table::{self, Entry};
use crate::model::{Definition, Function};
use crate::span::respanned;

/// The tokens of a function and its options with the values of constants in place of their names.
pub(crate) struct WithValues {
    pub(crate) options: TokenStream,
    pub(crate) item: TokenStream,
    names: Names,
}

/// The names that were replaced.
#[derive(Default)]
struct Names {
    /// Those of numbers, as paths, each with its value.
    values: Vec<(TokenStream, i64)>,
    tables: Vec<(TokenStream, TokenStream)>,
    /// Other names of types, each with the type.
    types: Vec<(TokenStream, TokenStream)>,
}

impl WithValues {
    /// Replaces the names of constants; `None` if there are none with a known value.
    pub(crate) fn of(function: &Function, options: &TokenStream, item: &TokenStream) -> Option<WithValues> {
        if function.definitions.is_empty() {
            return None;
        }
        let constants = Constants::new(function, Default::default());
        let mut known = Known { function, constants, names: Names::default() };
        let mut replace = |tokens: &TokenStream| replaced(tokens.clone(), &mut |path, name| known.literal(path, name));
        let (options, item) = (replace(options), replace(item));
        let names = known.names;
        let has_any = !names.values.is_empty() || !names.tables.is_empty() || !names.types.is_empty();
        has_any.then_some(WithValues { options, item, names })
    }

    /// Whether some of the constants are tables.
    pub(crate) fn have_tables(&self) -> bool {
        !self.names.tables.is_empty()
    }

    /// Whether some of the names are those of types.
    pub(crate) fn have_types(&self) -> bool {
        !self.names.types.is_empty()
    }

    /// Makes the condition that all constants have their values.
    pub(crate) fn are_right(&self, span: Span) -> TokenStream {
        let equal = self.names.values.iter().map(|(name, value)| {
            let value = i128::from(*value);
            quote_spanned!(span=> #name as i128 == #value)
        });
        let of_tables = self.names.tables.iter().flat_map(|(name, table)| {
            let entries = table::entries(table).unwrap_or_default().into_iter();
            entries.map(move |Entry { place, value }| quote_spanned!(span=> #name #place as i128 == #value as i128))
        });
        // The constant of two types that are one comes before that which the trait gives all others.
        let of_types = self.names.types.iter().map(|(name, ty)| {
            quote_spanned!(span=> {
                #[allow(unused_imports, reason = "types that are one do not need it")]
                use ::phalanx::__private::OtherTypes as _;
                ::phalanx::__private::Types::<#name, #ty>::ARE_ONE
            })
        });
        let all = equal.chain(of_tables).chain(of_types);
        quote_spanned!(span=> #(#all)&&*)
    }
}

/// A fault that depends on a guess of what the function names.
pub(crate) struct Conditional {
    pub(crate) fault: Diag,
    /// Whether the function is at fault if the guess is right, or if it is not.
    pub(crate) if_right: bool,
    /// The condition that it is right.
    is_right: TokenStream,
}

impl Conditional {
    pub(crate) fn when(fault: Diag, is_right: impl FnOnce(Span) -> TokenStream) -> Conditional {
        let is_right = is_right(fault.at.lo);
        Conditional { fault, if_right: true, is_right }
    }

    pub(crate) fn unless(fault: Diag, is_right: impl FnOnce(Span) -> TokenStream) -> Conditional {
        Conditional { if_right: false, ..Conditional::when(fault, is_right) }
    }

    /// Makes the guess one that is right only if another one is.
    pub(crate) fn and(self, is_right_too: impl FnOnce(Span) -> TokenStream) -> Conditional {
        let (first, second) = (self.is_right, is_right_too(self.fault.at.lo));
        Conditional { is_right: quote_spanned!(self.fault.at.lo=> (#first) && (#second)), ..self }
    }

    /// Makes rustc report the fault.
    pub(crate) fn refuse(&self) -> TokenStream {
        let Conditional { fault, if_right, is_right } = self;
        let (span, message) = (fault.at.lo, fault.text());
        let condition = if *if_right { is_right.clone() } else { quote_spanned!(span=> !(#is_right)) };
        quote_spanned!(span=> const _: () = if #condition { ::phalanx::__private::contract::constant::refuse(#message) };)
    }
}

/// Puts literals in place of the names that have one, each given as a path and its last name.
fn replaced(
    tokens: TokenStream,
    literal: &mut impl FnMut(&[TokenTree], &Ident) -> Option<Vec<TokenTree>>,
) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct = |at: Option<usize>, of: &[char]| {
        let tree = at.and_then(|at| trees.get(at));
        tree.is_some_and(|tree| matches!(tree, TokenTree::Punct(punct) if of.contains(&punct.as_char())))
    };
    // A part of a path, a field, a lifetime, a declaration, an import or a call is another name. `a..N` is none of these.
    let is_another_name = |at: usize, end: usize| {
        let before = at.checked_sub(1);
        let is_field = is_punct(before, &['.']) && !is_punct(at.checked_sub(2), &['.']);
        let is_arguments =
            |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let is_call = trees.get(end).is_some_and(is_arguments);
        let is_use = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if word == "use");
        let is_import = before.and_then(|before| trees.get(before)).is_some_and(is_use);
        is_field || is_call || is_import || is_punct(before, &[':', '\'']) || is_punct(Some(end), &[':', '!'])
    };
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(tree) = trees.get(at) {
        match tree {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), replaced(group.stream(), literal));
                inside.set_span(group.span());
                all.push(TokenTree::Group(inside));
                at += 1;
            }
            TokenTree::Ident(first) => {
                let (mut end, mut last) = (at + 1, first);
                while is_punct(Some(end), &[':'])
                    && is_punct(Some(end + 1), &[':'])
                    && let Some(TokenTree::Ident(next)) = trees.get(end + 2)
                {
                    (end, last) = (end + 3, next);
                }
                let path = &trees[at..end];
                let known = if is_another_name(at, end) { None } else { literal(path, last) };
                all.extend(known.unwrap_or_else(|| path.to_vec()));
                at = end;
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {
                all.push(tree.clone());
                at += 1;
            }
        }
    }
    all.into_iter().collect()
}

/// Puts literals in place of names, each given with its value and its type.
pub(crate) fn with_literals(tokens: TokenStream, values: &[(Ident, i64, String)]) -> TokenStream {
    replaced(tokens, &mut |path, name| {
        let (_, value, ty) = values.iter().find(|(known, ..)| known == name).filter(|_| path.len() == 1)?;
        literal_of(*value, ty, name.span())
    })
}

/// A literal of this value and type.
fn literal_of(value: i64, ty: &str, at: Span) -> Option<Vec<TokenTree>> {
    if ty == "bool" {
        return Some(vec![Ident::new(if value == 0 { "false" } else { "true" }, at).into()]);
    }
    let mut literal: Literal = format!("{}{ty}", value.unsigned_abs()).parse().ok()?;
    literal.set_span(at);
    if value >= 0 {
        return Some(vec![literal.into()]);
    }
    let mut negative = Group::new(
        Delimiter::Parenthesis,
        [Punct::new('-', Spacing::Alone).into(), TokenTree::from(literal)].into_iter().collect(),
    );
    negative.set_span(at);
    Some(negative.into_token_stream().into_iter().collect())
}

struct Known<'f> {
    function: &'f Function,
    constants: Constants<'f>,
    names: Names,
}

impl Known<'_> {
    /// The literal that a path stands for, or the type.
    fn literal(&mut self, path: &[TokenTree], name: &Ident) -> Option<Vec<TokenTree>> {
        let function = self.function;
        let words: Vec<&Ident> =
            path.iter().filter_map(|tree| if let TokenTree::Ident(word) = tree { Some(word) } else { None }).collect();
        let is_local = path.len() == 1 && function.locals.iter().any(|local| local.name == *name);
        if is_local || function.declares(&|declared| words.contains(&declared)) {
            return None;
        }
        let [definition] = &function.definitions.get(&name.to_string())?[..] else { return None };
        // What a type has is a constant of its own: that of the file's `impl`, if there is one.
        let is_type = |word: &&Ident| word.to_string().starts_with(char::is_uppercase);
        if words[..words.len() - 1].iter().any(is_type) {
            let [ty, _] = &words[..] else { return None };
            let [own] = &function.definitions.get(&format!("{ty}::{name}"))?[..] else { return None };
            if own.value.to_string() != definition.value.to_string() {
                return None;
            }
        }
        let tokens: TokenStream = path.iter().cloned().collect();
        let is_path = |known: &TokenStream| known.to_string() == tokens.to_string();
        match definition.ty {
            Definition::TABLE => {
                if !self.names.tables.iter().any(|(known, _)| is_path(known)) {
                    self.names.tables.push((tokens, definition.value.clone()));
                }
                Some(definition.value.clone().into_iter().collect())
            }
            Definition::ALIAS => {
                let ty = respanned(self.constants.literal_type(&definition.value)?, name.span());
                if !self.names.types.iter().any(|(known, _)| is_path(known)) {
                    self.names.types.push((tokens, ty.clone()));
                }
                Some(ty.into_iter().collect())
            }
            ty => {
                let value = self.constants.named_in_file(name)?;
                if !self.names.values.iter().any(|(known, _)| is_path(known)) {
                    self.names.values.push((tokens, value));
                }
                literal_of(value, ty, name.span())
            }
        }
    }
}
