//! Finds the end of an item among tokens that syn need not be able to parse, for tools and tests that look for items in a text.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Takes the tokens of an item, up to its braces or to a semicolon. Braces among generic arguments, `Rows<{ N * 2 }>`, belong to those.
///
/// ```
/// let mut tokens = "fn f<T: Rows<{ N * 2 }>>() -> T { g() } fn h() {}".parse::<proc_macro2::TokenStream>()?.into_iter();
/// assert!(phalanx_compiler::take_item(&mut tokens).to_string().ends_with("{ g () }"));
/// # Ok::<(), proc_macro2::LexError>(())
/// ```
pub fn take_item(tokens: &mut impl Iterator<Item = TokenTree>) -> TokenStream {
    let mut item = Vec::new();
    let (mut depth, mut before) = (0_u32, ' ');
    for token in tokens {
        let mut ends = false;
        let mut punct = ' ';
        match &token {
            TokenTree::Group(group) => ends = depth == 0 && group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(sign) => punct = sign.as_char(),
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
        match punct {
            ';' => ends = true,
            '<' => depth += 1,
            // That of an arrow ends no arguments.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = punct;
        item.push(token);
        if ends {
            break;
        }
    }
    item.into_iter().collect()
}
