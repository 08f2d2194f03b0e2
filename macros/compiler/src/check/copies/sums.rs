//! The sums of products: where the value of a product in flight is, until they are asked for. A wait shows all products of the warpgroup, so
//! that the tiles are free when any of them is waited for; but the sums of a product are lost if its value is: in a variable that is
//! overwritten, or that nobody reads again. A value is moved when something is made of what has been read of its variable.
//!
//! The elements of an array are not told apart: a product is not stored to one of them. What the methods of an `Option` that the compiler has
//! no operation for do to a product is not known either, and refused by `parse`.

mod taken;

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::Behavior;

use super::flight::{Begin, Ending, Flights};
use super::held::tested;
use super::holder::Holder;
use crate::check::cfg::{BlockId, CallId, Cfg, Computed, Extent, NodeId, Source, Step, StepKind, ValueStep, Variable};
use crate::check::dsm::protocol::{Guard, Predicate};
use crate::check::engine::{self, Analysis, Join};
use crate::diag::Diag;
use crate::messages;
use crate::model::expr::{ExprKind, Stmt, StmtKind};
use crate::model::ty::{ParamType, TypeShape};
use crate::model::walk::{Node, block_nodes};
use crate::model::{Function, Role};
use crate::span::SpanRange;

/// A product, by the node where it comes from: the operation, a call that may return it, or a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Product {
    at: NodeId,
    /// Whether it is one that the called function is given, and may return.
    is_given: bool,
}

impl Product {
    fn begun(at: NodeId) -> Product {
        Product { at, is_given: false }
    }
}

/// The products that a variable or a value may be.
#[derive(Debug, Clone, Default)]
struct Content {
    /// The products that are nowhere else.
    here: BTreeSet<Product>,
    /// The products that have been moved to another place.
    moved: BTreeSet<Product>,
}

impl Content {
    fn all(&self) -> BTreeSet<Product> {
        &self.here | &self.moved
    }

    fn move_on(&mut self) {
        self.moved.append(&mut self.here);
    }
}

/// The products that variables and values at a point may be. A variable or a value that is not in the map is no product.
#[derive(Debug, Clone, Default)]
struct State(BTreeMap<Holder, Content>);

impl Join for State {
    // bottom = no value is a product; join = union
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (holder, others) in &other.0 {
            let known = self.0.entry(*holder).or_default();
            let before = (known.here.len(), known.moved.len());
            known.here.extend(&others.here);
            known.moved.extend(&others.moved);
            changed |= before != (known.here.len(), known.moved.len());
        }
        changed
    }
}

/// The analysis.
struct Sums<'a, 'f> {
    function: &'a Function,
    cfg: &'a Cfg<'f>,
    /// The place of each product, and what a call must do so that it returns it.
    products: BTreeMap<Product, (SpanRange, Option<(CallId, Behavior)>)>,
    /// The calls whose result is taken apart: what of it is the product is not known.
    taken_apart: BTreeSet<Product>,
    /// The fields that are set on their own. Others, as those of a call's result, are a part of the whole.
    set_fields: BTreeSet<Variable>,
    /// The parameters that are an `Option` of a product.
    optional: Vec<SpanRange>,
    /// The places of values that are thrown away by `let _ = value;`.
    discarded: BTreeSet<(u32, u32)>,
    /// The places of assignments.
    assigned: BTreeSet<(u32, u32)>,
    /// The variables that keep whether an `Option` was `Some` before its value was taken, each with the variant and where it was taken.
    kept: BTreeMap<Variable, (Variable, SpanRange)>,
}

/// The faults of a function's products.
#[derive(Default)]
pub(super) struct Found {
    pub(super) faults: Vec<(Guard, Diag)>,
    /// The places of the products of which that is enough.
    pub(super) reported: BTreeSet<(u32, u32)>,
}

impl Found {
    fn add(&mut self, sums: &Sums<'_, '_>, product: Product, (guard, diag): (Guard, Diag)) {
        // One that is left at the end is reported where it begins.
        if guard.is_certain() && place(diag.at) != place(sums.at(product)) {
            self.reported.insert(place(sums.at(product)));
        }
        self.faults.push((guard, diag));
    }
}

pub(super) fn place(at: SpanRange) -> (u32, u32) {
    (at.line(), at.column())
}

/// Reports products whose sums nobody asks for on some path.
///
/// ```text
/// let mut busy = warpgroup.mma_async(zeros, &a, &b);
/// busy = warpgroup.mma_async(zeros, &c, &d);          // the sums of the first one are lost
/// let sum = warpgroup.wait_mma(busy);
/// ```
pub(super) fn check(function: &Function, cfg: &Cfg<'_>, flights: &Flights, slot: impl Fn(CallId) -> u16) -> Found {
    let sums = Sums::of(function, cfg, flights);
    if sums.products.is_empty() {
        return Found::default();
    }
    let guarded = |product: Product, diag: Diag| {
        let returned = sums.products.get(&product).and_then(|(_, returned)| *returned);
        let leaves = returned.map(|(call, behavior)| Predicate::Does(slot(call), behavior));
        (leaves.into_iter().fold(Guard::default(), Guard::when), diag)
    };
    let states = engine::solve(&sums, cfg);
    let optional = sums.optional.iter().map(|at| (Guard::default(), messages::optional_product(*at)));
    let mut found = Found { faults: optional.collect(), reported: BTreeSet::new() };
    let mut hides = false;
    engine::visit(&sums, cfg, &states, |state, step| {
        let hidden = sums.hidden_at(state, step).into_iter().chain(sums.returned_at(state, step));
        for (product, diag) in hidden {
            hides |= sums.is_certain(product);
            found.add(&sums, product, guarded(product, diag));
        }
        for (product, diag) in sums.lost_at(state, step) {
            found.add(&sums, product, guarded(product, diag));
        }
    });
    if hides {
        return found;
    }
    for (_, state) in engine::leaves(&sums, cfg, &states) {
        let is_kept = |holder: &Holder| match holder {
            Holder::Variable(variable) => !matches!(variable, Variable::Temporary(_)),
            // A value of which nothing has been made.
            Holder::Node(_) => true,
        };
        let all =
            state.0.iter().flat_map(|(holder, content)| content.here.iter().map(move |product| (holder, product)));
        let left = all.filter(|(holder, _)| is_kept(holder)).map(|(_, product)| product);
        let left = left.filter(|product| !found.reported.contains(&place(sums.at(**product))));
        let left: Vec<_> = left.map(|product| guarded(*product, sums.left(*product))).collect();
        found.faults.extend(left);
    }
    found
}

impl<'a, 'f> Sums<'a, 'f> {
    fn of(function: &'a Function, cfg: &'a Cfg<'f>, flights: &Flights) -> Sums<'a, 'f> {
        let mut products = BTreeMap::new();
        for flight in flights.all.iter().filter(|flight| flight.ending == Ending::Product) {
            match flight.begin {
                Begin::Copy(_) => {
                    let is_it = |node: &NodeId| {
                        // What is read in place of a call is all at the call.
                        let of = &cfg.nodes[node.0];
                        matches!(of.source, Source::Known { what: "mma_async", .. }) && of.at.begins_with(flight.at)
                    };
                    let nodes = (0..cfg.nodes.len()).map(NodeId).filter(is_it);
                    products.extend(nodes.map(|node| (Product::begun(node), (flight.at, None))));
                }
                Begin::Call { call, argument: None } => {
                    let of = &cfg.calls[call.0];
                    for (is_given, behavior) in [(false, Behavior::LEAVES_PRODUCTS), (true, Behavior::KEEPS_PRODUCTS)] {
                        products.insert(Product { at: of.node, is_given }, (of.at, Some((call, behavior))));
                    }
                }
                Begin::Call { argument: Some(_), .. } | Begin::Callers => {}
            }
        }
        let mut sums = Sums {
            function,
            cfg,
            products,
            taken_apart: BTreeSet::new(),
            set_fields: BTreeSet::new(),
            optional: Vec::new(),
            discarded: BTreeSet::new(),
            assigned: BTreeSet::new(),
            kept: BTreeMap::new(),
        };
        sums.add_params();
        if !sums.products.is_empty() {
            sums.taken_apart = sums.calls_taken_apart();
            let set = cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(|step| step.kind.set());
            sums.set_fields = set.map(|(variable, ..)| variable).filter(|of| of.whole().is_some()).collect();
            sums.note_places();
            sums.kept = taken::kept_variants(cfg);
        }
        sums
    }

    /// Adds the parameters that are products, by their types or because they are waited for.
    fn add_params(&mut self) {
        if self.function.role != Role::Device {
            return;
        }
        let mut waited = BTreeSet::new();
        for node in self.cfg.nodes.iter().filter(|node| is_wait(&node.source)) {
            let from = node.operands.iter().flat_map(|operand| self.cfg.may_come_from(*operand));
            waited.extend(from);
        }
        for (number, node) in self.cfg.nodes.iter().enumerate() {
            let Source::Param(position) = node.source else { continue };
            let Some(param) = self.function.params.get(position) else { continue };
            let ParamType::Value(of) = &param.ty else { continue };
            let is_named = of.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|name| name == "InFlight");
            if is_named || waited.contains(&NodeId(number)) {
                let at = SpanRange::of(&self.function.local(param.local).name);
                if let TypeShape::Option(_) = of.shape {
                    self.optional.push(at);
                }
                self.products.insert(Product::begun(NodeId(number)), (at, None));
            }
        }
    }

    fn calls_taken_apart(&self) -> BTreeSet<Product> {
        let mut times: BTreeMap<NodeId, usize> = BTreeMap::new();
        for step in self.cfg.blocks.iter().flat_map(|block| &block.steps) {
            let StepKind::Value(ValueStep::Set { value, extent: Extent::Whole | Extent::Part, .. }) = step.kind else {
                continue;
            };
            let of = &self.cfg.nodes[value.0];
            let call = match (&of.source, &of.operands[..]) {
                (Source::Operands, [of]) if !self.cfg.computed.contains_key(&value) => *of,
                _ => value,
            };
            *times.entry(call).or_default() += 1;
        }
        let is_apart = |product: &&Product| times.get(&product.at).is_some_and(|times| *times > 1);
        let of_calls = self.products.iter().filter(|(_, (_, returned))| returned.is_some()).map(|(product, _)| product);
        of_calls.filter(is_apart).copied().collect()
    }

    fn note_places(&mut self) {
        block_nodes(&self.function.body, &mut |node| match node {
            Node::Statement(Stmt { kind: StmtKind::Discard(of), .. }) => _ = self.discarded.insert(place(of.span)),
            Node::Expr(expr) if matches!(expr.kind, ExprKind::Assign(..)) => _ = self.assigned.insert(place(expr.span)),
            Node::Statement(_) | Node::Expr(_) => {}
        });
    }

    /// A value becomes another one, or is used.
    fn move_out(&self, state: &mut State, value: NodeId) {
        let Some(of) = state.0.get_mut(&Holder::Node(value)) else { return };
        of.move_on();
        let products = of.moved.clone();
        if let Some(variable) = self.cfg.nodes[value.0].source.read() {
            let is_whole =
                |node: NodeId| variable.whole().is_some_and(|of| self.cfg.nodes[node.0].source.read() == Some(of));
            for (holder, content) in &mut state.0 {
                let is_taken_apart = matches!(holder, Holder::Node(node) if is_whole(*node));
                if *holder == Holder::Variable(variable) || holder.is_field_of(variable) || is_taken_apart {
                    content.move_on();
                }
            }
        }
        // Which part of a result is the product is not known.
        let apart: BTreeSet<Product> = products.intersection(&self.taken_apart).copied().collect();
        if !apart.is_empty() {
            state.0.values_mut().for_each(|content| content.here.retain(|product| !apart.contains(product)));
        }
    }

    fn content_of(&self, state: &State, holder: Holder) -> BTreeSet<Product> {
        let own = |holder: &Holder| state.0.get(holder).map(Content::all);
        let Holder::Variable(variable) = holder else { return own(&holder).unwrap_or_default() };
        match variable.whole() {
            Some(whole) => {
                let of_whole = || own(&Holder::Variable(whole)).filter(|_| !self.set_fields.contains(&variable));
                own(&holder).or_else(of_whole).unwrap_or_default()
            }
            None => {
                let parts = state.0.iter().filter(|(of, _)| **of == holder || of.is_field_of(variable));
                parts.flat_map(|(_, content)| content.all()).collect()
            }
        }
    }

    fn evaluate(&self, state: &mut State, value: NodeId) {
        let node = &self.cfg.nodes[value.0];
        let mut content = Content::default();
        match &node.source {
            Source::Read(variable) => {
                content.moved = self.content_of(state, Holder::Variable(*variable));
                state.0.insert(Holder::Node(value), content);
                if self.discarded.contains(&place(node.at)) {
                    self.move_out(state, value);
                }
                return;
            }
            // What asks for a variant moves nothing.
            _ if matches!(self.cfg.computed.get(&value), Some(Computed::Is { .. })) => return,
            Source::Operands => {
                let parts = node.operands.iter().flat_map(|operand| self.content_of(state, Holder::Node(*operand)));
                content.here.extend(parts);
            }
            Source::Param(_)
            | Source::Call { .. }
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Known { .. }
            | Source::ThreadRank
            | Source::Round(..)
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. } => {}
        }
        let is_given = node.operands.iter().any(|operand| !self.content_of(state, Holder::Node(*operand)).is_empty());
        node.operands.iter().for_each(|operand| self.move_out(state, *operand));
        let own = [Product::begun(value), Product { at: value, is_given }];
        content.here.extend(own.into_iter().filter(|product| self.products.contains_key(product)));
        if content.here.is_empty() {
            state.0.remove(&Holder::Node(value));
        } else {
            state.0.insert(Holder::Node(value), content);
        }
        if self.discarded.contains(&place(node.at)) {
            self.move_out(state, value);
        }
    }

    fn set(&self, state: &mut State, step: &Step, (variable, value, extent): (Variable, NodeId, Extent)) {
        let products = self.content_of(state, Holder::Node(value));
        self.give_taken(state, step, (variable, value));
        if extent == Extent::Field {
            return;
        }
        self.move_out(state, value);
        match extent {
            Extent::Whole => {
                state.0.retain(|holder, _| *holder != Holder::Variable(variable) && !holder.is_field_of(variable));
                // It is the field's.
                if let Some(whole) = variable.whole().and_then(|whole| state.0.get_mut(&Holder::Variable(whole))) {
                    whole.here.retain(|product| !products.contains(product));
                }
            }
            Extent::Part | Extent::Field => {}
        }
        let is_lent = matches!(self.cfg.nodes[value.0].source, Source::Call { .. }) && extent == Extent::Part;
        if !products.is_empty() && !is_lent {
            state.0.entry(Holder::Variable(variable)).or_default().here.extend(products);
        }
    }

    /// The products that a step loses.
    fn lost_at(&self, state: &State, step: &Step) -> Vec<(Product, Diag)> {
        if let StepKind::Value(ValueStep::Evaluate(value)) = step.kind {
            return self.lost_in(state, value);
        }
        let StepKind::Value(ValueStep::Set { variable, value, extent }) = step.kind else { return Vec::new() };
        if matches!(variable, Variable::Temporary(_)) {
            return Vec::new();
        }
        let of_variable = |holder: &Holder| *holder == Holder::Variable(variable) || holder.is_field_of(variable);
        if extent != Extent::Whole || self.taken(state, step, variable, value).is_some() {
            return Vec::new();
        }
        let mut before = state.clone();
        self.move_out(&mut before, value);
        let lost = before.0.iter().filter(|(holder, _)| of_variable(holder));
        let lost: BTreeSet<Product> = lost.flat_map(|(_, content)| &content.here).copied().collect();
        let is_assigned = self.assigned.contains(&place(step.at));
        let diag = |product: Product| match is_assigned {
            true => messages::product_overwritten(step.at, self.at(product), &self.name_of(variable)),
            false => self.left(product),
        };
        lost.into_iter().map(|product| (product, diag(product))).collect()
    }

    /// Whether there certainly is a product, and not only if a called function leaves one.
    fn is_certain(&self, product: Product) -> bool {
        matches!(self.products.get(&product), Some((_, None)))
    }

    /// A function returns an `Option` of a product: its callers do not know which paths have to wait.
    fn returned_at(&self, state: &State, step: &Step) -> Vec<(Product, Diag)> {
        let StepKind::Value(ValueStep::Return(value)) = step.kind else { return Vec::new() };
        let ret = self.function.ret.as_ref().filter(|ret| matches!(ret.shape, TypeShape::Option(_)));
        let returned = ret.into_iter().flat_map(|_| self.content_of(state, Holder::Node(value)));
        returned.map(|product| (product, messages::optional_product_returned(self.at(product)))).collect()
    }

    /// A product is stored to a part of a variable that is not followed by itself, which may hold another one.
    fn hidden_at(&self, state: &State, step: &Step) -> Vec<(Product, Diag)> {
        let StepKind::Value(ValueStep::Set { variable, value, extent: Extent::Part }) = step.kind else {
            return Vec::new();
        };
        let is_filled = match variable {
            Variable::Local(local) | Variable::Field(local, _) => self.function.local(local).filled_by.is_some(),
            Variable::Temporary(_) => true,
        };
        let is_lent = matches!(self.cfg.nodes[value.0].source, Source::Call { .. });
        let stored = self.content_of(state, Holder::Node(value)).into_iter().filter(|_| !is_filled && !is_lent);
        stored.map(|product| (product, messages::product_in_part(step.at, &self.name_of(variable)))).collect()
    }

    fn at(&self, product: Product) -> SpanRange {
        self.products[&product].0
    }

    fn left(&self, product: Product) -> Diag {
        messages::sums_lost(self.at(product))
    }

    fn name_of(&self, variable: Variable) -> String {
        match variable {
            Variable::Local(local) | Variable::Field(local, _) => self.function.local(local).name.to_string(),
            Variable::Temporary(_) => String::new(),
        }
    }
}

fn is_wait(source: &Source<'_>) -> bool {
    matches!(source, Source::Known { what: "wait_mma", .. })
}

impl Analysis for Sums<'_, '_> {
    type State = State;

    fn entry(&self) -> State {
        State::default()
    }

    fn transfer(&self, state: &mut State, step: &Step) {
        match step.kind {
            StepKind::Value(ValueStep::Evaluate(value)) => self.evaluate(state, value),
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                self.set(state, step, (variable, value, extent));
            }
            StepKind::Value(ValueStep::Return(value)) => self.move_out(state, value),
            StepKind::Value(ValueStep::Name { .. })
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    fn edge(&self, state: &mut State, cfg: &Cfg<'_>, from: BlockId, to: BlockId) {
        let end = &cfg.blocks[from.0].end;
        let Some((on, holds)) = end.condition().zip(end.holds_on_edge(to)) else { return };
        let Some((variable, is_opposite)) = tested(cfg, from, on) else { return };
        if let Some((of, at)) = self.kept.get(&variable) {
            self.end_taken(state, (*of, *at), holds == is_opposite);
        }
        let Variable::Field(local, field) = variable else { return };
        let Some(option) = cfg.variants.get(&field).filter(|_| holds == is_opposite) else { return };
        match option {
            Some(field) => _ = state.0.remove(&Holder::Variable(Variable::Field(local, *field))),
            None => {
                let whole = Variable::Local(local);
                state.0.retain(|holder, _| *holder != Holder::Variable(whole) && !holder.is_field_of(whole));
            }
        }
    }
}
