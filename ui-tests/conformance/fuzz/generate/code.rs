//! The text of an expression, with what decides where it needs parentheses.

/// How tight an expression binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// An operator or a cast.
    Binary,
    Unary,
    /// Anything that a method can be called on.
    Atom,
}

/// An expression.
#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) text: String,
    pub(super) strength: Strength,
    /// Whether the text begins with a block but goes on after it, so that it is no statement.
    block_first: bool,
    /// Whether it is a block, an `if`, a `match` or a loop.
    is_block: bool,
}

impl Code {
    pub(super) fn atom(text: impl Into<String>) -> Code {
        Code { text: text.into(), strength: Strength::Atom, block_first: false, is_block: false }
    }

    pub(super) fn unary(text: impl Into<String>) -> Code {
        Code { strength: Strength::Unary, ..Code::atom(text) }
    }

    pub(super) fn block(text: impl Into<String>) -> Code {
        Code { is_block: true, ..Code::atom(text) }
    }

    /// `left op right`
    pub(super) fn binary(left: Code, op: &str, right: Code) -> Code {
        let block_first = left.is_block || left.begins_with_block();
        let text = format!("{} {op} {}", left.operand(), right.operand());
        Code { text, strength: Strength::Binary, block_first, is_block: false }
    }

    /// `value as ty`
    pub(super) fn cast(value: Code, ty: &str) -> Code {
        let block_first = value.is_block || value.begins_with_block();
        let text = format!("{} as {ty}", value.operand());
        Code { text, strength: Strength::Binary, block_first, is_block: false }
    }

    /// `receiver.rest`
    pub(super) fn method(receiver: Code, rest: &str) -> Code {
        let block_first = receiver.strength == Strength::Atom && (receiver.is_block || receiver.block_first);
        let text = format!("{}.{rest}", receiver.receiver());
        Code { text, strength: Strength::Atom, block_first, is_block: false }
    }

    fn begins_with_block(&self) -> bool {
        self.strength != Strength::Binary && self.block_first
    }

    pub(super) fn operand(&self) -> String {
        if self.strength == Strength::Binary { format!("({})", self.text) } else { self.text.clone() }
    }

    /// The text after `break` or `return`, where a label would be the jump's.
    pub(super) fn carried(&self) -> String {
        if self.strength == Strength::Atom && !self.is_block && !self.block_first {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }

    pub(super) fn receiver(&self) -> String {
        if self.strength == Strength::Atom { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The text where a statement may begin: at the end of a block, in an arm.
    pub(super) fn tail(&self) -> String {
        if self.block_first { format!("({})", self.text) } else { self.text.clone() }
    }
}
