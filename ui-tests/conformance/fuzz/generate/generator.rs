//! The state of the generator, functions, and the whole program.

use super::code::Code;
use super::random::Random;
use super::scope::Scope;
use super::types::{BOOL, INTEGERS, Type};

/// A device function that a program can call.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    /// The parameters' types, and whether each is `&mut`.
    pub(super) parameters: Vec<(Type, bool)>,
    pub(super) result: Type,
}

/// A loop or labelled block around the generator's place.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) label: String,
    /// Whether it is a loop, which `continue` and a `break` without a label refer to.
    pub(super) is_loop: bool,
    /// The type of the value that leaves it.
    pub(super) value: Option<Type>,
}

pub(super) struct Generator {
    pub(super) random: Random,
    pub(super) scope: Scope,
    pub(super) functions: Vec<Function>,
    pub(super) targets: Vec<Target>,
    /// What `return` returns; `None` in a closure.
    pub(super) returns: Option<Type>,
    /// Whether loops and jumps may stand here: an iterator's closure has none.
    pub(super) may_jump: bool,
    /// How many more expressions may have parts.
    pub(super) budget: usize,
    pair: &'static str,
    names: usize,
}

/// Returns the items of a random program that are no functions, and its functions, the program's own last.
pub(super) fn program(seed: u64) -> (String, Vec<String>) {
    let mut random = Random::new(seed);
    let pair = INTEGERS[random.below(8)];
    let mut generator = Generator {
        random,
        scope: Scope::default(),
        functions: Vec::new(),
        targets: Vec::new(),
        returns: None,
        may_jump: true,
        budget: 0,
        pair,
        names: 0,
    };
    let mut texts = generator.fixed();
    for _ in 0..generator.random.below(3) {
        texts.push(generator.function());
    }
    texts.push(generator.main());
    let items = format!(
        "#[derive(Clone, Copy, PartialEq, Debug, DeviceCopy)]\n#[repr(C)]\n\
         pub(crate) struct Pair {{ pub(crate) x: {pair}, pub(crate) y: {pair}, pub(crate) z: [{pair}; 2] }}\n\
         const TABLE: [{pair}; 4] = [3, 1, 4, 1];\n"
    );
    (items, texts)
}

impl Generator {
    /// The functions that all programs have.
    fn fixed(&mut self) -> Vec<String> {
        let pair = self.pair;
        let scalar = self.pair_scalar();
        let i32 = Type::Scalar("i32");
        let mut known = |name: &str, parameters: Vec<(Type, bool)>, result: Type| {
            self.functions.push(Function { name: name.into(), parameters, result });
        };
        known("next", vec![(i32.clone(), true)], i32);
        known("larger", vec![(scalar.clone(), false), (scalar.clone(), false)], scalar.clone());
        known("larger", vec![(Type::Scalar("u8"), false), (Type::Scalar("u8"), false)], Type::Scalar("u8"));
        known("set", vec![(scalar.clone(), true), (scalar.clone(), false)], scalar.clone());
        known("set", vec![(Type::Scalar("f32"), true), (Type::Scalar("f32"), false)], Type::Scalar("f32"));
        known("total", vec![(Type::Pair, false)], scalar.clone());
        known("halved", vec![(scalar.clone(), false)], Type::Option(Box::new(scalar)));
        [
            "fn next(counter: &mut i32) -> i32 { *counter += 7; *counter * 3 }".into(),
            "fn larger<T: Number>(a: T, b: T) -> T { if a > b { a } else { b } }".into(),
            "fn set<T: Number>(place: &mut T, value: T) -> T { let old = *place; *place = value; old }".into(),
            format!("fn total(p: Pair) -> {pair} {{ p.x + p.y * 2 + p.z[0] - p.z[1] }}"),
            format!("fn halved(x: {pair}) -> Option<{pair}> {{ if x % 2 == 0 {{ Some(x / 2) }} else {{ None }} }}"),
            "fn mixed(h: u64, v: u64) -> u64 { (h ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23) }".into(),
        ]
        .into_iter()
        .map(|text: String| format!("#[device]\n{text}\n"))
        .collect()
    }

    /// Makes a function and enters it.
    fn function(&mut self) -> String {
        let name = format!("f{}", self.functions.len());
        let parameters: Vec<(Type, bool)> =
            (0..1 + self.random.below(3)).map(|_| (Type::any(&mut self.random, 1), self.random.chance(40))).collect();
        let result = Type::any(&mut self.random, 1);
        self.scope = Scope::default();
        self.budget = 5 + self.random.below(30);
        let mut list = Vec::new();
        for (index, (ty, is_reference)) in parameters.iter().enumerate() {
            let name = format!("p{index}");
            if *is_reference {
                self.scope.declare_reference(&name, ty, true);
                list.push(format!("{name}: &mut {}", ty.name()));
            } else {
                let is_mutable = self.random.chance(40);
                self.scope.declare(&name, ty, is_mutable);
                list.push(format!("{}{name}: {}", if is_mutable { "mut " } else { "" }, ty.name()));
            }
        }
        self.returns = Some(result.clone());
        let count = 1 + self.random.below(3);
        let mut body = self.statements(count, 3);
        body.push(self.value(&result, 2, true).tail());
        self.functions.push(Function { name: name.clone(), parameters, result: result.clone() });
        format!("#[device]\nfn {name}({}) -> {} {{\n    {}\n}}\n", list.join(", "), result.name(), body.join("\n    "))
    }

    /// Makes the function that the kernel calls: variables from its arguments, statements, a hash of the variables.
    fn main(&mut self) -> String {
        self.scope = Scope::default();
        self.budget = 10 + self.random.below(70);
        self.returns = Some(Type::Scalar("u64"));
        let mut body = Vec::new();
        let pair_scalar = self.pair_scalar();
        self.scope.declare("TABLE", &Type::Array(Box::new(pair_scalar), 4), false);
        for parameter in ["a", "b", "c", "d"] {
            let ty = match self.random.below(4) {
                0 => Type::Scalar("f32"),
                1 => BOOL,
                _ => Type::integer(&mut self.random),
            };
            let init = self.converted(parameter, &ty);
            let name = self.fresh();
            body.push(format!("let mut {name}: {} = {init};", ty.name()));
            self.scope.declare(&name, &ty, true);
        }
        for ty in [
            Type::Scalar("i32"),
            Type::Array(Box::new(Type::integer(&mut self.random)), 3),
            Type::any(&mut self.random, 2),
        ] {
            let name = self.fresh();
            let init = self.value(&ty, 1, true);
            body.push(format!("let mut {name}: {} = {};", ty.name(), init.text));
            self.scope.declare(&name, &ty, true);
        }
        let count = 3 + self.random.below(4);
        body.extend(self.statements(count, 4));
        body.push("let mut hash = 0u64;".into());
        for index in self.scope.usable(false) {
            let variable = self.scope.variables[index].clone();
            if variable.is_mutable {
                self.hash(&variable.name, &variable.ty, &mut body);
            }
        }
        body.push("hash".into());
        format!(
            "#[device]\npub(crate) fn program(a: u64, b: u64, c: u64, d: u64) -> u64 {{\n    {}\n}}\n",
            body.join("\n    ")
        )
    }

    fn converted(&mut self, parameter: &str, ty: &Type) -> String {
        match ty.name().as_str() {
            "f32" if self.random.chance(50) => format!("f32::from_bits({parameter} as u32)"),
            "bool" => format!("{parameter} & 1 == 1"),
            name => format!("{parameter} as {name}"),
        }
    }

    /// Mixes a value into the hash. All NaNs are one.
    fn hash(&mut self, value: &str, ty: &Type, body: &mut Vec<String>) {
        match ty {
            Type::Scalar("f32" | "f64") => {
                body.push(format!(
                    "hash = mixed(hash, if {value} == {value} {{ {value}.to_bits() as u64 }} else {{ 1 }});"
                ));
            }
            Type::Scalar("i128" | "u128") => {
                body.push(format!("hash = mixed(hash, ({value} >> 64) as u64);"));
                body.push(format!("hash = mixed(hash, {value} as u64);"));
            }
            Type::Scalar(_) => body.push(format!("hash = mixed(hash, {value} as u64);")),
            Type::Tuple(parts) => {
                for (index, part) in parts.iter().enumerate() {
                    self.hash(&format!("{value}.{index}"), part, body);
                }
            }
            Type::Array(element, length) => {
                for index in 0..*length {
                    self.hash(&format!("{value}[{index}]"), element, body);
                }
            }
            Type::Option(inner) => {
                let name = self.fresh();
                let mut inside = Vec::new();
                self.hash(&name, inner, &mut inside);
                body.push(format!(
                    "if let Some({name}) = {value} {{ {} }} else {{ hash = mixed(hash, 5); }}",
                    inside.join(" ")
                ));
            }
            Type::Pair => {
                let scalar = self.pair_scalar();
                for member in ["x", "y", "z[0]", "z[1]"] {
                    self.hash(&format!("{value}.{member}"), &scalar, body);
                }
            }
        }
    }

    pub(super) fn pair_scalar(&self) -> Type {
        Type::Scalar(self.pair)
    }

    pub(super) fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Runs `f` where its variables end.
    pub(super) fn scoped<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let count = self.scope.variables.len();
        let result = f(self);
        self.scope.variables.truncate(count);
        result
    }

    /// Runs `f` and ends the borrows that it began.
    pub(super) fn borrowing<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let locks = self.scope.locks();
        let result = f(self);
        self.scope.restore(&locks);
        result
    }

    /// Runs `f` inside a closure, out of which nothing jumps, and which holds on to what it names.
    pub(super) fn in_closure<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let (targets, returns) = (std::mem::take(&mut self.targets), self.returns.take());
        let may_jump = std::mem::take(&mut self.may_jump);
        let mark = self.scope.mark();
        let result = self.scoped(f);
        let named = mark..self.scope.mark();
        self.scope.lock_named(named);
        self.may_jump = may_jump;
        (self.targets, self.returns) = (targets, returns);
        result
    }

    /// Takes one of the budget for expressions with parts.
    pub(super) fn spend(&mut self) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0
    }

    /// `{ statements; tail }`
    pub(super) fn block(&mut self, ty: &Type, depth: usize, known: bool) -> Code {
        let count = self.random.below(3);
        self.scoped(|g| {
            let mut parts = g.statements(count, depth.saturating_sub(1));
            parts.push(g.value(ty, depth.saturating_sub(1), known).tail());
            Code::block(format!("{{ {} }}", parts.join(" ")))
        })
    }
}
