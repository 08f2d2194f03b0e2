//! Methods of Rust's own types that are written in the kernel language, shorthands of arrays, and items that a loop takes apart.

use super::code::Code;
use super::generator::Generator;
use super::scope::Lock;
use super::types::{BOOL, INTEGERS, Type, bits};

impl Generator {
    /// A `bool` by a comparison: `x.lt(&y)`, `x.cmp(&y).is_lt()`, `x.partial_cmp(&y)`, or by the class of a letter.
    pub(super) fn compared(&mut self, depth: usize) -> Code {
        let ty = Type::number(&mut self.random);
        let (left, right) = (self.fresh(), self.value(&ty, depth - 1, false));
        let asked = ["is_lt", "is_le", "is_gt", "is_ge", "is_eq", "is_ne"][self.random.below(6)];
        let test = match self.random.below(5) {
            0 => format!("{left}.{}(&({}))", ["lt", "le", "gt", "ge", "eq", "ne"][self.random.below(6)], right.text),
            1 => {
                let order = format!("{left}.partial_cmp(&({}))", right.text);
                format!("{order}.map_or({}, |order| order.{asked}())", self.random.chance(50))
            }
            2 if ty.is_float() => format!("{left}.total_cmp(&({})).{asked}()", right.text),
            3 if ty.is_integer() => {
                let other = self.value(&ty, depth - 1, false).text;
                format!("{left}.cmp(&({})).reverse().then({left}.cmp(&({other}))).{asked}()", right.text)
            }
            4 => {
                let class = ["digit", "alphabetic", "punctuation", "hexdigit", "uppercase", "graphic"];
                let class = class[self.random.below(class.len())];
                format!("({left} as u8).to_ascii_lowercase().is_ascii_{class}()")
            }
            _ => format!("({left} as i32).cmp(&(({}) as i32)).{asked}()", right.text),
        };
        let value = self.value(&ty, depth - 1, true);
        Code::block(format!("{{ let {left}: {} = {}; {test} }}", ty.name(), value.text))
    }

    /// An integer by an order, by bytes, by `into`, or of an option that may be empty.
    pub(super) fn by_method(&mut self, name: &'static str, depth: usize) -> Code {
        let ty = Type::Scalar(name);
        let held = self.fresh();
        match self.random.below(4) {
            0 => {
                let of = Type::integer(&mut self.random);
                let (left, right) = (self.value(&of, depth - 1, true), self.value(&of, depth - 1, false));
                let arms = ["Less", "Equal", "Greater"].map(|order| {
                    format!("std::cmp::Ordering::{order} => {},", self.value(&ty, depth - 1, false).tail())
                });
                let of = of.name();
                Code::block(format!(
                    "{{ let {held}: {of} = {}; match {held}.cmp(&({})) {{ {} }} }}",
                    left.text,
                    right.text,
                    arms.join(" ")
                ))
            }
            1 if [16, 32, 64].contains(&bits(name)) && !name.ends_with("size") => {
                let value = self.value(&ty, depth - 1, true);
                let [to, from] = [(); 2].map(|()| ["le", "be"][self.random.below(2)]);
                Code::block(format!(
                    "{{ let {held}: {name} = {}; {name}::from_{from}_bytes({held}.to_{to}_bytes()) }}",
                    value.text
                ))
            }
            2 => {
                let narrower: Vec<&str> = INTEGERS
                    .into_iter()
                    .filter(|from| from.starts_with(&name[..1]) && !from.ends_with("size") && !name.ends_with("size"))
                    .filter(|from| bits(from) < bits(name) && bits(name) < 128)
                    .collect();
                let Some(from) = self.random.pick(&narrower) else { return self.value(&ty, depth - 1, false) };
                let value = self.value(&Type::Scalar(from), depth - 1, true);
                let wide = self.fresh();
                let bound = format!("let {held}: {from} = {}; let {wide}: {name} = {held}.into();", value.text);
                Code::block(format!("{{ {bound} {wide} }}"))
            }
            _ => {
                let option = self.value(&Type::Option(Box::new(ty)), depth - 1, false);
                Code::method(option, "unwrap_or_default()")
            }
        }
    }

    /// `option.or(other)` and its like.
    pub(super) fn joined(&mut self, inner: &Type, depth: usize) -> Code {
        let ty = Type::Option(Box::new(inner.clone()));
        match self.random.below(4) {
            0 => {
                let of = Type::Option(Box::new(Type::scalar(&mut self.random)));
                let first = self.value(&of, depth - 1, false);
                let other = self.value(&ty, depth - 1, false);
                Code::method(first, &format!("and({})", other.text))
            }
            1 => {
                let nested = self.value(&Type::Option(Box::new(ty)), depth - 1, false);
                Code::method(nested, "flatten()")
            }
            method => {
                let (first, other) = (self.value(&ty, depth - 1, false), self.value(&ty, depth - 1, false));
                Code::method(first, &format!("{}({})", ["or", "xor"][method - 2], other.text))
            }
        }
    }

    /// `array.map(|x| ..)`, of an array as long.
    pub(super) fn mapped(&mut self, element: &Type, length: usize, depth: usize) -> Option<Code> {
        let from = Type::scalar(&mut self.random);
        let array = Type::Array(Box::new(from.clone()), length);
        self.borrowing(|g| {
            let arrays = g.scope.usable(false);
            let arrays: Vec<usize> = arrays.into_iter().filter(|index| g.scope.variables[*index].ty == array).collect();
            let index = g.random.pick(&arrays)?;
            let name = g.scope.variables[index].name.clone();
            g.scope.note(index, false);
            // The closure is one of Rust's `Fn`, which change nothing.
            g.scope.lock_all(Lock::Shared);
            let function = g.closure(&from, element, depth - 1);
            Some(Code::atom(format!("{name}.map({function})")))
        })
    }

    /// A variable that `std::array::from_fn` makes.
    pub(super) fn array_by_index(&mut self, depth: usize) -> String {
        let (element, length) = (Type::scalar(&mut self.random), 2 + self.random.below(3));
        let ty = Type::Array(Box::new(element.clone()), length);
        let function = self.borrowing(|g| {
            g.scope.lock_all(Lock::Shared);
            g.closure(&Type::Scalar("usize"), &element, depth - 1)
        });
        let name = self.fresh();
        self.scope.declare(&name, &ty, true);
        format!("let mut {name}: {} = std::array::from_fn({function});", ty.name())
    }

    /// `array.reverse();`, `pair.z.swap(i, j);` and their like.
    pub(super) fn rearranged(&mut self, depth: usize) -> Option<String> {
        let arrays: Vec<(usize, usize, bool)> = self
            .scope
            .usable(true)
            .into_iter()
            .filter_map(|index| match &self.scope.variables[index].ty {
                Type::Array(_, length) => Some((index, *length, false)),
                Type::Pair => Some((index, 2, true)),
                _ => None,
            })
            .collect();
        let (index, length, is_field) = self.random.pick(&arrays)?;
        let variable = self.scope.variables[index].clone();
        self.scope.note(index, true);
        let element = match (&variable.ty, is_field) {
            (Type::Array(element, _), false) => (**element).clone(),
            _ => self.pair_scalar(),
        };
        let place = if is_field { format!("{}.z", variable.name) } else { variable.name };
        self.borrowing(|g| {
            g.scope.lock(index, Lock::Exclusive);
            Some(match g.random.below(3) {
                0 => format!("{place}.reverse();"),
                1 => {
                    let (i, j) = (g.index(length, depth), g.index(length, depth));
                    format!("{place}.swap({i}, {j});")
                }
                _ => format!("{place}.fill({});", g.value(&element, depth, true).text),
            })
        })
    }

    /// `for (a, b) in &pairs { .. }`, over pairs of two types.
    pub(super) fn taken_apart(&mut self, depth: usize) -> String {
        let parts = [Type::scalar(&mut self.random), Type::scalar(&mut self.random)];
        let ty = Type::Array(Box::new(Type::Tuple(parts.to_vec())), 2 + self.random.below(2));
        let init = self.value(&ty, depth.saturating_sub(1), true);
        let (pairs, label) = (self.fresh(), format!("'l{}", self.fresh()));
        let body = self.scoped(|g| {
            let names = parts.each_ref().map(|part| {
                let name = g.fresh();
                g.scope.declare_reference(&name, part, false);
                name
            });
            let body = g.loop_body(&label, depth);
            match g.random.below(3) {
                0 => format!("{label}: for ({}) in {pairs}.iter().rev() {{ {body} }}", names.join(", ")),
                1 => format!("{label}: for (_, ({})) in {pairs}.iter().enumerate() {{ {body} }}", names.join(", ")),
                _ => format!("{label}: for ({}) in &{pairs} {{ {body} }}", names.join(", ")),
            }
        });
        format!("{{ let {pairs}: {} = {}; {body} }}", ty.name(), init.text)
    }

    /// `array.contains(&x)`
    pub(super) fn among(&mut self, depth: usize) -> Option<Code> {
        let arrays: Vec<usize> = self
            .scope
            .usable(false)
            .into_iter()
            .filter(|index| matches!(&self.scope.variables[*index].ty, Type::Array(element, _) if matches!(**element, Type::Scalar(_))))
            .collect();
        let index = self.random.pick(&arrays)?;
        let variable = self.scope.variables[index].clone();
        let Type::Array(element, _) = variable.ty else { return None };
        self.scope.note(index, false);
        self.borrowing(|g| {
            g.scope.lock(index, Lock::Shared);
            let value = g.value(&element, depth - 1, false);
            Some(Code::atom(format!("{}.contains(&({}))", variable.name, value.text)))
        })
    }

    /// A `bool` of these kinds.
    pub(super) fn truth_by_method(&mut self, depth: usize) -> Code {
        match self.random.chance(30) {
            true => self.among(depth),
            false => None,
        }
        .unwrap_or_else(|| self.compared(depth))
    }
}

impl Type {
    fn number(random: &mut super::random::Random) -> Type {
        match Type::scalar(random) {
            ty if ty == BOOL => Type::Scalar("i32"),
            ty => ty,
        }
    }
}
