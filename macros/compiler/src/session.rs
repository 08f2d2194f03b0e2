//! What a caller of the compiler can set that no attribute does.

use crate::rules::Rule;

/// How the compiler works, beyond what the user's text says. The attributes use the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Session {
    /// Faults of this rule are not reported: `cargo xtask mutate` asks which tests miss it.
    pub without: Option<Rule>,
}
