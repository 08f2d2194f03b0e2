//! Control flow: blocks, branches, loops and jumps.

use syn::{ExprBlock, ExprBreak, ExprContinue, ExprForLoop, ExprIf, ExprLoop, ExprReturn, ExprWhile, Pat, RangeLimits};

use super::counted_loops::counted;
use super::expr::is_literal;
use super::flattened::Flattened;
use super::iter_sources::is_range;
use super::iter_steps::numbered_first;
use super::operand_types::TypeHint;
use super::refused_functions::zipped;
use super::signature::shape_kind;
use super::syntax::strip;
use super::{Binding, JumpTarget, Parser};
use crate::messages;
use crate::model::expr::{Block, Expr, ExprKind};
use crate::model::kind::Kind;
use crate::model::range::{Adaptor, Range};
use crate::model::ty::TypeShape;
use crate::model::{LoopId, SlotUse};
use crate::span::SpanRange;

impl Parser<'_> {
    pub(super) fn block_expr(&mut self, block: &ExprBlock, span: SpanRange) -> Expr {
        let Some(label) = &block.label else { return self.plain_block(&block.block, span) };
        let id = self.new_loop();
        let (block, value) = self.jump_scope(id, Some(label), false, |parser| parser.block(&block.block));
        let result_kind = self.block_gives(&block);
        let mut result_kind = value.map_or(result_kind, |value| value.join(result_kind));
        let slot = self.value_slot(&mut result_kind);
        Expr { kind: ExprKind::Labelled { id, label: label.name.ident.clone(), block, slot }, result_kind, span }
    }

    pub(super) fn plain_block(&mut self, block: &syn::Block, span: SpanRange) -> Expr {
        let block = self.block(block);
        let result_kind = self.block_gives(&block);
        Expr { kind: ExprKind::Block(block), result_kind, span }
    }

    /// Returns the kind of a block's value. Groups and memory cannot be one, because the checks follow them by name.
    pub(super) fn block_gives(&mut self, block: &Block) -> Kind {
        let result_kind = match &block.tail {
            Some(tail) => tail.result_kind,
            None if ends_by_leaving(block) => Kind::Never,
            None => Kind::Unit,
        };
        match result_kind {
            Kind::Group(_)
            | Kind::Memory(_)
            | Kind::TensorMap { .. }
            | Kind::OptionalMemory(_)
            | Kind::Barrier(_)
            | Kind::Closure
            | Kind::Reference { .. }
            | Kind::Extent => {
                let at = block.tail.as_ref().map_or(block.span, |tail| tail.span);
                self.diags.push(messages::group_memory_copy(at, result_kind));
                Kind::Unknown
            }
            Kind::Unknown | Kind::Value | Kind::Unit | Kind::Never | Kind::Token(_) | Kind::OptionalToken(_) => {
                result_kind
            }
        }
    }

    /// Asks rustc for the type of a value that several places give. If all of them give `None`, it is a plain option.
    pub(super) fn value_slot(&mut self, result_kind: &mut Kind) -> Option<crate::model::SlotId> {
        if *result_kind == Kind::OptionalToken(None) {
            *result_kind = Kind::Value;
        }
        (*result_kind == Kind::Value).then(|| self.slot(SlotUse::Type))
    }

    pub(super) fn if_expr(&mut self, branch: &ExprIf, span: SpanRange) -> Expr {
        let copied = self.branch_over_copy(branch);
        let branch = copied.as_ref().unwrap_or(branch);
        // The names that `if let` binds are in scope in the first arm only.
        let ((condition, then), bound) = self.scoped(|parser| {
            let condition = parser.condition(&branch.cond);
            (condition, parser.block(&branch.then_branch))
        });
        let then = with_binding(then, bound);
        let mut result_kind = self.block_gives(&then);
        let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| {
            let otherwise = self.expr(otherwise);
            result_kind = result_kind.join(otherwise.result_kind);
            Box::new(otherwise)
        });
        if otherwise.is_none() {
            result_kind = Kind::Unit;
        }
        let slot = self.value_slot(&mut result_kind);
        Expr { kind: ExprKind::If { condition: Box::new(condition), then, otherwise, slot }, result_kind, span }
    }

    /// Makes a block of an arm, in which the names of its pattern live.
    pub(super) fn arm_body(&mut self, body: Expr, bound: Vec<crate::model::LocalId>) -> Expr {
        let span = body.span;
        let block = match body {
            Expr { kind: ExprKind::Block(block), .. } => with_binding(block, bound),
            body => Block { statements: Vec::new(), tail: Some(Box::new(body)), span, declared: bound },
        };
        let result_kind = self.block_gives(&block);
        Expr { kind: ExprKind::Block(block), result_kind, span }
    }

    /// Parses an expression that a jump can leave; returns the kind of the values that its `break`s carry.
    fn jump_scope<R>(
        &mut self,
        id: LoopId,
        label: Option<&syn::Label>,
        is_loop: bool,
        f: impl FnOnce(&mut Self) -> R,
    ) -> (R, Option<Kind>) {
        let label = label.map(|label| Binding::of(&label.name.ident));
        self.jump_targets.push(JumpTarget { id, label, is_loop, value: None });
        let result = f(self);
        let value = self.jump_targets.pop().and_then(|jump| jump.value);
        (result, value)
    }

    pub(super) fn loop_body(&mut self, id: LoopId, label: Option<&syn::Label>, body: &syn::Block) -> Block {
        self.jump_scope(id, label, true, |parser| parser.block(body)).0
    }

    pub(super) fn plain_loop(&mut self, repeat: &ExprLoop, span: SpanRange) -> Expr {
        let id = self.begin_loop(&repeat.attrs);
        let (body, value) = self.jump_scope(id, repeat.label.as_ref(), true, |parser| parser.block(&repeat.body));
        let mut result_kind = value.unwrap_or(Kind::Never);
        let slot = self.value_slot(&mut result_kind);
        let label = repeat.label.as_ref().map(|label| label.name.ident.clone());
        Expr { kind: ExprKind::Loop { id, label, body, slot }, result_kind, span }
    }

    pub(super) fn while_loop(&mut self, repeat: &ExprWhile, span: SpanRange) -> Expr {
        let copied = self.loop_over_copy(repeat);
        let repeat = copied.as_ref().unwrap_or(repeat);
        let id = self.begin_loop(&repeat.attrs);
        let ((condition, body), bound) = self.scoped(|parser| {
            let condition = parser.condition(&repeat.cond);
            (condition, parser.loop_body(id, repeat.label.as_ref(), &repeat.body))
        });
        let body = with_binding(body, bound);
        let label = repeat.label.as_ref().map(|label| label.name.ident.clone());
        let kind = ExprKind::While { id, label, condition: Box::new(condition), body };
        Expr { kind, result_kind: Kind::Unit, span }
    }

    pub(super) fn for_loop(&mut self, repeat: &ExprForLoop, span: SpanRange) -> Expr {
        if let Some(refused) = self.refused_iterator(&repeat.expr) {
            return refused;
        }
        if let Some(expr) = zipped(&repeat.expr).map(Box::new) {
            return self.for_loop(&ExprForLoop { expr, ..repeat.clone() }, span);
        }
        if let Some(expr) = numbered_first(&repeat.expr).map(Box::new) {
            return self.for_loop(&ExprForLoop { expr, ..repeat.clone() }, span);
        }
        if let syn::Expr::MethodCall(call) = &*repeat.expr
            && let Some(call) = self.without_lent_closures(call)
        {
            let expr = Box::new(syn::Expr::MethodCall(call));
            return self.for_loop(&ExprForLoop { expr, ..repeat.clone() }, span);
        }
        if let Some(counted) = counted(repeat) {
            return self.in_place(counted, span);
        }
        if let Some(nested) = Flattened::written(repeat) {
            return self.in_place(nested, span);
        }
        if let Some(adapted) = self.adapted_loop(repeat, span) {
            return adapted;
        }
        if !is_range(&repeat.expr) {
            return self.elements_loop(repeat, span);
        }
        let id = self.begin_loop(&repeat.attrs);
        let Some(range) = self.range(&repeat.expr) else { return Expr::error(span) };
        let ((local, body), bound) = self.scoped(|parser| {
            let local = match &*repeat.pat {
                Pat::Wild(_) => None,
                Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                    let local = parser.declare(&name.ident, name.mutability.map(|token| token.span), Kind::Value, None);
                    parser.hints.insert(local, TypeHint::Integer);
                    Some(local)
                }
                pat => {
                    parser.diags.push(messages::unsupported_pattern(SpanRange::of(pat)));
                    None
                }
            };
            (local, parser.loop_body(id, repeat.label.as_ref(), &repeat.body))
        });
        let body = with_binding(body, bound);
        let label = repeat.label.as_ref().map(|label| label.name.ident.clone());
        let kind = ExprKind::For { id, label, local, range: Box::new(range), body };
        Expr { kind, result_kind: Kind::Unit, span }
    }

    /// Parses `a..b` or `a..=b`, with `.rev()` and `.step_by(n)`.
    fn range(&mut self, expr: &syn::Expr) -> Option<Range> {
        match expr {
            syn::Expr::Paren(paren) => self.range(&paren.expr),
            syn::Expr::Range(syn::ExprRange { start: Some(start), limits, end: Some(end), .. }) => {
                let (start, end) = match (is_literal(start), is_literal(end)) {
                    (true, false) => (self.beside(start), self.expr(end)),
                    (false, true) => (self.expr(start), self.beside(end)),
                    _ => (self.expr(start), self.expr(end)),
                };
                let (start, end) = (self.as_number(start), self.as_number(end));
                self.require_value(&start);
                self.require_value(&end);
                let inclusive = matches!(limits, RangeLimits::Closed(_));
                Some(Range { start, end, inclusive, adaptors: Vec::new() })
            }
            syn::Expr::MethodCall(call) => {
                let mut range = self.range(&call.receiver)?;
                let reversed = range.adaptors.iter().any(|adaptor| matches!(adaptor, Adaptor::Rev));
                let stepped = range.adaptors.iter().any(|adaptor| matches!(adaptor, Adaptor::StepBy(..)));
                let name = call.method.to_string();
                let adaptor = match (name.as_str(), call.args.first(), call.args.len()) {
                    ("rev", None, _) if !reversed => Adaptor::Rev,
                    ("step_by", Some(step), 1) if !stepped => {
                        let step = self.beside(step);
                        let step = self.as_number(step);
                        self.require_value(&step);
                        let site = self.site(step.span);
                        Adaptor::StepBy(step, site)
                    }
                    _ => {
                        self.diags.push(messages::range_adaptor(SpanRange::of(&call.method), &name));
                        return None;
                    }
                };
                range.adaptors.push(adaptor);
                Some(range)
            }
            _ => {
                self.diags.push(messages::loop_range(SpanRange::of(expr)));
                None
            }
        }
    }

    pub(super) fn break_expr(&mut self, jump: &ExprBreak, span: SpanRange) -> Expr {
        let value = jump.expr.as_ref().map(|value| Box::new(self.expr(value)));
        let Some(index) = self.jump_target(jump.label.as_ref(), "break", span) else { return Expr::error(span) };
        let target = &mut self.jump_targets[index];
        let carried = value.as_ref().map_or(Kind::Unit, |value| value.result_kind);
        target.value = Some(target.value.map_or(carried, |known| known.join(carried)));
        let label = jump.label.as_ref().map(|label| label.ident.clone());
        Expr { kind: ExprKind::Break { target: target.id, label, value }, result_kind: Kind::Never, span }
    }

    pub(super) fn continue_expr(&mut self, jump: &ExprContinue, span: SpanRange) -> Expr {
        let Some(index) = self.jump_target(jump.label.as_ref(), "continue", span) else { return Expr::error(span) };
        let label = jump.label.as_ref().map(|label| label.ident.clone());
        Expr { kind: ExprKind::Continue { target: self.jump_targets[index].id, label }, result_kind: Kind::Never, span }
    }

    fn jump_target(&mut self, label: Option<&syn::Lifetime>, keyword: &str, span: SpanRange) -> Option<usize> {
        let found = match label {
            Some(label) => {
                let name = Binding::of(&label.ident);
                self.jump_targets.iter().rposition(|jump| jump.label.as_ref() == Some(&name))
            }
            None => self.jump_targets.iter().rposition(|jump| jump.is_loop),
        };
        if found.is_none() {
            self.diags.push(match label {
                Some(label) => messages::unknown_label(SpanRange::of(label), &label.ident.to_string()),
                None => messages::outside_loop(span, keyword),
            });
        }
        found
    }

    /// Parses `option?` as `match option { Some(value) => value, None => return None }`. What a `Result` holds may be nothing, `check(x)?;`, and is
    /// not asked for if it is discarded.
    pub(super) fn attempt(&mut self, attempt: &syn::ExprTry, is_discarded: bool, span: SpanRange) -> Expr {
        if self.closures > 0 {
            return self.error(messages::unsupported_syntax(span, "`?` in a closure is"));
        }
        let gives_option = self.function.ret.as_ref().is_some_and(|ret| match ret.shape {
            TypeShape::Option(_) | TypeShape::OptionalToken(_) => true,
            // The type may be an alias, which rustc resolves.
            TypeShape::Named(_) => !self.returns_result(),
            TypeShape::Scalar(..)
            | TypeShape::Array(..)
            | TypeShape::Token(_)
            | TypeShape::BarrierToken(_)
            | TypeShape::Tuple(_) => false,
        });
        let gives_result = self.returns_result();
        if !gives_option && !gives_result {
            return self.error(messages::no_option_to_return(span));
        }
        // `Err(fault)?` always returns.
        if let syn::Expr::Call(call) = strip(&attempt.expr)
            && matches!(&*call.func, syn::Expr::Path(path) if path.path.is_ident("Err"))
            && let Ok(jump) = syn::parse2::<ExprReturn>(quote::quote_spanned!(span.lo=> return #call))
        {
            return self.return_expr(&jump, span);
        }
        // A reference to an element is used as the element.
        let copy = self.copied_option(&attempt.expr, false).map(Box::new);
        let (option, at) = (copy.as_ref().unwrap_or(&attempt.expr), attempt.question_token.span);
        let value = proc_macro2::Ident::new("value", at.resolved_at(proc_macro2::Span::mixed_site()));
        let whole = syn::parse2(quote::quote_spanned!(at=> (#option)));
        let scrutinee = whole.map(|whole| self.scrutinee(&whole));
        // An alias of another file may be either.
        let gives_result = gives_result || scrutinee.as_ref().is_ok_and(|value| self.is_result(value));
        let error = match self.converted_error(&attempt.expr) {
            Some(to) => quote::quote_spanned!(at=> <#to>::from(#value)),
            None => quote::quote_spanned!(at=> #value),
        };
        let choice = syn::parse2::<syn::ExprMatch>(match gives_result {
            true if is_discarded => {
                quote::quote_spanned!(at=> match () { Ok(_) => {} Err(#value) => return Err(#error) })
            }
            true => quote::quote_spanned!(at=> match () { Ok(#value) => #value, Err(#value) => return Err(#error) }),
            false => quote::quote_spanned!(at=> match () { Some(#value) => #value, None => return None }),
        });
        match scrutinee.and_then(|scrutinee| Ok((scrutinee, choice?))) {
            Ok((scrutinee, choice)) => {
                let around = std::mem::replace(&mut self.in_question, true);
                let choice = self.match_arms(scrutinee, &choice.arms, span);
                self.in_question = around;
                choice
            }
            Err(_) => self.error(messages::unsupported_syntax(span, "`?` after this is")),
        }
    }

    pub(super) fn return_expr(&mut self, jump: &ExprReturn, span: SpanRange) -> Expr {
        if self.closures > 0 {
            return self.error(messages::unsupported_syntax(span, "`return` in a closure is"));
        }
        let mut value = jump.expr.as_ref().map(|value| Box::new(self.beside(value)));
        let result = self.function.ret.as_ref().map(|ret| shape_kind(&ret.shape));
        if let (Some(value), Some(expected)) = (&mut value, result) {
            self.expect_token(value, expected);
        }
        Expr { kind: ExprKind::Return { value, question: self.in_question }, result_kind: Kind::Never, span }
    }
}

/// Adds a pattern's locals to the block in which they are in scope.
fn with_binding(mut block: Block, bound: Vec<crate::model::LocalId>) -> Block {
    block.declared.splice(0..0, bound);
    block
}

fn ends_by_leaving(block: &Block) -> bool {
    use crate::model::expr::StmtKind;
    matches!(block.statements.last(), Some(stmt) if matches!(&stmt.kind, StmtKind::Expr(expr) if expr.result_kind == Kind::Never))
}
