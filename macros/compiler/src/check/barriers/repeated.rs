//! Barriers that device functions declare: a second call finds them as the first one left them, so that a function that leaves its
//! barrier in use initializes it again. rustc knows which functions do, and which calls lead to them (`contract`, `Executions`).

use std::collections::{BTreeMap, BTreeSet};

use phalanx_contract::protocol::When;

use super::lifecycle::{Lifecycles, State};
use super::path_states::Lifecycle;
use super::summary::Summary;
use crate::check::cfg::{BlockId, CallId, Cfg, Shared, StepKind};
use crate::check::dsm::protocol::{Effect, Guard, Predicate};
use crate::check::uniform::control::following;
use crate::messages;
use crate::model::Role;

/// Whether each execution initializes a barrier of the function's own and leaves it in use, given the states at the function's ends.
pub(super) fn leaves_in_use(lives: &Lifecycles<'_, '_>, ends: &[State]) -> bool {
    let is_live = |id, end: &State| {
        let mut end = end.clone();
        lives.publish(&mut end);
        end.paths.get(id).is_some_and(|paths| paths.iter().all(|path| path.life == Lifecycle::Live))
    };
    // Of the elements of an array, only those of a literal index are the same in all calls.
    let mut own = lives.ids.iter().filter(|id| matches!(id.shared, Shared::Array(_)) && lives.is_one(id));
    !ends.is_empty() && own.any(|id| ends.iter().all(|end| is_live(id, end)))
}

/// `barrier_reinit`: of two calls on one path, not both initialize a barrier that the functions they lead to leave in use.
///
/// ```text
/// fn step() { let bar = shared_barrier(); bar.init_collective(&block, 64); bar.arrive_and_wait(); }
/// step(); step();
/// ```
pub(super) fn check(role: Role, cfg: &Cfg<'_>, summary: &mut Summary) {
    let mut calls: Vec<(BlockId, usize, CallId)> = Vec::new();
    for (block, steps) in (0..).map(BlockId).zip(&cfg.blocks) {
        for (at, step) in steps.steps.iter().enumerate() {
            if let StepKind::Call(id) = step.kind
                && cfg.calls[id.0].is_of_function()
            {
                calls.push((block, at, id));
            }
        }
    }
    let (mut asked, mut reached_from) = (BTreeSet::new(), BTreeMap::new());
    for &(block, at, id) in &calls {
        let slot = cfg.calls[id.0].slot.0;
        if role == Role::Device {
            let executes = Effect::Executes { call: slot, when: When::Ever, seen: When::Ever };
            summary.effects.push((executes, Guard::default()));
        }
        let after = reached_from.entry(block).or_insert_with(|| following(cfg, block));
        for &(other, other_at, later) in &calls {
            let follows = other == block && at < other_at || after.contains(other);
            let later_slot = cfg.calls[later.0].slot.0;
            // One pair of calls of two functions is enough.
            if follows && asked.insert((cfg.callee(cfg.calls[id.0].slot), cfg.callee(cfg.calls[later.0].slot))) {
                let guard = Guard::default().when(Predicate::Meet((slot, When::Ever), (later_slot, When::Ever)));
                let at = cfg.calls[later.0].at;
                summary.asked.push((guard, messages::barrier_reinit_by_call(at, cfg.calls[id.0].at)));
            }
        }
    }
}
