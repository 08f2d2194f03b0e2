//! The CUDA C++ of a function: lowered to a small syntax tree (`lower`), then printed as pieces of text with holes
//! (`print`). The runtime fills the holes and joins functions (`phalanx::program`).

mod ast;
mod lower;
mod name;
mod print;
mod signature;

pub(crate) use ast::Fragment;

use std::collections::BTreeSet;

use crate::model::fused_barriers::fused_tokens;
use crate::model::{Function, LocalId};

/// A function's text.
pub(crate) struct Text {
    pub(crate) signature: Vec<Fragment>,
    pub(crate) body: Vec<Fragment>,
    /// Identifiers that the text declares, less its constants.
    pub(crate) locals: Vec<String>,
    /// What the text calls each of the function's values; nothing for a length.
    pub(crate) constants: Vec<String>,
    /// Tokens of which it has neither the arrival nor the wait.
    pub(crate) fused: BTreeSet<LocalId>,
}

pub(crate) fn text(function: &Function) -> Text {
    let names = name::Names::of(function);
    let signature = signature::signature(function, &names);
    let fused = fused_tokens(function);
    let (body, names) = lower::body(function, names, &fused);
    let (locals, constants) = names.declared(function);
    Text { signature, body: print::body(&body, function.role), locals, constants, fused }
}
