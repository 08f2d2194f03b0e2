//! A range in the user's source, kept as its first and last token because `Span::join` is not stable.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The first and last token of a range in the source.
#[derive(Clone, Copy)]
pub(crate) struct SpanRange {
    pub(crate) lo: Span,
    pub(crate) hi: Span,
}

impl SpanRange {
    pub(crate) fn of(tokens: &impl ToTokens) -> Self {
        let stream: TokenStream = tokens.to_token_stream();
        let mut trees = stream.into_iter();
        let first = trees.next();
        let last = trees.last().or_else(|| first.clone());
        let lo = first.map_or_else(Span::call_site, |tree| match tree {
            TokenTree::Group(group) => group.span_open(),
            tree => tree.span(),
        });
        let hi = last.map_or(lo, |tree| match tree {
            TokenTree::Group(group) => group.span_close(),
            tree => tree.span(),
        });
        SpanRange { lo, hi }
    }

    pub(crate) fn at(span: Span) -> Self {
        SpanRange { lo: span, hi: span }
    }

    /// Whether another range begins inside of this one, in the same file.
    pub(crate) fn contains(self, other: SpanRange) -> bool {
        let begin = other.lo.start();
        self.lo.file() == other.lo.file() && (self.lo.start()..self.hi.end()).contains(&begin)
    }

    /// Whether both ranges are the same.
    pub(crate) fn is(self, other: SpanRange) -> bool {
        self.begins_with(other) && self.hi.end() == other.hi.end()
    }

    /// Whether both ranges begin at one place.
    pub(crate) fn begins_with(self, other: SpanRange) -> bool {
        self.lo.file() == other.lo.file() && self.lo.start() == other.lo.start()
    }

    /// Returns the line, from 1.
    pub(crate) fn line(self) -> u32 {
        u32::try_from(self.lo.start().line).unwrap_or(u32::MAX)
    }

    /// Returns the column, from 1, as rustc counts it.
    pub(crate) fn column(self) -> u32 {
        u32::try_from(self.lo.start().column + 1).unwrap_or(u32::MAX)
    }
}

/// Whether the user has written a name, and no rewriting has made it.
pub(crate) fn is_written(name: &Ident) -> bool {
    name.span().source_text().is_none_or(|text| *name == text.trim_start_matches("r#"))
}

impl std::fmt::Debug for SpanRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line(), self.column())
    }
}

/// Gives all tokens this place, since their own is not that of the file.
pub(crate) fn respanned(tokens: TokenStream, at: Span) -> TokenStream {
    let respan = |tree| match tree {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), respanned(group.stream(), at));
            moved.set_span(at);
            moved.into()
        }
        mut tree => {
            tree.set_span(at);
            tree
        }
    };
    tokens.into_iter().map(respan).collect()
}
