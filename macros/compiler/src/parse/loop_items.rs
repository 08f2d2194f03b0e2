//! What a loop over elements yields at a position.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Pat;

use super::local_parts::Elements;
use super::named_places::NamedPlace;

/// The item at a position.
pub(super) enum Item {
    /// A counter, or a copy of an element.
    Value(TokenStream),
    /// `&place` or `&mut place`, a reference to an element.
    Reference {
        mutable: bool,
        place: TokenStream,
    },
    /// A reference to a copy, where the element has no one place.
    Copy(TokenStream),
    /// An element of one of two mutable parts of an array, of which a reference cannot exist beside one to the other's.
    Place(TokenStream),
    /// `&a.chunks(n)[i]`, a part of memory.
    Part(TokenStream),
    /// A part of a local array.
    LocalPart {
        elements: Elements,
        mutable: bool,
    },
    Pair(Box<Item>, Box<Item>),
}

impl Item {
    /// Returns the item as one value, if no part of it is a reference.
    pub(super) fn value(&self) -> Option<TokenStream> {
        match self {
            Item::Value(value) => Some(value.clone()),
            Item::Reference { .. } | Item::Copy(_) | Item::Place(_) | Item::LocalPart { .. } => None,
            Item::Part(part) => Some(quote!(&#part)),
            Item::Pair(first, second) => {
                let (first, second) = (first.plain()?, second.plain()?);
                Some(quote!((#first, #second)))
            }
        }
    }

    /// Returns a copy of the item, and whether the item is a reference, if it is one value.
    pub(super) fn copied(&self) -> Option<(TokenStream, bool)> {
        match self {
            Item::Value(value) => Some((value.clone(), false)),
            Item::Reference { mutable: false, place: value } | Item::Copy(value) => Some((value.clone(), true)),
            Item::Reference { mutable: true, .. }
            | Item::Place(_)
            | Item::Part(_)
            | Item::LocalPart { .. }
            | Item::Pair(..) => None,
        }
    }

    /// Adds the names of a pattern that stand for places.
    pub(super) fn places(&self, pat: &Pat, places: &mut Vec<NamedPlace>) {
        match (pat, self) {
            (Pat::Paren(paren), _) => self.places(&paren.pat, places),
            (Pat::Tuple(tuple), Item::Pair(first, second)) if tuple.elems.len() == 2 => {
                first.places(&tuple.elems[0], places);
                second.places(&tuple.elems[1], places);
            }
            (Pat::Ident(name), Item::Place(place)) => {
                let place = syn::parse2(place.clone()).ok();
                places.extend(place.map(|place| NamedPlace { name: name.ident.clone(), place }));
            }
            _ => {}
        }
    }

    fn plain(&self) -> Option<TokenStream> {
        self.value().filter(|_| !matches!(self, Item::Part(_)))
    }
}
