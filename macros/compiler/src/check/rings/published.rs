//! Finds the arrays in whose elements one thread publishes numbers for others, and which of its stores, and of the others' loads, are of one turn:
//! several fields, or elements of several arrays, may be what is published at once.

use std::collections::{BTreeMap, BTreeSet};

use super::classes::Classes;
use super::counters::Counters;
use super::handed::{Load, Published};
use super::kernel::{Kernel, Point, array_of};
use super::part::Part;
use super::slots::Slot;
use super::value::Evaluator;
use crate::check::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, Completion, CopyStep, Covers, GroupStep, MemoryStep, NodeId, Region,
    Root, Shared, Source, StepKind, ValueStep,
};
use crate::check::uniform::control::following_until;

/// The loads of elements of shared arrays, also of peers, by array.
pub(super) fn loads(kernel: &Kernel<'_, '_>) -> BTreeMap<usize, BTreeMap<NodeId, Load>> {
    let cfg = kernel.cfg;
    let mut loads: BTreeMap<usize, BTreeMap<NodeId, Load>> = BTreeMap::new();
    for content in &cfg.blocks {
        for steps in content.steps.windows(2) {
            let StepKind::Memory(MemoryStep::Access(access)) = steps[0].kind else { continue };
            let StepKind::Value(ValueStep::Evaluate(node)) = steps[1].kind else { continue };
            let Source::Load(Root::Shared(Shared::Array(_)) | Root::Remote(Shared::Array(_))) =
                cfg.nodes[node.0].source
            else {
                continue;
            };
            let of = &cfg.accesses[access.0];
            let field = match of.covers {
                Covers::Whole => None,
                Covers::Field(Some(field)) => Some(field),
                Covers::Field(None)
                | Covers::Item { .. }
                | Covers::Receiver
                | Covers::Vector { .. }
                | Covers::Matrix { .. } => continue,
            };
            let Some(array) = array_of(&of.region).filter(|_| of.kind == AccessKind::Read) else { continue };
            let part = Part { array, field };
            loads.entry(array).or_default().insert(node, Load { access, part, rank: of.region.rank });
        }
    }
    loads
}

/// What a thread publishes in arrays, if no other one does, and elements are all that is accessed.
pub(super) fn published(
    kernel: &Kernel<'_, '_>,
    slots: &[&Slot],
    loads: BTreeMap<NodeId, Load>,
    classes: &Classes,
) -> Option<Published> {
    let cfg = kernel.cfg;
    let arrays: BTreeSet<usize> = slots.iter().map(|slot| slot.array).collect();
    let is_of = |region: &Region| array_of(region).is_some_and(|array| arrays.contains(&array));
    let copied = cfg.copies.iter().any(|copy| match copy {
        CopyStep::Begin { reads, writes, .. } => reads.iter().chain(writes).any(is_of),
        CopyStep::Wait { .. } => false,
    });
    if copied || !slots.iter().all(|slot| slot.whole && !slot.in_place) {
        return None;
    }
    let sites = sites(kernel, is_of);
    let loaded: BTreeSet<AccessId> = loads.values().map(|load| load.access).collect();
    let (reads, stores): (Vec<&Site<'_>>, Vec<&Site<'_>>) =
        sites.iter().partition(|(_, access, _)| access.kind == AccessKind::Read);
    let is_store = |access: &Access, id: AccessId| match (access.kind, access.completion) {
        (AccessKind::Write, None) => access.stored.is_some(),
        (AccessKind::AsyncWrite, Some(Completion::Barrier(_))) => cfg.contents.contains_key(&id),
        _ => false,
    };
    let are_known = reads.iter().all(|(id, ..)| loaded.contains(id))
        && stores.iter().all(|(id, access, _)| access.covers == Covers::Whole && is_store(access, *id));
    if !are_known {
        return None;
    }
    let (by, ranks) = only_thread(kernel, classes, stores.iter().map(|(.., point)| point.0))?;
    // Several threads publish each to its own block.
    let is_own = stores.iter().all(|(_, access, _)| matches!(access.region.root, Root::Shared(_)));
    if ranks.len() > 1 && (!is_own || slots.iter().any(|slot| slot.shared)) {
        return None;
    }
    let turns = turns(kernel, &reads).chain(turns(kernel, &stores)).collect();
    Some(Published { arrays, by, ranks, first: None, loads, turns })
}

/// An access and its place.
type Site<'k> = (AccessId, &'k Access, Point);

/// The accesses of arrays.
fn sites<'k>(kernel: &Kernel<'k, '_>, is_of: impl Fn(&Region) -> bool) -> Vec<Site<'k>> {
    let cfg = kernel.cfg;
    let mut sites = Vec::new();
    for (block, content) in (0..).map(BlockId).zip(&cfg.blocks) {
        for (index, step) in content.steps.iter().enumerate() {
            if let StepKind::Memory(MemoryStep::Access(id)) = step.kind
                && is_of(&cfg.accesses[id.0].region)
            {
                sites.push((id, &cfg.accesses[id.0], (block, index)));
            }
        }
    }
    sites
}

/// Says of each of some accesses whether a turn begins with it: it goes on with one that another one always leads to without a barrier in between,
/// however often it comes.
fn turns<'t>(kernel: &'t Kernel<'_, '_>, sites: &'t [&Site<'_>]) -> impl Iterator<Item = (AccessId, bool)> + 't {
    let cfg = kernel.cfg;
    let steps = (0..).map(BlockId).zip(&cfg.blocks).flat_map(|(block, content)| {
        content.steps.iter().enumerate().map(move |(index, step)| ((block, index), &step.kind))
    });
    let orders = |kind: &StepKind| match kind {
        StepKind::BarrierCall(call) => !cfg.barrier_calls[call.0].method.action.begins(),
        StepKind::Group(GroupStep::Collective { barrier, .. }) => *barrier,
        StepKind::Value(_)
        | StepKind::Memory(_)
        | StepKind::Group(_)
        | StepKind::Token(_)
        | StepKind::Copy(_)
        | StepKind::Call(_) => false,
    };
    let barriers: Vec<Point> = steps.filter(|(_, kind)| orders(kind)).map(|(point, _)| point).collect();
    sites.iter().map(move |(id, _, point)| {
        let goes_on = sites.iter().any(|(_, _, before)| {
            before != point
                && leads(cfg, *before, *point)
                && !kernel.may_pass_since(barriers.iter().copied(), *before, *point)
        });
        (*id, !goes_on)
    })
}

/// Whether each way to a point leads by another one.
pub(super) fn leads(cfg: &Cfg<'_>, by: Point, to: Point) -> bool {
    match by.0 == to.0 {
        true => by.1 < to.1,
        false => by.0 == cfg.entry || to.0 != cfg.entry && !following_until(cfg, cfg.entry, by.0).contains(to.0),
    }
}

/// The thread that comes to some of these blocks, if it is the only one of its block, and the ranks of the thread blocks in which it does.
pub(super) fn only_thread(
    kernel: &Kernel<'_, '_>,
    classes: &Classes,
    blocks: impl Iterator<Item = BlockId> + Clone,
) -> Option<(u32, BTreeSet<u32>)> {
    let counters = Counters::default();
    let ranks = |thread: u32| -> BTreeSet<u32> {
        let evaluator = Evaluator { kernel, counters: &counters, arguments: None, thread, after: None, inlines: false };
        blocks.clone().flat_map(|block| evaluator.ranks_that_come_to(block)).collect()
    };
    let classes = classes.all.iter().filter_map(|class| {
        let ranks = ranks(*class.threads.first()?);
        (!ranks.is_empty()).then_some((&class.threads[..], ranks))
    });
    let mut classes = classes;
    match (classes.next(), classes.next()) {
        (Some(([thread], ranks)), None) if ranks.len() == 1 || ranks.len() == kernel.blocks as usize => {
            Some((*thread, ranks))
        }
        _ => None,
    }
}
