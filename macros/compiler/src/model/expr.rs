//! Expressions, statements and place expressions. Control flow keeps Rust's shape; `check/build` makes the graph from
//! it. This file and `inline_cuda`, `message`, `pattern` and `range` define one recursive data type: an expression
//! holds a pattern, a range or a message, and those hold expressions.

use proc_macro2::{Ident, TokenStream};

use super::inline_cuda::InlineCuda;
use super::kind::{Kind, Memory};
use super::message::{Message, Test};
use super::method::{Intrinsic, ScalarFunction, ValueMethod};
use super::op::{Op, Variant};
pub(crate) use super::operator::{BinaryOp, Overload, UnaryOp};
use super::pattern::Pattern;
use super::range::Range;
use super::ty::ValueType;
use super::warp::NamedOperator;
use super::{LocalId, LoopId, SiteId, SlotId, TypeId, ValueId};
use crate::span::SpanRange;

#[derive(Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    /// The kind of the expression's value.
    pub(crate) result_kind: Kind,
    pub(crate) span: SpanRange,
}

#[derive(Debug)]
pub(crate) enum ExprKind {
    /// An error was reported for this expression.
    Error,
    Int {
        digits: String,
        ty: LiteralType,
    },
    Float {
        digits: String,
        ty: LiteralType,
    },
    Bool(bool),
    Local(LocalId),
    /// A constant, an associated constant or a const generic.
    Constant(ValueId),
    Unary(UnaryOp, Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
        /// The site of a division, which checks its divisor.
        site: Option<SiteId>,
    },
    Cast(Box<Expr>, ValueType),
    /// A value whose type C++ would deduce wrongly: `a & b` of two `bool`s is an `int` there.
    Typed(Box<Expr>, SlotId),
    /// `base[index]`, a place expression of memory or of a local array.
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
        site: SiteId,
    },
    /// `*memory.get_unchecked_mut(index)`, a place expression.
    UncheckedPlace {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `*reference`, a place expression.
    Deref(Box<Expr>),
    /// `extent.x`
    Axis(Box<Expr>, char),
    /// `base.name` or `base.0` of a struct or a tuple; a place expression if `base` is one.
    Field {
        base: Box<Expr>,
        member: Member,
    },
    /// `&x` or `&mut x`, as an argument.
    Borrow {
        mutable: bool,
        target: Box<Expr>,
    },
    Array {
        elements: Vec<Expr>,
        slot: SlotId,
    },
    Repeat {
        element: Box<Expr>,
        length: TokenStream,
        slot: SlotId,
    },
    /// `Point { x, ..base }`, or `Meters(1.0)`, or `Event::Hit { t, id }`.
    Struct {
        /// The path as the user wrote it, with its generic arguments.
        path: TokenStream,
        /// The variant of an enum that the path names.
        variant: Option<Ident>,
        /// The fields in the order of their evaluation.
        fields: Vec<(Member, Expr)>,
        /// The base that the other fields are taken from, which is evaluated last.
        base: Option<Box<Expr>>,
        slot: SlotId,
    },
    /// `(a, b)`
    Tuple {
        elements: Vec<Expr>,
        slot: SlotId,
    },
    /// `Some(value)` of a plain value.
    Some(Box<Expr>),
    /// `None` of a type that rustc infers.
    None(SlotId),
    Op {
        op: Op,
        operands: Vec<Expr>,
        site: Option<SiteId>,
        /// The element type and length of `shared_array` and `dynamic_shared`.
        types: Option<(ValueType, Option<ValueId>)>,
    },
    /// `Vector::new([a, b])`, `f32x4::splat(x)`, `Accumulator::splat(x)`
    Vector {
        /// The path as the user wrote it.
        path: TokenStream,
        /// Whether it is a matrix of a warp.
        is_matrix: bool,
        /// Whether it is an `Accumulator`, by this name.
        is_accumulator: bool,
        splat: bool,
        argument: Box<Expr>,
        slot: SlotId,
    },
    Method {
        method: &'static ValueMethod,
        operands: Vec<Expr>,
        site: Option<SiteId>,
    },
    /// A call of a function of a scalar type: `f32::from_bits(x)`.
    ScalarCall {
        ty: TypeId,
        /// The type as the user wrote it here.
        owner: TokenStream,
        function: ScalarFunction,
        operands: Vec<Expr>,
        site: Option<SiteId>,
    },
    /// `fast::sin(x)`, `cuda::dp4a(a, b, c)`
    Intrinsic {
        /// The path as the user wrote it.
        path: TokenStream,
        function: &'static Intrinsic,
        operands: Vec<Expr>,
    },
    /// `op::Plus`, as the user wrote it.
    Operator(&'static NamedOperator, TokenStream),
    /// A call of a device function.
    Call {
        callee: Callee,
        slot: SlotId,
        arguments: Vec<Expr>,
    },
    /// A call of a closure that has a name: `f(x)`.
    CallClosure {
        closure: LocalId,
        arguments: Vec<Expr>,
        /// Tells the calls of a closure apart.
        site: SiteId,
    },
    /// `|a, b| a + b`
    Closure {
        params: Vec<(LocalId, Option<ValueType>)>,
        body: Box<Expr>,
        /// Set for a `move` closure: the shared arrays around it that it names. It copies references to those, never
        /// the arrays.
        by_value: Option<Vec<LocalId>>,
    },
    Block(Block),
    /// `unsafe { ... }`
    Unsafe(Block),
    /// A labelled block, which `break 'label value` leaves.
    Labelled {
        id: LoopId,
        label: Ident,
        block: Block,
        slot: Option<SlotId>,
    },
    If {
        condition: Box<Condition>,
        then: Block,
        /// The `else` branch: a block or another `if`.
        otherwise: Option<Box<Expr>>,
        /// The slot for the type of its value.
        slot: Option<SlotId>,
    },
    Match {
        scrutinee: Box<Expr>,
        arms: Vec<Arm>,
        /// The slot for the type of its value.
        slot: Option<SlotId>,
    },
    Loop {
        id: LoopId,
        label: Option<Ident>,
        body: Block,
        slot: Option<SlotId>,
    },
    While {
        id: LoopId,
        label: Option<Ident>,
        condition: Box<Condition>,
        body: Block,
    },
    For {
        id: LoopId,
        label: Option<Ident>,
        local: Option<LocalId>,
        range: Box<Range>,
        body: Block,
    },
    Assign(Box<Expr>, Box<Expr>),
    AssignOp {
        op: BinaryOp,
        place: Box<Expr>,
        value: Box<Expr>,
        site: Option<SiteId>,
        /// The function that does it, if the place may not be a number, and the slot of it.
        function: Option<Box<(Callee, SlotId)>>,
    },
    Break {
        target: LoopId,
        label: Option<Ident>,
        value: Option<Box<Expr>>,
    },
    Continue {
        target: LoopId,
        label: Option<Ident>,
    },
    Return {
        value: Option<Box<Expr>>,
        /// Whether it is the `?` after an `Option`.
        question: bool,
    },
    /// `cuda!`
    Cuda(Box<InlineCuda>),
    /// `assert!`, `assert_eq!`, ...
    Assert(Test, Message),
    /// `panic!`, `todo!`, ...
    Panic(Message),
    /// `print!`, `println!`
    Print(Message),
}

/// The source of a literal's type in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiteralType {
    /// The operand beside the literal has its type: the literal is printed bare.
    Beside,
    /// The literal has a suffix.
    Suffix(&'static str),
    /// rustc infers the type.
    Slot(SlotId),
    /// rustc infers the type, which may be an integer's or a float's: the value with which a sum or a product begins.
    Start(SlotId),
}

/// The condition of an `if` or a `while`.
#[derive(Debug)]
pub(crate) enum Condition {
    Value(Expr),
    /// `let Some(t) = option`
    Let {
        pattern: Pattern,
        scrutinee: Expr,
    },
    /// `let Some(a) = x && a > 3 && let Some(b) = y`: two or more parts, each a value or a `let`.
    All(Vec<Condition>),
}

impl Condition {
    /// Returns the parts that must all hold, in the order of their evaluation.
    pub(crate) fn parts(&self) -> &[Condition] {
        match self {
            Condition::All(parts) => parts,
            Condition::Value(_) | Condition::Let { .. } => std::slice::from_ref(self),
        }
    }
}

/// The callee of a call of a device function, as the user named it.
#[derive(Debug)]
pub(crate) enum Callee {
    Function(FunctionPath),
    /// `Point::new`, `<T as Area>::area`: the path before the last `::`, the name, its turbofish.
    Associated(TokenStream, Ident, TokenStream),
    /// `point.norm`, a method of the first argument, with its turbofish.
    Method(Ident, TokenStream),
    /// An operator of values that may not be numbers, whose arguments are its operands.
    Operator(Operator),
}

/// An operator that is the user's function, or the language's own, as only rustc knows.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) op: Overload,
    /// The name of the trait's method.
    pub(crate) name: Ident,
    /// The site of a division of numbers.
    pub(crate) site: Option<SiteId>,
}

impl Callee {
    /// The function's name.
    pub(crate) fn name(&self) -> &Ident {
        match self {
            Callee::Function(FunctionPath { name, .. }) | Callee::Associated(_, name, _) | Callee::Method(name, _) => {
                name
            }
            Callee::Operator(operator) => &operator.name,
        }
    }
}

/// A path that can be imported, `module::name::<T>`.
#[derive(Debug, Clone)]
pub(crate) struct FunctionPath {
    /// The path without the turbofish.
    pub(crate) path: TokenStream,
    pub(crate) name: Ident,
    pub(crate) turbofish: TokenStream,
}

/// An arm of a `match`: `pattern if guard => body`.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) pattern: Pattern,
    pub(crate) guard: Option<Condition>,
    pub(crate) body: Expr,
}

/// A field's name, or its position in a tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Member {
    Named(Ident),
    Unnamed(u32),
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Stmt>,
    /// The block's value, if it has one.
    pub(crate) tail: Option<Box<Expr>>,
    pub(crate) span: SpanRange,
    /// The locals declared in the block, in order: they are dropped in reverse at its end.
    pub(crate) declared: Vec<LocalId>,
}

#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: SpanRange,
}

#[derive(Debug)]
pub(crate) enum StmtKind {
    Let {
        local: LocalId,
        ty: Option<ValueType>,
        init: Option<Expr>,
    },
    /// `let (left, right) = memory.split_at(mid);`, where `None` is `_`.
    Split {
        halves: [Option<LocalId>; 2],
        init: Expr,
    },
    /// `let (a, b) = e;`, `let Some(x) = e else { return };`
    LetPattern {
        pattern: Pattern,
        ty: Option<ValueType>,
        init: Expr,
        otherwise: Option<Block>,
    },
    /// `let _ = e;`
    Discard(Expr),
    Expr(Expr),
    /// `const N: u32 = 4;` inside the body, which is passed on to Rust.
    Item(TokenStream),
}

/// Returns the value of an integer literal's digits: `0xff`, `1000`. The underscores are removed before.
pub(crate) fn integer(digits: &str) -> Option<u128> {
    let (radix, number) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    u128::from_str_radix(number, radix).ok()
}

impl Expr {
    /// Returns the value of an integer literal.
    pub(crate) fn integer(&self) -> Option<u64> {
        let ExprKind::Int { digits, .. } = &self.kind else { return None };
        integer(digits).and_then(|number| u64::try_from(number).ok())
    }

    /// Returns the value of an integer literal, which may have a minus before it.
    pub(crate) fn signed_integer(&self) -> Option<i64> {
        match &self.kind {
            ExprKind::Unary(UnaryOp::Neg, literal) => i64::try_from(literal.integer()?).ok()?.checked_neg(),
            _ => i64::try_from(self.integer()?).ok(),
        }
    }

    /// Returns the slot of the function that the expression itself calls.
    pub(crate) fn called(&self) -> Option<SlotId> {
        match &self.kind {
            ExprKind::Call { slot, .. } => Some(*slot),
            ExprKind::AssignOp { function, .. } => function.as_ref().map(|function| function.1),
            _ => None,
        }
    }

    /// Returns the slot for the type of the value of an `if`, a `match`, a `loop` or a labelled block.
    pub(crate) fn value_slot(&self) -> Option<SlotId> {
        match &self.kind {
            ExprKind::If { slot, .. }
            | ExprKind::Match { slot, .. }
            | ExprKind::Loop { slot, .. }
            | ExprKind::Labelled { slot, .. } => *slot,
            _ => None,
        }
    }

    pub(crate) fn error(span: SpanRange) -> Expr {
        Expr { kind: ExprKind::Error, result_kind: Kind::Unknown, span }
    }

    /// Returns the memory that the expression is, or is an element of, through arrays of arrays: `grid`, `grid[y]`,
    /// `grid[y][x]`.
    pub(crate) fn memory(&self) -> Option<Memory> {
        match (self.result_kind, &self.kind) {
            (Kind::Memory(memory), _) => Some(memory),
            (_, ExprKind::Index { base, .. }) => base.memory(),
            _ => None,
        }
    }
}

/// Returns the variant that a struct's path names, if it is one of `Result`.
pub(crate) fn outcome_of(path: &TokenStream) -> Option<Variant> {
    match path.to_string().as_str() {
        ":: core :: result :: Result :: Ok" => Some(Variant::Ok),
        ":: core :: result :: Result :: Err" => Some(Variant::Err),
        _ => None,
    }
}
