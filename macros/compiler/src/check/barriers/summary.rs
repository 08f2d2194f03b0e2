//! Phase barriers that device functions are given: what goes between a function and those that it calls, or is called by, for
//! rustc to join (`dsm::protocol`).

use std::collections::BTreeSet;

use super::Seen;
use super::ways::{Taker, Way};
use crate::check::cfg::{PhaseCall, PhaseId, Root, Shared, Source};
use crate::check::dsm::protocol::{Case, Gives, Has, Protocol, When, barrier};
use crate::diag::Diag;
use crate::model::Role;
use crate::model::expr::Callee;

/// Questions about the functions that are called, and what callers must know.
#[derive(Default)]
pub(crate) struct Summary {
    pub(super) asked: Vec<(Case, Diag)>,
    pub(super) gives: Vec<(Gives, Case)>,
    /// Waits that are as good as a barrier of the cluster.
    pub(crate) meetings: BTreeSet<PhaseId>,
}

impl Summary {
    pub(crate) fn add_to(self, protocol: &mut Protocol) {
        self.asked.into_iter().for_each(|(case, diag)| protocol.ask(case, &diag));
        protocol.gives.extend(self.gives);
    }

    /// The parameters that the function does not initialise, nor any that it gives them to.
    pub(super) fn keeps(&mut self, seen: &Seen<'_, '_>) {
        if seen.function.role != Role::Device {
            return;
        }
        for id in seen.ids().into_iter().filter(|id| id.index.is_none()) {
            let Shared::Param(param) = id.shared else { continue };
            let begins = |call: &PhaseCall| call.method.what.begins();
            let mut case = Some(Case::default()).filter(|_| !seen.calls(id).any(begins));
            for (slot, callee, barriers) in seen.cfg.nodes.iter().filter_map(|node| match &node.source {
                Source::Call { slot, callee, barriers, .. } => Some((slot, callee, barriers)),
                _ => None,
            }) {
                let given = barriers.iter().filter(|(_, piece)| piece.root == Root::Shared(id.shared));
                for (argument, _) in given {
                    let keeps = Has::Uses(slot.0, *argument, When::Ever, barrier::KEEPS);
                    let known = matches!(callee, Callee::Function(_));
                    case = case.filter(|_| known).map(|case| case.when(keeps));
                }
            }
            self.gives.extend(case.map(|case| (Gives::Uses(param, When::Ever, barrier::KEEPS), case)));
        }
    }
}

/// If none of the device functions initialised the barrier that had it.
pub(super) fn unless(way: &Way) -> Case {
    way.unless().fold(Case::default(), |case, Taker { slot, argument }| {
        case.when(Has::Uses(slot, argument, When::Ever, barrier::KEEPS))
    })
}
