//! The steps of a thread that begin asynchronous copies, or wait for them.

use super::kernel::{Point, Refusal, array_of};
use super::slots::{bytes_of, copied_array};
use super::walk::Walker;
use crate::check::cfg::{
    Access, AccessKind, BarrierCall, Completion, CopyBy, CopyStep, Granule, GroupStep, MemoryStep, Region, Select,
    StepKind, Team, Tile,
};
use crate::model::group::Group;
use crate::rings::{Data, Element, Expr, Op, Step};
use crate::span::SpanRange;

impl Walker<'_, '_, '_, '_> {
    pub(super) fn copy(&mut self, point: Point, index: usize) -> Result<(), Refusal> {
        let kernel = self.evaluator.kernel;
        let call = self.copy_to.take().map(|call| &kernel.cfg.barrier_calls[call]);
        match &kernel.cfg.copies[index] {
            CopyStep::Begin { reads, writes, completion: Completion::Barrier(_), by, at, .. } => {
                let Some(call) = call else {
                    return Err(Refusal::new(*at, "the text does not show which barrier this is"));
                };
                match writes {
                    Some(region) => self.copy_into(point, call, region, (point, *by))?,
                    None => self.copy_to_peer(point, call, reads)?,
                }
            }
            CopyStep::Begin {
                reads,
                completion: completion @ (Completion::BulkGroup | Completion::Product),
                at,
                ..
            } => {
                let mut slots = Vec::new();
                for region in reads {
                    if let Some((array, _)) = array_of(region).and_then(|array| self.objects.slot(array)) {
                        slots.push(Element { array, index: self.slot_index(region, point, *at)? });
                    }
                }
                // Waits count products: one that reads fewer slots than others reads one of them as often as it takes.
                let more = self.objects.most_reads(kernel, *completion).saturating_sub(slots.len());
                let again = slots.first().cloned().into_iter().cycle().take(more);
                for slot in again.chain(slots.clone()) {
                    self.flush();
                    self.push(point, *at, Op::Store { slot, queue: queue_of(*completion) });
                }
            }
            CopyStep::Wait { completion: completion @ (Completion::BulkGroup | Completion::Product), but, .. } => {
                let at = kernel.cfg.blocks[point.0.0].steps[point.1].at;
                if self.objects.are_stored(kernel, *completion) {
                    self.wait_for_stores((point, at), *completion, but.map_or(Some(0), |but| kernel.constants.of(but)));
                }
                // All threads of a warp execute it before one goes on (PTX ISA, wgmma.wait_group.sync).
                if *completion == Completion::Product {
                    self.flush();
                    self.program.meetings.insert(self.program.steps.len());
                    self.push(point, at, Op::Set(Vec::new()));
                }
            }
            // No slot is accessed by such a copy.
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => {}
        }
        Ok(())
    }

    /// Adds a wait until the slots have been read by all but the last of what completes in one way.
    fn wait_for_stores(&mut self, (point, at): (Point, SpanRange), completion: Completion, but: Option<i64>) {
        let kernel = self.evaluator.kernel;
        // Where a wait for some is not followed, a proof takes none to be waited for, which allows more; a fault is sought in runs in
        // which all have been read by then.
        let but = but.and_then(|but| self.objects.reads_of_last(kernel, completion, but));
        let but = but.or(self.evaluator.arguments.map(|_| 0));
        match but.and_then(|but| u32::try_from(but).ok()) {
            Some(but) => {
                self.flush();
                self.push(point, at, Op::WaitStores { queue: queue_of(completion), but });
            }
            None => self.program.allows_more = true,
        }
    }

    /// Adds a copy into the memory of a peer, which the last access before it names.
    pub(super) fn copy_to_peer(&mut self, point: Point, call: &BarrierCall, reads: &[Region]) -> Result<(), Refusal> {
        let cfg = self.kernel().cfg;
        let steps = cfg.blocks[point.0.0].steps[..point.1].iter().enumerate().rev();
        let mut written = steps.filter_map(|(index, step)| {
            let StepKind::Memory(MemoryStep::Access(access)) = step.kind else { return None };
            Some((index, &cfg.accesses[access.0]))
        });
        let is_copy = |kind| matches!(kind, AccessKind::AsyncWrite);
        let mut copied = written.by_ref().filter(|(_, access)| is_copy(access.kind));
        match copied.next() {
            Some((index, access)) => {
                let block = self.block_of(&access.region, point, call.at)?;
                let place = |at: SpanRange| (at.line(), at.column());
                let others = copied.take_while(|(_, other)| place(other.at) == place(access.at));
                let repeats = |other: &Access| self.block_of(&other.region, point, call.at).is_ok_and(|of| of == block);
                if self.evaluator.arguments.is_some() && others.into_iter().any(|(_, other)| repeats(other)) {
                    return Err(Refusal::of_arguments(call.at, "a multicast names a block twice, and fails,"));
                }
                let followed = |region: &Region| self.objects.slot(array_of(region)?).map(|(array, _)| array);
                let source = reads.iter().find_map(|region| Some((region, followed(region)?)));
                let source = match source {
                    Some((region, array)) => Some(Element { array, index: self.slot_index(region, point, call.at)? }),
                    None => None,
                };
                self.copy_into(point, call, &access.region, ((point.0, index), CopyBy::Thread))?;
                if let Some(Step { op: Op::Copy { from, .. }, .. }) = self.program.steps.last_mut() {
                    *from = source;
                }
                Ok(())
            }
            None => Err(Refusal::new(call.at, "the text does not show what the copy writes")),
        }
    }

    /// Adds a copy into a slot, or into one element of it; `site` is the place of the access.
    fn copy_into(
        &mut self,
        point: Point,
        call: &BarrierCall,
        region: &Region,
        (site, by): (Point, CopyBy),
    ) -> Result<(), Refusal> {
        let at = call.at;
        let Some((array, slot)) = copied_array(region).and_then(|array| self.objects.copied(array)) else {
            return Err(Refusal::new(at, "the accesses of what the copy writes are not followed"));
        };
        let bytes = match region.path.len().checked_sub(slot.depth) {
            Some(0) => u32::try_from(slot.bytes).ok(),
            Some(1) if is_element(region) => u32::try_from(slot.element).ok(),
            Some(1 | 2) => bytes_of(self.evaluator, slot, region, point).and_then(|bytes| u32::try_from(bytes).ok()),
            Some(_) | None => None,
        };
        let bytes = match slot.followed {
            true => bytes,
            false => bytes_of(self.evaluator, slot, region, point)
                .and_then(|bytes| u32::try_from(bytes).ok())
                .filter(|_| !matches!(by, CopyBy::Group)),
        };
        let bytes = bytes.ok_or_else(|| Refusal::new(at, "the copy writes a part of the array"))?;
        if let Some(tile) = slot.tile.filter(|_| slot.followed)
            && !region.path.first().is_some_and(|select| self.evaluator.is_whole_part(*select, tile, point))
        {
            return Err(Refusal::new(at, "the copy does not write a whole stage of the array"));
        }
        let index = match slot.followed {
            true => self.slot_index(region, point, at)?,
            // Nothing is known of what is in it, in whichever slot.
            false => Expr::constant(0),
        };
        let slot = Element { array, index };
        let barrier = self.element(&call.region, point, at)?;
        let (block, signals) = (self.block_of(region, point, at)?, self.block_of(&call.region, point, at)?);
        self.flush();
        match by {
            CopyBy::Group => {
                let size = self.group_of(point);
                self.program.together.entry(slot.array).or_default().insert(size);
                self.push(site, at, Op::Share { slot, barrier, data: Data::Fixed(0) });
                return Ok(());
            }
            CopyBy::Thread | CopyBy::Warpgroup { .. } | CopyBy::Multicast => {}
            // The call on the barrier is the step before.
            CopyBy::Tile => {
                self.push((point.0, point.1 - 1), at, Op::Expect { barrier: barrier.clone(), bytes });
            }
            CopyBy::Expected => {
                self.push(site, at, Op::Expect { barrier, bytes });
                return Ok(());
            }
        }
        let published = array_of(region).is_some_and(|array| self.hands_out(array));
        let StepKind::Memory(MemoryStep::Access(id)) = self.kernel().cfg.blocks[site.0.0].steps[site.1].kind else {
            self.push(site, at, Op::Copy { slot, barrier, block, signals, bytes, data: Data::Fixed(0), from: None });
            return Ok(());
        };
        let to = block.clone();
        if published {
            self.begin_turn(id, &to, (site, at));
        }
        let data = if published { Data::Round { ahead: 0, kind: 0 } } else { Data::Fixed(0) };
        self.push(site, at, Op::Copy { slot, barrier, block, signals, bytes, data, from: None });
        if published {
            self.publish(id, &to, (site, at));
        }
        Ok(())
    }
}

/// The queue of what completes in one way: a wait for bulk copies says nothing of products, nor one for products of bulk copies.
fn queue_of(completion: Completion) -> u8 {
    if completion == Completion::Product { PRODUCTS } else { 0 }
}

/// The queue of products.
pub(super) const PRODUCTS: u8 = 1;

/// The number of threads in no group.
const UNKNOWN: u64 = 0;

impl Walker<'_, '_, '_, '_> {
    /// The number of threads in the group that begins a copy together; none for all of the block.
    fn group_of(&self, (block, index): Point) -> Option<u64> {
        let before = self.kernel().cfg.blocks[block.0].steps[..index].iter().rev();
        let team = before.into_iter().find_map(|step| {
            let StepKind::Group(GroupStep::Collective { team, .. }) = &step.kind else { return None };
            Some(team)
        });
        match team {
            Some(Team { group: Group::ThreadBlock, .. }) => None,
            Some(Team { tile: Some(Tile { size: Granule::Number(size), .. }), .. }) => Some(*size),
            Some(_) | None => Some(UNKNOWN),
        }
    }
}

/// Whether the last selection of a region is one element.
fn is_element(region: &Region) -> bool {
    matches!(region.path.last(), Some(Select::At(_))) && !region.open
}
