//! A thread's own accesses of slots: those between two steps are one, except where accesses of single elements are told apart.

use super::kernel::{Point, Refusal, array_of};
use super::walk::{Pending, Walker};
use crate::check::cfg::{
    AccessId, AccessKind, BlockId, Cfg, Covers, MemoryStep, NodeId, Region, Select, Step as GraphStep, StepKind,
};
use crate::rings::{Data, Element, Expr, Op, Operator};
use crate::span::SpanRange;

impl Walker<'_, '_, '_, '_> {
    /// Notes an access of a slot, which is `certain` if the thread makes it whenever it comes here.
    pub(super) fn access(&mut self, point: Point, step: &GraphStep, certain: bool) -> Result<(), Refusal> {
        let StepKind::Memory(MemoryStep::Access(id)) = step.kind else { return Ok(()) };
        let access = &self.evaluator.kernel.cfg.accesses[id.0];
        let Some(array) = array_of(&access.region).filter(|array| self.objects.slot(*array).is_some()) else {
            return Ok(());
        };
        // A copy accesses the slot when it lands, not where it begins.
        if access.completion.is_some() {
            return Ok(());
        }
        let fills = match access.kind {
            // Such accesses are followed where they are in the way of copies alone.
            AccessKind::Read | AccessKind::AtomicRead | AccessKind::Atomic => false,
            AccessKind::Opaque => access.covers != Covers::Receiver,
            AccessKind::Write | AccessKind::Lent | AccessKind::AsyncWrite | AccessKind::ByClosure => true,
        };
        let certain_arguments = self.evaluator.arguments.is_some();
        let fills = fills && (certain_arguments || !self.objects.slot(array).is_some_and(|(_, slot)| slot.in_place));
        // Each access is compared with others on its own.
        let apart = certain_arguments && self.objects.slot(array).is_some_and(|(_, slot)| !slot.whole);
        // In a run with certain arguments, what need not happen does not.
        if !certain && certain_arguments {
            if fills && !apart {
                self.program.uncertain.insert(array);
            } else {
                return Ok(());
            }
        }
        let index = match self.slot_index(&access.region, point, step.at) {
            Ok(index) => index,
            Err(_) if apart => return Ok(()),
            Err(refusal) => return Err(refusal),
        };
        let block = self.block_of(&access.region, point, step.at)?;
        if self.hands_out(array) {
            self.begin_turn(id, &block, (point, step.at));
        }
        let same = |pending: &&mut Pending| {
            !apart && pending.array == array && pending.index == index && pending.block == block
        };
        match self.pending.iter_mut().find(same) {
            Some(pending) => {
                if pending.fills != fills && !is_same_place(self.evaluator.kernel.cfg, pending.access, id) {
                    self.evaluator.kernel.merged.set(true);
                }
                pending.fills |= fills;
            }
            None => {
                let block = block.clone();
                self.pending.push(Pending { array, index, block, fills, access: id, point, at: step.at });
            }
        }
        if self.hands_out(array) && fills {
            self.publish(id, &block, (point, step.at));
        }
        Ok(())
    }

    /// Whether there is an access of a slot on the arms of a branch.
    pub(super) fn accesses_slots(&self, block: BlockId) -> bool {
        let accessed = self.kernel().on_arms(block).map_or(&[][..], |on| &on.accessed);
        accessed.iter().any(|array| self.objects.slot(*array).is_some())
    }

    /// Whether a step is an access of a slot.
    pub(super) fn is_access(&self, step: &GraphStep) -> bool {
        match step.kind {
            StepKind::Memory(MemoryStep::Access(id)) => {
                let array = array_of(&self.kernel().cfg.accesses[id.0].region);
                array.is_some_and(|array| self.objects.slot(array).is_some())
            }
            StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
            | StepKind::Value(_)
            | StepKind::Group(_)
            | StepKind::Token(_)
            | StepKind::BarrierCall(_)
            | StepKind::Copy(_)
            | StepKind::Call(_) => false,
        }
    }

    pub(super) fn slot_index(&self, region: &Region, point: Point, at: SpanRange) -> Result<Expr, Refusal> {
        let slot = array_of(region).and_then(|array| self.objects.slot(array));
        let (depth, columns) = slot.map_or((1, 1), |(_, slot)| (slot.depth, slot.columns));
        let tile = slot.and_then(|(_, slot)| slot.tile);
        let index = match (region.path.first(), tile) {
            _ if depth == 0 => Some(Expr::constant(0)),
            (Some(Select::At(row)), None) if depth == 2 => {
                let row = self.evaluator.decisive(*row, point).expr();
                let row = row.map(|row| row.apply(Operator::Mul, Expr::constant(i64::from(columns))));
                match region.path.get(1) {
                    Some(Select::At(column)) => {
                        let column = self.evaluator.decisive(*column, point).expr();
                        row.zip(column).map(|(row, column)| row.apply(Operator::Add, column))
                    }
                    _ => None,
                }
            }
            (Some(select), Some(tile)) => self.evaluator.part(*select, tile, point).expr(),
            (Some(Select::At(index)), None) => self.evaluator.decisive(*index, point).expr(),
            (Some(Select::Chunk { .. } | Select::Range { .. } | Select::Half { .. } | Select::Unknown) | None, _) => {
                None
            }
        };
        index.ok_or_else(|| Refusal::new(at, "the row is not a function of the round"))
    }

    /// Adds the accesses since the last step.
    pub(super) fn flush(&mut self) {
        for Pending { array, index, block, fills, point, at, .. } in std::mem::take(&mut self.pending) {
            // Who reads it has come to as many turns before.
            let data = if self.hands_out(array) { Data::Round { ahead: 0, kind: 0 } } else { Data::Fixed(0) };
            let Some((array, _)) = self.objects.slot(array) else { continue };
            let slot = Element { array, index };
            let (begin, end) = match fills {
                true => {
                    let begin = Op::BeginFill { slot: slot.clone(), block: block.clone(), data };
                    (begin, Op::EndFill { slot, block })
                }
                false => {
                    let begin = Op::BeginRead { slot: slot.clone(), block: block.clone(), data };
                    (begin, Op::EndRead { slot, block })
                }
            };
            self.push(point, at, begin);
            self.push(point, at, end);
        }
    }
}

/// Whether two accesses name one element, by the same names and numbers.
fn is_same_place(cfg: &Cfg<'_>, one: AccessId, other: AccessId) -> bool {
    let path = |access: AccessId| &cfg.accesses[access.0].region.path;
    let is_same = |one: NodeId, other: NodeId| {
        let (one, other) = (cfg.first_origin(one), cfg.first_origin(other));
        let number = |node: NodeId| cfg.nodes[node.0].source.integer();
        one == other || number(one).is_some_and(|known| number(other) == Some(known))
    };
    let is_pair =
        |pair: (&Select, &Select)| matches!(pair, (Select::At(one), Select::At(other)) if is_same(*one, *other));
    path(one).len() == path(other).len() && path(one).iter().zip(path(other)).all(is_pair)
}
