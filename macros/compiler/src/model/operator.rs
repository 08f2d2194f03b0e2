//! The operators of values, which are the same in Rust and in C++.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Not,
    Neg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

impl BinaryOp {
    /// Returns the operator, which is the same in Rust and in C++.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        }
    }

    /// Returns the operator with the `=` of an assignment.
    pub(crate) fn assigning(self) -> &'static str {
        match self {
            BinaryOp::Add => "+=",
            BinaryOp::Sub => "-=",
            BinaryOp::Mul => "*=",
            BinaryOp::Div => "/=",
            BinaryOp::Rem => "%=",
            BinaryOp::BitAnd => "&=",
            BinaryOp::BitOr => "|=",
            BinaryOp::BitXor => "^=",
            BinaryOp::Shl => "<<=",
            BinaryOp::Shr => ">>=",
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => "=",
        }
    }

    pub(crate) fn divides(self) -> bool {
        matches!(self, BinaryOp::Div | BinaryOp::Rem)
    }

    /// Whether the operator computes a number, or a truth value from the bits of two.
    pub(crate) fn is_arithmetic(self) -> bool {
        match self {
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => true,
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge
            | BinaryOp::And
            | BinaryOp::Or => false,
        }
    }

    pub(crate) fn short_circuits(self) -> bool {
        matches!(self, BinaryOp::And | BinaryOp::Or)
    }

    pub(crate) fn compares(self) -> bool {
        !self.is_arithmetic() && !self.short_circuits()
    }
}

/// The traits of operators that are functions, without those that assign.
const TRAITS: [&str; 12] = ["Add", "Sub", "Mul", "Div", "Rem", "BitAnd", "BitOr", "BitXor", "Shl", "Shr", "Neg", "Not"];

/// Returns the trait that computes what the trait of an operator assigns: itself, if it does not assign.
pub(crate) fn computing_trait(name: &str) -> Option<&str> {
    let base = name.strip_suffix("Assign").unwrap_or(name);
    let is_one = TRAITS.contains(&base) && (base == name || !is_unary_trait(base));
    is_one.then_some(base)
}

/// Whether the trait's operator has one operand.
pub(crate) fn is_unary_trait(name: &str) -> bool {
    matches!(name, "Neg" | "Not")
}

/// The operators that a type can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overload {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Assign(BinaryOp),
}

impl Overload {
    /// Returns the operator, which is the same in Rust and in C++.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Overload::Unary(UnaryOp::Neg) => "-",
            Overload::Unary(UnaryOp::Not) => "!",
            Overload::Binary(op) => op.symbol(),
            Overload::Assign(op) => op.assigning(),
        }
    }
}
