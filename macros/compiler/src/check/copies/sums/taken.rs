//! Products that are taken out of an `Option`, `option.take()` or `option.unwrap_or(other)`: what is taken is the value until it is used.

use std::collections::{BTreeMap, BTreeSet};

use super::{Product, State, Sums};
use crate::check::cfg::{Cfg, Computed, NodeId, Step, Variable};
use crate::check::copies::holder::Holder;
use crate::diag::Diag;
use crate::span::SpanRange;

impl Sums<'_, '_> {
    /// Gives the products of a variable that is taken to the value that was read of it before; they are that value until it is used.
    pub(super) fn give_taken(&self, state: &mut State, step: &Step, (variable, value): (Variable, NodeId)) {
        if let Some(taken) = self.taken(state, step, variable, value) {
            let own = |holder: &Holder| *holder == Holder::Variable(variable) || holder.is_field_of(variable);
            let here = state.0.iter().filter(|(holder, _)| own(holder)).flat_map(|(_, content)| content.here.clone());
            let here: BTreeSet<Product> = here.collect();
            state.0.entry(Holder::Node(taken)).or_default().here.extend(here);
        }
    }

    /// Ends the products taken out of an `Option` where it was `None`: there were none.
    pub(super) fn end_taken(&self, state: &mut State, (variant, at): (Variable, SpanRange), is_none: bool) {
        let Variable::Field(local, field) = variant else { return };
        let Some(option) = self.cfg.variants.get(&field).filter(|_| is_none) else { return };
        let option = option.map_or(Variable::Local(local), |field| Variable::Field(local, field));
        for (holder, content) in &mut state.0 {
            if let Holder::Node(node) = holder
                && let of = &self.cfg.nodes[node.0]
                && of.source.read() == Some(option)
                && at.begins_with(of.at)
            {
                content.here.clear();
            }
        }
    }

    /// The value that a step takes out of a variable and leaves it without one, `option.take()`, as it has been read before.
    pub(super) fn taken(&self, state: &State, step: &Step, variable: Variable, value: NodeId) -> Option<NodeId> {
        (self.cfg.computed.get(&value) == Some(&Computed::Number(0))).then_some(())?;
        state.0.keys().find_map(|holder| match holder {
            Holder::Node(node) => {
                let of = &self.cfg.nodes[node.0];
                (of.source.read() == Some(variable) && step.at.begins_with(of.at)).then_some(*node)
            }
            Holder::Variable(_) => None,
        })
    }

    /// The products that are lost where a value is evaluated: those that it was before, which nobody has taken, and in `option.unwrap_or(other)`
    /// the other one where there is one in the option.
    pub(super) fn lost_in(&self, state: &State, value: NodeId) -> Vec<(Product, Diag)> {
        let mut lost = state.0.get(&Holder::Node(value)).map(|content| content.here.clone()).unwrap_or_default();
        if let (Some(Computed::HeldOr), [option, other, ..]) =
            (self.cfg.computed.get(&value), &self.cfg.nodes[value.0].operands[..])
            && !self.content_of(state, Holder::Node(*option)).is_empty()
        {
            lost.extend(self.content_of(state, Holder::Node(*other)));
        }
        lost.into_iter().map(|product| (product, self.left(product))).collect()
    }
}

/// The variables that keep the variants of what is taken.
pub(super) fn kept_variants(cfg: &Cfg<'_>) -> BTreeMap<Variable, (Variable, SpanRange)> {
    let kept = |step: &Step| {
        let (variable, value, _) = step.kind.set()?;
        let is_kept = matches!(variable, Variable::Temporary(_)) && cfg.computed.get(&value) == Some(&Computed::Held);
        let [of] = cfg.nodes[value.0].operands[..] else { return None };
        let of = cfg.nodes[of.0].source.read().filter(|_| is_kept)?;
        Some((variable, (of, step.at)))
    };
    cfg.blocks.iter().flat_map(|block| &block.steps).filter_map(kept).collect()
}
