//! Expressions, in the order in which they are evaluated.

use phalanx_contract::uniformity::Uniformity;

use super::memory::region_of_kind;
use super::{BlockId, Builder, End, Jump, NodeId, Source, StepKind, TokenStep, Value, Variable};
use crate::check::cfg::{AccessKind, Extent, Granule, Region, Root, Select};
use crate::messages::Loss;
use crate::model::LoopId;
use crate::model::expr::{BinaryOp, Callee, Expr, ExprKind, Member, UnaryOp};
use crate::model::inline_cuda::{Direction, InlineCuda};
use crate::model::kind::Kind;
use crate::model::place::local_of;
use crate::model::range::Adaptor;
use crate::model::ty::TypeShape;
use crate::span::SpanRange;

impl<'f> Builder<'f> {
    pub(super) fn value(&mut self, expr: &'f Expr) -> Value {
        let at = expr.span;
        match &expr.kind {
            ExprKind::Local(local) => {
                let token = self.holds_token(*local).then_some(Variable::Local(*local));
                let value = Value::of(self.read(Variable::Local(*local), at)).with(token);
                match expr.result_kind {
                    Kind::Memory(_) | Kind::OptionalMemory(_) | Kind::Barrier(_) => {
                        value.in_memory(self.region_of_local(*local))
                    }
                    Kind::Closure => {
                        let touches = self.closures.get(local).cloned().unwrap_or_default();
                        Value { touches, ..value }
                    }
                    Kind::Unknown
                    | Kind::Value
                    | Kind::Reference { .. }
                    | Kind::Extent
                    | Kind::Unit
                    | Kind::Never
                    | Kind::Group(_)
                    | Kind::Token(_)
                    | Kind::OptionalToken(_) => value,
                }
            }
            ExprKind::Int { .. } => match expr.integer() {
                Some(number) => Value::of(self.node(Source::Integer(number), Vec::new(), at)),
                None => self.nothing(at),
            },
            ExprKind::Constant(value) => Value::of(self.node(Source::Constant(*value), Vec::new(), at)),
            ExprKind::Bool(holds) => Value::of(self.node(Source::Integer(u64::from(*holds)), Vec::new(), at)),
            ExprKind::Error | ExprKind::Float { .. } | ExprKind::Operator(..) => self.nothing(at),
            ExprKind::Some(inner) => {
                let value = self.value(inner);
                // The variable is moved from, whatever becomes of the `Some`.
                let token = match value.token {
                    variable @ Some(Variable::Local(_)) => {
                        let into = self.temporary();
                        self.move_token(into, variable, at);
                        Some(into)
                    }
                    variable => variable,
                };
                value.with(token)
            }
            ExprKind::None(_) => {
                let node = self.nothing(at).node;
                let token = matches!(expr.result_kind, Kind::OptionalToken(_)).then(|| {
                    let variable = self.temporary();
                    self.step(StepKind::Token(TokenStep::Clear { variable }), at);
                    variable
                });
                Value::of(node).with(token)
            }
            ExprKind::Cast(inner, ty) => {
                let value = self.value(inner);
                // Where a large rank of the grid's would be a negative number, a division rounds the other way.
                const RANKS: [&str; 10] = ["i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize", "bool"];
                let whole = matches!(ty.shape, TypeShape::Scalar(name, _) if RANKS.contains(&name));
                // A rank is one as long as it is an integer.
                match whole {
                    true => value.with(None),
                    false => self.combined(vec![value.node], at),
                }
            }
            ExprKind::Typed(inner, _) => {
                let value = self.value(inner);
                value.with(None)
            }
            ExprKind::Axis(inner, axis) => self.axis(inner, *axis, at),
            ExprKind::Borrow { target: inner, .. } => {
                let value = self.value(inner);
                value.with(None)
            }
            ExprKind::Unary(_, inner)
            | ExprKind::Deref(inner)
            | ExprKind::Repeat { element: inner, .. }
            | ExprKind::Vector { argument: inner, .. } => {
                let value = self.value(inner);
                match expr.kind {
                    ExprKind::Deref(_) => value.with(None),
                    ExprKind::Unary(UnaryOp::Not, _) => Value::of(self.node(Source::Not, vec![value.node], at)),
                    _ => self.combined(vec![value.node], at),
                }
            }
            ExprKind::Binary { op, left, right, .. } if op.short_circuits() => {
                let first = self.value(left).node;
                let (second, after) = (self.new_block(), self.new_block());
                let (then, otherwise) = match op {
                    BinaryOp::Or => (after, second),
                    _ => (second, after),
                };
                self.end(End::Branch { on: first, then, otherwise });
                self.current = second;
                let other = self.value(right).node;
                self.goto(after);
                self.combined(vec![first, other], at)
            }
            ExprKind::Binary { op, left, right, .. } => self.binary(*op, left, right, at),
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                if base.memory().is_none() {
                    let values = self.values([&**base, &**index]);
                    let region = values.first().and_then(|base| base.region.clone());
                    let region = region.filter(|_| matches!(expr.result_kind, Kind::Barrier(_)));
                    let nodes: Vec<_> = values.into_iter().map(|value| value.node).collect();
                    let region = region.map(|region| region.at(Select::At(nodes[1])));
                    return Value { region, ..self.combined(nodes, at) };
                }
                let variable = self.variable(expr);
                // A row of an array of arrays is memory still.
                match expr.result_kind {
                    Kind::Memory(_) => variable,
                    _ => self.load(variable.region, vec![variable.node], at),
                }
            }
            ExprKind::Field { base, member } => self.field_of(base, member, at),
            ExprKind::Array { elements, .. } => self.made_of(elements, at),
            ExprKind::Tuple { elements, .. } => {
                let members = (0..).map(Member::Unnamed);
                let members: Vec<_> = members.zip(elements).map(|(member, _)| self.field(&member)).collect();
                self.aggregate(members, elements.iter(), None, at)
            }
            ExprKind::Struct { fields, base, .. } => {
                let members = fields.iter().map(|(member, _)| self.field(member)).collect();
                self.aggregate(members, fields.iter().map(|(_, field)| field), base.as_deref(), at)
            }
            ExprKind::Op { op, operands, .. } => self.op(*op, operands, expr),
            ExprKind::Method { operands, .. }
            | ExprKind::ScalarCall { operands, .. }
            | ExprKind::FastCall { operands, .. } => self.made_of(operands, at),
            ExprKind::Call { callee, slot, arguments } => {
                let values = self.values(arguments);
                let seen = arguments.iter().zip(&values).map(|(argument, value)| self.seen(argument, value)).collect();
                let teams = arguments.iter().map(|argument| self.team_of_argument(argument)).collect();
                let regions = arguments.iter().zip(&values).map(|(argument, value)| {
                    argument
                        .memory()
                        .map(|_| value.region.clone().unwrap_or_else(|| region_of_kind(argument.result_kind)))
                });
                let regions = regions.collect();
                let barriers = arguments.iter().zip(&values).enumerate();
                let barriers = barriers.filter(|(_, (argument, _))| matches!(argument.result_kind, Kind::Barrier(_)));
                let barriers = barriers.filter_map(|(at, (_, value))| Some((at, value.region.clone()?))).collect();
                let node = self.node(Source::Call { slot: *slot, callee, teams, regions, barriers }, seen, at);
                self.touch(values.iter(), at);
                let takes = arguments.iter().filter_map(|argument| argument.result_kind.token()).collect();
                for value in &values {
                    self.hand_over(value.token, at);
                }
                let gives = expr.result_kind.token().map(|group| (group, self.temporary()));
                self.step(StepKind::Call { slot: *slot, takes, gives, node }, at);
                let how = if let Callee::Function(_) = callee { AccessKind::Lent } else { AccessKind::ByHand };
                self.lent(arguments, &values, how, node, at);
                Value::of(node).with(gives.map(|(_, variable)| variable))
            }
            ExprKind::CallClosure { closure, arguments } => {
                let touches = self.closures.get(closure).cloned().unwrap_or_default();
                let closure = self.read(Variable::Local(*closure), at);
                let arguments = self.nodes(arguments);
                touches.into_iter().for_each(|(region, how)| self.access(region, how, at));
                self.combined(std::iter::once(closure).chain(arguments).collect(), at)
            }
            ExprKind::Closure { body, params, .. } => {
                let (node, touches) = self.closure(body, params, at);
                Value { touches, ..Value::of(node) }
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
                let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
                if let Some(local) = local {
                    let start = self.nothing(range.start.span);
                    self.set(Variable::Local(*local), &start, range.start.span);
                }
                let first = if range.is_never_empty() { inside } else { again };
                self.goto(first);
                self.current = again;
                self.end(End::Branch { on, then: inside, otherwise: after });
                if let Some(local) = local {
                    self.current = inside;
                    let of = Variable::Local(*local);
                    let start = range.start.integer().filter(|_| !range.inclusive);
                    let bounds = start.map(|start| (start, ends[1]));
                    let counter = Source::Counter { of, by: range.stride(), range: bounds };
                    let value = self.node(counter, vec![on], range.start.span);
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
                        self.step(StepKind::Token(TokenStep::Drop { variable: into, how: Loss::Overwritten }), at);
                        self.move_to(into, &new, at);
                    }
                    _ => self.store(variable, &new, at),
                }
                self.nothing(at)
            }
            ExprKind::AssignOp { op, place: variable, value, .. } => {
                let operands = self.nodes([&**value, &**variable]);
                let new = self.node(Source::Binary(*op), vec![operands[1], operands[0]], at);
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
                    self.abandon(waiting, depth, Loss::Break, at);
                    self.leave(End::Goto(after));
                }
                self.nothing(at)
            }
            ExprKind::Continue { target, .. } => {
                if let Some(jump) = self.jumps.iter().find(|jump| jump.id == *target) {
                    let (again, waiting, depth) = (jump.again, jump.waiting, jump.depth);
                    self.abandon(waiting, depth, Loss::Continue, at);
                    self.leave(again.map_or(End::Never, End::Goto));
                }
                self.nothing(at)
            }
            ExprKind::Return { value, question } => {
                let value = value.as_ref().map(|value| self.value(value));
                self.give(value, at);
                self.abandon(0, 0, if *question { Loss::Question } else { Loss::Return }, at);
                self.leave(End::Leave);
                self.nothing(at)
            }
            ExprKind::Assert(test, message) => {
                // A thread that fails ends the launch: nothing of its tokens matters any more.
                self.nodes(test.operands());
                self.nodes(&message.values);
                self.nothing(at)
            }
            ExprKind::Cuda(by_hand) => self.by_hand(by_hand, expr),
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

    /// What the ways into the current block have put into a variable.
    pub(super) fn joined(&mut self, expr: &Expr, variable: Variable) -> Value {
        let token = matches!(expr.result_kind, Kind::Token(_) | Kind::OptionalToken(_)).then_some(variable);
        Value::of(self.read(variable, expr.span)).with(token)
    }

    fn made_of(&mut self, exprs: impl IntoIterator<Item = &'f Expr>, at: SpanRange) -> Value {
        let operands = self.nodes(exprs);
        self.combined(operands, at)
    }

    fn binary(&mut self, op: BinaryOp, left: &'f Expr, right: &'f Expr, at: SpanRange) -> Value {
        let operands = self.nodes([left, right]);
        let (first, second) = (operands[0], operands[1]);
        let source = match (op, self.granule(right), self.granule(left)) {
            (BinaryOp::Div | BinaryOp::Lt | BinaryOp::Ge, Some(granule), _) => Source::Round(granule, op),
            (BinaryOp::Shr, Some(Granule::Number(bits)), _) => {
                Source::Round(Granule::Number(1_u64.checked_shl(u32::try_from(bits).unwrap_or(64)).unwrap_or(0)), op)
            }
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
        Value::of(self.node(source, operands, at))
    }

    /// A literal, or a constant that is the same in all instances.
    fn granule(&self, expr: &Expr) -> Option<Granule> {
        match &expr.kind {
            ExprKind::Int { .. } => expr.integer().map(Granule::Number),
            ExprKind::Constant(value) => {
                let constant = &self.function.values[usize::from(value.0)];
                let generic = self.function.generics.names_one_of(&constant.tokens);
                (!generic).then_some(Granule::Constant(*value))
            }
            ExprKind::Cast(inner, _) => self.granule(inner),
            _ => None,
        }
    }

    /// `base.member`: of a variable, what that field was set to.
    fn field_of(&mut self, base: &'f Expr, member: &Member, at: SpanRange) -> Value {
        let field = self.field(member);
        if let ExprKind::Local(local) = base.kind {
            return Value::of(self.read(Variable::Field(local, field), at));
        }
        let value = self.value(base);
        match value.fields.into_iter().find(|(known, _)| *known == field) {
            Some((_, value)) => value,
            None => self.combined(vec![value.node], at),
        }
    }

    /// A tuple or a struct.
    fn aggregate(
        &mut self,
        members: Vec<u16>,
        values: impl Iterator<Item = &'f Expr>,
        base: Option<&'f Expr>,
        at: SpanRange,
    ) -> Value {
        let mut values = self.values(values.chain(base));
        let whole = self.combined(values.iter().map(|value| value.node).collect(), at);
        // PhaseAction comes from the base has no number.
        values.truncate(members.len());
        let fields = match base {
            Some(_) => Vec::new(),
            None => members.into_iter().zip(values).collect(),
        };
        Value { fields, ..whole }
    }

    /// A variable gets a value.
    fn store(&mut self, variable: &'f Expr, value: &Value, at: SpanRange) {
        if let ExprKind::Local(local) = variable.kind {
            return self.set(Variable::Local(local), value, at);
        }
        if let ExprKind::Field { base, member } = &variable.kind
            && let ExprKind::Local(local) = base.kind
        {
            let field = self.field(member);
            self.set_node(Variable::Local(local), value.node, Extent::Field, at);
            return self.set(Variable::Field(local, field), value, at);
        }
        // Where: indexes, and what is behind a reference.
        let value_place = self.variable(variable);
        let at_place = value_place.node;
        match (&variable.kind, local_of(variable)) {
            (ExprKind::Deref(target), Some(local)) if matches!(target.kind, ExprKind::Local(_)) => {
                self.set(Variable::Local(local), value, at);
            }
            (_, Some(local)) => {
                let value = self.combined(vec![value.node, at_place], at).node;
                self.set_node(Variable::Local(local), value, Extent::Part, at);
            }
            (_, None) => {
                self.access(value_place.region.unwrap_or(Region::of(Root::Global)), AccessKind::Write, variable.span)
            }
        }
    }

    /// Variables that a device function was lent to change.
    fn lent(&mut self, arguments: &'f [Expr], values: &[Value], how: AccessKind, node: NodeId, at: SpanRange) {
        for (argument, value) in arguments.iter().zip(values) {
            let local = match &argument.kind {
                ExprKind::Borrow { mutable: true, target } => local_of(target),
                // The receiver of a method, and a reference that is passed on.
                _ => local_of(argument).filter(|local| match self.function.kind(*local) {
                    Kind::Reference { mutable } => mutable,
                    _ => self.function.local(*local).mutable.is_some(),
                }),
            };
            if let Some(local) = local {
                self.set_node(Variable::Local(local), node, Extent::Part, at);
            }
            if let (Some(_), Some(region)) = (argument.memory(), &value.region) {
                self.access(region.clone(), how, at);
            }
        }
    }

    /// What closures touch that are called here.
    fn touch<'v>(&mut self, values: impl Iterator<Item = &'v Value>, at: SpanRange) {
        for (region, how) in values.flat_map(|value| &value.touches) {
            self.access(region.clone(), *how, at);
        }
    }

    /// What it does with its operands, nobody here knows.
    fn by_hand(&mut self, by_hand: &'f InlineCuda, expr: &'f Expr) -> Value {
        let at = expr.span;
        let values: Vec<_> = by_hand.operands.iter().map(|operand| self.value(&operand.value)).collect();
        let nodes = values.iter().map(|value| value.node).collect();
        let node = self.node(Source::Known { uniformity: Uniformity::Divergent, what: "cuda!" }, nodes, at);
        for (operand, value) in by_hand.operands.iter().zip(values) {
            if let (Direction::Out | Direction::InOut, Some(local)) = (operand.direction, local_of(&operand.value)) {
                self.set_node(Variable::Local(local), node, Extent::Part, at);
            }
            if let (Some(_), Some(region)) = (operand.value.memory(), value.region) {
                self.access(region, AccessKind::ByHand, at);
            }
        }
        Value::of(node)
    }
}
