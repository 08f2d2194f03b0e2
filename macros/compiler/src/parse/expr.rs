//! Expressions other than calls and control flow.

use std::ops::ControlFlow;

use quote::ToTokens;
use syn::{BinOp, Lit, UnOp};

use super::Parser;
use super::operators::binary_op;
use super::slice::is_part;
use super::syntax::is_zero;
use crate::messages;
use crate::model::barrier::BarrierForm;
use crate::model::expr::{BinaryOp, Callee, Condition, Expr, ExprKind, LiteralType, Overload, UnaryOp};
use crate::model::kind::{Kind, Memory};
use crate::model::name::Space;
use crate::model::op::Op;
use crate::model::ty;
use crate::model::{SlotUse, ValueId};
use crate::span::SpanRange;

impl Parser<'_> {
    pub(super) fn expr(&mut self, expr: &syn::Expr) -> Expr {
        let span = SpanRange::of(expr);
        match expr {
            syn::Expr::Lit(literal) => self.literal(&literal.lit, span, None),
            syn::Expr::Paren(paren) => self.expr(&paren.expr),
            syn::Expr::Group(group) => self.expr(&group.expr),
            syn::Expr::Path(path) => self.path(path, span),
            syn::Expr::Unary(unary) => self.unary(unary, span),
            syn::Expr::Binary(binary) => self.binary(binary, span),
            syn::Expr::Cast(cast) => {
                let value = self.value(&cast.expr);
                let value = self.as_number(value);
                match self.cast_type(&cast.ty) {
                    Some(ty) => Expr { kind: ExprKind::Cast(Box::new(value), ty), result_kind: Kind::Value, span },
                    None => Expr::error(span),
                }
            }
            syn::Expr::Index(index) => self.index(index, span),
            syn::Expr::Field(field) => self.field(field, span),
            syn::Expr::Array(array) if array.elems.is_empty() => self.error(messages::no_elements_in_array(span)),
            syn::Expr::Repeat(repeat) if is_zero(&repeat.len) => self.error(messages::no_elements_in_array(span)),
            syn::Expr::Array(array) => self.array(array, span),
            syn::Expr::Repeat(repeat) => {
                let element = Box::new(self.element(&repeat.expr, "an array"));
                let slot = self.slot(SlotUse::Type);
                let (length, result_kind) = (repeat.len.to_token_stream(), of_parts(std::slice::from_ref(&element)));
                Expr { kind: ExprKind::Repeat { element, length, slot }, result_kind, span }
            }
            syn::Expr::Assign(assign) => self.assign(assign, span),
            syn::Expr::Call(call) => self.call(call, span),
            syn::Expr::MethodCall(call) => self.method_call(call, span),
            syn::Expr::Macro(call) if self.is_matches(&call.mac) => self.matches(&call.mac, span),
            syn::Expr::Macro(call) => self.macro_call(&call.mac),
            syn::Expr::Block(block) => self.block_expr(block, span),
            syn::Expr::Unsafe(block) => self.unsafe_block(block, span),
            syn::Expr::If(branch) => self.if_expr(branch, span),
            syn::Expr::While(repeat) => self.while_loop(repeat, span),
            syn::Expr::Loop(repeat) => self.plain_loop(repeat, span),
            syn::Expr::ForLoop(repeat) => self.for_loop(repeat, span),
            syn::Expr::Break(jump) => self.break_expr(jump, span),
            syn::Expr::Continue(jump) => self.continue_expr(jump, span),
            syn::Expr::Return(jump) => self.return_expr(jump, span),
            syn::Expr::Reference(reference) => self.reference(reference),
            syn::Expr::Tuple(tuple) => self.tuple(tuple, span),
            syn::Expr::Closure(closure) => self.closure(closure, span),
            syn::Expr::Struct(literal) => self.struct_literal(literal, span),
            syn::Expr::Match(choice) => self.match_expr(choice, span),
            syn::Expr::Let(_) => {
                self.error(messages::unsupported_syntax(span, "`let` outside of a condition is").help(
                    "in `if`, `while` and guards, it stands alone or in a chain of `&&`; `matches!` returns a `bool`",
                ))
            }
            syn::Expr::Range(_) => self.error(
                messages::unsupported_syntax(span, "ranges outside of `for` are")
                    .help("keep both ends, each as a value"),
            ),
            syn::Expr::Try(attempt) => self.attempt(attempt, false, span),
            syn::Expr::Async(_) | syn::Expr::Await(_) => self.error(messages::unsupported_syntax(span, "`async` is")),
            syn::Expr::Infer(_) => self.error(messages::unsupported_syntax(span, "`_` as a value is")),
            // Its value is the same whenever it is evaluated.
            syn::Expr::Const(constant) => self.plain_block(&constant.block, span),
            syn::Expr::RawAddr(_) => self.error(
                messages::unsupported_syntax(span, "a raw address is").help("use an index; `cuda!` can take addresses"),
            ),
            _ => self.error(messages::unsupported_syntax(span, "this expression is")),
        }
    }

    /// Parses an expression; a literal takes its type from its neighbour in the text.
    pub(super) fn beside(&mut self, expr: &syn::Expr) -> Expr {
        let span = SpanRange::of(expr);
        match expr {
            syn::Expr::Lit(literal) => self.literal(&literal.lit, span, Some(LiteralType::Beside)),
            syn::Expr::Paren(paren) => self.beside(&paren.expr),
            syn::Expr::Group(group) => self.beside(&group.expr),
            syn::Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) && is_literal(&unary.expr) => {
                let value = self.beside(&unary.expr);
                Expr { kind: ExprKind::Unary(UnaryOp::Neg, Box::new(value)), result_kind: Kind::Value, span }
            }
            expr => self.expr(expr),
        }
    }

    /// Parses an expression that must be a number or a truth value.
    pub(super) fn value(&mut self, expr: &syn::Expr) -> Expr {
        let expr = self.expr(expr);
        self.require_value(&expr);
        expr
    }

    pub(super) fn require_value(&mut self, expr: &Expr) {
        match expr.result_kind {
            Kind::Value | Kind::Unknown | Kind::Never => {}
            kind @ (Kind::Reference { .. }
            | Kind::Extent
            | Kind::Unit
            | Kind::Group(_)
            | Kind::Token(_)
            | Kind::OptionalToken(_)
            | Kind::Closure
            | Kind::OptionalMemory(_)
            | Kind::Barrier(_)
            | Kind::TensorMap { .. }
            | Kind::Memory(_)) => {
                self.learn_element(expr);
                self.diags.push(messages::operand_kind(expr.span, kind));
            }
        }
    }

    /// Asks rustc for the type of a value that C++ would deduce wrongly.
    pub(super) fn with_type(&mut self, value: Expr) -> Expr {
        if !may_be_eager_logic(&value) {
            return value;
        }
        let (span, slot) = (value.span, self.slot(SlotUse::Type));
        Expr { kind: ExprKind::Typed(Box::new(value), slot), result_kind: Kind::Value, span }
    }

    fn tuple(&mut self, tuple: &syn::ExprTuple, span: SpanRange) -> Expr {
        if tuple.elems.is_empty() {
            let block = syn::parse_quote!({});
            return Expr { kind: ExprKind::Block(self.block(&block)), result_kind: Kind::Unit, span };
        }
        let elements: Vec<Expr> = tuple.elems.iter().map(|element| self.element(element, "a tuple")).collect();
        let (slot, result_kind) = (self.slot(SlotUse::Type), of_parts(&elements));
        Expr { kind: ExprKind::Tuple { elements, slot }, result_kind, span }
    }

    /// Reports a token that goes where it cannot be followed, and stops following it, so that one error is reported
    /// once.
    pub(super) fn escape(&mut self, token: Expr, whereto: &str) -> Expr {
        if let ExprKind::Local(local) = token.kind {
            self.function.locals[local.0].kind = Kind::Unknown;
        }
        self.error(messages::token_escapes(token.span, whereto))
    }

    fn literal(&mut self, literal: &Lit, span: SpanRange, ty: Option<LiteralType>) -> Expr {
        let (digits, suffix, float) = match literal {
            Lit::Int(int) => (without_suffix(&int.to_string(), int.suffix()), int.suffix(), false),
            Lit::Float(float) => (without_suffix(&float.to_string(), float.suffix()), float.suffix(), true),
            // `b'a'` is a number of type `u8`.
            Lit::Byte(byte) => (byte.value().to_string(), "u8", false),
            Lit::Bool(value) => return Expr { kind: ExprKind::Bool(value.value), result_kind: Kind::Value, span },
            _ => return self.error(messages::literal(span)),
        };
        let ty = match (ty::scalar(suffix), ty) {
            (Some(scalar), _) => LiteralType::Suffix(scalar),
            (None, _) if !suffix.is_empty() => return self.error(messages::literal_suffix(span, suffix)),
            // A float's digits must be rounded once, to its own type, so rustc is always asked for it.
            (None, Some(ty)) if !float && fits_64_bits(&digits) => ty,
            (None, _) => LiteralType::Slot(self.slot(SlotUse::Type)),
        };
        let float = float || matches!(ty, LiteralType::Suffix("f32" | "f64"));
        let kind = if float { ExprKind::Float { digits, ty } } else { ExprKind::Int { digits, ty } };
        Expr { kind, result_kind: Kind::Value, span }
    }

    fn path(&mut self, path: &syn::ExprPath, span: SpanRange) -> Expr {
        if self.named_part(&syn::Expr::Path(path.clone())).is_some() {
            return self.error(messages::part_as_value(span));
        }
        if let Some(local) = path.path.get_ident().and_then(|ident| self.lookup(ident)) {
            let result_kind = self.function.kind(local);
            return Expr { kind: ExprKind::Local(local), result_kind, span };
        }
        let is_plain = path.qself.is_none() && path.path.segments.iter().all(|segment| segment.arguments.is_none());
        if is_plain && self.known(&path.path, Space::Variant) == Some("None") {
            let slot = self.slot(SlotUse::Option);
            return Expr { kind: ExprKind::None(slot), result_kind: Kind::OptionalToken(None), span };
        }
        Expr { kind: ExprKind::Constant(self.constant_path(path)), result_kind: Kind::Value, span }
    }

    /// Adds a constant by its path: `u32::MAX` is `u32_MAX` in the text.
    pub(super) fn constant_path(&mut self, path: &syn::ExprPath) -> ValueId {
        let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let name = segments[segments.len().saturating_sub(2)..].join("_");
        let constant = self.constant(path.to_token_stream(), &name);
        self.function.values[usize::from(constant.0)].is_variant = self.is_variant_alone(&path.path);
        constant
    }

    fn unary(&mut self, unary: &syn::ExprUnary, span: SpanRange) -> Expr {
        let op = match unary.op {
            UnOp::Not(_) => UnaryOp::Not,
            UnOp::Neg(_) => UnaryOp::Neg,
            UnOp::Deref(_) => return self.deref(&unary.expr, span),
            _ => return self.error(messages::unsupported_syntax(span, "this operator is")),
        };
        let value = read_through(self.expr(&unary.expr));
        self.require_value(&value);
        self.unary_operation(op, value, span)
    }

    fn deref(&mut self, target: &syn::Expr, span: SpanRange) -> Expr {
        if let Some(copy) = self.copied_reference(target, true) {
            return Expr { span, ..self.expr(&copy) };
        }
        let target = self.expr(target);
        match target.result_kind {
            Kind::Unknown => Expr::error(span),
            Kind::Reference { .. } => Expr { span, ..dereferenced(target) },
            _ => {
                self.learn_element(&target);
                self.error(messages::deref(span))
            }
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary, span: SpanRange) -> Expr {
        let Some((op, assigns)) = binary_op(&binary.op) else {
            return self.error(messages::unsupported_syntax(span, "this operator is"));
        };
        if assigns {
            let place = self.expr(&binary.left);
            self.require_place(&place);
            let value = self.beside(&binary.right);
            let value = read_through(value);
            self.require_value(&value);
            return self.assigning(op, place, value, span);
        }
        if let Some(compared) = self.compared_slices(binary) {
            return self.in_place(compared, span);
        }
        let (left, right) = self.operands(op, &binary.left, &binary.right);
        let are_references = [&left, &right].iter().all(|side| matches!(side.result_kind, Kind::Reference { .. }));
        let (mut left, mut right) = match op.is_arithmetic() {
            true => (read_through(left), read_through(right)),
            // A comparison of references is one of what they refer to.
            false if are_references => (dereferenced(left), dereferenced(right)),
            false => (left, right),
        };
        // Tokens are not compared.
        self.plain_option(&mut left);
        self.plain_option(&mut right);
        self.require_value(&left);
        self.require_value(&right);
        (left, right) = match self.compared_by_hand(op, left, right, span) {
            ControlFlow::Break(compared) => return compared,
            ControlFlow::Continue(operands) => operands,
        };
        match op {
            // What is ordered is a number, and what is joined a truth value.
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::And | BinaryOp::Or => {
                (left, right) = (self.as_number(left), self.as_number(right));
            }
            _ => {}
        }
        self.binary_operation(op, left, right, span)
    }

    /// Parses both operands. A literal beside another operand needs no slot, because they have one type.
    fn operands(&mut self, op: BinaryOp, left: &syn::Expr, right: &syn::Expr) -> (Expr, Expr) {
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let literals = (is_literal(left), is_literal(right));
        let first = match literals {
            (true, false) if !shift => self.beside(left),
            _ => self.expr(left),
        };
        let second = match literals {
            (false, true) => self.beside(right),
            _ => self.expr(right),
        };
        (first, second)
    }

    fn index(&mut self, index: &syn::ExprIndex, span: SpanRange) -> Expr {
        if is_part(index) {
            return self.error(messages::unborrowed_part(span));
        }
        if let Some(element) = self.element_of_part(index) {
            return self.in_place(element, span);
        }
        if let Some(place) = self.indexed_by_hand(index) {
            return Expr { span, ..self.expr(&place) };
        }
        let base = self.place(&index.expr);
        self.element_of(base, &index.index, span)
    }

    /// Makes the element of `base` at an index.
    pub(super) fn element_of(&mut self, mut base: Expr, index: &syn::Expr, span: SpanRange) -> Expr {
        match base.result_kind {
            Kind::Memory(_) | Kind::Value | Kind::Unknown => {}
            Kind::Barrier(barrier) if barrier.form == BarrierForm::Array => {}
            Kind::Reference { .. } => base = dereferenced(base),
            kind @ (Kind::Extent
            | Kind::Barrier(_)
            | Kind::Unit
            | Kind::Never
            | Kind::Group(_)
            | Kind::Token(_)
            | Kind::Closure
            | Kind::OptionalMemory(_)
            | Kind::TensorMap { .. }
            | Kind::OptionalToken(_)) => return self.error(messages::not_indexable(base.span, kind)),
        }
        let index = self.beside(index);
        let index = self.as_number(index);
        self.require_value(&index);
        let site = self.site(span);
        let result_kind = match base.result_kind {
            Kind::Barrier(array) => Kind::Barrier(array.element()),
            // What it is has been reported.
            Kind::Unknown => Kind::Unknown,
            _ => Kind::Value,
        };
        Expr { kind: ExprKind::Index { base: Box::new(base), index: Box::new(index), site }, result_kind, span }
    }

    fn assign(&mut self, assign: &syn::ExprAssign, span: SpanRange) -> Expr {
        if let syn::Expr::Infer(_) = &*assign.left {
            return self.error(messages::unsupported_syntax(span, "`_ = value` is").help("write `let _ = value;`"));
        }
        if let syn::Expr::Tuple(places) = &*assign.left {
            return self.assign_parts(places, &assign.right, span);
        }
        let place = self.expr(&assign.left);
        self.require_place(&place);
        let of_reference = self.named_local(&assign.left).is_some_and(|local| self.optional_copies.contains(&local));
        let copy = of_reference.then(|| self.copied_option(&assign.right, false)).flatten();
        let value = self.beside(copy.as_ref().unwrap_or(&assign.right));
        let mut value = self.slice_for(place.result_kind, value);
        self.expect_token(&mut value, place.result_kind);
        if let kind @ Kind::TensorMap { .. } = value.result_kind {
            return self.error(messages::reference_local(value.span, kind));
        }
        if let ExprKind::Local(local) = place.kind {
            self.refine(local, value.result_kind);
        } else {
            // A field or an element holds no token.
            self.plain_option(&mut value);
            match value.result_kind {
                Kind::Token(_) | Kind::OptionalToken(_) => return self.escape(value, "memory"),
                Kind::Value if matches!(place.kind, ExprKind::Index { .. }) && self.is_phase_token(&value) => {
                    return self.escape(value, "an element");
                }
                _ => self.require_value(&value),
            }
        }
        Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), result_kind: Kind::Unit, span }
    }

    pub(super) fn require_place(&mut self, place: &Expr) {
        match &place.kind {
            ExprKind::Error | ExprKind::Local(_) | ExprKind::UncheckedPlace { .. } => {}
            ExprKind::Deref(_) => {}
            ExprKind::Field { base, .. } => self.require_place(base),
            ExprKind::Index { base, .. } => match base.result_kind {
                Kind::Memory(Memory::Global) => self.diags.push(messages::read_only_memory(place.span)),
                Kind::Value => self.require_place(base),
                _ => {}
            },
            ExprKind::Constant(value) => {
                let name = &self.function.values[usize::from(value.0)].name;
                self.diags.push(messages::not_a_variable(place.span, name));
            }
            _ => self.diags.push(messages::assignment_target(place.span)),
        }
    }

    pub(super) fn condition(&mut self, condition: &syn::Expr) -> Condition {
        match condition {
            syn::Expr::Let(binding) => {
                let copied = self.condition_over_copy(binding);
                let binding = copied.as_ref().unwrap_or(binding);
                let scrutinee = self.scrutinee(&binding.expr);
                let pattern = self.pattern(&binding.pat, scrutinee.result_kind);
                self.note_arrays(&pattern, &scrutinee);
                Condition::Let { pattern, scrutinee }
            }
            syn::Expr::Binary(both) if matches!(both.op, BinOp::And(_)) && binds(condition) => {
                // The names that the left operand binds are in scope in the right one.
                let mut parts = match self.condition(&both.left) {
                    Condition::All(parts) => parts,
                    one => vec![one],
                };
                parts.push(self.condition(&both.right));
                Condition::All(parts)
            }
            condition => {
                let value = self.value(condition);
                Condition::Value(self.as_number(value))
            }
        }
    }

    /// Gives a `None` a plain type, where it cannot be a token.
    pub(super) fn plain_option(&mut self, value: &mut Expr) {
        if let (ExprKind::None(_), Kind::OptionalToken(None)) = (&value.kind, value.result_kind) {
            value.result_kind = Kind::Value;
        }
    }
}

/// Returns the target of a reference. The result of `get_unchecked` is a place already: in both texts it is printed
/// without the `*`.
pub(super) fn dereferenced(reference: Expr) -> Expr {
    let span = reference.span;
    match reference.kind {
        ExprKind::Op { op: Op::LoadUnchecked, .. } | ExprKind::UncheckedPlace { .. } => {
            Expr { result_kind: Kind::Value, ..reference }
        }
        _ => Expr { kind: ExprKind::Deref(Box::new(reference)), result_kind: Kind::Value, span },
    }
}

/// The kind of a value of these parts: what is wrong with one is reported, and not what the whole is for.
fn of_parts(parts: &[Expr]) -> Kind {
    if parts.iter().any(|part| matches!(part.kind, ExprKind::Error)) { Kind::Unknown } else { Kind::Value }
}

/// Dereferences an operand of arithmetic: Rust's arithmetic takes references to numbers as it takes numbers, its
/// comparisons do not.
fn read_through(operand: Expr) -> Expr {
    match operand.result_kind {
        Kind::Reference { .. } => dereferenced(operand),
        _ => operand,
    }
}

/// Whether a condition contains a `let`.
fn binds(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => binds(&both.left) || binds(&both.right),
        _ => false,
    }
}

/// Whether a value may be `a & b` and its like of two `bool`s. An operand that is a number excludes it.
fn may_be_eager_logic(value: &Expr) -> bool {
    let is_number = |expr: &Expr| matches!(expr.kind, ExprKind::Int { .. });
    match &value.kind {
        ExprKind::Binary { op: BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor, left, right, .. } => {
            !is_number(left) && !is_number(right)
        }
        ExprKind::If { then, otherwise: Some(otherwise), .. } => {
            let tail = then.tail.as_deref();
            tail.is_some_and(may_be_eager_logic) || may_be_eager_logic(otherwise)
        }
        ExprKind::Call { callee: Callee::Operator(operator), .. } => {
            matches!(operator.op, Overload::Binary(BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor))
        }
        ExprKind::Match { arms, .. } => arms.iter().any(|arm| may_be_eager_logic(&arm.body)),
        ExprKind::Block(block) | ExprKind::Unsafe(block) => block.tail.as_deref().is_some_and(may_be_eager_logic),
        _ => false,
    }
}

/// Whether the expression is a number literal, with or without a minus, in parentheses or not.
pub(super) fn is_literal(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        syn::Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_literal(&unary.expr),
        syn::Expr::Paren(paren) => is_literal(&paren.expr),
        syn::Expr::Group(group) => is_literal(&group.expr),
        _ => false,
    }
}

/// Whether C++ has a literal for the number, also negated, whatever its type.
pub(super) fn fits_64_bits(digits: &str) -> bool {
    let (radix, number) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    u128::from_str_radix(number, radix).is_ok_and(|value| value <= i64::MAX as u128)
}

pub(super) fn without_suffix(text: &str, suffix: &str) -> String {
    text.strip_suffix(suffix).unwrap_or(text).replace('_', "")
}
