//! Expressions of any type: leaves, and what all types have (blocks, branches, loops, calls, exchanges). The operations of
//! numbers are in `number`, of options in `option`, of iterators in `chain`.

use super::code::Code;
use super::generator::{Generator, Target};
use super::scope::Lock;
use super::types::{self, BOOL, Type};

impl Generator {
    /// Returns an expression. `known` is whether its place fixes its type, so that a literal needs no suffix.
    pub(super) fn value(&mut self, ty: &Type, depth: usize, known: bool) -> Code {
        if depth == 0 || !self.spend() {
            return self.leaf(ty, known);
        }
        let code = match self.random.weighted(&[2, 12, 2, 2, 1, 1, 3, 3, 2, 1, 1]) {
            0 => None,
            1 => self.own(ty, depth, known),
            2 => Some(self.block(ty, depth, known)),
            3 => Some(self.branch(ty, depth, known)),
            4 if self.may_jump => Some(self.labelled(ty, depth, known)),
            5 if self.may_jump => Some(self.endless(ty, depth)),
            4 | 5 => self.call(ty, depth),
            6 => self.call(ty, depth),
            7 => self.exchanged(ty, depth),
            8 => self.out_of_option(ty, depth),
            9 => self.matched(ty, depth, known),
            _ => Some(self.through_closure(ty, depth)),
        };
        code.unwrap_or_else(|| self.leaf(ty, known))
    }

    /// An operation that yields this type.
    fn own(&mut self, ty: &Type, depth: usize, known: bool) -> Option<Code> {
        match ty {
            Type::Scalar("bool") if self.random.chance(20) => Some(self.truth_by_method(depth)),
            Type::Scalar("bool") => Some(self.truth(depth)),
            Type::Scalar(name) if ty.is_integer() && self.random.chance(15) => Some(self.by_method(name, depth)),
            Type::Scalar(name) if ty.is_integer() => self.integer(name, depth),
            Type::Scalar(name) => Some(self.float(name, depth)),
            Type::Option(inner) if self.random.chance(20) => Some(self.joined(inner, depth)),
            Type::Option(inner) => self.option(inner, depth, known),
            Type::Array(element, length) if self.random.chance(30) => self.mapped(element, *length, depth),
            Type::Tuple(_) | Type::Array(..) | Type::Pair => Some(self.aggregate(ty, depth, known)),
        }
    }

    fn leaf(&mut self, ty: &Type, known: bool) -> Code {
        if self.random.chance(70)
            && let Some(place) = self.place(ty, false, 0)
        {
            return if place.reference.is_some() { Code::unary(place.text) } else { Code::atom(place.text) };
        }
        if let Type::Scalar(name) = ty
            && *name != "bool"
            && self.random.chance(60)
        {
            let from = Type::scalar(&mut self.random);
            if let Some(place) = self.place(&from, false, 0)
                && !(ty.is_float() && from == BOOL)
            {
                return Code::cast(Code::unary(place.text), name);
            }
        }
        if *ty == BOOL && self.random.chance(80) {
            let of = Type::integer(&mut self.random);
            if let Some(place) = self.place(&of, false, 0) {
                return Code::binary(Code::unary(place.text), ["<", ">", "=="][self.random.below(3)], Code::atom("3"));
            }
        }
        match ty {
            Type::Scalar(name) => {
                let (digits, may_have_suffix) = types::constant(name, &mut self.random);
                let suffix = if may_have_suffix && !(known && self.random.chance(70)) { name } else { "" };
                let text = format!("{digits}{suffix}");
                if text.starts_with('-') { Code::unary(text) } else { Code::atom(text) }
            }
            Type::Option(_) if known && self.random.chance(30) => Code::atom("None"),
            Type::Option(inner) => Code::atom(format!("Some({})", self.leaf(inner, known).text)),
            Type::Tuple(_) | Type::Array(..) | Type::Pair => self.aggregate(ty, 0, known),
        }
    }

    fn aggregate(&mut self, ty: &Type, depth: usize, known: bool) -> Code {
        let depth = depth.saturating_sub(1);
        match ty {
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.value(part, depth, known).text).collect();
                Code::atom(format!("({})", parts.join(", ")))
            }
            Type::Array(element, length) if self.random.chance(25) => {
                Code::atom(format!("[{}; {length}]", self.value(element, depth, known).text))
            }
            Type::Array(element, length) => {
                let elements: Vec<String> = (0..*length).map(|_| self.value(element, depth, known).text).collect();
                Code::atom(format!("[{}]", elements.join(", ")))
            }
            _ => {
                let scalar = self.pair_scalar();
                let array = Type::Array(Box::new(scalar.clone()), 2);
                let mut fields = [("x", &scalar), ("y", &scalar), ("z", &array)];
                if self.random.chance(40) {
                    fields.rotate_left(1);
                }
                let fields = fields.map(|(name, ty)| format!("{name}: {}", self.value(ty, depth, true).text));
                Code::atom(format!("(Pair {{ {} }})", fields.join(", ")))
            }
        }
    }

    fn branch(&mut self, ty: &Type, depth: usize, known: bool) -> Code {
        self.scoped(|g| {
            let (condition, bound) = g.condition(depth - 1);
            let then = g.block(ty, depth - 1, known);
            g.scope.variables.truncate(g.scope.variables.len() - bound);
            let otherwise = match g.random.chance(20) && depth > 1 {
                true => g.branch(ty, depth - 1, known),
                false => g.block(ty, depth - 1, known),
            };
            Code::block(format!("if {condition} {} else {}", then.text, otherwise.text))
        })
    }

    /// Returns a condition, and how many variables it binds, which are in scope.
    pub(super) fn condition(&mut self, depth: usize) -> (String, usize) {
        if !self.random.chance(20) {
            return (self.value(&BOOL, depth, true).text, 0);
        }
        let inner = Type::any(&mut self.random, 1);
        let option = self.value(&Type::Option(Box::new(inner.clone())), depth, false);
        let name = self.fresh();
        self.scope.declare(&name, &inner, false);
        let mut text = format!("let Some({name}) = {}", option.operand());
        if self.random.chance(30) {
            let test = self.value(&BOOL, depth.saturating_sub(1), true);
            text += &format!(" && {}", test.operand());
        }
        (text, 1)
    }

    /// `'l: { ... break 'l value; ... value }`
    fn labelled(&mut self, ty: &Type, depth: usize, known: bool) -> Code {
        let label = format!("'l{}", self.fresh());
        self.targets.push(Target { label: label.clone(), is_loop: false, value: Some(ty.clone()) });
        let code = self.scoped(|g| {
            let mut parts = g.statements(1, depth - 1);
            let (test, early) = (g.value(&BOOL, depth - 1, true), g.value(ty, depth - 1, known));
            parts.push(format!("if {} {{ break {label} {}; }}", test.text, early.carried()));
            parts.push(g.value(ty, depth - 1, known).tail());
            Code::block(format!("{label}: {{ {} }}", parts.join(" ")))
        });
        self.targets.pop();
        code
    }

    /// `loop { ...; if c { break value; } }`, which ends after a few rounds.
    fn endless(&mut self, ty: &Type, depth: usize) -> Code {
        let (label, rounds) = (format!("'l{}", self.fresh()), self.fresh());
        let last = self.value(ty, depth - 1, false).operand();
        self.targets.push(Target { label: label.clone(), is_loop: true, value: Some(ty.clone()) });
        let body = self.scoped(|g| {
            let mut parts = g.statements(1, depth - 1);
            let (test, early) = (g.value(&BOOL, depth - 1, true), g.value(ty, depth - 1, false));
            parts.push(format!("if {} {{ break {}; }}", test.text, early.carried()));
            parts.join(" ")
        });
        self.targets.pop();
        let (limit, name) = (1 + self.random.below(4), ty.name());
        Code::block(format!(
            "{{ let last: {name} = {last}; let mut {rounds} = 0; \
             {label}: loop {{ {rounds} += 1; if {rounds} > {limit} {{ break last; }} {body} }} }}"
        ))
    }

    /// A call of a device function.
    pub(super) fn call(&mut self, ty: &Type, depth: usize) -> Option<Code> {
        let fitting: Vec<_> = self.functions.iter().filter(|function| function.result == *ty).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let function = fitting[self.random.below(fitting.len())].clone();
        let arguments = self.borrowing(|g| {
            let mut arguments = Vec::new();
            for (ty, is_reference) in &function.parameters {
                arguments.push(match is_reference {
                    false => g.value(ty, depth - 1, false).text,
                    true => {
                        let place = g.place(ty, true, depth.min(2))?;
                        g.scope.lock(place.root, Lock::Exclusive);
                        place.reference.unwrap_or_else(|| format!("&mut {}", place.text))
                    }
                });
            }
            Some(arguments)
        })?;
        Some(Code::atom(format!("{}({})", function.name, arguments.join(", "))))
    }

    /// `std::mem::replace(&mut place, value)`
    fn exchanged(&mut self, ty: &Type, depth: usize) -> Option<Code> {
        self.borrowing(|g| {
            let place = g.place(ty, true, depth - 1)?;
            let lent = place.reference.clone().unwrap_or_else(|| format!("&mut {}", place.text));
            g.scope.lock(place.root, Lock::Exclusive);
            let is_local = place.reference.is_none() && !place.text.contains(['.', '[']);
            Some(match ty {
                Type::Option(_) if is_local && g.random.chance(50) => Code::atom(format!("{}.take()", place.text)),
                _ => Code::atom(format!("std::mem::replace({lent}, {})", g.value(ty, depth - 1, true).text)),
            })
        })
    }

    fn matched(&mut self, ty: &Type, depth: usize, known: bool) -> Option<Code> {
        let over = Type::integer(&mut self.random);
        let mark = self.scope.mark();
        let scrutinee = self.value(&over, depth - 1, false);
        let named = mark..self.scope.mark();
        let mut arms = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            let low = self.random.below(8);
            let pattern = match self.random.below(4) {
                0 => format!("{low} | {}", low + 3),
                1 => format!("{low}..={}", low + 5),
                2 => format!("{low}.."),
                _ => low.to_string(),
            };
            let guard = match self.random.chance(30) {
                // What is matched may not be assigned in a guard.
                true => self.borrowing(|g| {
                    g.scope.lock_named(named.clone());
                    format!(" if {}", g.value(&BOOL, depth - 1, true).operand())
                }),
                false => String::new(),
            };
            arms.push(format!("{pattern}{guard} => {},", self.value(ty, depth - 1, known).tail()));
        }
        let name = self.fresh();
        let last = self.scoped(|g| {
            g.scope.declare(&name, &over, false);
            g.value(ty, depth - 1, known).tail()
        });
        arms.push(format!("{name} => {last},"));
        Some(Code::block(format!("match {} {{ {} }}", scrutinee.text, arms.join(" "))))
    }

    /// `{ let f = |x: T| value; f(argument) }`
    fn through_closure(&mut self, ty: &Type, depth: usize) -> Code {
        let parameter = Type::any(&mut self.random, 1);
        let (function, name) = (self.fresh(), self.fresh());
        self.borrowing(|g| {
            let locks = g.scope.locks();
            g.scope.lock_all(Lock::Shared);
            let body = g.in_closure(|g| {
                g.scope.declare(&name, &parameter, false);
                g.value(ty, depth - 1, false)
            });
            let argument = g.value(&parameter, depth - 1, false);
            g.scope.restore(&locks);
            let body = body.text;
            Code::block(format!(
                "{{ let {function} = |{name}: {}| {body}; {function}({}) }}",
                parameter.name(),
                argument.text
            ))
        })
    }
}
