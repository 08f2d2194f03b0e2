//! Live variables: those that are read before they are set again. Analyses forget what they know of the others. A backward
//! analysis from each read to where the variable was set.

use std::collections::{BTreeMap, BTreeSet};

use super::cfg::{BlockId, Cfg, Extent, Source, StepKind, ValueStep, Variable};
use crate::model::LocalId;

/// What is live at the start of each block, by a backward analysis: `transfer` makes of what is live at a block's end what is
/// live at its start.
pub(super) fn solve<T: Ord + Clone>(
    cfg: &Cfg<'_>,
    mut transfer: impl FnMut(BlockId, &mut BTreeSet<T>),
) -> Vec<BTreeSet<T>> {
    let mut live: Vec<BTreeSet<T>> = cfg.blocks.iter().map(|_| BTreeSet::new()).collect();
    loop {
        let mut changed = false;
        for (number, block) in cfg.blocks.iter().enumerate().rev() {
            let mut here: BTreeSet<T> = block.end.successors().flat_map(|next| live[next.0].iter().cloned()).collect();
            transfer(BlockId(number), &mut here);
            changed |= here != live[number];
            live[number] = here;
        }
        if !changed {
            return live;
        }
    }
}

/// The live variables at the start of each block.
pub(crate) struct Live {
    variables: Variables,
    /// For each block, whether each variable is read after its start before it is set.
    read: Vec<Vec<bool>>,
}

impl Live {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Live {
        let variables = Variables::of(cfg);
        let mut live = Live { read: vec![vec![false; variables.count()]; cfg.blocks.len()], variables };
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); cfg.blocks.len()];
        let mut set = live.read.clone();
        let mut work = Vec::new();
        for (at, block) in cfg.blocks.iter().enumerate() {
            block.end.successors().for_each(|next| before[next.0].push(at));
            for step in &block.steps {
                if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind
                    && let Some(variable) = cfg.nodes[node.0].source.read()
                {
                    // A field that was not set by itself is read from the whole.
                    for variable in std::iter::once(variable).chain(variable.whole()) {
                        if !live.variables.is_in(&set[at], variable) {
                            work.push((at, variable));
                        }
                    }
                }
                if let Some((variable, _, Extent::Whole)) = step.kind.set() {
                    set[at][live.variables.number(variable)] = true;
                }
            }
        }
        while let Some((block, variable)) = work.pop() {
            if std::mem::replace(&mut live.read[block][live.variables.number(variable)], true) {
                continue;
            }
            for &earlier in &before[block] {
                if !live.variables.is_in(&set[earlier], variable) {
                    work.push((earlier, variable));
                }
            }
        }
        live
    }

    /// The variables of the function, with their numbers.
    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Whether a variable is live at the start of a block.
    pub(crate) fn contains(&self, at: BlockId, variable: Variable) -> bool {
        self.read[at.0][self.variables.number(variable)]
    }
}

/// The variables of a function that are read or set, numbered: locals, temporaries, fields.
pub(crate) struct Variables {
    locals: usize,
    temporaries: usize,
    fields: BTreeMap<(LocalId, u16), usize>,
}

impl Variables {
    fn of(cfg: &Cfg<'_>) -> Variables {
        let mut variables = Variables { locals: 0, temporaries: 0, fields: BTreeMap::new() };
        for step in cfg.blocks.iter().flat_map(|block| &block.steps) {
            if let Some((variable, ..)) = step.kind.set() {
                variables.add(variable);
            }
            if let StepKind::Value(ValueStep::Evaluate(node)) = step.kind
                && let Source::Read(variable) | Source::Counter { of: variable, .. } = cfg.nodes[node.0].source
            {
                variables.add(variable);
            }
        }
        variables
    }

    fn add(&mut self, variable: Variable) {
        match variable {
            Variable::Local(LocalId(local)) => self.locals = self.locals.max(local + 1),
            Variable::Temporary(number) => self.temporaries = self.temporaries.max(number + 1),
            Variable::Field(local, field) => {
                self.add(Variable::Local(local));
                let next = self.fields.len();
                self.fields.entry((local, field)).or_insert(next);
            }
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.locals + self.temporaries + self.fields.len()
    }

    pub(crate) fn number(&self, variable: Variable) -> usize {
        match variable {
            Variable::Local(LocalId(local)) => local,
            Variable::Temporary(number) => self.locals + number,
            Variable::Field(local, field) => self.locals + self.temporaries + self.fields[&(local, field)],
        }
    }

    /// Whether a variable is in a set, by itself or as a field of the whole.
    fn is_in(&self, set: &[bool], variable: Variable) -> bool {
        set[self.number(variable)] || variable.whole().is_some_and(|whole| set[self.number(whole)])
    }
}
