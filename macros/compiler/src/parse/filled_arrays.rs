//! `let x: [T; N] = std::array::from_fn(|k| ..);` as the declaration of an array and a loop that assigns its elements, so that what
//! holds of loops holds of it: the tests of its loads move to before it, and its loads are issued together. Rust gets it as it was.

use super::Parser;
use super::syntax::strip;
use crate::model::array_functions::is_array_of;
use crate::model::expr::{Block, Expr, ExprKind, LiteralType, Stmt, StmtKind};
use crate::model::kind::Kind;
use crate::model::range::Range;
use crate::model::ty::TypeShape;
use crate::model::{SlotUse, ValueId};
use crate::span::SpanRange;

/// Which `std::array::from_fn(f)` fills an array: one that is the whole value of a `let` with an array's type. Its closure is a loop's body,
/// in which threads may meet.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Filling {
    #[default]
    No,
    /// The value that is parsed next.
    Next,
    /// The closure around what is parsed.
    Inside,
}

impl Parser<'_> {
    /// Notes whether the value of a `let` that is parsed next is an array that becomes a loop.
    pub(super) fn note_filling(&mut self, ty: Option<&TypeShape>, init: &syn::Expr) {
        let is_array = matches!(ty, Some(TypeShape::Array(_, length)) if self.is_fixed(*length));
        let is_call = match strip(init) {
            syn::Expr::Call(call) => call.args.len() == 1 && matches!(call.args.first(), Some(syn::Expr::Closure(_))),
            _ => false,
        };
        if is_array && is_call && self.closures == 0 {
            self.filling = Filling::Next;
        }
    }

    /// Parses the call of `std::array::from_fn`.
    pub(super) fn in_filling(&mut self, parse: impl FnOnce(&mut Self) -> Expr) -> Expr {
        let inside = if self.filling == Filling::Next { Filling::Inside } else { Filling::No };
        let around = std::mem::replace(&mut self.filling, inside);
        let made = parse(self);
        self.filling = if around == Filling::Next { Filling::No } else { around };
        made
    }

    /// Whether what is parsed belongs to the closure that fills an array, and to no other one.
    pub(super) fn is_in_filling(&self) -> bool {
        self.closures == 1 && self.filling == Filling::Inside
    }

    /// Returns the statements that a statement is.
    pub(super) fn filled(&mut self, kind: StmtKind, span: SpanRange) -> Vec<Stmt> {
        match kind {
            StmtKind::Let { local, ty: Some(ty), init: Some(init) } if self.fills(&ty.shape, &init) => {
                let at = init.span;
                let place = value(ExprKind::Local(local), at);
                let filling = self.filling(place, &ty.shape, init);
                if let ExprKind::For { id, .. } = filling.kind {
                    self.function.locals[local.0].filled_by = Some(id);
                }
                let declaration = Stmt { kind: StmtKind::Let { local, ty: Some(ty), init: None }, span };
                vec![declaration, Stmt { kind: StmtKind::Expr(filling), span: at }]
            }
            kind => vec![Stmt { kind, span }],
        }
    }

    /// Whether a value is an array that a closure makes, of a length that the text gives.
    fn fills(&self, shape: &TypeShape, init: &Expr) -> bool {
        let (TypeShape::Array(_, length), true) = (shape, is_made_by_closure(init)) else { return false };
        self.is_fixed(*length)
    }

    /// Whether the text gives the length, by a number or a name.
    fn is_fixed(&self, length: ValueId) -> bool {
        let length = &self.function.values[usize::from(length.0)];
        let is_named = || matches!(syn::parse2(length.tokens.clone()), Ok(syn::Expr::Path(_)));
        length.literal.is_some() || is_named()
    }

    /// Returns the loop that assigns the elements of an array what the closure returns, or the assignment of another value.
    fn filling(&mut self, place: Expr, shape: &TypeShape, init: Expr) -> Expr {
        let span = init.span;
        let init = inside(init);
        let (TypeShape::Array(element, length), true) = (shape, self.fills(shape, &init)) else {
            return Expr { kind: ExprKind::Assign(Box::new(place), Box::new(init)), result_kind: Kind::Unit, span };
        };
        let end = self.end_of(*length, span);
        let ExprKind::Call { slot, mut arguments, .. } = init.kind else { return Expr::error(span) };
        let Some(ExprKind::Closure { mut params, body, .. }) = arguments.pop().map(|closure| closure.kind) else {
            return Expr::error(span);
        };
        self.function.slots[usize::from(slot.0)] = SlotUse::Unused;
        let variable = params.pop().map(|(variable, _)| variable);
        let index = variable.map_or(number("0"), ExprKind::Local);
        let place =
            ExprKind::Index { base: Box::new(place), index: Box::new(value(index, span)), site: self.site(span) };
        let assignment = self.filling(value(place, span), element, *body);
        let kind = ExprKind::For {
            id: self.new_loop(),
            label: None,
            local: variable,
            range: Box::new(Range { start: value(number("0"), span), end, inclusive: false, adaptors: Vec::new() }),
            body: Block {
                statements: vec![Stmt { kind: StmtKind::Expr(assignment), span }],
                tail: None,
                span,
                declared: variable.into_iter().collect(),
            },
        };
        Expr { kind, result_kind: Kind::Unit, span }
    }

    fn end_of(&mut self, length: ValueId, span: SpanRange) -> Expr {
        let length = &self.function.values[usize::from(length.0)];
        match (length.literal, syn::parse2(length.tokens.clone())) {
            (None, Ok(path)) => self.expr(&path),
            (literal, _) => value(number(&literal.unwrap_or_default().to_string()), span),
        }
    }
}

/// Returns the value of a block without statements.
fn inside(value: Expr) -> Expr {
    match value.kind {
        ExprKind::Block(Block { statements, tail: Some(tail), .. }) if statements.is_empty() => inside(*tail),
        kind => Expr { kind, ..value },
    }
}

/// Whether a value is `std::array::from_fn(|k| ..)`.
fn is_made_by_closure(value: &Expr) -> bool {
    let ExprKind::Call { callee, arguments, .. } = &value.kind else { return false };
    let is_closure = |argument: &Expr| matches!(&argument.kind, ExprKind::Closure { params, .. } if params.len() == 1);
    is_array_of(callee) && arguments.iter().all(is_closure)
}

fn value(kind: ExprKind, span: SpanRange) -> Expr {
    Expr { kind, result_kind: Kind::Value, span }
}

fn number(digits: &str) -> ExprKind {
    ExprKind::Int { digits: digits.into(), ty: LiteralType::Suffix("usize") }
}
