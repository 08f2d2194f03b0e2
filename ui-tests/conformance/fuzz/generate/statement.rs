//! Statements.

use super::code::Code;
use super::generator::{Generator, Target};
use super::scope::Lock;
use super::types::{BOOL, Type};

impl Generator {
    /// Returns statements, whose variables stay in scope.
    pub(super) fn statements(&mut self, count: usize, depth: usize) -> Vec<String> {
        (0..count).filter_map(|_| self.statement(depth)).collect()
    }

    fn statement(&mut self, depth: usize) -> Option<String> {
        if depth == 0 || !self.spend() {
            return match self.random.below(3) {
                0 => self.counter(),
                1 => self.assignment(0),
                _ => self.compound(0),
            };
        }
        match self.random.weighted(&[6, 8, 4, 3, 3, 3, 2, 2, 2, 2, 2, 1, 1, 2, 2, 1]) {
            0 => Some(self.declaration(depth)),
            1 => self.assignment(depth),
            2 => self.compound(depth),
            3 => self.swap(depth),
            4 => Some(self.branching(depth)),
            5 => self.counted(depth),
            6 => self.conditional_loop(depth),
            7 => self.for_each(depth - 1),
            8 => self.jump(depth),
            9 => self.changed_elements(depth),
            10 => self.reference(depth),
            11 => {
                let ty = Type::any(&mut self.random, 1);
                Some(format!("let _ = {};", self.value(&ty, depth, false).text))
            }
            12 => self.rearranged(depth),
            13 => Some(self.taken_apart(depth)),
            14 => Some(self.array_by_index(depth)),
            _ => Some(format!("{{ {} }}", self.scoped(|g| g.statements(2, depth - 1)).join(" "))),
        }
    }

    /// `next(&mut c);`
    fn counter(&mut self) -> Option<String> {
        Some(format!("{};", self.call(&Type::Scalar("i32"), 1)?.text))
    }

    /// A name of its own, or one that it shadows.
    fn named(&mut self) -> String {
        let known = self.scope.usable(false);
        match self.random.pick(&known) {
            Some(index) if self.random.chance(20) && self.scope.variables[index].name != "TABLE" => {
                self.scope.variables[index].name.clone()
            }
            _ => self.fresh(),
        }
    }

    fn declaration(&mut self, depth: usize) -> String {
        let ty = Type::any(&mut self.random, 2);
        let is_mutable = self.random.chance(60);
        let word = if is_mutable { "mut " } else { "" };
        if let (Type::Tuple(parts), true) = (&ty, self.random.chance(50)) {
            let init = self.value(&ty, depth, false);
            let names: Vec<String> = parts.iter().map(|_| self.fresh()).collect();
            for (name, part) in names.iter().zip(parts) {
                self.scope.declare(name, part, is_mutable);
            }
            let names: Vec<String> = names.iter().map(|name| format!("{word}{name}")).collect();
            return format!("let ({}) = {};", names.join(", "), init.text);
        }
        // The type of a literal that a later line fixes.
        if ty.is_integer() && self.random.chance(25) {
            let (name, value) = (self.fresh(), self.value(&ty, depth, false));
            self.scope.declare(&name, &ty, true);
            let op = ["=", "+=", "^="][self.random.below(3)];
            return format!("let mut {name} = 3; {name} {op} {};", value.text);
        }
        let is_annotated = self.random.chance(50);
        let init = self.value(&ty, depth, is_annotated);
        let name = self.named();
        let annotation = if is_annotated { format!(": {}", ty.name()) } else { String::new() };
        self.scope.declare(&name, &ty, is_mutable);
        format!("let {word}{name}{annotation} = {};", init.text)
    }

    fn assignment(&mut self, depth: usize) -> Option<String> {
        let writable = self.scope.usable(true);
        let index = self.random.pick(&writable)?;
        let ty = match self.scope.variables[index].ty.clone() {
            Type::Array(element, _) if self.random.chance(70) => *element,
            ty => ty,
        };
        let place = self.place(&ty, true, depth.min(2))?;
        let value = self.value(&ty, depth, true);
        Some(format!("{} = {};", place.text, value.text))
    }

    fn compound(&mut self, depth: usize) -> Option<String> {
        let numbers = self.scope.usable(true).into_iter().filter_map(|index| match &self.scope.variables[index].ty {
            ty if ty.is_integer() || ty.is_float() || *ty == BOOL => Some(ty.clone()),
            Type::Array(element, _) => Some((**element).clone()),
            _ => None,
        });
        let numbers: Vec<Type> = numbers.collect();
        if numbers.is_empty() {
            return None;
        }
        let ty = numbers[self.random.below(numbers.len())].clone();
        let place = self.place(&ty, true, depth.min(2))?;
        let ops: &[&str] = match &ty {
            Type::Scalar("bool") => &["&=", "|=", "^="],
            ty if ty.is_float() => &["+=", "-=", "*=", "/="],
            _ => &["+=", "-=", "*=", "&=", "|=", "^=", "<<=", ">>="],
        };
        let op = ops[self.random.below(ops.len())];
        let ty = if op.len() == 3 { Type::integer(&mut self.random) } else { ty };
        let value = self.value(&ty, depth, op.len() == 2);
        Some(format!("{} {op} {};", place.text, value.text))
    }

    fn swap(&mut self, depth: usize) -> Option<String> {
        let ty = Type::scalar(&mut self.random);
        self.borrowing(|g| {
            let first = g.place(&ty, true, depth.min(2))?;
            g.scope.lock(first.root, Lock::Exclusive);
            let second = g.place(&ty, true, depth.min(2))?;
            let [first, second] =
                [first, second].map(|place| place.reference.unwrap_or_else(|| format!("&mut {}", place.text)));
            Some(format!("std::mem::swap({first}, {second});"))
        })
    }

    fn branching(&mut self, depth: usize) -> String {
        self.scoped(|g| {
            let (condition, bound) = g.condition(depth - 1);
            let then = g.scoped(|g| g.statements(2, depth - 1)).join(" ");
            g.scope.variables.truncate(g.scope.variables.len() - bound);
            let otherwise = match g.random.chance(50) {
                true => format!(" else {{ {} }}", g.scoped(|g| g.statements(1, depth - 1)).join(" ")),
                false => String::new(),
            };
            format!("if {condition} {{ {then} }}{otherwise}")
        })
    }

    /// A `for` over a chain.
    fn counted(&mut self, depth: usize) -> Option<String> {
        let label = format!("'l{}", self.fresh());
        self.borrowing(|g| {
            g.scoped(|g| {
                let head = g.for_head(depth - 1)?;
                let body = g.loop_body(&label, depth);
                Some(format!("{label}: {head} {{ {body} }}"))
            })
        })
    }

    pub(super) fn loop_body(&mut self, label: &str, depth: usize) -> String {
        self.targets.push(Target { label: label.into(), is_loop: true, value: None });
        let body = self.scoped(|g| g.statements(2, depth - 1)).join(" ");
        self.targets.pop();
        body
    }

    fn conditional_loop(&mut self, depth: usize) -> Option<String> {
        if !self.may_jump {
            return None;
        }
        let (label, rounds) = (format!("'l{}", self.fresh()), self.fresh());
        // A jump in the condition would have no target.
        let targets = std::mem::take(&mut self.targets);
        let text = self.scoped(|g| {
            let test = g.value(&BOOL, depth - 1, true);
            g.targets = targets;
            let body = g.loop_body(&label, depth);
            let limit = 1 + g.random.below(4);
            format!(
                "let mut {rounds} = 0; {label}: while {} && {rounds} < {limit} {{ {rounds} += 1; {body} }}",
                test.operand()
            )
        });
        Some(format!("{{ {text} }}"))
    }

    /// A jump under a condition.
    fn jump(&mut self, depth: usize) -> Option<String> {
        if !self.may_jump {
            return None;
        }
        let test = self.value(&BOOL, depth - 1, true).text;
        // Out of a labelled block a jump needs a label.
        let innermost = self.targets.len().checked_sub(1).filter(|last| self.targets[*last].is_loop);
        let jump = match self.random.below(3) {
            0 => {
                let ty = self.returns.clone()?;
                format!("return {}", self.value(&ty, depth - 1, true).carried())
            }
            _ => {
                let index = self.random.below(self.targets.len().max(1));
                let target = self.targets.get(index)?.clone();
                let label = if Some(index) == innermost && self.random.chance(60) {
                    String::new()
                } else {
                    format!(" {}", target.label)
                };
                match target.value {
                    None if self.random.chance(40) => format!("continue{label}"),
                    None => format!("break{label}"),
                    Some(ty) => format!("break{label} {}", self.value(&ty, depth - 1, true).carried()),
                }
            }
        };
        Some(format!("if {test} {{ {jump}; }}"))
    }

    /// A name for a place, which is used by that name alone: `let r = &mut a[i]; *r = ...;`
    fn reference(&mut self, depth: usize) -> Option<String> {
        let (ty, is_mutable) = (Type::any(&mut self.random, 1), self.random.chance(70));
        self.borrowing(|g| {
            let place = g.place(&ty, is_mutable, depth.min(2))?;
            let (word, lock) = if is_mutable { ("&mut ", Lock::Exclusive) } else { ("&", Lock::Shared) };
            g.scope.lock(place.root, lock);
            Some(g.scoped(|g| {
                let name = g.fresh();
                g.scope.declare_reference(&name, &ty, is_mutable);
                let body = g.statements(3, depth - 1).join(" ");
                format!("{{ let {name} = {word}{}; {body} }}", place.text)
            }))
        })
    }

    /// `for x in a.iter_mut() { *x = ...; }`
    fn changed_elements(&mut self, depth: usize) -> Option<String> {
        let arrays: Vec<usize> = self
            .scope
            .usable(true)
            .into_iter()
            .filter(|index| matches!(self.scope.variables[*index].ty, Type::Array(..)))
            .collect();
        let index = self.random.pick(&arrays)?;
        let variable = self.scope.variables[index].clone();
        let Type::Array(element, _) = variable.ty else { return None };
        let label = format!("'l{}", self.fresh());
        self.scope.note(index, true);
        self.borrowing(|g| {
            g.scope.lock(index, Lock::Exclusive);
            g.scoped(|g| {
                let (name, counter) = (g.fresh(), g.fresh());
                let (pattern, source) = match g.random.below(3) {
                    0 => {
                        g.scope.declare(&counter, &Type::Scalar("usize"), false);
                        (format!("({counter}, {name})"), format!("{}.iter_mut().enumerate()", variable.name))
                    }
                    1 => (name.clone(), format!("{}.iter_mut().rev()", variable.name)),
                    _ => (name.clone(), format!("{}.iter_mut()", variable.name)),
                };
                g.scope.declare_reference(&name, &element, true);
                let value = g.value(&element, depth - 1, true);
                let body = g.loop_body(&label, depth);
                Some(format!("{label}: for {pattern} in {source} {{ *{name} = {}; {body} }}", Code::tail(&value)))
            })
        })
    }
}
