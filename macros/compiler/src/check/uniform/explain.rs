//! Explains why a value is not uniform in a group: the chain from the tested condition back to where threads first differ, as
//! notes.

use std::cell::Cell;
use std::collections::BTreeSet;

use phalanx_contract::uniformity::Uniformity;

use super::level::Unknown;
use super::values::Values;
use crate::check::cfg::{BlockId, NodeId, Root, Source, Variable};
use crate::messages;
use crate::model::Function;
use crate::model::group::Group;
use crate::span::{SpanRange, is_written};

pub(super) type Notes = Vec<(SpanRange, String)>;

/// The largest number of notes in a message.
const LONGEST: usize = 6;

pub(super) struct Explain<'a, 'f> {
    function: &'f Function,
    values: &'a Values<'a, 'f>,
    needed: Uniformity,
    /// The read of shared memory that the last explanation ended with, and the group whose barrier is missing before it.
    unordered: Cell<Option<(SpanRange, Group)>>,
    /// The read of shared memory that the last explanation ended with, if a thread may write to it before others have read it.
    overwritten: Cell<Option<SpanRange>>,
}

impl<'a, 'f> Explain<'a, 'f> {
    pub(super) fn new(function: &'f Function, values: &'a Values<'a, 'f>, needed: Uniformity) -> Self {
        Explain { function, values, needed, unordered: Cell::new(None), overwritten: Cell::new(None) }
    }

    /// The read without a barrier that the last explanation ended with, and the group whose barrier before it would make the value
    /// uniform.
    pub(super) fn unordered_read(&self) -> Option<(SpanRange, Group)> {
        self.unordered.get()
    }

    /// The read that the last explanation ended with, if a barrier is missing after it.
    pub(super) fn overwritten_read(&self) -> Option<SpanRange> {
        self.overwritten.get()
    }

    /// The group whose barrier before a read of shared memory makes the value uniform in the group that needs it. The blocks of a
    /// cluster have memory of their own, which no barrier makes alike.
    fn ordered_by(&self, root: Root) -> Option<Group> {
        let by_peers = self
            .values
            .cfg
            .accesses
            .iter()
            .any(|access| access.kind.changes() && matches!(access.region.root, Root::Remote(_)));
        match root {
            Root::Shared(_) if !Uniformity::Block.covers(self.needed) => None,
            Root::Shared(_) if !by_peers => Some(Group::ThreadBlock),
            Root::Remote(_) if !Uniformity::Cluster.covers(self.needed) => None,
            Root::Shared(_) | Root::Remote(_) => Some(Group::Cluster),
            Root::ReadOnly | Root::Global => None,
        }
    }

    /// Explains why the branch at a block's end is divergent.
    pub(super) fn branch(&self, branch: BlockId) -> Notes {
        let mut notes = Notes::new();
        if let Some(on) = self.values.cfg.blocks[branch.0].end.condition() {
            notes.push((self.values.cfg.nodes[on.0].at, messages::depends_on_condition()));
            self.node(on, &mut notes, &mut BTreeSet::new());
        }
        notes.truncate(LONGEST);
        notes
    }

    /// Explains why a value is not uniform.
    pub(super) fn value(&self, node: NodeId) -> Notes {
        let mut notes = Notes::new();
        self.node(node, &mut notes, &mut BTreeSet::new());
        notes.truncate(LONGEST);
        notes
    }

    fn differs(&self, node: NodeId) -> bool {
        let level = self.values.level(node);
        let of_call = |unknown: &Unknown| !matches!(unknown, Unknown::Param(_));
        !level.at_most.covers(self.needed) || level.unknown.iter().any(of_call)
    }

    /// Whether threads that need one value may overwrite what others of them have yet to read.
    fn is_overwritten(&self, read: NodeId) -> bool {
        let of_warp = Uniformity::Warp.covers(self.needed);
        self.values.is_overwritten(read, of_warp)
    }

    fn node(&self, node: NodeId, notes: &mut Notes, seen: &mut BTreeSet<NodeId>) {
        if !seen.insert(node) || notes.len() > LONGEST {
            return;
        }
        let whole = &self.values.cfg.nodes[node.0];
        let operand = whole.operands.iter().copied().find(|operand| self.differs(*operand));
        match &whole.source {
            Source::Known { uniformity, what } if !uniformity.covers(self.needed) => {
                notes.push((whole.at, messages::differs(what, *uniformity, self.needed)));
            }
            Source::ThreadRank => {
                notes.push((whole.at, messages::differs("thread_rank", Uniformity::Rank, self.needed)))
            }
            Source::Load(Root::Global) => notes.push((whole.at, messages::others_may_write(self.needed))),
            Source::Load(Root::Shared(_)) if operand.is_none() && self.is_overwritten(node) => {
                self.overwritten.set(Some(whole.at));
                notes.push((whole.at, messages::overwritten_early(self.needed)));
            }
            Source::Load(root @ (Root::Shared(_) | Root::Remote(_))) if operand.is_none() => {
                self.unordered.set(self.ordered_by(*root).map(|group| (whole.at, group)));
                notes.push((whole.at, messages::read_before_barrier(self.needed)));
            }
            Source::Agreed { team, what } => {
                notes.push((whole.at, messages::differs(what, team.uniformity, self.needed)))
            }
            Source::Call { .. } => notes.push((whole.at, messages::result_may_differ())),
            Source::Read(variable) => self.variable(*variable, notes, seen),
            Source::Operands
            | Source::Integer(_)
            | Source::Constant(_)
            | Source::Binary(_)
            | Source::Not
            | Source::Counter { .. }
            | Source::Known { .. }
            | Source::Param(_)
            | Source::Round(..)
            | Source::Load(_)
            | Source::Shuffled { .. } => {
                if let Some(operand) = operand {
                    self.node(operand, notes, seen);
                }
            }
        }
    }

    /// Follows a variable to where it gets a divergent value, or to the divergent branch whose arms set it.
    fn variable(&self, variable: Variable, notes: &mut Notes, seen: &mut BTreeSet<NodeId>) {
        let name = match variable {
            Variable::Local(local) | Variable::Field(local, _) => {
                Some(&self.function.local(local).name).filter(|name| is_written(name)).map(ToString::to_string)
            }
            Variable::Temporary(_) => None,
        };
        let steps = self.values.cfg.blocks.iter().flat_map(|block| &block.steps);
        let set = |variable: Variable| {
            let set = steps.clone().filter_map(move |step| {
                let (other, value, _) = step.kind.set()?;
                (other == variable && self.differs(value)).then_some((step.at, value))
            });
            set.min_by_key(|(at, _)| (at.line(), at.column()))
        };
        let whole = |variable: Variable| match variable {
            Variable::Field(local, _) => set(Variable::Local(local)),
            Variable::Local(_) | Variable::Temporary(_) => None,
        };
        if let Some((at, value)) = set(variable).or_else(|| whole(variable)) {
            if let Some(name) = name {
                notes.push((at, messages::gets_its_value(&name)));
            }
            return self.node(value, notes, seen);
        }
        let assigned = self.values.control.assigned.iter();
        let branch = assigned
            .filter(|(_, variables)| variables.contains(&variable))
            .filter_map(|(branch, _)| self.values.cfg.blocks[branch.0].end.condition())
            .find(|on| self.differs(*on));
        if let Some(on) = branch {
            notes.push((self.values.cfg.nodes[on.0].at, messages::set_under_condition(name.as_deref())));
            self.node(on, notes, seen);
        }
    }
}
