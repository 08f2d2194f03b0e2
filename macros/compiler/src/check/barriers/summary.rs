//! Phase barriers across functions: what a function does with barriers that are its parameters, and what it asks of the
//! functions that it passes barriers to. rustc joins the two (`dsm::protocol`).

use std::collections::BTreeSet;

use phalanx_contract::protocol::{BarrierUses, Behavior, ParameterUses};

use super::Context;
use super::gather::Gather;
use super::path_states::{BarrierArgument, PathState};
use crate::check::cfg::{BarrierCall, BarrierCallId, Root, Shared};
use crate::check::dsm::protocol::{Effect, Guard, Predicate, Protocol};
use crate::diag::Diag;
use crate::model::Role;

/// The findings of the checks of phase barriers that concern other functions: questions about callees, and facts for callers.
#[derive(Default)]
pub(crate) struct Summary {
    /// The faults that depend on called functions, each with the guard under which it is one.
    pub(super) asked: Vec<(Guard, Diag)>,
    /// The effects of the function on its parameters, each with the guard under which it has them.
    pub(super) effects: Vec<(Effect, Guard)>,
    /// The waits that synchronize like a barrier of the cluster.
    pub(crate) handshakes: BTreeSet<BarrierCallId>,
    /// The waits of a block for what others have done to its memory.
    pub(crate) gathers: Vec<Gather>,
}

impl Summary {
    /// Adds all of it to the function's protocol.
    pub(crate) fn add_to(self, protocol: &mut Protocol) {
        self.asked.into_iter().for_each(|(guard, diag)| protocol.ask(guard, &diag));
        protocol.effects.extend(self.effects);
    }

    /// Adds the parameters that neither the function nor a callee initializes.
    pub(super) fn add_kept(&mut self, cx: &Context<'_, '_>) {
        if cx.function.role != Role::Device {
            return;
        }
        for id in cx.ids().into_iter().filter(|id| id.index.is_none()) {
            let Shared::Param(param) = id.shared else { continue };
            let begins = |call: &BarrierCall| call.method.action.begins();
            let mut guard = Some(Guard::default()).filter(|_| !cx.calls(id).any(begins));
            for call in &cx.cfg.calls {
                let given = call.barriers.iter().filter(|(_, region)| region.root == Root::Shared(id.shared));
                for (argument, _) in given {
                    let keeps = Predicate::Uses(call.slot.0, *argument, ParameterUses::of_barrier(BarrierUses::KEEPS));
                    guard = guard.filter(|_| call.is_of_function()).map(|guard| guard.when(keeps));
                }
            }
            self.effects
                .extend(guard.map(|guard| (Effect::Uses(param, ParameterUses::of_barrier(BarrierUses::KEEPS)), guard)));
        }
    }
}

/// The guard that no device function to which the barrier was passed has initialized it, and that the thread has learned nothing in others.
pub(super) fn unless(path: &PathState) -> Guard {
    path.unless().fold(Guard::default(), |guard, call| {
        let BarrierArgument { slot, argument } = call;
        guard.when(match call.is_learned() {
            true => Predicate::Never(slot, Behavior::MAY_LEARN),
            false => Predicate::Uses(slot, argument, ParameterUses::of_barrier(BarrierUses::KEEPS)),
        })
    })
}
