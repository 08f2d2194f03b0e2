//! Generates arrivals, moves of tokens between variables, and mistakes.

use super::super::tree::{Arm, Block, Group, Stmt, Test, Value, Var, ends};
use super::{DEEPEST, Fill, Generator, Target, join};

impl Generator {
    /// Generates an arrival and the destination of its token.
    pub(super) fn arrival(&mut self, group: Group, depth: usize) -> Stmt {
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

    /// Generates a block that yields a token of the group.
    fn value_arm(&mut self, group: Group, depth: usize) -> Arm {
        let body = self.block(depth + 1, Vec::new());
        let value = (!ends(&body)).then(|| self.arrive(group));
        Arm { body, value }
    }

    /// Generates `loop { ... break token; }` or `'label: { ... }`.
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

    /// Moves a token between variables, or declares a variable for one.
    pub(super) fn shuffle(&mut self) -> Block {
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

    /// Generates a mistake.
    pub(super) fn careless(&mut self) -> Stmt {
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
}
