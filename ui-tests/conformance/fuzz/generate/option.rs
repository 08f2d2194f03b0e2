//! Options: how they arise, and what their methods make of them.

use super::code::Code;
use super::generator::Generator;
use super::types::{BOOL, Type};

impl Generator {
    pub(super) fn option(&mut self, inner: &Type, depth: usize, known: bool) -> Option<Code> {
        let ty = Type::Option(Box::new(inner.clone()));
        Some(match self.random.weighted(&[4, 3, 2, 2, 2, 2, 2, 2]) {
            0 => Code::atom(format!("Some({})", self.value(inner, depth - 1, known).text)),
            1 if inner.is_integer() => {
                let method =
                    ["checked_add", "checked_sub", "checked_mul", "checked_div", "checked_rem"][self.random.below(5)];
                let receiver = self.value(inner, depth - 1, false);
                Code::method(receiver, &format!("{method}({})", self.value(inner, depth - 1, true).text))
            }
            2 => {
                let from = Type::any(&mut self.random, 1);
                let option = self.value(&Type::Option(Box::new(from.clone())), depth - 1, false);
                let function = self.closure(&from, inner, depth - 1);
                Code::method(option, &format!("map({function})"))
            }
            3 => {
                let from = Type::any(&mut self.random, 1);
                let option = self.value(&Type::Option(Box::new(from.clone())), depth - 1, false);
                let function = self.closure(&from, &ty, depth - 1);
                Code::method(option, &format!("and_then({function})"))
            }
            4 => {
                let test = self.value(&BOOL, depth - 1, true);
                match self.random.chance(50) {
                    true => Code::method(test, &format!("then_some({})", self.value(inner, depth - 1, false).text)),
                    false => {
                        let body = self.lazily(inner, depth - 1);
                        Code::method(test, &format!("then(|| {body})"))
                    }
                }
            }
            5 => {
                let option = self.value(&ty, depth - 1, false);
                let name = self.fresh();
                let test = self.borrowing(|g| {
                    g.in_closure(|g| {
                        g.scope.declare(&name, inner, false);
                        g.value(&BOOL, depth - 1, true).text
                    })
                });
                Code::method(option, &format!("filter(|&{name}| {test})"))
            }
            6 => {
                let option = self.value(&ty, depth - 1, false);
                let other = self.lazily(&ty, depth - 1);
                Code::method(option, &format!("or_else(|| {other})"))
            }
            _ => {
                let length = 2 + self.random.below(3);
                let array = Type::Array(Box::new(inner.clone()), length);
                let place = self.place(&array, false, 0)?;
                let index = self.value(&Type::Scalar("usize"), depth - 1, false);
                let receiver = Code::atom(place.text.trim_start_matches('*'));
                match self.random.below(3) {
                    0 => Code::method(receiver, "first().copied()"),
                    1 => Code::method(receiver, "last().copied()"),
                    _ => Code::method(receiver, &format!("get({} % 5).copied()", index.operand())),
                }
            }
        })
    }

    /// A value that an option is asked for.
    pub(super) fn out_of_option(&mut self, ty: &Type, depth: usize) -> Option<Code> {
        let option = Type::Option(Box::new(ty.clone()));
        Some(match self.random.weighted(&[3, 3, 4, 1]) {
            0 => {
                let option = self.value(&option, depth - 1, false);
                Code::method(option, &format!("unwrap_or({})", self.value(ty, depth - 1, true).text))
            }
            1 => {
                let option = self.value(&option, depth - 1, false);
                let other = self.lazily(ty, depth - 1);
                Code::method(option, &format!("unwrap_or_else(|| {other})"))
            }
            2 => {
                let from = Type::any(&mut self.random, 1);
                let option = self.value(&Type::Option(Box::new(from.clone())), depth - 1, false);
                let other = self.value(ty, depth - 1, false);
                let function = self.closure(&from, ty, depth - 1);
                Code::method(option, &format!("map_or({}, {function})", other.text))
            }
            _ => {
                if !self.may_jump || !matches!(self.returns, Some(Type::Option(_))) {
                    return None;
                }
                let option = self.value(&option, depth - 1, false);
                Code::atom(format!("{}?", option.receiver()))
            }
        })
    }

    /// `|x| value`, or the name of a function.
    pub(super) fn closure(&mut self, from: &Type, to: &Type, depth: usize) -> String {
        let fitting: Vec<String> = self
            .functions
            .iter()
            .filter(|function| function.result == *to && function.parameters == [(from.clone(), false)])
            .map(|function| function.name.clone())
            .collect();
        if !fitting.is_empty() && self.random.chance(40) {
            return fitting[self.random.below(fitting.len())].clone();
        }
        let name = self.fresh();
        self.borrowing(|g| {
            g.in_closure(|g| {
                let is_mutable = g.random.chance(15);
                g.scope.declare(&name, from, is_mutable);
                let body = g.value(to, depth, false).text;
                let annotation = if g.random.chance(30) { format!(": {}", from.name()) } else { String::new() };
                format!("|{}{name}{annotation}| {body}", if is_mutable { "mut " } else { "" })
            })
        })
    }

    fn lazily(&mut self, ty: &Type, depth: usize) -> String {
        self.borrowing(|g| g.in_closure(|g| g.value(ty, depth, false).text))
    }
}
