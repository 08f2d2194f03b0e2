//! The types of tokens that device functions of the same file return: `let token = publish(..);` is read as if its type were written.
//! What the file shows is a guess; the host body states the type, so that rustc reports one that is wrong.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Item, Local, Pat, parse_quote_spanned};

/// Writes the types of locals that are tokens of called functions; `None` if there are none.
pub(crate) fn typed(item: &TokenStream, file: &str) -> Option<TokenStream> {
    let results: Vec<(&str, TokenKind)> = results(file).collect();
    if results.is_empty() {
        return None;
    }
    let mut item: Item = syn::parse2(item.clone()).ok()?;
    let mut write = Write { results: &results, any: false };
    write.visit_item_mut(&mut item);
    write.any.then(|| item.into_token_stream())
}

/// What a function returns, if it is a token of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenKind {
    /// Of the group of this name.
    Token(&'static str),
    /// Several functions have the name, and return other things.
    Unclear,
}

/// How the type of a token begins.
const RESULT: &str = "ArrivalToken<";
/// The groups whose tokens are meant.
const GROUPS: [&str; 3] = ["Cluster", "ThreadBlock", "Grid"];

/// The functions of a file that return tokens of groups, by name.
fn results(file: &str) -> impl Iterator<Item = (&str, TokenKind)> {
    let mut found: Vec<(&str, TokenKind)> = Vec::new();
    let returns_any = file.contains(RESULT);
    let heads = file.match_indices("fn ").filter(|_| returns_any);
    for (at, word) in heads {
        let rest = &file[at + word.len()..];
        let Some(end) = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_') else { continue };
        let head = rest.split_once('{').map_or(rest, |(head, _)| head);
        let of = head.rsplit_once(RESULT).filter(|(before, _)| before.trim_end().ends_with("->"));
        let of = of.and_then(|(_, rest)| rest.split_once('>')).filter(|(_, rest)| rest.trim().is_empty());
        let group = of.and_then(|(group, _)| GROUPS.into_iter().find(|known| group.trim() == *known));
        let kind = group.map_or(TokenKind::Unclear, TokenKind::Token);
        match found.iter_mut().find(|(name, _)| *name == &rest[..end]) {
            Some((_, known)) if *known == kind => {}
            Some((_, known)) => *known = TokenKind::Unclear,
            None => found.push((&rest[..end], kind)),
        }
    }
    found.into_iter().filter(|(_, kind)| *kind != TokenKind::Unclear)
}

struct Write<'f> {
    results: &'f [(&'f str, TokenKind)],
    any: bool,
}

impl VisitMut for Write<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        if let (Pat::Ident(_), Some(init)) = (&local.pat, &local.init)
            && let Expr::Call(call) = &*init.expr
            && let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && let Some((_, TokenKind::Token(group))) = self.results.iter().find(|(known, _)| name == *known)
        {
            let (pat, group) = (&local.pat, Ident::new(group, name.span()));
            let typed = parse_quote_spanned!(name.span()=> #pat: ::phalanx::ArrivalToken<::phalanx::#group>);
            local.pat = Pat::Type(typed);
            self.any = true;
        }
        visit_mut::visit_local_mut(self, local);
    }
}
