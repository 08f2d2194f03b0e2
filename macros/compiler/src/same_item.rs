//! Has rustc find out whether a name of the user is an item of phalanx or of Rust, which no macro knows: an item is looked up among the user's
//! names and, in a block inside, among phalanx's.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};

/// Imports an item without a name, so that rustc looks it up and counts the user's import of it as used.
pub(crate) fn unnamed(name: &Ident) -> TokenStream {
    quote_spanned!(name.span()=> #[allow(unused_imports, reason = "it is only looked up")] use #name as _;)
}

/// Has rustc look up the names among the user's, by the imports `theirs`, and among those of phalanx, by the glob `ours`.
pub(crate) fn same_items(theirs: &TokenStream, ours: &TokenStream, names: &[&Ident]) -> TokenStream {
    let looked_up = names.iter().map(|name| unnamed(name));
    quote! {{
        #theirs
        {
            #ours
            #(#looked_up)*
        }
    }}
}

/// Has rustc look up an item by the user's path, which begins at `lo`, and by its name in a module of phalanx's names.
pub(crate) fn same_item(path: &impl ToTokens, lo: Span, module: &Ident, name: &Ident) -> TokenStream {
    // Another item of this name may be in scope, which the path avoids: both sides get a new name.
    let this_name = Ident::new("this_name", name.span());
    let import =
        quote_spanned!(lo=> #[allow(unused_imports, reason = "it is only looked up")] use #path as #this_name;);
    let ours = quote! {
        mod ours { pub(super) use ::phalanx::__private::names::#module::#name as this_name; }
        #[allow(unused_imports, reason = "it is only looked up")]
        use ours::*;
    };
    same_items(&import, &ours, &[&this_name])
}
