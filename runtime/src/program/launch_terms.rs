//! The checks of a function as the macro writes them: what an index is computed of, in postfix order, and the length of its memory.

/// What the host may check before a launch, and what that needs of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchTerms {
    /// The checks, in the order of their numbers in the text.
    pub checks: &'static [LaunchCheck],
    /// The calls of device functions.
    pub device_calls: &'static [LaunchCall],
    /// The calls of closures.
    pub closure_calls: &'static [ClosureCall],
    /// The parts of what a device function returns.
    pub results: &'static [LaunchPart],
    /// The parameters of a kernel.
    pub parameters: &'static [LaunchParameter],
}

impl LaunchTerms {
    /// Those of a function of which the host checks nothing.
    pub const NONE: LaunchTerms =
        LaunchTerms { checks: &[], device_calls: &[], closure_calls: &[], results: &[], parameters: &[] };
}

/// A part of an expression in postfix order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// A literal, whose type the other operand has.
    Literal(i64),
    /// A literal of a slot's type.
    Typed(i64, u16),
    /// A literal with the name of its type as a suffix.
    Suffixed(i64, &'static str),
    /// An entry of [`Definition::values`](super::template::Definition::values).
    Constant(u16),
    /// A parameter that is a value.
    Parameter(u8),
    /// A field of a parameter, or a field of a field, by their names in C++.
    Field(u8, &'static [&'static str]),
    /// The length of a parameter that is memory.
    Length(u8),
    /// The address of a parameter that is memory.
    Start(u8),
    /// The lanes of a vector's type, that of a slot.
    Lanes(u16),
    /// What any call of a closure passes to one of its parameters.
    OfClosure(u8, u8),
    /// The same for a closure that is the argument, of this number, of the call at a slot.
    OfPassedClosure(u16, u8, u8),
    /// A literal of a float, whose type the other operand has.
    Float(&'static str),
    /// A literal of a float with the name of its type as a suffix.
    SuffixedFloat(&'static str, &'static str),
    /// A literal of a float of a slot's type.
    TypedFloat(&'static str, u16),
    /// A number of the thread, or of the launch.
    Launch(LaunchValue),
    /// The rank of the thread in a tile of so many threads, an entry of [`Definition::values`](super::template::Definition::values).
    RankInTile(u16),
    /// The rank of a tile of so many threads in its block.
    TileRank(u16),
    /// What the device function of a slot returns, or a field of it, or a field of a field.
    Result(u16, &'static [&'static str]),
    /// A value of which nothing is known.
    Unknown,
    /// Any value of the type that is this entry of [`Definition::types`](super::template::Definition::types).
    AnyOf(u16),
    /// Any of the numbers in an entry of [`Definition::values`](super::template::Definition::values), a table.
    AnyIn(u16),
    /// An operation of the two values before it.
    Operation(Operation),
    /// The conversion of the value before it to the type that is this entry of [`Definition::types`](super::template::Definition::types).
    Cast(u16),
    /// The first of the three values before it, limited by the other two, as `clamp` does it.
    Clamp,
    /// The value before it, which is a float, after a method without arguments.
    Rounded(Rounded),
    /// The first of the two values before it, for which the comparison with the second holds.
    Limit(Comparison),
    /// The first of the three values before it, for which the comparison of its sum with the second, and the third, holds.
    LimitOfSum(Comparison),
    /// What follows, up to [`LimitByCondition`](Term::LimitByCondition), are the sides of a comparison, computed of the value before it, which is
    /// [`Conditioned`](Term::Conditioned) there.
    Condition,
    /// The value before the last [`Condition`](Term::Condition).
    Conditioned,
    /// The first of the three values before it, of which the other two, which are computed of it, compare so.
    LimitByCondition(Comparison),
}

/// A method of floats without arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rounded {
    /// `x.floor()`
    Floor,
    /// `x.ceil()`
    Ceil,
    /// `x.trunc()`
    Trunc,
    /// `x.round()`
    Round,
    /// `x.abs()`
    Abs,
}

/// A number that a thread learns from a group, or that the shape of the launch says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchValue {
    /// The index of the thread in its block, in a dimension.
    ThreadIndex(u8),
    /// The number of threads of a block, in a dimension.
    BlockExtent(u8),
    /// The index of the block in the grid, in a dimension.
    BlockIndex(u8),
    /// The number of blocks of the grid, in a dimension.
    GridExtent(u8),
    /// The index of the block in its cluster, in a dimension.
    BlockIndexInCluster(u8),
    /// The number of blocks of a cluster, in a dimension.
    ClusterExtent(u8),
    /// The rank of the thread in its block.
    RankInBlock,
    /// The number of threads of a block.
    ThreadsOfBlock,
    /// The rank of the thread in its cluster.
    RankInCluster,
    /// The number of threads of a cluster.
    ThreadsOfCluster,
    /// The rank of the block in its cluster.
    BlockRankInCluster,
    /// The number of blocks of a cluster.
    BlocksOfCluster,
    /// The rank of the thread in the grid.
    RankInGrid,
    /// The number of threads of the grid.
    ThreadsOfGrid,
    /// The rank of the block in the grid.
    BlockRankInGrid,
    /// The number of blocks of the grid.
    BlocksOfGrid,
    /// The rank of the cluster in the grid.
    ClusterRank,
    /// The number of clusters of the grid.
    ClustersOfGrid,
}

/// An operation of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `a % b`
    Rem,
    /// `a.rem_euclid(b)`
    RemEuclid,
    /// `a << b`
    Shl,
    /// `a >> b`
    Shr,
    /// `a & b`
    And,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
    /// `a.min(b)`
    Min,
    /// `a.max(b)`
    Max,
    /// `a.saturating_sub(b)`
    SaturatingSub,
    /// `a.abs_diff(b)`
    AbsDiff,
    /// A number from `a` to `b`, without `b`.
    Range,
    /// A number from `a` to `b`.
    RangeInclusive,
    /// One of both.
    Either,
    /// `a`, a number of a range, which is a multiple of all powers of two of which `b` is one.
    Stepped,
    /// The end of a part that begins at `a` and has `b` elements: `a + b`, if neither is negative.
    End,
}

/// A comparison of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Comparison {
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// `a > b`
    Greater,
    /// `a >= b`
    GreaterOrEqual,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
}

/// A check of an access; or, without one, whether a number is less than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchCheck {
    /// The index, or the end of a part of the memory.
    pub index: &'static [Term],
    /// The length of the memory.
    pub length: &'static [Term],
    /// Whether it is the end of a part, which may be the length.
    pub is_end: bool,
    /// What else is to hold of a vector's access.
    pub vector: Option<VectorCheck>,
    /// The accesses, by their numbers in [`Template::sites`](super::template::Template::sites).
    pub sites: &'static [u16],
}

/// The alignment of a vector's access: the element with which it begins is a multiple of the number of lanes, behind an address that is one of the
/// vector's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorCheck {
    /// The element, counted from the address.
    pub element: &'static [Term],
    /// The number of lanes.
    pub lanes: &'static [Term],
    /// The type of an element, an entry of [`Definition::types`](super::template::Definition::types).
    pub of: u16,
    /// The address; nothing if it is that of a shared array, which is aligned for all vectors.
    pub start: &'static [Term],
}

/// A call of a device function whose arguments are known as far as its checks need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchCall {
    /// The slot of the function.
    pub callee: u16,
    /// For each argument, the parts of which something may be known.
    pub arguments: &'static [&'static [LaunchPart]],
}

/// A part of a struct or a tuple, by the names of the fields to it in C++; with none, all of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchPart {
    /// The names, from the outermost struct on.
    pub path: &'static [&'static str],
    /// A value, or the length of memory; or what may be a struct or memory: a parameter, a field of one, or a result.
    pub value: &'static [Term],
}

/// A call of a closure. All calls of it are listed, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosureCall {
    /// The closure: a parameter of the function by its index, or a number of its own.
    pub closure: u8,
    /// The arguments, of which each is a value, or the length of memory.
    pub arguments: &'static [&'static [Term]],
}

/// What a parameter of a kernel is for the checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaunchParameter {
    /// A value, of the type that is this entry of [`Definition::types`](super::template::Definition::types).
    Value(u16),
    /// A slice.
    Memory,
    /// Anything else.
    Other,
}
