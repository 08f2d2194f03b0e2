//! The expressions of a program's checks, each once: they have most of their parts in common.

use smallvec::SmallVec;
use std::collections::BTreeMap;

use super::values::{Integer, Values};
use crate::program::constant::Value;
use crate::program::launch_terms::{Comparison, LaunchCall, LaunchParameter, LaunchValue, Operation, Term};
use crate::program::order::Resolved;
use crate::program::template::{Definition, Slot};
use crate::program::type_info::{TypeInfo, TypeName};
use crate::scalar::Scalar;
use crate::shape::Shape;

/// The most expressions of a program.
const MOST_NODES: usize = 2048;

/// An expression, by its number.
pub(super) type Id = usize;

/// An expression of others, with everything that does not depend on the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Number(Values),
    Parameter(usize, Integer),
    Length(usize),
    Launch(LaunchValue),
    TileRank(u32),
    Operation(Operation, [Id; 2]),
    /// A conversion to an integer, or to something else.
    Cast(Option<Integer>, Id),
    Clamp([Id; 3]),
    /// The first value, whose sum with the second compares so with the third.
    Limited(Comparison, [Id; 3]),
}

/// Expressions, each behind its parts.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    ids: BTreeMap<Node, Id>,
    /// The calls, by function and slot, whose results are being read: `k = next(k);` in a loop has its own result as its argument.
    open: Vec<(usize, u16)>,
}

impl Graph {
    /// Returns the expression of a kernel's parameter.
    pub(super) fn parameter(&mut self, index: usize, parameter: LaunchParameter, kernel: &Definition) -> Option<Id> {
        match parameter {
            LaunchParameter::Integer(ty) => self.node(Node::Parameter(index, integer(kernel, ty)?)),
            LaunchParameter::Memory => self.node(Node::Length(index)),
            LaunchParameter::Other => None,
        }
    }

    /// Adds an expression of the function of this index, which is called with these arguments. Returns `None` if there are too many.
    pub(super) fn add(
        &mut self,
        terms: &[Term],
        (functions, index): (&[Resolved], usize),
        arguments: &[Option<Id>],
    ) -> Option<Id> {
        let function = &functions[index].definition;
        let mut stack: SmallVec<[Id; 8]> = SmallVec::new();
        for term in terms {
            let node = match *term {
                Term::Parameter(index) | Term::Length(index) => {
                    let argument = arguments.get(usize::from(index)).copied().flatten();
                    match argument {
                        Some(argument) => {
                            stack.push(argument);
                            continue;
                        }
                        None => Node::Number(Values::UNKNOWN),
                    }
                }
                Term::Result(slot, part) => match self.result((functions, index), slot, part, arguments) {
                    Some(result) => {
                        stack.push(result);
                        continue;
                    }
                    None => Node::Number(Values::UNKNOWN),
                },
                Term::Literal(number) => Node::Number(Values::literal(number.into())),
                Term::Typed(number, slot) => match &function.slots[usize::from(slot)] {
                    Slot::Type(ty) => typed(integer_of(ty), number.into()),
                    Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => Node::Number(Values::UNKNOWN),
                },
                Term::Suffixed(number, name) => typed(Integer::named(name), number.into()),
                Term::Constant(index) => match number(function, index) {
                    Some(number) => typed(integer_of(&function.values[usize::from(index)].ty), number),
                    None => Node::Number(Values::UNKNOWN),
                },
                Term::Launch(value) => Node::Launch(value),
                Term::RankInTile(size) => match tile_size(function, size) {
                    Some(size) => Node::Number(Values::rank_below(size.into())),
                    None => Node::Number(Values::UNKNOWN),
                },
                Term::TileRank(size) => tile_size(function, size).map_or(Node::Number(Values::UNKNOWN), Node::TileRank),
                Term::Unknown => Node::Number(Values::UNKNOWN),
                Term::Operation(operation) => {
                    let second = stack.pop()?;
                    Node::Operation(operation, [stack.pop()?, second])
                }
                Term::Cast(ty) => Node::Cast(integer(function, ty), stack.pop()?),
                Term::Clamp => {
                    let (most, least) = (stack.pop()?, stack.pop()?);
                    Node::Clamp([stack.pop()?, least, most])
                }
                Term::Limit(comparison) => {
                    let (bound, value) = (stack.pop()?, stack.pop()?);
                    let nothing = self.node(Node::Number(Values::literal(0)))?;
                    Node::Limited(comparison, [value, nothing, bound])
                }
                Term::LimitOfSum(comparison) => {
                    let (bound, term) = (stack.pop()?, stack.pop()?);
                    Node::Limited(comparison, [stack.pop()?, term, bound])
                }
            };
            let id = self.node(node)?;
            stack.push(id);
        }
        stack.pop().filter(|_| stack.is_empty())
    }

    /// Returns the arguments of a call in a function that is called with these arguments.
    pub(super) fn arguments(
        &mut self,
        caller: (&[Resolved], usize),
        call: &LaunchCall,
        arguments: &[Option<Id>],
    ) -> Vec<Option<Id>> {
        let argument = |terms: &&[Term]| if terms.is_empty() { None } else { self.add(terms, caller, arguments) };
        call.arguments.iter().map(argument).collect()
    }

    /// Returns a part of what a function returns to its caller.
    fn result(
        &mut self,
        (functions, index): (&[Resolved], usize),
        slot: u16,
        part: u8,
        arguments: &[Option<Id>],
    ) -> Option<Id> {
        let callee = functions[index].callee(slot)?;
        let terms = *functions[callee].definition.template.launch.results.get(usize::from(part))?;
        let call = call_at(&functions[index], slot).filter(|_| !self.open.contains(&(index, slot)))?;
        self.open.push((index, slot));
        let arguments = self.arguments((functions, index), call, arguments);
        let result = self.add(terms, (functions, callee), &arguments);
        self.open.pop();
        result
    }

    fn node(&mut self, node: Node) -> Option<Id> {
        if let Some(&known) = self.ids.get(&node) {
            return Some(known);
        }
        (self.nodes.len() < MOST_NODES).then(|| {
            let id = self.nodes.len();
            self.nodes.push(node);
            self.ids.insert(node, id);
            id
        })
    }

    /// Returns the values of all expressions in a launch. `bytes` returns those of a parameter.
    pub(super) fn values<'a>(
        &self,
        shape: &Shape,
        bytes: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Option<SmallVec<[Values; 32]>> {
        let mut values: SmallVec<[Values; 32]> = SmallVec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match *node {
                Node::Number(number) => number,
                Node::Parameter(index, ty) => ty.read(bytes(index)?)?,
                // The length follows the address.
                Node::Length(index) => Integer::WORD.read(bytes(index)?.get(8..16)?)?,
                Node::Launch(value) => Values::of_launch(value, shape),
                Node::TileRank(size) => Values::rank_below(shape.block.count().div_ceil(size.into()).into()),
                Node::Operation(operation, [first, second]) => values[first].operation(operation, values[second]),
                Node::Cast(Some(ty), value) => values[value].cast(ty),
                Node::Cast(None, _) => Values::UNKNOWN,
                Node::Clamp([value, least, most]) => values[value].clamp(values[least], values[most]),
                Node::Limited(comparison, [value, term, bound]) => {
                    values[value].limited(values[term], comparison, values[bound])
                }
            });
        }
        Some(values)
    }
}

/// Returns what is known of the call at a slot.
pub(super) fn call_at(caller: &Resolved, slot: u16) -> Option<&'static LaunchCall> {
    caller.definition.template.launch.device_calls.iter().find(|call| call.callee == slot)
}

fn typed(ty: Option<Integer>, number: i128) -> Node {
    Node::Number(ty.map_or(Values::UNKNOWN, |ty| Values::of(ty, number, number)))
}

fn tile_size(function: &Definition, index: u16) -> Option<u32> {
    number(function, index).and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0)
}

/// Returns the number that an entry of [`Definition::values`] is.
fn number(function: &Definition, index: u16) -> Option<i128> {
    match function.values[usize::from(index)].value {
        Value::Scalar(Scalar::Signed(number, _)) => Some(number),
        Value::Scalar(Scalar::Unsigned(number, _)) => i128::try_from(number).ok(),
        _ => None,
    }
}

/// Returns the integer type that an entry of [`Definition::types`] is.
fn integer(function: &Definition, index: u16) -> Option<Integer> {
    integer_of(&function.types[usize::from(index)])
}

fn integer_of(ty: &TypeInfo) -> Option<Integer> {
    if let TypeName::Prelude(name) = ty.name { Integer::named(name) } else { None }
}
