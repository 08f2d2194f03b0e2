//! A small language of kernels: what decides the fate of a token, and nothing else. Types of tokens are right by
//! construction; `interpret` decides whether a moved variable is used. It knows nothing of the crate's model.

use super::super::shrink::Nested;

/// The groups, smallest first: the grid contains its clusters, a cluster its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Block,
    Cluster,
    Grid,
}

/// A source position of an arrival or a collective, which `print` maps to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Site {
    pub(super) id: usize,
    pub(super) group: Group,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Var {
    pub(super) id: usize,
    /// The name; of two variables with one name, the later one shadows the other.
    pub(super) name: usize,
    pub(super) group: Group,
    /// Whether it is an `Option` of a token.
    pub(super) optional: bool,
}

/// The index of a loop or a labelled block.
pub(super) type Label = usize;

pub(super) type Block = Vec<Stmt>;

/// A kernel, or a device function if it takes tokens.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kernel {
    pub(super) parameters: Vec<(Site, Var)>,
    pub(super) body: Block,
}

/// A block that yields a token; one without a value ends in a jump.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Arm {
    pub(super) body: Block,
    pub(super) value: Option<Value>,
}

/// An expression that yields a token or an `Option` of one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// `group.barrier_arrive()`
    Arrive(Site),
    /// `start(&group)`: a device function that arrives and returns the token.
    Start(Site),
    /// `pass(token)`: a device function that takes a token and returns one.
    Pass(Site, Var),
    Move(Var),
    Take(Var),
    None,
    Some(Box<Value>),
    Block(Box<Arm>),
    If(Box<Arm>, Box<Arm>),
    /// `loop { ... }`, which [`Stmt::BreakWith`] leaves.
    Loop(Label, Block),
    /// `'label: { ... }`, which is left in the same way.
    Labelled(Label, Box<Arm>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Jump {
    Break(Label),
    Continue(Label),
    Return,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    /// An unknown condition: each evaluation may go either way.
    Opaque,
    /// `let Some(var) = value`, or `Some(_)`.
    Some(Value, Option<Var>),
    /// `let None = value`
    None(Value),
    /// `value.is_some()`
    IsSome(Value),
    /// `value.is_none()`
    IsNone(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stmt {
    Let(Var, Value),
    /// `let var;`
    Declare(Var),
    Assign(Var, Value),
    /// `group.barrier_wait(value)`
    Wait(Site, Value),
    /// `value.forget()`
    Forget(Site, Value),
    /// A device function that takes the token.
    Finish(Value),
    /// A device function that takes two tokens: the first has been moved while the second is evaluated.
    FinishBoth(Value, Value),
    Sync(Site),
    /// `let _ = value;`
    Discard(Value),
    /// `value;`
    Unused(Value),
    If(Test, Block, Option<Block>),
    While(Label, Test, Block),
    For(Label, Block),
    Loop(Label, Block),
    Block(Block),
    Labelled(Label, Block),
    Jump(Jump),
    BreakWith(Label, Value),
}

impl Stmt {
    /// Returns the blocks and values directly inside.
    pub(super) fn parts(&mut self) -> (Vec<&mut Block>, Vec<&mut Value>) {
        match self {
            Stmt::Let(_, value)
            | Stmt::Assign(_, value)
            | Stmt::Wait(_, value)
            | Stmt::Forget(_, value)
            | Stmt::Finish(value)
            | Stmt::Discard(value)
            | Stmt::Unused(value)
            | Stmt::BreakWith(_, value) => (Vec::new(), vec![value]),
            Stmt::FinishBoth(first, second) => (Vec::new(), vec![first, second]),
            Stmt::Declare(_) | Stmt::Sync(_) | Stmt::Jump(_) => (Vec::new(), Vec::new()),
            Stmt::If(test, then, otherwise) => {
                (std::iter::once(then).chain(otherwise).collect(), test.value().into_iter().collect())
            }
            Stmt::While(_, test, body) => (vec![body], test.value().into_iter().collect()),
            Stmt::For(_, body) | Stmt::Loop(_, body) | Stmt::Block(body) | Stmt::Labelled(_, body) => {
                (vec![body], Vec::new())
            }
        }
    }
}

impl Test {
    fn value(&mut self) -> Option<&mut Value> {
        match self {
            Test::Opaque => None,
            Test::Some(value, _) | Test::None(value) | Test::IsSome(value) | Test::IsNone(value) => Some(value),
        }
    }
}

impl Value {
    /// Returns the arms and blocks directly inside.
    pub(super) fn blocks(&mut self) -> Vec<&mut Block> {
        match self {
            Value::Arrive(_) | Value::Start(_) | Value::Pass(..) | Value::Move(_) | Value::Take(_) | Value::None => {
                Vec::new()
            }
            Value::Some(inner) => inner.blocks(),
            Value::Block(arm) | Value::Labelled(_, arm) => vec![&mut arm.body],
            Value::If(then, otherwise) => vec![&mut then.body, &mut otherwise.body],
            Value::Loop(_, body) => vec![body],
        }
    }
}

impl Nested for Stmt {
    fn blocks(&mut self) -> Vec<&mut Block> {
        let (mut blocks, values) = self.parts();
        blocks.extend(values.into_iter().flat_map(|value| value.blocks()));
        blocks
    }
}

/// Returns whether control never reaches what follows.
pub(super) fn ends(block: &Block) -> bool {
    matches!(block.last(), Some(Stmt::Jump(_) | Stmt::BreakWith(..)))
}
