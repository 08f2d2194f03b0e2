//! Lowers the model to C++. Rust's expressions with control flow become statements that assign; operands whose order
//! matters are stored in variables. Values and operations are in `value` and `op`, loops and jumps in `control`.

mod access;
mod adjacent;
mod ahead;
mod bounded;
mod boxes;
mod called;
mod closure_calls;
mod closures;
mod collectives;
mod computed;
mod conditions;
mod constant_loops;
mod continuation;
mod control;
mod convergence;
mod counted;
mod counter;
mod deferred;
mod eager;
mod few_iterations;
mod few_rounds;
mod floats;
mod geometric;
mod guarded;
mod guards;
mod held;
mod hoist;
mod induction;
mod inline_cuda;
mod inner_loops;
mod integers;
mod intervals;
mod known;
mod launch;
mod literal;
mod loads_ahead;
mod loop_tests;
mod memory;
mod message;
mod nest;
mod numbers;
mod op;
mod operands;
mod parts;
mod pattern;
mod peers;
mod rest;
mod search;
mod short_arrays;
mod stepped;
mod straight;
mod tested;
mod unrolled;
mod value;
mod views;
mod widened;

pub(crate) use collectives::has_collectives;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;

use super::ast::{CuExpr, CuStmt, Fragment};
use super::at_launch::AtLaunch;
use super::name::Names;
use super::signature::shape;
use crate::check::Checked;
use crate::check::fences::Fences;
use crate::check::uniform::WholeWarps;
use crate::model::barrier::BarrierForm;
use crate::model::effect::effect;
use crate::model::expr::{Block, Expr, ExprKind, Stmt, StmtKind};
use crate::model::facts::Effect;
use crate::model::fused_barriers::awaited;
use crate::model::kind::{Kind, Memory};
use crate::model::op::Op;
use crate::model::place::{borrowed, local_of};
use crate::model::ty::{ValueType, known_shape};
use crate::model::{Function, LocalId, SiteId, ValueId};
use adjacent::Neighbours;
use closures::{Closures, Conditions, closures};
use conditions::conditions;
use convergence::Meetings;
use floats::Floats;
use held::Numbered;
use integers::Integers;
use launch::launch_checks;
use parts::Parts;
use rest::rest;
use straight::Run;
use unrolled::Unrolled;

/// A body as statements, with the names that they use, and whether it has accesses to elements that are next to each other.
pub(super) struct Lowered {
    pub(super) body: Vec<CuStmt>,
    pub(super) names: Names,
    pub(super) has_adjacent: bool,
    pub(super) numbers: Vec<TokenStream>,
    pub(super) at_launch: AtLaunch,
}

/// Lowers the body to statements.
pub(super) fn body<'f>(checked: &'f Checked<'f>, names: Names, fused: &'f BTreeSet<LocalId>) -> Lowered {
    let function = checked.function();
    let closures = closures(function);
    let conditions = conditions(function, &closures);
    let (found, at_launch) = launch_checks(function, &closures, &conditions);
    let mut lower = Lower {
        function,
        closures: &closures,
        conditions: &conditions,
        fences: checked.fences(),
        whole_warps: checked.whole_warps(),
        names,
        fused,
        out: Vec::new(),
        jump_targets: Vec::new(),
        unchecked: bounded::bounded(function),
        widened: BTreeMap::new(),
        adjacent: BTreeMap::new(),
        loaded: BTreeMap::new(),
        numbers: Vec::new(),
        tested_calls: BTreeMap::new(),
        all_within: BTreeMap::new(),
        deferred: BTreeMap::new(),
        store_guard: None,
        checks_all: false,
        is_apart: false,
        meetings: Meetings::of(function),
        agreed: BTreeSet::new(),
        integers: Integers::of(function),
        floats: Floats::of(function),
        parts: Parts::of(function),
        constant: BTreeSet::new(),
        views: views::views(function),
        unrolled: Unrolled::default(),
        borrowed: borrowed(function),
        peer_reads: None,
        middles: BTreeMap::new(),
        at_launch,
    };
    if lower.fences.any_waits_for_reads() {
        lower.declare_peer_reads();
    }
    for (index, constant) in function.values.iter().enumerate() {
        if constant.declared {
            lower.out.push(CuStmt::Constant(ValueId(index as u16)));
        }
    }
    let dest = if function.ret.is_some() { Dest::Return } else { Dest::Discard };
    lower.block_into(&function.body, &dest);
    Lowered {
        has_adjacent: !lower.adjacent.is_empty(),
        body: lower.out,
        names: lower.names,
        numbers: lower.numbers,
        at_launch: found,
    }
}

struct Lower<'f> {
    function: &'f Function,
    closures: &'f Closures<'f>,
    conditions: &'f Conditions,
    fences: &'f Fences<'f>,
    whole_warps: &'f WholeWarps,
    names: Names,
    /// Tokens of arrivals that are fused with their wait.
    fused: &'f BTreeSet<LocalId>,
    out: Vec<CuStmt>,
    jump_targets: Vec<control::JumpTarget>,
    /// Accesses that their loop's range (`bounded`), or a test before it or their run of statements, has shown to be within bounds.
    unchecked: BTreeSet<SiteId>,
    /// Accesses to elements that are next to each other.
    adjacent: BTreeMap<SiteId, Neighbours>,
    /// Accesses to what is loaded before their loop (`loads_ahead`): the name of what is loaded, and of the loop's variable.
    loaded: BTreeMap<SiteId, [String; 2]>,
    numbers: Vec<TokenStream>,
    /// The indexes of such accesses that are printed in another form.
    widened: BTreeMap<SiteId, CuExpr>,
    /// Calls of closures whose accesses are within bounds, with the names of the closures without checks.
    tested_calls: BTreeMap<SiteId, String>,
    /// The variables that say whether accesses are within bounds in all iterations of a loop around them.
    all_within: BTreeMap<SiteId, String>,
    /// Accesses that are reported after their loop, with the variable that says whether all were within bounds.
    deferred: BTreeMap<SiteId, String>,
    /// The condition under which such a loop stores to memory.
    store_guard: Option<CuExpr>,
    /// Set in a loop that runs if that test fails: its loops are lowered once, with checks in each iteration.
    checks_all: bool,
    /// Set where threads of a warp may be in different copies of a loop.
    is_apart: bool,
    meetings: Meetings,
    /// The variables with the values of tests that hold for all threads of a warp, or for none.
    agreed: BTreeSet<String>,
    integers: Integers,
    floats: Floats,
    parts: Parts,
    /// The variables that are declared as `const`.
    constant: BTreeSet<LocalId>,
    /// The names that refer to elements of memory.
    views: BTreeSet<LocalId>,
    unrolled: Unrolled,
    /// The variables that are borrowed mutably for longer than a call.
    borrowed: BTreeSet<LocalId>,
    /// The variable that knows what has been read of peers, if an arrival waits for that.
    peer_reads: Option<String>,
    /// The middles of searches without checks, with the ends of their ranges.
    middles: BTreeMap<LocalId, (LocalId, LocalId)>,
    /// The numbers of the checks that the host may make before a launch.
    at_launch: Numbered,
}

/// The destination of a value.
#[derive(Debug, Clone, PartialEq)]
enum Dest {
    Discard,
    Return,
    Assign(String),
}

impl Lower<'_> {
    /// Whether a closure has no effect and cannot fail.
    fn is_pure(&self, closure: LocalId) -> bool {
        self.closures.get(&closure).is_some_and(|closure| closure.effect == Effect::Pure)
    }

    /// Lowers into a list of statements of its own.
    fn nested<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (R, Vec<CuStmt>) {
        let outer = std::mem::take(&mut self.out);
        let result = f(self);
        (result, std::mem::replace(&mut self.out, outer))
    }

    fn block_into(&mut self, block: &Block, dest: &Dest) {
        self.block(block, |lower, tail| {
            lower.out.push(CuStmt::Line(tail.span.line()));
            lower.into(tail, dest);
        });
    }

    /// Lowers the statements of a block and then, by `tail`, its value, if it has one.
    fn block<R>(&mut self, block: &Block, tail: impl FnOnce(&mut Self, &Expr) -> R) -> Option<R> {
        let runs = self.runs(&block.statements, block.tail.as_deref());
        self.statements(&block.statements, &runs, block.tail.is_none());
        let value = block.tail.as_ref().map(|value| {
            self.front(&runs, block.statements.len(), value.span);
            tail(self, value)
        });
        self.end_runs(&runs);
        value
    }

    /// Lowers statements, which are all of a block, with its value, if `is_whole` is true.
    fn statements(&mut self, statements: &[Stmt], runs: &[Run], is_whole: bool) {
        let mut index = 0;
        while let Some(statement) = statements.get(index) {
            self.front(runs, index, statement.span);
            index += 1;
            match &statement.kind {
                StmtKind::Expr(expr) if matches!(expr.kind, ExprKind::For { .. } | ExprKind::While { .. }) => {
                    self.out.push(CuStmt::Line(statement.span.line()));
                    let rest = rest(&statements[index..], is_whole);
                    if self.jump_target(expr, &Dest::Discard, rest) {
                        index += rest.len();
                    }
                }
                _ => self.statement(statement),
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            // Rust evaluates the item; the text has its value under a name.
            StmtKind::Item(_) => return,
            StmtKind::Let { local, .. } if self.fused.contains(local) => return,
            StmtKind::Let { .. }
            | StmtKind::LetPattern { .. }
            | StmtKind::Split { .. }
            | StmtKind::Discard(_)
            | StmtKind::Expr(_) => {}
        }
        self.out.push(CuStmt::Line(statement.span.line()));
        match &statement.kind {
            StmtKind::Let { local, ty, init } => self.declare(*local, ty.as_ref(), init.as_ref()),
            StmtKind::Split { halves, init } => self.split(*halves, init),
            StmtKind::LetPattern { pattern, ty, init, otherwise } => {
                self.let_pattern(pattern, ty.as_ref(), init, otherwise.as_ref());
            }
            StmtKind::Discard(expr) | StmtKind::Expr(expr) => self.into(expr, &Dest::Discard),
            StmtKind::Item(_) => {}
        }
    }

    fn declare(&mut self, local: LocalId, ty: Option<&ValueType>, init: Option<&Expr>) {
        let name = self.names.local(local).to_string();
        let kind = self.function.kind(local);
        let written = ty
            .map(|ty| shape(&ty.shape))
            .or_else(|| known_shape(kind).filter(|_| needs_type(kind)).map(|known| shape(&known)));
        // The declaration has the type instead.
        let (init, written) = match init.map(|init| (&init.kind, init)) {
            Some((ExprKind::Typed(value, slot), _)) => (Some(&**value), Some(vec![Fragment::Type(*slot)])),
            _ => (init, written),
        };
        let Some(init) = init else {
            let known = || known_shape(kind).map(|known| shape(&known));
            let slot = self.function.local(local).slot.map(|slot| vec![Fragment::Type(slot)]);
            let ty = written.or_else(known).or(slot).unwrap_or_else(|| vec!["auto".into()]);
            self.out.push(CuStmt::Declare { ty, name, init: None });
            return;
        };
        if let ExprKind::Op { op: Op::SharedArray(index), types: Some((element, Some(length))), .. } = &init.kind {
            let mut ty = vec!["shared_array<".into()];
            ty.extend(shape(&element.shape));
            ty.extend([", ".into(), Fragment::Digits(*length), ">".into()]);
            self.out.push(CuStmt::Shared { index: *index as u16, ty, name });
            return;
        }
        if let ExprKind::Op { op: Op::SharedBarrier(barrier, index), .. } = &init.kind {
            let mut ty = vec![barrier.cuda_name().into()];
            if let (BarrierForm::Array, Some((_, length))) = (barrier.form, self.function.shared.get(*index)) {
                ty.extend(["<".into(), Fragment::Digits(*length), ">".into()]);
            }
            self.out.push(CuStmt::Shared { index: *index as u16, ty, name });
            return;
        }
        if matches!(init.result_kind, Kind::Unit | Kind::Never) {
            self.into(init, &Dest::Discard);
            // Unreachable code may use the variable.
            if let (Kind::Never, Some(ty)) = (init.result_kind, written) {
                self.out.push(CuStmt::Declare { ty, name, init: None });
            }
            return;
        }
        // The declaration has the type, so that the value needs none.
        if let ExprKind::None(slot) = init.kind {
            let ty = written.unwrap_or_else(|| vec![Fragment::Type(slot)]);
            self.out.push(CuStmt::Declare { ty, name, init: Some(CuExpr::name("none")) });
            return;
        }
        // A value that needs statements is assigned by them, so its type must be known before.
        if let (true, Some(ty)) = (self.takes_statements(init), written.clone().or_else(|| self.type_of(init))) {
            self.out.push(CuStmt::Declare { ty, name: name.clone(), init: None });
            self.into(init, &Dest::Assign(name));
            return;
        }
        let value = self.value(init);
        let value = self.middle(local, value);
        let auto = match (kind, &init.kind) {
            // Shared memory has one place, to which its other names refer.
            (Kind::Memory(Memory::SharedArray), _) => "auto&",
            (Kind::Barrier(barrier), _) if barrier.form != BarrierForm::Remote => "auto&",
            // The same holds for a reference to a place of the thread's own; what is in memory is read where it is
            // bound.
            (Kind::Reference { mutable: true }, _) => "auto&",
            (_, ExprKind::Borrow { target, .. }) if local_of(target).is_some() => "const auto&",
            _ if self.views.contains(&local) => "const auto&",
            _ => "auto",
        };
        let mut ty = written.unwrap_or_else(|| vec![auto.into()]);
        if auto == "auto" && self.parts.is_constant(self.function, local) {
            self.constant.insert(local);
            ty.insert(0, "const ".into());
        }
        self.out.push(CuStmt::Declare { ty, name, init: Some(value) });
    }

    /// Returns the C++ type of the value of an `if`, a loop or a labelled block.
    fn type_of(&self, expr: &Expr) -> Option<Vec<Fragment>> {
        let known = known_shape(expr.result_kind).map(|known| shape(&known));
        known.or_else(|| expr.value_slot().map(|slot| vec![Fragment::Type(slot)]))
    }

    /// Whether a value cannot be one C++ expression.
    fn takes_statements(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Loop { .. } | ExprKind::Labelled { .. } => true,
            ExprKind::If { .. } | ExprKind::Match { .. } => effect(self.function, expr) == Effect::Changes,
            _ => false,
        }
    }

    /// Evaluates `expr` into its destination.
    fn into(&mut self, expr: &Expr, dest: &Dest) {
        match &expr.kind {
            ExprKind::Block(block) | ExprKind::Unsafe(block)
                if *dest == Dest::Discard && !block.statements.is_empty() =>
            {
                let ((), statements) = self.nested(|lower| lower.block_into(block, dest));
                self.out.push(CuStmt::Block(statements));
            }
            ExprKind::Block(block) | ExprKind::Unsafe(block) => self.block_into(block, dest),
            ExprKind::If { condition, then, otherwise, .. } => {
                let is_statement =
                    *dest == Dest::Discard || self.takes_statements(expr) || expr.result_kind != Kind::Value;
                let otherwise = otherwise.as_deref();
                match otherwise.filter(|_| !is_statement).and_then(|other| self.ternary(condition, then, other)) {
                    Some(value) => self.finish(value, dest),
                    None => self.branch(condition, then, otherwise, dest),
                }
            }
            ExprKind::Match { scrutinee, arms, .. } => match self.selection(expr, scrutinee, arms, dest) {
                Some(value) => self.finish(value, dest),
                None => self.match_expr(scrutinee, arms, dest),
            },
            ExprKind::Labelled { .. } | ExprKind::Loop { .. } | ExprKind::While { .. } | ExprKind::For { .. } => {
                self.jump_target(expr, dest, &[]);
            }
            // As a statement, C++ takes `u32(x);` for a declaration.
            ExprKind::None(_) if *dest == Dest::Discard => {}
            ExprKind::Typed(value, _) if *dest == Dest::Discard => self.into(value, dest),
            ExprKind::None(_) if matches!(dest, Dest::Assign(_)) => self.finish(CuExpr::name("none"), dest),
            ExprKind::Break { target, value, .. } => self.break_to(*target, value.as_deref()),
            ExprKind::Continue { target, .. } => self.continue_to(*target),
            ExprKind::Return { value, .. } => self.return_value(value.as_deref()),
            ExprKind::Cuda(inline_cuda) => self.inline_cuda(inline_cuda),
            ExprKind::Assert(test, message) => self.assert(test, message),
            ExprKind::Panic(message) => self.message("panicked", Vec::new(), message),
            ExprKind::Print(message) => self.message("print", Vec::new(), message),
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::AssignOp { op, place, value, site, function } => match function.as_deref() {
                Some((_, slot)) => self.assign_by_function(*slot, (op.assigning(), *site), place, value),
                None => self.assign_op(*op, place, value, *site),
            },
            ExprKind::Op { operands, .. } if awaited(expr).is_some_and(|token| self.fused.contains(&token)) => {
                let base = Box::new(self.value(&operands[0]));
                self.finish(CuExpr::Method { base, name: "sync", arguments: Vec::new(), site: None }, dest);
            }
            _ => {
                let value = self.value(expr);
                self.finish(value, dest);
            }
        }
    }

    fn finish(&mut self, value: CuExpr, dest: &Dest) {
        match dest {
            // A name or a literal has no effect.
            Dest::Discard if matches!(value, CuExpr::Atom(_)) => {}
            Dest::Discard => self.out.push(CuStmt::Expr(value)),
            Dest::Return => self.out.push(CuStmt::Return(Some(value))),
            Dest::Assign(name) => {
                let place = Box::new(CuExpr::name(name));
                self.out.push(CuStmt::Expr(CuExpr::Assign { op: "=", place, value: Box::new(value), site: None }));
            }
        }
    }

    /// Stores a value in a variable, so that it is evaluated now and once.
    fn spill(&mut self, value: CuExpr) -> CuExpr {
        if matches!(value, CuExpr::Atom(_)) && self.is_fixed(&value) {
            return value;
        }
        self.bind("auto", value)
    }

    fn bind(&mut self, ty: &'static str, value: CuExpr) -> CuExpr {
        let name = self.names.fresh("value");
        self.out.push(CuStmt::Declare { ty: vec![ty.into()], name: name.clone(), init: Some(value) });
        CuExpr::name(&name)
    }

    /// Whether the value is a literal, or a name that is never assigned.
    fn is_fixed(&self, value: &CuExpr) -> bool {
        let CuExpr::Atom(fragments) = value else { return false };
        let [Fragment::Text(text)] = &fragments[..] else { return true };
        let assigned = |local: usize| {
            let id = LocalId(local);
            let info = self.function.local(id);
            // A reference refers to a variable of the caller.
            (info.mutable.is_some() || matches!(info.kind, Kind::Reference { .. })) && self.names.local(id) == text
        };
        !(0..self.function.locals.len()).any(assigned)
    }
}

/// Whether `auto` would deduce the wrong type, because the first value may be `none`.
fn needs_type(kind: Kind) -> bool {
    matches!(kind, Kind::OptionalToken(_))
}
