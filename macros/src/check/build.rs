//! The tree to the graph: evaluation order, jumps, and where tokens move and are dropped.

mod condition;

use super::cfg::{BasicBlock, BlockId, Cfg, End, Place, Step, StepKind};
use crate::messages::Loss;
use crate::model::expr::{Adaptor, Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::op::Op;
use crate::model::ty::Kind;
use crate::model::{Function, LocalId, LoopId};
use crate::span::SpanRange;

pub(crate) fn build(function: &Function) -> Cfg {
    let mut builder = Builder {
        function,
        blocks: vec![BasicBlock::default()],
        current: BlockId(0),
        scopes: vec![function.params.iter().map(|param| param.local).collect()],
        jumps: Vec::new(),
        temporaries: 0,
        waiting: Vec::new(),
    };
    let end = SpanRange::at(function.body.span.hi);
    let value = builder.block(&function.body);
    builder.hand_over(value, end);
    builder.drop_scopes(0, Loss::EndOfScope, end);
    Cfg { blocks: builder.blocks, entry: BlockId(0) }
}

struct Builder<'f> {
    function: &'f Function,
    blocks: Vec<BasicBlock>,
    current: BlockId,
    /// Locals in scope, innermost last.
    scopes: Vec<Vec<LocalId>>,
    jumps: Vec<Jump>,
    temporaries: usize,
    /// Operands that are evaluated and wait for the others: a jump out of one of those drops them.
    waiting: Vec<Place>,
}

/// Where `break` and `continue` go.
struct Jump {
    id: LoopId,
    after: BlockId,
    /// A labelled block has none.
    again: Option<BlockId>,
    /// Scopes outside of it.
    depth: usize,
    /// Waiting operands outside of it.
    waiting: usize,
    value: Place,
}

impl<'f> Builder<'f> {
    fn new_block(&mut self) -> BlockId {
        self.blocks.push(BasicBlock::default());
        BlockId(self.blocks.len() - 1)
    }

    fn end(&mut self, end: End) {
        self.blocks[self.current.0].end = end;
    }

    /// Ends the current block with a jump, and goes on in one that nothing reaches.
    fn leave(&mut self, to: Option<BlockId>) {
        self.end(to.map_or(End::Leave, End::Goto));
        self.current = self.new_block();
    }

    fn goto(&mut self, next: BlockId) {
        self.end(End::Goto(next));
        self.current = next;
    }

    fn step(&mut self, kind: StepKind, at: SpanRange) {
        self.blocks[self.current.0].steps.push(Step { kind, at });
    }

    fn temporary(&mut self) -> Place {
        self.temporaries += 1;
        Place::Temporary(self.temporaries - 1)
    }

    fn holds_token(&self, local: LocalId) -> bool {
        matches!(self.function.kind(local), Kind::Token(_) | Kind::OptionalToken(_))
    }

    /// Drops the locals of all scopes from `depth` inwards, the last declared first.
    fn drop_scopes(&mut self, depth: usize, how: Loss, at: SpanRange) {
        let locals = self.scopes[depth..].iter().flatten().copied();
        let tokens: Vec<LocalId> = locals.filter(|local| self.holds_token(*local)).collect();
        for local in tokens.into_iter().rev() {
            self.step(StepKind::Drop { place: Place::Local(local), how }, at);
        }
    }

    fn hand_over(&mut self, value: Option<Place>, at: SpanRange) {
        if let Some(from) = value {
            self.step(StepKind::HandOver { from }, at);
        }
    }

    fn move_to(&mut self, into: Place, value: Option<Place>, at: SpanRange) {
        if let Some(from) = value.filter(|from| *from != into) {
            self.step(StepKind::Move { from, into }, at);
        }
    }

    /// The token that a block's value is, moved out before its locals are dropped.
    fn block(&mut self, block: &'f Block) -> Option<Place> {
        // What a pattern bound is in scope before the first statement; a `let` adds its own.
        let declared_here = |local: &LocalId| {
            block.statements.iter().any(|statement| match &statement.kind {
                StmtKind::Let { local: own, .. } => own == local,
                StmtKind::LetPattern { pattern, .. } => pattern.locals().contains(local),
                StmtKind::Split { halves, .. } => halves.contains(&Some(*local)),
                StmtKind::Discard(_) | StmtKind::Expr(_) | StmtKind::Item(_) => false,
            })
        };
        self.scopes.push(block.declared.iter().copied().filter(|local| !declared_here(local)).collect());
        for statement in &block.statements {
            self.statement(statement);
        }
        let value = block.tail.as_ref().and_then(|tail| {
            let value = self.value(tail)?;
            let out = self.temporary();
            self.step(StepKind::Move { from: value, into: out }, tail.span);
            Some(out)
        });
        let depth = self.scopes.len() - 1;
        self.drop_scopes(depth, Loss::EndOfScope, SpanRange::at(block.span.hi));
        self.scopes.pop();
        value
    }

    fn declare(&mut self, local: LocalId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(local);
        }
    }

    fn statement(&mut self, statement: &'f Stmt) {
        match &statement.kind {
            StmtKind::Let { local, init, .. } => {
                if let Some(init) = init {
                    let value = self.value(init);
                    self.move_to(Place::Local(*local), value, init.span);
                }
                self.declare(*local);
            }
            StmtKind::LetPattern { pattern, init, otherwise, .. } => {
                let place = self.value(init);
                if let Some(otherwise) = otherwise {
                    let (yes, no) = (self.new_block(), self.new_block());
                    self.test(pattern, place, yes, no);
                    self.current = no;
                    self.drop_temporary(place, init.span);
                    self.block(otherwise);
                    self.end(End::Leave);
                    self.current = yes;
                }
                let held = self.bind(pattern, place, init.span);
                self.drop_temporary(held, init.span);
                pattern.locals().into_iter().for_each(|local| self.declare(local));
            }
            StmtKind::Discard(expr) => {
                let value = self.value(expr);
                // `let _ = local;` does not move out of the local.
                if let Some(place @ Place::Temporary(_)) = value {
                    self.step(StepKind::Drop { place, how: Loss::Discarded }, statement.span);
                }
            }
            StmtKind::Expr(expr) => {
                if let Some(place) = self.value(expr) {
                    self.step(StepKind::Drop { place, how: Loss::Unused }, statement.span);
                }
            }
            // Memory: no token is in it.
            StmtKind::Split { init, .. } => {
                self.value(init);
            }
            StmtKind::Item(_) => {}
        }
    }

    fn values(&mut self, exprs: impl IntoIterator<Item = &'f Expr>) -> Vec<Option<Place>> {
        let before = self.waiting.len();
        let mut places = Vec::new();
        for expr in exprs {
            let place = self.value(expr);
            self.waiting.extend(place.filter(|place| matches!(place, Place::Temporary(_))));
            places.push(place);
        }
        self.waiting.truncate(before);
        places
    }

    /// What a jump leaves behind: operands on their way, and locals of the scopes from `depth` inwards.
    fn abandon(&mut self, waiting: usize, depth: usize, how: Loss, at: SpanRange) {
        let lost: Vec<Place> = self.waiting.iter().skip(waiting).copied().collect();
        for place in lost {
            self.step(StepKind::Drop { place, how }, at);
        }
        self.drop_scopes(depth, how, at);
    }

    /// Evaluates an expression; gives the place of the token that it is, if it is one.
    fn value(&mut self, expr: &'f Expr) -> Option<Place> {
        let at = expr.span;
        match &expr.kind {
            ExprKind::Local(local) => self.holds_token(*local).then_some(Place::Local(*local)),
            ExprKind::Error
            | ExprKind::Int { .. }
            | ExprKind::Float { .. }
            | ExprKind::Bool(_)
            | ExprKind::Constant(_)
            | ExprKind::Operator(..) => None,
            ExprKind::Some(inner) => match self.value(inner) {
                // The variable is moved from, whatever becomes of the `Some`.
                place @ Some(Place::Local(_)) => {
                    let into = self.temporary();
                    self.move_to(into, place, at);
                    Some(into)
                }
                place => place,
            },
            ExprKind::None(_) => match expr.gives {
                Kind::OptionalToken(_) => {
                    let place = self.temporary();
                    self.step(StepKind::Clear { place }, at);
                    Some(place)
                }
                _ => None,
            },
            ExprKind::Unary(_, inner)
            | ExprKind::Cast(inner, _)
            | ExprKind::Typed(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Axis(inner, _)
            | ExprKind::Field { base: inner, .. }
            | ExprKind::Borrow { target: inner, .. }
            | ExprKind::Repeat { element: inner, .. }
            | ExprKind::Vector { argument: inner, .. } => {
                self.value(inner);
                None
            }
            ExprKind::Binary { op, left, right, .. } if op.short_circuits() => {
                self.value(left);
                let (second, after) = (self.new_block(), self.new_block());
                self.end(End::Branch { then: second, otherwise: after });
                self.current = second;
                self.value(right);
                self.goto(after);
                None
            }
            ExprKind::Binary { left, right, .. } => {
                self.values([&**left, &**right]);
                None
            }
            ExprKind::Index { base, index, .. } | ExprKind::UncheckedPlace { base, index } => {
                self.values([&**base, &**index]);
                None
            }
            ExprKind::Array { elements, .. } | ExprKind::Tuple { elements, .. } => {
                self.values(elements);
                None
            }
            ExprKind::Struct { fields, base, .. } => {
                self.values(fields.iter().map(|(_, field)| field).chain(base.as_deref()));
                None
            }
            ExprKind::Op { op, operands, .. } => self.op(*op, operands, expr),
            ExprKind::Method { operands, .. }
            | ExprKind::ScalarCall { operands, .. }
            | ExprKind::FastCall { operands, .. } => {
                self.values(operands);
                None
            }
            ExprKind::Call { slot, arguments, .. } => {
                for place in self.values(arguments) {
                    self.hand_over(place, at);
                }
                let gives = match expr.gives {
                    Kind::Token(group) | Kind::OptionalToken(Some(group)) => Some((group, self.temporary())),
                    _ => None,
                };
                self.step(StepKind::Call { slot: *slot, gives }, at);
                gives.map(|(_, place)| place)
            }
            ExprKind::CallClosure { arguments, .. } => {
                self.values(arguments);
                None
            }
            // No token and no collective is in it.
            ExprKind::Closure { .. } => None,
            ExprKind::Block(block) | ExprKind::Unsafe(block) => self.block(block),
            ExprKind::Labelled { id, block, .. } => {
                let value = self.temporary();
                let after = self.new_block();
                self.jumps.push(Jump {
                    id: *id,
                    after,
                    again: None,
                    depth: self.scopes.len(),
                    waiting: self.waiting.len(),
                    value,
                });
                let tail = self.block(block);
                self.move_to(value, tail, at);
                self.goto(after);
                self.jumps.pop();
                self.token_of(expr, value)
            }
            ExprKind::If { condition, then, otherwise, .. } => self.branch(expr, condition, then, otherwise.as_deref()),
            ExprKind::Match { scrutinee, arms, .. } => self.match_arms(expr, scrutinee, arms),
            ExprKind::Loop { id, body, .. } => {
                let value = self.temporary();
                let (again, after) = (self.new_block(), self.new_block());
                self.goto(again);
                self.jumps.push(Jump {
                    id: *id,
                    after,
                    again: Some(again),
                    depth: self.scopes.len(),
                    waiting: self.waiting.len(),
                    value,
                });
                self.block(body);
                self.end(End::Goto(again));
                self.current = after;
                self.jumps.pop();
                self.token_of(expr, value)
            }
            ExprKind::While { id, condition, body, .. } => {
                let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
                self.goto(again);
                let held = self.condition(condition, inside, after);
                self.repeat(*id, [again, inside, after], held, body);
                None
            }
            ExprKind::For { id, range, body, .. } => {
                self.values([&range.start, &range.end]);
                self.values(range.adaptors.iter().filter_map(Adaptor::step));
                let (again, inside, after) = (self.new_block(), self.new_block(), self.new_block());
                self.goto(again);
                self.end(End::Branch { then: inside, otherwise: after });
                self.repeat(*id, [again, inside, after], Vec::new(), body);
                None
            }
            ExprKind::Assign(place, value) => {
                let new = self.value(value);
                match (&place.kind, new) {
                    (ExprKind::Local(local), Some(from)) => {
                        let into = Place::Local(*local);
                        self.step(StepKind::Drop { place: into, how: Loss::Overwritten }, at);
                        self.move_to(into, Some(from), at);
                    }
                    _ => {
                        self.value(place);
                    }
                }
                None
            }
            ExprKind::AssignOp { place, value, .. } => {
                self.values([&**value, &**place]);
                None
            }
            ExprKind::Break { target, value, .. } => {
                let carried = value.as_ref().and_then(|value| self.value(value));
                let jump = self.jumps.iter().find(|jump| jump.id == *target)?;
                let (after, waiting, depth, into) = (jump.after, jump.waiting, jump.depth, jump.value);
                self.move_to(into, carried, at);
                self.abandon(waiting, depth, Loss::Break, at);
                self.leave(Some(after));
                None
            }
            ExprKind::Continue { target, .. } => {
                let jump = self.jumps.iter().find(|jump| jump.id == *target)?;
                let (again, waiting, depth) = (jump.again, jump.waiting, jump.depth);
                self.abandon(waiting, depth, Loss::Continue, at);
                self.leave(again);
                None
            }
            ExprKind::Return(value) => {
                let value = value.as_ref().and_then(|value| self.value(value));
                self.hand_over(value, at);
                self.abandon(0, 0, Loss::Return, at);
                self.leave(None);
                None
            }
            ExprKind::Assert(test, message) => {
                // A thread that fails ends the launch: nothing of its tokens matters any more.
                self.values(test.operands());
                self.values(&message.values);
                None
            }
            ExprKind::Cuda(by_hand) => {
                self.values(by_hand.operands.iter().map(|operand| &operand.value));
                None
            }
            ExprKind::Panic(message) => {
                self.values(&message.values);
                self.leave(None);
                None
            }
            ExprKind::Print(message) => {
                self.values(&message.values);
                None
            }
        }
    }

    fn token_of(&self, expr: &Expr, place: Place) -> Option<Place> {
        matches!(expr.gives, Kind::Token(_) | Kind::OptionalToken(_)).then_some(place)
    }

    fn repeat(&mut self, id: LoopId, [again, inside, after]: [BlockId; 3], held: Vec<Place>, body: &'f Block) {
        let value = self.temporary();
        self.jumps.push(Jump {
            id,
            after,
            again: Some(again),
            depth: self.scopes.len(),
            waiting: self.waiting.len(),
            value,
        });
        self.current = inside;
        self.holding(held, body);
        self.end(End::Goto(again));
        self.jumps.pop();
        self.current = after;
    }

    fn op(&mut self, op: Op, operands: &'f [Expr], expr: &'f Expr) -> Option<Place> {
        let at = expr.span;
        let places = self.values(operands);
        let token = places.into_iter().flatten().next();
        match op {
            Op::Arrive(group) => {
                let into = self.temporary();
                self.step(StepKind::Arrive { group, into }, at);
                Some(into)
            }
            Op::Wait(group) => {
                if let Some(from) = token {
                    self.step(StepKind::Wait { group, from }, at);
                }
                None
            }
            Op::Sync(group) => {
                self.step(StepKind::Collective { group, name: "sync" }, at);
                None
            }
            Op::Warp(group, method) => {
                self.step(StepKind::Collective { group, name: method.name }, at);
                None
            }
            Op::Partition(group, name) => {
                self.step(StepKind::Collective { group, name }, at);
                None
            }
            Op::Take => {
                let into = self.temporary();
                self.move_to(into, token, at);
                Some(into)
            }
            Op::This(_)
            | Op::TiledPartition(..)
            | Op::Query(..)
            | Op::MapSharedRank(_)
            | Op::QuerySharedRank
            | Op::SharedArray(_)
            | Op::DynamicShared
            | Op::DynamicSharedSlice
            | Op::Part { .. }
            | Op::SplitAt { .. }
            | Op::LoadVec(_)
            | Op::StoreVec
            | Op::Length
            | Op::IsEmpty
            | Op::LoadUnchecked
            | Op::Atomic(_)
            | Op::Fence(..)
            | Op::Unwrap
            | Op::UnwrapOr => None,
            Op::Is(_) => {
                self.drop_temporary(token, at);
                None
            }
        }
    }
}
