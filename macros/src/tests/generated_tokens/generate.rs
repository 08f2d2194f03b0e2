//! Random kernels. The generator keeps a rough idea of what each variable holds, so that most of what it writes waits for
//! what arrived, and now and then does not: kernels without a fault and kernels with one are equally near. What it
//! believes decides nothing; `interpret` does.

use std::collections::BTreeMap;

use super::super::random::Random;
use super::tree::{Arm, Block, Group, Jump, Kernel, Label, Site, Stmt, Test, Value, Var};

/// Kernels of about this many statements.
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
    };
    let mut parameters = Vec::new();
    if generator.random.chance(20) {
        let group = generator.group();
        let optional = generator.random.chance(30);
        parameters.push((generator.site(group), generator.var(group, optional)));
    }
    let bound = parameters.iter().map(|(_, var)| *var).collect();
    Kernel { body: generator.block(0, bound), parameters }
}

/// What a variable seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    /// Moved out of, or not yet assigned.
    Gone,
    /// `None`
    Empty,
    Token,
    /// A token or `None`.
    Either,
}

type Fills = BTreeMap<Var, Fill>;

/// Where a jump can go.
#[derive(Clone, Copy)]
struct Target {
    label: Label,
    is_loop: bool,
    /// It gives a token of this group, so every `break` carries one.
    gives: Option<Group>,
}

struct Generator {
    random: Random,
    ids: usize,
    /// Variables in scope, innermost last. A shadowed one is not.
    visible: Vec<Vec<Var>>,
    fills: Fills,
    targets: Vec<Target>,
    left: usize,
    /// Writes what the checks are known to judge wrongly, too.
    gaps: bool,
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

    /// A new variable; its name may be that of another, which it then shadows.
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

    /// Visible variables, as far as `wanted`.
    fn vars(&self, wanted: impl Fn(Var, Fill) -> bool) -> Vec<Var> {
        let vars = self.visible.iter().flatten().copied();
        vars.filter(|var| wanted(*var, self.fills.get(var).copied().unwrap_or(Fill::Gone))).collect()
    }

    fn pending(&self) -> Vec<Var> {
        self.vars(|_, fill| matches!(fill, Fill::Token | Fill::Either))
    }

    fn group(&mut self) -> Group {
        if self.random.chance(60) { Group::Cluster } else { Group::Block }
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

    /// Waits for most of these that hold a token, the last first.
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

    /// Gets rid of what a variable holds, as a kernel should.
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
        let wait = self.wait(Value::Move(token), group);
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

    /// An arrival, and where its token goes.
    fn arrival(&mut self, group: Group, depth: usize) -> Stmt {
        let token = |this: &mut Self| this.var(group, false);
        let kinds = if depth < DEEPEST { 12 + usize::from(self.gaps) } else { 7 };
        match self.random.below(kinds) {
            0 | 1 => {
                let arrive = self.arrive(group);
                match self
                    .random
                    .pick(&self.vars(|var, fill| var.group == group && matches!(fill, Fill::Gone | Fill::Empty)))
                {
                    Some(var) => {
                        self.fills.insert(var, Fill::Token);
                        Stmt::Assign(var, if var.optional { Value::Some(Box::new(arrive)) } else { arrive })
                    }
                    None => {
                        let var = token(self);
                        self.bind(var, Fill::Token, arrive)
                    }
                }
            }
            2 => {
                let (value, var) = (Value::Some(Box::new(self.arrive(group))), self.var(group, true));
                self.bind(var, Fill::Token, value)
            }
            3 => {
                let value = self.arrive(group);
                self.wait(value, group)
            }
            4 => {
                let (site, var) = (self.site(group), token(self));
                self.bind(var, Fill::Token, Value::Start(site))
            }
            5 | 6 => {
                let (value, var) = (self.arrive(group), token(self));
                self.bind(var, Fill::Token, value)
            }
            7 => {
                let then = Arm { body: Block::new(), value: Some(Value::Some(Box::new(self.arrive(group)))) };
                let otherwise = Arm { body: self.block(DEEPEST, Vec::new()), value: Some(Value::None) };
                let var = self.var(group, true);
                let value =
                    if ends(&otherwise.body) { Value::None } else { Value::If(Box::new(then), Box::new(otherwise)) };
                self.bind(var, Fill::Either, value)
            }
            8 => {
                let before = self.fills.clone();
                let then = self.value_arm(group, depth);
                let fills = std::mem::replace(&mut self.fills, before);
                let otherwise = self.value_arm(group, depth);
                self.fills = join(&self.fills, &fills);
                let var = token(self);
                self.bind(var, Fill::Token, Value::If(Box::new(then), Box::new(otherwise)))
            }
            9 => {
                let (arm, var) = (self.value_arm(group, depth), token(self));
                self.bind(var, Fill::Token, Value::Block(Box::new(arm)))
            }
            kind @ (10 | 11) => {
                let target = Target { label: self.id(), is_loop: kind == 10, gives: Some(group) };
                let value = self.value_of_jumps(target, depth);
                let var = token(self);
                self.bind(var, Fill::Token, value)
            }
            _ => {
                let first = self.arrive(group);
                Stmt::FinishBoth(first, Value::Block(Box::new(self.value_arm(Group::Block, depth))))
            }
        }
    }

    /// A block that gives a token of the group.
    fn value_arm(&mut self, group: Group, depth: usize) -> Arm {
        let body = self.block(depth + 1, Vec::new());
        let value = (!ends(&body)).then(|| self.arrive(group));
        Arm { body, value }
    }

    /// `loop { ... break token; }` or `'label: { ... }`.
    fn value_of_jumps(&mut self, target: Target, depth: usize) -> Value {
        let group = target.gives.unwrap_or(Group::Cluster);
        self.targets.push(target);
        let mut body = self.block(depth + 1, Vec::new());
        let leave = Stmt::BreakWith(target.label, self.arrive(group));
        let at = self.random.below(body.len() + 1);
        body.insert(at, Stmt::If(Test::Opaque, vec![leave], None));
        self.targets.pop();
        match target.is_loop {
            true => Value::Loop(target.label, body),
            false => {
                let value = (!ends(&body)).then(|| self.arrive(group));
                Value::Labelled(target.label, Box::new(Arm { body, value }))
            }
        }
    }

    /// Moves a token from place to place, or makes a place for one.
    fn shuffle(&mut self) -> Block {
        let group = self.group();
        let Some(from) = self.random.pick(&self.pending()) else {
            let optional = self.random.chance(70);
            let var = self.var(group, optional);
            return vec![match var.optional {
                true => self.bind(var, Fill::Empty, Value::None),
                false => {
                    self.declare(var, Fill::Gone);
                    Stmt::Declare(var)
                }
            }];
        };
        let fill = self.fills.get(&from).copied().unwrap_or(Fill::Gone);
        let take = from.optional && self.random.chance(50);
        let value = if take { Value::Take(from) } else { Value::Move(from) };
        self.fills.insert(from, if take { Fill::Empty } else { Fill::Gone });
        let same =
            |var: Var, held: Fill| var.group == from.group && var != from && matches!(held, Fill::Gone | Fill::Empty);
        let free = self.vars(same);
        vec![match self.random.pick(&free).filter(|_| self.random.chance(50)) {
            Some(to) if to.optional == from.optional => {
                self.fills.insert(to, fill);
                Stmt::Assign(to, value)
            }
            Some(to) if to.optional => {
                self.fills.insert(to, fill);
                Stmt::Assign(to, Value::Some(Box::new(value)))
            }
            _ if !from.optional && self.random.chance(40) => {
                let var = self.var(from.group, true);
                self.bind(var, fill, Value::Some(Box::new(value)))
            }
            _ if !from.optional && self.random.chance(20) => {
                let (site, var) = (self.site(from.group), self.var(from.group, false));
                self.bind(var, fill, Value::Pass(site, from))
            }
            _ => {
                let var = self.var(from.group, from.optional);
                self.bind(var, fill, value)
            }
        }]
    }

    /// What a kernel should not do.
    fn careless(&mut self) -> Stmt {
        let group = self.group();
        let Some(var) = self.random.pick(&self.pending()).filter(|_| self.random.chance(85)) else {
            let value = self.arrive(group);
            return if self.random.chance(50) { Stmt::Unused(value) } else { Stmt::Discard(value) };
        };
        let take = var.optional && self.random.chance(60);
        let value = if take { Value::Take(var) } else { Value::Move(var) };
        self.fills.insert(var, if take { Fill::Empty } else { Fill::Gone });
        match self.random.below(8) {
            0 => Stmt::Unused(value),
            1 => Stmt::Discard(value),
            2 if var.optional => Stmt::Assign(var, Value::None),
            2 => Stmt::Assign(var, self.arrive(var.group)),
            3 => Stmt::FinishBoth(value, self.arrive(group)),
            4 if self.gaps && !var.optional => Stmt::Discard(Value::Some(Box::new(value))),
            5 if self.gaps && take => Stmt::If(Test::IsSome(value), Block::new(), None),
            6 if self.gaps && take => Stmt::If(Test::Some(value, None), vec![Stmt::Sync(self.site(group))], None),
            7 if take => Stmt::If(Test::Some(value, None), Block::new(), None),
            _ => Stmt::Unused(value),
        }
    }

    fn compound(&mut self, depth: usize) -> Block {
        let label = self.id();
        match self.random.below(10) {
            0 => {
                let body = self.block(depth + 1, Vec::new());
                vec![Stmt::Block(body)]
            }
            1 => {
                let target = Target { label, is_loop: false, gives: None };
                let (body, _) = self.target(target, depth);
                vec![Stmt::Labelled(label, body)]
            }
            2..=5 => vec![self.branch(depth)],
            kind => {
                let before = self.fills.clone();
                let (mut body, after) = self.target(Target { label, is_loop: true, gives: None }, depth);
                // What the body used up is there again for the next round.
                for (var, _) in before
                    .iter()
                    .filter(|(var, fill)| **fill == Fill::Token && !var.optional && after.get(var) == Some(&Fill::Gone))
                {
                    if !ends(&body) && self.random.chance(80) {
                        body.push(Stmt::Assign(*var, self.arrive(var.group)));
                        self.fills.insert(*var, Fill::Token);
                    }
                }
                self.fills = join(&before, &self.fills);
                vec![match kind {
                    6 => Stmt::For(label, body),
                    7 | 8 => Stmt::While(label, Test::Opaque, body),
                    _ => {
                        let leave = Stmt::If(Test::Opaque, vec![Stmt::Jump(Jump::Break(label))], None);
                        let at = if self.random.chance(50) { 0 } else { body.len() };
                        let at = if ends(&body) { 0 } else { at };
                        body.insert(at, leave);
                        Stmt::Loop(label, body)
                    }
                }]
            }
        }
    }

    fn target(&mut self, target: Target, depth: usize) -> (Block, Fills) {
        self.targets.push(target);
        let body = self.block(depth + 1, Vec::new());
        self.targets.pop();
        (body, self.fills.clone())
    }

    /// An `if`, after whose arms most variables are in one state.
    fn branch(&mut self, depth: usize) -> Stmt {
        let options = self.vars(|var, fill| var.optional && fill != Fill::Gone);
        let (test, bound) = match self.random.pick(&options).filter(|_| self.random.chance(35)) {
            Some(var) if self.random.chance(50) => (Test::IsSome(Value::Move(var)), None),
            Some(var) if self.random.chance(30) => (Test::IsNone(Value::Move(var)), None),
            Some(var) if self.random.chance(30) => (Test::None(Value::Move(var)), None),
            Some(var) if self.random.chance(20) => (Test::Some(Value::Move(var), None), None),
            Some(var) => {
                let token = self.var(var.group, false);
                self.fills.insert(var, Fill::Empty);
                (Test::Some(Value::Take(var), Some(token)), Some(token))
            }
            None => (Test::Opaque, None),
        };
        let before = self.fills.clone();
        let mut then = self.block(depth + 1, bound.into_iter().collect());
        let leaves = self.leave(&mut then);
        let after_then = std::mem::replace(&mut self.fills, before);
        let mut otherwise = if self.random.chance(45) { self.block(depth + 1, Vec::new()) } else { Block::new() };
        if !leaves && !ends(&otherwise) {
            // What the first arm used up, the second one waits for.
            let owed: Vec<Var> = self
                .pending()
                .into_iter()
                .filter(|var| matches!(after_then.get(var), Some(Fill::Gone | Fill::Empty)))
                .collect();
            otherwise.extend(self.settle_all(&owed));
            self.fills = join(&after_then, &self.fills);
        }
        Stmt::If(test, then, (!otherwise.is_empty()).then_some(otherwise))
    }

    /// Ends a block with a jump, sometimes.
    fn leave(&mut self, block: &mut Block) -> bool {
        if ends(block) {
            return true;
        }
        if !self.random.chance(25) {
            return false;
        }
        let target = self.random.pick(&self.targets.clone()).filter(|_| self.random.chance(75));
        if self.random.chance(85) {
            let pending = self.pending();
            let owed = self.settle_all(&pending);
            block.extend(owed);
        }
        block.push(match target {
            Some(Target { label, gives: Some(group), is_loop }) if !is_loop || self.random.chance(70) => {
                Stmt::BreakWith(label, self.arrive(group))
            }
            Some(Target { label, is_loop: true, .. }) if self.random.chance(50) => Stmt::Jump(Jump::Continue(label)),
            Some(Target { label, gives: None, .. }) => Stmt::Jump(Jump::Break(label)),
            _ => Stmt::Jump(Jump::Return),
        });
        true
    }
}

fn ends(block: &Block) -> bool {
    matches!(block.last(), Some(Stmt::Jump(_) | Stmt::BreakWith(..)))
}

fn join(left: &Fills, right: &Fills) -> Fills {
    let both = |var: &Var| match (left.get(var), right.get(var)) {
        (Some(left), Some(right)) if left == right => *left,
        (Some(Fill::Gone) | None, _) | (_, Some(Fill::Gone) | None) => Fill::Gone,
        _ => Fill::Either,
    };
    left.keys().map(|var| (*var, both(var))).collect()
}
