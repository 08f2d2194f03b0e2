//! Phase barriers that device functions are given: what goes between a function and those that it calls, or is called by, for
//! rustc to join (`dsm::protocol`).

#![warn(clippy::wildcard_enum_match_arm)]

use std::collections::BTreeSet;

use phalanx_contract::protocol::{BarrierUses, ParameterUses};

use super::Facts;
use super::path_states::{PathState, Taker};
use crate::check::cfg::{BarrierCall, BarrierCallId, Root, Shared, Source};
use crate::check::dsm::protocol::{Effect, Guard, Predicate, Protocol};
use crate::diag::Diag;
use crate::model::Role;
use crate::model::expr::Callee;

/// Questions about the functions that are called, and what callers must know.
#[derive(Default)]
pub(crate) struct Summary {
    pub(super) asked: Vec<(Guard, Diag)>,
    pub(super) effects: Vec<(Effect, Guard)>,
    /// Waits that are as good as a barrier of the cluster.
    pub(crate) meetings: BTreeSet<BarrierCallId>,
}

impl Summary {
    pub(crate) fn add_to(self, protocol: &mut Protocol) {
        self.asked.into_iter().for_each(|(guard, diag)| protocol.ask(guard, &diag));
        protocol.effects.extend(self.effects);
    }

    /// The parameters that the function does not initialise, nor any that it gives them to.
    pub(super) fn keeps(&mut self, seen: &Facts<'_, '_>) {
        if seen.function.role != Role::Device {
            return;
        }
        for id in seen.ids().into_iter().filter(|id| id.index.is_none()) {
            let Shared::Param(param) = id.shared else { continue };
            let begins = |call: &BarrierCall| call.method.action.begins();
            let mut guard = Some(Guard::default()).filter(|_| !seen.calls(id).any(begins));
            for node in &seen.cfg.nodes {
                let Source::Call { slot, callee, barriers, .. } = &node.source else { continue };
                let given = barriers.iter().filter(|(_, region)| region.root == Root::Shared(id.shared));
                for (argument, _) in given {
                    let keeps = Predicate::Uses(slot.0, *argument, ParameterUses::of_barrier(BarrierUses::KEEPS));
                    let known = matches!(callee, Callee::Function(_));
                    guard = guard.filter(|_| known).map(|guard| guard.when(keeps));
                }
            }
            self.effects
                .extend(guard.map(|guard| (Effect::Uses(param, ParameterUses::of_barrier(BarrierUses::KEEPS)), guard)));
        }
    }
}

/// If none of the device functions initialised the barrier that had it.
pub(super) fn unless(way: &PathState) -> Guard {
    way.unless().fold(Guard::default(), |guard, Taker { slot, argument }| {
        guard.when(Predicate::Uses(slot, argument, ParameterUses::of_barrier(BarrierUses::KEEPS)))
    })
}
