//! Parameters of the type `impl Trait` for traits that are none of closures, also behind references and in arrays and slices: each becomes
//! a type parameter.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, ItemFn, Type, TypeParamBound, parse_quote};

use super::closure::is_fn;
use crate::model::words::words;
use crate::span::SpanRange;

/// Rewrites `fn f(rng: &mut impl Rng)` as `fn f<ImplRng: Rng>(rng: &mut ImplRng)`.
pub(super) fn named(mut item: ItemFn) -> ItemFn {
    let mut naming = Naming { taken: BTreeSet::new(), made: Vec::new() };
    let words: Vec<String> = words(&item.to_token_stream()).map(|word| word.to_string()).collect();
    naming.taken.extend(words);
    for input in &mut item.sig.inputs {
        if let FnArg::Typed(input) = input {
            naming.visit_type_mut(&mut input.ty);
        }
    }
    item.sig.generics.params.extend(naming.made);
    item
}

/// Returns where a function takes the first such parameter.
pub(super) fn first(sig: &syn::Signature) -> Option<SpanRange> {
    struct First(Option<SpanRange>);
    impl<'ast> Visit<'ast> for First {
        fn visit_type_impl_trait(&mut self, of: &'ast syn::TypeImplTrait) {
            if !of.bounds.iter().any(is_fn) {
                self.0.get_or_insert(SpanRange::of(of));
            }
        }
    }
    let mut first = First(None);
    sig.inputs.iter().for_each(|input| first.visit_fn_arg(input));
    first.0
}

struct Naming {
    /// The words of the function, which are no new names.
    taken: BTreeSet<String>,
    made: Vec<syn::GenericParam>,
}

impl Naming {
    fn name(&mut self, bound: &syn::TraitBound) -> Option<Ident> {
        let last = &bound.path.segments.last()?.ident;
        let names = (1..).map(|number| if number == 1 { format!("Impl{last}") } else { format!("Impl{last}{number}") });
        let name = names.into_iter().find(|name| !self.taken.contains(name))?;
        self.taken.insert(name.clone());
        Some(Ident::new(&name, last.span()))
    }
}

impl VisitMut for Naming {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        let Type::ImplTrait(of) = ty else { return visit_mut::visit_type_mut(self, ty) };
        let bounds = &of.bounds;
        let Some(TypeParamBound::Trait(first)) = bounds.first() else { return };
        if bounds.iter().any(is_fn) {
            return;
        }
        if let Some(name) = self.name(first) {
            self.made.push(parse_quote!(#name: #bounds));
            *ty = parse_quote!(#name);
        }
    }
}
