//! The facts of arrival tokens that the checks find and the messages show: the origin of a token, and the ways to lose one.

/// The origin of an arrival token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenOrigin {
    /// The function's own arrival made it.
    Arrival,
    /// A device function returned it.
    Call,
    /// It is a parameter of the function.
    Parameter,
}

/// The variable that held a token.
#[derive(Debug, Clone)]
pub(crate) struct TokenHolder {
    pub(crate) name: String,
    /// Whether the variable is an `Option` of a token.
    pub(crate) is_option: bool,
}

/// The way in which a token is lost before a wait consumes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum TokenLoss {
    /// It is the value of a statement, which nothing uses.
    Unused,
    /// `let _ =` discards it.
    Discarded,
    /// Its variable is assigned another value.
    Overwritten,
    /// The scope of its variable ends.
    EndOfScope,
    /// A `return` leaves the scope of its variable.
    Return,
    /// A `?` leaves the scope of its variable.
    Question,
    /// A `break` leaves the scope of its variable.
    Break,
    /// A `continue` leaves the scope of its variable.
    Continue,
}
