//! Iterators: sources, adaptors, and what consumes them.

use super::code::Code;
use super::generator::Generator;
use super::scope::Lock;
use super::types::{BOOL, Type};

/// An iterator: its text, and the pattern and type of its items.
pub(super) struct Chain {
    pub(super) text: String,
    item: Item,
    /// Whether its length is known, as `rev`, `enumerate` and `zip` need.
    is_exact: bool,
    /// Whether it has neither `map` nor `filter`.
    is_plain: bool,
}

#[derive(Clone)]
enum Item {
    Value(Type),
    /// A reference to a value.
    Reference(Type),
    Pair(Box<Item>, Box<Item>),
}

impl Chain {
    /// Whether an item is a value of this type.
    fn yields(&self, ty: &Type) -> bool {
        matches!(&self.item, Item::Value(own) if own == ty)
    }
}

impl Generator {
    /// Returns a chain, and leaves locked what it borrows.
    pub(super) fn chain(&mut self, depth: usize, with_adaptors: bool) -> Option<Chain> {
        let mut chain = self.source(depth)?;
        if chain.is_exact && self.random.chance(30) {
            chain = self.exact_adaptor(chain, depth)?;
        }
        while with_adaptors && self.random.chance(50) {
            chain = match (&chain.item, self.random.chance(60)) {
                (_, true) => {
                    let to = Type::scalar(&mut self.random);
                    let body = self.item_closure(&chain.item, &to, depth, None);
                    Chain {
                        text: format!("{}.map({body})", chain.text),
                        item: Item::Value(to),
                        is_exact: false,
                        is_plain: false,
                    }
                }
                (Item::Value(ty), false) => {
                    let (ty, name) = (ty.clone(), self.fresh());
                    let test = self.in_closure(|g| {
                        g.scope.declare(&name, &ty, false);
                        g.value(&BOOL, depth, true).text
                    });
                    Chain {
                        text: format!("{}.filter(|&{name}| {test})", chain.text),
                        item: Item::Value(ty),
                        is_exact: false,
                        is_plain: false,
                    }
                }
                _ => chain,
            };
        }
        Some(chain)
    }

    fn source(&mut self, depth: usize) -> Option<Chain> {
        if self.random.chance(35) {
            let ty = Type::integer(&mut self.random);
            let (low, high) = (self.value(&ty, depth, false), self.value(&ty, depth, true));
            let range = match self.random.below(4) {
                0 => format!("({} & 3..={} & 7)", low.operand(), high.operand()),
                1 => format!("(0..{})", self.value(&ty, depth, false).operand() + " & 7"),
                _ => format!("({} & 3..{} & 7)", low.operand(), high.operand()),
            };
            let adaptor = match self.random.below(6) {
                0 => ".rev()".into(),
                1 => format!(".step_by({})", 1 + self.random.below(3)),
                _ => String::new(),
            };
            return Some(Chain { text: range + &adaptor, item: Item::Value(ty), is_exact: false, is_plain: true });
        }
        let arrays: Vec<usize> = self
            .scope
            .usable(false)
            .into_iter()
            .filter(|index| matches!(self.scope.variables[*index].ty, Type::Array(..)))
            .collect();
        let (array, element) = match self.random.pick(&arrays) {
            Some(index) => {
                let variable = self.scope.variables[index].clone();
                self.scope.note(index, false);
                self.scope.lock(index, Lock::Shared);
                let Type::Array(element, _) = variable.ty else { return None };
                (variable.name, *element)
            }
            None => {
                let element = Type::scalar(&mut self.random);
                let array = Type::Array(Box::new(element.clone()), 3);
                (self.value(&array, 1, false).receiver(), element)
            }
        };
        let (suffix, item) = match self.random.below(4) {
            0 => (".iter()", Item::Reference(element)),
            1 => (".into_iter()", Item::Value(element)),
            _ => (".iter().copied()", Item::Value(element)),
        };
        // A reference to an array is iterated by reference.
        let suffix = if suffix == ".into_iter()" { ".iter().copied()" } else { suffix };
        Some(Chain { text: array + suffix, item, is_exact: true, is_plain: true })
    }

    fn exact_adaptor(&mut self, chain: Chain, depth: usize) -> Option<Chain> {
        Some(match self.random.below(5) {
            0 => Chain { text: chain.text + ".rev()", ..chain },
            1 => {
                let count = self.value(&Type::Scalar("usize"), depth, false);
                let name = ["skip", "take"][self.random.below(2)];
                Chain { text: format!("{}.{name}({} & 3)", chain.text, count.operand()), ..chain }
            }
            2 => {
                let counter = Item::Value(Type::Scalar("usize"));
                let item = Item::Pair(Box::new(counter), Box::new(chain.item));
                Chain { text: chain.text + ".enumerate()", item, is_exact: true, is_plain: true }
            }
            _ => {
                let other = self.source(depth)?;
                if !other.is_exact {
                    return Some(chain);
                }
                let item = Item::Pair(Box::new(chain.item), Box::new(other.item));
                Chain { text: format!("{}.zip({})", chain.text, other.text), item, is_exact: true, is_plain: true }
            }
        })
    }

    /// A pattern for an item, whose names it declares.
    fn pattern(&mut self, item: &Item) -> String {
        match item {
            Item::Value(ty) => {
                let name = self.fresh();
                self.scope.declare(&name, ty, false);
                name
            }
            Item::Reference(ty) => {
                let name = self.fresh();
                if self.random.chance(60) {
                    self.scope.declare(&name, ty, false);
                    return format!("&{name}");
                }
                self.scope.declare_reference(&name, ty, false);
                name
            }
            Item::Pair(first, second) => format!("({}, {})", self.pattern(first), self.pattern(second)),
        }
    }

    /// `|pattern| value`, or with an accumulator before the pattern.
    fn item_closure(&mut self, item: &Item, to: &Type, depth: usize, total: Option<&Type>) -> String {
        let item = item.clone();
        self.in_closure(|g| {
            let mut patterns = Vec::new();
            if let Some(total) = total {
                let name = g.fresh();
                g.scope.declare(&name, total, false);
                patterns.push(name);
            }
            patterns.push(g.pattern(&item));
            format!("|{}| {}", patterns.join(", "), g.value(to, depth, false).text)
        })
    }

    /// An iterator that is consumed to a value of this type.
    pub(super) fn consumed(&mut self, ty: &Type, depth: usize) -> Option<Code> {
        let depth = depth - 1;
        self.borrowing(|g| {
            let chain = g.chain(depth, true)?;
            let text = match (g.random.below(6), ty) {
                (0, Type::Scalar("usize")) if chain.is_plain => {
                    let test = g.item_closure(&chain.item, &BOOL, depth, None);
                    format!("{}.position({test}).unwrap_or(9)", chain.text)
                }
                (1, Type::Scalar("usize")) => format!("{}.count()", chain.text),
                (0 | 1, Type::Scalar("bool")) => {
                    let test = g.item_closure(&chain.item, &BOOL, depth, None);
                    format!("{}.{}({test})", chain.text, ["any", "all"][g.random.below(2)])
                }
                (0 | 1, _) if ty.is_integer() && chain.yields(ty) => {
                    format!("{}.{}::<{}>()", chain.text, ["sum", "product"][g.random.below(2)], ty.name())
                }
                (2, _) if ty.is_integer() && chain.yields(ty) => {
                    format!("{}.{}().unwrap_or(7)", chain.text, ["min", "max"][g.random.below(2)])
                }
                _ => {
                    let start = g.value(ty, depth, false);
                    let function = g.item_closure(&chain.item, ty, depth, Some(ty));
                    format!("{}.fold({}, {function})", chain.text, start.text)
                }
            };
            Some(Code::atom(text))
        })
    }

    /// `chain.for_each(|item| statement)`, or a `for` over it.
    pub(super) fn for_each(&mut self, depth: usize) -> Option<String> {
        self.borrowing(|g| {
            let chain = g.chain(depth, true)?;
            let item = chain.item.clone();
            let body = g.in_closure(|g| {
                let pattern = g.pattern(&item);
                format!("|{pattern}| {{ {} }}", g.statements(1, depth).join(" "))
            });
            Some(format!("{}.for_each({body});", chain.text))
        })
    }

    /// The head of a `for` over a chain without closures; the names of its pattern are declared.
    pub(super) fn for_head(&mut self, depth: usize) -> Option<String> {
        let chain = self.chain(depth, false)?;
        let item = chain.item.clone();
        let pattern = self.pattern(&item);
        Some(format!("for {pattern} in {}", chain.text))
    }
}
