//! Which threads of a block differ in nothing that is asked for, found without evaluating it for each of them: a thread's rank enters a value
//! by numbers that it alone decides, as `rank / 32` and `rank % 32 == 0`, and threads with the same such numbers have the same value.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::kernel::Kernel;
use super::value::{Value, binary};
use crate::check::cfg::{NodeId, Offset, Source, Variable};
use crate::model::expr::BinaryOp;

/// The longest chain of operands and names that a rank's number is followed through.
const DEPTH: u32 = 16;

/// The numbers of nodes that the rank alone decides.
pub(super) struct Ranks<'k, 'a, 'f> {
    kernel: &'k Kernel<'a, 'f>,
    /// By node, the number of each thread, if all have one.
    known: BTreeMap<NodeId, Option<Rc<[i64]>>>,
}

impl<'k, 'a, 'f> Ranks<'k, 'a, 'f> {
    pub(super) fn new(kernel: &'k Kernel<'a, 'f>) -> Self {
        Ranks { kernel, known: BTreeMap::new() }
    }

    /// Returns the group of each thread: the evaluator cannot tell the threads of one apart at these nodes, unless they are handed something.
    pub(super) fn groups(&mut self, asked: impl Iterator<Item = NodeId>) -> Box<[u32]> {
        let mut groups: Box<[u32]> = vec![0; self.kernel.threads as usize].into();
        for numbers in self.deciding(asked) {
            let mut known: BTreeMap<(u32, i64), u32> = BTreeMap::new();
            let mut before = None;
            for thread in 0..groups.len() {
                let key = (groups[thread], numbers[thread]);
                // Neighbours are often in one group.
                groups[thread] = match before {
                    Some((last, group)) if last == key => group,
                    Some(_) | None => {
                        let next = known.len() as u32;
                        *known.entry(key).or_insert(next)
                    }
                };
                before = Some((key, groups[thread]));
            }
        }
        groups
    }

    /// Returns the numbers by which ranks enter the values of nodes: the largest parts of them that the rank alone decides. What a value may
    /// depend on besides its operands are the branches that lead to an assignment, and the ends of the loop that counts a variable.
    fn deciding(&mut self, asked: impl Iterator<Item = NodeId>) -> Vec<Rc<[i64]>> {
        let kernel = self.kernel;
        let mut deciding = Vec::new();
        let (mut seen, mut read) = (BTreeSet::new(), BTreeSet::new());
        let mut work: Vec<NodeId> = asked.collect();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if let Some(numbers) = self.numbers(node, DEPTH) {
                deciding.extend(Some(numbers).filter(|numbers| numbers.iter().any(|number| *number != numbers[0])));
                continue;
            }
            let of = &kernel.cfg.nodes[node.0];
            work.extend(&of.operands);
            if let Source::Counter { range: Some((start, end)), .. } = of.source {
                work.extend([start, end]);
            }
            let (Source::Read(variable) | Source::Counter { of: variable, .. }) = of.source else { continue };
            for variable in [variable].into_iter().chain(variable.whole()) {
                if read.insert(variable) {
                    self.of_variable(variable, &mut work);
                }
            }
        }
        deciding
    }

    fn of_variable(&self, variable: Variable, work: &mut Vec<NodeId>) {
        let kernel = self.kernel;
        for ((block, _), value, _) in kernel.sets(variable) {
            work.push(*value);
            let guards = kernel.guards_of(*block).into_iter();
            work.extend(guards.filter_map(|(branch, _)| kernel.cfg.blocks[branch.0].end.condition()));
        }
        if let Some(counted) = kernel.loop_of(variable) {
            work.extend([counted.start, counted.end].into_iter().chain(counted.step));
        }
    }

    /// The number that a node is for each thread, if its rank alone decides it: then this is what the evaluator says, too.
    fn numbers(&mut self, node: NodeId, depth: u32) -> Option<Rc<[i64]>> {
        if let Some(known) = self.known.get(&node) {
            return known.clone();
        }
        let numbers = self.computed(node, depth.checked_sub(1)?);
        self.known.insert(node, numbers.clone());
        numbers
    }

    fn computed(&mut self, node: NodeId, depth: u32) -> Option<Rc<[i64]>> {
        let kernel = self.kernel;
        let cfg = kernel.cfg;
        let of = &cfg.nodes[node.0];
        let all = |number: i64| Some(vec![number; kernel.threads as usize].into());
        if let Some(position) = cfg.positions.get(&node)
            && position.offset == Offset::Zero
            && position.rank_in.is_none()
        {
            let number = |thread| i64::try_from(position.digit.of_rank(u64::from(thread))?).ok();
            return (0..kernel.threads).map(number).collect();
        }
        if cfg.queries.contains_key(&node) || cfg.axes.contains_key(&node) || cfg.cuts.contains_key(&node) {
            return None;
        }
        match of.source {
            Source::Integer(number) => all(i64::try_from(number).ok()?),
            Source::Constant(value) => all(kernel.constants.of(value)?),
            Source::ThreadRank => Some((0..i64::from(kernel.threads)).collect()),
            Source::Binary(op) | Source::Round(_, op) => {
                let (left, right) = (self.numbers(of.operands[0], depth)?, self.numbers(of.operands[1], depth)?);
                applied(op, &left, &right)
            }
            Source::Not if kernel.is_boolean(of.operands[0]) => {
                let holds = self.numbers(of.operands[0], depth)?;
                Some(holds.iter().map(|holds| 1 - holds).collect())
            }
            Source::Read(variable) => self.numbers(cfg.only_value(variable)?, depth),
            Source::Operands
            | Source::Not
            | Source::Counter { .. }
            | Source::Param(_)
            | Source::Known { .. }
            | Source::Load(_)
            | Source::Agreed { .. }
            | Source::Shuffled { .. }
            | Source::Call { .. } => None,
        }
    }
}

/// Applies an operator to the numbers of each thread. Those of neighbours are often the same.
fn applied(op: BinaryOp, left: &[i64], right: &[i64]) -> Option<Rc<[i64]>> {
    let mut all: Vec<i64> = Vec::with_capacity(left.len());
    for thread in 0..left.len() {
        let is_same = thread > 0 && left[thread] == left[thread - 1] && right[thread] == right[thread - 1];
        let number = match is_same {
            true => all[thread - 1],
            false => binary(op, Value::constant(left[thread]), Value::constant(right[thread])).known()?,
        };
        all.push(number);
    }
    Some(all.into())
}
