//! Lowers a function's tree to the control-flow graph: evaluation order, jumps, moves and drops of tokens, and values. Statements and
//! blocks are here; expressions are in `value`, branches in `condition`, operations in `op`, `method` and `memory`.

mod arms;
mod closure;
mod condition;
mod constants;
mod copy;
mod fields;
mod granule;
mod inline_cuda;
mod local_array;
mod matrix;
mod memory;
mod method;
mod op;
mod query;
mod reference;
mod store;
mod truth;
mod value;
mod width;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::uniformity::Uniformity;

use super::cfg::{
    Access, AccessId, Assertion, BarrierCall, BasicBlock, BelowZero, BlockId, ByNode, Call, CallId, Cfg,
    ChangeOfRegisters, Computed, Content, CopyStep, CountedLoop, End, Extent, Formula, GivenTo, GroupStep, MemoryStep,
    Node, NodeId, Position, Region, Select, Shared, Slice, Source, Step, StepKind, Team, TokenStep, ValueStep,
    Variable,
};
use crate::model::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::group::Group;
use crate::model::kind::Kind;
use crate::model::query::Query;
use crate::model::token::TokenLoss;
use crate::model::{Function, LocalId, LoopId, ValueId};
use crate::span::SpanRange;
pub(crate) use closure::MOST_BODIES as MOST_CLOSURE_BODIES;
use closure::{Closure, ClosureId};
use memory::region_of_kind;

/// Builds the graph; the error is the call of a closure for whose body it has no room.
pub(crate) fn build(function: &Function) -> Result<Cfg<'_>, SpanRange> {
    let mut builder = Builder {
        function,
        blocks: vec![BasicBlock::default()],
        nodes: Vec::new(),
        accesses: Vec::new(),
        copies: Vec::new(),
        barrier_calls: Vec::new(),
        calls: Vec::new(),
        queries: BTreeMap::new(),
        axes: BTreeMap::new(),
        added: BTreeMap::new(),
        of_lanes: BTreeSet::new(),
        contents: BTreeMap::new(),
        positions: BTreeMap::new(),
        thread_indexes: BTreeSet::new(),
        cuts: BTreeMap::new(),
        differences: BTreeMap::new(),
        recast: BTreeMap::new(),
        formulas: BTreeMap::new(),
        computed: BTreeMap::new(),
        named_lengths: Vec::new(),
        shown_types: width::ShownTypes::default(),
        counted: BTreeMap::new(),
        assertions: Vec::new(),
        collectives_of_warps: Vec::new(),
        register_changes: Vec::new(),
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
        referents: BTreeMap::new(),
        referred_elements: BTreeMap::new(),
        referred_wholes: BTreeSet::new(),
        reassigned: reference::reassigned(function),
        slices: Vec::new(),
        dynamic: Vec::new(),
        closures: Vec::new(),
        named_closures: BTreeMap::new(),
        copies_of: BTreeMap::new(),
        closure_depth: 0,
        given_to: None,
        closure_bodies: 0,
        too_many_bodies: None,
        fields: BTreeMap::new(),
        fields_of: BTreeMap::new(),
        variants: BTreeMap::new(),
        yielded: BTreeMap::new(),
    };
    builder.params();
    let (teams, end) = (builder.teams.values().copied().collect(), SpanRange::at(function.body.span.hi));
    let value = builder.block(&function.body);
    builder.return_value(Some(value), end);
    builder.drop_scopes(0, TokenLoss::EndOfScope, end);
    builder.end(End::Leave);
    if let Some(call) = builder.too_many_bodies {
        return Err(call);
    }
    Ok(Cfg {
        blocks: builder.blocks,
        entry: BlockId(0),
        nodes: builder.nodes,
        accesses: builder.accesses,
        copies: builder.copies,
        barrier_calls: builder.barrier_calls,
        calls: builder.calls,
        queries: ByNode::from(builder.queries),
        axes: ByNode::from(builder.axes),
        added: builder.added,
        of_lanes: builder.of_lanes,
        contents: builder.contents,
        positions: ByNode::from(builder.positions),
        cuts: ByNode::from(builder.cuts),
        differences: builder.differences,
        recast: builder.recast,
        formulas: ByNode::from(builder.formulas),
        computed: ByNode::from(builder.computed),
        variants: builder.variants,
        named_lengths: builder.named_lengths,
        counted: builder.counted,
        assertions: builder.assertions,
        collectives_of_warps: builder.collectives_of_warps,
        register_changes: builder.register_changes,
        slices: builder.slices,
        dynamic: builder.dynamic,
        names: builder.names,
        read_only: reference::read_only(function),
        teams,
        only_values: OnceCell::new(),
        callees: OnceCell::new(),
    })
}

struct Builder<'f> {
    function: &'f Function,
    blocks: Vec<BasicBlock>,
    nodes: Vec<Node<'f>>,
    accesses: Vec<Access>,
    copies: Vec<CopyStep>,
    barrier_calls: Vec<BarrierCall>,
    calls: Vec<Call<'f>>,
    queries: BTreeMap<NodeId, (Group, &'static Query)>,
    axes: BTreeMap<NodeId, (NodeId, usize)>,
    added: BTreeMap<NodeId, NodeId>,
    /// The results of what a warp does together of which each thread has its own.
    of_lanes: BTreeSet<NodeId>,
    contents: BTreeMap<AccessId, Content>,
    positions: BTreeMap<NodeId, Position>,
    /// The locals that are the thread's index.
    thread_indexes: BTreeSet<LocalId>,
    cuts: BTreeMap<NodeId, u32>,
    differences: BTreeMap<NodeId, BelowZero>,
    recast: BTreeMap<NodeId, String>,
    formulas: BTreeMap<NodeId, Formula>,
    computed: BTreeMap<NodeId, Computed>,
    named_lengths: Vec<NodeId>,
    shown_types: width::ShownTypes,
    counted: BTreeMap<BlockId, CountedLoop>,
    assertions: Vec<Assertion>,
    collectives_of_warps: Vec<(Team, &'static str, SpanRange)>,
    register_changes: Vec<ChangeOfRegisters>,
    names: BTreeMap<Shared, LocalId>,
    current: BlockId,
    /// The locals in scope, innermost last.
    scopes: Vec<Vec<LocalId>>,
    jumps: Vec<Jump>,
    temporaries: usize,
    /// Temporaries that hold the operands evaluated so far. A jump out of a later operand drops them.
    waiting: Vec<Variable>,
    /// The groups that locals stand for.
    teams: BTreeMap<LocalId, Team>,
    /// The number of groups so far whose threads are known only at run time.
    groups: u16,
    /// The uniformities of tiles whose size is not a literal, by size.
    sizes: BTreeMap<ValueId, Uniformity>,
    /// The regions that locals of memory stand for.
    regions: BTreeMap<LocalId, Region>,
    /// The targets of local references.
    referents: BTreeMap<LocalId, LocalId>,
    /// The indexes of the elements that references refer to, of arrays whose elements are variables.
    referred_elements: BTreeMap<LocalId, NodeId>,
    /// The references to whole locals.
    referred_wholes: BTreeSet<LocalId>,
    /// The names of memory, barriers and groups that are assigned after their declaration.
    reassigned: BTreeSet<LocalId>,
    slices: Vec<Slice>,
    dynamic: Vec<Option<u64>>,
    /// The closures that the body makes, in the order of the text.
    closures: Vec<Closure<'f>>,
    /// The locals that are closures.
    named_closures: BTreeMap<LocalId, ClosureId>,
    /// The copies that the `move` closures around the current expression made of locals.
    copies_of: BTreeMap<LocalId, Variable>,
    /// The number of closures around the current expression.
    closure_depth: usize,
    /// The call that is given the outermost closure around the current expression, if that is an argument.
    given_to: Option<GivenTo>,
    /// The number of closure bodies in the graph.
    closure_bodies: usize,
    /// The first call of a closure for which there is no room.
    too_many_bodies: Option<SpanRange>,
    /// The numbers of fields, by name.
    fields: BTreeMap<String, u16>,
    /// The fields that have been set so far, of each local.
    fields_of: BTreeMap<LocalId, BTreeSet<u16>>,
    /// The fields that stand for the variant of an `Option`, each with the field that is the `Option`, if it is not the whole variable.
    variants: BTreeMap<u16, Option<u16>>,
    /// The values that the arms of an `if` or the like yield, by the temporary that gets the value.
    yielded: BTreeMap<usize, arms::Yielded>,
}

/// The value of an expression.
#[derive(Debug, Clone)]
struct Value {
    node: NodeId,
    /// The variable that holds the token, if the value is one.
    token: Option<Variable>,
    /// The values of its fields that are known, by number.
    fields: Vec<(u16, Value)>,
    /// The region, if the value is memory or an element of memory.
    region: Option<Region>,
    /// The closure that it is, if it is one.
    closure: Option<ClosureId>,
}

impl Value {
    fn of(node: NodeId) -> Value {
        Value { node, token: None, fields: Vec::new(), region: None, closure: None }
    }

    fn in_memory(self, region: Region) -> Value {
        Value { region: Some(region), ..self }
    }

    fn with(self, token: Option<Variable>) -> Value {
        Value { token, ..self }
    }
}

/// A loop or labelled block that `break` and `continue` can target.
struct Jump {
    id: LoopId,
    after: BlockId,
    /// The block that `continue` goes to; a labelled block has none.
    again: Option<BlockId>,
    /// The number of scopes around it.
    depth: usize,
    /// The number of waiting operands around it.
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

    /// Ends the current block, and continues in one that nothing reaches.
    fn leave(&mut self, end: End) {
        self.end(end);
        self.current = self.new_block();
    }

    fn goto(&mut self, next: BlockId) {
        self.end(End::Goto(next));
        self.current = next;
    }

    fn step(&mut self, kind: StepKind, at: SpanRange) {
        // The parser refused a collective in a closure.
        if self.closure_depth > 0
            && let StepKind::Group(
                GroupStep::Collective { .. } | GroupStep::Convergent { .. } | GroupStep::Aligned { .. },
            ) = kind
        {
            return;
        }
        self.blocks[self.current.0].steps.push(Step { kind, at });
    }

    /// Whether a local is declared in the code so far, and its scope has not ended.
    fn is_in_scope(&self, local: LocalId) -> bool {
        self.scopes.iter().flatten().any(|known| *known == local)
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

    /// A value without operands: a literal, a constant, `()`.
    fn nothing(&mut self, at: SpanRange) -> Value {
        self.combined(Vec::new(), at)
    }

    fn read(&mut self, variable: Variable, at: SpanRange) -> NodeId {
        self.node(Source::Read(variable), Vec::new(), at)
    }

    fn set_node(&mut self, variable: Variable, value: NodeId, extent: Extent, at: SpanRange) {
        self.step(StepKind::Value(ValueStep::Set { variable, value, extent }), at);
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

    /// Returns a value from the function, and the values that it leaves in variables behind `&mut` parameters.
    fn return_value(&mut self, value: Option<Value>, at: SpanRange) {
        for param in &self.function.params {
            if let Kind::Reference { mutable: true } = self.function.kind(param.local) {
                let left = self.read(self.variable_of(param.local), at);
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

    /// Sets a variable to a value, and moves the value's token into it.
    fn move_to(&mut self, into: Variable, value: &Value, at: SpanRange) {
        self.move_token(into, value.token, at);
        self.set(into, value, at);
        if let Variable::Temporary(joined) = into {
            self.set_fields(joined, value, at);
        }
    }

    /// Builds a block. The token of its value is moved out before the block's locals are dropped.
    fn block(&mut self, block: &'f Block) -> Value {
        // Names that a pattern binds are in scope before the first statement; a `let` adds its own.
        let declared_by = |statement: &Stmt| match &statement.kind {
            StmtKind::Let { local, .. } => vec![*local],
            StmtKind::LetPattern { pattern, .. } => pattern.locals(),
            StmtKind::Split { halves, .. } => halves.iter().copied().flatten().collect(),
            StmtKind::Discard(_) | StmtKind::Expr(_) | StmtKind::Item(_) => Vec::new(),
        };
        let declared_later: BTreeSet<LocalId> = block.statements.iter().flat_map(declared_by).collect();
        self.scopes.push(block.declared.iter().copied().filter(|local| !declared_later.contains(local)).collect());
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
            StmtKind::Let { local, ty, init } => {
                self.note_width(*local, ty.as_ref(), init.as_ref());
                if let Some(init) = init {
                    let value = self.value(init);
                    self.move_to(Variable::Local(*local), &value, init.span);
                    self.name(*local, init, value);
                }
                self.declare(*local);
            }
            StmtKind::LetPattern { pattern, init, otherwise, .. } => {
                self.note_widths(pattern, init);
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
                // Read through a variable, a value that is not understood is still the same number in both halves.
                let named = self.temporary();
                self.set(named, mid, init.span);
                let mid = self.read(named, init.span);
                let whole = memory.region.clone().unwrap_or_else(|| region_of_kind(init.result_kind));
                for (half, second) in halves.iter().zip([false, true]) {
                    if let Some(half) = half {
                        self.set(Variable::Local(*half), &value, init.span);
                        let half_of = whole.clone().several(Select::Half { mid, second });
                        self.stand_for(*half, half_of, init.span);
                    }
                }
            }
            StmtKind::Item(_) => {}
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

    /// Drops what a jump leaves behind: the waiting operands, and the locals of the scopes from `depth` inwards.
    fn abandon(&mut self, waiting: usize, depth: usize, how: TokenLoss, at: SpanRange) {
        for variable in self.waiting.iter().skip(waiting).copied().collect::<Vec<_>>() {
            self.step(StepKind::Token(TokenStep::Drop { variable, how }), at);
        }
        self.drop_scopes(depth, how, at);
    }
}
