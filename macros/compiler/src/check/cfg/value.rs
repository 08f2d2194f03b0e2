//! Values and variables: the values that a body computes, as nodes of a graph, and the variables that hold them.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use phalanx_contract::uniformity::Uniformity;

use super::memory::Root;
use super::position::Granule;
use super::team::Team;
use super::{BlockId, NodeId};
use crate::model::expr::{BinaryOp, Callee};
use crate::model::{LocalId, SlotId, ValueId};
use crate::span::SpanRange;

/// A value that the body computes.
#[derive(Debug, Clone)]
pub(crate) struct Node<'f> {
    pub(crate) source: Source<'f>,
    pub(crate) operands: Vec<NodeId>,
    pub(crate) at: SpanRange,
}

/// The source of a value, which decides for which threads it is uniform.
#[derive(Debug, Clone)]
pub(crate) enum Source<'f> {
    /// Its operands alone. Constants have none.
    Operands,
    /// A literal.
    Integer(u64),
    /// A constant of the program, whose value rustc knows.
    Constant(ValueId),
    /// The result of an operator on two operands.
    Binary(BinaryOp),
    /// The complement of one operand.
    Not,
    /// The next value of a range's variable: its value in the previous iteration plus `by`, if that is known. The value is
    /// at least the start and less than the end of `range`.
    Counter { of: Variable, by: Option<i64>, range: Option<(NodeId, NodeId)> },
    /// The value of a variable at the step that evaluates the node.
    Read(Variable),
    /// The argument for the parameter of this position.
    Param(usize),
    /// Its operands and `what`, whose uniformity is known.
    Known { uniformity: Uniformity, what: &'static str },
    /// The rank of the thread in its block.
    ThreadRank,
    /// The first operand, rounded down to a multiple of the granule or compared with one by this operator. A thread's rank
    /// after that is uniform in as many threads.
    Round(Granule, BinaryOp),
    /// An element of memory, at the index that is the first operand.
    Load(Root),
    /// The result of a collective that is the same for all threads of the group.
    Agreed { team: Team, what: &'static str },
    /// The value that one thread of the group holds. The operands are the value and the thread's rank.
    Shuffled { team: Team },
    /// The result of a device function, whose arguments are the operands.
    Call { slot: SlotId, callee: &'f Callee },
}

/// The function of its operands that a value is, beyond the operators that are sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Formula {
    /// The length of memory.
    Length,
    /// `a.div_ceil(b)`
    DivCeil,
    /// `a.next_multiple_of(b)`
    NextMultiple,
    /// `a.min(b)`
    Min,
    /// `a.max(b)`
    Max,
    /// `-a`
    Negative,
    /// `a.rem_euclid(b)`
    RemEuclid,
    /// `[a, b, c]`
    Array,
    /// `array[index]`, of a local array.
    Element,
    /// The element of a local array at an index; the operands are the index and all elements.
    Pick,
    /// An element of a local array after one has been set; the operands are the index of that, its new value, and the element before.
    Replaced { element: u64 },
    /// Whether a range of numbers goes on; the operands are its ends and its steps.
    GoesOn { inclusive: bool },
}

/// A function of its operands beyond the formulas, which runs of single threads compute, and some of them the checks of rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Computed {
    /// This number.
    Number(u64),
    /// `a.name(b)`, of unsigned integers of so many bits; of a checked method, what its result holds.
    Method { name: &'static str, bits: u32 },
    /// Whether the result of a checked method of such integers holds a number.
    Fits { name: &'static str, bits: u32 },
    /// Whether an `Option` is `Some`, or `None`, by the number of its variant.
    Is { some: bool },
    /// The value in an `Option`, which holds one; or the value itself, which is stated to be uniform.
    Held,
    /// The value in an `Option`, which is the first operand, or else the second one; the third is the number of the variant.
    HeldOr,
}

/// The result of a difference that goes below zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BelowZero {
    /// One without a sign wraps around, in so many bits.
    Wraps(u32),
    /// One with a sign is negative.
    IsNegative,
}

/// A `for` loop over a range of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedLoop {
    /// The first number.
    pub(crate) start: NodeId,
    /// The number that ends the range.
    pub(crate) end: NodeId,
    /// Whether the range has its end.
    pub(crate) inclusive: bool,
    /// The difference between consecutive numbers, if it is known.
    pub(crate) by: Option<i64>,
    /// The difference, if it is a value and the numbers grow.
    pub(crate) step: Option<NodeId>,
    /// The block before the first iteration.
    pub(crate) before: BlockId,
    /// The first block of an iteration.
    pub(crate) inside: BlockId,
}

/// What a thread asserts.
#[derive(Debug, Clone)]
pub(crate) struct Assertion {
    /// The block, and the number of its steps that come before.
    pub(crate) at: (BlockId, usize),
    /// The comparison of two operands, or nothing if the one operand is what must hold.
    pub(crate) compares: Option<BinaryOp>,
    /// The operands.
    pub(crate) operands: Vec<NodeId>,
}

/// Something that holds a value: a local variable, one of its fields, or a temporary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    /// A local variable.
    Local(LocalId),
    /// A field of a struct or a tuple, by its number. It holds no token.
    Field(LocalId, u16),
    /// A value that is not in a variable yet.
    Temporary(usize),
}

impl Ord for Variable {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for Variable {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Variable {
    /// Returns the variable's place in the order of all: locals, fields, temporaries. Maps and sets of variables compare it often.
    fn order(self) -> u64 {
        match self {
            Variable::Local(LocalId(local)) => local as u64,
            Variable::Field(LocalId(local), field) => 1 << 62 | (local as u64) << 16 | u64::from(field),
            Variable::Temporary(number) => 2 << 62 | number as u64,
        }
    }

    /// The variable that has it as a field.
    pub(crate) fn whole(self) -> Option<Variable> {
        match self {
            Variable::Field(local, _) => Some(Variable::Local(local)),
            Variable::Local(_) | Variable::Temporary(_) => None,
        }
    }

    /// Returns the range of the variable's fields, which follow each other in the order of variables; `None` if it has none.
    pub(crate) fn fields(self) -> Option<RangeInclusive<Variable>> {
        match self {
            Variable::Local(local) => Some(Variable::Field(local, 0)..=Variable::Field(local, u16::MAX)),
            Variable::Field(..) | Variable::Temporary(_) => None,
        }
    }
}

/// The part of a variable that a step sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// A field, which has a step of its own.
    Field,
    /// An unknown part.
    Part,
}
