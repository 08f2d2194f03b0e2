//! Generates random kernels. The generator keeps a rough idea of what each variable holds, so that most of the code
//! waits for what arrived, and occasionally does not: kernels with and without a fault are equally near. Its belief
//! decides nothing; `interpret` does.

mod compound;
mod simple;

use std::collections::BTreeMap;

use super::super::random::Random;
use super::tree::{Arm, Block, Group, Kernel, Label, Site, Stmt, Test, Value, Var, ends};

/// The approximate number of statements of a kernel.
const BUDGET: usize = 14;
const DEEPEST: usize = 3;

pub(super) fn kernel(seed: u64, gaps: bool) -> Kernel {
    let mut generator = Generator {
        random: Random::new(seed),
        ids: 0,
        visible: Vec::new(),
        fills: BTreeMap::new(),
        targets: Vec::new(),
        left: BUDGET,
        gaps,
        forgets: true,
    };
    let mut parameters = Vec::new();
    if generator.random.chance(20) {
        generator.forgets = false;
        let group = generator.group();
        let optional = generator.random.chance(30);
        parameters.push((generator.site(group), generator.var(group, optional)));
    }
    let bound = parameters.iter().map(|(_, var)| *var).collect();
    Kernel { body: generator.block(0, bound), parameters }
}

/// The contents of a variable, as the generator believes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// The variable is moved out of, or not yet assigned.
    Gone,
    /// The variable holds `None`.
    Empty,
    Token,
    /// The variable holds a token or `None`.
    Either,
}

type Fills = BTreeMap<Var, Fill>;

/// The target of a jump.
#[derive(Clone, Copy)]
struct Target {
    label: Label,
    is_loop: bool,
    /// The group of the token that the target yields, so every `break` carries one.
    gives: Option<Group>,
}

struct Generator {
    random: Random,
    ids: usize,
    /// The variables in scope, innermost last, without shadowed ones.
    visible: Vec<Vec<Var>>,
    fills: Fills,
    targets: Vec<Target>,
    left: usize,
    /// Whether to write what the checks are known to judge wrongly, too.
    gaps: bool,
    /// Whether tokens may be forgotten: not in a device function.
    forgets: bool,
}

impl Generator {
    fn id(&mut self) -> usize {
        self.ids += 1;
        self.ids
    }

    fn site(&mut self, group: Group) -> Site {
        Site { id: self.id(), group }
    }

    fn arrive(&mut self, group: Group) -> Value {
        Value::Arrive(self.site(group))
    }

    /// Creates a variable; its name may be that of another, which it then shadows.
    fn var(&mut self, group: Group, optional: bool) -> Var {
        let id = self.id();
        let careless = self.random.chance(10);
        let spent = |fill| careless || matches!(fill, Fill::Gone | Fill::Empty);
        let shadowed = self.vars(|var, fill| var.optional == optional && spent(fill));
        match self.random.chance(15).then(|| self.random.pick(&shadowed)).flatten() {
            Some(old) => {
                self.visible.iter_mut().for_each(|scope| scope.retain(|var| *var != old));
                Var { id, name: old.name, group, optional }
            }
            None => Var { id, name: id, group, optional },
        }
    }

    fn declare(&mut self, var: Var, fill: Fill) {
        self.fills.insert(var, fill);
        self.visible.last_mut().expect("inside a block").push(var);
    }

    /// Returns the visible variables that are `wanted`.
    fn vars(&self, wanted: impl Fn(Var, Fill) -> bool) -> Vec<Var> {
        let vars = self.visible.iter().flatten().copied();
        vars.filter(|var| wanted(*var, self.fills.get(var).copied().unwrap_or(Fill::Gone))).collect()
    }

    fn pending(&self) -> Vec<Var> {
        self.vars(|_, fill| matches!(fill, Fill::Token | Fill::Either))
    }

    fn group(&mut self) -> Group {
        match self.random.below(10) {
            0..4 => Group::Block,
            4..9 => Group::Cluster,
            _ => Group::Grid,
        }
    }

    fn block(&mut self, depth: usize, bound: Vec<Var>) -> Block {
        self.visible.push(Vec::new());
        for var in bound {
            self.declare(var, if var.optional { Fill::Either } else { Fill::Token });
        }
        let mut block = Block::new();
        let wanted = 1 + self.random.below(if depth == 0 { 9 } else { 3 });
        while block.len() < wanted && self.left > 0 && !ends(&block) {
            self.left -= 1;
            let statements = self.statements(depth);
            block.extend(statements);
        }
        if !ends(&block) {
            let own = self.visible.last().cloned().unwrap_or_default();
            let settled = self.settle_all(&own);
            block.extend(settled);
        }
        self.visible.pop();
        block
    }

    /// Waits for most of the tokens that these variables hold, the last first.
    fn settle_all(&mut self, vars: &[Var]) -> Block {
        let mut block = Block::new();
        for var in vars.iter().rev() {
            if self.pending().contains(var) && self.random.chance(93) {
                block.push(self.settle(*var));
            }
        }
        block
    }

    fn wait(&mut self, value: Value, group: Group) -> Stmt {
        Stmt::Wait(self.site(group), value)
    }

    /// Disposes of what a variable holds, as a kernel should.
    fn settle(&mut self, var: Var) -> Stmt {
        let group = var.group;
        if !var.optional {
            self.fills.insert(var, Fill::Gone);
            return match self.random.below(10) {
                0 => Stmt::Finish(Value::Move(var)),
                1 => {
                    let site = self.site(group);
                    self.wait(Value::Pass(site, var), group)
                }
                2 => {
                    self.wait(Value::Block(Box::new(Arm { body: Block::new(), value: Some(Value::Move(var)) })), group)
                }
                3 if self.forgets => Stmt::Forget(self.site(group), Value::Move(var)),
                _ => self.wait(Value::Move(var), group),
            };
        }
        let take = self.random.chance(50);
        let value = if take { Value::Take(var) } else { Value::Move(var) };
        self.fills.insert(var, if take { Fill::Empty } else { Fill::Gone });
        match self.random.below(8) {
            0 => return Stmt::Finish(value),
            1 => {
                self.fills.insert(var, Fill::Empty);
                return Stmt::If(Test::IsSome(Value::Move(var)), vec![Stmt::Finish(Value::Take(var))], None);
            }
            _ => {}
        }
        let token = self.var(group, false);
        let wait = match self.forgets && self.random.chance(10) {
            true => Stmt::Forget(self.site(group), Value::Move(token)),
            false => self.wait(Value::Move(token), group),
        };
        match self.random.below(6) {
            0 => {
                let label = self.id();
                self.fills.insert(var, Fill::Empty);
                Stmt::While(label, Test::Some(Value::Take(var), Some(token)), vec![wait])
            }
            1 => Stmt::If(Test::Some(value, Some(token)), vec![wait], Some(vec![Stmt::Sync(self.site(group))])),
            _ => Stmt::If(Test::Some(value, Some(token)), vec![wait], None),
        }
    }

    fn statements(&mut self, depth: usize) -> Block {
        let pending = self.pending();
        let group = self.group();
        let busy = pending.iter().any(|var| var.group <= group);
        let has = !pending.is_empty();
        let compound = if depth < DEEPEST { 30 } else { 0 };
        let weights = [
            if has { 35 } else { 0 },
            if busy { 3 } else { 32 },
            if busy { 1 } else { 6 },
            if has { 14 } else { 3 },
            3,
            compound,
        ];
        match self.random.weighted(&weights) {
            0 => {
                let var = self.random.pick(&pending);
                var.map(|var| self.settle(var)).into_iter().collect()
            }
            1 => vec![self.arrival(group, depth)],
            2 => vec![Stmt::Sync(self.site(group))],
            3 => self.shuffle(),
            4 => vec![self.careless()],
            _ => self.compound(depth),
        }
    }

    fn bind(&mut self, var: Var, fill: Fill, value: Value) -> Stmt {
        self.declare(var, fill);
        Stmt::Let(var, value)
    }
}

fn join(left: &Fills, right: &Fills) -> Fills {
    let both = |var: &Var| match (left.get(var), right.get(var)) {
        (Some(left), Some(right)) if left == right => *left,
        (Some(Fill::Gone) | None, _) | (_, Some(Fill::Gone) | None) => Fill::Gone,
        _ => Fill::Either,
    };
    left.keys().map(|var| (*var, both(var))).collect()
}
