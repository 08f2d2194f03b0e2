//! Branches on data that copies bring to shared memory, in a launch in which all such data are large, or all are small: `if sum < 100 { .. }` goes one
//! way in all threads and rounds. The host decides about the data, so such a launch exists.
//!
//! Followed are elements of arrays that nothing but copies of memory fills which the kernel does not write, floats that threads load of such memory themselves,
//! sums of them from zero or a float on, their comparisons with small literals, votes of threads on these, and how many threads vote so.

use std::collections::BTreeSet;

use super::kernel::{Kernel, Point, WARP};
use super::value::{Evaluator, Value};
use super::walk::Walker;
use crate::check::cfg::{Computed, CopyStep, End, Extent, Granule, NodeId, Region, Root, Shared, Source, Variable};
use crate::check::thresholds::without_negation;
use crate::check::uniform::control::following_until;
use crate::model::expr::BinaryOp;

/// The largest literal that large data exceed, whatever their type.
const SMALL: u64 = 100;

/// The longest chain of operands that is followed.
const DEPTH: u32 = 8;

impl Walker<'_, '_, '_, '_> {
    /// Whether a condition holds because of what the data are in this launch.
    pub(super) fn by_data(&self, on: NodeId) -> Option<bool> {
        let large = self.evaluator.arguments?.large_data?;
        self.kernel().exceeds(on).map(|exceeds| exceeds == large)
    }
}

impl Evaluator<'_, '_, '_> {
    /// The number of threads whose vote holds because of what the data are in this launch: all, or none.
    pub(super) fn counted_votes(&self, node: NodeId) -> Value {
        let large = self.arguments.and_then(|arguments| arguments.large_data);
        match large.zip(self.kernel.counted(node)) {
            Some((large, (exceeds, all))) => Value::constant(if exceeds == large { i64::from(all) } else { 0 }),
            None => Value::Unknown,
        }
    }
}

impl Kernel<'_, '_> {
    /// Whether some branch depends on data alone, and no assertion on what threads load from shared memory.
    pub(super) fn branches_on_data(&self) -> bool {
        let is_shared = |root: Root| matches!(root, Root::Shared(_) | Root::Remote(_));
        let is_tested = || self.tested_parts().into_iter().any(|part| self.exceeds(part).is_some());
        let is_counted = || (0..self.cfg.nodes.len()).any(|node| self.counted(NodeId(node)).is_some());
        (is_tested() || is_counted()) && !self.asserts(is_shared)
    }

    /// If a number is that of the threads of a warp, or a part of one, whose vote holds: whether it does where the data are large, and how many
    /// threads there are.
    fn counted(&self, node: NodeId) -> Option<(bool, u32)> {
        let Some(Computed::Method { name: "count_ones", .. }) = self.cfg.computed.get(&node) else { return None };
        let votes = &self.cfg.nodes[self.cfg.first_origin(*self.cfg.nodes[node.0].operands.first()?).0];
        let (Source::Agreed { team, what: "ballot" }, [vote]) = (&votes.source, &votes.operands[..]) else {
            return None;
        };
        let Granule::Number(all) = team.tile?.size else { return None };
        Some((self.exceeds(*vote)?, u32::try_from(all).ok().filter(|all| *all <= WARP)?))
    }

    /// Whether some branch depends on floats that threads load themselves.
    pub(super) fn branches_on_loads(&self) -> bool {
        self.tested_parts().into_iter().any(|part| {
            let (condition, _) = without_negation(self.cfg, part);
            let operands = &self.cfg.nodes[condition.0].operands;
            self.exceeds(part).is_some() && operands.iter().any(|operand| self.is_loaded(*operand))
        })
    }

    /// The conditions of branches, with those that they join.
    fn tested_parts(&self) -> Vec<NodeId> {
        let ends = self.cfg.blocks.iter().map(|block| &block.end);
        let mut parts: Vec<NodeId> =
            ends.filter_map(|end| if let End::Branch { on, .. } = end { Some(*on) } else { None }).collect();
        let mut at = 0;
        while let Some(part) = parts.get(at).copied() {
            let (condition, _) = without_negation(self.cfg, part);
            let of = &self.cfg.nodes[condition.0];
            if matches!(of.source, Source::Binary(BinaryOp::And | BinaryOp::Or) | Source::Agreed { .. }) {
                parts
                    .extend(of.operands.iter().filter(|operand| !parts.contains(operand)).copied().collect::<Vec<_>>());
            }
            at += 1;
        }
        parts
    }

    /// Whether an assertion may depend on what threads load from such memory.
    fn asserts(&self, is_it: impl Fn(Root) -> bool) -> bool {
        let mut work: Vec<NodeId> =
            self.cfg.assertions.iter().flat_map(|assertion| &assertion.operands).copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of = &self.cfg.nodes[node.0];
            if matches!(of.source, Source::Load(root) if is_it(root)) {
                return true;
            }
            let read = of.source.read();
            work.extend(read.iter().flat_map(|variable| self.sets(*variable)).map(|(_, value, _)| *value));
            work.extend(&of.operands);
        }
        false
    }

    /// Whether a condition holds where the data are large (`true`), or where they are small, and not otherwise.
    fn exceeds(&self, on: NodeId) -> Option<bool> {
        let (condition, holds) = without_negation(self.cfg, on);
        let of = &self.cfg.nodes[condition.0];
        if self.cfg.cuts.contains_key(&condition) {
            return None;
        }
        // All threads have one answer.
        if let (Source::Agreed { what: "any" | "all", .. }, [vote]) = (&of.source, &of.operands[..]) {
            return self.exceeds(*vote).map(|exceeds| exceeds == holds);
        }
        let (Source::Binary(op) | Source::Round(_, op), [left, right]) = (&of.source, &of.operands[..]) else {
            return None;
        };
        let (op, data, limit) = match (op, self.limit(*right)) {
            (op, Some(limit)) => (*op, *left, limit),
            (BinaryOp::Lt, None) => (BinaryOp::Gt, *right, self.limit(*left)?),
            (BinaryOp::Le, None) => (BinaryOp::Ge, *right, self.limit(*left)?),
            (BinaryOp::Gt, None) => (BinaryOp::Lt, *right, self.limit(*left)?),
            (BinaryOp::Ge, None) => (BinaryOp::Le, *right, self.limit(*left)?),
            _ => return None,
        };
        // No number without a sign is less than 0.
        let exceeds = match (op, limit == Some(0)) {
            (BinaryOp::Gt, _) | (BinaryOp::Ge, false) | (BinaryOp::Ne, true) => true,
            (BinaryOp::Le, _) | (BinaryOp::Lt, false) | (BinaryOp::Eq, true) => false,
            _ => return None,
        };
        (self.is_data(data, DEPTH) || limit.is_none() && self.is_loaded(data)).then_some(exceeds == holds)
    }

    /// Whether a float is an element of memory that nothing writes. Integers are the numbers of the launch.
    fn is_loaded(&self, node: NodeId) -> bool {
        let is_read_only = |root: Root| root == Root::ReadOnly;
        let origin = self.cfg.first_origin(node);
        matches!(self.cfg.nodes[origin.0].source, Source::Load(root) if is_read_only(root))
            && !self.asserts(is_read_only)
    }

    /// A literal that large data exceed, and small ones do not: its number, or `None` for that of a float.
    fn limit(&self, node: NodeId) -> Option<Option<u64>> {
        match self.cfg.nodes[node.0].source.integer() {
            Some(number) => (number <= SMALL).then_some(Some(number)),
            None => self.is_float(node).then_some(None),
        }
    }

    /// Whether a node is a literal of a float: it has no operands, and is nothing else.
    fn is_float(&self, node: NodeId) -> bool {
        let of = &self.cfg.nodes[node.0];
        matches!(of.source, Source::Operands)
            && of.operands.is_empty()
            && !self.cfg.formulas.contains_key(&node)
            && !self.cfg.computed.contains_key(&node)
    }

    /// Whether a value is made of data, and large or small as they are.
    fn is_data(&self, node: NodeId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.cfg.cuts.contains_key(&node) || self.cfg.recast.contains_key(&node) {
            return false;
        }
        match (&self.cfg.nodes[node.0].source, &self.cfg.nodes[node.0].operands[..]) {
            (Source::Load(Root::Shared(Shared::Array(array))), _) => self.is_copied(*array),
            (Source::Read(variable), _) => {
                self.evaluated(node).is_some_and(|point| self.holds_data(*variable, point, depth))
            }
            _ => false,
        }
    }

    /// Whether a variable holds data at a point, or a sum of them.
    fn holds_data(&self, variable: Variable, (block, at): Point, depth: u32) -> bool {
        let sets = self.sets(variable);
        let adds = |value: NodeId| match (&self.cfg.nodes[value.0].source, &self.cfg.nodes[value.0].operands[..]) {
            (Source::Binary(BinaryOp::Add), [one, other]) => {
                let is_own = |node: &NodeId| self.cfg.nodes[node.0].source.read() == Some(variable);
                is_own(one) && self.is_data(*other, depth) || is_own(other) && self.is_data(*one, depth)
            }
            _ => self.is_data(value, depth),
        };
        let [(set, ..)] = sets.iter().filter(|(_, value, _)| adds(*value)).collect::<Vec<_>>()[..] else {
            return false;
        };
        // It is data there on all ways from where it begins.
        let begins = |(from, value, _): &(Point, NodeId, Extent)| {
            let is_start = matches!(self.cfg.nodes[value.0].source, Source::Integer(0)) || self.is_float(*value);
            is_start && from.0 != set.0 && from.0 != block && !following_until(self.cfg, from.0, set.0).contains(block)
        };
        sets.iter().all(|(.., extent)| *extent == Extent::Whole)
            && sets.iter().filter(|(point, ..)| point != set).all(begins)
            && (block != set.0 || set.1 < at)
    }

    /// Whether nothing writes to an array but copies out of memory that the kernel does not write.
    fn is_copied(&self, array: usize) -> bool {
        let cfg = self.cfg;
        let is_it = |root: Root| matches!(root, Root::Shared(Shared::Array(of)) | Root::Remote(Shared::Array(of)) if of == array);
        let is_any = |root: Root| matches!(root, Root::Shared(Shared::Any) | Root::Remote(Shared::Any));
        let copied = |region: &Option<Region>| region.as_ref().is_some_and(|region| is_it(region.root));
        let mut copies = cfg.copies.iter().filter_map(|copy| match copy {
            CopyStep::Begin { reads, writes, .. } if copied(writes) => {
                Some(reads.iter().all(|region| region.root == Root::ReadOnly))
            }
            CopyStep::Begin { .. } | CopyStep::Wait { .. } => None,
        });
        let mut written = cfg
            .accesses
            .iter()
            .filter(|access| access.kind.changes() && (is_it(access.region.root) || is_any(access.region.root)));
        copies.next() == Some(true)
            && copies.all(|is_read_only| is_read_only)
            && written
                .all(|access| access.completion.is_some() && access.region.root == Root::Shared(Shared::Array(array)))
    }
}
