//! The expressions of a program's checks, each once: they have most of their parts in common.

use smallvec::SmallVec;
use std::collections::BTreeMap;

use super::arguments::{Argument, Arguments, Id, field_of_parts, fields};
use super::floats::{Float, Floats};
use super::numbers::{NumberType, Numbers};
use super::values::{Integer, Values};
use crate::program::launch_terms::{
    ClosureCall, Comparison, LaunchCall, LaunchParameter, LaunchPart, LaunchValue, Operation, Rounded, Term,
};
use crate::program::order::Resolved;
use crate::program::template::{Definition, Slot};
use crate::program::type_info::TypeInfo;
use crate::shape::Shape;
use Numbers::{Floats as AsFloats, Integers as AsIntegers};

mod conditions;
mod literals;

use literals::{any_in, constant, float, lanes, tile_size, typed};

/// The most expressions of a program.
const MOST_NODES: usize = 2048;

/// An expression of others, with everything that does not depend on the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Integers(Values),
    /// A float, by its bits as an `f64`; a literal if it has no type.
    Float(Option<Float>, u64),
    /// A parameter, or what is so many bytes behind the start of one.
    Parameter(usize, usize, NumberType),
    Length(usize),
    /// The address of a parameter that is memory.
    Start(usize),
    Launch(LaunchValue),
    TileRank(u32),
    Operation(Operation, [Id; 2]),
    /// A conversion to a number, or to something else.
    Cast(Option<NumberType>, Id),
    Clamp([Id; 3]),
    Rounded(Rounded, Id),
    /// The first value, whose sum with the second compares so with the third.
    Limited(Comparison, [Id; 3]),
    /// A value in the sides of a condition that are computed of it. It is apart from the value, which other variables may have, too.
    Conditioned(Id),
    /// The first value, of which the other two, which are computed of it, compare so.
    ByCondition(Comparison, [Id; 3]),
}

const UNKNOWN: Node = Node::Integers(Values::UNKNOWN);

/// A function of a program: all functions, and its index.
type Place<'a> = (&'a [Resolved], usize);

/// What is known of each expression in a launch.
type AllNumbers = SmallVec<[Numbers; 32]>;

/// Expressions, each behind its parts.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    ids: BTreeMap<Node, Id>,
    /// For each value that a condition limits (`conditions`), what the sides of the condition compute of it, behind itself, each behind its parts.
    sides: BTreeMap<Id, Vec<Id>>,
    /// The calls, by function and slot, that are being read: `k = next(k);` in a loop has its own result as its argument.
    open: Vec<(usize, u16)>,
}

impl Graph {
    /// Returns what a kernel's parameter is.
    pub(super) fn parameter(
        &mut self,
        index: usize,
        parameter: LaunchParameter,
        kernel: &Definition,
    ) -> Option<Argument> {
        match parameter {
            LaunchParameter::Value(ty) => self.part(index, 0, &kernel.types[usize::from(ty)]),
            LaunchParameter::Memory => {
                let [length, start] = [Node::Length(index), Node::Start(index)].map(|node| self.node(node));
                Some(Argument::Memory { length: length?, start: start? })
            }
            LaunchParameter::Other => None,
        }
    }

    /// Returns a part of a kernel's parameter.
    fn part(&mut self, parameter: usize, offset: usize, ty: &TypeInfo) -> Option<Argument> {
        match NumberType::of(ty) {
            Some(number) => self.node(Node::Parameter(parameter, offset, number)).map(Argument::Number),
            None => fields(ty).map(|_| Argument::Struct { parameter, offset, ty: ty.clone() }),
        }
    }

    /// Returns an argument, or a part of it.
    fn field(&mut self, arguments: &[Option<Argument>], index: u8, path: &[&str]) -> Option<Argument> {
        self.part_of(arguments.get(usize::from(index))?.as_ref()?, path)
    }

    fn part_of(&mut self, whole: &Argument, path: &[&str]) -> Option<Argument> {
        let [name, rest @ ..] = path else { return Some(whole.clone()) };
        match whole {
            Argument::Number(_) | Argument::Memory { .. } => None,
            Argument::Struct { parameter, offset, ty } => {
                let field = fields(ty)?.iter().find(|field| field.name == *name)?;
                let part = self.part(*parameter, offset + field.offset, &field.ty)?;
                self.part_of(&part, rest)
            }
            Argument::Parts(parts) => self.part_of(&field_of_parts(parts, name), rest),
        }
    }

    /// Adds an expression of a function that is called with these arguments. Returns `None` if there are too many.
    pub(super) fn add(&mut self, terms: &[Term], place: Place<'_>, arguments: &[Option<Argument>]) -> Option<Id> {
        let function = &place.0[place.1].definition;
        let mut stack: SmallVec<[Id; 8]> = SmallVec::new();
        let mut conditioned: SmallVec<[Id; 2]> = SmallVec::new();
        for term in terms {
            let node = match *term {
                Term::Parameter(_)
                | Term::Field(..)
                | Term::Length(_)
                | Term::Start(_)
                | Term::OfClosure(..)
                | Term::OfPassedClosure(..)
                | Term::Result(..) => match self.passed_or_returned(*term, place, arguments) {
                    Some(id) => {
                        stack.push(id);
                        continue;
                    }
                    None => UNKNOWN,
                },
                Term::Literal(number) => Node::Integers(Values::literal(number.into())),
                Term::Typed(number, slot) => match &function.slots[usize::from(slot)] {
                    Slot::Type(ty) => typed(ty, number.into()),
                    Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => UNKNOWN,
                },
                Term::Suffixed(number, name) => match Integer::named(name) {
                    Some(ty) => Node::Integers(Values::of(ty, number.into(), number.into())),
                    None => UNKNOWN,
                },
                Term::Float(digits) => float(None, digits),
                Term::SuffixedFloat(digits, name) => match Float::named(name) {
                    Some(ty) => float(Some(ty), digits),
                    None => UNKNOWN,
                },
                Term::TypedFloat(digits, slot) => match &function.slots[usize::from(slot)] {
                    Slot::Type(ty) => match NumberType::of(ty) {
                        Some(NumberType::Float(ty)) => float(Some(ty), digits),
                        _ => UNKNOWN,
                    },
                    Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => UNKNOWN,
                },
                Term::Constant(index) => constant(function, index),
                Term::Lanes(slot) => match &function.slots[usize::from(slot)] {
                    Slot::Type(ty) => lanes(ty).map_or(UNKNOWN, |lanes| Node::Integers(Values::literal(lanes))),
                    Slot::Callee(_) | Slot::BuiltIn | Slot::Message(_) => UNKNOWN,
                },
                Term::Launch(value) => Node::Launch(value),
                Term::RankInTile(size) => match tile_size(function, size) {
                    Some(size) => Node::Integers(Values::rank_below(size.into())),
                    None => UNKNOWN,
                },
                Term::TileRank(size) => tile_size(function, size).map_or(UNKNOWN, Node::TileRank),
                Term::Operation(operation) => {
                    let second = stack.pop()?;
                    Node::Operation(operation, [stack.pop()?, second])
                }
                Term::Cast(ty) => Node::Cast(NumberType::of(&function.types[usize::from(ty)]), stack.pop()?),
                Term::Clamp => {
                    let (most, least) = (stack.pop()?, stack.pop()?);
                    Node::Clamp([stack.pop()?, least, most])
                }
                Term::Rounded(by) => Node::Rounded(by, stack.pop()?),
                Term::Limit(comparison) => {
                    let (bound, value) = (stack.pop()?, stack.pop()?);
                    let nothing = self.node(Node::Integers(Values::literal(0)))?;
                    Node::Limited(comparison, [value, nothing, bound])
                }
                Term::LimitOfSum(comparison) => {
                    let (bound, term) = (stack.pop()?, stack.pop()?);
                    Node::Limited(comparison, [stack.pop()?, term, bound])
                }
                Term::Condition => {
                    conditioned.push(self.node(Node::Conditioned(*stack.last()?))?);
                    continue;
                }
                Term::Conditioned => {
                    stack.push(*conditioned.last()?);
                    continue;
                }
                Term::LimitByCondition(comparison) => {
                    let (bound, side, value) = (stack.pop()?, stack.pop()?, stack.pop()?);
                    stack.push(self.limit_by_condition(comparison, [value, side, bound], conditioned.pop()?)?);
                    continue;
                }
                Term::Unknown => UNKNOWN,
                Term::AnyOf(ty) => match NumberType::of(&function.types[usize::from(ty)]) {
                    Some(NumberType::Integer(ty)) => Node::Integers(Values::any(ty)),
                    Some(NumberType::Float(_)) | None => UNKNOWN,
                },
                Term::AnyIn(table) => any_in(&function.values[usize::from(table)].value),
            };
            let id = self.node(node)?;
            stack.push(id);
        }
        stack.pop().filter(|_| stack.is_empty())
    }

    /// Returns what a call passes or returns.
    fn passed_or_returned(&mut self, term: Term, place: Place<'_>, arguments: &[Option<Argument>]) -> Option<Id> {
        let argument = match term {
            Term::Parameter(index) | Term::Length(index) | Term::Start(index) => self.field(arguments, index, &[])?,
            Term::Field(index, path) => self.field(arguments, index, path)?,
            Term::Result(slot, path) => self.result(place, slot, path, arguments)?,
            Term::OfClosure(closure, param) => {
                let calls = place.0[place.1].definition.template.launch.closure_calls;
                return self.passed(calls, (closure, param), place, arguments);
            }
            Term::OfPassedClosure(slot, argument, param) => {
                return self.passed_by_call(slot, (argument, param), place, arguments);
            }
            _ => return None,
        };
        match (argument, term) {
            (Argument::Memory { start, .. }, Term::Start(_)) => Some(start),
            (Argument::Memory { length, .. }, Term::Length(_)) => Some(length),
            (Argument::Number(id), Term::Length(_) | Term::Parameter(_) | Term::Field(..) | Term::Result(..)) => {
                Some(id)
            }
            _ => None,
        }
    }

    /// Returns the arguments of a call in a function that is called with these arguments.
    pub(super) fn arguments(
        &mut self,
        caller: Place<'_>,
        call: &LaunchCall,
        arguments: &[Option<Argument>],
    ) -> Arguments {
        call.arguments.iter().map(|parts| self.composed(parts, caller, arguments)).collect()
    }

    /// Returns what has these parts.
    fn composed(&mut self, parts: &[LaunchPart], place: Place<'_>, arguments: &[Option<Argument>]) -> Option<Argument> {
        let mut of = |part: &LaunchPart| match *part.value {
            [Term::Parameter(index)] => self.field(arguments, index, &[]),
            [Term::Field(index, path)] => self.field(arguments, index, path),
            [Term::Result(slot, path)] => self.result(place, slot, path, arguments),
            _ => self.add(part.value, place, arguments).map(Argument::Number),
        };
        match parts {
            [] => None,
            [whole] if whole.path.is_empty() => of(whole),
            _ => Some(Argument::Parts(parts.iter().filter_map(|part| Some((part.path, of(part)?))).collect())),
        }
    }

    /// Returns a part of what a function returns to its caller.
    fn result(
        &mut self,
        place: Place<'_>,
        slot: u16,
        path: &[&str],
        arguments: &[Option<Argument>],
    ) -> Option<Argument> {
        let whole = self.in_callee(place, slot, arguments, |graph, callee, arguments| {
            let results = callee.0[callee.1].definition.template.launch.results;
            graph.composed(results, callee, arguments)
        })?;
        self.part_of(&whole, path)
    }

    /// Returns what a function that gets a closure passes to a parameter of it.
    fn passed_by_call(
        &mut self,
        slot: u16,
        param: (u8, u8),
        place: Place<'_>,
        arguments: &[Option<Argument>],
    ) -> Option<Id> {
        self.in_callee(place, slot, arguments, |graph, callee, arguments| {
            let calls = callee.0[callee.1].definition.template.launch.closure_calls;
            graph.passed(calls, param, callee, arguments)
        })
    }

    /// Reads something of the function that a call calls, with its arguments.
    fn in_callee<T>(
        &mut self,
        (functions, index): Place<'_>,
        slot: u16,
        arguments: &[Option<Argument>],
        read: impl FnOnce(&mut Graph, Place<'_>, &[Option<Argument>]) -> Option<T>,
    ) -> Option<T> {
        let callee = functions[index].callee(slot)?;
        let call = call_at(&functions[index], slot).filter(|_| !self.open.contains(&(index, slot)))?;
        self.open.push((index, slot));
        let arguments = self.arguments((functions, index), call, arguments);
        let known = read(self, (functions, callee), &arguments);
        self.open.pop();
        known
    }

    /// Returns what any of the calls passes to a parameter of a closure.
    fn passed(
        &mut self,
        calls: &[ClosureCall],
        (closure, param): (u8, u8),
        place: Place<'_>,
        arguments: &[Option<Argument>],
    ) -> Option<Id> {
        let mut all = None;
        for call in calls.iter().filter(|call| call.closure == closure) {
            let one = self.add(call.arguments.get(usize::from(param))?, place, arguments)?;
            all = Some(match all {
                None => one,
                Some(others) => self.node(Node::Operation(Operation::Either, [others, one]))?,
            });
        }
        all
    }

    /// Whether some launch may know an expression as an integer. The text of an operation may be one of floats, or of what no launch knows.
    pub(super) fn may_be_integer(&self, id: Id) -> bool {
        let of = |id: &Id| self.may_be_integer(*id);
        match &self.nodes[id] {
            Node::Integers(values) => *values != Values::UNKNOWN,
            Node::Parameter(_, _, NumberType::Integer(_)) => true,
            Node::Length(_) | Node::Start(_) | Node::Launch(_) | Node::TileRank(_) => true,
            Node::Cast(Some(NumberType::Integer(_)), _) => true,
            Node::Float(..) | Node::Parameter(..) | Node::Cast(..) | Node::Rounded(..) => false,
            Node::Operation(Operation::Min | Operation::Max | Operation::And, values) => values.iter().any(of),
            Node::Operation(
                Operation::Div
                | Operation::Rem
                | Operation::RemEuclid
                | Operation::Shr
                | Operation::Range
                | Operation::RangeInclusive,
                [_, second],
            ) => of(second),
            Node::Operation(Operation::Stepped, [first, _]) => of(first),
            Node::Operation(_, values) => values.iter().all(of),
            Node::Clamp([_, bounds @ ..]) => bounds.iter().all(of),
            Node::Limited(_, [value, _, bound]) => of(value) || of(bound),
            Node::Conditioned(value) | Node::ByCondition(_, [value, ..]) => of(value),
        }
    }

    /// Whether an expression is certainly an integer of at most 32 bits, of which operations are those of words anyway.
    pub(super) fn is_narrow(&self, id: Id) -> bool {
        matches!(self.ty(id), Some(NumberType::Integer(ty)) if ty.is_narrow())
    }

    /// Returns the type of an expression, as far as its parts have one.
    fn ty(&self, id: Id) -> Option<NumberType> {
        let float = |ty: Option<Float>| ty.map(NumberType::Float);
        match self.nodes[id] {
            Node::Integers(values) => values.ty().map(NumberType::Integer),
            Node::Float(ty, _) => float(ty),
            Node::Parameter(_, _, ty) => Some(ty),
            Node::Length(_) | Node::Start(_) => Some(NumberType::Integer(Integer::WORD)),
            Node::Launch(value) => Some(NumberType::Integer(Integer::of_launch(value))),
            Node::TileRank(_) => Values::rank_below(1).ty().map(NumberType::Integer),
            // The amount of a shift has a type of its own.
            Node::Operation(Operation::Shl | Operation::Shr, [value, _]) | Node::Rounded(_, value) => self.ty(value),
            Node::Operation(_, [first, second]) => self.ty(first).or_else(|| self.ty(second)),
            Node::Cast(ty, _) => ty,
            Node::Clamp([value, least, most]) => self.ty(value).or_else(|| self.ty(least)).or_else(|| self.ty(most)),
            Node::Limited(_, [value, _, bound]) => self.ty(value).or_else(|| self.ty(bound)),
            Node::Conditioned(value) | Node::ByCondition(_, [value, ..]) => self.ty(value),
        }
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
    pub(super) fn values<'a>(&self, shape: &Shape, bytes: impl Fn(usize) -> Option<&'a [u8]>) -> Option<AllNumbers> {
        let mut values = AllNumbers::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            let value = match *node {
                Node::Integers(number) => AsIntegers(number),
                Node::Float(ty, bits) => AsFloats(Floats::number(ty, f64::from_bits(bits))),
                Node::Parameter(index, offset, ty) => ty.read(bytes(index)?.get(offset..)?)?,
                // The length follows the address.
                Node::Start(index) => AsIntegers(Integer::WORD.read(bytes(index)?.get(..8)?)?),
                Node::Length(index) => AsIntegers(Integer::WORD.read(bytes(index)?.get(8..16)?)?),
                Node::Launch(value) => AsIntegers(Values::of_launch(value, shape)),
                Node::TileRank(size) => {
                    AsIntegers(Values::rank_below(shape.block.count().div_ceil(size.into()).into()))
                }
                Node::ByCondition(comparison, sides) => self.limited_by_condition(id, (comparison, sides), &mut values),
                _ => computed(*node, &values),
            };
            values.push(value);
        }
        Some(values)
    }
}

/// Returns the values of what is computed of other expressions.
fn computed(node: Node, values: &[Numbers]) -> Numbers {
    match node {
        Node::Operation(operation, [first, second]) => values[first].operation(operation, values[second]),
        Node::Cast(Some(ty), value) => values[value].cast(ty),
        Node::Clamp([value, least, most]) => values[value].clamp(values[least], values[most]),
        Node::Rounded(by, value) => values[value].rounded(by),
        Node::Limited(comparison, [value, term, bound]) => {
            values[value].limited(values[term], comparison, values[bound])
        }
        Node::Conditioned(value) | Node::ByCondition(_, [value, ..]) => values[value],
        Node::Cast(None, _)
        | Node::Integers(_)
        | Node::Float(..)
        | Node::Parameter(..)
        | Node::Length(_)
        | Node::Start(_)
        | Node::Launch(_)
        | Node::TileRank(_) => AsIntegers(Values::UNKNOWN),
    }
}

/// Returns what is known of the call at a slot.
pub(super) fn call_at(caller: &Resolved, slot: u16) -> Option<&'static LaunchCall> {
    caller.definition.template.launch.device_calls.iter().find(|call| call.callee == slot)
}
