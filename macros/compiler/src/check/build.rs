//! The tree to the graph: evaluation order, jumps, where tokens move and are dropped, and of what values are made.
//! Statements and blocks are here; expressions are in `value`, branches in `condition`, operations in `op`, memory in
//! `memory`.

#![warn(clippy::wildcard_enum_match_arm)]

mod closure;
mod condition;
mod copy;
mod memory;
mod op;
mod value;

use std::collections::BTreeMap;

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    Access, AccessKind, BarrierCall, BasicBlock, BlockId, Cfg, CopyStep, End, Extent, GroupStep, MemoryStep, Node,
    NodeId, Region, Root, Select, Shared, Slice, Source, Step, StepKind, Team, TokenStep, ValueStep, Variable,
};
use crate::model::expr::{Block, Expr, ExprKind, Member, Stmt, StmtKind};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::query::Query;
use crate::model::token::TokenLoss;
use crate::model::{Function, LocalId, LoopId, ValueId};
use crate::span::SpanRange;
use memory::region_of_kind;

pub(crate) fn build(function: &Function) -> Cfg<'_> {
    let mut builder = Builder {
        function,
        blocks: vec![BasicBlock::default()],
        nodes: Vec::new(),
        accesses: Vec::new(),
        copies: Vec::new(),
        barrier_calls: Vec::new(),
        queries: BTreeMap::new(),
        names: BTreeMap::new(),
        current: BlockId(0),
        scopes: vec![function.params.iter().map(|param| param.local).collect()],
        jumps: Vec::new(),
        temporaries: 0,
        waiting: Vec::new(),
        teams: BTreeMap::new(),
        groups: 0,
        sizes: BTreeMap::new(),
        regions: BTreeMap::new(),
        slices: Vec::new(),
        closures: BTreeMap::new(),
        fields: BTreeMap::new(),
    };
    builder.params();
    let teams = builder.teams.values().copied().collect();
    let end = SpanRange::at(function.body.span.hi);
    let value = builder.block(&function.body);
    builder.give(Some(value), end);
    builder.drop_scopes(0, TokenLoss::EndOfScope, end);
    builder.end(End::Leave);
    Cfg {
        blocks: builder.blocks,
        entry: BlockId(0),
        nodes: builder.nodes,
        accesses: builder.accesses,
        copies: builder.copies,
        barrier_calls: builder.barrier_calls,
        queries: builder.queries,
        slices: builder.slices,
        names: builder.names,
        teams,
    }
}

struct Builder<'f> {
    function: &'f Function,
    blocks: Vec<BasicBlock>,
    nodes: Vec<Node<'f>>,
    accesses: Vec<Access>,
    copies: Vec<CopyStep>,
    barrier_calls: Vec<BarrierCall>,
    queries: BTreeMap<NodeId, (Group, &'static Query)>,
    names: BTreeMap<Shared, LocalId>,
    current: BlockId,
    /// Locals in scope, innermost last.
    scopes: Vec<Vec<LocalId>>,
    jumps: Vec<Jump>,
    temporaries: usize,
    /// Operands that are evaluated and wait for the others: a jump out of one of those drops them.
    waiting: Vec<Variable>,
    /// PhaseAction locals that are groups are groups of.
    teams: BTreeMap<LocalId, Team>,
    /// Groups whose threads only the run knows.
    groups: u16,
    /// Those that are tiles of a size that is no literal, by the size.
    sizes: BTreeMap<ValueId, Uniformity>,
    /// PhaseAction locals that are memory are memory of.
    regions: BTreeMap<LocalId, Region>,
    /// Uses of `dynamic_shared_slice`.
    slices: Vec<Slice>,
    /// PhaseAction locals that are closures touch.
    closures: BTreeMap<LocalId, Vec<(Region, AccessKind)>>,
    /// The numbers of fields, by their names.
    fields: BTreeMap<String, u16>,
}

/// What an expression comes to.
#[derive(Debug, Clone)]
struct Value {
    node: NodeId,
    /// The variable of the token that it is, if it is one.
    token: Option<Variable>,
    /// What is known of its fields, by their numbers.
    fields: Vec<(u16, Value)>,
    /// The memory that it is, or an element of.
    region: Option<Region>,
    /// What it touches where it is called, if it is a closure.
    touches: Vec<(Region, AccessKind)>,
}

impl Value {
    fn of(node: NodeId) -> Value {
        Value { node, token: None, fields: Vec::new(), region: None, touches: Vec::new() }
    }

    fn in_memory(self, region: Region) -> Value {
        Value { region: Some(region), ..self }
    }

    fn with(self, token: Option<Variable>) -> Value {
        Value { token, ..self }
    }
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
    value: Variable,
}

impl<'f> Builder<'f> {
    fn new_block(&mut self) -> BlockId {
        self.blocks.push(BasicBlock::default());
        BlockId(self.blocks.len() - 1)
    }

    fn end(&mut self, end: End) {
        self.blocks[self.current.0].end = end;
    }

    /// BulkDirection the current block, and goes on in one that nothing reaches.
    fn leave(&mut self, end: End) {
        self.end(end);
        self.current = self.new_block();
    }

    fn goto(&mut self, next: BlockId) {
        self.end(End::Goto(next));
        self.current = next;
    }

    fn step(&mut self, kind: StepKind, at: SpanRange) {
        self.blocks[self.current.0].steps.push(Step { kind, at });
    }

    fn temporary(&mut self) -> Variable {
        self.temporaries += 1;
        Variable::Temporary(self.temporaries - 1)
    }

    fn node(&mut self, source: Source<'f>, operands: Vec<NodeId>, at: SpanRange) -> NodeId {
        let node = NodeId(self.nodes.len());
        self.nodes.push(Node { source, operands, at });
        self.step(StepKind::Value(ValueStep::Evaluate(node)), at);
        node
    }

    /// A value of its operands and nothing else.
    fn combined(&mut self, operands: Vec<NodeId>, at: SpanRange) -> Value {
        Value::of(self.node(Source::Operands, operands, at))
    }

    /// A literal, a constant, `()`.
    fn nothing(&mut self, at: SpanRange) -> Value {
        self.combined(Vec::new(), at)
    }

    fn read(&mut self, variable: Variable, at: SpanRange) -> NodeId {
        self.node(Source::Read(variable), Vec::new(), at)
    }

    fn set(&mut self, variable: Variable, value: &Value, at: SpanRange) {
        self.set_node(variable, value.node, Extent::Whole, at);
        if let Variable::Local(local) = variable {
            for (field, value) in &value.fields {
                self.set_node(Variable::Field(local, *field), value.node, Extent::Whole, at);
            }
        }
    }

    fn set_node(&mut self, variable: Variable, value: NodeId, extent: Extent, at: SpanRange) {
        self.step(StepKind::Value(ValueStep::Set { variable, value, extent }), at);
    }

    /// The number of a field's name.
    fn field(&mut self, member: &Member) -> u16 {
        let name = match member {
            Member::Named(name) => name.to_string(),
            Member::Unnamed(index) => index.to_string(),
        };
        let next = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        *self.fields.entry(name).or_insert(next)
    }

    fn holds_token(&self, local: LocalId) -> bool {
        matches!(self.function.kind(local), Kind::Token(_) | Kind::OptionalToken(_))
    }

    /// Drops the locals of all scopes from `depth` inwards, the last declared first.
    fn drop_scopes(&mut self, depth: usize, how: TokenLoss, at: SpanRange) {
        let locals = self.scopes[depth..].iter().flatten().copied();
        let tokens: Vec<LocalId> = locals.filter(|local| self.holds_token(*local)).collect();
        for local in tokens.into_iter().rev() {
            self.step(StepKind::Token(TokenStep::Drop { variable: Variable::Local(local), how }), at);
        }
    }

    /// The function's result, and what it leaves in variables that it was lent.
    fn give(&mut self, value: Option<Value>, at: SpanRange) {
        for param in &self.function.params {
            if let Kind::Reference { mutable: true } = self.function.kind(param.local) {
                let left = self.read(Variable::Local(param.local), at);
                self.step(StepKind::Value(ValueStep::Return(left)), at);
            }
        }
        let value = value.unwrap_or_else(|| self.nothing(at));
        self.step(StepKind::Value(ValueStep::Return(value.node)), at);
        self.hand_over(value.token, at);
    }

    fn hand_over(&mut self, value: Option<Variable>, at: SpanRange) {
        if let Some(from) = value {
            self.step(StepKind::Token(TokenStep::HandOver { from }), at);
        }
    }

    fn move_token(&mut self, into: Variable, value: Option<Variable>, at: SpanRange) {
        if let Some(from) = value.filter(|from| *from != into) {
            self.step(StepKind::Token(TokenStep::Move { from, into }), at);
        }
    }

    /// A variable gets a value, and the token that it is.
    fn move_to(&mut self, into: Variable, value: &Value, at: SpanRange) {
        self.move_token(into, value.token, at);
        self.set(into, value, at);
    }

    /// What a block comes to: its token is moved out before its locals are dropped.
    fn block(&mut self, block: &'f Block) -> Value {
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
        let value = match &block.tail {
            Some(tail) => {
                let value = self.value(tail);
                let token = value.token.map(|from| {
                    let out = self.temporary();
                    self.step(StepKind::Token(TokenStep::Move { from, into: out }), tail.span);
                    out
                });
                value.with(token)
            }
            None => self.nothing(block.span),
        };
        let depth = self.scopes.len() - 1;
        self.drop_scopes(depth, TokenLoss::EndOfScope, SpanRange::at(block.span.hi));
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
                    self.move_to(Variable::Local(*local), &value, init.span);
                    self.name(*local, init, value);
                }
                self.declare(*local);
            }
            StmtKind::LetPattern { pattern, init, otherwise, .. } => {
                let value = self.value(init);
                if let Some(otherwise) = otherwise {
                    let (yes, no) = (self.new_block(), self.new_block());
                    self.test(pattern, &value, yes, no);
                    self.current = no;
                    self.drop_temporary(value.token, init.span);
                    self.block(otherwise);
                    self.end(End::Never);
                    self.current = yes;
                }
                let held = self.bind(pattern, &value, init.span);
                self.drop_temporary(held, init.span);
                pattern.locals().into_iter().for_each(|local| self.declare(local));
            }
            StmtKind::Discard(expr) => {
                let value = self.value(expr);
                // `let _ = local;` does not move out of the local.
                if let Some(variable @ Variable::Temporary(_)) = value.token {
                    self.step(StepKind::Token(TokenStep::Drop { variable, how: TokenLoss::Discarded }), statement.span);
                }
            }
            StmtKind::Expr(expr) => {
                if let Some(variable) = self.value(expr).token {
                    self.step(StepKind::Token(TokenStep::Drop { variable, how: TokenLoss::Unused }), statement.span);
                }
            }
            StmtKind::Split { halves, init } => {
                let ExprKind::Op { operands, .. } = &init.kind else { return };
                let values = self.values(operands);
                let (Some(memory), Some(mid)) = (values.first(), values.get(1)) else { return };
                let value = self.combined(vec![memory.node, mid.node], init.span);
                // Under a name, what is not understood is still one number.
                let named = self.temporary();
                self.set(named, mid, init.span);
                let mid = self.read(named, init.span);
                let whole = memory.region.clone().unwrap_or_else(|| region_of_kind(init.result_kind));
                for (half, second) in halves.iter().zip([false, true]) {
                    if let Some(half) = half {
                        self.set(Variable::Local(*half), &value, init.span);
                        let half_of = whole.clone().several(Select::Half { mid, second });
                        self.regions.insert(*half, half_of);
                    }
                }
            }
            StmtKind::Item(_) => {}
        }
    }

    /// What a local is a name of, where that is a group, memory or a closure.
    fn name(&mut self, local: LocalId, init: &Expr, value: Value) {
        if let Kind::Group(_) = init.result_kind {
            let team = self.team(init);
            self.teams.insert(local, team);
        }
        if let Kind::Memory(_) | Kind::Barrier(_) = init.result_kind {
            let region = value.region.unwrap_or_else(|| region_of_kind(init.result_kind));
            if let Root::Shared(shared) = region.root {
                self.names.entry(shared).or_insert(local);
            }
            self.regions.insert(local, region);
        }
        if !value.touches.is_empty() {
            self.closures.insert(local, value.touches);
        }
    }

    fn values(&mut self, exprs: impl IntoIterator<Item = &'f Expr>) -> Vec<Value> {
        let before = self.waiting.len();
        let mut values = Vec::new();
        for expr in exprs {
            let value = self.value(expr);
            self.waiting.extend(value.token.filter(|variable| matches!(variable, Variable::Temporary(_))));
            values.push(value);
        }
        self.waiting.truncate(before);
        values
    }

    fn nodes(&mut self, exprs: impl IntoIterator<Item = &'f Expr>) -> Vec<NodeId> {
        self.values(exprs).into_iter().map(|value| value.node).collect()
    }

    /// What a jump leaves behind: operands on their way, and locals of the scopes from `depth` inwards.
    fn abandon(&mut self, waiting: usize, depth: usize, how: TokenLoss, at: SpanRange) {
        let lost: Vec<Variable> = self.waiting.iter().skip(waiting).copied().collect();
        for variable in lost {
            self.step(StepKind::Token(TokenStep::Drop { variable, how }), at);
        }
        self.drop_scopes(depth, how, at);
    }

    fn repeat(&mut self, id: LoopId, [again, inside, after]: [BlockId; 3], held: Vec<Variable>, body: &'f Block) {
        let value = self.temporary();
        let (depth, waiting) = (self.scopes.len(), self.waiting.len());
        self.jumps.push(Jump { id, after, again: Some(again), depth, waiting, value });
        self.current = inside;
        self.holding(held, body);
        self.end(End::Goto(again));
        self.jumps.pop();
        self.current = after;
    }
}
