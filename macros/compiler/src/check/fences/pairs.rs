//! Arrivals and the waits that they may belong to. All of them that are connected have one fence, so that a wait has the acquire
//! side of whatever its arrival released.

use std::collections::{BTreeMap, BTreeSet};

use super::{Barriers, Needs, Position, position};
use crate::check::cfg::{Cfg, GroupStep, StepKind, TokenStep, Variable};
use crate::check::engine;
use crate::check::tokens::Tokens;
use crate::model::group::Group;
use crate::model::token::TokenOrigin;

/// Joins the needs of connected arrivals, and gives them to their waits. An arrival whose token leaves the function or may be
/// forgotten is full, as is a wait whose token may come from elsewhere.
pub(super) fn share_with_waits(cfg: &Cfg<'_>, tokens: &Tokens<'_>, barriers: &mut Barriers) {
    let mut arrivals: BTreeMap<Variable, Position> = BTreeMap::new();
    let mut full: BTreeMap<Position, &'static str> = BTreeMap::new();
    for step in cfg.blocks.iter().flat_map(|block| &block.steps) {
        match step.kind {
            StepKind::Group(GroupStep::Arrive { group: Group::Cluster, method, into }) if !method.relaxed => {
                arrivals.insert(into, position(step.at));
            }
            StepKind::Group(GroupStep::ArriveForgotten { group: Group::Cluster, into, .. }) => {
                arrivals.insert(into, position(step.at));
                full.insert(position(step.at), "may forget its token");
            }
            StepKind::Group(_)
            | StepKind::Value(_)
            | StepKind::Memory(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => {}
        }
    }
    let mut connected: Vec<BTreeSet<Position>> = Vec::new();
    engine::visit(tokens, cfg, tokens.states(), |held, step| match step.kind {
        StepKind::Token(TokenStep::HandOver { from }) => {
            let places = tokens.arrivals_at(held, from).filter_map(|(_, into)| arrivals.get(&into));
            full.extend(places.map(|place| (*place, "hands over its token")));
        }
        StepKind::Group(
            GroupStep::Wait { group: Group::Cluster, from } | GroupStep::WaitElected { group: Group::Cluster, from },
        ) => {
            let wait = position(step.at);
            let mut places = BTreeSet::from([wait]);
            for (origin, into) in tokens.arrivals_at(held, from) {
                places.extend(arrivals.get(&into));
                if origin != TokenOrigin::Arrival {
                    full.insert(wait, "waits for the arrival of another function");
                }
            }
            connected.push(places);
        }
        StepKind::Group(_)
        | StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Token(_)
        | StepKind::BarrierCall(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => {}
    });
    for (place, why) in full {
        if let Some(barrier) = barriers.get_mut(&place) {
            barrier.needs.must_be_full(why, barrier.at);
        }
    }
    for places in merged(connected) {
        let mut needs = Needs::default();
        places.iter().filter_map(|place| barriers.get(place)).for_each(|barrier| needs.join(&barrier.needs));
        for place in places {
            if let Some(barrier) = barriers.get_mut(&place) {
                barrier.needs = needs.clone();
            }
        }
    }
}

/// Merges the sets that have a place in common.
fn merged(sets: Vec<BTreeSet<Position>>) -> Vec<BTreeSet<Position>> {
    let mut merged: Vec<BTreeSet<Position>> = Vec::new();
    for mut set in sets {
        merged.retain(|other| {
            let apart = set.is_disjoint(other);
            if !apart {
                set.extend(other);
            }
            apart
        });
        merged.push(set);
    }
    merged
}
