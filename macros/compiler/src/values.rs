//! Named constants with the values that their file shows, in place of the names: a kernel is checked with them as with literals. What
//! a name stands for only rustc knows, so that every verdict that rests on a value is one for rustc to confirm.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};

use crate::check::rings::Constants;
use crate::diag::Diag;
use crate::model::table::{self, Entry};
use crate::model::{Definition, Function};

/// The tokens of a function and its options with the values of constants in place of their names.
pub(crate) struct WithValues {
    pub(crate) options: TokenStream,
    pub(crate) item: TokenStream,
    /// The names that were replaced, each with its value.
    values: Vec<(Name, i64)>,
    /// Those of tables.
    tables: Vec<(Name, TokenStream)>,
}

impl WithValues {
    /// Replaces the names of constants; `None` if there are none with a known value.
    pub(crate) fn of(function: &Function, options: &TokenStream, item: &TokenStream) -> Option<WithValues> {
        if function.definitions.is_empty() {
            return None;
        }
        let constants = Constants::new(function, Default::default());
        let mut known = Known { function, constants, values: Vec::new(), tables: Vec::new() };
        let mut replace = |tokens: &TokenStream| replaced(tokens.clone(), &mut |name| known.literal(name));
        let (options, item) = (replace(options), replace(item));
        let Known { values, tables, .. } = known;
        (!values.is_empty() || !tables.is_empty()).then_some(WithValues { options, item, values, tables })
    }

    /// Whether some of the constants are tables.
    pub(crate) fn have_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// Makes the condition that all constants have their values.
    pub(crate) fn are_right(&self, span: Span) -> TokenStream {
        let equal = self.values.iter().map(|(name, value)| {
            let value = i128::from(*value);
            quote_spanned!(span=> #name as i128 == #value)
        });
        let of_tables = self.tables.iter().flat_map(|(name, table)| {
            let entries = table::entries(table).unwrap_or_default().into_iter();
            entries.map(move |Entry { place, value }| quote_spanned!(span=> #name #place as i128 == #value as i128))
        });
        let all = equal.chain(of_tables);
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

/// The name of a constant, with the module or the type before it if there is one.
#[derive(Clone, PartialEq, Eq)]
struct Name {
    within: Option<Ident>,
    last: Ident,
}

impl Name {
    fn key(&self) -> String {
        let Name { within, last } = self;
        within.as_ref().map_or_else(|| last.to_string(), |within| format!("{within}::{last}"))
    }

    /// The name that has to be one of the file's, and not of the function's.
    fn first(&self) -> &Ident {
        self.within.as_ref().unwrap_or(&self.last)
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Name { within, last } = self;
        tokens.extend(within.as_ref().map(|within| quote!(#within::)));
        last.to_tokens(tokens);
    }
}

/// Puts literals in place of the names that have one.
fn replaced(tokens: TokenStream, literal: &mut impl FnMut(&Name) -> Option<Vec<TokenTree>>) -> TokenStream {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct = |at: Option<usize>, of: &[char]| {
        let tree = at.and_then(|at| trees.get(at));
        tree.is_some_and(|tree| matches!(tree, TokenTree::Punct(punct) if of.contains(&punct.as_char())))
    };
    // A part of a path, a field, a lifetime, a declaration or a call is another name. `a..N` is none of these.
    let is_another_name = |at: usize| {
        let before = at.checked_sub(1);
        let is_field = is_punct(before, &['.']) && !is_punct(at.checked_sub(2), &['.']);
        let is_arguments =
            |tree: &TokenTree| matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let is_call = trees.get(at + 1).is_some_and(is_arguments);
        is_field || is_call || is_punct(before, &[':', '\'']) || is_punct(Some(at + 1), &[':', '!'])
    };
    // `Shape::ROWS`, which is no longer path.
    let path = |at: usize| match trees.get(at..at + 4)? {
        [TokenTree::Ident(within), TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(last)]
            if (1..3).all(|next| is_punct(Some(at + next), &[':']))
                && !is_punct(at.checked_sub(1), &[':', '.', '\'']) =>
        {
            // What is before the last name is known.
            let is_call = matches!(trees.get(at + 4), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
            let is_last = !is_call && !is_punct(Some(at + 4), &[':', '!']);
            is_last.then(|| Name { within: Some(within.clone()), last: last.clone() })
        }
        _ => None,
    };
    let mut all = Vec::new();
    let mut next = 0;
    while let Some(tree) = trees.get(next) {
        let at = next;
        next += 1;
        if let Some(literal) = path(at).and_then(|name| literal(&name)) {
            all.extend(literal);
            next += 3;
            continue;
        }
        match tree {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), replaced(group.stream(), literal));
                inside.set_span(group.span());
                all.push(TokenTree::Group(inside));
            }
            TokenTree::Ident(name) if !is_another_name(at) => {
                let name = Name { within: None, last: name.clone() };
                all.extend(literal(&name).unwrap_or_else(|| vec![tree.clone()]));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => all.push(tree.clone()),
        }
    }
    all.into_iter().collect()
}

/// Puts literals in place of names, each given with its value and its type.
pub(crate) fn with_literals(tokens: TokenStream, values: &[(Ident, i64, String)]) -> TokenStream {
    replaced(tokens, &mut |name| {
        let (_, value, ty) = values.iter().find(|(known, ..)| name.within.is_none() && *known == name.last)?;
        literal_of(*value, ty, name.last.span())
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
    values: Vec<(Name, i64)>,
    tables: Vec<(Name, TokenStream)>,
}

impl Known<'_> {
    /// The literal that a name stands for.
    fn literal(&mut self, name: &Name) -> Option<Vec<TokenTree>> {
        let function = self.function;
        let [definition] = &function.definitions.get(&name.key())?[..] else { return None };
        let first = name.first();
        let is_local = function.locals.iter().any(|local| local.name == *first);
        if is_local || function.declares(&|declared| declared == first) {
            return None;
        }
        if definition.ty == Definition::TABLE {
            if !self.tables.iter().any(|(known, _)| known == name) {
                self.tables.push((name.clone(), definition.value.clone()));
            }
            return Some(definition.value.clone().into_iter().collect());
        }
        // Another constant, or the variant of an enum, may have the last name.
        let [of_last] = &function.definitions.get(&name.last.to_string())?[..] else { return None };
        if of_last.value.to_string() != definition.value.to_string() {
            return None;
        }
        let value = self.constants.named_in_file(&name.last)?;
        if !self.values.iter().any(|(known, _)| known == name) {
            self.values.push((name.clone(), value));
        }
        literal_of(value, definition.ty, name.last.span())
    }
}
