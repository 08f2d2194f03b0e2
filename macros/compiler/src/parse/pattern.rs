//! Patterns. A name that begins with a capital letter is taken for a constant or a variant, any other name is bound.
//! `emit/host/pattern.rs` makes rustc agree, so that a wrong guess is an error.

use proc_macro2::{Ident, Span};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprLit, Lit, Pat, PatIdent, RangeLimits, UnOp};

use super::aggregate::member_of;
use super::expr::{fits_64_bits, without_suffix};
use super::float_patterns;
use super::syntax::strip;
use super::ty::OF_LETTERS;
use super::{Binding, Parser};
use crate::messages;
use crate::model::expr::{self as model, Arm, Condition, ExprKind, Member};
use crate::model::group::Group;
use crate::model::kind::{Kind, Memory};
use crate::model::name::Space;
use crate::model::op::Variant;
use crate::model::pattern::{Pattern, PatternKind};
use crate::model::ty;
use crate::model::{LocalId, ValueId};
use crate::span::SpanRange;

impl Parser<'_> {
    /// Parses a pattern for a value of this kind.
    pub(super) fn pattern(&mut self, pat: &Pat, result_kind: Kind) -> Pattern {
        let span = SpanRange::of(pat);
        let kind = match result_kind {
            Kind::Token(_) | Kind::OptionalToken(_) => self.token_pattern(pat, result_kind),
            Kind::OptionalMemory(memory) => self.memory_pattern(pat, memory),
            Kind::Unknown => self.value_pattern(pat, Kind::Unknown),
            _ => self.value_pattern(pat, Kind::Value),
        };
        self.supported(kind, span)
    }

    /// Returns the pattern, or reports that the language does not have it.
    fn supported(&mut self, kind: Option<PatternKind>, span: SpanRange) -> Pattern {
        let kind = kind.unwrap_or_else(|| {
            self.diags.push(messages::unsupported_pattern(span));
            PatternKind::Error
        });
        Pattern { kind, span }
    }

    /// Parses a pattern for a token. Names, `_`, `Some` and `None` are the patterns through which a token can be
    /// followed.
    fn token_pattern(&mut self, pat: &Pat, result_kind: Kind) -> Option<PatternKind> {
        match (pat, result_kind) {
            (Pat::Paren(paren), _) => self.token_pattern(&paren.pat, result_kind),
            (Pat::Wild(_), _) => Some(PatternKind::Wild),
            (Pat::Ident(name), Kind::OptionalToken(_)) if is_plain(name) && self.is_none(&name.ident) => {
                Some(PatternKind::Variant { variant: Variant::None, field: None })
            }
            (Pat::Ident(name), _) if is_plain(name) => {
                let local = self.declare(&name.ident, name.mutability.map(|token| token.span), result_kind, None);
                Some(PatternKind::Bind { local, sub: None })
            }
            (Pat::TupleStruct(pat), Kind::OptionalToken(group)) if self.variant(&pat.path) == Some(Variant::Some) => {
                let [field] = pat.elems.iter().collect::<Vec<_>>()[..] else { return None };
                if !matches!(field, Pat::Wild(_) | Pat::Ident(_)) {
                    // No token has parts: what is assigned to the option says so. The names count until then, too.
                    let is_unknown = group.is_none() && self.known.is_empty();
                    self.learned |= is_unknown;
                    let field = Box::new(is_unknown.then(|| self.pattern(field, Kind::Unknown))?);
                    return Some(PatternKind::Variant { variant: Variant::Some, field: Some(field) });
                }
                let token = match group {
                    Some(group) => Kind::Token(group),
                    // Only `None` was assigned to it so far.
                    None if self.known.is_empty() => {
                        self.learned = true;
                        Kind::Unknown
                    }
                    None => Kind::Token(Group::Cluster),
                };
                let field = pat.elems.first().map(|field| Box::new(self.pattern(field, token)));
                Some(PatternKind::Variant { variant: Variant::Some, field })
            }
            _ => None,
        }
    }

    /// Parses a pattern for an optional slice. The slice inside must get a name, by which it is followed.
    fn memory_pattern(&mut self, pat: &Pat, memory: Memory) -> Option<PatternKind> {
        match pat {
            Pat::Paren(paren) => self.memory_pattern(&paren.pat, memory),
            Pat::Wild(_) => Some(PatternKind::Wild),
            Pat::Ident(name) if is_plain(name) && self.is_none(&name.ident) => {
                Some(PatternKind::Variant { variant: Variant::None, field: None })
            }
            Pat::TupleStruct(pat) if self.variant(&pat.path) == Some(Variant::Some) => {
                let [field] = pat.elems.iter().collect::<Vec<_>>()[..] else { return None };
                let kind = match field {
                    Pat::Wild(_) => PatternKind::Wild,
                    Pat::Ident(name) if is_plain(name) => {
                        let result_kind = Kind::Memory(memory);
                        let local =
                            self.declare(&name.ident, name.mutability.map(|token| token.span), result_kind, None);
                        PatternKind::Bind { local, sub: None }
                    }
                    _ => return None,
                };
                let field = Some(Box::new(Pattern { kind, span: SpanRange::of(field) }));
                Some(PatternKind::Variant { variant: Variant::Some, field })
            }
            _ => None,
        }
    }

    fn value_pattern(&mut self, pat: &Pat, result_kind: Kind) -> Option<PatternKind> {
        match pat {
            Pat::Paren(paren) => self.value_pattern(&paren.pat, result_kind),
            Pat::Wild(_) => Some(PatternKind::Wild),
            Pat::Lit(literal) if matches!(literal.lit, Lit::Float(_)) => {
                self.diags.push(messages::float_pattern(SpanRange::of(literal)));
                Some(PatternKind::Error)
            }
            Pat::Lit(literal) if matches!(literal.lit, Lit::Char(_)) => Some(self.letter_pattern(pat)),
            Pat::Range(range) if is_letter(range.start.as_deref()) || is_letter(range.end.as_deref()) => {
                Some(self.letter_pattern(pat))
            }
            Pat::Lit(literal) => literal_pattern(&literal.lit),
            // A reference to a part that nothing changes meanwhile.
            Pat::Ident(name) if name.by_ref.is_some() => {
                let sub = name.subpat.as_ref().map(|(_, sub)| Box::new(self.pattern(sub, result_kind)));
                if name.mutability.is_some() {
                    self.diags.push(messages::mutable_binding(SpanRange::of(pat)));
                    return Some(PatternKind::Bind { local: self.bound_name(name, Kind::Unknown)?, sub });
                }
                let is_shared = result_kind == Kind::Value;
                let local = is_shared.then(|| self.bound_name(name, Kind::Reference { mutable: false }))??;
                Some(PatternKind::Bind { local, sub })
            }
            Pat::Ident(name) => match &name.subpat {
                None if self.is_none(&name.ident) => Some(PatternKind::Variant { variant: Variant::None, field: None }),
                None if name.mutability.is_none() && is_constant(&name.ident) => {
                    Some(self.compared(|parser| parser.constant(name.to_token_stream(), &name.ident.to_string())))
                }
                sub => {
                    let sub = sub.as_ref().map(|(_, sub)| Box::new(self.pattern(sub, result_kind)));
                    let local = self.bound_name(name, result_kind)?;
                    Some(PatternKind::Bind { local, sub })
                }
            },
            Pat::Path(path) if path.qself.is_none() && self.variant(&path.path) == Some(Variant::None) => {
                Some(PatternKind::Variant { variant: Variant::None, field: None })
            }
            Pat::Path(path) => Some(self.compared(|parser| parser.constant_path(path))),
            Pat::Range(range) => {
                let low = range.start.as_ref().map(|end| self.range_end(end));
                let high = range.end.as_ref().map(|end| self.range_end(end));
                let inclusive = matches!(range.limits, RangeLimits::Closed(_));
                Some(PatternKind::Range { low, high, inclusive })
            }
            Pat::Tuple(tuple) => {
                let (elements, rest) = self.first_fields(&tuple.elems, result_kind)?;
                Some(PatternKind::Tuple { elements, rest })
            }
            Pat::Slice(array) => {
                let is_rest = |element: &&Pat| matches!(element, Pat::Ident(PatIdent { by_ref: None, subpat: Some((_, rest)), .. }) if matches!(**rest, Pat::Rest(_)));
                let rest = array.elems.iter().find(is_rest);
                let others = rest.map(|rest| {
                    let Pat::Ident(name) = rest else { return None };
                    let local = self.bound_name(name, result_kind)?;
                    Some(Box::new(Pattern { kind: PatternKind::Bind { local, sub: None }, span: SpanRange::of(rest) }))
                });
                let dots = Pat::Rest(syn::PatRest { attrs: Vec::new(), dot2_token: Default::default() });
                let elements = array.elems.iter().map(|element| if is_rest(&element) { &dots } else { element });
                let (elements, rest) = self.fields(elements, result_kind)?;
                Some(PatternKind::Array {
                    elements,
                    rest,
                    others: others.map_or(Some(None), |others| others.map(Some))?,
                })
            }
            Pat::TupleStruct(pat) => {
                let variant = self.variant(&pat.path);
                let (mut fields, rest) = self.first_fields(&pat.elems, result_kind)?;
                match variant {
                    Some(variant) => {
                        let field = (fields.len() == 1 && !rest).then(|| fields.pop())??;
                        Some(PatternKind::Variant { variant, field: Some(Box::new(field)) })
                    }
                    None => {
                        let fields = (0..).map(Member::Unnamed).zip(fields).collect();
                        let variant = self.variant_of_enum(&pat.path);
                        Some(PatternKind::Struct { path: pat.path.to_token_stream(), variant, fields, rest })
                    }
                }
            }
            Pat::Struct(pat) => {
                let fields =
                    pat.fields.iter().map(|field| (member_of(&field.member), self.pattern(&field.pat, result_kind)));
                let fields = fields.collect();
                let (variant, rest) = (self.variant_of_enum(&pat.path), pat.rest.is_some());
                Some(PatternKind::Struct { path: pat.path.to_token_stream(), variant, fields, rest })
            }
            Pat::Or(alternatives) => {
                let around = self.alternatives.len();
                let mut patterns = Vec::new();
                for case in &alternatives.cases {
                    let pattern = self.pattern(case, result_kind);
                    self.alternatives.extend(pattern.locals());
                    patterns.push(pattern);
                }
                self.alternatives.truncate(around);
                Some(PatternKind::Or(patterns))
            }
            _ => None,
        }
    }

    /// Refuses a pattern of letters, unless the type of what it matches is refused.
    fn letter_pattern(&mut self, pat: &Pat) -> PatternKind {
        if self.reported_types.insert(OF_LETTERS.to_string()) {
            self.diags.push(messages::letter_pattern(SpanRange::of(pat)));
        }
        PatternKind::Error
    }

    /// Returns the local of a name: that of an earlier alternative, or a new one.
    fn bound_name(&mut self, name: &syn::PatIdent, result_kind: Kind) -> Option<LocalId> {
        let mutable = name.mutability.map(|token| token.span);
        let binding = Binding::of(&name.ident);
        let known = self.alternatives.iter().find(|local| Binding::of(&self.function.local(**local).name) == binding);
        match known.copied() {
            // rustc checks that the alternatives agree; the host body declares the first.
            Some(local) => (self.function.local(local).mutable.is_some() == mutable.is_some()).then_some(local),
            None => Some(self.declare(&name.ident, mutable, result_kind, None)),
        }
    }

    /// Parses the fields of a tuple or a struct. The text does not show how many there are, so `..` may only stand
    /// last.
    fn first_fields<'p>(
        &mut self,
        fields: impl IntoIterator<Item = &'p Pat>,
        result_kind: Kind,
    ) -> Option<(Vec<Pattern>, bool)> {
        let (parts, rest) = self.fields(fields, result_kind)?;
        rest.is_none_or(|rest| rest == parts.len()).then_some((parts, rest.is_some()))
    }

    /// Parses fields, and returns the position of `..` among them.
    fn fields<'p>(
        &mut self,
        fields: impl IntoIterator<Item = &'p Pat>,
        result_kind: Kind,
    ) -> Option<(Vec<Pattern>, Option<usize>)> {
        let mut parts = Vec::new();
        let mut rest = None;
        for field in fields {
            match field {
                Pat::Rest(_) if rest.is_some() => return None,
                Pat::Rest(_) => rest = Some(parts.len()),
                field => parts.push(self.pattern(field, result_kind)),
            }
        }
        Some((parts, rest))
    }

    /// Makes a pattern of a constant, and has rustc check that C++ can compare with it.
    fn compared(&mut self, constant: impl FnOnce(&mut Self) -> ValueId) -> PatternKind {
        let constant = constant(self);
        self.function.values[usize::from(constant.0)].in_pattern = true;
        PatternKind::Constant(constant)
    }

    fn range_end(&mut self, end: &Expr) -> Box<Pattern> {
        let kind = match end {
            Expr::Lit(literal) => literal_pattern(&literal.lit),
            Expr::Unary(minus) if matches!(minus.op, UnOp::Neg(_)) => match &*minus.expr {
                Expr::Lit(ExprLit { lit: Lit::Int(_), .. }) => {
                    let text = end.to_token_stream().to_string().replace(' ', "");
                    integer_pattern(&text, "")
                }
                _ => None,
            },
            Expr::Path(path) => Some(self.compared(|parser| parser.constant_path(path))),
            _ => None,
        };
        Box::new(self.supported(kind, SpanRange::of(end)))
    }

    /// Whether a macro is `matches!`.
    pub(super) fn is_matches(&mut self, call: &syn::Macro) -> bool {
        call.path.segments.last().is_some_and(|last| last.ident == "matches")
            && self.known(&call.path, Space::Macro).is_some()
    }

    /// Returns the variant of `Option` or `Result` that a path names.
    fn variant(&mut self, path: &syn::Path) -> Option<Variant> {
        self.known(path, Space::Variant).and_then(Variant::by_name)
    }

    fn is_none(&mut self, name: &Ident) -> bool {
        name == "None" && self.known_name(name, Space::Variant).is_some()
    }

    /// Parses `match scrutinee { pattern if guard => body, .. }`.
    pub(super) fn match_expr(&mut self, expr: &syn::ExprMatch, span: SpanRange) -> model::Expr {
        let copied = self.match_over_copy(expr);
        let expr = copied.as_ref().unwrap_or(expr);
        let scrutinee = self.scrutinee(&expr.expr);
        self.match_arms(scrutinee, &expr.arms, span)
    }

    pub(super) fn match_arms(&mut self, scrutinee: model::Expr, of: &[syn::Arm], span: SpanRange) -> model::Expr {
        let mut result_kind = None;
        let mut arms = Vec::new();
        for arm in of {
            // The names that the pattern binds are in scope in the guard and the body.
            let (arm, bound) = self.scoped(|parser| {
                let (pat, guard) = match &arm.pat {
                    Pat::Guard(guarded) => (&*guarded.pat, Some(&guarded.guard)),
                    pat => (pat, None),
                };
                let compared = float_patterns::without(pat, guard.map(|guard| &**guard));
                let (pat, guard) = match &compared {
                    Some((pat, guard)) => (pat, Some(guard)),
                    None => (pat, guard.map(|guard| &**guard)),
                };
                let pattern = parser.pattern(pat, scrutinee.result_kind);
                parser.note_arrays(&pattern, &scrutinee);
                let guard = guard.map(|guard| parser.condition(guard));
                let is_tried = match guard {
                    None => true,
                    Some(Condition::Value(_)) => pattern.tried().is_some(),
                    Some(Condition::Let { .. } | Condition::All(_)) => !pattern.has_choice(),
                };
                if !is_tried {
                    parser.diags.push(messages::guarded_choice(pattern.span));
                }
                (pattern, guard, parser.expr(&arm.body))
            });
            let (pattern, guard, body) = arm;
            let body = self.arm_body(body, bound);
            result_kind =
                Some(result_kind.map_or(body.result_kind, |result_kind: Kind| result_kind.join(body.result_kind)));
            arms.push(Arm { pattern, guard, body });
        }
        let mut result_kind = result_kind.unwrap_or(Kind::Never);
        let slot = self.value_slot(&mut result_kind);
        model::Expr { kind: ExprKind::Match { scrutinee: Box::new(scrutinee), arms, slot }, result_kind, span }
    }

    /// Parses `(a, b) = value;` as `match value { (x, y) => { a = x; b = y; } }`, as the Rust Reference defines it,
    /// with names that the user cannot write. Names of memory are no parts of a tuple: they are bound one by one.
    pub(super) fn assign_parts(&mut self, places: &syn::ExprTuple, value: &Expr, span: SpanRange) -> model::Expr {
        let fresh = span.lo.resolved_at(Span::mixed_site());
        let mut patterns = Vec::new();
        let mut assignments = Vec::new();
        for (index, place) in places.elems.iter().enumerate() {
            if let Expr::Infer(_) = place {
                patterns.push(quote_spanned!(span.lo=> _));
                continue;
            }
            let part = Ident::new(&format!("part_{index}"), fresh);
            assignments.push(quote_spanned!(SpanRange::of(place).lo=> #place = #part;));
            patterns.push(part.to_token_stream());
        }
        if let Expr::Tuple(values) = value
            && values.elems.len() == places.elems.len()
            && patterns.len() == assignments.len()
            && values.elems.iter().any(|value| self.names_memory(value))
        {
            let values = values.elems.iter();
            return self.in_place(quote_spanned!(span.lo=> { #(let #patterns = #values;)* #(#assignments)* }), span);
        }
        match syn::parse2(quote_spanned!(span.lo=> match #value { (#(#patterns,)*) => { #(#assignments)* } })) {
            Ok(assignment) => self.match_expr(&assignment, span),
            Err(_) => self.error(messages::assignment_target(span)),
        }
    }

    /// Parses `matches!(value, pattern if guard)`.
    pub(super) fn matches(&mut self, call: &syn::Macro, span: SpanRange) -> model::Expr {
        let parsed = call.parse_body_with(|input: syn::parse::ParseStream<'_>| {
            let value: Expr = input.parse()?;
            input.parse::<syn::Token![,]>()?;
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.parse::<Option<syn::Token![if]>>()? {
                Some(_) => Some(input.parse::<Expr>()?),
                None => None,
            };
            input.parse::<Option<syn::Token![,]>>()?;
            Ok((value, pattern, guard))
        });
        let Ok((value, pattern, guard)) = parsed else {
            return self.error(messages::matches_form(span));
        };
        let guard = guard.map(|guard| quote_spanned!(span.lo=> if #guard));
        match syn::parse2(quote_spanned!(span.lo=> match (#value) { #pattern #guard => true, _ => false })) {
            Ok(expr) => self.match_expr(&expr, span),
            Err(_) => self.error(messages::matches_form(span)),
        }
    }

    /// Parses the scrutinee of a `match`, an `if let` or a `let else`: plain data, or an optional token.
    pub(super) fn scrutinee(&mut self, expr: &Expr) -> model::Expr {
        if let Expr::Reference(reference) = strip(expr)
            && reference.mutability.is_some()
        {
            return self.error(messages::mutable_parts(SpanRange::of(expr)));
        }
        let mut scrutinee = self.expr(expr);
        match scrutinee.result_kind {
            Kind::Value | Kind::Unknown | Kind::Never | Kind::OptionalToken(_) | Kind::OptionalMemory(_) => {}
            kind @ (Kind::Reference { .. }
            | Kind::Extent
            | Kind::Unit
            | Kind::Group(_)
            | Kind::Token(_)
            | Kind::Closure
            | Kind::Barrier(_)
            | Kind::TensorMap { .. }
            | Kind::Memory(_)) => {
                self.diags.push(messages::scrutinee_kind(scrutinee.span, kind));
                scrutinee.result_kind = Kind::Unknown;
            }
        }
        scrutinee
    }
}

fn is_plain(name: &syn::PatIdent) -> bool {
    name.by_ref.is_none() && name.subpat.is_none()
}

fn is_letter(end: Option<&Expr>) -> bool {
    matches!(end, Some(Expr::Lit(ExprLit { lit: Lit::Char(_), .. })))
}

/// Whether the name is a constant's by Rust's convention, which Rust's lints enforce.
fn is_constant(name: &Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

fn literal_pattern(literal: &Lit) -> Option<PatternKind> {
    match literal {
        Lit::Bool(value) => Some(PatternKind::Bool(value.value)),
        Lit::Int(int) => integer_pattern(&int.to_string(), int.suffix()),
        Lit::Byte(byte) => integer_pattern(&byte.value().to_string(), "u8"),
        _ => None,
    }
}

fn integer_pattern(text: &str, suffix: &str) -> Option<PatternKind> {
    let negative = text.starts_with('-');
    let digits = without_suffix(text.trim_start_matches('-'), suffix);
    let suffix = if suffix.is_empty() { "" } else { ty::scalar(suffix)? };
    fits_64_bits(&digits).then_some(PatternKind::Int { digits, negative, suffix })
}
