//! Calls of functions whose text is not known, in the search for a fault: one that is given values alone does nothing to others, unless it
//! names groups or shared memory itself. That it does not, rustc confirms by the function's summary.

use super::constants::Assumed;
use super::kernel::Kernel;
use crate::check::cfg::{Call, Root};
use crate::model::expr::Callee;

impl Kernel<'_, '_> {
    /// Whether a call does nothing that others may wait for or notice; notes what has to hold for it.
    pub(super) fn is_taken_for_quiet(&self, call: usize) -> bool {
        let of = &self.cfg.calls[call];
        // Methods have no collectives.
        if !matches!(of.callee, Callee::Function(_)) {
            return true;
        }
        let is_quiet = may_be_quiet(of);
        if is_quiet {
            self.quiet.borrow_mut().insert(call);
        }
        is_quiet
    }

    /// The assumptions about calls.
    pub(super) fn of_quiet_calls(&self) -> Vec<Assumed> {
        let calls = self.quiet.borrow();
        let each = calls.iter().filter_map(|call| {
            let call = &self.cfg.calls[*call];
            let has_memory = call.regions.iter().flatten().any(|region| region.root != Root::ReadOnly);
            Some(Assumed::Quiet { function: call.function()?.clone(), has_memory })
        });
        let mut assumed: Vec<Assumed> = Vec::new();
        for one in each {
            if !assumed.iter().any(|other| other.is_same(&one)) {
                assumed.push(one);
            }
        }
        assumed
    }
}

/// Whether all that a call is given is values, and global memory.
fn may_be_quiet(call: &Call<'_>) -> bool {
    let is_global = call.regions.iter().flatten().all(|region| matches!(region.root, Root::ReadOnly | Root::Global));
    let has_tokens = !call.given_tokens.is_empty() || call.returned_token.is_some();
    let has_others = call.passes_closure || call.given_to.is_some() || call.teams.iter().any(Option::is_some);
    call.barriers.is_empty() && is_global && !has_tokens && !has_others
}
