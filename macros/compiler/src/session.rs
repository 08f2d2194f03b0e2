//! Settings of the compiler that no attribute has.

use crate::rules::Rule;

/// Settings of a compilation, beyond what the user's text says. The attributes use the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Session {
    /// Faults of this rule are not reported: `cargo xtask mutate` asks which tests need it.
    pub without: Option<Rule>,
    /// Operands of which the text shows no type are taken for numbers, and not for values whose operators may be functions.
    pub numbers: bool,
}
