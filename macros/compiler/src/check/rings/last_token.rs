//! Finds the variables that hold the token of a thread's last arrival at a barrier, where a token is carried around a loop.

use std::collections::BTreeSet;

use super::kernel::{Kernel, Point, array_of};
use crate::check::cfg::{
    BlockId, Cfg, Computed, Extent, NodeId, Region, Select, Step, StepKind, TokenStep, ValueStep, Variable,
};
use crate::check::engine::{Analysis, Join, solve};

/// What holds the token on all paths.
#[derive(Clone, Default)]
struct Holders {
    nodes: BTreeSet<NodeId>,
    variables: BTreeSet<Variable>,
}

impl Join for Holders {
    fn join(&mut self, other: &Self) -> bool {
        let before = self.nodes.len() + self.variables.len();
        self.nodes.retain(|node| other.nodes.contains(node));
        self.variables.retain(|variable| other.variables.contains(variable));
        self.nodes.len() + self.variables.len() != before
    }
}

impl Holders {
    /// A node is evaluated: what a variable holds then, or the content of an `Option`, is the token or not.
    fn evaluate(&mut self, cfg: &Cfg<'_>, node: NodeId) {
        let of = &cfg.nodes[node.0];
        let holds = match (of.source.read(), cfg.computed.get(&node)) {
            (Some(variable), _) => self.variables.contains(&variable),
            (None, Some(Computed::Held)) => of.operands.first().is_some_and(|option| self.nodes.contains(option)),
            (None, _) => return,
        };
        if holds {
            self.nodes.insert(node);
        } else {
            self.nodes.remove(&node);
        }
    }

    fn set(&mut self, variable: Variable, holds: bool) {
        if holds {
            self.variables.insert(variable);
        } else {
            self.variables.remove(&variable);
        }
    }
}

/// The arrivals at one barrier.
struct LastToken<'k, 'a, 'f> {
    kernel: &'k Kernel<'a, 'f>,
    array: usize,
    /// The number of the barrier among several.
    number: Option<u64>,
}

/// The number of a barrier among those of its array, if it is a literal.
pub(super) fn number(cfg: &Cfg<'_>, region: &Region) -> Option<u64> {
    match region.path[..] {
        [Select::At(index)] => cfg.nodes[cfg.first_origin(index).0].source.integer(),
        _ => None,
    }
}

impl Analysis for LastToken<'_, '_, '_> {
    type State = Holders;

    fn entry(&self) -> Holders {
        Holders::default()
    }

    fn transfer(&self, state: &mut Holders, step: &Step) {
        let cfg = self.kernel.cfg;
        match &step.kind {
            StepKind::BarrierCall(call) => {
                let call = &cfg.barrier_calls[call.0];
                if call.method.action.arrives() && array_of(&call.region) == Some(self.array) {
                    match (self.number, number(cfg, &call.region)) {
                        (Some(number), Some(other)) if number != other => {}
                        // It may be another one.
                        (Some(_), None) => *state = Holders::default(),
                        (Some(_) | None, _) => {
                            *state = Holders { nodes: BTreeSet::from([call.result]), variables: BTreeSet::new() };
                        }
                    }
                }
            }
            // A function may arrive.
            StepKind::Call(call) if !cfg.calls[call.0].barriers.is_empty() => *state = Holders::default(),
            StepKind::Value(ValueStep::Evaluate(node)) => state.evaluate(cfg, *node),
            StepKind::Value(ValueStep::Set { variable, value, extent }) => {
                // Nobody waits with what holds no token.
                let is_none = cfg.computed.get(value) == Some(&Computed::Number(0));
                let holds = matches!(extent, Extent::Whole) && (is_none || state.nodes.contains(value));
                state.set(*variable, holds);
            }
            StepKind::Token(TokenStep::Move { from, into }) => {
                let holds = state.variables.contains(from);
                state.set(*into, holds);
            }
            StepKind::Token(TokenStep::Clear { variable }) => state.set(*variable, false),
            StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }

    fn edge(&self, _: &mut Holders, _: &Cfg<'_>, _: BlockId, _: BlockId) {}
}

/// Whether a node has the token of the thread's last arrival at a barrier, on all paths to a point. The barrier is the only one of its array,
/// or has this number there.
pub(super) fn is_last(
    kernel: &Kernel<'_, '_>,
    (array, number): (usize, Option<u64>),
    token: NodeId,
    (block, index): Point,
) -> bool {
    let analysis = LastToken { kernel, array, number };
    let Some(mut state) = solve(&analysis, kernel.cfg).swap_remove(block.0) else { return false };
    for step in &kernel.cfg.blocks[block.0].steps[..index] {
        analysis.transfer(&mut state, step);
    }
    state.nodes.contains(&token)
}
