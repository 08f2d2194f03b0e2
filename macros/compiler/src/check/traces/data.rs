//! Branches on data: those that a thread may enter or not, whatever its rank is, because the host passes what decides.
//!
//! ```text
//! if keys[low] > keys[high] { .. }        // where all elements of `keys` come from an argument
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::Check;
use crate::check::bit_set::BlockSet;
use crate::check::cfg::{
    Access, AccessId, AccessKind, BlockId, Cfg, Extent, GroupStep, MemoryStep, NodeId, Root, Shared, Source, Step,
    StepKind, ValueStep, Variable,
};
use crate::check::uniform::control::Control;
use crate::model::Function;
use crate::model::expr::BinaryOp;
use crate::model::ty::{ParamType, TypeShape};

/// The integers that are followed as data, with their numbers of bits.
const INTEGERS: [(&str, u32); 8] =
    [("u8", 8), ("u16", 16), ("u32", 32), ("u64", 64), ("usize", 64), ("i32", 32), ("i64", 64), ("isize", 64)];

/// The longest chain of operands that is followed.
const DEPTH: u32 = 12;

/// What a variable counts for that is set several times.
const SETS: u32 = 4;

/// What the host decides.
pub(super) struct Data {
    /// The shared memory that has only elements that the host passes.
    given: BTreeSet<Shared>,
    /// The shared memory that has only elements that are computed from such, too.
    derived: BTreeSet<Shared>,
    /// The loads of global memory before which the kernel writes none.
    fresh: BTreeSet<NodeId>,
    /// The values that each variable gets.
    sets: BTreeMap<Variable, Vec<NodeId>>,
}

/// The memory and the index of an element that the host passes.
type Loaded = (Root, NodeId);

impl Data {
    pub(super) fn of(cfg: &Cfg<'_>, control: &Control) -> Data {
        let mut data = Data {
            given: BTreeSet::new(),
            derived: BTreeSet::new(),
            fresh: fresh(cfg, control),
            sets: cfg.values_of_variables(),
        };
        let written = cfg.accesses.iter().filter(|access| access.kind != AccessKind::Read);
        let written: Vec<_> = written.filter_map(|access| Some((access.region.root.party()?.1, access))).collect();
        data.given = written.iter().map(|(shared, _)| *shared).collect();
        data.derived.clone_from(&data.given);
        // Less is known to be given the more is known not to be.
        loop {
            let without = |all: &BTreeSet<Shared>, is: &dyn Fn(NodeId) -> bool| {
                let is_one = |access: &Access| match (access.completion, access.stored) {
                    (Some(_), _) => true,
                    (None, stored) => stored.is_some_and(is),
                };
                let others = written.iter().filter(|(_, access)| !is_one(access)).map(|(shared, _)| *shared);
                let others: BTreeSet<Shared> = others.collect();
                all.difference(&others).copied().collect::<BTreeSet<Shared>>()
            };
            let given = without(&data.given, &|stored| data.loaded(cfg, stored, DEPTH).is_some());
            let derived = without(&data.derived, &|stored| data.compared(cfg, stored, DEPTH).is_some());
            let before = (data.given.len(), data.derived.len());
            (data.given, data.derived) = (given, derived);
            if (data.given.len(), data.derived.len()) == before {
                return data;
            }
        }
    }

    /// The loads of integers that the host passes, with their numbers of bits.
    pub(super) fn integers(&self, function: &Function, cfg: &Cfg<'_>) -> BTreeMap<NodeId, u32> {
        let scalar = |load: NodeId| {
            if let Source::Load(Root::Shared(Shared::Array(array))) = cfg.nodes[load.0].source {
                return Some(function.shared[array].0.to_string());
            }
            let ParamType::Slice { element, .. } = &function.params[parameter(cfg, load)?].ty else { return None };
            if let TypeShape::Scalar(name, _) = element.shape { Some(name.to_string()) } else { None }
        };
        let loads = (0..cfg.nodes.len()).map(NodeId).filter(|node| matches!(cfg.nodes[node.0].source, Source::Load(_)));
        let loads = loads.filter(|load| self.loaded(cfg, *load, DEPTH).is_some());
        let bits = |name: String| INTEGERS.iter().find(|(known, _)| *known == name).map(|(_, bits)| *bits);
        loads.filter_map(|load| Some((load, bits(scalar(load)?)?))).collect()
    }

    /// The element that a value is computed from, and nothing else, in a way that leaves it any value.
    fn loaded(&self, cfg: &Cfg<'_>, node: NodeId, depth: u32) -> Option<Loaded> {
        let depth = depth.checked_sub(1)?;
        let of = &cfg.nodes[node.0];
        match (&of.source, &of.operands[..]) {
            (Source::Load(root @ Root::ReadOnly), [index, ..]) => Some((*root, *index)),
            (Source::Load(root @ Root::Global), [index, ..]) if self.fresh.contains(&node) => Some((*root, *index)),
            (Source::Load(root @ Root::Shared(shared)), [index, ..]) if self.given.contains(shared) => {
                Some((*root, *index))
            }
            (Source::Read(variable), _) => self.loaded(cfg, cfg.only_value(*variable)?, depth),
            // A cast, or the absolute value.
            (Source::Operands, [inner]) if is_other(cfg, node) => self.loaded(cfg, *inner, depth),
            _ => None,
        }
    }

    /// The element that a value is computed from with numbers that the thread knows, so that it may be more or less than any.
    fn compared(&self, cfg: &Cfg<'_>, node: NodeId, depth: u32) -> Option<Loaded> {
        let depth = depth.checked_sub(1)?;
        let of = &cfg.nodes[node.0];
        match (&of.source, &of.operands[..]) {
            (Source::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div), [a, b]) => {
                let [one, other] = [a, b].map(|side| self.compared(cfg, *side, depth));
                match (one, other) {
                    (Some(loaded), Some(_)) => Some(loaded),
                    (Some(loaded), None) if self.is_fixed(cfg, *b) => Some(loaded),
                    (None, Some(loaded)) if self.is_fixed(cfg, *a) => Some(loaded),
                    (None, Some(_)) | (Some(_) | None, None) => None,
                }
            }
            (Source::Load(root @ Root::Shared(shared)), [index, ..]) if self.derived.contains(shared) => {
                Some((*root, *index))
            }
            (Source::Read(variable), _) => match cfg.only_value(*variable) {
                Some(value) => self.compared(cfg, value, depth),
                None => self.compared_where_set(cfg, *variable, depth.checked_sub(SETS)?),
            },
            _ => self.loaded(cfg, node, DEPTH),
        }
    }

    /// Returns the element that a variable is compared by: each value that the variable is set to is one that [`Self::compared`] finds, or a
    /// number that the thread knows.
    fn compared_where_set(&self, cfg: &Cfg<'_>, variable: Variable, depth: u32) -> Option<Loaded> {
        let mut found = None;
        for value in self.sets.get(&variable)? {
            match self.compared(cfg, *value, depth) {
                Some(loaded) => found = Some(loaded),
                None if self.is_fixed(cfg, *value) => {}
                None => return None,
            }
        }
        found
    }

    /// Whether a value is computed from literals, arguments, counters of loops and the thread's place, and from no memory.
    fn is_fixed(&self, cfg: &Cfg<'_>, node: NodeId) -> bool {
        let (mut work, mut seen) = (vec![node], BTreeSet::new());
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let of = &cfg.nodes[node.0];
            work.extend(&of.operands);
            match &of.source {
                Source::Read(variable) => match self.sets.get(variable) {
                    Some(sets) => work.extend(sets),
                    None => return false,
                },
                Source::Known { .. } if !cfg.queries.contains_key(&node) && !cfg.positions.contains_key(&node) => {
                    return false;
                }
                Source::Load(_) | Source::Agreed { .. } | Source::Shuffled { .. } | Source::Call { .. } => {
                    return false;
                }
                Source::Operands
                | Source::Integer(_)
                | Source::Constant(_)
                | Source::Binary(_)
                | Source::Not
                | Source::Counter { .. }
                | Source::Param(_)
                | Source::Known { .. }
                | Source::ThreadRank
                | Source::Round(..) => {}
            }
        }
        true
    }
}

/// Whether a value is no known function of its operands.
fn is_other(cfg: &Cfg<'_>, node: NodeId) -> bool {
    !cfg.formulas.contains_key(&node) && !cfg.computed.contains_key(&node)
}

/// Whether a step is a part of a barrier of the block or a larger group.
fn is_of_block(step: &GroupStep) -> bool {
    match step {
        GroupStep::Collective { team, barrier, .. } => *barrier && !team.group.is_of_a_warp(),
        GroupStep::Arrive { .. }
        | GroupStep::Wait { .. }
        | GroupStep::ArriveForgotten { .. }
        | GroupStep::WaitElected { .. } => true,
        GroupStep::Convergent { .. } | GroupStep::Aligned { .. } | GroupStep::FormGroup(_) => false,
    }
}

/// The parameter that an element is one of.
fn parameter(cfg: &Cfg<'_>, load: NodeId) -> Option<usize> {
    let mut of = load;
    for _ in 0..DEPTH {
        of = cfg.origin(*cfg.nodes[of.0].operands.first()?);
        if let Source::Param(position) = cfg.nodes[of.0].source {
            return Some(position);
        }
    }
    None
}

/// The loads of global memory that no write to any comes before in the kernel: they find what the host has passed.
fn fresh(cfg: &Cfg<'_>, control: &Control) -> BTreeSet<NodeId> {
    let writes = |step: &Step| match step.kind {
        StepKind::Memory(MemoryStep::Access(AccessId(id))) => {
            let access = &cfg.accesses[id];
            access.region.root == Root::Global && access.kind != AccessKind::Read
        }
        StepKind::Call(call) => !cfg.calls[call.0].is_of_values(),
        StepKind::Copy(_) => true,
        StepKind::Value(_)
        | StepKind::Memory(MemoryStep::Fence | MemoryStep::WaitPrevious)
        | StepKind::Group(_)
        | StepKind::BarrierCall(_)
        | StepKind::Token(_) => false,
    };
    let writing = (0..cfg.blocks.len()).map(BlockId).filter(|block| cfg.blocks[block.0].steps.iter().any(writes));
    let mut after = BlockSet::none(cfg.blocks.len());
    for block in writing {
        after.insert_all(control.following(block));
    }
    let mut fresh = BTreeSet::new();
    for (number, block) in cfg.blocks.iter().enumerate() {
        if after.contains(BlockId(number)) {
            continue;
        }
        for step in block.steps.iter().take_while(|step| !writes(step)) {
            if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind
                && matches!(cfg.nodes[node.0].source, Source::Load(Root::Global))
            {
                fresh.insert(node);
            }
        }
    }
    fresh
}

impl Check<'_, '_> {
    /// Whether the host decides whether a thread enters the arms of a branch, for each thread on its own.
    pub(super) fn is_on_data(&self, data: &Data, branch: BlockId) -> bool {
        let asserts = |node: &NodeId| data.loaded(self.cfg, *node, DEPTH).is_some();
        let is_asserted = self.cfg.assertions.iter().flat_map(|assertion| &assertion.operands).any(asserts);
        let condition = self.cfg.blocks[branch.0].end.condition();
        // Of an arm with a barrier, all threads take the same one.
        let has_barrier = |block: BlockId| {
            let mut steps = self.cfg.blocks[block.0].steps.iter();
            steps.any(|step| matches!(&step.kind, StepKind::Group(step) if is_of_block(step)))
        };
        let is_for_one = |arms: &BlockSet| !arms.contains(branch) && !arms.iter().any(has_barrier);
        !is_asserted
            && self.runs.arms(branch).is_some_and(is_for_one)
            && condition.is_some_and(|condition| self.is_open(data, condition, branch, DEPTH))
    }

    /// Whether a truth value may be either, by what the host passes.
    fn is_open(&self, data: &Data, node: NodeId, at: BlockId, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let of = &self.cfg.nodes[node.0];
        let is_open = |node: &NodeId| self.is_open(data, *node, at, depth);
        match (&of.source, &of.operands[..]) {
            (Source::Not, [operand]) => is_open(operand),
            (Source::Read(variable), _) => match self.cfg.only_value(*variable) {
                Some(value) => is_open(&value),
                None => self.is_open_where_set(data, *variable, at, depth),
            },
            // What the thread knows of itself comes first, and decides where it is not true, or not false.
            (Source::Binary(BinaryOp::And | BinaryOp::Or), [first, second]) => {
                (data.is_fixed(self.cfg, *first) || is_open(first)) && is_open(second)
            }
            (Source::Binary(op) | Source::Round(_, op), [a, b]) => {
                let is_equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
                let loaded = [a, b].map(|side| match is_equality {
                    true => data.loaded(self.cfg, *side, DEPTH),
                    false => data.compared(self.cfg, *side, DEPTH),
                });
                let is_compared = matches!(
                    op,
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
                );
                let is_fixed = |node: &NodeId| data.is_fixed(self.cfg, *node);
                match loaded {
                    // Two elements of one memory.
                    [Some((one, first)), Some((two, second))] => is_compared && one == two && first != second,
                    [Some(_), None] => is_compared && is_fixed(b),
                    [None, Some(_)] => is_compared && is_fixed(a),
                    [None, None] => is_equality && (is_open(a) && is_fixed(b) || is_open(b) && is_fixed(a)),
                }
            }
            _ => false,
        }
    }

    /// Whether a variable may be either at a block, where one of the arms that set it sets it to a truth value that may be; the thread knows
    /// which arm it takes.
    fn is_open_where_set(&self, data: &Data, variable: Variable, at: BlockId, depth: u32) -> bool {
        let control = self.values.control;
        let of_all: BTreeSet<BlockId> = control.deciders(at).collect();
        let mut is_any_open = false;
        for (number, block) in self.cfg.blocks.iter().enumerate() {
            let sets = block.steps.iter().filter_map(|step| step.kind.set());
            for (_, value, extent) in sets.filter(|(set, ..)| *set == variable) {
                let mut deciders = control.deciders(BlockId(number)).filter(|branch| !of_all.contains(branch));
                let conditions = |branch: BlockId| self.cfg.blocks[branch.0].end.condition();
                let is_known = deciders.all(|branch| conditions(branch).is_some_and(|on| data.is_fixed(self.cfg, on)));
                let is_open = self.is_open(data, value, BlockId(number), depth);
                if extent != Extent::Whole || !is_known || !is_open && !data.is_fixed(self.cfg, value) {
                    return false;
                }
                is_any_open |= is_open;
            }
        }
        is_any_open
    }
}
