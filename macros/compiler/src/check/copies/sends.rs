//! Finds out whether a wait at a phase barrier tells a sender that its copy is complete. A copy to a peer reads its source until it completes on the peer's barrier. A wait
//! at the own barrier of that name shows what came to the own block.
//!
//! The sender knows that its copy is complete if the receiver has waited for it and then arrived at another barrier of the sender's, or
//! sent something itself. Where all blocks send and wait alike, what comes to the own barrier was sent as the own copy was, before
//! its receiver had waited for that: only the next wait there shows its end. A barrier of the cluster after a wait shows it, too,
//! because the receiver has waited as well. Facts of the function's text, no analysis of its states.

use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use crate::check::cfg::{BarrierCallId, BlockId, CallId, Cfg, NodeId, Root, Shared, Source, Step, StepKind};
use crate::check::completion::{Completions, barrier_of, may_be_same, waits_of};
use crate::check::uniform::values::Values;
use crate::model::Role;
use crate::model::barrier::PhaseAction;

/// How far a thread knows, after a wait, of a copy that its block has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Told {
    Nothing,
    /// The peers' copies like this one have come, so that the receiver has waited for this one when it comes to its next barrier.
    Received,
    /// The receiver has waited for the copy.
    Ended,
}

/// The sends of a function, and the waits that may tell of them.
pub(super) struct Sends<'a> {
    waits: &'a Completions,
    /// The barriers at which other blocks may arrive, or on which their copies complete.
    by_peers: Vec<Shared>,
    /// The barriers on which copies to peers complete that not all blocks send alike.
    apart: BTreeSet<Shared>,
    /// The waits to which not all blocks come alike.
    waits_apart: BTreeSet<Observation>,
}

/// A step that may wait at a phase barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Observation {
    Barrier(BarrierCallId),
    Call(CallId),
}

impl<'a> Sends<'a> {
    pub(super) fn of(cfg: &Cfg<'_>, values: &Values<'_, '_>, waits: &'a Completions) -> Sends<'a> {
        let mut sends = Sends { waits, by_peers: Vec::new(), apart: BTreeSet::new(), waits_apart: BTreeSet::new() };
        let has_sends = cfg.barrier_calls.iter().any(|call| matches!(call.region.root, Root::Remote(_)))
            || cfg.calls.iter().any(|call| !call.barriers.is_empty());
        if !has_sends {
            return sends;
        }
        for (number, block) in cfg.blocks.iter().enumerate() {
            let mut is_alike = None;
            let mut is_alike = || {
                *is_alike.get_or_insert_with(|| {
                    values.control.deciders(BlockId(number)).all(|branch| takes_same_arm(cfg, values, branch))
                })
            };
            for step in &block.steps {
                let Some(observation) = observation(step) else { continue };
                if !waits_of(cfg, step).is_empty() && !is_alike() {
                    sends.waits_apart.insert(observation);
                }
                match observation {
                    Observation::Barrier(call) => {
                        let call = &cfg.barrier_calls[call.0];
                        let is_send = call.method.action == PhaseAction::Copy;
                        if let (Root::Remote(shared), true) =
                            (call.region.root, is_send || call.method.action.arrives())
                        {
                            sends.by_peers.push(shared);
                            if is_send && !is_alike() {
                                sends.apart.insert(shared);
                            }
                        }
                    }
                    Observation::Call(call) => {
                        let remote = cfg.calls[call.0].barriers.iter().filter_map(|(_, region)| match region.root {
                            Root::Remote(_) => barrier_of(region),
                            Root::Shared(_) | Root::ReadOnly | Root::Global => None,
                        });
                        let remote: Vec<Shared> = remote.collect();
                        if !is_alike() {
                            sends.apart.extend(&remote);
                        }
                        sends.by_peers.extend(remote);
                    }
                }
            }
        }
        sends
    }

    /// What a wait at one of its barriers tells of a copy to a peer that completes on the peer's barrier. `received` says whether an
    /// earlier wait has told that the peers' copies have come.
    pub(super) fn told(&self, step: &Step, wait_at: Shared, on: Shared, received: bool) -> Told {
        let is_told = self.waits.tells(wait_at, on) && self.by_peers.iter().any(|told| may_be_same(*told, wait_at));
        if !may_be_same(wait_at, on) {
            return if is_told { Told::Ended } else { Told::Nothing };
        }
        let is_apart = observation(step).is_none_or(|wait| self.waits_apart.contains(&wait))
            || self.apart.iter().any(|send| may_be_same(*send, on));
        if is_told && (is_apart || received) { Told::Ended } else { Told::Received }
    }
}

fn observation(step: &Step) -> Option<Observation> {
    match step.kind {
        StepKind::BarrierCall(call) => Some(Observation::Barrier(call)),
        StepKind::Call(call) => Some(Observation::Call(call)),
        StepKind::Value(_) | StepKind::Memory(_) | StepKind::Group(_) | StepKind::Token(_) | StepKind::Copy(_) => None,
    }
}

/// Whether a branch certainly takes the same arm in all blocks of the cluster, for threads of the same rank.
fn takes_same_arm(cfg: &Cfg<'_>, values: &Values<'_, '_>, branch: BlockId) -> bool {
    values.tested(branch).is_uniform(Uniformity::Cluster)
        || cfg.blocks[branch.0]
            .end
            .condition()
            .is_some_and(|condition| is_of_rank(cfg, values.function().role, condition))
}

/// Whether a value is computed from the thread's rank in its block and what is the same in all blocks alone.
fn is_of_rank(cfg: &Cfg<'_>, role: Role, node: NodeId) -> bool {
    cfg.is_computed_from(node, |source| match source {
        Source::Operands
        | Source::Integer(_)
        | Source::Constant(_)
        | Source::Binary(_)
        | Source::Not
        | Source::ThreadRank
        | Source::Round(..) => true,
        Source::Param(_) => role == Role::Kernel,
        Source::Known { uniformity, what } => uniformity.covers(Uniformity::Cluster) || *what == "thread_index",
        Source::Read(_)
        | Source::Counter { .. }
        | Source::Load(_)
        | Source::Agreed { .. }
        | Source::Shuffled { .. }
        | Source::Call { .. } => false,
    })
}
