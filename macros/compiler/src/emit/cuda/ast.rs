//! The subset of C++ that is generated, as data. It decides nothing: `lower` makes it, `print` writes it.

use crate::model::{SiteId, SlotId, TypeId, Unroll, ValueId};

/// A fragment of the text, which is text or a hole that the runtime fills; the runtime's `Fragment` with owned text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fragment {
    Text(String),
    Line(u32),
    Type(SlotId),
    Literal {
        slot: SlotId,
        digits: String,
    },
    Named(TypeId),
    Declare(ValueId),
    Constant(ValueId),
    Digits(ValueId),
    Struct {
        slot: SlotId,
        variant: String,
        fields: Vec<(String, Vec<Fragment>)>,
        base: Option<Vec<Fragment>>,
    },
    Shared {
        index: u16,
        ty: Vec<Fragment>,
        name: String,
    },
    Callee(SlotId),
    /// An operator, which is one of C++ if the slot is not that of a function.
    Operation {
        callee: SlotId,
        symbol: &'static str,
        operands: Vec<Vec<Fragment>>,
        site: Option<SiteId>,
    },
    /// Text for the case that no callee at these slots has anything that threads do together.
    Alone {
        callees: Vec<SlotId>,
        text: Vec<Fragment>,
    },
    /// The text of a closure that joins two values, which the runtime marks if nothing in it can fail.
    Operator {
        text: Vec<Fragment>,
    },
    /// The text between the arguments of a call and what the caller does with the `Option`: `, ` if the function at the slot takes it, and none
    /// of those inside has anything that threads do together, or else `).then(`.
    Then {
        callee: SlotId,
        has_arguments: bool,
        inside: Vec<SlotId>,
    },
    /// Text for the case that a number lies in an interval.
    Within {
        of: Within,
        text: Vec<Fragment>,
    },
    Name,
    /// The launch bounds that the kernel's attribute fixes.
    Bounds,
    /// The statements with which the kernel of a program begins.
    Prologue {
        /// The names of the parameters of which a launch knows something.
        known: String,
        /// Whether one of them is an integer of 64 bits.
        has_wide: bool,
        has_arrays: bool,
    },
    Site(SiteId),
    /// The ending of the name of a barrier's operation, for the fence that was chosen.
    Fence(u16),
    /// Text for the case that the host makes these checks before a launch.
    AtLaunch {
        checks: Vec<u16>,
        text: Vec<Fragment>,
    },
    /// The number of such a check.
    LaunchCheck(u16),
}

/// Whether a number that the runtime knows lies in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Within {
    pub(crate) number: ValueId,
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// How far a loop is unrolled, if a number lies in an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unrolling {
    pub(crate) unroll: Unroll,
    pub(crate) only_if: Option<Within>,
}

impl From<Unroll> for Unrolling {
    fn from(unroll: Unroll) -> Self {
        Unrolling { unroll, only_if: None }
    }
}

impl From<&str> for Fragment {
    fn from(text: &str) -> Self {
        Fragment::Text(text.into())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CuExpr {
    /// A name, a literal, or any other expression that binds tightest.
    Atom(Vec<Fragment>),
    Prefix(&'static str, Box<CuExpr>),
    Infix {
        op: &'static str,
        left: Box<CuExpr>,
        right: Box<CuExpr>,
        site: Option<SiteId>,
    },
    Index {
        base: Box<CuExpr>,
        index: Box<CuExpr>,
        site: SiteId,
    },
    /// `callee(arguments)`; the site is the callee's first character.
    Call {
        callee: Vec<Fragment>,
        arguments: Vec<CuExpr>,
        site: Option<SiteId>,
    },
    /// `(left op right)` of numbers, or the call of a device function.
    Operation {
        callee: SlotId,
        symbol: &'static str,
        operands: Vec<CuExpr>,
        site: Option<SiteId>,
    },
    /// `base.name(arguments)`; the site is the name's first character.
    Method {
        base: Box<CuExpr>,
        name: &'static str,
        arguments: Vec<CuExpr>,
        site: Option<SiteId>,
    },
    /// `base.name(arguments)` of an operation at the cluster's barrier, whose name ends with the fence of the barrier of this
    /// index.
    Barrier {
        base: Box<CuExpr>,
        name: &'static str,
        index: u16,
        arguments: Vec<CuExpr>,
    },
    Member(Box<CuExpr>, String),
    /// `type{elements}`
    Braces(Vec<Fragment>, Vec<CuExpr>),
    /// `type{.name = value}`; fields that are not listed come from the base, which is a name. Of an enum, the variant has a name:
    /// `type::of_Hit({.name = value})`.
    Struct {
        slot: SlotId,
        variant: String,
        fields: Vec<(String, CuExpr)>,
        base: Option<Box<CuExpr>>,
    },
    Ternary(Box<CuExpr>, Box<CuExpr>, Box<CuExpr>),
    /// A check, or what has one, that is unnecessary if the host's checks of these numbers hold.
    AtLaunch {
        checks: Vec<u16>,
        form: AtLaunchForm,
        of: Box<CuExpr>,
    },
    /// A closure that joins two values ([`Fragment::Operator`]).
    Operator(Box<CuExpr>),
    /// `[&](auto a, auto b) { ... }`: the capture, the parameters with the tokens before their names, the body.
    Lambda {
        capture: String,
        params: Vec<(Vec<Fragment>, String)>,
        body: Vec<CuStmt>,
    },
    /// `place op value`, where the operator contains the `=`.
    Assign {
        op: &'static str,
        place: Box<CuExpr>,
        value: Box<CuExpr>,
        site: Option<SiteId>,
    },
}

/// How the text says that a check is unnecessary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AtLaunchForm {
    /// `at_launch<3>(of)`, of an index or a check.
    Index,
    /// `scattered_at_launch<3>(of)`, of an index that is then a word.
    ScatteredIndex,
    /// `word_at_launch<3>(of)`, of the first operand of an operation.
    Word,
    /// `once_at_launch<3>(of)`, of a dividend.
    Once,
    /// `(holds_at_launch<3> || of)`, of a test.
    Or,
    /// `(holds_at_launch<3> ? unchecked : of)`
    Otherwise(Box<CuExpr>),
}

impl CuExpr {
    pub(crate) fn name(name: &str) -> CuExpr {
        CuExpr::Atom(vec![name.into()])
    }

    pub(crate) fn call(callee: &str, arguments: Vec<CuExpr>) -> CuExpr {
        CuExpr::Call { callee: vec![callee.into()], arguments, site: None }
    }

    /// Whether it is a literal without a type.
    pub(crate) fn is_number(&self) -> bool {
        let CuExpr::Atom(fragments) = self else { return false };
        matches!(&fragments[..], [Fragment::Text(text)] if text.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Returns `self.name`, of a copy of `self`.
    pub(crate) fn field(&self, name: String) -> CuExpr {
        CuExpr::Member(Box::new(self.clone()), name)
    }

    /// Returns `left op right`.
    ///
    /// Of `2 * x - (x & mask)`, the first of the two elements that a stage of a sorting network compares, the compiler of CUDA C++ knows
    /// nothing. It is written as `2 * (x & !(x & mask)) + (x & mask)`, of which it knows the bits.
    pub(crate) fn infix(op: &'static str, left: CuExpr, right: CuExpr, site: Option<SiteId>) -> CuExpr {
        if op == "-"
            && let CuExpr::Infix { op: "*", left: a, right: b, site: None } = &left
            && let CuExpr::Infix { op: "&", left: x, .. } = &right
            && [(a, b), (b, a)].iter().any(|(two, of)| ***two == CuExpr::name("2") && *of == x && of != two)
            && right.is_repeatable()
        {
            let others = CuExpr::infix("&", (**x).clone(), right.clone().not(), None);
            return CuExpr::infix("+", CuExpr::infix("*", CuExpr::name("2"), others, None), right, site);
        }
        CuExpr::Infix { op, left: Box::new(left), right: Box::new(right), site }
    }

    /// Whether the expression is made of names, numbers and operators that cannot fail, so that it may be evaluated once more.
    fn is_repeatable(&self) -> bool {
        match self {
            CuExpr::Atom(_) => true,
            CuExpr::Prefix(_, inner) => inner.is_repeatable(),
            CuExpr::Infix { left, right, site: None, .. } => left.is_repeatable() && right.is_repeatable(),
            _ => false,
        }
    }

    /// Returns `self && other`.
    pub(crate) fn and(self, other: CuExpr) -> CuExpr {
        CuExpr::Infix { op: "&&", left: Box::new(self), right: Box::new(other), site: None }
    }

    /// Returns `self || other`.
    pub(crate) fn or(self, other: CuExpr) -> CuExpr {
        CuExpr::Infix { op: "||", left: Box::new(self), right: Box::new(other), site: None }
    }

    pub(crate) fn not(self) -> CuExpr {
        CuExpr::Prefix("!", Box::new(self))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CuStmt {
    /// The following statements come from this line of the Rust source.
    Line(u32),
    Expr(CuExpr),
    /// `type name = init;`
    Declare {
        ty: Vec<Fragment>,
        name: String,
        init: Option<CuExpr>,
    },
    /// The declaration of a constant.
    Constant(ValueId),
    /// `__shared__ type name;`, or its offset in dynamic shared memory.
    Shared {
        index: u16,
        ty: Vec<Fragment>,
        name: String,
    },
    If {
        condition: CuExpr,
        then: Vec<CuStmt>,
        otherwise: Vec<CuStmt>,
    },
    /// `callee(arguments, if_some([&](auto name) { body }))`, or `if_some` of its result if it cannot take it.
    Continued {
        callee: SlotId,
        arguments: Vec<CuExpr>,
        /// The functions that the body calls.
        inside: Vec<SlotId>,
        name: String,
        body: Vec<CuStmt>,
    },
    /// A loop and what follows it without checks if the test holds, and with them if not. There is only the loop with checks if a callee has
    /// anything that threads do together, because the threads of a warp could be in different ones.
    Hoisted {
        test: CuExpr,
        callees: Vec<SlotId>,
        unchecked: Vec<CuStmt>,
        checked: Vec<CuStmt>,
    },
    While {
        unroll: Option<Unrolling>,
        condition: CuExpr,
        body: Vec<CuStmt>,
    },
    /// `for (auto name : range)`
    For {
        unroll: Option<Unrolling>,
        name: String,
        used: bool,
        range: CuExpr,
        body: Vec<CuStmt>,
    },
    Block(Vec<CuStmt>),
    Break,
    Continue,
    Goto(String),
    Label(String),
    Return(Option<CuExpr>),
    /// The user's text, in a lambda of its own.
    InlineCuda {
        parameters: Vec<String>,
        text: String,
        arguments: Vec<CuExpr>,
    },
}
