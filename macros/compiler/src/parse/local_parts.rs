//! Parts of local arrays: `let part = &v[1..4];`, `v[..n].iter()`, `v.windows(2)`, `let (left, right) = v.split_at(3);`. The text has no
//! slices of them: a part is a reference to the whole array, with variables for the part's start and length. It is used by index, by `len`
//! and by what is made of these: iterators, `fill`, `swap` and the like.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser as _;
use syn::{ExprIndex, ExprMethodCall, ExprRange, Local, Pat, RangeLimits, parse2};

use super::desugared_methods::is_plain;
use super::slice::split_name;
use super::syntax::strip;
use super::{Binding, Parser};
use crate::messages;
use crate::model::LocalId;
use crate::model::expr::{Expr, ExprKind, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::span::SpanRange;

/// The variables of a part of an array.
pub(super) struct LocalPart {
    /// The array, under a name that the user cannot write.
    whole: Ident,
    start: Ident,
    length: Ident,
    /// The array's own name, for one of two mutable parts: rustc would not have two mutable references to the array, so that its place is
    /// used.
    place: Option<(Ident, LocalId)>,
}

/// Elements of an array: the place that is indexed, the position of the first one, and their number.
#[derive(Clone)]
pub(super) struct Elements {
    pub(super) whole: TokenStream,
    pub(super) start: TokenStream,
    pub(super) length: TokenStream,
}

impl Elements {
    /// The elements from a position on.
    pub(super) fn within(self, start: &TokenStream, length: TokenStream) -> Elements {
        let from = &self.start;
        Elements { start: quote!((#from + #start)), length, whole: self.whole }
    }
}

impl Parser<'_> {
    /// Returns the part that a name stands for.
    pub(super) fn named_part(&self, expr: &syn::Expr) -> Option<Elements> {
        let syn::Expr::Path(path) = strip(expr) else { return None };
        let name = path.path.get_ident()?;
        let local = self.lookup(name)?;
        let LocalPart { whole, start, length, place } = self.local_parts.get(&local)?;
        // The array itself has another name.
        let is_part = Binding::of(name) == Binding::of(&self.function.local(local).name);
        let whole = match place {
            Some((name, array)) => Some(name).filter(|name| self.lookup(name) == Some(*array))?,
            None => whole,
        };
        let tokens = |name: &Ident| name.to_token_stream();
        is_part.then(|| Elements { whole: tokens(whole), start: tokens(start), length: tokens(length) })
    }

    /// Whether an expression is a place of an array that is not memory, as far as syntax shows.
    pub(super) fn is_local_array(&self, expr: &syn::Expr) -> bool {
        match strip(expr) {
            syn::Expr::Path(path) => match self.named_local(expr) {
                Some(local) => {
                    let local = self.function.local(local);
                    let is_own = matches!(local.kind, Kind::Value | Kind::Reference { .. });
                    is_own && (local.is_array || matches!(local.kind, Kind::Reference { .. }))
                }
                // A constant.
                None => {
                    path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
                }
            },
            syn::Expr::Field(field) => self.root(&field.base).is_some_and(|root| self.is_own(root)),
            syn::Expr::Index(index) => !matches!(*index.index, syn::Expr::Range(_)) && self.is_local_array(&index.expr),
            _ => false,
        }
    }

    /// Whether an expression is an array in a variable, as far as syntax shows.
    pub(super) fn is_local_place(&self, expr: &syn::Expr) -> bool {
        self.is_local_array(expr) && self.root(expr).is_some()
    }

    /// Whether an expression is a variable of the thread's own, no parameter that is memory.
    pub(super) fn is_own_variable(&self, expr: &syn::Expr) -> bool {
        self.named_local(expr).is_some_and(|local| self.is_own(local))
    }

    /// Whether an expression names one of two mutable parts of an array.
    pub(super) fn is_mutable_half(&self, expr: &syn::Expr) -> bool {
        let half = self.named_local(expr).and_then(|local| self.local_parts.get(&local));
        half.is_some_and(|half| half.place.is_some())
    }

    fn is_own(&self, local: LocalId) -> bool {
        matches!(self.function.kind(local), Kind::Value | Kind::Reference { .. })
    }

    /// The variable that a place is a part of.
    fn root(&self, place: &syn::Expr) -> Option<LocalId> {
        match strip(place) {
            syn::Expr::Path(_) => self.named_local(place),
            syn::Expr::Field(field) => self.root(&field.base),
            syn::Expr::Index(index) => self.root(&index.expr),
            _ => None,
        }
    }

    /// Returns the elements of a part, or of `array[a..b]`, whose bounds are evaluated and tested by the statements.
    pub(super) fn local_elements(&mut self, expr: &syn::Expr, statements: &mut TokenStream) -> Option<Elements> {
        let expr = match strip(expr) {
            syn::Expr::Reference(reference) => &reference.expr,
            expr => expr,
        };
        if let Some(part) = self.named_part(expr) {
            return Some(part);
        }
        let syn::Expr::Index(ExprIndex { expr: base, index, .. }) = strip(expr) else { return None };
        let syn::Expr::Range(range) = &**index else { return None };
        let whole = match self.named_part(base) {
            Some(part) => part,
            None if self.is_local_array(base) => {
                Elements { whole: quote!(#base), start: quote!(0), length: quote!(#base.len()) }
            }
            None => return None,
        };
        Some(self.bounded(whole, range, statements))
    }

    /// Returns the elements in a range, whose bounds the statements evaluate and test.
    pub(super) fn bounded(&mut self, of: Elements, range: &ExprRange, statements: &mut TokenStream) -> Elements {
        self.bounds_made += 1;
        bounded(of, range, (SpanRange::of(range).lo, self.bounds_made), statements)
    }

    /// Parses `let part = &array[a..b];`, `let part = other;` or `let (left, right) = array.split_at(n);`, if the statement is one.
    pub(super) fn part_let(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let mut before = TokenStream::new();
        match (&local.pat, strip(&init.expr)) {
            (Pat::Wild(_), value) => self.named_part(value).map(|_| Vec::new()),
            (Pat::Ident(name), value)
                if name.by_ref.is_none() && name.subpat.is_none() && name.mutability.is_none() =>
            {
                let mutable = match value {
                    syn::Expr::Reference(reference) => reference.mutability.is_some(),
                    // An element of a part is read, and a part is a reference already.
                    syn::Expr::Path(_) => false,
                    _ => return None,
                };
                let elements = self.local_elements(value, &mut before)?;
                let mut out = self.made(before);
                self.bind_part(&name.ident, elements, mutable, &mut out)?;
                Some(out)
            }
            (Pat::Tuple(halves), syn::Expr::MethodCall(call)) if halves.elems.len() == 2 && call.args.len() == 1 => {
                let mutable = split_name(call)?;
                let array = match self.named_part(&call.receiver) {
                    Some(part) => part,
                    None if matches!(strip(&call.receiver), syn::Expr::Index(index) if !is_plain(&index.index)) => {
                        self.local_elements(&call.receiver, &mut before)?
                    }
                    None if self.is_local_array(&call.receiver) => {
                        let whole = &call.receiver;
                        Elements { whole: quote!(#whole), start: quote!(0), length: quote!(#whole.len()) }
                    }
                    None => return None,
                };
                // A part of a part is one of the same array.
                let place = match strip(&call.receiver) {
                    syn::Expr::Path(path) if mutable => {
                        match (self.named_part(&call.receiver), path.path.get_ident()) {
                            (None, Some(name)) => self.lookup(name).map(|array| (name.clone(), array)),
                            (Some(_), Some(name)) => {
                                self.lookup(name).and_then(|part| self.local_parts.get(&part)?.place.clone())
                            }
                            (_, None) => None,
                        }
                    }
                    _ => None,
                };
                if mutable && place.is_none() {
                    self.diags.push(messages::split_at_mut(SpanRange::of(call)));
                    return Some(Vec::new());
                }
                let at = SpanRange::of(&call.method).lo;
                let (middle, number, length) =
                    (Ident::new("middle", at.resolved_at(Span::mixed_site())), &call.args[0], &array.length);
                before.extend(quote_spanned!(at=>
                    let #middle: ::core::primitive::usize = #number;
                    assert!(#middle <= #length, "mid > len");
                ));
                let middle = middle.to_token_stream();
                let left = array.clone().within(&quote!(0), middle.clone());
                let right = quote!((#length - #middle));
                let right = array.clone().within(&middle, right);
                let mut out = self.made(before);
                for (half, elements) in halves.elems.iter().zip([left, right]) {
                    match half {
                        Pat::Wild(_) => {}
                        Pat::Ident(name) => match &place {
                            Some(place) => self.bind_place(&name.ident, elements, place.clone(), &mut out),
                            None => self.bind_part(&name.ident, elements, false, &mut out)?,
                        },
                        _ => return None,
                    }
                }
                Some(out)
            }
            _ => None,
        }
    }

    /// Parses statements that were made.
    pub(super) fn made(&mut self, statements: TokenStream) -> Vec<Stmt> {
        let statements = syn::Block::parse_within.parse2(statements).unwrap_or_default();
        self.statements(&statements).0
    }

    /// Binds a name to a part of an array that is used by the array's own name.
    fn bind_place(&mut self, name: &Ident, elements: Elements, place: (Ident, LocalId), out: &mut Vec<Stmt>) {
        let part = self.bind_bounds(name, elements.start, elements.length, out);
        let local = self.declare(name, None, Kind::Reference { mutable: true }, None);
        self.function.locals[local.0].is_array = true;
        self.local_parts.insert(local, LocalPart { place: Some(place), ..part });
    }

    /// Binds the variables of a part that has a name.
    fn bind_bounds(&mut self, name: &Ident, from: TokenStream, count: TokenStream, out: &mut Vec<Stmt>) -> LocalPart {
        let of = |what: &str| format_ident!("{what}_of_{name}", span = name.span().resolved_at(Span::mixed_site()));
        let (start, length) = (of("start"), of("length"));
        out.extend(self.made(quote_spanned!(name.span()=>
            let #start: ::core::primitive::usize = #from;
            let #length: ::core::primitive::usize = #count;
        )));
        LocalPart { whole: of("whole"), start, length, place: None }
    }

    /// Binds a name to a part of an array.
    pub(super) fn bind_part(
        &mut self,
        name: &Ident,
        elements: Elements,
        mutable: bool,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let Elements { whole, start, length } = elements;
        let part = self.bind_bounds(name, start, length, out);
        let span = SpanRange::of(name);
        let target = self.expr(&parse2(whole).ok()?);
        let target = match target.result_kind {
            Kind::Reference { .. } => super::expr::dereferenced(target),
            _ => target,
        };
        let kind = ExprKind::Borrow { mutable, target: Box::new(target) };
        let init = Expr { kind, result_kind: Kind::Reference { mutable }, span };
        let local = self.declare(name, None, Kind::Reference { mutable }, None);
        self.function.locals[local.0].is_array = true;
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(Binding::of(&part.whole), local);
        }
        self.local_parts.insert(local, part);
        out.push(Stmt { kind: StmtKind::Let { local, ty: None, init: Some(init) }, span });
        Some(())
    }

    /// Returns the element of a part at an index, which is tested.
    pub(super) fn element_of_part(&self, index: &ExprIndex) -> Option<TokenStream> {
        let Elements { whole, start, length } = self.named_part(&index.expr)?;
        let (at, position) = (SpanRange::of(index).lo, &index.index);
        let k = Ident::new("position", at.resolved_at(Span::mixed_site()));
        Some(quote_spanned!(at=> #whole[{
            let #k = ::phalanx::__private::PartIndex::position(#position);
            assert!(#k < #length, "index out of bounds: the len is {} but the index is {}", #length, #k);
            #start + #k
        }]))
    }

    /// Parses a method of a part: `len` and `is_empty` of one that has a name, any method of slices of `array[a..b]`, which gets one.
    pub(super) fn method_of_part(&mut self, call: &ExprMethodCall, span: SpanRange) -> Option<Expr> {
        /// Those that iterators are made of know parts themselves.
        const SOURCES: [&str; 8] =
            ["iter", "iter_mut", "windows", "chunks", "chunks_exact", "chunks_mut", "chunks_exact_mut", "into_iter"];
        /// Those that change elements.
        const CHANGE: [&str; 14] = [
            "fill",
            "swap",
            "reverse",
            "rotate_left",
            "rotate_right",
            "copy_from_slice",
            "clone_from_slice",
            "copy_within",
            "sort",
            "sort_unstable",
            "sort_by",
            "sort_unstable_by",
            "sort_by_key",
            "sort_unstable_by_key",
        ];
        let name = call.method.to_string();
        let at = SpanRange::of(&call.method).lo;
        if let Some(Elements { length, .. }) = self.named_part(&call.receiver) {
            return match (name.as_str(), call.args.len()) {
                ("len", 0) => Some(self.in_place(quote_spanned!(at=> #length), span)),
                ("is_empty", 0) => Some(self.in_place(quote_spanned!(at=> (#length == 0)), span)),
                _ => None,
            };
        }
        let mut ignored = TokenStream::new();
        if SOURCES.contains(&name.as_str())
            || !matches!(strip(&call.receiver), syn::Expr::Index(_))
            || self.local_elements(&call.receiver, &mut ignored).is_none()
        {
            return None;
        }
        let part = Ident::new("part", at.resolved_at(Span::mixed_site()));
        let mutable = CHANGE.contains(&name.as_str()).then(|| quote!(mut));
        let (array, method, turbofish, arguments) = (&call.receiver, &call.method, &call.turbofish, &call.args);
        let named = quote_spanned!(at=> { let #part = &#mutable #array; #part.#method #turbofish(#arguments) });
        Some(self.in_place(named, span))
    }
}

/// Returns the elements in a range, whose bounds the statements evaluate and test.
fn bounded(of: Elements, range: &ExprRange, (at, number): (Span, usize), statements: &mut TokenStream) -> Elements {
    // Several parts may be used side by side.
    let fresh = |name: &str| format_ident!("{name}_{number}", span = at.resolved_at(Span::mixed_site()));
    let (low, high, length) = (fresh("low"), fresh("high"), of.length.clone());
    let start = range.start.as_ref().map_or(quote!(0), |start| quote!(#start));
    let end = match (&range.end, &range.limits) {
        (Some(end), RangeLimits::HalfOpen(_)) => quote!(#end),
        (Some(end), RangeLimits::Closed(_)) => quote!((#end) + 1),
        (None, _) => length.clone(),
    };
    let starts_at_zero = range.start.is_none();
    statements.extend(quote_spanned!(at=>
        let #low: ::core::primitive::usize = #start;
        let #high: ::core::primitive::usize = #end;
    ));
    let message = "range {}..{} out of bounds: the len is {}";
    match (starts_at_zero, range.end.is_none()) {
        (true, true) => {}
        (true, false) => {
            statements.extend(quote_spanned!(at=> assert!(#high <= #length, #message, #low, #high, #length);))
        }
        (false, true) => {
            statements.extend(quote_spanned!(at=> assert!(#low <= #high, #message, #low, #high, #length);))
        }
        (false, false) => statements
            .extend(quote_spanned!(at=> assert!(#low <= #high && #high <= #length, #message, #low, #high, #length);)),
    }
    of.within(&low.to_token_stream(), quote!((#high - #low)))
}
