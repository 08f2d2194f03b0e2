//! `Pipeline`, a thread's position in a ring: which variables are one, and what each of its methods does. The methods are those of
//! `runtime/src/kernel/pipeline.rs`; that the type is ours, rustc has to confirm. `calls` makes the steps.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};

use crate::check::cfg::{Call, Cfg, NodeId, Variable};
use crate::model::expr::Callee;

/// What a method of a pipeline does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Method {
    name: &'static str,
    /// What it does at the barrier of the current stage, if it is given barriers.
    pub(super) at_stage: Option<Action>,
    /// Whether it goes on to the next stage.
    pub(super) advances: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Arrive,
    /// It waits for the phase of the parity that the position has, or of the other one.
    Wait {
        inverted: bool,
    },
}

const METHODS: [Method; 5] = [
    Method { name: "producer_acquire", at_stage: Some(Action::Wait { inverted: true }), advances: false },
    Method { name: "producer_commit", at_stage: Some(Action::Arrive), advances: true },
    Method { name: "consumer_wait", at_stage: Some(Action::Wait { inverted: false }), advances: false },
    Method { name: "consumer_release", at_stage: Some(Action::Arrive), advances: true },
    Method { name: "advance", at_stage: None, advances: true },
];

/// The pipelines of a kernel.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    /// The type as the kernel names it, of each variable that is a pipeline.
    types: BTreeMap<Variable, TokenStream>,
    /// The calls that begin one, or of one's methods, by their results.
    calls: BTreeMap<NodeId, (Variable, Option<Method>)>,
}

impl Pipelines {
    /// Finds the variables that are set by `Pipeline::<N>::new()` once, and by calls of the methods.
    pub(super) fn of(cfg: &Cfg<'_>, sets: &BTreeMap<Variable, Vec<NodeId>>) -> Pipelines {
        let mut pipelines = Pipelines::default();
        let called: BTreeMap<NodeId, &Call<'_>> = cfg.calls.iter().map(|call| (call.node, call)).collect();
        for (variable, sets) in sets {
            let made = sets.iter().find_map(|value| {
                let call = called.get(&cfg.origin(*value))?;
                if let Callee::Associated(owner, name, _) = call.callee
                    && name == "new"
                    && is_pipeline(owner)
                {
                    Some((call.node, owner))
                } else {
                    None
                }
            });
            let Some((made, owner)) = made else { continue };
            let changes = sets.iter().filter(|value| cfg.origin(**value) != made);
            let methods: Option<Vec<(NodeId, Method)>> = changes
                .map(|value| {
                    let call = called.get(value)?;
                    Some((call.node, method(call).filter(|_| receiver(cfg, call) == Some(*variable))?))
                })
                .collect();
            if let Some(methods) = methods {
                pipelines.types.insert(*variable, owner.clone());
                pipelines.calls.insert(made, (*variable, None));
                pipelines.calls.extend(methods.into_iter().map(|(node, method)| (node, (*variable, Some(method)))));
            }
        }
        pipelines
    }

    /// The types that rustc has to confirm.
    pub(super) fn types(&self) -> impl Iterator<Item = &TokenStream> {
        self.types.values()
    }

    /// Returns the pipeline that a call concerns, and the method, unless the call makes the pipeline.
    pub(super) fn called(&self, call: &Call<'_>) -> Option<(Variable, Option<Method>)> {
        self.calls.get(&call.node).copied()
    }

    /// Returns the pipeline whose stage is the result of a call.
    pub(super) fn stage_of(&self, node: NodeId) -> Option<Variable> {
        let (variable, method) = self.calls.get(&node)?;
        method.filter(|method| matches!(method.at_stage, Some(Action::Wait { .. }))).map(|_| *variable)
    }

    /// Whether a call takes the pipeline to another stage.
    pub(super) fn changes(&self, node: NodeId, pipeline: Variable) -> bool {
        let call = self.calls.get(&node);
        call.is_some_and(|(variable, method)| *variable == pipeline && method.is_none_or(|method| method.advances))
    }
}

/// Whether a path is `Pipeline::<N>`, with or without names before it.
fn is_pipeline(owner: &TokenStream) -> bool {
    let trees: Vec<TokenTree> = owner.clone().into_iter().collect();
    let at = trees.iter().position(|tree| matches!(tree, TokenTree::Ident(name) if name == "Pipeline"));
    let ends = |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == '>');
    at.is_some_and(|at| at + 1 < trees.len()) && ends(trees.last())
}

fn method(call: &Call<'_>) -> Option<Method> {
    let Callee::Method(name, turbofish) = call.callee else { return None };
    let method = METHODS.into_iter().find(|method| name == method.name).filter(|_| turbofish.is_empty())?;
    let barriers = call.barriers.len() == usize::from(method.at_stage.is_some());
    (barriers && call.teams.len() == 1 + call.barriers.len()).then_some(method)
}

/// The variable whose method is called.
fn receiver(cfg: &Cfg<'_>, call: &Call<'_>) -> Option<Variable> {
    let receiver = cfg.nodes[call.node.0].operands.first()?;
    cfg.nodes[receiver.0].source.read()
}
