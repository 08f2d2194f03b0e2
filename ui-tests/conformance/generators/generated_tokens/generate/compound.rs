//! Generates blocks, branches and loops, with jumps out of them.

use super::super::tree::{Block, Jump, Stmt, Test, Value, Var, ends};
use super::{Fill, Fills, Generator, Target, join};

impl Generator {
    pub(super) fn compound(&mut self, depth: usize) -> Block {
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
                // What the body used up is provided again for the next iteration.
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

    /// Generates an `if` after whose arms most variables are in one state.
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
            // The second arm waits for what the first arm used up.
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
