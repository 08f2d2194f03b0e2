//! Expressions, in evaluation order.

use phalanx_contract::uniformity::Uniformity;

use super::fields::{has_index_within, is_part_of_memory};
use super::memory::region_of_kind;
use super::{
    BlockId, Builder, Call, CallId, CountedLoop, End, Jump, NodeId, Source, StepKind, TokenStep, Value, Variable,
};
use crate::check::cfg::{Assertion, Covers, Formula, GivenTo, Granule, Select};
use crate::model::LoopId;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, Member, UnaryOp, outcome_of};
use crate::model::kind::Kind;
use crate::model::message::Test;
use crate::model::op::Variant;
use crate::model::range::Adaptor;
use crate::model::token::TokenLoss;
use crate::model::ty::{TypeShape, ValueType};
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    /// A value that is computed from its operands alone.
    pub(super) fn combined(&mut self, operands: Vec<NodeId>, at: SpanRange) -> Value {
        Value::of(self.node(Source::Operands, operands, at))
    }

    pub(super) fn value(&mut self, expr: &'f Expr) -> Value {
        let at = expr.span;
        match &expr.kind {
            ExprKind::Local(local) => {
                let token = self.holds_token(*local).then_some(Variable::Local(*local));
                let value = Value::of(self.read(self.variable_of(*local), at)).with(token);
                let value = Value { fields: self.fields_of_local(*local, at), ..value };
                match expr.result_kind {
                    Kind::Memory(_) | Kind::OptionalMemory(_) | Kind::Barrier(_) => {
                        value.in_memory(self.region_of_local(*local))
                    }
                    Kind::Closure => Value { closure: self.named_closures.get(local).copied(), ..value },
                    Kind::Unknown
                    | Kind::Value
                    | Kind::Reference { .. }
                    | Kind::Extent
                    | Kind::Unit
                    | Kind::Never
                    | Kind::Group(_)
                    | Kind::TensorMap { .. }
                    | Kind::Token(_)
                    | Kind::OptionalToken(_) => value,
                }
            }
            ExprKind::Int { .. } => match expr.integer() {
                Some(number) => Value::of(self.node(Source::Integer(number), Vec::new(), at)),
                None => self.nothing(at),
            },
            ExprKind::Constant(value) => {
                let name = self.function.values[usize::from(value.0)].tokens.to_string();
                let known = self.constant_of_body(&name, at);
                known.unwrap_or_else(|| self.named_constant(*value, at))
            }
            ExprKind::Bool(holds) => Value::of(self.node(Source::Integer(u64::from(*holds)), Vec::new(), at)),
            ExprKind::Error | ExprKind::Float { .. } | ExprKind::Operator(..) => self.nothing(at),
            ExprKind::Some(inner) => {
                let value = self.value(inner);
                // The variable is moved from, whatever happens to the `Some`.
                let token = match value.token {
                    variable @ Some(Variable::Local(_)) => {
                        let into = self.temporary();
                        self.move_token(into, variable, at);
                        Some(into)
                    }
                    variable => variable,
                };
                self.in_variant(value, true, at).with(token)
            }
            ExprKind::None(_) => {
                let nothing = self.nothing(at);
                let token = matches!(expr.result_kind, Kind::OptionalToken(_)).then(|| {
                    let variable = self.temporary();
                    self.step(StepKind::Token(TokenStep::Clear { variable }), at);
                    variable
                });
                self.in_variant(nothing, false, at).with(token)
            }
            ExprKind::Cast(inner, ty) => {
                let value = self.value(inner);
                match keeps_value(inner, ty) {
                    true => self.kept_by_cast(inner, ty, value).with(None),
                    false => {
                        let cast = self.combined(vec![value.node], at);
                        self.cuts.extend(kept_bits(ty).map(|bits| (cast.node, bits)));
                        cast
                    }
                }
            }
            ExprKind::Typed(inner, _) => self.value(inner).with(None),
            // A shared reference to an element of memory is bound by a `let`, and in the text a copy.
            ExprKind::Borrow { target: inner, mutable: false } | ExprKind::Deref(inner) => self.value(inner).with(None),
            ExprKind::Borrow { target: inner, mutable: true } => {
                let before = self.accesses.len();
                let value = self.value(inner).with(None);
                // Whoever gets the reference reads the value.
                self.accesses[before..].iter_mut().for_each(|access| access.reads_value = false);
                value
            }
            ExprKind::Axis(inner, axis) => self.axis(inner, *axis, at),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                if let ExprKind::Bool(holds) = inner.kind {
                    return Value::of(self.node(Source::Integer(u64::from(!holds)), Vec::new(), at));
                }
                let operand = self.value(inner).node;
                Value::of(self.node(Source::Not, vec![operand], at))
            }
            ExprKind::Unary(UnaryOp::Neg, inner) => {
                let operand = self.value(inner).node;
                let value = self.combined(vec![operand], at);
                self.formulas.insert(value.node, Formula::Negative);
                value
            }
            ExprKind::Repeat { element: inner, length, .. } => {
                let operand = self.value(inner).node;
                let value = self.combined(vec![operand], at);
                self.with_repeated(value, inner, length)
            }
            ExprKind::Vector { argument: inner, .. } => {
                let operand = self.value(inner).node;
                self.combined(vec![operand], at)
            }
            ExprKind::Binary { op, left, right, .. } if op.short_circuits() => {
                let first = self.value(left).node;
                let (second, after) = (self.new_block(), self.new_block());
                let (then, otherwise) = if *op == BinaryOp::Or { (after, second) } else { (second, after) };
                self.end(End::Branch { on: first, then, otherwise });
                self.current = second;
                let other = self.value(right).node;
                self.goto(after);
                Value::of(self.node(Source::Binary(*op), vec![first, other], at))
            }
            ExprKind::Binary { op, left, right, .. } => self.wrapping(*op, left, right, at),
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                if let Some(element) = self.element_of(base, index, at) {
                    return element;
                }
                if base.memory().is_none() {
                    let values = self.of_element(base, index);
                    let region = values.first().and_then(|base| base.region.clone());
                    let region = region.filter(|_| matches!(expr.result_kind, Kind::Barrier(_)));
                    let nodes: Vec<_> = values.iter().map(|value| value.node).collect();
                    let index = nodes[1];
                    let region = region.map(|region| region.at(Select::At(index)));
                    let value = self.combined(nodes, at);
                    self.formulas.insert(value.node, Formula::Element);
                    let value = self.element_with_fields(&values[0], index, value, at);
                    return Value { region, ..value };
                }
                let variable = self.variable(expr);
                // A row of an array of arrays is still memory, and nothing is read yet.
                let is_row = matches!(expr.result_kind, Kind::Memory(_));
                if is_row { variable } else { self.read_value(variable.region, vec![variable.node], at) }
            }
            ExprKind::Field { base, member } => self.field_of(base, member, at),
            ExprKind::Array { elements, .. } => {
                let values = self.values(elements);
                let value = self.array(&values, at);
                self.with_elements(value, &elements.iter().collect::<Vec<_>>())
            }
            ExprKind::Tuple { elements, .. } => {
                let members = (0..).map(Member::Unnamed);
                let members: Vec<_> = members.zip(elements).map(|(member, _)| self.field(&member)).collect();
                self.aggregate(members, elements.iter(), None, at)
            }
            ExprKind::Struct { path, fields, .. } if outcome_of(path).is_some() => {
                let held = fields.iter().map(|(_, field)| self.value(field)).next();
                let held = held.unwrap_or_else(|| self.nothing(at));
                self.in_outcome(held, outcome_of(path) == Some(Variant::Ok), at)
            }
            ExprKind::Struct { variant, fields, base, .. } => {
                self.structure(variant.as_ref(), fields, base.as_deref(), at)
            }
            ExprKind::Op { op, operands, .. } => self.op(*op, operands, expr),
            ExprKind::Method { method, operands, .. } => self.method(method, operands, at),
            ExprKind::Intrinsic { function, .. } if !function.is_pure() => {
                let timer = Source::Known { uniformity: Uniformity::Divergent, what: function.name };
                Value::of(self.node(timer, Vec::new(), at))
            }
            ExprKind::ScalarCall { operands, .. } | ExprKind::Intrinsic { operands, .. } => self.combine(operands, at),
            ExprKind::Call { callee, slot, arguments } => {
                if let Some(position) = self.element_position(callee, arguments, at) {
                    return position;
                }
                let mut values = self.values(arguments);
                self.lend_elements(arguments, &mut values);
                let of_function = matches!(callee, Callee::Function(_));
                let time = |time: GivenTo| of_function.then_some(time);
                self.give_closures_to(time(GivenTo::Before(*slot)), arguments, &mut values, at);
                let of_caller = |(argument, value): (&Expr, &Value)| {
                    argument.result_kind == Kind::Closure && value.closure.is_none()
                };
                let passes_closure = arguments.iter().zip(&values).any(of_caller);
                let given = arguments.iter().zip(&values);
                let operands = given.map(|(argument, value)| self.argument_node(argument, value)).collect();
                let teams = arguments.iter().map(|argument| self.argument_team(argument)).collect();
                let regions = arguments.iter().zip(&values).map(|(argument, value)| {
                    argument
                        .memory()
                        .filter(|_| of_function || matches!(argument.result_kind, Kind::Memory(_)))
                        .map(|_| value.region.clone().unwrap_or_else(|| region_of_kind(argument.result_kind)))
                });
                let regions = regions.collect();
                let barriers = arguments.iter().zip(&values).enumerate();
                let barriers = barriers.filter(|(_, (argument, _))| matches!(argument.result_kind, Kind::Barrier(_)));
                let barriers = barriers.filter_map(|(at, (_, value))| Some((at, value.region.clone()?))).collect();
                let node = self.node(Source::Call { slot: *slot, callee }, operands, at);
                let given_tokens = arguments.iter().filter_map(|argument| {
                    if let Kind::Token(group) = argument.result_kind { Some(group) } else { None }
                });
                let given_tokens = given_tokens.collect();
                for value in &values {
                    self.hand_over(value.token, at);
                }
                let returned_token = expr.result_kind.token().map(|group| (group, self.temporary()));
                self.calls.push(Call {
                    slot: *slot,
                    callee,
                    node,
                    teams,
                    regions,
                    barriers,
                    given_tokens,
                    returned_token,
                    in_closure: self.closure_depth > 0,
                    given_to: self.given_to,
                    passes_closure,
                    always_returns: matches!(expr.result_kind, Kind::Token(_)),
                    at,
                });
                self.step(StepKind::Call(CallId(self.calls.len() - 1)), at);
                self.lent(callee, arguments, &values, node, at);
                // It may call them before what it does itself, and after that.
                self.give_closures_to(time(GivenTo::After(*slot)), arguments, &mut values, at);
                Value::of(node).with(returned_token.map(|(_, variable)| variable))
            }
            ExprKind::CallClosure { closure, arguments, .. } => {
                let arguments = self.values(arguments);
                match self.named_closures.get(closure) {
                    Some(closure) => self.call_closure(*closure, &arguments, at),
                    // A parameter, which the caller knows.
                    None => {
                        self.given_closure(at);
                        let closure = self.read(Variable::Local(*closure), at);
                        let arguments = arguments.into_iter().map(|argument| argument.node);
                        self.combined(std::iter::once(closure).chain(arguments).collect(), at)
                    }
                }
            }
            ExprKind::Closure { body, params, by_value } => {
                let closure = self.closure(body, params, by_value.is_some());
                Value { closure: Some(closure), ..self.nothing(at) }
            }
            ExprKind::Block(block) | ExprKind::Unsafe(block) => self.block(block),
            ExprKind::Labelled { id, block, .. } => {
                let (value, after) = (self.temporary(), self.new_block());
                self.push_jump(*id, after, None, value);
                let tail = self.block(block);
                self.move_to(value, &tail, at);
                self.goto(after);
                self.jumps.pop();
                self.joined(expr, value)
            }
            ExprKind::If { condition, then, otherwise, .. } => self.branch(expr, condition, then, otherwise.as_deref()),
            ExprKind::Match { scrutinee, arms, .. } => self.match_arms(expr, scrutinee, arms),
            ExprKind::Loop { id, body, .. } => {
                let value = self.temporary();
                let (again, after) = (self.new_block(), self.new_block());
                self.goto(again);
                self.push_jump(*id, after, Some(again), value);
                self.block(body);
                self.end(End::Goto(again));
                self.current = after;
                self.jumps.pop();
                self.joined(expr, value)
            }
            ExprKind::While { id, condition, body, .. } => {
                let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
                self.goto(again);
                let held = self.condition(condition, inside, after);
                self.repeat(*id, [again, inside, after], held, body);
                self.nothing(at)
            }
            ExprKind::For { id, local, range, body, .. } => {
                let mut ends = self.nodes([&range.start, &range.end]);
                ends.extend(self.nodes(range.adaptors.iter().filter_map(Adaptor::step)));
                let on = self.node(Source::Operands, ends.clone(), range.start.span);
                self.formulas.insert(on, Formula::GoesOn { inclusive: range.inclusive });
                let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
                if let Some(local) = local {
                    self.note_width_of_bounds(*local, [&range.start, &range.end]);
                    let start = self.nothing(range.start.span);
                    self.set(Variable::Local(*local), &start, range.start.span);
                }
                let by = range.stride();
                let (inclusive, before) = (range.inclusive, self.current);
                let grows = matches!(range.adaptors[..], [Adaptor::StepBy(..)]);
                let step = ends.get(2).copied().filter(|_| grows);
                let counted = CountedLoop { start: ends[0], end: ends[1], inclusive, by, step, before, inside };
                self.counted.insert(again, counted);
                let first = if range.is_never_empty() { inside } else { again };
                self.goto(first);
                self.current = again;
                self.end(End::Branch { on, then: inside, otherwise: after });
                if let Some(local) = local {
                    self.current = inside;
                    let of = Variable::Local(*local);
                    let bounds = (!range.inclusive).then_some((ends[0], ends[1]));
                    // The body may change its copy of a mutable counter, and the next value does not follow from that.
                    let by = range.stride().filter(|_| self.function.local(*local).mutable.is_none());
                    let counter = Source::Counter { of, by, range: bounds };
                    let value = self.node(counter, ends, range.start.span);
                    self.set(of, &Value::of(value), range.start.span);
                }
                self.repeat(*id, [again, inside, after], Vec::new(), body);
                self.nothing(at)
            }
            ExprKind::Assign(variable, value) => {
                let new = self.value(value);
                match (&variable.kind, new.token) {
                    (ExprKind::Local(local), Some(_)) => {
                        let into = Variable::Local(*local);
                        self.step(StepKind::Token(TokenStep::Drop { variable: into, how: TokenLoss::Overwritten }), at);
                        self.move_to(into, &new, at);
                    }
                    _ => self.store(variable, &new, at),
                }
                self.nothing(at)
            }
            ExprKind::AssignOp { op, place: variable, value, function, .. } => {
                let operands = self.nodes([&**value, &**variable]);
                let operands = vec![operands[1], operands[0]];
                let new = match function.as_deref() {
                    Some((callee, slot)) => self.call_of_values(callee, *slot, operands, at),
                    None => self.node(Source::Binary(*op), operands, at),
                };
                self.store(variable, &Value::of(new), at);
                self.nothing(at)
            }
            ExprKind::Break { target, value, .. } => {
                let carried = value.as_ref().map(|value| self.value(value));
                if let Some(jump) = self.jumps.iter().find(|jump| jump.id == *target) {
                    let (after, waiting, depth, into) = (jump.after, jump.waiting, jump.depth, jump.value);
                    if let Some(carried) = carried {
                        self.move_to(into, &carried, at);
                    }
                    self.abandon(waiting, depth, TokenLoss::Break, at);
                    self.leave(End::Goto(after));
                }
                self.nothing(at)
            }
            ExprKind::Continue { target, .. } => {
                if let Some(jump) = self.jumps.iter().find(|jump| jump.id == *target) {
                    let (again, waiting, depth) = (jump.again, jump.waiting, jump.depth);
                    self.abandon(waiting, depth, TokenLoss::Continue, at);
                    self.leave(again.map_or(End::Never, End::Goto));
                }
                self.nothing(at)
            }
            ExprKind::Return { value, question } => {
                let value = value.as_ref().map(|value| self.value(value));
                self.return_value(value, at);
                self.abandon(0, 0, if *question { TokenLoss::Question } else { TokenLoss::Return }, at);
                self.leave(End::Leave);
                self.nothing(at)
            }
            ExprKind::Assert(test, message) => {
                // A thread that fails ends the launch, so that its tokens do not matter.
                let operands = self.nodes(test.operands());
                let compares = if let Test::Compare(op, ..) = test { Some(*op) } else { None };
                let place = (self.current, self.blocks[self.current.0].steps.len());
                self.assertions.push(Assertion { at: place, compares, operands });
                self.nodes(&message.values);
                self.nothing(at)
            }
            ExprKind::Cuda(inline_cuda) => self.inline_cuda(inline_cuda, expr),
            ExprKind::Panic(message) => {
                self.nodes(&message.values);
                self.leave(End::Never);
                self.nothing(at)
            }
            ExprKind::Print(message) => {
                self.nodes(&message.values);
                self.nothing(at)
            }
        }
    }

    fn push_jump(&mut self, id: LoopId, after: BlockId, again: Option<BlockId>, value: Variable) {
        let (depth, waiting) = (self.scopes.len(), self.waiting.len());
        self.jumps.push(Jump { id, after, again, depth, waiting, value });
    }

    pub(super) fn nodes(&mut self, exprs: impl IntoIterator<Item = &'f Expr>) -> Vec<NodeId> {
        self.values(exprs).into_iter().map(|value| value.node).collect()
    }

    pub(super) fn combine(&mut self, exprs: impl IntoIterator<Item = &'f Expr>, at: SpanRange) -> Value {
        let operands = self.nodes(exprs);
        self.combined(operands, at)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: &'f Expr, right: &'f Expr, at: SpanRange) -> Value {
        let mut operands = self.nodes([left, right]);
        let (first, second) = (operands[0], operands[1]);
        let source = match (op, self.granule(right), self.granule(left)) {
            (BinaryOp::Div | BinaryOp::Lt | BinaryOp::Ge, Some(granule), _) => Source::Round(granule, op),
            // A larger amount is masked by the width of the type.
            (BinaryOp::Shr, Some(Granule::Number(bits @ 0..32)), _) => Source::Round(Granule::Number(1 << bits), op),
            // `r <= 31` is `r < 32`.
            (BinaryOp::Le | BinaryOp::Gt, Some(Granule::Number(last)), _) => {
                Source::Round(Granule::Number(last.saturating_add(1)), op)
            }
            (BinaryOp::Gt | BinaryOp::Le, _, Some(granule)) => {
                let turned = if op == BinaryOp::Gt { BinaryOp::Lt } else { BinaryOp::Ge };
                let node = self.node(Source::Round(granule, turned), vec![second, first], at);
                return Value::of(node);
            }
            _ => Source::Binary(op),
        };
        // A granule that a small type can hold divides what a cast to that type cuts off; a shift may be by more.
        let cut = matches!(source, Source::Round(..)) && op != BinaryOp::Shr && is_cut(left);
        if cut {
            operands[0] = self.nodes[first.0].operands[0];
        }
        let node = self.node(source, operands, at);
        self.cuts.extend(self.cuts.get(&first).filter(|_| cut).copied().map(|bits| (node, bits)));
        Value::of(node)
    }

    /// Builds `base.member`: of a variable, the last value of that field.
    fn field_of(&mut self, base: &'f Expr, member: &Member, at: SpanRange) -> Value {
        let field = self.field(member);
        if let ExprKind::Local(local) = base.kind {
            return self.read_part(self.field_variable(local, field), at);
        }
        let before = self.accesses.len();
        let value = self.value(base);
        if base.memory().is_some() {
            self.last_access_covers(Covers::Field(Some(field)));
        } else if has_index_within(base) {
            self.covers_part_of_item(before);
        } else if is_part_of_memory(base) {
            self.last_access_covers(Covers::Field(None));
        }
        match value.fields.into_iter().find(|(known, _)| *known == field) {
            Some((_, value)) => value,
            None => self.combined(vec![value.node], at),
        }
    }
}

/// Whether a cast gives the number that it is given: a literal that the type can hold, or a rank or an index, which are below
/// 2^31. A smaller type cuts those off.
pub(super) fn keeps_value(inner: &Expr, ty: &ValueType) -> bool {
    let TypeShape::Scalar(name, _) = ty.shape else { return false };
    let bits = match name {
        "bool" => 1,
        "i8" => 7,
        "u8" => 8,
        "i16" => 15,
        "u16" => 16,
        // In a type that could make a large rank negative, a division would round the other way.
        "i32" => 31,
        "u32" => 32,
        "i64" | "i128" | "u64" | "u128" | "isize" | "usize" => return true,
        _ => return false,
    };
    match inner.integer() {
        Some(number) => number >> bits == 0,
        None => name == "u32",
    }
}

/// The number of lower bits that a cast to an integer type keeps.
fn kept_bits(ty: &ValueType) -> Option<u32> {
    let TypeShape::Scalar(name, _) = ty.shape else { return None };
    match name {
        "i8" | "u8" => Some(8),
        "i16" | "u16" => Some(16),
        "i32" | "u32" => Some(32),
        "i64" | "i128" | "u64" | "u128" | "isize" | "usize" => Some(64),
        _ => None,
    }
}

/// Whether an expression is cast to an unsigned type that cuts off the upper bits.
fn is_cut(expr: &Expr) -> bool {
    if let ExprKind::Cast(inner, ty) = &expr.kind {
        matches!(ty.shape, TypeShape::Scalar("u8" | "u16", _)) && !keeps_value(inner, ty)
    } else {
        false
    }
}
