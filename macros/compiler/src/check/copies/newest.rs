//! The values that may be the product that the warpgroup has begun last. A wait that leaves one product in flight says nothing of that one. A
//! statement in a loop begins several products, so that each variable is followed: `next` may be the last one where `busy`, which was `next`
//! before, is not. These are facts of values at a point.

use std::collections::BTreeMap;

use phalanx_contract::protocol::Behavior;

use super::holder::Holder;
use super::paths::Paths;
use crate::check::cfg::{CallId, Cfg, Extent, NodeId, Source, Variable};

/// The paths on which each of these may hold the product that was begun last. What is not named holds none, or, as a field, what its whole
/// does.
#[derive(Debug, Clone, Default)]
pub(super) struct Newest(BTreeMap<Holder, Paths>);

impl Newest {
    /// The paths on which a value, as it was evaluated, is the product that was begun last.
    pub(super) fn of(&self, value: NodeId) -> Paths {
        self.held_by(Holder::Node(value))
    }

    fn held_by(&self, holder: Holder) -> Paths {
        let whole = || match holder {
            Holder::Variable(variable) => self.0.get(&Holder::Variable(variable.whole()?)),
            Holder::Node(_) => None,
        };
        self.0.get(&holder).or_else(whole).cloned().unwrap_or_default()
    }

    fn put(&mut self, holder: Holder, paths: Paths) {
        let is_field = matches!(holder, Holder::Variable(Variable::Field(..)));
        if is_field || !paths.is_empty() || self.0.contains_key(&holder) {
            self.0.insert(holder, paths);
        }
    }

    /// A product begins: no value is the last one any more.
    pub(super) fn begin(&mut self) {
        self.0.values_mut().for_each(|paths| *paths = Paths::default());
    }

    /// A function is called that may begin a product, which it may return if it is given the warpgroup.
    pub(super) fn call(&mut self, cfg: &Cfg<'_>, call: CallId) {
        self.0.values_mut().for_each(|paths| paths.pass(call, Behavior::BEGINS_NO_PRODUCT));
        let of = &cfg.calls[call.0];
        let may_return_one = of.warpgroups().next().is_some();
        self.evaluate(cfg, of.node, false, may_return_one.then_some(call));
    }

    /// A value is evaluated. `begun` says whether it is a product that has just begun, `left_by` names a call that may return one.
    pub(super) fn evaluate(&mut self, cfg: &Cfg<'_>, value: NodeId, begun: bool, left_by: Option<CallId>) {
        let node = &cfg.nodes[value.0];
        let mut paths = Paths::default();
        match &node.source {
            _ if begun => paths = Paths::begun(),
            Source::Read(variable) => paths = self.held_by(Holder::Variable(*variable)),
            // A function returns what it is given, and an `Option` or a tuple holds its parts.
            Source::Call { .. } | Source::Operands => {
                for operand in &node.operands {
                    paths.unite(&self.of(*operand));
                }
            }
            Source::Param(_)
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
        if let Some(call) = left_by {
            let mut left = Paths::begun();
            left.pass(call, Behavior::LEAVES_PRODUCTS);
            paths.unite(&left);
        }
        self.put(Holder::Node(value), paths);
    }

    /// A variable is set.
    pub(super) fn set(&mut self, variable: Variable, value: NodeId, extent: Extent) {
        let mut paths = self.of(value);
        match extent {
            // Fields that have steps of their own are set after the whole.
            Extent::Whole => self.0.retain(|holder, _| !holder.is_field_of(variable)),
            Extent::Field | Extent::Part => _ = paths.unite(&self.held_by(Holder::Variable(variable))),
        }
        self.put(Holder::Variable(variable), paths);
    }

    /// Joins what may be so on two paths; says whether any of it is new.
    pub(super) fn join(&mut self, other: &Newest) -> bool {
        let mut changed = false;
        for holder in self.0.keys().chain(other.0.keys()).copied().collect::<Vec<_>>() {
            let before = self.held_by(holder);
            let mut paths = before.clone();
            changed |= paths.unite(&other.held_by(holder)) || !self.0.contains_key(&holder);
            self.0.insert(holder, paths);
        }
        changed
    }
}
